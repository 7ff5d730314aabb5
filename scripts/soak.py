"""Kill a training again and again, fill its disk, make its folder read-only; nothing may be lost.

    python scripts/soak.py runs/soak
    python scripts/soak.py runs/soak --kills 20 --disks 2

A small training is run once without a stop. Then the same command is started and killed (SIGKILL)
at random moments, saves and start-up included, until it has survived `--kills` of them; then it is
let go on to its end. The same on a disk that gets full and on one that becomes read-only in the
middle of the training; for these Linux lends a file system in memory to a namespace of its own
(`unshare`). Each run has to end with the weights, the optimizer, the counters and the records of
the straight one, bit for bit. Exit status 1 if one does not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import torch
from argument_types import whole
from safetensors.torch import load_file

ROOT = Path(__file__).resolve().parent.parent
PAIRS = 64
START_SECONDS = 5.0
"""A process has begun to train by then, on most machines."""

WINDOW_SECONDS = 0.6
"""After the first new record a kill comes within this time."""

INSIDE = "RNNSEARCH_SOAK_INSIDE"


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


# --- kills


def kill_again_and_again(soak: Soak, kills: int, chance: random.Random) -> None:
    """Kill the training at `kills` random moments, then let it end.

    Raises:
        Failed: a checkpoint is not whole, or the end differs.
    """
    run_dir = soak.folder / "killed"
    shutil.rmtree(run_dir, ignore_errors=True)
    at_start = in_save = 0
    for kill in range(1, kills + 1):
        process = start(soak, run_dir)
        early = chance.random() < 0.2
        if early:
            time.sleep(chance.uniform(0, START_SECONDS))
        else:
            wait_for_a_record(run_dir, process)
            time.sleep(chance.uniform(0, WINDOW_SECONDS))
        process.kill()
        _, err = process.communicate()
        if process.returncode == 0:
            raise Failed(f"the training ended after {kill - 1} kills; give more --updates")
        if process.returncode > 0:
            raise Failed(f"status {process.returncode} before a kill: {last_line(err)}")
        at_start += early
        in_save += any((run_dir / "checkpoints").glob(".*.tmp"))
        update = update_of(run_dir)
        print(f"\rkill {kill} of {kills}, at update {update} ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    run_to_the_end(soak, run_dir)
    compare(run_dir, soak.straight)
    print(
        f"{kills} kills, {at_start} of them within {START_SECONDS:g} s of a start, {in_save} in "
        "the middle of a save: equal to the straight run"
    )


def wait_for_a_record(run_dir: Path, process: subprocess.Popen[str]) -> None:
    """Wait until the training has written a record, or has ended."""
    metrics = run_dir / "metrics.jsonl"
    since = metrics.stat().st_mtime_ns if metrics.exists() else 0
    while process.poll() is None:
        if metrics.exists() and metrics.stat().st_mtime_ns > since and metrics.stat().st_size:
            return
        time.sleep(0.005)


# --- disks


def spoil_disks(folder: Path, settings: tuple[str, ...], times: int) -> None:
    """Run `inside` in a namespace where it may mount file systems.

    Raises:
        Failed: there is no such namespace, or what `inside` says.
    """
    unshare = ["unshare", "--user", "--map-root-user", "--mount"]
    try:
        subprocess.run([*unshare, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Failed("unshare: no namespace to mount a disk in; give --disks 0") from error
    words = [sys.executable, __file__, str(folder), "--disks", str(times)]
    told = json.dumps(settings)
    done = subprocess.run([*unshare, *words], env={**os.environ, INSIDE: told}, check=False)
    if done.returncode:
        raise Failed("a disk that was full or read-only: see above")


def inside(soak: Soak, times: int, chance: random.Random) -> None:
    """Train on disks that get full or read-only, and go on when they are mended.

    Raises:
        Failed: an error is not one line, a checkpoint is lost, or the end differs.
    """
    disk = soak.folder / "disk"
    disk.mkdir(exist_ok=True)
    for number in range(times):
        run_dir = disk / "r"
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], check=True)
        process = start(soak, run_dir)
        wait_for_a_record(run_dir, process)
        time.sleep(chance.uniform(0, 4))
        full = number % 2 == 0
        if full:
            fill(disk)
        else:
            make_read_only(disk)
        _, err = process.communicate()
        reasons = ["No space left"] if full else ["Read-only file system"]
        check_told(err, process.returncode, reasons)
        before = update_of(run_dir)
        second = start(soak, run_dir)  # as long as nothing is mended, nothing changes
        _, err = second.communicate()
        check_told(err, second.returncode, [*reasons, "may not be written to"])
        if update_of(run_dir) != before:
            raise Failed(f"update {update_of(run_dir)} on a spoiled disk, after {before}")
        (disk / "filler").unlink() if full else remount(disk, "rw")
        run_to_the_end(soak, run_dir)
        compare(run_dir, soak.straight)
        what = "full" if full else "read-only"
        print(f"a disk that was {what} after update {before}: equal to the straight run")
        subprocess.run(["umount", disk], check=True)


def fill(disk: Path) -> None:
    """Write until nothing more goes in."""
    try:
        with (disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(1 << 12))
    except OSError:
        pass


def make_read_only(disk: Path) -> None:
    """Remount a disk; it is refused while a file is being written."""
    while not remount(disk, "ro"):
        time.sleep(0.01)


def remount(disk: Path, mode: str) -> bool:
    """Return whether a disk could be made `ro` or `rw`."""
    words = ["mount", "-o", f"remount,{mode}", disk]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def check_told(err: str, status: int, reasons: list[str]) -> None:
    """Hold that a training has ended with one line that gives one of these reasons.

    Raises:
        Failed: it has not.
    """
    line = last_line(err)
    known = line.startswith("rnnsearch: ") and any(reason in line for reason in reasons)
    if status not in (1, 2) or not known:
        raise Failed(f"status {status}, expected 1 or 2 and '{reasons[0]}': {line}")


def main() -> int:
    """Run the soak; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to work; what is in it is overwritten")
    parser.add_argument("--kills", type=whole(0), default=100, metavar="N")
    parser.add_argument("--disks", type=whole(0), default=6, metavar="N", help="disks to spoil")
    parser.add_argument("--updates", type=whole(50), default=4000, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments")
    args = parser.parse_args()
    folder, chance = args.folder.resolve(), random.Random(args.seed)
    try:
        if INSIDE in os.environ:
            settings = tuple(json.loads(os.environ[INSIDE]))
            inside(Soak(folder, settings, folder / "straight"), args.disks, chance)
            return 0
        soak = prepare(folder, args.updates)
        print(f"straight run: {args.updates} updates")
        if args.disks:
            spoil_disks(folder, soak.settings, args.disks)
        if args.kills:
            kill_again_and_again(soak, args.kills, chance)
    except Failed as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
