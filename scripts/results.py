"""The rows of the README's results, as the commands that made them.

    python scripts/results.py                        the rows
    python scripts/results.py NAME [OVERRIDE ...]    trains and scores one
    python scripts/results.py --table [FOLDER]       what the runs in runs/ scored, as Markdown

A row is trained in one thread, so that two rows fit on two cores and neither counts on the other's.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import safe_open

from rnnsearch.report.evaluated import bin_name, interval

SEEDS = (1, 2, 3)


class Row(NamedTuple):
    """What `rnnsearch train` and `rnnsearch evaluate` are given; an ensemble trains nothing."""

    train: tuple[str, ...]
    evaluate: tuple[str, ...] = ()


def rows() -> dict[str, Row]:
    """Return every row by its name, which is also its folder in runs/."""
    found: dict[str, Row] = {}
    for form, scoring in (("tok", ("tokenize=none",)), ("raw", ())):
        name = f"multi30k-{form}"
        for seed in SEEDS:
            found[f"{name}-{seed}"] = Row(("experiment=multi30k_best", f"seed={seed}"), scoring)
        members = ",".join(f"runs/{name}-{seed}" for seed in SEEDS)
        first = f"run_dir=runs/{name}-{SEEDS[0]}"
        found[f"{name}-ensemble"] = Row((), (first, f"checkpoint=[{members}]", *scoring))
    greedy = "decode.beam_size=1"  # validations: the time goes into updates
    models = {
        "rnnsearch": ("model=rnnsearch",),
        "rnnencdec": ("model=rnnencdec",),
        "input": ("model=transformer_input",),
        "input3": ("model=transformer_input", "model.layers=3", "optimizer.lr=0.001"),
    }
    for units, tokenizer in (("words", ()), ("pieces", ("tokenizer=bpe",))):
        for length in (30, 50):
            for model, chosen in models.items():
                found[f"europarl-{model}-{length}-{units}"] = Row(
                    (
                        "experiment=europarl",
                        *chosen,
                        *tokenizer,
                        f"data.max_length={length}",
                        greedy,
                    ),
                    ("decode.beam_size=5",),
                )
    return found


def run(command: str, *words: str) -> None:
    """Run a command of rnnsearch after showing it; end with its status where it fails."""
    print(f"+ rnnsearch {shlex.join((command, *words))}", file=sys.stderr, flush=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "rnnsearch", command, *words], env=environment)
    if done.returncode:
        sys.exit(done.returncode if done.returncode > 0 else 128 - done.returncode)


class Scored(NamedTuple):
    """A run's scores of a test set, and what it took to train it."""

    name: str
    record: dict[str, Any]
    training: tuple[str, str, str]


def scored(runs: Path) -> dict[str, list[Scored]]:
    """Return what the rows in `runs` scored, by test set; a row without scores is left out."""
    found: dict[str, list[Scored]] = {}
    for name in rows():
        for path in sorted((runs / name / "evaluations").glob("*/evaluation.json")):
            record = json.loads(path.read_text("utf-8"))
            found.setdefault(record["test_set"], []).append(
                Scored(name, record, training(runs / name, record["checkpoint"]))
            )
    return found


def training(folder: Path, checkpoint: str | list[str]) -> tuple[str, str, str]:
    """Return a run's parameters, the updates that the checkpoint is named by, and its minutes."""
    if isinstance(checkpoint, list):
        return f"{len(checkpoint)} models", "", ""
    last = folder / "checkpoints" / "last"  # the one that was scored may have been removed since
    with safe_open(last / "model.safetensors", "np") as tensors:
        names = tensors.keys()
        parameters = sum(math.prod(tensors.get_slice(name).get_shape()) for name in names)
    seconds = json.loads((last / "state.json").read_text("utf-8"))["elapsed_seconds"]
    return f"{parameters:,}", checkpoint.removeprefix("step-"), f"{seconds / 60:.0f}"


def table(found: list[Scored]) -> Iterable[str]:
    """Yield the lines of a test set's table, the mean over seeds, and the signatures."""
    bins = found[0].record["by_length"]
    words = any("no_unk" in one.record for one in found)
    head = ["row", "BLEU", *(["No UNK"] if words else [])]
    head += [*map(bin_name, bins), "parameters", "updates", "minutes"]
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    for name, record, trained in found:
        known = record.get("no_unk")
        cells = [f"`{name}`", interval(record["bleu"])]
        cells += [interval(known["bleu"]) if known else ""] if words else []
        cells += [f"{one['bleu']:.1f}" for one in record["by_length"]]
        yield f"| {' | '.join((*cells, *trained))} |"
    yield ""
    for stem in dict.fromkeys(one.name.rpartition("-")[0] for one in found):
        seeds = [f"{stem}-{seed}" for seed in SEEDS]
        scores = [one.record["bleu"]["score"] for one in found if one.name in seeds]
        if len(scores) > 1:
            mean, spread = f"{statistics.mean(scores):.2f}", f"{statistics.stdev(scores):.2f}"
            yield f"`{stem}`: mean {mean} of {len(scores)} seeds, standard deviation {spread}"
    yield from dict.fromkeys(f"`{one.record['bleu']['signature']}`" for one in found)


def main(arguments: list[str]) -> None:
    """Run the row that is named first, or show tables; without a name list the rows."""
    known = rows()
    if arguments[:1] == ["--table"]:
        runs = Path(arguments[1] if arguments[1:] else "runs")
        found = scored(runs)
        if not found:
            print(f"reproduce: {runs}: no row was scored there yet", file=sys.stderr)
            sys.exit(2)
        for test_set, ones in found.items():
            print("\n".join((f"{test_set}\n", *table(ones), "")))
        return
    if not arguments:
        for name, row in known.items():
            what = f"train {shlex.join(row.train)}" if row.train else "evaluate those three"
            print(f"{name:30} {what}")
        return
    name, *overrides = arguments
    if name not in known:
        print(f"reproduce: {name}: there is no such row; without a name it lists them",
              file=sys.stderr)  # fmt: skip
        sys.exit(2)
    row = known[name]
    if row.train:
        run("train", *row.train, f"run_dir=runs/{name}", *overrides)
        run("evaluate", f"run_dir=runs/{name}", *row.evaluate)
    else:
        run("evaluate", *row.evaluate, *overrides)


if __name__ == "__main__":
    main(sys.argv[1:])
