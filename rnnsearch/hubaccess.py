"""Opening a set of sentence pairs: one saved to disk, a folder of data files, or one of the hub."""

from __future__ import annotations

import contextlib
import logging
import queue
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rnnsearch import arrowcache
from rnnsearch.datafiles import refuse_broken, refuse_deadly, refuse_text, refuse_unsaved
from rnnsearch.errors import UserError, nearest

# `datasets` tries again for minutes, so the hub is asked first, once. Looking up a host obeys no
# time limit of the client; the second limit counts from outside.
_ANSWER_SECONDS = 10
_PATIENCE_SECONDS = 15


class OpenSet(NamedTuple):
    """A set whose splits can be read.

    Attributes:
        title: what messages call it.
        splits: by name, a `datasets.Dataset` that is memory-mapped, a `datasets.IterableDataset`
            that is to be read from its beginning, or None where only the rows of before are left.
        files: for a folder of data files, those of each split.
        version: for a set of the hub, what changes with its content.
        note: how it was found, if that is not as usual.
    """

    title: str
    splits: dict[str, Any]
    files: dict[str, tuple[Path, ...]]
    version: str
    note: str = ""


def open_set(path: str, name: str | None, *, streaming: bool) -> OpenSet:
    """Open the set at `data.path`.

    Args:
        path: a folder, or the name of a set on the hub.
        name: which configuration of it; None where there is one.
        streaming: read a set of the hub as it comes instead of downloading it first.

    Raises:
        UserError: there is no such set or configuration, it needs a loading script, access to it
            is refused, the hub cannot be reached and it is not in the local cache, or it is
            damaged.
    """
    _keep_quiet()
    title = path if name is None else f"{path} {name}"
    if Path(path).is_dir():
        if _saved(Path(path)):
            return OpenSet(title, _load_saved(path, name), {}, "")
        with reading(path, name):
            return _build(str(Path(path).absolute()), name, title=title, streaming=True)
    _check_name(path)
    full_name, why = _ask(path)
    if why is None:
        with reading(path, name):
            found = _build(full_name, name, title=title, streaming=streaming)
        if streaming:
            _remember(path, name, found)
        return found
    try:
        with _offline():
            found = _build(full_name, name, title=title, streaming=streaming)
    except UserError:
        raise
    except Exception as error:
        streamed = _recall(path, name, title) if streaming else None
        if streamed is None:
            raise unreached(path, why) from error
        found = streamed
    return found._replace(note=f" (from the cache: the hub cannot be reached, {why})")


def unreached(path: str, why: str) -> UserError:
    """Return the line for a set that is neither in reach nor at hand."""
    return UserError(
        f"data.path={path}: the hub cannot be reached ({why}), there is no folder of that name "
        "here, and the set is not in the cache of this machine; local files work: data=files, "
        "data=folder, or data.path=FOLDER"
    )


def _remember(path: str, name: str | None, found: OpenSet) -> None:
    """Keep what there is of a set that is read as it comes: the rows themselves are kept too."""
    import pyarrow as pa

    columns = [pa.array([*found.splits]), pa.array([found.version] * len(found.splits))]
    batch = pa.record_batch(columns, ["split", "version"])
    key = arrowcache.key_of("splits1", path, str(name))
    arrowcache.store(batch.schema, lambda: [batch], lambda: key)


def _recall(path: str, name: str | None, title: str) -> OpenSet | None:
    """Return what `_remember` kept, whose rows can be read where they were read before."""
    import pyarrow as pa

    schema = pa.schema({"split": pa.string(), "version": pa.string()})
    kept = arrowcache.lookup(arrowcache.key_of("splits1", path, str(name)), schema)
    if kept is None:
        return None
    rows = pa.ipc.open_stream(pa.memory_map(str(kept))).read_all().to_pylist()
    return OpenSet(title, {row["split"]: None for row in rows}, {}, rows[0]["version"])


def _keep_quiet() -> None:
    """Let no advice of the libraries stand beside ours, and no bar where nobody looks."""
    import datasets
    from huggingface_hub.utils.tqdm import disable_progress_bars

    for library in ("datasets", "huggingface_hub", "httpx", "httpx2", "httpcore"):
        # They log an error and raise it too; one line is enough, and it is ours.
        logging.getLogger(library).setLevel(logging.CRITICAL + 1)
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
        disable_progress_bars()


def _saved(folder: Path) -> bool:
    """Tell whether `save_to_disk` made the folder."""
    return (folder / "dataset_dict.json").is_file() or (
        (folder / "state.json").is_file() and (folder / "dataset_info.json").is_file()
    )


def _load_saved(path: str, name: str | None) -> dict[str, Any]:
    """Map what `save_to_disk` wrote; a single data set is the split it says it is, or train."""
    import datasets

    if name is not None:
        raise UserError(
            f"data.name={name}: {path} was made by save_to_disk and has no configurations; write "
            "data.name=null"
        )
    with reading(path, name):
        try:
            found = datasets.load_from_disk(path)
        except Exception:
            refuse_unsaved(Path(path))
            raise
    if isinstance(found, datasets.Dataset):
        split = str(found.split)
        return {split if found.split and re.fullmatch(r"\w+", split) else "train": found}
    return {str(split): part for split, part in found.items()}


def _build(path: str, name: str | None, *, title: str, streaming: bool) -> OpenSet:
    """Open data files, on the hub or in a folder, with what `load_dataset` is made of."""
    import datasets

    if "/" not in path:  # a word such as `json`, which is a reader to `datasets`, not a set
        raise FileNotFoundError(path)
    builder = datasets.load_dataset_builder(path, name)
    files: dict[str, tuple[Path, ...]] = {}
    if Path(path).is_dir():
        listed = (builder.config.data_files or {}).items()
        files = {str(split): tuple(map(Path, paths)) for split, paths in listed}
    every = [file for part in files.values() for file in part]
    refuse_text(path, every, builder.name)
    refuse_deadly(every)
    with reading(path, name, every):
        if streaming:
            splits = builder.as_streaming_dataset()
        else:
            builder.download_and_prepare()
            splits = builder.as_dataset()
    found = {str(split): part for split, part in splits.items()}
    if files:
        return OpenSet(title, found, files, "")
    return OpenSet(title, found, {}, f"{datasets.config.HF_ENDPOINT} {builder.hash}")


def _check_name(path: str) -> None:
    """Refuse what cannot be the name of a set."""
    if Path(path).exists():
        raise UserError(
            f"data.path={path}: is a file, but a set is a folder or a name of the hub; give a file "
            "as data.train.table=FILE with data=files"
        )
    if re.fullmatch(r"[\w.-]+(/[\w.-]+)?", path, re.ASCII) is None or path.startswith("."):
        what = "there is no such folder, and a set of the hub is OWNER/NAME"
        raise UserError(f"data.path={path}: {what}")


def _ask(path: str) -> tuple[str, str | None]:
    """Ask the hub about a set.

    Returns:
        The name with its owner, and why the hub cannot be reached, None if it answers.

    Raises:
        UserError: it answers that there is no such set for this user.
    """
    import datasets
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    if datasets.config.HF_HUB_OFFLINE:
        return path, "HF_HUB_OFFLINE is set"
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def ask() -> None:
        hub = HfApi(endpoint=datasets.config.HF_ENDPOINT)
        try:
            answers.put(hub.dataset_info(path, timeout=_ANSWER_SECONDS))
        except Exception as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        answer = answers.get(timeout=_PATIENCE_SECONDS)
    except queue.Empty:
        return path, f"no answer in {_PATIENCE_SECONDS} seconds"
    if not isinstance(answer, Exception):
        return answer.id, None
    response: Any = getattr(answer, "response", None)
    if response is None:
        return path, _reason(answer)
    # A gateway on the way refuses too, but it does not speak of sets.
    named = any(name in response.headers for name in ("X-Error-Code", "X-Error-Message"))
    lasting = 400 <= response.status_code < 500 and response.status_code not in (408, 429)
    if isinstance(answer, RepositoryNotFoundError) or (named and lasting):
        raise _no_access(path, response.status_code, answer) from answer
    return path, f"it answers {response.status_code}"


def _no_access(path: str, status: int, error: Exception) -> UserError:
    """Say what the hub's refusal means."""
    from huggingface_hub.errors import GatedRepoError

    if isinstance(error, GatedRepoError):
        return _gated(path)
    if status in (401, 404):  # without a login the hub does not tell one from the other
        what = "the hub has no such set, or it is private, and there is no folder of that name here"
        return UserError(f"data.path={path}: {what}; check the name, or log in: hf auth login")
    return UserError(f"data.path={path}: the hub refuses access ({status}: {_reason(error)})")


def _gated(path: str) -> UserError:
    what = "the set is gated; ask for access on its page, then log in"
    return UserError(f"data.path={path}: {what}: hf auth login")


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """Keep the libraries from asking the hub, so that they turn to their cache at once."""
    import datasets
    from huggingface_hub import constants

    before = datasets.config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE
    datasets.config.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE, constants.HF_HUB_OFFLINE = before


@contextlib.contextmanager
def reading(path: str, name: str | None, files: Sequence[Path] = ()) -> Iterator[None]:
    """Turn what goes wrong inside the libraries into one line that names the set.

    Args:
        path: of the set.
        name: of its configuration.
        files: what is read, if local; the line names the one at fault where it can be found.

    Raises:
        UserError: anything did.
    """
    try:
        yield
    except UserError:
        raise
    except Exception as error:  # they raise whatever their parts do
        refuse_broken(files)
        raise _told(path, name, error) from error


def _told(path: str, name: str | None, error: Exception) -> UserError:
    """Return the line for what `datasets` raised."""
    import datasets

    reason = _reason(error)
    if "scripts are no longer" in reason or "trust_remote_code" in reason:
        return UserError(
            f"data.path={path}: the set needs a loading script, and scripts are not run; take a "
            "copy of it converted to parquet, or files: data=files"
        )
    if isinstance(error, datasets.exceptions.DatasetNotFoundError) and "gated" in reason:
        return _gated(path)
    if isinstance(error, ValueError) and re.search("BuilderConfig|Config name", reason):
        there = datasets.get_dataset_config_names(path)
        asked = "null" if name is None else name
        return UserError(
            f"data.name={asked}: {path} has the configurations {', '.join(there)}"
            f"{nearest(asked, there)}; choose one"
        )
    if isinstance(error, FileNotFoundError):
        return UserError(f"data.path={path}: no data files that can be read ({reason})")
    status = 1 if isinstance(error, OSError) else 2
    return UserError(f"data.path={path}: the set cannot be read ({reason})", status=status)


def _reason(error: BaseException) -> str:
    """Return the innermost message of an error as one short line."""
    while error.__cause__ is not None:
        error = error.__cause__
    told = " ".join(str(error).split()) or type(error).__name__
    return told if len(told) <= 200 else f"{told[:200]}..."
