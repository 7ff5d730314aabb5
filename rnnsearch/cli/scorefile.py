"""The file of `scores=PATH`: looked at before any work, and written."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rnnsearch import checkpoint as files
from rnnsearch.cli.places import check_not, check_outside_run, check_place, inside
from rnnsearch.config import DataConfig, EvaluateConfig, data_folder, listed, paths_of
from rnnsearch.corpus import PairSource
from rnnsearch.errors import UserError
from rnnsearch.wholefiles import write_text


def check_scores(
    config: EvaluateConfig, *, sources: Mapping[str, PairSource],
    gold: Mapping[str, Sequence[Path]],
) -> None:  # fmt: skip
    """Hold that `scores` names a file that can be written, holds one table and destroys nothing.

    Args:
        config: of the command.
        sources: the test sets by name.
        gold: the files of their gold alignments.

    Raises:
        UserError: it does not; the message says which file is in danger.
    """
    if config.scores is None:
        return
    path = Path(config.scores)
    runs = [Path(name) for name in listed(config.run_dir)]
    if len(runs) > 1:
        message = f"one file cannot hold {len(runs)} runs; evaluate one run_dir"
        raise UserError(f"scores={path}: {message}")
    if len(sources) > 1:
        raise UserError(
            f"scores={path}: one file cannot hold {len(sources)} test sets; choose one with "
            f"test_set=NAME, of {', '.join(sources)}"
        )
    check_place("scores", path)
    check_not("scores", path, _taken(config, sources))
    links = (("the test set's gold alignments", file) for files in gold.values() for file in files)
    check_not("scores", path, links)
    if config.data.path is not None and path.exists() and inside(path, Path(config.data.path)):
        raise UserError(f"scores={path}: is a file of data.path; choose another name")
    for run_dir in runs:
        check_outside_run("scores", path, run_dir)
        for checkpoint in listed(config.checkpoint):
            _check_checkpoint(path, files.locate(run_dir, checkpoint))


def _check_checkpoint(path: Path, step: Path) -> None:
    """Hold that the scores do not go into a checkpoint, which may be of another run."""
    if inside(path, step):
        raise UserError(f"scores={path}: belongs to the checkpoint {step}; choose another name")
    owner = step.resolve().parent.parent
    if (owner / "config.yaml").is_file():
        check_outside_run("scores", path, owner)


def _taken(config: EvaluateConfig, sources: Mapping[str, PairSource]) -> Iterator[tuple[str, Path]]:
    """Yield the files that are read, what each is and its path."""
    for source in sources.values():
        for key, value in source.describe().items():
            if key in ("source", "target", "table"):
                yield from ((f"the test set's {key}", Path(path)) for path in value)
    yield from (("one of references", path) for path in paths_of(config.references))
    if isinstance(config.replace_unk, str):
        yield "the dictionary of replace_unk", Path(config.replace_unk)
    yield from _data_files(config.data)


def _data_files(data: DataConfig) -> Iterator[tuple[str, Path]]:
    for name, split in (("train", data.train), ("valid", data.valid), ("test", data.test)):
        for key in ("source", "target", "table"):
            for path in paths_of(getattr(split, key)):
                yield f"data.{name}.{key}", path
    yield from (("data.test.alignments", path) for path in paths_of(data.test.alignments))
    folder = data_folder(data)
    if folder is not None and folder.is_dir():
        endings = (f".{data.source_lang}", f".{data.target_lang}", ".align")
        for path in sorted(folder.iterdir()):
            if path.name.removesuffix(".gz").endswith(endings):
                yield f"a file of the corpus {folder}", path


def write_scores(path: Path, text: str) -> None:
    """Write a table of scores; a file whole or not at all, and through what is no plain file.

    A link stays a link, and a pipe or a device gets the text.

    Raises:
        UserError: with the system's reason (status 1).
    """
    plain = not path.exists() or (path.is_file() and os.access(path.parent, os.W_OK))
    if plain and not path.is_symlink():
        write_text(path, text)
        return
    try:
        with path.open("wb") as file:
            file.write(text.encode())
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"scores={path}: could not be written: {reason}", status=1) from error
