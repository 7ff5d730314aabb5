"""What all workers read: the pairs of a run as pieces, its vocabularies and its sizes."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rnnsearch.cli.sources import test_sources, training_sources
from rnnsearch.corpus import PairSource
from rnnsearch.errors import UserError
from rnnsearch.ids import Tokenizer
from rnnsearch.modelconfig import RnnsearchConfig
from rnnsearch.plain import load_run_config
from rnnsearch.text import SPECIAL_IDS, Tokenizers

MARKS = ("<unk>", "<pad>", "<s>", "</s>")


def write(run_dir: Path, folder: Path) -> dict[str, Any]:
    """Write the data of a run for the workers; return what `sizes.json` holds.

    `train`, `valid` and `test` with the ends `.src` and `.trg` hold pieces separated by blanks,
    `vocab.src` and `vocab.trg` a piece a line after the four marks, `test.lines` raw source lines
    and `sizes.json` what another program needs to build the same network. The test set is the
    run's first one, or its validation set where it names none.

    Raises:
        UserError: the folder holds no run, or its data cannot be read.
    """
    config = load_run_config(run_dir)
    model = config.model
    if not isinstance(model, RnnsearchConfig):
        raise UserError(f"{run_dir}: model={model.kind} has no counterpart in other programs")
    tokenizers = Tokenizers.load(run_dir / "tokenizer")
    folder.mkdir(parents=True, exist_ok=True)
    train, valid = training_sources(config.data, seed=config.seed)
    try:
        test = next(iter(test_sources(config.data).values()))
    except UserError:  # the run names none
        test = valid
    for name, source, most in (
        ("train", train, config.data.max_length), ("valid", valid, None), ("test", test, None)
    ):  # fmt: skip
        kept = [pair for pair in _pairs(source, tokenizers) if pair.fits(most)]
        _write(folder / f"{name}.src", (" ".join(pair.source) for pair in kept))
        _write(folder / f"{name}.trg", (" ".join(pair.target) for pair in kept))
    _write(folder / "test.lines", (pair.line for pair in kept))
    for end, tokenizer in (("src", tokenizers.source), ("trg", tokenizers.target)):
        _write(folder / f"vocab.{end}", [*MARKS, *_vocabulary(tokenizer)])
    sizes: dict[str, Any] = {
        "run_dir": str(run_dir.resolve()),
        "embedding_size": model.embedding_size,
        "encoder_size": model.encoder_size or model.hidden_size,
        "hidden_size": model.hidden_size,
        "dropout": model.dropout,
        "label_smoothing": config.trainer.label_smoothing,
        "sentences": len(kept),
        "batch_sentences": config.trainer.batch_sentences or 80,
    }
    (folder / "sizes.json").write_text(json.dumps(sizes))
    return sizes


class Pair(NamedTuple):
    """A pair as pieces, with its source line."""

    line: str
    source: list[str]
    target: list[str]

    def fits(self, most: int | None) -> bool:
        """Return whether no side is blank or longer than `most` pieces."""
        return all(len(side) > 0 and (most is None or len(side) <= most) for side in self[1:])


def _pairs(source: PairSource, tokenizers: Tokenizers) -> Iterable[Pair]:
    pairs = source.read()
    for one, other in zip(pairs["source"], pairs["target"], strict=True):
        yield Pair(one, tokenizers.source.split(one), tokenizers.target.split(other))


def _vocabulary(tokenizer: Tokenizer) -> Sequence[str]:
    return tokenizer.pieces(range(SPECIAL_IDS, tokenizer.vocab_size))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
