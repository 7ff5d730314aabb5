"""Pairs as ids in memory-mapped Arrow: encoding, the filter by pair with its counts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnsearch import arrowcache
from rnnsearch.errors import UserError
from rnnsearch.text import Tokenizers

if TYPE_CHECKING:
    import datasets

IntArray = npt.NDArray[np.int32]

# Lines encoded at once.
_BATCH_ROWS = 2_000
_FILTER_ROWS = 1 << 20
# To be raised when the encoded files change in form or meaning.
_FORMAT = "ids1"


class Counts(NamedTuple):
    """How many pairs were read and kept, how many were dropped for each reason, and the limits."""

    read: int
    kept: int
    blank: int = 0
    too_long: int = 0
    ratio: int = 0
    max_length: int | None = None
    max_ratio: float | None = None

    def describe(self) -> str:
        """Return the counts as a phrase, such as `168 pairs read, 165 kept, dropped: 3 blank`."""
        told = f"{self.read} pairs read, {self.kept} kept"
        return f"{told}, dropped: {self.reasons()}" if self.kept < self.read else told

    def reasons(self) -> str:
        """Return why pairs were dropped, such as `3 blank, 2 longer than data.max_length=50`."""
        reasons = (
            (self.blank, "blank"),
            (self.too_long, f"longer than data.max_length={self.max_length}"),
            (self.ratio, f"more uneven than data.max_ratio={self.max_ratio}"),
        )
        return ", ".join(f"{count} {reason}" for count, reason in reasons if count)


class _Ids:
    """The ids of one side: memory-mapped values and offsets for each chunk of rows."""

    def __init__(self, path: Path, name: str) -> None:
        chunks = _column(path, name)
        self._values = [chunk.values.to_numpy() for chunk in chunks]
        self._offsets = [chunk.offsets.to_numpy() for chunk in chunks]
        self._firsts = np.cumsum([0, *map(len, chunks)])

    def rows(self, numbers: npt.NDArray[np.int64]) -> list[list[int]]:
        """Return the ids of the rows numbered."""
        chunks = np.searchsorted(self._firsts, numbers, side="right") - 1
        ids: list[list[int]] = []
        for chunk, row in zip(chunks, numbers - self._firsts[chunks], strict=True):
            start, end = self._offsets[chunk][row : row + 2]
            ids.append(self._values[chunk][start:end].tolist())
        return ids


class EncodedCorpus:
    """Pairs as ids, of which only the lengths, 8 bytes a pair, are held in memory.

    Attributes:
        source_lengths, target_lengths: (pairs,) int32, pieces of each pair, EOS not counted.
        fingerprint: a hash of the text of all pairs read and of the tokenizers.
        counts: pairs read, kept and dropped.
    """

    def __init__(
        self, path: Path, *, kept: IntArray | None, fingerprint: str, counts: Counts
    ) -> None:
        every = slice(None) if kept is None else kept
        self.source_lengths: IntArray = _lengths(path, "source")[every]
        self.target_lengths: IntArray = _lengths(path, "target")[every]
        self.fingerprint = fingerprint
        self.counts = counts
        self._source, self._target = _Ids(path, "source"), _Ids(path, "target")
        self._kept = kept

    def __len__(self) -> int:
        return len(self.source_lengths)

    def pairs(
        self, indices: npt.NDArray[np.integer[Any]]
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Return the ids of source and target of the pairs numbered, without BOS and EOS.

        Raises:
            IndexError: a number is not in 0 .. len - 1.
        """
        numbers = np.asarray(indices, np.int64)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self):
            raise IndexError(f"pair numbers outside 0 .. {len(self) - 1}")
        rows = numbers if self._kept is None else self._kept[numbers].astype(np.int64)
        return self._source.rows(rows), self._target.rows(rows)


def encode_pairs(
    pairs: datasets.Dataset,
    tokenizers: Tokenizers,
    *,
    max_length: int | None,
    max_ratio: float | None,
    drop: bool,
    progress: Callable[[int], object] = lambda _: None,
) -> EncodedCorpus:
    """Turn the text of pairs into ids, once: they are kept under a hash of text and tokenizers.

    Args:
        pairs: columns `source` and `target`.
        tokenizers: those of the run.
        max_length: pieces of either side at most, EOS not counted; None is no limit.
        max_ratio: the longer side over the shorter at most; None is no limit.
        drop: leave out pairs with a blank side or beyond a limit (training). Otherwise the
            limits say nothing and every pair is kept (validation and test).
        progress: called with the number of pairs just encoded; not where ids are kept already.

    Raises:
        UserError: no pair is left to train on.
    """
    fingerprint = _fingerprint(pairs, tokenizers)
    path = arrowcache.lookup(fingerprint, _schema()) or _encode(
        pairs, tokenizers, fingerprint, progress
    )
    kept, counts = None, Counts(len(pairs), len(pairs))
    if drop:
        kept, counts = _filter(
            _lengths(path, "source"), _lengths(path, "target"), max_length, max_ratio
        )
        if not counts.kept:
            raise UserError(
                f"0 of {counts.read} pairs are left to train on ({counts.reasons()}); raise "
                "data.max_length or data.max_ratio, or look at the training files"
            )
    return EncodedCorpus(path, kept=kept, fingerprint=fingerprint, counts=counts)


def _filter(
    source: IntArray, target: IntArray, max_length: int | None, max_ratio: float | None
) -> tuple[IntArray | None, Counts]:
    """Return the numbers of the pairs to keep, None for all; a pair counts under one reason."""
    kept: list[IntArray] = []
    dropped = np.zeros(3, np.int64)
    # In slices, because masks and products of tens of millions of pairs add up.
    for start in range(0, len(source), _FILTER_ROWS):
        rows = slice(start, start + _FILTER_ROWS)
        shorter = np.minimum(source[rows], target[rows])
        longer = np.maximum(source[rows], target[rows])
        blank = shorter == 0
        too_long = ~blank & (longer > (np.inf if max_length is None else max_length))
        uneven = np.zeros_like(blank) if max_ratio is None else longer > max_ratio * shorter
        uneven &= ~blank & ~too_long
        dropped += [np.count_nonzero(reason) for reason in (blank, too_long, uneven)]
        kept.append((start + np.flatnonzero(~(blank | too_long | uneven))).astype(np.int32))
    blanks, longs, unevens = map(int, dropped)
    left = len(source) - blanks - longs - unevens
    counts = Counts(len(source), left, blanks, longs, unevens, max_length, max_ratio)
    return (None if left == len(source) else np.concatenate(kept)), counts


def _batches(pairs: datasets.Dataset) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the text of both sides, always cut at the same rows."""
    for table in pairs.with_format("arrow").iter(batch_size=_BATCH_ROWS):
        yield table["source"].to_pylist(), table["target"].to_pylist()


def _fingerprint(pairs: datasets.Dataset, tokenizers: Tokenizers) -> str:
    """Return a hash of the text, wherever it came from, and of what turns it into ids."""
    parts = (_FORMAT, tokenizers.source.fingerprint, tokenizers.target.fingerprint)
    digest = hashlib.sha256(" ".join(parts).encode())
    for sides in _batches(pairs):
        for lines in sides:
            # With the lengths, text that moves from one line to the next shows.
            digest.update(np.fromiter(map(len, lines), np.int64, len(lines)).tobytes())
            digest.update("".join(lines).encode())
    return digest.hexdigest()


def _encode(
    pairs: datasets.Dataset, tokenizers: Tokenizers, fingerprint: str,
    progress: Callable[[int], object],
) -> Path:  # fmt: skip
    import pyarrow as pa

    names = ["source", "target"]

    def batches() -> Iterator[Any]:
        with tokenizers.many_lines():
            for source, target in _batches(pairs):
                ids = tokenizers.source.encode_batch(source), tokenizers.target.encode_batch(target)
                yield pa.record_batch([_id_column(side) for side in ids], names)
                progress(len(source))

    return arrowcache.store(_schema(), batches, lambda: fingerprint)


def _schema() -> Any:
    import pyarrow as pa

    return pa.schema([(name, pa.list_(pa.int32())) for name in ("source", "target")])


def _id_column(sentences: list[list[int]]) -> Any:
    import pyarrow as pa

    offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int32)
    ids = np.fromiter(chain.from_iterable(sentences), np.int32, count=int(offsets[-1]))
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(ids))


def _column(path: Path, name: str) -> list[Any]:
    """Map a column of an encoded file; nothing of it is read yet."""
    import pyarrow as pa

    chunks: list[Any] = pa.ipc.open_stream(pa.memory_map(str(path))).read_all()[name].chunks
    return chunks


def _lengths(path: Path, name: str) -> IntArray:
    """Return the number of ids of each row.

    The map is let go at the end: the pages it has touched would count as memory of the process.
    """
    lengths = [np.diff(chunk.offsets.to_numpy()) for chunk in _column(path, name)]
    return np.concatenate([np.empty(0, np.int32), *lengths])
