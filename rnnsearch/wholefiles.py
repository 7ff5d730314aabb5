"""Files that are written whole or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from safetensors import SafetensorError

from rnnsearch.errors import UserError


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a failure to write into one line that names `path` and the system's reason."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UserError(
            f"{path}: could not be written: {reason}; nothing that was saved before is lost",
            status=1,
        ) from error


def flush(path: Path) -> None:
    """Have the system put a file, or the names in a folder, on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace(temporary: Path, path: Path) -> None:
    """Move `temporary` to `path` in one move, when it is on the disk."""
    flush(temporary)
    temporary.replace(path)
    flush(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write a small file whole or not at all.

    Raises:
        UserError: with the system's reason (status 1).
    """
    temporary = path.with_name(f".{path.name}.tmp")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(_encoded(text))
        replace(temporary, path)


def _encoded(text: str) -> bytes:
    """Return UTF-8; a file name that is none (told by its surrogates) is escaped as in JSON."""
    try:
        data = text.encode("utf-8", "surrogateescape")
        data.decode()
    except UnicodeError:
        return text.encode("utf-8", "backslashreplace")
    return data
