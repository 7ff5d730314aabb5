"""Checks of the `model` group, before any work."""

from rnnsearch.errors import UserError, nearest
from rnnsearch.modelconfig import (
    AttentionConfig,
    ModelConfig,
    RnnencdecConfig,
    TransformerInputConfig,
)
from rnnsearch.rules import Choice

# Of `attention.SCORES`, which is slow to load.
BUILT_IN_SCORES = ("additive", "dot", "scaled_dot", "general")


def check_model(model: ModelConfig) -> None:
    """Check what must fit together in the `model` group.

    Raises:
        UserError: names the key, what came and what was expected.
    """
    if model.tied != "none" and model.maxout_size != model.embedding_size:
        message = f"model.tied={model.tied} makes one table of W_o and the embeddings, so"
        raise UserError(
            f"{message} model.maxout_size={model.maxout_size} has to be "
            f"model.embedding_size={model.embedding_size}; change one"
        )
    if isinstance(model, AttentionConfig):
        _check_score(model.attention)
    if isinstance(model, RnnencdecConfig):
        _check_unit(model)
    if isinstance(model, TransformerInputConfig):
        _check_input(model)


def _check_unit(model: RnnencdecConfig) -> None:
    if model.unit == "lstm" and model.encoder_size not in (None, model.hidden_size):
        message = f"model.encoder_size={model.encoder_size}: of model.unit=lstm the decoder goes on"
        raise UserError(
            f"{message} from the encoder's state, of model.hidden_size={model.hidden_size}; leave "
            "it out"
        )


def _check_input(model: TransformerInputConfig) -> None:
    learned = model.positions == "learned"
    if learned and model.max_positions is None:
        message = "model.max_positions is null, but model.positions=learned needs the longest"
        raise UserError(f"{message} source, in pieces with the end mark: model.max_positions=N")
    if not learned and model.max_positions is not None:
        message = f"model.max_positions is set, but model.positions={model.positions}"
        raise UserError(f"{message} has no end; leave it out, or add model.positions=learned")
    if model.layers and model.embedding_size % model.heads:
        message = f"model.embedding_size={model.embedding_size} is no multiple of"
        raise UserError(f"{message} model.heads={model.heads}, which share it; change one")


def _check_score(name: str) -> None:
    """Hold that there is such a score function, built in or added by a program of one's own."""
    if name in BUILT_IN_SCORES:
        return
    from rnnsearch.attention import SCORES

    if name not in SCORES:
        near = nearest(name, SCORES) or "; one of your own is there where its program runs"
        raise UserError(f"model.attention={name}: expected {Choice((*SCORES,))}{near}")
