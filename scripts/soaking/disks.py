"""A training whose disk gets full, or read-only, in the middle."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from soaking.training import (
    Failed,
    Soak,
    compare,
    last_line,
    run_to_the_end,
    start,
    update_of,
    wait_for_a_record,
)

INSIDE = "RNNSEARCH_SOAK_INSIDE"


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
    words = [sys.executable, sys.argv[0], str(folder), "--disks", str(times)]
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
