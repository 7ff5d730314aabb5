"""The small runs that cases are made from."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from safetensors.torch import load_file, save_file

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE, TARGET = "en", "fr"
UPDATES = 14
DONE = "done"
RUNS: dict[str, tuple[str, ...]] = {
    "bpe": ("tokenizer=bpe", "tokenizer.vocab_size=150"),
    "bytes": (
        *("tokenizer=unigram", "tokenizer.byte_fallback=true", "tokenizer.joint=true"),
        "tokenizer.vocab_size=400",
    ),
    "word": ("tokenizer=word", "tokenizer.vocab_size=60"),
    "learned": (
        *("model=transformer_input", "model.positions=learned", "model.max_positions=80"),
        *("model.layers=1", "model.heads=2", "model.feedforward_size=16"),
        *("tokenizer=unigram", "tokenizer.vocab_size=100"),
    ),
}


def settings(folder: Path, name: str) -> tuple[str, ...]:
    """Return the words that train a run on the corpus in `folder`."""
    corpus = folder / "corpus"
    files = [
        f"data.{split}.{side}={corpus}/{split}.{language}"
        for split in ("train", "valid", "test")
        for side, language in (("source", SOURCE), ("target", TARGET))
    ]
    return (
        *("data=files", *files, "device=cpu", "model.hidden_size=16", "model.embedding_size=8"),
        *("model.maxout_size=8", "model.alignment_size=8", "model.dropout=0.1"),
        *("trainer.batch_sentences=8", "trainer.max_minutes=null", "trainer.valid_every=4"),
        *("trainer.save_every=2", "trainer.average=2", "trainer.keep_last=2"),
        *("trainer.log_every=1", "decode.beam_size=2", "decode.max_length=12"),
        *RUNS[name],
    )


def train(folder: Path, name: str, run_dir: Path, updates: int) -> None:
    """Train a run, or let it go on, in a process of its own."""
    words = [*settings(folder, name), f"trainer.max_updates={updates}", f"run_dir={run_dir}"]
    cache = {"HF_DATASETS_CACHE": str(folder / "cache")}
    subprocess.run(
        [sys.executable, "-m", "rnnsearch", "train", *words],
        check=True, env={**os.environ, **cache}, stderr=(folder / "train.log").open("ab"),
    )  # fmt: skip


def prepare(folder: Path) -> None:
    """Write the corpus and train the runs, unless they are there from before."""
    corpus, runs = folder / "corpus", folder / "runs"
    for path in (corpus, runs, folder / "findings"):
        path.mkdir(parents=True, exist_ok=True)
    for split, pairs in (("train", 48), ("valid", 6), ("test", 5)):
        for language in (SOURCE, TARGET):
            lines = (ROOT / "data" / f"{split}.{language}").read_bytes().split(b"\n")[:pairs]
            (corpus / f"{split}.{language}").write_bytes(b"\n".join(lines) + b"\n")
    for name in RUNS:
        if not (runs / name / DONE).exists():
            shutil.rmtree(runs / name, ignore_errors=True)
            train(folder, name, runs / name, UPDATES)
            (runs / name / DONE).touch()
    if not (runs / "silent" / DONE).exists():
        # Weights from before they said what they belong to: less of what is changed is noticed.
        copy = _copied(runs / "bpe", runs / "silent")
        for path in copy.glob("checkpoints/*/model.safetensors"):
            if not path.parent.is_symlink():
                save_file(load_file(path), path)
        (copy / DONE).touch()
    if not (runs / "straight" / DONE).exists():
        # What every resume that nothing has hurt must come to.
        copy = _copied(runs / "bpe", runs / "straight")
        train(folder, "bpe", copy, UPDATES + 2)
        (copy / DONE).touch()


def _copied(run: Path, copy: Path) -> Path:
    shutil.rmtree(copy, ignore_errors=True)
    return shutil.copytree(run, copy, symlinks=True, ignore=shutil.ignore_patterns(DONE))
