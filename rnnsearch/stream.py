"""Lines from a stream as they come: what is waiting is handed on, nobody waits to fill a batch."""

import select
from collections import deque
from collections.abc import Iterator
from typing import BinaryIO

from rnnsearch.errors import UserError
from rnnsearch.lines import MOST_BYTES, lines_of

CHUNK = 1 << 16


def waiting_lines(
    stream: BinaryIO, name: str, *, limit: int, characters: int
) -> Iterator[list[str]]:
    """Yield the lines that have arrived, at most `limit` together, until the stream ends.

    The rules of a line are those of `lines.lines_of`.

    Args:
        stream: a binary stream, such as `sys.stdin.buffer`.
        name: what messages call it.
        limit: most lines in a list.
        characters: after so many a list takes no more lines.

    Raises:
        UserError: a line is not UTF-8, or too long; the lines before it have been yielded.
    """
    arriving = _Arriving(stream)
    batch: list[str] = []
    size = 0
    try:
        for line in lines_of(arriving, name):
            batch.append(line)
            size += len(line)
            if len(batch) >= limit or size >= characters or not arriving.ready():
                yield batch
                batch, size = [], 0
    except UserError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


class _Arriving:
    """The raw lines of a stream, and whether another one is here without waiting."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lines: deque[bytes] = deque()
        self._rest = b""
        self._ended = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        while not self._lines and not self._ended:
            self._read()
        if self._lines:
            return self._lines.popleft()
        raise StopIteration

    def ready(self) -> bool:
        while not self._lines and not self._ended and _has_data(self._stream):
            self._read()
        return bool(self._lines)

    def _read(self) -> None:
        read = getattr(self._stream, "read1", self._stream.read)
        chunk = read(CHUNK)
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        self._lines += [line + b"\n" for line in whole]
        if not chunk or len(self._rest) > MOST_BYTES:  # too long: it is refused as it is
            self._ended = True
            if self._rest:  # the last line may lack its LF
                self._lines.append(self._rest)
                self._rest = b""


def _has_data(stream: BinaryIO) -> bool:
    """Return whether a read will not wait; what is no file of the system never does."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError, TypeError):
        return True
