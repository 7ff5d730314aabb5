"""Whether `rnnsearch train` begins a run or goes on with one, and from which checkpoint."""

import os
from pathlib import Path

from rnnsearch import checkpoint as files
from rnnsearch.config import TrainConfig
from rnnsearch.confined import check_confined
from rnnsearch.errors import UserError
from rnnsearch.plain import load_run_config, to_plain
from rnnsearch.resuming import compare_for_resume
from rnnsearch.runlog import RunLog
from rnnsearch.saving import load_progress


def start_or_resume(config: TrainConfig, log: RunLog) -> Path | None:
    """Decide between a new run and going on; return the step folder to go on from.

    Raises:
        UserError: `resume` forbids it, the settings do not allow it, or no checkpoint is whole.
    """
    folder = config.folder
    check_confined(folder)
    files.clean(folder)
    holds_run = (folder / "config.yaml").exists() or bool(files.steps(folder))
    if config.resume == "never" and holds_run:
        raise UserError(
            f"resume=never: {folder} holds a run; choose another run_dir, or resume=auto to go on"
        )
    last = folder / "checkpoints" / "last"
    if not files.steps(folder) and last.is_symlink():
        raise UserError(
            f"{last}: leads to {last.readlink()}, which is missing; copy the run folder again, or "
            "choose another run_dir to start anew",
            status=1,
        )
    if not files.steps(folder):
        if config.resume == "must":
            raise UserError(f"resume=must: {folder} holds no checkpoint; resume=auto starts anew")
        return None
    changes = compare_for_resume(to_plain(load_run_config(folder)), to_plain(config))
    step = _whole_checkpoint(folder, log)
    log.say(f"{folder}: going on from {step.name}")
    for change in changes:
        log.say(f"changed since: {change}")
    return step


def _whole_checkpoint(folder: Path, log: RunLog) -> Path:
    """Return the last checkpoint whose files can all be read, saying which ones cannot.

    Raises:
        UserError: there is none; it names the first file (status 1).
    """
    errors: list[UserError] = []
    for step in files.newest_first(folder):
        try:
            progress = load_progress(step)
            files.load_tensors(step / files.MODEL)
            files.load_tensors(step / files.OPTIMIZER)
        except UserError as error:
            errors.append(error)
            continue
        for damage in errors:
            log.warn(str(damage))
        if step.name == "last":
            step = files.adopt(step, progress.update)
        files.point(step.with_name("last"), step.name)
        _mend_best(step, progress.best_update, log)
        return step
    raise errors[0]


def _mend_best(step: Path, best_update: int | None, log: RunLog) -> None:
    """Let `best` lead to what was best at `step`, which a kill or a damage may have undone.

    Where it leads to a later checkpoint that is whole, it stays; a last resort is `step` itself.
    """
    best, earlier = step.with_name("best"), step.with_name(f"step-{best_update}")
    later = files.update_of(best) > files.update_of(step)
    for choice in (best, earlier) if later else (earlier, best):
        if not os.path.lexists(choice):
            continue
        try:
            files.load_tensors(choice / files.MODEL)
        except UserError as error:
            log.warn(f"best: {error}")
            continue
        if choice is earlier:
            files.point(best, earlier.name)
        return
    if os.path.lexists(best):
        files.point(best, step.name)
