"""Throw changed files and hostile text at the program; nothing but one line may come of it.

    python scripts/fuzz.py runs/fuzz --minutes 10
    python scripts/fuzz.py runs/fuzz --only readers roundtrip --seed 7
    python scripts/fuzz.py runs/fuzz --case runs/fuzz/findings/KIND.json

A case works, with a result that makes sense, or is refused with the program's own error of one
line that names the file. Everything else is a finding: other errors, crashes, more than 20 seconds
or 1.5 GiB, files written elsewhere, results that differ without a word. Findings are kept in the
folder, one file for each kind, from which a case can be made again. Exit status 1 if there are any.
Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fuzzing.preparing import prepare

if TYPE_CHECKING:
    from fuzzing.outcomes import Target
    from fuzzing.workers import Finding

    Builders = dict[str, Callable[[], Target]]

SECONDS_A_TURN = 10.0  # of the processor
CASES_A_TURN = 2000


def main() -> int:
    """Run the cases; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to work; runs made before are used again")
    parser.add_argument("--minutes", type=float, default=5, metavar="M")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="targets")
    parser.add_argument("--case", type=Path, metavar="FILE", help="a finding, to make it again")
    args = parser.parse_args()
    folder = args.folder.resolve()
    _settle(folder)
    prepare(folder)
    builders = _builders(folder)
    unknown = [name for name in args.only if name not in builders]
    if unknown:
        parser.error(f"--only {unknown[0]}: expected some of {', '.join(builders)}")
    if args.case is not None:
        return _again(folder, builders, args.case)
    chosen = {name: builders[name] for name in builders if name in args.only or not args.only}
    return _fuzz(folder, chosen, minutes=args.minutes, seed=args.seed)


def _settle(folder: Path) -> None:
    """Have everything that the program keeps lie in the folder, and sums round alike."""
    for name in ("cache", "temporary", "places"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    os.environ |= {
        **{"HF_DATASETS_CACHE": str(folder / "cache"), "TMPDIR": str(folder / "temporary")},
        **{"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        **{"HF_HOME": str(folder / "cache"), "MPLBACKEND": "Agg"},
    }


def _builders(folder: Path) -> Builders:
    """Return what makes each target; the program is loaded here, before there are processes."""
    import torch
    from fuzzing.readers import Readers
    from fuzzing.roundtrip import RoundTrip
    from fuzzing.runfolder import RunFolder
    from fuzzing.translate import Translate

    import rnnsearch.cli.app
    import rnnsearch.cli.evaluate
    import rnnsearch.cli.train
    import rnnsearch.cli.translate
    import rnnsearch.plots  # noqa: F401 - loaded once for all processes

    torch.set_num_threads(1)
    return {
        "readers": lambda: Readers(folder),
        "roundtrip": lambda: RoundTrip(folder),
        "translate": lambda: Translate(folder),
        "runfolder": lambda: RunFolder(folder),
    }


def _fuzz(folder: Path, builders: Builders, *, minutes: float, seed: int) -> int:
    """Run cases of all targets in turn, and tell what came of them."""
    from fuzzing.workers import run_batch

    began = time.monotonic()
    counts: dict[str, Counter[str]] = {name: Counter() for name in builders}
    kinds: Counter[tuple[str, str, str]] = Counter()
    while (past := time.monotonic() - began) < 60 * minutes:
        name = min(builders, key=lambda name: counts[name]["seconds"])
        count, start = counts[name], time.monotonic()
        batch = run_batch(
            folder, name, builders[name], seed=seed, first=count["cases"], most=CASES_A_TURN,
            seconds=SECONDS_A_TURN,
        )  # fmt: skip
        count.update(
            cases=batch.count, worked=batch.worked, refused=batch.refused,
            findings=len(batch.findings), seconds=time.monotonic() - start,
        )  # fmt: skip
        count["memory"] = max(count["memory"], batch.memory)
        for finding in batch.findings:
            key = (name, finding.kind, _short(finding.frame))
            kinds[key] += 1
            if kinds[key] == 1:
                print(f"fuzz: {' '.join(key)}", file=sys.stderr)
            if kinds[key] <= 3:
                _keep(folder, finding, seed=seed, times=kinds[key])
        total = sum(count["cases"] for count in counts.values())
        past = time.monotonic() - began
        print(f"fuzz: {past / 60:.1f} min, {total} cases, {len(kinds)} kinds", file=sys.stderr)
    _table(counts, kinds)
    return 1 if kinds else 0


def _short(frame: str) -> str:
    """Return what is wrong without the numbers and quotations that differ from case to case."""
    return re.sub(r"\d+", "N", re.split(r"[:;] |['\"(\[]", frame)[0])[:80]


def _keep(folder: Path, finding: Finding, *, seed: int, times: int) -> None:
    name = re.sub(r"\W+", "-", f"{finding.target} {finding.kind} {_short(finding.frame)}")
    path = folder / "findings" / f"{name}-{times}.json"
    record = {"seed": seed, **finding._asdict()}
    record["told"] = record["told"].split("\n")
    path.write_text(json.dumps(record, indent=1))


def _again(folder: Path, builders: Builders, path: Path) -> int:
    """Make a case again, and tell what comes of it."""
    from fuzzing.workers import run_batch

    known = json.loads(path.read_bytes())
    name = known["target"]
    batch = run_batch(
        folder, name, builders[name], seed=known["seed"], first=known["number"], most=1, seconds=60
    )
    for finding in batch.findings:
        print(f"{finding.kind} {finding.frame}\n{finding.told}")
    if not batch.findings:
        print(f"{name} {known['number']}: {'worked' if batch.worked else 'refused'}")
    return 1 if batch.findings else 0


def _table(counts: dict[str, Counter[str]], kinds: Counter[tuple[str, str, str]]) -> None:
    print(f"{'target':10} {'cases':>7} {'worked':>7} {'refused':>7} {'findings':>8} {'kinds':>5} "
          f"{'minutes':>7} {'memory, GiB':>11}")  # fmt: skip
    for name, count in counts.items():
        of_target = sum(key[0] == name for key in kinds)
        print(
            f"{name:10} {count['cases']:7} {count['worked']:7} {count['refused']:7} "
            f"{count['findings']:8} {of_target:5} {count['seconds'] / 60:7.1f} "
            f"{count['memory'] / 2**30:11.2f}"
        )
    for (name, kind, frame), times in sorted(kinds.items()):
        print(f"{name}: {kind}: {frame}: {times}")


if __name__ == "__main__":
    sys.exit(main())
