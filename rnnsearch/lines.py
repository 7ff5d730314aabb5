"""Lines of text files and streams: they end at LF alone and are strict UTF-8."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from rnnsearch.errors import UserError, nearest

_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = b"\xff\xfe", b"\xfe\xff"
_GZIP_MAGIC = b"\x1f\x8b"
_MOST = 1e100  # far from where products overflow

MOST_BYTES = 1 << 24
"""Of a line, its end counted; whatever is longer is not text of one sentence a line, and reading
it whole might take all memory."""


def counted(count: int, what: str) -> str:
    """Return `1 column` or `2 columns` for `what="column"`."""
    return f"{count} {what}" + ("" if count == 1 else "s")


class Hash(Protocol):
    """What a reader needs of a `hashlib` object."""

    def update(self, data: bytes, /) -> None:
        """Take more bytes in."""


def read_lines(path: Path, *, drop_bom: bool = True, digest: Hash | None = None) -> Iterator[str]:
    """Yield the lines of a file, plain or compressed with gzip (told by its first bytes).

    A line ends at LF and nowhere else; one CR before it is dropped. The file is read as the
    lines are taken, one at a time.

    Args:
        path: a file, or anything that can be opened and read once, such as a pipe.
        drop_bom: drop a byte order mark at the start.
        digest: takes in the bytes of the file as they stand on disk.

    Raises:
        UserError: the file is missing, unreadable, a directory, or not UTF-8 (with file and
            line), a line is longer than `MOST_BYTES`, or the gzip data are damaged.
    """
    with open_bytes(path) as file:
        raw = io.BufferedReader(_Hashed(file, digest), 1 << 20) if digest else file
        # No UTF-8 text begins with these two bytes, so a look at them decides.
        zipped = raw.peek(2)[:2] == _GZIP_MAGIC
        stream = gzip.GzipFile(fileobj=raw) if zipped else raw
        try:
            lines = iter(partial(stream.readline, MOST_BYTES + 1), b"")
            yield from lines_of(lines, str(path), drop_bom=drop_bom)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise UserError(
                f"{path}: damaged or incomplete gzip file ({error}); compress or copy it anew"
            ) from error
        except OSError as error:
            raise UserError(f"{path}: cannot be read ({error.strerror})") from error


def lines_of(stream: Iterable[bytes], name: str, *, drop_bom: bool = True) -> Iterator[str]:
    """Yield lines as they come, by the rules of `read_lines`.

    Args:
        stream: raw lines, each with its LF; whoever makes them reads no more than a little over
            `MOST_BYTES` of a line.
        name: what errors call it.
        drop_bom: drop a byte order mark at the start.

    Raises:
        UserError: a line is not UTF-8, or too long; its number counts from 1.
    """
    for number, line in enumerate(stream, 1):
        if len(line) > MOST_BYTES:
            raise UserError(
                f"{name}:{number}: a line of more than {MOST_BYTES >> 20} MiB; lines end at LF and "
                "hold a sentence each; split it"
            )
        if number == 1 and drop_bom:
            line = line.removeprefix(_BOM)
        try:
            yield line.removesuffix(b"\n").removesuffix(b"\r").decode()
        except UnicodeDecodeError as error:
            if number == 1 and line.startswith(_GZIP_MAGIC):
                raise UserError(
                    f"{name}:1: compressed with gzip, as a file may be and a stream not; unpack it "
                    "with gzip -dc, or name the file"
                ) from error
            if number == 1 and line.startswith(_UTF16_BOMS):
                raise UserError(
                    f"{name}:1: not UTF-8: it begins as UTF-16 does; convert the file, for "
                    "example with iconv -f UTF-16 -t UTF-8"
                ) from error
            raise UserError(
                f"{name}:{number}: not UTF-8: byte 0x{error.object[error.start]:02x} at position "
                f"{error.start + 1} of the line; convert the file, for example with "
                f"iconv -f WINDOWS-1252 -t UTF-8"
            ) from error


@contextmanager
def open_bytes(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file that the user named.

    Raises:
        UserError: it is missing, a directory, or not to be read.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file{_near(path)}") from error
    except IsADirectoryError as error:
        raise UserError(f"{path}: is a folder; a text file was expected") from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    with file:
        yield file


def _near(path: Path) -> str:
    """Name the file of the same folder that is most like a missing one."""
    try:
        return nearest(path.name, (entry.name for entry in path.parent.iterdir()))
    except OSError:
        return "" if path.parent.is_dir() else f"; there is no folder {path.parent} either"


class _Hashed(io.RawIOBase):
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: io.BufferedReader, digest: Hash) -> None:
        self._file, self._digest = file, digest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        count = self._file.readinto(buffer)
        self._digest.update(bytes(buffer[:count]))
        return count


def read_records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a file of lines; nothing if there is no file."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for line in stream:
            try:
                record = json.loads(line)
            # The last line of a killed run, cut anywhere; the other error is one of deep nesting.
            except (ValueError, RecursionError):
                continue
            if isinstance(record, dict):
                yield record


def by_update(records: Iterable[Mapping[str, Any]], key: str) -> dict[float, float]:
    """Return a value of `metrics.jsonl` by update, without the records that lack either.

    A value that is no number, or not finite, is left out. Of two records of one update the later
    counts, because a resumed run may repeat what a kill had not saved.
    """
    return {
        record["update"]: record[key]
        for record in records
        if is_number(record.get("update")) and is_number(record.get(key))
    }


def is_number(value: object) -> bool:
    """Tell whether a value of a record is a number that sums and pictures can take."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value == 0 or 1 / _MOST < abs(value) < _MOST  # false for NaN too
