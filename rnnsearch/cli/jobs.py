"""From a composed configuration to a checked one: names, folders, absolute paths."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnnsearch.cli.starting import take_over
from rnnsearch.config import (
    Command,
    DataConfig,
    EvaluateConfig,
    SplitConfig,
    TrainConfig,
    TranslateConfig,
    data_folder,
    paths_of,
)
from rnnsearch.errors import UserError
from rnnsearch.plain import build, system_path
from rnnsearch.validation import check_tables, validate

ROOTS: dict[str, type[Command]] = {
    "train": TrainConfig,
    "evaluate": EvaluateConfig,
    "translate": TranslateConfig,
}


@dataclass(frozen=True)
class Job:
    """One composed configuration; a sweep has several."""

    values: dict[str, Any]
    experiment: str | None
    swept: tuple[str, ...]  # KEY=VALUE of the keys that take several values
    given: frozenset[str]  # keys and groups on the command line


def configure(root: type[Command], job: Job) -> Command:
    """Return the checked configuration of a job.

    Raises:
        UserError: a key or a value is wrong, or a file is missing.
    """
    config = build(root, job.values, root=root)
    validate(config)
    if not isinstance(config, TranslateConfig):
        _make_absolute(config.data)
    match config:
        case TrainConfig():
            config.name = config.name or job.experiment or _data_name(config.data)
            if config.start_from is not None:
                config.start_from = _absolute(config.start_from)
            if config.tokenizer.path is not None:
                config.tokenizer.path = _absolute(config.tokenizer.path)
            run_dir = Path(config.run_dir or Path("runs", config.name))
            config.run_dir = str(run_dir / ",".join(map(_file_name, sorted(job.swept))))
            _check_files(config.data, ("train", "valid", "test"))
            take_over(config, given=job.given, experiment=job.experiment)
            check_tables(config)
        case EvaluateConfig():
            _check_unused(job.given)
            _check_files(config.data, ("test",))
            for path in paths_of(config.references):
                _check_file("references", path)
            _check_dictionary(config.replace_unk)
        case TranslateConfig():
            if config.input != "-":
                _check_file("input", Path(config.input))
            _check_dictionary(config.replace_unk)
    return config


def _check_unused(given: frozenset[str]) -> None:
    """Hold that no key is typed that `evaluate` has but does not look at."""
    for key in sorted(given):
        if key.startswith(("data.train.", "data.valid.", "data.max_")):
            raise UserError(f"{key}: evaluate reads the test set alone; leave it out")


def _check_dictionary(replace_unk: bool | str) -> None:
    if isinstance(replace_unk, str) and not Path(replace_unk).exists():
        raise UserError(
            f"replace_unk={replace_unk}: expected true, false or a dictionary, and there is no "
            "such file"
        )
    if isinstance(replace_unk, str):
        _check_file("replace_unk", Path(replace_unk))


def _data_name(data: DataConfig) -> str:
    """Return the name of a run that has no other: the data's kind or folder."""
    return Path(data.dir).name or data.kind if data.dir is not None else data.kind


def _file_name(text: str) -> str:
    return text.replace("%", "%25").replace("/", "%2F")


def _make_absolute(data: DataConfig) -> None:
    """Make paths absolute, so that a later `evaluate` finds them from anywhere."""
    if data.dir is not None:
        data.dir = _absolute(data.dir)
    if data.path is not None and Path(system_path(data.path)).exists():  # else a name of the hub
        data.path = _absolute(data.path)
    for split in (data.train, data.valid, data.test):
        split.source = _absolute_paths(split.source)
        split.target = _absolute_paths(split.target)
        split.table = _absolute_paths(split.table)
    data.test.alignments = _absolute_paths(data.test.alignments)


def _absolute_paths(value: Any) -> Any:
    if isinstance(value, list):
        return [_absolute(path) for path in value]
    return None if value is None else _absolute(value)


def _absolute(path: str) -> str:
    # One file has one name, so that a resume from another folder sees the same data.
    return os.path.abspath(system_path(path))  # noqa: PTH100


def _check_files(data: DataConfig, splits: tuple[str, ...]) -> None:
    folder = data_folder(data)
    given: list[tuple[str, SplitConfig]] = [(name, getattr(data, name)) for name in splits]
    first = given[0][1]
    if folder is not None and not folder.is_dir() and first.source is first.table is None:
        raise UserError(f"data.dir={folder}: there is no such folder")
    for name, split in given:
        for side in ("source", "target", "table"):
            for path in paths_of(getattr(split, side)):
                _check_file(f"data.{name}.{side}", path)
    for path in paths_of(data.test.alignments):
        _check_file("data.test.alignments", path)


def _check_file(key: str, path: Path) -> None:
    if path.is_dir():
        raise UserError(f"{key}={path}: expected a file, this is a folder")
    if not path.exists():
        raise UserError(f"{key}={path}: there is no such file")
