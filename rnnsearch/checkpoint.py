"""The files of a run folder: written whole or not at all, and never a pickle.

    checkpoints/step-N/   model.safetensors optimizer.safetensors state.json
    checkpoints/last best relative links to step folders
    checkpoints/averaged  a folder with weights alone

A step folder is written under a temporary name, flushed to the disk and renamed; a link is
replaced in one move. A kill at any moment leaves the checkpoint before usable.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from rnnsearch.errors import UserError, nearest
from rnnsearch.wholefiles import flush, replace, write_text, writing

FORMAT = 1
# One entry in the head of the file: several would come in any order, and change its bytes.
_ABOUT = "about"
STEP = re.compile(r"step-([0-9]{1,18})")
MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
_REMEDY = "copy the run folder again, or use another checkpoint or run"


@contextlib.contextmanager
def lock(run_dir: Path) -> Iterator[None]:
    """Hold the run folder for this process; the system lets go of it even after a kill.

    Raises:
        UserError: another process holds it.
    """
    handle = os.open(run_dir, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"run_dir={run_dir}: another process is training in this folder; "
                "wait for it or choose another run_dir"
            ) from None
        yield
    finally:
        os.close(handle)


def save_step(
    run_dir: Path, update: int, *, model: Mapping[str, Tensor], optimizer: Mapping[str, Tensor],
    state: Mapping[str, Any], about: Mapping[str, str],
) -> None:  # fmt: skip
    """Write `checkpoints/step-N` and point `last` at it.

    Args:
        run_dir: the run folder.
        update: N.
        model: its tensors by name.
        optimizer: likewise.
        state: what `state.json` is to hold.
        about: what the model belongs to; it stays with the tensors wherever they are copied.

    Raises:
        UserError: the disk refuses; the earlier checkpoints stay as they were (status 1).
    """
    folder = run_dir / "checkpoints"
    step = folder / f"step-{update}"
    temporary = folder / f".step-{update}.tmp"
    with writing(step):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir()
            told = {_ABOUT: json.dumps(dict(about), sort_keys=True)}
            safetensors.torch.save_file(dict(model), temporary / MODEL, told)
            safetensors.torch.save_file(dict(optimizer), temporary / OPTIMIZER)
            (temporary / STATE).write_bytes(_state_text(state).encode())
            for name in (MODEL, OPTIMIZER, STATE):
                flush(temporary / name)
            if step.exists():  # of a run that was taken up again from an earlier checkpoint
                step.rename(folder / f".old-{update}.tmp")
            replace(temporary, step)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    point(folder / "last", step.name)
    shutil.rmtree(folder / f".old-{update}.tmp", ignore_errors=True)


def save_state(run_dir: Path, update: int, state: Mapping[str, Any]) -> None:
    """Replace `state.json` of a step folder whose weights are those of the present update.

    Raises:
        UserError: the disk refuses (status 1).
    """
    write_text(run_dir / f"checkpoints/step-{update}" / STATE, _state_text(state))


def _state_text(state: Mapping[str, Any]) -> str:
    return json.dumps({"format": FORMAT, **state}, indent=1)


def point(link: Path, target: str) -> None:
    """Make `link` a relative link to `target`, replacing an earlier one in one move."""
    temporary = link.with_name(f".{link.name}.tmp")
    gone = link.with_name(f".old-{link.name}.tmp")
    with writing(link):
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(target)
        if link.is_dir() and not link.is_symlink():  # the run was copied by what follows links
            link.rename(gone)
        temporary.replace(link)
        flush(link.parent)
    shutil.rmtree(gone, ignore_errors=True)


def adopt(last: Path, update: int) -> Path:
    """Turn `last`, a folder in a run that was copied without its links, into a step folder."""
    step = last.with_name(f"step-{update}")
    gone = last.with_name(f".old-{update}.tmp")
    with writing(step):
        if step.exists():
            step.rename(gone)
        last.rename(step)
    shutil.rmtree(gone, ignore_errors=True)
    return step


def prune(run_dir: Path, keep: set[int]) -> None:
    """Remove step folders but those in `keep` and those that `last` and `best` point at."""
    folder = run_dir / "checkpoints"
    linked = {str((folder / n).readlink()) for n in ("last", "best") if (folder / n).is_symlink()}
    for step in steps(run_dir):
        if step not in keep and f"step-{step}" not in linked:
            # Renamed first: a kill in the middle must not leave half a checkpoint behind.
            gone = folder / f".gone-{step}.tmp"
            (folder / f"step-{step}").rename(gone)
            shutil.rmtree(gone, ignore_errors=True)


def clean(run_dir: Path) -> None:
    """Remove what a killed process left half written."""
    for folder in (run_dir, run_dir / "checkpoints", run_dir / "checkpoints" / "averaged"):
        for leftover in folder.glob(".*.tmp"):
            if leftover.is_dir() and not leftover.is_symlink():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)


def steps(run_dir: Path) -> list[int]:
    """Return the updates at which there are step folders, ascending."""
    folder = run_dir / "checkpoints"
    names = [STEP.fullmatch(path.name) for path in folder.glob("step-*")]
    return sorted(int(name[1]) for name in names if name)


def update_of(checkpoint: Path) -> int:
    """Return the update of a step folder or of a link to one; 0 for what is neither."""
    # Not `resolve`, which gives up on links in a circle.
    name = STEP.fullmatch(Path(os.path.realpath(checkpoint)).name)
    return int(name[1]) if name else 0


def newest_first(run_dir: Path) -> list[Path]:
    """Return `last` and the checkpoints before it, the order in which a resume tries them."""
    folder = run_dir / "checkpoints"
    last, found = folder / "last", [folder / f"step-{step}" for step in reversed(steps(run_dir))]
    if not last.is_dir():
        return found
    if not last.is_symlink():
        return [last, *found]
    # A step after it was written by a process that ended before it moved the link.
    return [step for step in found if update_of(step) <= update_of(last)]


def save_average(run_dir: Path, updates: list[int]) -> None:
    """Write `checkpoints/averaged`: the mean of the weights at `updates`, summed in float64.

    Raises:
        UserError: a file is missing, damaged or of another model, or the disk refuses (status 1).
    """
    folder = run_dir / "checkpoints" / "averaged"
    models = [run_dir / f"checkpoints/step-{update}" / MODEL for update in updates]
    weights = [load_tensors(model) for model in models]
    shapes = [{name: tensor.shape for name, tensor in each.items()} for each in weights]
    for model, shape in zip(models, shapes, strict=True):
        if shape != shapes[-1]:
            raise UserError(f"{model}: not of the same model as {models[-1]}; {_REMEDY}", status=1)
    mean = {
        name: (sum(w[name].double() for w in weights) / len(weights)).to(first.dtype)  # type: ignore[union-attr]
        for name, first in weights[0].items()
    }
    temporary = folder / f".{MODEL}.tmp"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        told = {_ABOUT: json.dumps(load_about(models[0]), sort_keys=True)}
        safetensors.torch.save_file(mean, temporary, told)
        replace(temporary, folder / MODEL)
    write_text(folder / STATE, json.dumps({"format": FORMAT, "averaged": updates}, indent=1))


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a `.safetensors` file.

    Raises:
        UserError: it is missing, or incomplete or damaged (status 1).
    """
    try:
        return safetensors.torch.load_file(path)
    except (OSError, SafetensorError) as error:
        raise _damaged(path, error) from error


def load_about(path: Path) -> dict[str, str]:
    """Return what a `.safetensors` file says about its tensors; older ones say nothing.

    Raises:
        UserError: it is missing, or incomplete or damaged (status 1).
    """
    try:
        with safetensors.safe_open(path, framework="pt") as file:
            about = json.loads((file.metadata() or {}).get(_ABOUT, "{}"))
    except (OSError, SafetensorError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from error
    return {str(name): str(fact) for name, fact in about.items()} if isinstance(about, dict) else {}


def load_state(step: Path) -> dict[str, Any]:
    """Read `state.json` of a step folder.

    Raises:
        UserError: it is missing, or incomplete or damaged (status 1).
    """
    path = step / STATE
    try:
        state = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from error
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise UserError(f'{path}: not written by this version: no "format": {FORMAT}', status=1)
    return state


def _damaged(path: Path, error: Exception) -> UserError:
    if isinstance(error, FileNotFoundError):
        return UserError(f"{path}: missing; {_REMEDY}", status=1)
    if isinstance(error, OSError) and error.strerror:
        return UserError(f"{path}: could not be read: {error.strerror}", status=1)
    return UserError(f"{path}: incomplete or damaged; {_REMEDY}", status=1)


def locate(run_dir: Path, checkpoint: str) -> Path:
    """Return the folder of a checkpoint: `best`, `last`, `averaged`, `step-N` or a path.

    The path of a run folder means its best checkpoint.

    Raises:
        UserError: there is none of that name; the ones that exist are listed.
    """
    folder = run_dir / "checkpoints"
    if checkpoint in ("best", "last", "averaged") or STEP.fullmatch(checkpoint):
        if (folder / checkpoint).is_dir():
            return folder / checkpoint
        found = sorted(p.name for p in folder.glob("[!.]*")) if folder.is_dir() else []
        raise UserError(
            f"checkpoint={checkpoint}: not in {folder}, which holds {', '.join(found) or 'nothing'}"
            f"{'; give checkpoint=last' if (folder / 'last').is_dir() else ''}"
        )
    path = Path(checkpoint)
    for place in (path, path / "checkpoints" / "best"):
        if (place / MODEL).is_file():
            return place
    names = ("best", "last", "averaged", *(f"step-{step}" for step in steps(run_dir)))
    raise UserError(
        f"checkpoint={checkpoint}: expected best, last, averaged, step-N or a folder that holds "
        f"{MODEL}{nearest(checkpoint, names)}"
    )
