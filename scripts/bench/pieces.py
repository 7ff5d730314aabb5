"""What all workers read: the pairs of a run as pieces, its vocabularies and its sizes."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from rnnsearch.cli.sources import test_sources, training_sources
from rnnsearch.config import RnnsearchConfig
from rnnsearch.corpus import PairSource
from rnnsearch.errors import UserError
from rnnsearch.ids import Tokenizer
from rnnsearch.plain import load_run_config
from rnnsearch.text import SPECIAL_IDS, Tokenizers

MARKS = ("<unk>", "<pad>", "<s>", "</s>")


def write(run_dir: Path, folder: Path) -> None:
    """Write the data of a run for the workers.

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
    longest = config.data.max_length or 10**9
    for name, source in (("train", train), ("valid", valid), ("test", test)):
        pairs = _pieces(source, tokenizers)
        kept = [p for p in pairs if all(0 < len(side) <= longest for side in p)]
        for end, lines in zip(("src", "trg"), zip(*kept, strict=True), strict=True):
            _write(folder / f"{name}.{end}", (" ".join(line) for line in lines))
    _write(folder / "test.lines", (line for line in test.read()["source"] if line.strip()))
    for end, tokenizer in (("src", tokenizers.source), ("trg", tokenizers.target)):
        _write(folder / f"vocab.{end}", [*MARKS, *_vocabulary(tokenizer)])
    sizes = {
        "run_dir": str(run_dir.resolve()),
        "embedding_size": model.embedding_size,
        "encoder_size": model.encoder_size or model.hidden_size,
        "hidden_size": model.hidden_size,
        "dropout": model.dropout,
        "label_smoothing": config.trainer.label_smoothing,
        "batch_sentences": config.trainer.batch_sentences or 80,
    }
    (folder / "sizes.json").write_text(json.dumps(sizes))


def _pieces(source: PairSource, tokenizers: Tokenizers) -> Iterable[tuple[list[str], list[str]]]:
    pairs = source.read()
    for one, other in zip(pairs["source"], pairs["target"], strict=True):
        yield tokenizers.source.split(one), tokenizers.target.split(other)


def _vocabulary(tokenizer: Tokenizer) -> Sequence[str]:
    return tokenizer.pieces(range(SPECIAL_IDS, tokenizer.vocab_size))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
