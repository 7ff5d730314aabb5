"""Measure training and decoding of a run's sizes on its data, also beside other programs.

    python scripts/benchmark.py runs/demo
    python scripts/benchmark.py runs/multi30k --peer joeynmt --peer opennmt --peer-minutes 30

Training is measured with a fresh network of the run's sizes on its training pairs, decoding with
its best checkpoint on its test set. Each program runs in a process of its own, pinned to one core
with one thread; they take turns, and a figure is the median over the rounds, of processor time.
Two cores are measured beside it by the clock. A peer sees the same pieces in its own batches; it is
installed into an environment of its own, and trained for --peer-minutes before it decodes. A model
that has learned little may say little, and so be fast: compare the pieces a sentence too.
The table is Markdown. Linux only.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from argument_types import whole
from bench import pieces
from bench.environments import PEERS, interpreter
from bench.workers import MARK

from rnnsearch.errors import UserError

HERE = Path(__file__).resolve().parent
BEAM = 5


class Worker:
    """A program in a process of its own that answers commands."""

    def __init__(self, command: list[str], *, core: int | None, threads: int, log: Path) -> None:
        environment = os.environ | {
            "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads),
        }  # fmt: skip
        pin = ["taskset", "-c", str(core)] if core is not None else []
        self.log = log
        self.process = subprocess.Popen(
            [*pin, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log.open("w"),
            text=True, env=environment,
        )  # fmt: skip
        self.about = self._answer()

    def ask(self, do: str, **arguments: object) -> dict[str, Any]:
        """Return the answer to a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(MARK):
                answer: dict[str, Any] = json.loads(line.removeprefix(MARK))
                return answer
        raise UserError(f"a worker ended early; see the end of {self.log}", status=1)


def ours(options: argparse.Namespace, folder: Path, *, threads: int) -> Worker:
    """Return a worker that runs this package."""
    words = (HERE / "bench" / "ourselves.py", folder / "data", threads, options.precision)
    return Worker(
        [sys.executable, *map(str, words)], threads=threads, log=folder / f"threads-{threads}.log",
        core=options.core if threads == 1 else None,
    )  # fmt: skip


def peer(name: str, options: argparse.Namespace, folder: Path) -> Worker:
    """Return a worker that runs another program, with weights to decode with."""
    python = interpreter(name, options.work / "environments")
    command = [python, str(HERE / "bench" / f"{name}_worker.py"), str(folder / "data")]
    worker = Worker(command, core=options.core, threads=1, log=folder / f"{name}.log")
    if not (folder / "data" / f"{name}.safetensors").exists():
        print(f"training {name} for {options.peer_minutes:g} minutes", file=sys.stderr)
        done = worker.ask("fit", minutes=options.peer_minutes)
        print(f"{name}: {done['updates']} updates", file=sys.stderr)
    return worker


Figures = dict[str, dict[str, list[float]]]
"""Row of the table, program, a figure for each round."""


def steps(worker: Worker, rounds: int) -> Figures:
    """Return how long clipping and the optimizer's step take."""
    figures: Figures = defaultdict(lambda: defaultdict(list))
    for _ in range(rounds):
        answer = worker.ask("optimize", steps=5)
        figures["clipping and optimizer, ms"]["rnnsearch"].append(1000 * answer["seconds"])
        if "torch" in answer:
            label = "clipping and torch.optim.Adadelta, ms"
            figures[label]["rnnsearch"].append(1000 * answer["torch"])
    return figures


def tasks(options: argparse.Namespace) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the name, the command and the arguments of everything that is measured."""
    yield "training", "train", {"updates": options.updates}
    for beam, label in ((1, "greedy"), (BEAM, f"beam {BEAM}")):
        for batch, part in ((64, 1), (1, 8)):
            yield f"{label}, {batch} at once", "decode", {
                "beam": beam, "batch": batch, "sentences": max(1, options.sentences // part),
            }  # fmt: skip


def measure(workers: dict[str, Worker], options: argparse.Namespace) -> Figures:
    """Return all figures; in each round the programs take turns at each task."""
    figures: Figures = defaultdict(lambda: defaultdict(list))
    for _ in range(options.rounds):
        for label, do, arguments in tasks(options):
            for name, worker in workers.items():
                answer = worker.ask(do, **arguments)
                seconds = answer["seconds"]
                if do == "train":
                    figures[f"{label}, target tokens/s"][name].append(answer["tokens"] / seconds)
                    figures[f"{label}, updates/s"][name].append(answer["updates"] / seconds)
                else:
                    rate = answer["sentences"] / seconds
                    figures[f"{label}, sentences/s"][name].append(rate)
                    length = answer["pieces"] / answer["sentences"]
                    figures[f"{label}, pieces a sentence"][name].append(length)
                if "share" in answer:
                    figures[f"{label}, % of the ceiling"][name].append(100 * answer["share"])
                if "peak" in answer:
                    figures["peak memory of updates, MiB"][name].append(answer["peak"])
                print(f"{label}: {name} {seconds:.1f} s", file=sys.stderr)
    return figures


def two_cores(folder: Path, options: argparse.Namespace) -> Figures:
    """Return our figures with two threads on two cores, by the clock."""
    figures: Figures = defaultdict(lambda: defaultdict(list))
    with ours(options, folder, threads=2) as worker:
        for _ in range(options.rounds):
            done = worker.ask("train", updates=options.updates)
            rate = done["tokens"] / done["wall"]
            figures["two cores: training, target tokens/s"]["rnnsearch"].append(rate)
            found = worker.ask("decode", beam=BEAM, batch=64, sentences=options.sentences)
            rate = found["sentences"] / found["wall"]
            figures[f"two cores: beam {BEAM}, 64 at once, sentences/s"]["rnnsearch"].append(rate)
    return figures


def start_up(run_dir: Path, options: argparse.Namespace) -> Figures:
    """Return the seconds from the command to the translation of one line."""
    command = [sys.executable, "-m", "rnnsearch", "translate", f"run_dir={run_dir}"]
    seconds = []
    for _ in range(options.rounds):
        start = time.perf_counter()
        subprocess.run(command, input="A line.\n", text=True, capture_output=True, check=True)
        seconds.append(time.perf_counter() - start)
    return {"start-up: one line translated, s": {"rnnsearch": seconds}}


def processor() -> str:
    """Return the processor's name."""
    with Path("/proc/cpuinfo").open() as lines:
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def table(figures: Figures, names: list[str]) -> str:
    """Return the medians as a Markdown table, with our ratio to each peer."""
    peers = names[1:]
    head = ["", *names, *(f"rnnsearch / {name}" for name in peers)]
    rows = [head, ["---"] * len(head)]
    for label, by_program in figures.items():
        medians = {name: statistics.median(values) for name, values in by_program.items()}
        cells = [f"{medians[name]:.4g}" if name in medians else "" for name in names]
        ours = medians["rnnsearch"]
        compared = [peer in medians and label.endswith("/s") for peer in peers]
        ratios = [
            f"{ours / medians[peer]:.2f}" if fits else ""
            for peer, fits in zip(peers, compared, strict=True)
        ]
        rows.append([label, *cells, *ratios])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__.partition("\n")[0] if __doc__ else None,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("run_dir", type=Path, help="a run folder with a checkpoint")
    add("--peer", action="append", default=[], choices=sorted(PEERS), help="may be repeated")
    add("--peer-minutes", type=float, default=30.0, help="to train a peer once, before it decodes")
    add("--precision", choices=("fp32", "bf16"), default="fp32", help="of our matrix products")
    add("--rounds", type=whole(1), default=5)
    add("--updates", type=whole(1), default=8, help="of a round")
    add("--sentences", type=whole(1), default=192, help="of a round; an eighth one at a time")
    add("--core", type=int, default=0, help="the core that all are pinned to")
    add("--work", type=Path, default=Path("runs/benchmark"),
        help="what is kept; remove it when the run has changed")  # fmt: skip
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Print the table; return 0, or a status after one line on standard error."""
    options = arguments(argv)
    folder = options.work / options.run_dir.resolve().name
    try:
        sizes = pieces.write(options.run_dir, folder / "data")
        options.sentences = min(options.sentences, sizes["sentences"])
        if "opennmt" in options.peer and 2 * sizes["encoder_size"] != sizes["hidden_size"]:
            raise UserError(
                f"--peer opennmt: its decoder is as large as both directions of its encoder, but "
                f"{options.run_dir} has model.encoder_size={sizes['encoder_size']} "
                f"model.hidden_size={sizes['hidden_size']}; leave it out, or name another run"
            )
        with ExitStack() as stack:
            workers = {
                name: stack.enter_context(peer(name, options, folder)) for name in options.peer
            }
            workers = {
                "rnnsearch": stack.enter_context(ours(options, folder, threads=1)), **workers
            }  # fmt: skip
            about = workers["rnnsearch"].about
            figures = measure(workers, options) | steps(workers["rnnsearch"], options.rounds)
        figures |= two_cores(folder, options) | start_up(options.run_dir, options)
    except UserError as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return error.status
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"benchmark: {error}", file=sys.stderr)
        return 1
    print(table(figures, list(workers)))
    print(
        f"\n{processor()}; {options.precision}; {about['parameters']:,} parameters; "
        f"{about['pairs']:,} pairs read and encoded in {about['reading']:.1f} s, a pass planned in "
        f"{about['planning']:.3f} s; medians of {options.rounds} rounds in turn, one thread, "
        "processor time unless said otherwise."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
