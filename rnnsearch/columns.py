"""Which columns of tables and sets are source and target, and their text in Arrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rnnsearch.errors import UserError, nearest

# The column of hub sets that holds the text of all languages by their names.
NESTED = "translation"
# The way to a column: its name, behind that of the struct that holds it.
ColumnPath = tuple[str, ...]


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
    def names(self) -> tuple[str, str]:
        """The names to look for, where no numbers were chosen."""
        source, target = self.chosen or self.languages
        return str(source), str(target)


def counted(count: int) -> str:
    """Return `1 column` or `N columns`."""
    return f"{count} column" + ("" if count == 1 else "s")


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
            message = f"{where}: {counted(len(schema.names))}, but data.columns asks for number"
            raise UserError(f"{message} {max(columns.numbers) + 1}; they count from 1")
        names = schema.names[columns.numbers[0]], schema.names[columns.numbers[1]]
    inside = set(names) <= set(nested) and not set(names) <= set(schema.names)
    prefix, there = ((NESTED,), nested) if inside else ((), schema.names)
    for name in names:
        if name not in there:
            flat = [name for name in schema.names if not nested or name != NESTED]
            every = [*flat, *(f"{NESTED}.{inner}" for inner in nested)]
            nowhere = (name for name in names if name not in (*schema.names, *nested))
            raise UserError(f"{where}: {missing(next(nowhere, name), every)}")
        if there.count(name) > 1:
            raise UserError(f"{where}: column '{name}' is there twice; rename one of them")
        field = struct.field(name) if inside else schema.field(name)
        if not _is_text(field.type):
            raise UserError(f"{where}: column '{name}' holds {field.type}; text was expected")
    return (*prefix, names[0]), (*prefix, names[1])


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
        reason = " ".join(str(error).split())
        raise UserError(f"{where}: '{path[-1]}' is not UTF-8 ({reason})") from error
    return column
