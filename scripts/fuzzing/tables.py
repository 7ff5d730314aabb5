"""Tables and local sets of any form."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
from pyarrow import parquet

from fuzzing import hostile
from fuzzing.mutations import change_tree, mutate, to_json
from fuzzing.outcomes import Case, Wrong, hold, refused
from rnnsearch.columns import PairColumns
from rnnsearch.errors import UserError
from rnnsearch.hub import open_hub_set
from rnnsearch.tables import table_files

COLUMNS = (
    PairColumns(("en", "fr")), PairColumns(("en", "fr")), PairColumns(("en", "fr"), (1, 2)),
    PairColumns(("en", "fr"), (3, 1)), PairColumns(("en", "fr"), ("fr", "en")),
    PairColumns(("en", "fr"), ("translation.en", "translation.fr")),
)  # fmt: skip
SPECS = ("train", None, "train[:3]", "train[1:2]", "train[:50%]", "train[-2:]", "train+train")


def tables(corpus: Path) -> tuple[Callable[[Case], bool], ...]:
    """Return the kinds of cases, from the pairs of a corpus."""
    sides = [(corpus / f"train.{name}").read_text().split("\n")[:12] for name in ("en", "fr")]

    def tsv(case: Case) -> bool:
        """A table with tabs."""
        rows = "".join(f"{a}\t{b}\n" for a, b in pairs(case))
        content = (case.chance.choice(("", "en\tfr\n", "fr\ten\n")) + rows).encode(errors="replace")
        path = case.place / "a.tsv"
        path.write_bytes(mutate(content, case.chance))
        return _table(case, path, of_lines=True)

    def jsonl(case: Case) -> bool:
        """Objects, one a line."""
        chance = case.chance
        rows: list[Any] = [{"en": a, "fr": b} for a, b in pairs(case)]
        if chance.random() < 0.3:
            rows = [{"translation": row} for row in rows]
        if chance.random() < 0.5 and rows:
            rows[chance.randrange(len(rows))] = change_tree(chance.choice(rows), chance)
        content = b"".join(to_json(row).replace(b"\n", b"") + b"\n" for row in rows)
        path = case.place / "a.jsonl"
        path.write_bytes(mutate(content, chance) if chance.random() < 0.6 else content)
        return _table(case, path, of_lines=True)

    def parquet_file(case: Case) -> bool:
        """A parquet file of some schema."""
        path = case.place / "a.parquet"
        _write_parquet(case, path, pairs(case))
        return _table(case, path)

    def saved(case: Case) -> bool:
        """What `save_to_disk` wrote."""
        rows = pairs(case) or [("a", "b")]
        made = datasets.Dataset.from_dict(
            {"en": [_whole(a) for a, _ in rows], "fr": [_whole(b) for _, b in rows]}
        )
        folder = case.place / "set"
        made = datasets.DatasetDict({"train": made}) if case.chance.random() < 0.5 else made
        made.save_to_disk(str(folder))
        del made
        return _set(case, folder)

    def files(case: Case) -> bool:
        """A folder of data files."""
        folder = case.place / "set"
        folder.mkdir()
        for number in range(case.chance.choice((1, 1, 2))):
            if case.chance.random() < 0.5:
                _write_parquet(case, folder / f"train-{number}.parquet", pairs(case))
            else:
                rows = [{"en": a, "fr": b} for a, b in pairs(case)]
                text = "".join(json.dumps(row) + "\n" for row in rows)
                (folder / f"train-{number}.jsonl").write_text(text)
        return _set(case, folder)

    def pairs(case: Case) -> list[tuple[str, str]]:
        chance = case.chance
        rows = list(zip(*sides, strict=True))[: chance.choice((0, 1, 3, 12))]
        return [
            (_whole(hostile.line(chance, most=60)) if chance.random() < 0.2 else a, b)
            for a, b in rows
        ]

    return tsv, tsv, jsonl, jsonl, parquet_file, parquet_file, saved, files


def _whole(text: str) -> str:
    return "".join(c for c in text if not "\ud800" <= c <= "\udfff")


def _table(case: Case, path: Path, *, of_lines: bool = False) -> bool:
    columns = case.chance.choice(COLUMNS)
    case.note(repr(columns))
    try:
        found = table_files((path,), columns).read()
    except UserError as error:
        return refused(error, case, [path])
    _check(found)
    if of_lines:
        data = path.read_bytes().removesuffix(b"\n")
        lines = data.count(b"\n") + 1
        header = path.suffix == ".tsv"
        hold(lines - header <= len(found) <= lines, f"{len(found)} pairs of {lines} lines")
    return True


def _check(found: Any) -> None:
    for name in ("source", "target"):
        hold(all(isinstance(cell, str) for cell in found[name]), "a cell that is no text")


def _set(case: Case, folder: Path) -> bool:
    chance = case.chance
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    path = chance.choice(paths)
    match chance.randrange(6):
        case 0:
            path.unlink()
        case 1 if path.suffix == ".json":
            path.write_bytes(to_json(change_tree(json.loads(path.read_bytes()), chance)))
        case 2:
            shutil.copy(
                chance.choice(paths), path.with_name("train-7" + chance.choice(paths).suffix)
            )
        case _:
            content = mutate(path.read_bytes(), chance)
            path.unlink()
            path.write_bytes(content)
    case.note(str(path))
    columns, spec = chance.choice(COLUMNS[:3]), chance.choice(SPECS)
    case.note(f"{columns!r} {spec}")
    try:
        hub = open_hub_set(str(folder), name=None, columns=columns, streaming=False)
        split = hub.split("data.train.split", spec, usual=("train",))
        if split is None:
            return True
        found = split.read()
    except UserError as error:
        return refused(error, case, [folder, "data.train.split"])
    _check(found)
    return True


def _write_parquet(case: Case, path: Path, rows: list[tuple[str, str]]) -> None:
    """Write a table with columns of some type and form, maybe changed afterwards."""
    chance = case.chance
    kinds: tuple[Any, ...] = (
        *(pa.string(), pa.string(), pa.large_string(), pa.binary(), pa.int64(), pa.null()),
        *(pa.list_(pa.string()), pa.dictionary(pa.int8(), pa.string()), pa.bool_()),
    )
    arrays = []
    for side in range(2):
        cells: list[Any] = [_whole(row[side]) for row in rows]
        if cells and chance.random() < 0.1:
            cells[chance.randrange(len(cells))] = None
        kind = chance.choice(kinds) if chance.random() < 0.4 else pa.string()
        try:
            arrays.append(pa.array(cells, kind))
        except (pa.ArrowException, TypeError, ValueError):
            arrays.append(pa.array([[cell] for cell in cells]))
    names = chance.choice((["en", "fr"], ["en", "fr"], ["fr", "en"], ["en", "en"], ["", "a\nb"]))
    table = pa.Table.from_arrays(arrays, names)
    if chance.random() < 0.3:
        structs = [[dict(zip(names, row, strict=True))] for row in rows]
        table = pa.table({"translation": pa.array([row[0] for row in structs])})
    try:
        parquet.write_table(
            table, path, row_group_size=chance.choice((2, 1000)),
            compression=chance.choice(("none", "snappy", "gzip", "zstd")),
            use_dictionary=chance.random() < 0.5,
        )  # fmt: skip
    except pa.ArrowException as error:
        raise Wrong(f"the table of the case cannot be written: {error}") from error
    if chance.random() < 0.6:
        path.write_bytes(mutate(path.read_bytes(), chance))
