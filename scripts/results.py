"""The rows of the README's results, as the commands that made them.

    python scripts/results.py                        the rows
    python scripts/results.py NAME [OVERRIDE ...]    trains and scores one

A row is trained in one thread, so that two rows fit on two cores and neither counts on the other's.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from typing import NamedTuple

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
                    ("experiment=europarl", *chosen, *tokenizer, f"data.max_length={length}")
                )
    return found


def run(command: str, *words: str) -> None:
    """Run a command of rnnsearch after showing it; end with its status where it fails."""
    print(f"+ rnnsearch {shlex.join((command, *words))}", file=sys.stderr, flush=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-m", "rnnsearch", command, *words], env=environment)
    if done.returncode:
        sys.exit(done.returncode if done.returncode > 0 else 128 - done.returncode)


def main(arguments: list[str]) -> None:
    """Run the row that is named first; without a name list them."""
    known = rows()
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
