"""How much memory and time many pairs take.

    python scripts/scale.py plan
    python scripts/scale.py plan --pairs 40000000 --batch-tokens 4000
    python scripts/scale.py train runs/scale --pairs 1000000

`plan` plans one pass over pairs of simulated lengths, and prints its time and the memory that the
process had at most. `train` writes that many pairs with make_corpus.py, trains on them for some
updates, and draws the memory of the training over time into FOLDER/memory.png: anonymous memory,
which is the process's own, and memory mapped from files, which the system takes back at need. It
reads /proc, so it needs Linux.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from argument_types import whole
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rnnsearch.batches import plan_epoch

HERE = Path(__file__).resolve().parent
MEBIBYTE = 1 << 20
EVERY_SECONDS = 0.2


class Sample(NamedTuple):
    """Memory of a process at a moment: seconds since its start, and MiB."""

    seconds: float
    own: float
    mapped: float


def plan(pairs: int, batch_sentences: int | None, batch_tokens: int | None) -> None:
    """Plan a pass over simulated lengths and print what it took."""
    source, target = simulated(pairs)
    before = most_memory()
    start = time.perf_counter()
    found = plan_epoch(
        source, target,
        seed=1, epoch=0, batch_sentences=batch_sentences, batch_tokens=batch_tokens, sort_window=20,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    held = (source.nbytes + target.nbytes) / MEBIBYTE
    print(f"{pairs:,} pairs, {len(found):,} batches: {seconds:.1f} s")
    print(f"lengths {held:.0f} MiB; the process had at most {most_memory():.0f} MiB, ", end="")
    print(f"{before:.0f} MiB before planning")


def simulated(pairs: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return lengths of source and target as news text has them: some 25 words, few long ones."""
    generator = np.random.default_rng(1)
    source, target = np.empty(pairs, np.int32), np.empty(pairs, np.int32)
    for start in range(0, pairs, MEBIBYTE):  # in slices, so that planning is what takes memory
        part = slice(start, min(start + MEBIBYTE, pairs))
        count = part.stop - part.start
        source[part] = generator.gamma(2.5, 10, count) + 1
        target[part] = np.maximum(source[part] * generator.normal(1.1, 0.1, count), 1)
    return source, target


def most_memory() -> float:
    """Return the largest memory of this process so far, MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEBIBYTE


def memory_of(process: int) -> tuple[float, float]:
    """Return own and mapped memory of a process, MiB; nothing of one that has ended."""
    found = {"RssAnon": 0.0, "RssFile": 0.0}
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0, 0.0
    for line in text.split("\n"):
        name, _, rest = line.partition(":")
        if name in found:
            found[name] = int(rest.split()[0]) / 1024
    return found["RssAnon"], found["RssFile"]


def train(folder: Path, pairs: int, updates: int) -> None:
    """Train on many pairs and draw the memory that it takes."""
    corpus = folder / "corpus"
    made = corpus / f"{pairs}"
    if not made.exists():
        words = ["--pairs", str(pairs), "--output", str(corpus)]
        script = [sys.executable, str(HERE / "make_corpus.py"), *words]
        status = subprocess.run(script, check=False).returncode
        if status:
            sys.exit(status)
        made.touch()
    run_dir = folder / f"run-{time.strftime('%Y%m%d-%H%M%S')}"
    settings = [
        *("data=folder", f"data.dir={corpus}", f"run_dir={run_dir}", "device=cpu"),
        *(f"trainer.max_updates={updates}", "trainer.max_minutes=null"),
        f"trainer.valid_every={updates}",
    ]
    environment = {**os.environ, "HF_DATASETS_CACHE": str(folder / f"cache-{os.getpid()}")}
    samples, start = [], time.perf_counter()
    words = [sys.executable, "-m", "rnnsearch", "train", *settings]
    process = subprocess.Popen(words, env=environment)
    while process.poll() is None:
        samples.append(Sample(time.perf_counter() - start, *memory_of(process.pid)))
        time.sleep(EVERY_SECONDS)
    if process.returncode:
        sys.exit(process.returncode)
    draw(folder / "memory.png", samples, pairs)
    own, mapped = max(s.own for s in samples), max(s.mapped for s in samples)
    print(
        f"{pairs:,} pairs, {samples[-1].seconds:.0f} s: at most {own:.0f} MiB of its own, ", end=""
    )
    print(f"{mapped:.0f} MiB mapped from files; {folder / 'memory.png'}")


def draw(path: Path, samples: list[Sample], pairs: int) -> None:
    """Draw memory over time."""
    figure = FigureCanvasAgg(Figure(figsize=(8, 4), dpi=120, layout="constrained")).figure
    axes = figure.subplots()
    seconds = [sample.seconds for sample in samples]
    axes.plot(seconds, [sample.own for sample in samples], label="its own")
    axes.plot(seconds, [sample.mapped for sample in samples], label="mapped from files", ls="--")
    axes.set_title(f"Memory of a training on {pairs:,} pairs", loc="left")
    axes.set_xlabel("seconds: reading, tokenizers, encoding, planning, updates, validation")
    axes.set_ylabel("MiB")
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.savefig(path)


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    planning = commands.add_parser("plan", help="plan a pass over simulated lengths")
    planning.add_argument("--pairs", type=whole(1), default=40_000_000, metavar="N")
    planning.add_argument("--batch-sentences", type=whole(1), default=80, metavar="N")
    planning.add_argument("--batch-tokens", type=whole(1), default=None, metavar="N")
    training = commands.add_parser("train", help="train on pairs made for it")
    training.add_argument("folder", type=Path, help="corpus, cache, run and picture go there")
    training.add_argument("--pairs", type=whole(1), default=1_000_000, metavar="N")
    training.add_argument("--updates", type=whole(1), default=200, metavar="N")
    args = parser.parse_args()
    if args.command == "plan":
        plan(args.pairs, args.batch_sentences, args.batch_tokens)
    else:
        train(args.folder, args.pairs, args.updates)


if __name__ == "__main__":
    main()
