"""The files of local sets: forms that are refused, and which one is at fault."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rnnsearch.columns import json_decoder
from rnnsearch.errors import UserError
from rnnsearch.lines import open_bytes, read_lines
from rnnsearch.tables import json_value, kind, no_parquet

# Fewer than can nest too deep, and more than lines of text have.
_MANY_BRACKETS = 500


def refuse_text(path: str, files: Sequence[Path], form: str) -> None:
    """Refuse files of a set that `datasets` reads by quotes, with NA for nothing and lines lost.

    Args:
        path: of the set.
        files: of a local one, all of them.
        form: the form by which `datasets` reads it.

    Raises:
        UserError: they are of such a form.
    """
    for file in files:
        ending = kind(file)
        if ending == ".tsv":
            remedy = f"give it as data.train.table={file} (or data.valid.table, data.test.table)"
        elif ending == ".csv":
            remedy = "convert it to .tsv, .jsonl or .parquet"
        elif ending == ".txt":
            remedy = "give a file of each language: data.train.source=FILE data.train.target=FILE"
        else:
            continue
        raise UserError(
            f"{file}: data.path reads no {ending}, as cells would not stay as written; {remedy}"
        )
    if form in ("csv", "text"):
        raise UserError(
            f"data.path={path}: the set's files are {form}, whose cells would not stay as written; "
            "download them and convert them to .tsv, .jsonl or .parquet"
        )


def refuse_deadly(paths: Sequence[Path]) -> None:
    """Refuse the lines of JSON that end the process in Arrow's reader, which `datasets` calls.

    Args:
        paths: files of any form; those that are no JSON are passed over.

    Raises:
        UserError: a line is null, or nested too deep.
    """
    decode = json_decoder(None).decode
    for path in paths:
        if kind(path) not in (".json", ".jsonl"):
            continue
        for number, line in enumerate(read_lines(path), 1):
            where = f"{path}:{number}"
            if line.lstrip().startswith("null"):
                raise UserError(f"{where}: null; an object by language was expected")
            if line.count("[") + line.count("{") > _MANY_BRACKETS:
                json_value(line, where, decode)


def refuse_unsaved(folder: Path) -> None:
    """Name the file that is missing or damaged in a folder that `save_to_disk` wrote.

    Raises:
        UserError: one is.
    """
    import pyarrow as pa

    remedy = "copy the whole folder again, or write it anew with save_to_disk"
    table = folder / "dataset_dict.json"
    parts = [folder]
    if table.is_file():
        parts = [folder / name for name in json.loads(table.read_bytes())["splits"]]
    for part in parts:
        names = json.loads((part / "state.json").read_bytes())["_data_files"]
        for file in (part / entry["filename"] for entry in names):
            if not file.is_file():
                raise UserError(
                    f"{file}: no such file, but {part / 'state.json'} names it; {remedy}"
                )
            try:
                pa.ipc.open_stream(pa.memory_map(str(file)))
            except pa.ArrowInvalid as error:
                what = f"no Arrow file ({' '.join(str(error).split())})"
                raise UserError(f"{file}: {what}; {remedy}") from error


def refuse_broken(paths: Sequence[Path]) -> None:
    """Look for what other readers fail at without naming it.

    Args:
        paths: files of any form; those that are neither `.jsonl` nor `.parquet` are passed over.

    Raises:
        UserError: a line is not JSON, a key stands twice in an object, or a file is no table.
    """
    import pyarrow as pa
    from pyarrow import parquet

    for path in paths:
        if kind(path) == ".jsonl":
            decode = json_decoder(None).decode
            for number, line in enumerate(read_lines(path), 1):
                json_value(line or "{}", f"{path}:{number}", decode)
        elif kind(path) == ".parquet":
            with open_bytes(path) as file:
                try:
                    parquet.ParquetFile(file)
                except (pa.ArrowException, OSError) as error:
                    raise no_parquet(path, error) from error
