"""Where a command will write, looked at before any work."""

import os
from pathlib import Path

from rnnsearch.errors import UserError


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
