"""Prepared data in Arrow files, kept under a hash of what they were made from."""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rnnsearch.errors import UserError
from rnnsearch.lines import Hash, open_bytes

# What an Arrow stream ends with; a file cut short does not.
_END = b"\xff\xff\xff\xff\0\0\0\0"
_LEFTOVER_SECONDS = 86_400
_BATCH_BYTES = 1 << 25
# Pairs turned into Arrow at once: many short ones, few long ones.
_BATCH_ROWS = 2_000
_BATCH_CHARACTERS = 1 << 24


def digests_of(paths: Sequence[Path]) -> list[str] | None:
    """Return the SHA-256 of the bytes of each file; None if one is a pipe, read only once.

    Raises:
        UserError: a file is missing or cannot be read, or is a device, which may never end.
    """
    for path in paths:
        if path.is_char_device() or path.is_block_device():
            raise UserError(f"{path}: a device, expected a file")
    if any(path.exists() and not (path.is_file() or path.is_dir()) for path in paths):
        return None
    digests = []
    for path in paths:
        with open_bytes(path) as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return digests


def key_of(*parts: str) -> str:
    """Return the key of something made from all these."""
    # With the lengths, text that moves from one part to the next shows.
    told = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(told.encode()).hexdigest()


def lookup(key: str, schema: Any) -> Path | None:
    """Return the whole file of that `pyarrow.Schema` kept under `key`, or None."""
    # A folder made for want of a better one is looked through too, but not made for this.
    folders = [_cache_folder()]
    if _temporary_folder.cache_info().currsize:
        folders.append(_temporary_folder())
    paths = (folder / f"{key}.arrow" for folder in folders)
    return next((path for path in paths if _is_whole(path, schema)), None)


def store(schema: Any, make: Callable[[], Iterable[Any]], key: Callable[[], str]) -> Path:
    """Write record batches one at a time, and keep the file under a key known at the end.

    The folder is that of the `datasets` library. One that cannot be written, or is full, must not
    end a run: a temporary folder, removed at exit, serves then.

    Args:
        schema: the `pyarrow.Schema` of the batches.
        make: begins the batches; called again when the first folder fails.
        key: called after the last batch.

    Raises:
        UserError: status 1, the temporary folder cannot be written either.
    """
    try:
        return _write(_cache_folder(), schema, make(), key)
    except OSError:
        pass
    try:
        return _write(_temporary_folder(), schema, make(), key)
    except OSError as error:
        raise UserError(
            f"the prepared data fit neither into {_cache_folder()} nor into "
            f"{tempfile.gettempdir()} ({error.strerror or error}); make room, or set "
            "HF_DATASETS_CACHE or TMPDIR to a folder that has it",
            status=1,
        ) from error


def store_pairs(batches: Callable[[], Iterable[Any]], key: Callable[[], str]) -> Path:
    """Keep record batches of the columns `source` and `target`; see `store`."""
    return store(pair_schema(), batches, key)


def pair_schema() -> Any:
    """Return the `pyarrow.Schema` of what `store_pairs` keeps."""
    import pyarrow as pa

    return pa.schema({"source": pa.string(), "target": pa.string()})


def kept_pairs(
    paths: Sequence[Path],
    *,
    read: Callable[[Sequence[Hash]], Iterable[Any]],
    key: Callable[[Sequence[str]], str],
) -> Path:
    """Return the file of the pairs of text files, made unless their bytes were read before.

    Args:
        paths: the files.
        read: begins their record batches, and takes the bytes of each file into its hash.
        key: the key of files with these digests.

    Raises:
        UserError: a file is missing or cannot be read, or `read` says what is wrong with it.
    """
    known = digests_of(paths)
    path = None if known is None else lookup(key(known), pair_schema())
    if path is not None:
        return path
    hashes: list[Any] = []

    def batches() -> Iterable[Any]:
        hashes[:] = [hashlib.sha256() for _ in paths]
        return read(hashes)

    # What was read counts, not what stood there a moment before.
    return store_pairs(batches, lambda: key([done.hexdigest() for done in hashes]))


def pair_batches(pairs: Iterable[tuple[str, str]]) -> Iterator[Any]:
    """Yield pairs as they come as record batches for `store_pairs`."""
    sides: tuple[list[str], list[str]] = ([], [])
    characters = 0
    for source, target in pairs:
        sides[0].append(source)
        sides[1].append(target)
        characters += len(source) + len(target)
        if len(sides[0]) >= _BATCH_ROWS or characters > _BATCH_CHARACTERS:
            yield _pair_batch(sides)
            sides, characters = ([], []), 0
    if sides[0]:
        yield _pair_batch(sides)


def _pair_batch(sides: tuple[list[str], list[str]]) -> Any:
    import pyarrow as pa

    return pa.record_batch([pa.array(side, pa.string()) for side in sides], ["source", "target"])


def _write(folder: Path, schema: Any, batches: Iterable[Any], key: Callable[[], str]) -> Path:
    import pyarrow as pa

    folder.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(folder)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as file:
        try:
            with pa.ipc.new_stream(file, schema) as writer:
                for table in _joined(batches):
                    writer.write_table(table)
            file.flush()
            os.fsync(file.fileno())
            path = folder / f"{key()}.arrow"
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    return path


def _joined(batches: Iterable[Any]) -> Iterator[Any]:
    """Join small batches: finding a row and mapping a file cost time for each one written."""
    import pyarrow as pa

    pending: list[Any] = []
    for batch in batches:
        pending.append(batch)
        if sum(part.nbytes for part in pending) > _BATCH_BYTES:
            yield pa.Table.from_batches(pending).combine_chunks()
            pending = []
    if pending:
        yield pa.Table.from_batches(pending).combine_chunks()


def _remove_leftovers(folder: Path) -> None:
    """Remove what killed runs left unfinished; a live one has written to its file lately."""
    for path in folder.glob("*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _LEFTOVER_SECONDS:
                path.unlink()


def _is_whole(path: Path, schema: Any) -> bool:
    """Tell whether a file was written to its end and can be read without harm.

    Arrow takes what it maps on trust: in a damaged file it would read beyond the end of a column.
    """
    import pyarrow as pa

    try:
        with path.open("rb") as file:
            file.seek(-len(_END), os.SEEK_END)
            if file.read() != _END:
                return False
        # Read, not mapped: pages that were touched would count as memory of the process.
        with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as batches:
            if batches.schema != schema:
                return False
            for batch in batches:
                batch.validate(full=True)
                if any(column.null_count for column in batch.columns):
                    return False
    except (OSError, pa.ArrowException):
        return False
    return True


def _cache_folder() -> Path:
    import datasets

    return Path(datasets.config.HF_DATASETS_CACHE) / "rnnsearch"


@cache
def _temporary_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="rnnsearch-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
