"""Models from checkpoints, held against the run that they belong to, and dictionaries."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import torch

from rnnsearch import checkpoint as files
from rnnsearch.alignment import read_dictionary
from rnnsearch.errors import UserError
from rnnsearch.model import TranslationModel, build_model
from rnnsearch.modelconfig import ModelConfig
from rnnsearch.text import Tokenizers
from rnnsearch.validation import load_config


def load_model(run_dir: Path, checkpoint: str, *, tokenizers: Tokenizers) -> TranslationModel:
    """Return the model of a checkpoint on the CPU, in evaluation mode.

    Args:
        run_dir: the run that `checkpoint` is a name in.
        checkpoint: a name or a path; the folder of another run means its best checkpoint.
        tokenizers: those that the model has to share.

    Raises:
        UserError: its file is missing or damaged, does not belong to its run, or that run has
            other tokenizers.
    """
    folder = files.locate(run_dir, checkpoint)
    owner = folder.parent.parent
    if not (owner / "config.yaml").is_file():  # a checkpoint copied out of its run
        owner = run_dir
    if owner.resolve() != run_dir.resolve():
        _check_tokenizers(checkpoint, owner, tokenizers)
    config = load_config(owner).model
    if config.tied == "all" and tokenizers.source.vocab_size != tokenizers.target.vocab_size:
        raise UserError(
            f"{owner / 'config.yaml'}: model.tied=all needs one vocabulary, but tokenizer/ holds "
            "two; copy the run folder again",
            status=1,
        )
    model = _unfilled(config, tokenizers)
    check_about(folder / files.MODEL, describe(config, tokenizers))
    load_weights(model, folder / files.MODEL)
    return model.eval()


def _unfilled(config: ModelConfig, tokenizers: Tokenizers) -> TranslationModel:
    """Return a model whose weights take no memory yet: its sizes are anybody's claim so far."""
    with torch.device("meta"):
        return build_model(
            config,
            source_vocab=tokenizers.source.vocab_size, target_vocab=tokenizers.target.vocab_size,
        )  # fmt: skip


def describe(config: ModelConfig, tokenizers: Tokenizers) -> dict[str, str]:
    """Return what weights belong to: the tokenizers, and what their shapes do not tell."""
    # They mean nothing to weights that are there.
    free = ("model.dropout", "model.annotation_dropout", "model.init")
    settings = {f"model.{key}": str(value) for key, value in asdict(config).items()}
    return {
        "tokenizer of the source": tokenizers.source.fingerprint,
        "tokenizer of the target": tokenizers.target.fingerprint,
        **{key: value for key, value in settings.items() if key not in free},
    }


def check_about(path: Path, expected: Mapping[str, str]) -> None:
    """Hold that weights belong to a model and its tokenizers, as far as their file tells.

    Args:
        path: the file of the weights.
        expected: what `describe` says of the run.

    Raises:
        UserError: the file is missing or damaged, or they do not (status 1).
    """
    told = files.load_about(path)
    for name, content in expected.items():
        if told.get(name, content) != content:
            raise UserError(
                f"{path}: does not belong to this run: its {name} is another; copy the run folder "
                "again",
                status=1,
            )


def _check_tokenizers(checkpoint: str, owner: Path, tokenizers: Tokenizers) -> None:
    for side, mine, other in zip(
        ("source", "target"), tokenizers, Tokenizers.load(owner / "tokenizer"), strict=True
    ):
        if mine.fingerprint != other.fingerprint:
            raise UserError(
                f"checkpoint={checkpoint}: its run has another {side} tokenizer; an ensemble needs "
                "the same ones: train its runs with tokenizer.path=RUN or start_from=RUN"
            )


def load_weights(model: TranslationModel, path: Path) -> None:
    """Fill `model`, which may have no memory yet, with the tensors of `path`.

    Raises:
        UserError: the file is missing or damaged, its tensors are not this model's or not finite
            numbers (status 1).
    """
    weights = files.load_tensors(path)
    expected = {name: tuple(tensor.shape) for name, tensor in model.named_parameters()}
    came = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if came != expected:
        names = sorted(n for n in came.keys() | expected.keys() if came.get(n) != expected.get(n))
        name = names[0]
        raise UserError(
            f"{path}: does not belong to this run's config.yaml and tokenizer: {name} is "
            f"{came.get(name, 'missing')}, expected {expected.get(name, 'none')}",
            status=1,
        )
    for name, tensor in weights.items():
        if tensor.dtype != torch.float32:
            raise UserError(f"{path}: {name} is of {tensor.dtype}, expected 32-bit", status=1)
        if not tensor.isfinite().all():
            raise UserError(
                f"{path}: {name} holds what is no finite number; use another checkpoint", status=1
            )
    if model.W_o.weight.is_meta:
        model.to_empty(device="cpu")
        model.tie()
    model.load_state_dict(weights, strict=False)  # tables that are one have one name


def load_dictionary(replace_unk: bool | str | Path, kind: str) -> dict[str, str] | None:
    """Return the dictionary of `replace_unk`, empty for true; None for false.

    Args:
        replace_unk: false, true, or the path of a dictionary.
        kind: of the target tokenizer.

    Raises:
        UserError: the file cannot be read, or the pieces of the tokenizer spell every word.
    """
    if replace_unk is False:
        return None
    if kind != "word":
        raise UserError(
            f"replace_unk={'true' if replace_unk is True else replace_unk}: this run has "
            f"tokenizer={kind}, whose pieces spell every word; leave replace_unk out"
        )
    return {} if replace_unk is True else read_dictionary(Path(replace_unk))
