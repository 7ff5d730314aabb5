"""Which columns of tables and sets are source and target, and their text in Arrow."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rnnsearch.errors import UserError, nearest
from rnnsearch.lines import counted

# The column of hub sets that holds the text of all languages by their names.
NESTED = "translation"
# The way to a column: its name, behind that of the struct that holds it.
ColumnPath = tuple[str, ...]
_EVERY = "; data.columns counts for every table and set, so give all of them these columns"
# A language as headers write it: `en`, `en_US`, `zh-Hant`.
_TAG = re.compile(r"[a-z]{2}(?:[-_][a-z0-9]{2,4})*")
_WORDS = ({"source", "target"}, {"src", "tgt"}, {"src", "trg"})


class PairColumns(NamedTuple):
    """Which columns of a table or a set are source and target.

    Attributes:
        languages: the names of both, such as `("en", "fr")`.
        chosen: two names or two numbers from 1 that count instead; None goes by language.
    """

    languages: tuple[str, str]
    chosen: tuple[str | int, str | int] | None = None

    @property
    def numbers(self) -> tuple[int, int] | None:
        """The numbers of the columns from 0, where numbers were chosen."""
        source, target = self.chosen or ("", "")
        if isinstance(source, int) and isinstance(target, int):
            return source - 1, target - 1
        return None

    @property
    def counts_for_all(self) -> str:
        """What messages add where columns were chosen: the key is one for all tables."""
        return _EVERY if self.chosen else ""

    @property
    def names(self) -> tuple[str, str]:
        """The names to look for, where no numbers were chosen."""
        source, target = self.chosen or self.languages
        return str(source), str(target)


def shown(names: Sequence[str]) -> str:
    """Return names as a list for a message, which must not become a page."""
    told = ", ".join(name if len(name) <= 40 else f"{name[:40]}..." for name in names[:20])
    return told + (", ..." if len(names) > 20 else "")


def missing(name: str, there: Sequence[str]) -> str:
    """Say that a column is missing, what there is, and what to do."""
    return (
        f"there is no '{name}'{nearest(name, there)}, but {shown(there) or 'nothing'}; set "
        "data.source_lang and data.target_lang, or name two with 'data.columns=[SOURCE,TARGET]'"
    )


def refuse_header(
    where: str,
    first: Sequence[str],
    below: Sequence[str],
    columns: PairColumns,
    *,
    chosen: tuple[int, int],
) -> None:
    """Refuse a first line that is no pair but names columns otherwise than it should.

    Args:
        where: file and line.
        first: the cells of the first line, which are not the names that were looked for.
        below: those of the second; what stands in both names no column.
        columns: what is looked for, by language or by number.
        chosen: the numbers of source and target, from 0.

    Raises:
        UserError: a cell is the name of a language, or both chosen ones are spelled much like the
            two names, like two other languages, or are words such as source and target.
    """
    cells = [first[number] for number in chosen]
    plain = [cell.strip().strip("\"'#").strip().casefold() for cell in cells]
    names = {name.casefold() for name in columns.languages}
    known = names | {re.split("[-_]", name)[0] for name in names}
    like = [cell in names or (_TAG.fullmatch(cell) and cell[:2] in known) for cell in plain]
    tags = len(set(plain)) == 2 and all(map(_TAG.fullmatch, plain))
    named = [cell for i, cell in enumerate(first) if cell in columns.languages]
    if below and len(below) == len(first):
        pairs = zip(first, below, strict=True)
        named = [cell for cell, under in pairs if cell in columns.languages and cell != under]
    if named or all(like) or (tags and (any(like) or plain == cells)) or set(plain) in _WORDS:
        source, target = columns.languages
        raise UserError(
            f"{where}: '{shown(cells[:1])}' and '{shown(cells[1:])}' would be a pair, but "
            f"{shown(first)} looks like a header, and not of {source} and {target}; set "
            "data.source_lang and data.target_lang, rename the header, or name two columns with "
            "'data.columns=[SOURCE,TARGET]' (if it is a pair, put a line of the two names above)"
        )


def find_columns(schema: Any, columns: PairColumns, *, where: str) -> tuple[ColumnPath, ColumnPath]:
    """Find the columns of source and target in an Arrow schema, flat or under `translation`.

    Args:
        schema: a `pyarrow.Schema`.
        columns: what to look for.
        where: what messages call the table.

    Raises:
        UserError: a column is missing, there twice, or holds no text.
    """
    import pyarrow as pa

    nested: list[str] = []
    if schema.names.count(NESTED) == 1 and pa.types.is_struct(schema.field(NESTED).type):
        struct = schema.field(NESTED).type
        nested = [struct.field(i).name for i in range(struct.num_fields)]
    names = columns.names
    if columns.numbers is not None:
        if max(columns.numbers) >= len(schema.names):
            raise too_few(where, len(schema.names), columns)
        names = schema.names[columns.numbers[0]], schema.names[columns.numbers[1]]
    inside = set(names) <= set(nested) and not set(names) <= set(schema.names)
    flat = [name for name in schema.names if not nested or name != NESTED]
    every = [*flat, *(f"{NESTED}.{inner}" for inner in nested)]
    paths: list[ColumnPath] = []
    for name in names:
        inner = name.removeprefix(f"{NESTED}.")
        within = inside or (name not in schema.names and inner != name)
        there = nested if within else schema.names
        if inner not in there if within else name not in there:
            nowhere = (name for name in names if name not in (*schema.names, *nested, *every))
            told = missing(next(nowhere, name), every)
            raise UserError(f"{where}: {told}{columns.counts_for_all}")
        key = inner if within else name
        if there.count(key) > 1:
            raise UserError(f"{where}: column '{name}' is there twice; rename one of them")
        field = struct.field(key) if within else schema.field(key)
        if not _is_text(field.type):
            raise UserError(f"{where}: column '{name}' holds {field.type}; text was expected")
        paths.append((NESTED, key) if within else (key,))
    return paths[0], paths[1]


def too_few(where: str, count: int, columns: PairColumns) -> UserError:
    """Return the line for a table that has not so many columns as were asked for by number."""
    asked = max(columns.numbers or (0, 0)) + 1
    return UserError(
        f"{where}: {counted(count, 'column')}, but data.columns asks for number {asked}; they "
        f"count from 1{columns.counts_for_all}"
    )


def json_decoder(columns: PairColumns | None) -> json.JSONDecoder:
    """Return a decoder that raises KeyError where a key stands twice in an object.

    Args:
        columns: what is looked for, whose keys alone matter; None for all keys.
    """
    names = {NESTED, *columns.names} if columns else set()
    names |= {name.removeprefix(f"{NESTED}.") for name in names}

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row = dict(pairs)
        if len(row) < len(pairs):
            keys = [key for key, _ in pairs]
            for name in names or keys:
                if keys.count(name) > 1:
                    raise KeyError(name)
        return row

    return json.JSONDecoder(object_pairs_hook=unique)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    tests: tuple[Callable[[Any], bool], ...] = (
        pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def pair_batches(
    rows: Any, paths: tuple[ColumnPath, ColumnPath], *, where: str, first: int
) -> list[Any]:
    """Return the pairs of a few rows, checked, as record batches of plain strings.

    Args:
        rows: a `pyarrow.RecordBatch` or `Table`.
        paths: as `find_columns` gives them.
        where: what messages call the table.
        first: number of the first row in the table, from 0.

    Raises:
        UserError: a cell is null or not UTF-8.
    """
    import pyarrow as pa

    sides = [text_column(rows, path, where=where, first=first).cast(pa.string()) for path in paths]
    batches: list[Any] = pa.table(sides, ["source", "target"]).to_batches()
    return batches


def text_column(table: Any, path: ColumnPath, *, where: str, first: int) -> Any:
    """Return one text column of an Arrow table, without a copy unless it is a dictionary.

    Args:
        table: a `pyarrow.Table` or `RecordBatch`.
        path: as `find_columns` gives it.
        where: what messages call the table.
        first: number of its first row in the table, from 0.

    Raises:
        UserError: a cell is null or not UTF-8.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = table[path[0]]
    for name in path[1:]:
        column = pc.struct_field(column, name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        row = first + pc.index(pc.is_null(column), True).as_py() + 1
        raise UserError(
            f"{where}: row {row}: '{path[-1]}' is null; text was expected, so remove the row or "
            "fill it"
        )
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        row = first + _first_undecodable(column) + 1
        raise UserError(
            f"{where}: row {row}: '{path[-1]}' is not UTF-8; write the table anew from text that is"
        ) from error
    return column


def _first_undecodable(column: Any) -> int:
    """Return the number of the first cell that is not UTF-8, from 0."""
    for number, cell in enumerate(column):
        try:
            cell.as_py()
        except UnicodeDecodeError:
            return number
    return 0
