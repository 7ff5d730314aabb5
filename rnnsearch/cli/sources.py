"""From the `data` group to the pairs of each split."""

from pathlib import Path

from rnnsearch.columns import PairColumns
from rnnsearch.config import DataConfig, SplitConfig, data_folder, paths_of
from rnnsearch.corpus import FolderFiles, PairFiles, PairSource, folder_files
from rnnsearch.errors import UserError
from rnnsearch.hub import HubSet, open_hub_set, result_name
from rnnsearch.tables import TableFiles, table_files

# Names of validation splits, the usual one first.
_VALID = ("validation", "valid", "val", "dev")


def training_sources(data: DataConfig, *, seed: int) -> tuple[PairSource, PairSource]:
    """Return where the training and the validation pairs come from.

    Args:
        data: the `data` group; files and tables that it names come before its folder or set.
        seed: cuts a validation split from train where a set has none.

    Raises:
        UserError: a split is not named, or the folder or set does not hold it.
    """
    train, valid = _named(data.train, data), _named(data.valid, data)
    if train is not None and valid is not None:
        return train, valid
    if data.kind == "hub":
        return _of_set(data, train, valid, seed=seed)
    found = _folder(data)
    train = train or (found.train if found else None)
    valid = valid or (found.valid if found else None)
    if train is None or valid is None:
        name = "train" if train is None else "valid"
        where = f"{data.dir} holds no {name} files" if found else f"data={data.kind} needs it"
        raise UserError(
            f"data.{name}: {where}; give data.{name}.source=FILE data.{name}.target=FILE, or "
            f"data.{name}.table=FILE"
        )
    return train, valid


def _of_set(
    data: DataConfig, train: PairSource | None, valid: PairSource | None, *, seed: int
) -> tuple[PairSource, PairSource]:
    """Take the splits that no file was given for from a set."""
    hub = _hub_set(data)
    split = None
    if train is None:
        train = split = hub.split("data.train.split", data.train.split, usual=("train",))
    if train is None:
        raise _no_split(hub, "train", "train")
    if valid is None:
        valid = hub.split("data.valid.split", data.valid.split, usual=_VALID)
    if valid is None and split is not None:
        return split.cut(seed=seed)
    if valid is None:
        raise _no_split(hub, "valid", "validation")
    return train, valid


def test_sources(data: DataConfig) -> dict[str, PairSource]:
    """Return the test sets by the name of their results: the one given, or all of the folder.

    Raises:
        UserError: there is none.
    """
    named = _named(data.test, data)
    if named is not None:
        return {_stem(named): named}
    if data.kind == "hub":
        hub = _hub_set(data)
        split = hub.split("data.test.split", data.test.split, usual=("test",))
        if split is None:
            raise _no_split(hub, "test", "test")
        return {result_name(split.spec): split}
    found = _folder(data)
    if found is None or not found.tests:
        raise UserError(
            "data.test: this run names no test set; give data.test.source=FILE "
            "data.test.target=FILE, or data.test.table=FILE"
        )
    return dict(found.tests)


def gold_alignments(data: DataConfig, name: str) -> tuple[Path, ...]:
    """Return the files of gold alignments of one of `test_sources`: those given, or the folder's.

    Raises:
        UserError: a folder holds it in two forms.
    """
    found = _folder(data) if finds_tests(data) else None
    if found is None:
        return paths_of(data.test.alignments)
    return (found.alignments[name],) if name in found.alignments else ()


def finds_tests(data: DataConfig) -> bool:
    """Tell whether test sets are found by name, and not given as files, tables or a split."""
    if _named(data.test, data) is not None:
        return False
    return data.kind != "hub" or data.test.split is None


def _no_split(hub: HubSet, key: str, name: str) -> UserError:
    return UserError(
        f"data.{key}.split is null, and {hub.opened.title} has no split '{name}', but "
        f"{hub.splits}; set data.{key}.split, or data.{key}.source and data.{key}.target"
    )


def _hub_set(data: DataConfig) -> HubSet:
    if data.path is None:
        raise UserError("data.path is null, but data=hub needs a set: data.path=OWNER/NAME")
    return open_hub_set(data.path, name=data.name, columns=_columns(data), streaming=data.streaming)


def _columns(data: DataConfig) -> PairColumns:
    chosen = None if data.columns is None else (data.columns[0], data.columns[1])
    return PairColumns((data.source_lang, data.target_lang), chosen)


def _folder(data: DataConfig) -> FolderFiles | None:
    folder = data_folder(data)
    if folder is None:
        return None
    return folder_files(folder, source_lang=data.source_lang, target_lang=data.target_lang)


def _named(split: SplitConfig, data: DataConfig) -> PairFiles | TableFiles | None:
    if split.table is not None:
        return table_files(paths_of(split.table), _columns(data))
    if split.source is None or split.target is None:
        return None
    return PairFiles(paths_of(split.source), paths_of(split.target))


def _stem(files: PairFiles | TableFiles) -> str:
    """Return the name of the first file without `.gz` and the ending before it."""
    first = files.paths[0] if isinstance(files, TableFiles) else files.source[0]
    return Path(first.name.removesuffix(".gz")).stem
