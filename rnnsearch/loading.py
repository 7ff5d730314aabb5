"""Models from checkpoints, held against the run that they belong to, and dictionaries."""

from pathlib import Path

from rnnsearch import checkpoint as files
from rnnsearch.alignment import read_dictionary
from rnnsearch.errors import UserError
from rnnsearch.model import TranslationModel, build_model
from rnnsearch.modelchecks import check_model
from rnnsearch.plain import load_run_config
from rnnsearch.text import Tokenizers


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
    config = load_run_config(owner).model
    try:
        check_model(config)
        model = build_model(
            config,
            source_vocab=tokenizers.source.vocab_size, target_vocab=tokenizers.target.vocab_size,
        )  # fmt: skip
    except UserError as error:
        raise UserError(f"{owner / 'config.yaml'}: {error}", status=1) from None
    load_weights(model, folder / files.MODEL)
    return model.eval()


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
    """Fill `model` with the tensors of `path`.

    Raises:
        UserError: the file is missing or damaged, or its tensors are not this model's.
    """
    weights = files.load_tensors(path)
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    came = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    if came != expected:
        names = sorted(n for n in came.keys() | expected.keys() if came.get(n) != expected.get(n))
        name = names[0]
        raise UserError(
            f"{path}: does not belong to this run's config.yaml and tokenizer: {name} is "
            f"{came.get(name, 'missing')}, expected {expected.get(name, 'none')}",
            status=1,
        )
    model.load_state_dict(weights)


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
