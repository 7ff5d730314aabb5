"""A training that is killed again and again."""

from __future__ import annotations

import random
import shutil
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

START_SECONDS = 5.0
"""A process has begun to train by then, on most machines."""

WINDOW_SECONDS = 0.6
"""After the first new record a kill comes within this time."""

AT_START, IN_SAVE = 0.2, 0.4
"""Shares of the kills that come while a process starts, and that wait for the next save."""


def kill_again_and_again(soak: Soak, kills: int, chance: random.Random) -> None:
    """Kill the training at `kills` random moments, then let it end.

    Raises:
        Failed: a checkpoint is not whole, or the end differs.
    """
    run_dir = soak.folder / "killed"
    shutil.rmtree(run_dir, ignore_errors=True)
    at_start = in_save = 0
    checkpoints = run_dir / "checkpoints"
    for kill in range(1, kills + 1):
        process = start(soak, run_dir)
        kind = chance.random()
        if kind < AT_START:
            time.sleep(chance.uniform(0, START_SECONDS))
        else:
            wait_for_a_record(run_dir, process)
            time.sleep(chance.uniform(0, WINDOW_SECONDS))
        if kind > 1 - IN_SAVE:
            wait_for_a_save(checkpoints, process)
        process.kill()
        _, err = process.communicate()
        if process.returncode == 0:
            raise Failed(f"the training ended after {kill - 1} kills; give more --updates")
        if process.returncode > 0:
            raise Failed(f"status {process.returncode} before a kill: {last_line(err)}")
        at_start += kind < AT_START
        in_save += any(checkpoints.glob(".*.tmp"))
        update = update_of(run_dir)
        print(f"\rkill {kill} of {kills}, at update {update} ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    run_to_the_end(soak, run_dir)
    compare(run_dir, soak.straight)
    print(
        f"{kills} kills, {at_start} of them within {START_SECONDS:g} s of a start, {in_save} in "
        "the middle of a save: equal to the straight run"
    )


def wait_for_a_save(checkpoints: Path, process: subprocess.Popen[str]) -> None:
    """Wait until a checkpoint is being written, or the training has ended."""
    while process.poll() is None and not any(checkpoints.glob(".step-*.tmp")):
        pass  # a save is over in a few milliseconds
