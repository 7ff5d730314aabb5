"""Cases in processes of their own, which may crash, hang or ask for too much memory."""

from __future__ import annotations

import faulthandler
import json
import os
import random
import re
import resource
import shutil
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from fuzzing.outcomes import Case, Target, Wrong

GIB = 1 << 30
MOST_MEMORY = int(1.5 * GIB)
MOST_ADDRESSES = 4 * GIB  # of which much is reserved and never used
# Of the processor; the machine may be busy with other work, so the clock gives more of them.
SECONDS = 20
CLOCK_SECONDS = 180
_PACKAGE = re.compile(r"rnnsearch/((?:cli/)?\w+\.py)\W.* in (\w+|<\w+>)")


class Finding(NamedTuple):
    """A case that neither worked nor was refused as it should.

    Attributes:
        target, number: with the seed they make the case again.
        kind: the type of what was raised, or `crash`, `hang` or `memory`.
        frame: the innermost place in the package, or what was wrong.
        told: what was done and what happened.
    """

    target: str
    number: int
    kind: str
    frame: str
    told: str


class Batch(NamedTuple):
    """What came of some cases, one after the other."""

    worked: int
    refused: int
    findings: list[Finding]
    memory: int

    @property
    def count(self) -> int:
        """How many cases there were."""
        return self.worked + self.refused + len(self.findings)


def chance_of(seed: int, name: str, number: int) -> random.Random:
    """Return what decides everything about a case."""
    return random.Random(f"{seed} {name} {number}")


def run_batch(
    folder: Path, name: str, build: Callable[[], Target],
    *, seed: int, first: int, most: int, seconds: float,
) -> Batch:  # fmt: skip
    """Run cases in a process, until there are enough, time is over or one of them ends it.

    Args:
        folder: of the whole work.
        name: of the target.
        build: makes the target, in the process.
        seed: of all cases.
        first: number of the first case.
        most: cases at most.
        seconds: of the processor, after which no case begins.
    """
    records, trace = folder / "records.jsonl", folder / "trace.txt"
    for path in (records, trace):
        path.write_bytes(b"")
    process = os.fork()
    if process == 0:
        status = 1
        try:
            _work(folder, name, build, seed=seed, numbers=range(first, first + most), ends=seconds)
            status = 0
        except BaseException:
            with trace.open("a") as file:
                traceback.print_exc(file=file)
        finally:
            os._exit(status)
    status = _wait(process, 20 * seconds + 2 * CLOCK_SECONDS)
    return _read(name, records, trace, status)


def _wait(process: int, seconds: float) -> int:
    """Wait for a process, and end it if it does not end itself; return how it ended."""
    ends = time.monotonic() + seconds
    pause = 0.001
    while time.monotonic() < ends:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        pause = min(pause * 1.5, 0.2)
        time.sleep(pause)
    os.kill(process, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def _work(
    folder: Path, name: str, build: Callable[[], Target],
    *, seed: int, numbers: range, ends: float,
) -> None:  # fmt: skip
    """Run cases and write down what comes of them: what a process of `run_batch` does."""
    with Path("/proc/self/statm").open() as file:
        taken = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MOST_ADDRESSES,) * 2)
    trace = (folder / "trace.txt").open("a")
    faulthandler.enable(trace)
    # The trace is written in the middle of foreign code too; then the signal ends the process.
    faulthandler.register(signal.SIGPROF, file=trace, chain=True)
    target = build()
    before = memory()
    began = time.process_time()
    with (folder / "records.jsonl").open("a", buffering=1) as records:
        for number in numbers:
            if time.process_time() - began > ends:
                return
            record: dict[str, Any] = {"number": number}
            notes: list[str] = []
            records.write(json.dumps(record | {"begins": True}) + "\n")
            trace.truncate(0)  # what is left there at a crash is of this case
            place = Path(tempfile.mkdtemp(dir=folder / "places"))
            faulthandler.dump_traceback_later(CLOCK_SECONDS, exit=True, file=trace)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)

            def note(text: str, notes: list[str] = notes) -> None:
                notes.append(text)
                trace.write(f"{text[:3000]}\n")
                trace.flush()

            record |= _outcome(target, Case(chance_of(seed, name, number), place, note))
            signal.setitimer(signal.ITIMER_PROF, 0)
            faulthandler.cancel_dump_traceback_later()
            record["memory"] = memory()
            shutil.rmtree(place, ignore_errors=True)
            grown = record["memory"] - before
            if grown > MOST_MEMORY and "kind" not in record:
                record |= {"kind": "memory", "frame": f"{grown / GIB:.1f} GiB"}
            record["notes"] = notes
            records.write(json.dumps(record) + "\n")
            if grown > MOST_MEMORY:
                return


def memory() -> int:
    """Return the most memory that this process ever took, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _outcome(target: Target, case: Case) -> dict[str, Any]:
    try:
        return {"worked": target.run(case)}
    except Wrong as error:
        return {"kind": "wrong", "frame": str(error), "trace": _trace(error)}
    except Exception as error:
        frames = list(traceback.extract_tb(error.__traceback__))
        ours = [
            f"{Path(frame.filename).name}:{frame.name}"
            for frame in frames
            if "/rnnsearch/" in frame.filename
        ]
        frame = ours[-1] if ours else f"{Path(frames[-1].filename).name}:{frames[-1].name}"
        return {"kind": type(error).__name__, "frame": frame, "trace": _trace(error)}


def _trace(error: Exception) -> str:
    return "".join(traceback.format_exception(error))[-6000:]


def _read(name: str, records: Path, trace: Path, status: int) -> Batch:
    worked = refused = most = 0
    findings = []
    begun = None
    for record in _records(records):
        number = record["number"]
        if "begins" in record:
            begun = number
            continue
        begun = None
        most = max(most, record["memory"])
        if "kind" in record:
            told = "\n".join([*record["notes"], record.get("trace", "")])
            findings.append(Finding(name, number, record["kind"], record["frame"], told))
        else:
            worked += record["worked"]
            refused += not record["worked"]
    told = trace.read_text(errors="replace")[-6000:]
    if begun is not None:
        slow = "Timeout (" in told or status in (-signal.SIGKILL, -signal.SIGPROF)
        kind = "hang" if slow else "crash"
        place = _PACKAGE.search(told.replace('"', " "))
        frame = f"{place[1]}:{place[2]}" if place else f"status {status}"
        findings.append(Finding(name, begun, kind, frame, f"ended with {status}\n{told}"))
    elif status:
        raise RuntimeError(f"the process of {name} ended with {status}: {told}")
    return Batch(worked, refused, findings, most)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_bytes().split(b"\n"):
        if line:
            yield json.loads(line)
