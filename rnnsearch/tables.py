"""Tables as pairs: .tsv and .jsonl line by line, .parquet by small parts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rnnsearch import arrowcache
from rnnsearch.columns import (
    NESTED,
    PairColumns,
    find_columns,
    json_decoder,
    missing,
    pair_batches,
    refuse_header,
    shown,
    too_few,
)
from rnnsearch.errors import UserError, nearest
from rnnsearch.lines import Hash, counted, open_bytes, read_lines

if TYPE_CHECKING:
    import datasets

_BATCH_ROWS = 2_000
# To be raised when prepared tables change in form or meaning.
_FORMAT = "2"


# What a name in `data.columns` begins with that is to be found there and nowhere else.
_INSIDE = f"{NESTED}."


class TableFiles(NamedTuple):
    """Tables read one after the other; made by `table_files`."""

    paths: tuple[Path, ...]
    columns: PairColumns

    @property
    def label(self) -> str:
        """The first table, such as `data/words.tsv`."""
        more = len(self.paths) - 1
        return str(self.paths[0]) + (f" and {more} more" if more else "")

    def read(self) -> datasets.Dataset:
        """Return the pairs as columns `source` and `target`, memory-mapped.

        They are prepared once and kept under a hash of the bytes of the files and of what was
        asked for, so an edited file is read anew whatever its size and time stamp say.

        Raises:
            UserError: a table is missing, empty, not to be read or not of its form (with file and
                line or row), a column is missing, or a cell is no text.
        """
        import datasets

        path = arrowcache.kept_pairs(
            self.paths,
            read=lambda hashes: _batches(self.paths, self.columns, hashes),
            key=self._key,
        )
        return datasets.Dataset.from_file(str(path))

    def references(self) -> list[str]:
        """Return the target cells without the white space at their end; nothing else changes."""
        return [text.rstrip() for text in self.read()["target"]]

    def describe(self) -> dict[str, Any]:
        """Return the paths."""
        return {"table": [*map(str, self.paths)]}

    def _key(self, digests: Sequence[str]) -> str:
        kinds = ",".join(map(kind, self.paths))
        return arrowcache.key_of(f"table{_FORMAT}", kinds, repr(self.columns), *digests)


def table_files(paths: tuple[Path, ...], columns: PairColumns) -> TableFiles:
    """Return tables that are told apart by the endings of their names.

    Raises:
        UserError: an ending is none of the three.
    """
    for path in paths:
        if kind(path) not in _READERS:
            raise UserError(
                f"{path}: a table's name ends in .tsv, .jsonl (both also with .gz) or .parquet; "
                "rename or convert it"
            )
    return TableFiles(paths, columns)


def kind(path: Path) -> str:
    """Return the ending that tells the form, the one before `.gz` where text is compressed."""
    name = path.name.lower()
    kind = Path(name.removesuffix(".gz")).suffix
    return Path(name).suffix if kind == ".parquet" else kind


def _batches(paths: Sequence[Path], columns: PairColumns, digests: Sequence[Hash]) -> Iterator[Any]:
    """Yield the record batches of all tables."""
    for path, digest in zip(paths, digests, strict=True):
        count = 0
        for batch in _READERS[kind(path)](path, columns, digest):
            count += len(batch)
            yield batch
        if not count:
            raise UserError(f"{path}: the table has no rows; one for each pair was expected")


# Tab-separated values.


def _read_tsv(path: Path, columns: PairColumns, digest: Hash) -> Iterator[Any]:
    """Yield the cells as they stand: there is no quoting, and no word means a missing value."""
    return arrowcache.pair_batches(_tsv_pairs(path, columns, digest))


def _tsv_pairs(path: Path, columns: PairColumns, digest: Hash) -> Iterator[tuple[str, str]]:
    width = source = target = 0
    lines = read_lines(path, digest=digest)
    top = list(islice(lines, 2))
    for number, line in enumerate(chain(top, lines), 1):
        cells = line.split("\t")
        if number == 1:
            _refuse_cr(path, line)
            below = top[1].split("\t") if len(top) > 1 else []
            source, target, is_header = _tsv_columns(path, cells, below, columns)
            width = len(cells)
            if is_header:
                continue
        if len(cells) != width:
            raise UserError(
                f"{path}:{number}: {counted(len(cells), 'column')}, but line 1 has {width}; every "
                "line needs the same number, with one tab between two"
            )
        yield cells[source], cells[target]


def _refuse_cr(path: Path, first: str) -> None:
    """Refuse a table whose lines end at CR, which is one long line to us.

    It is told by a CR in the first line with a tab on each side of it.
    """
    parts = first.removesuffix("\r").split("\r")
    if len(parts) > 1 and all("\t" in part for part in parts):
        raise UserError(
            f"{path}:1: lines end at LF, and this file seems to have CR line ends; convert it, for "
            "example with tr '\\r' '\\n'"
        )


def _tsv_columns(
    path: Path, first: list[str], below: list[str], columns: PairColumns
) -> tuple[int, int, bool]:
    """Return the numbers of source and target from 0, and whether the first line names them."""
    there, names = len(first), columns.names
    if columns.numbers is not None:
        if max(columns.numbers) >= there:
            raise too_few(f"{path}:1", there, columns)
        source, target = columns.numbers
        if {first[source], first[target]} == set(columns.languages):
            return source, target, True
        refuse_header(f"{path}:1", first, below, columns, chosen=columns.numbers)
        return source, target, False
    if columns.chosen is None and not (there == 2 and set(first) == set(names)):
        if there != 2:
            once = all(first.count(name) == 1 for name in names)
            what = f"name two of them, as in 'data.columns=[{','.join(names) if once else '1,2'}]'"
            remedy = "put one tab between source and target" if there < 2 else what
            told = counted(there, "column")
            raise UserError(f"{path}:1: {told}, but a table has two; {remedy}")
        refuse_header(f"{path}:1", first, below, columns, chosen=(0, 1))
        return 0, 1, False
    for name in names:
        if first.count(name) != 1:
            which = "is there twice" if name in first else f"is not there{nearest(name, first)}"
            raise UserError(
                f"{path}:1: column '{name}' {which}; the first line must name the columns, "
                f"found {shown(first)}; numbers work without names, as in 'data.columns=[1,2]'"
                f"{columns.counts_for_all}"
            )
    return first.index(names[0]), first.index(names[1]), True


# JSON lines.


def _read_jsonl(path: Path, columns: PairColumns, digest: Hash) -> Iterator[Any]:
    """Yield two values of each object, which hold text and nothing else."""
    if columns.numbers is not None:
        raise UserError(
            f"{path}: data.columns={list(columns.chosen or ())} counts columns, but objects have "
            "keys; name two, as in 'data.columns=[en,fr]'"
        )
    lines = enumerate(read_lines(path, digest=digest), 1)
    decode = json_decoder(columns).decode
    return arrowcache.pair_batches(
        _json_pair(line, columns, f"{path}:{number}", decode) for number, line in lines
    )


def _json_pair(
    line: str, columns: PairColumns, where: str, decode: Callable[[str], Any]
) -> tuple[str, str]:
    row = json_value(line, where, decode)
    if not isinstance(row, dict):
        raise UserError(f"{where}: {_json_type(row)}; an object by language was expected")
    names, nested = columns.names, row.get(NESTED)
    if isinstance(nested, dict) and not (names[0] in row and names[1] in row):
        inner = {f"{_INSIDE}{key}": value for key, value in nested.items()}
        row = row | inner if inner.keys() & set(names) else nested
    for name in names:
        if name not in row:
            raise UserError(f"{where}: {missing(name, list(row))}{columns.counts_for_all}")
        if not isinstance(row[name], str):
            raise UserError(f"{where}: '{name}' is {_json_type(row[name])}; text was expected")
    source, target = row[names[0]], row[names[1]]
    # The line itself is UTF-8, so only an escape can bring half a character in.
    if "\\u" in line and any("\ud800" <= character <= "\udfff" for character in source + target):
        raise UserError(f"{where}: half a surrogate pair such as \\ud800 is no character; mend it")
    return source, target


def json_value(line: str, where: str, decode: Callable[[str], Any]) -> Any:
    """Return the value of a line of JSON.

    Args:
        line: one line.
        where: file and line, for messages.
        decode: of `columns.json_decoder`.

    Raises:
        UserError: it is not JSON, or a key stands twice in it.
    """
    try:
        return decode(line)
    except KeyError as error:
        key = shown(error.args)
        raise UserError(f"{where}: key '{key}' is there twice; remove or rename one") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where}: not JSON ({error}); each line is one object") from error


def _json_type(value: Any) -> str:
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "an object"
    return "a number"


# Parquet.


def _read_parquet(path: Path, columns: PairColumns, digest: Hash) -> Iterator[Any]:
    """Yield the rows in small parts, so that memory does not grow with the table."""
    import pyarrow as pa
    from pyarrow import parquet

    with open_bytes(path) as file:
        try:
            before, after = hashlib.file_digest(file, "sha256"), hashlib.sha256()
            table = parquet.ParquetFile(file, buffer_size=1 << 20)
            paths = find_columns(table.schema_arrow, columns, where=str(path))
            tops = list(dict.fromkeys(names[0] for names in paths))
            first = 0
            for rows in table.iter_batches(_BATCH_ROWS, columns=tops, use_threads=False):
                yield from pair_batches(rows, paths, where=str(path), first=first)
                first += len(rows)
            file.seek(0)
            while part := file.read(1 << 20):
                after.update(part)
                digest.update(part)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # of a column's name
            raise no_parquet(path, error) from error
    # It is read from its end, so it cannot be hashed on the way as text is.
    if after.digest() != before.digest():
        raise UserError(f"{path}: the file changed while it was read; start again", status=1)


def no_parquet(path: Path, error: Exception) -> UserError:
    """Return the line for a file that is no parquet table."""
    reason = " ".join(str(error).split())
    return UserError(f"{path}: no parquet table, or a damaged one ({reason})")


_READERS: dict[str, Callable[[Path, PairColumns, Hash], Iterator[Any]]] = {
    ".tsv": _read_tsv,
    ".jsonl": _read_jsonl,
    ".parquet": _read_parquet,
}
