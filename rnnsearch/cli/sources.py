"""From the `data` group to the pairs of each split."""

from pathlib import Path

from rnnsearch.config import DataConfig, SplitConfig, data_folder, paths_of
from rnnsearch.corpus import FolderFiles, PairFiles, PairSource, folder_files
from rnnsearch.errors import UserError


def training_sources(data: DataConfig, *, seed: int) -> tuple[PairSource, PairSource]:
    """Return where the training and the validation pairs come from.

    Args:
        data: the `data` group.
        seed: cuts a validation split from train where a set has none.

    Raises:
        UserError: a split is not named, or the folder or set does not hold it.
    """
    found = _folder(data)
    train = _named(data.train) or (found.train if found else None)
    valid = _named(data.valid) or (found.valid if found else None)
    if train is None or valid is None:
        name = "train" if train is None else "valid"
        where = f"{data.dir} holds no {name} files" if found else f"data={data.kind} needs it"
        raise UserError(
            f"data.{name}: {where}; give data.{name}.source=FILE data.{name}.target=FILE"
        )
    return train, valid


def test_sources(data: DataConfig) -> dict[str, PairSource]:
    """Return the test sets by the name of their results: the one given, or all of the folder.

    Raises:
        UserError: there is none.
    """
    named = _named(data.test)
    if named is not None:
        return {_stem(named.source[0]): named}
    found = _folder(data)
    if found is None or not found.tests:
        raise UserError(
            "data.test: this run names no test set; "
            "give data.test.source=FILE data.test.target=FILE"
        )
    return dict(found.tests)


def training_files(data: DataConfig) -> tuple[PairFiles, PairFiles]:
    train, valid = training_sources(data, seed=0)
    assert isinstance(train, PairFiles) and isinstance(valid, PairFiles)
    return train, valid


def test_files(data: DataConfig) -> dict[str, PairFiles]:
    return {n: s for n, s in test_sources(data).items() if isinstance(s, PairFiles)}


def _folder(data: DataConfig) -> FolderFiles | None:
    folder = data_folder(data)
    if folder is None:
        return None
    return folder_files(folder, source_lang=data.source_lang, target_lang=data.target_lang)


def _named(split: SplitConfig) -> PairFiles | None:
    if split.source is None or split.target is None:
        return None
    return PairFiles(paths_of(split.source), paths_of(split.target))


def _stem(path: Path) -> str:
    """Return a file's name without `.gz` and the ending before it."""
    return Path(path.name.removesuffix(".gz")).stem
