"""From the `data` group to the files of each split."""

from importlib import resources
from pathlib import Path
from typing import Any

from rnnsearch.config import DataConfig, SplitConfig
from rnnsearch.corpus import FolderFiles, PairFiles, folder_files
from rnnsearch.errors import UserError


def training_files(data: DataConfig) -> tuple[PairFiles, PairFiles]:
    """Return the files of the training and the validation split.

    Raises:
        UserError: a split is not named, or the folder does not hold it.
    """
    found = _folder(data)
    train = _named(data.train, "data.train") or (found.train if found else None)
    valid = _named(data.valid, "data.valid") or (found.valid if found else None)
    for files, name in ((train, "train"), (valid, "valid")):
        if files is None:
            where = f"{data.dir} holds no {name} files" if found else f"data={data.kind} needs it"
            raise UserError(
                f"data.{name}: {where}; give data.{name}.source=FILE data.{name}.target=FILE"
            )
    assert train is not None
    assert valid is not None
    return train, valid


def test_files(data: DataConfig) -> dict[str, PairFiles]:
    """Return the test sets by name: the one given, or else all of the folder.

    Raises:
        UserError: there is none.
    """
    named = _named(data.test, "data.test")
    if named is not None:
        return {_stem(named.source[0]): named}
    found = _folder(data)
    if found is None or not found.tests:
        raise UserError(
            "data.test: this run names no test set; "
            "give data.test.source=FILE data.test.target=FILE"
        )
    return found.tests


def _folder(data: DataConfig) -> FolderFiles | None:
    if data.kind == "files":
        return None
    folder = Path(str(resources.files("rnnsearch.demo"))) if data.kind == "demo" else data.dir
    if folder is None:
        raise UserError("data.dir: data=folder needs the folder; give data.dir=FOLDER")
    return folder_files(Path(folder), source_lang=data.source_lang, target_lang=data.target_lang)


def _named(split: SplitConfig, key: str) -> PairFiles | None:
    source, target = _paths(split.source), _paths(split.target)
    if bool(source) != bool(target):
        given, other = ("source", "target") if source else ("target", "source")
        raise UserError(f"{key}.{given} is given without {key}.{other}; give both")
    return PairFiles(source, target) if source else None


def _paths(value: Any) -> tuple[Path, ...]:
    if value is None:
        return ()
    return tuple(map(Path, value)) if isinstance(value, list) else (Path(value),)


def _stem(path: Path) -> str:
    """Return a file's name without `.gz` and the ending before it."""
    return Path(path.name.removesuffix(".gz")).stem
