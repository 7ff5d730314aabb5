"""Where a command will write, looked at before any work."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from rnnsearch.errors import UserError

# What a run folder holds that cannot be had again, or that the next command replaces.
_OF_RUN = (
    *("config.yaml", "metrics.jsonl", "train.log", "tokenizer", "checkpoints"),
    *("evaluation.json", "hypotheses.txt", "report.html", "plots/training.png"),
)
_OF_EVALUATIONS = (
    *("evaluation.json", "hypotheses.txt", "report.html"),
    *("comparison.json", "comparison.html", "by_length.png"),
)

_PICTURE = re.compile(r"(\d+|sheet)\.(png|svg)", re.IGNORECASE)


def check_place(key: str, path: Path, *, folder: bool = False) -> None:
    """Hold that a file can be written at `path`, or files in the folder `path`.

    Args:
        key: names it in messages.
        path: a file, whose folder must be there; or a folder, which may have to be made.
        folder: which of the two.

    Raises:
        UserError: something else is in the way, or nothing may be written there.
    """
    try:
        reason = _hindrance(path, folder=folder)
    except OSError as error:  # such as a name that is too long
        reason = str(error.strerror)
    if reason is not None:
        raise UserError(f"{key}={path}: {reason}")


def _hindrance(path: Path, *, folder: bool) -> str | None:
    if path.exists() and path.is_dir() != folder:
        return "is a file; name a folder" if folder else "is a folder; name a file"
    if path.exists():
        return None if os.access(path, os.W_OK) else "may not be written to"
    if not folder and not path.parent.exists():
        return f"there is no folder {path.parent}; make it first"
    above = next(parent for parent in path.parents if parent.exists())
    if not above.is_dir():
        return f"{above} is a file, and no folder"
    return None if os.access(above, os.W_OK | os.X_OK) else f"nothing may be written in {above}"


def check_not(key: str, path: Path, taken: Iterable[tuple[str, Path]]) -> None:
    """Hold that `path` is none of the files that must stay as they are.

    Args:
        key: names it in messages.
        path: where the command will write.
        taken: what each of those files is, such as `the input file`, and its path.

    Raises:
        UserError: it is one of them, under whatever name.
    """
    for what, other in taken:
        if same_file(path, other):
            raise UserError(f"{key}={path}: is {what}; choose another name")


def check_outside_run(key: str, path: Path, run_dir: Path) -> None:
    """Hold that `path` is no file that a run keeps in its folder, be it there already or not.

    Other names in the folder, and in `evaluations/NAME/`, are free.

    Args:
        key: names it in messages.
        path: where the command will write.
        run_dir: the run folder.

    Raises:
        UserError: it is one of them.
    """
    place = _real(path)
    evaluations = _real(run_dir / "evaluations")
    # A file beside the folders of the results would stand where one of them is to be.
    of_results = place.name in _OF_EVALUATIONS or place.parent == evaluations
    if (
        any(inside(place, run_dir / name) for name in _OF_RUN)
        or place == evaluations
        or (of_results and inside(place, evaluations))
    ):
        raise UserError(f"{key}={path}: belongs to the run {run_dir}; choose another name")


def check_pictures(plots: Path, run_dir: Path, others: Iterable[tuple[str, Path]]) -> None:
    """Hold that pictures are drawn over nothing else.

    Args:
        plots: their folder.
        run_dir: the run folder, whose own folders take no pictures but in `plots`.
        others: keys and files that the command reads or writes.

    Raises:
        UserError: a file has the name of a picture in that folder, or it is one of the run's own.
    """
    for name in ("tokenizer", "checkpoints", "evaluations", "tensorboard"):
        if inside(plots, run_dir / name):
            raise UserError(f"plots={plots}: belongs to the run {run_dir}; choose another folder")
    for key, path in others:
        if _PICTURE.fullmatch(path.name) and _real(path.parent) == _real(plots):
            raise UserError(
                f"{key}={path}: a picture in plots={plots} may have this name; choose another"
            )


def same_file(path: Path, other: Path) -> bool:
    """Tell whether two names lead to one file, which need not be there yet."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return _real(path) == _real(other)


def inside(path: Path, folder: Path) -> bool:
    """Tell whether `path`, its links followed, is `folder` or something in it."""
    return _real(path).is_relative_to(_real(folder))


def _real(path: Path) -> Path:
    # `Path.resolve` fails for links that lead in a circle.
    return Path(os.path.realpath(path))
