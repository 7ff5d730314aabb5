"""The checkpoints that a command loads, by the names of their folders."""

import sys
from collections.abc import Sequence
from pathlib import Path

from rnnsearch.checkpoint import locate


def step_names(run_dir: Path, checkpoints: Sequence[str]) -> list[str]:
    """Return the folder of each checkpoint, with its path if that is no part of the run.

    Models that are the same one make no ensemble; a warning says so on standard error.

    Args:
        run_dir: the run folder.
        checkpoints: one, or those of an ensemble; names and paths.

    Raises:
        UserError: there is no such checkpoint.
    """
    steps = [locate(run_dir, checkpoint).resolve() for checkpoint in checkpoints]
    for number, step in enumerate(steps):
        if step in steps[:number]:
            names = f"{checkpoints[steps.index(step)]} and {checkpoints[number]}"
            message = f"{names} are one model, {step.name}; name different ones for an ensemble"
            print(f"warning: checkpoint: {run_dir}: {message}", file=sys.stderr)
    root = run_dir.resolve()
    return [step.name if step.is_relative_to(root) else str(step) for step in steps]
