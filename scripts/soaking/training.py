"""The small training of a soak: its corpus, its processes, and whether two runs are equal."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file

ROOT = Path(__file__).resolve().parent.parent.parent
PAIRS = 64


class Failed(Exception):  # noqa: N818 - the outcome of a soak, not an error of the program
    """What was lost, in one line."""


class Soak(NamedTuple):
    """A folder to work in, the command line of the training, and the run that was never stopped."""

    folder: Path
    settings: tuple[str, ...]
    straight: Path

    def command(self, run_dir: Path) -> list[str]:
        """Return the words that train in `run_dir`."""
        return [sys.executable, "-m", "rnnsearch", "train", *self.settings, f"run_dir={run_dir}"]


def prepare(folder: Path, updates: int) -> Soak:
    """Write the small corpus, and train without a stop."""
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    settings = ["data=files"]
    for split, name, pairs in (("train", "train", PAIRS), ("valid", "valid", 8)):
        for side, language in (("source", "en"), ("target", "fr")):
            lines = (ROOT / "data" / f"{name}.{language}").read_bytes().split(b"\n")[:pairs]
            path = corpus / f"{name}.{language}"
            path.write_bytes(b"\n".join(lines) + b"\n")
            settings.append(f"data.{split}.{side}={path}")
    settings += [
        *("device=cpu", "tokenizer=bpe", "tokenizer.vocab_size=150", "model.hidden_size=32"),
        *("model.embedding_size=16", "model.maxout_size=16", "model.alignment_size=16"),
        *("model.dropout=0.1", "trainer.batch_sentences=8", "trainer.max_minutes=null"),
        *(f"trainer.max_updates={updates}", "trainer.valid_every=25", "trainer.save_every=2"),
        *("trainer.log_every=1", "trainer.average=2", "trainer.keep_last=2"),
        *("decode.beam_size=2", "decode.max_length=20"),
    ]
    soak = Soak(folder, tuple(settings), folder / "straight")
    shutil.rmtree(soak.straight, ignore_errors=True)
    run_to_the_end(soak, soak.straight)
    return soak


def environment() -> dict[str, str]:
    """Return the environment of a training: one thread, so that sums round alike."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def start(soak: Soak, run_dir: Path) -> subprocess.Popen[str]:
    """Start the training, or let it go on."""
    return subprocess.Popen(
        soak.command(run_dir),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip


def run_to_the_end(soak: Soak, run_dir: Path) -> None:
    """Let the training go on to its end.

    Raises:
        Failed: it does not end well.
    """
    process = start(soak, run_dir)
    _, err = process.communicate()
    if process.returncode:
        raise Failed(f"{run_dir.name}: status {process.returncode}: {last_line(err)}")


def last_line(text: str) -> str:
    """Return the last line of what a process has said."""
    return text.rstrip("\n").rpartition("\n")[2]


def update_of(run_dir: Path) -> int:
    """Return the update of the last checkpoint, having looked whether all of it is whole."""
    link = run_dir / "checkpoints" / "last"
    if not link.is_symlink():
        return 0
    for name in ("last", "best"):
        if (run_dir / "checkpoints" / name).is_symlink():
            load_file(run_dir / "checkpoints" / name / "model.safetensors")
            load_file(run_dir / "checkpoints" / name / "optimizer.safetensors")
    return int(json.loads((link / "state.json").read_bytes())["update"])


def compare(run_dir: Path, straight: Path) -> None:
    """Hold that a run equals the straight one.

    Raises:
        Failed: it names what differs.
    """
    for place in ("last", "best", "averaged"):
        for name in ("model.safetensors", "optimizer.safetensors"):
            mine, its = (run / "checkpoints" / place / name for run in (run_dir, straight))
            if place == "averaged" and name.startswith("optimizer"):
                continue
            a, b = load_file(mine), load_file(its)
            if a.keys() != b.keys() or not all(torch.equal(a[key], b[key]) for key in a):
                raise Failed(f"{mine}: other numbers than in {its}")
    states, records = [], []
    for run in (run_dir, straight):
        state = json.loads((run / "checkpoints/last/state.json").read_bytes())
        states.append({key: state[key] for key in state.keys() - {"elapsed_seconds", "meter"}})
        lines = (run / "metrics.jsonl").read_bytes().split(b"\n")
        found = [json.loads(line) for line in lines if line]
        for record in found:
            record.pop("elapsed_seconds")
            record.pop("tokens_per_second", None)
        records.append(found)
    if states[0] != states[1]:
        raise Failed(f"{run_dir}: state.json has other counters than that of {straight}")
    if records[0] != records[1]:
        raise Failed(f"{run_dir}: metrics.jsonl has other lines than that of {straight}")
    leftovers = [path.name for path in run_dir.rglob(".*.tmp")]
    if leftovers:
        raise Failed(f"{run_dir}: left behind: {', '.join(leftovers)}")


def wait_for_a_record(run_dir: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the training has written a record, or has ended."""
    metrics = run_dir / "metrics.jsonl"
    since = metrics.stat().st_mtime_ns if metrics.exists() else 0
    while process.poll() is None:
        if metrics.exists() and metrics.stat().st_mtime_ns > since and metrics.stat().st_size:
            return
        time.sleep(0.005)
