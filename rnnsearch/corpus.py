"""Aligned files as one memory-mapped data set of pairs, with its ids and counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from rnnsearch import arrowcache
from rnnsearch.encoded import Counts, EncodedCorpus, encode_pairs
from rnnsearch.errors import UserError
from rnnsearch.lines import Hash, counted, lines_of, read_lines
from rnnsearch.subwords import is_blank

if TYPE_CHECKING:
    import datasets

__all__ = ["Counts", "EncodedCorpus", "FolderFiles", "PairFiles", "PairSource", "encode_pairs"]
__all__ += ["folder_files", "lines_of", "nonblank", "read_lines", "read_pairs", "read_references"]

# Lines taken from Arrow at once.
_BATCH_ROWS = 2_000
# To be raised when prepared files change in form or meaning.
_FORMAT = "1"


class PairSource(Protocol):
    """Where the pairs of a split come from: aligned files, tables or a set of the hub."""

    @property
    def label(self) -> str:
        """What messages call it."""

    def read(self) -> datasets.Dataset:
        """Return the pairs as columns `source` and `target`, memory-mapped.

        Raises:
            UserError: they cannot be read, are no text, or there are none.
        """

    def references(self) -> list[str]:
        """Return the target text as the `sacrebleu` command reads it from a file.

        All white space at the end of a line goes (also U+00A0 and U+2028); nothing else is
        touched.

        Raises:
            UserError: as `read`.
        """

    def describe(self) -> dict[str, Any]:
        """Return where the pairs are, as plain values for `evaluation.json`."""


class PairFiles(NamedTuple):
    """The files of the two sides, each side read one file after the other."""

    source: tuple[Path, ...]
    target: tuple[Path, ...]

    @property
    def label(self) -> str:
        """The first file of each side, such as `data/a.en | a.fr`."""
        more = max(len(self.source), len(self.target)) - 1
        return f"{self.source[0]} | {self.target[0].name}" + (f" and {more} more" if more else "")

    def read(self) -> datasets.Dataset:
        """Return the pairs; see `read_pairs`."""
        return read_pairs(self)

    def references(self) -> list[str]:
        """Return the lines of the target as they are scored; see `read_references`."""
        return [line for path in self.target for line in read_references(path)]

    def describe(self) -> dict[str, Any]:
        """Return the paths of both sides."""
        return {"source": [*map(str, self.source)], "target": [*map(str, self.target)]}


def read_references(path: Path) -> list[str]:
    """Read the lines of a reference file, plain or gzip, as the `sacrebleu` command does.

    Lines end at LF alone and lose all white space at their end (also U+00A0 and U+2028); nothing
    else is touched: a BOM, other white space and every spelling stay as they are.

    Raises:
        UserError: the file is missing, unreadable or not UTF-8.
    """
    return [line.rstrip() for line in read_lines(path, drop_bom=False)]


class FolderFiles(NamedTuple):
    """What a corpus folder holds; test sets, and gold alignments, by the stem of their files."""

    train: PairFiles | None
    valid: PairFiles | None
    tests: dict[str, PairFiles]
    alignments: dict[str, Path]


def folder_files(folder: Path, *, source_lang: str, target_lang: str) -> FolderFiles:
    """Find `train`, `val` or `valid`, and `test*` in a folder.

    Args:
        folder: holds `STEM.LANGUAGE` or `STEM.LANGUAGE.gz` for both languages, and for a test set
            maybe `STEM.align` or `STEM.align.gz`.
        source_lang: the ending of source files, such as `en`.
        target_lang: that of target files.

    Raises:
        UserError: there is no such folder, or it holds none of these; a side is missing; a file
            is there in two forms.
    """
    if not folder.is_dir():
        what = "a file, not a folder" if folder.exists() else "no such folder"
        raise UserError(f"{folder}: {what}; data.dir must name a folder with train.{source_lang}")
    endings = [
        f".{language}{zipped}" for language in (source_lang, target_lang) for zipped in ("", ".gz")
    ]
    names = sorted(entry.name for entry in folder.iterdir())
    stems = {name.removesuffix(end) for name in names for end in endings if name.endswith(end)}
    sets = {
        stem: PairFiles(
            (_one_file(folder, f"{stem}.{source_lang}"),),
            (_one_file(folder, f"{stem}.{target_lang}"),),
        )
        for stem in sorted(stems)
        if stem in ("train", "val", "valid") or stem.startswith("test")
    }
    if not sets:
        raise UserError(
            f"{folder}: holds no train.{source_lang}, val.{source_lang} or test*.{source_lang} "
            "(plain or .gz); check data.dir, data.source_lang and data.target_lang"
        )
    if "val" in sets and "valid" in sets:
        raise UserError(f"{folder}: holds both val and valid; remove or rename one of them")
    tests = {stem: files for stem, files in sets.items() if stem.startswith("test")}
    aligned = [stem for stem in tests if {f"{stem}.align", f"{stem}.align.gz"} & set(names)]
    return FolderFiles(
        sets.get("train"), sets.get("val", sets.get("valid")), tests,
        alignments={stem: _one_file(folder, f"{stem}.align") for stem in aligned},
    )  # fmt: skip


def _one_file(folder: Path, name: str) -> Path:
    """Return the plain or the compressed file of that name, whichever is there."""
    found = [path for path in (folder / name, folder / f"{name}.gz") if path.exists()]
    if not found:
        raise UserError(f"{folder / name}: no such file, nor {name}.gz, beside the other language")
    if len(found) > 1:
        raise UserError(f"{folder}: holds both {name} and {name}.gz; remove one of them")
    return found[0]


def read_pairs(files: PairFiles) -> datasets.Dataset:
    """Return the pairs of aligned files as columns `source` and `target`, memory-mapped.

    The text is prepared once and kept under a hash of the bytes of the files, so an edited file
    is read anew whatever its size and time stamp say.

    Raises:
        UserError: the sides have different numbers of lines (both files and counts are named); a
            file is empty, missing, not to be read or not UTF-8.
    """
    import datasets

    path = arrowcache.kept_pairs(
        (*files.source, *files.target),
        read=lambda hashes: arrowcache.pair_batches(_aligned(files, hashes)),
        key=lambda digests: arrowcache.key_of(f"text{_FORMAT}", str(len(files.source)), *digests),
    )
    return datasets.Dataset.from_file(str(path))


def _aligned(files: PairFiles, digests: Sequence[Hash]) -> Iterator[tuple[str, str]]:
    source_lines = _side_lines(files.source, digests[: len(files.source)])
    target_lines = _side_lines(files.target, digests[len(files.source) :])
    counts = [0, 0]
    for source, target in zip_longest(source_lines, target_lines):
        counts[0] += source is not None
        counts[1] += target is not None
        # Nothing of an uneven rest is used, but the message tells how many lines there are.
        if source is not None and target is not None:
            yield source, target
    if counts[0] != counts[1]:
        raise UserError(
            f"{_names(files.source)} has {counted(counts[0], 'line')} but {_names(files.target)} "
            f"has {counts[1]}; line by line one must translate the other, so a line was lost or "
            "split"
        )


def _side_lines(paths: tuple[Path, ...], digests: Sequence[Hash]) -> Iterator[str]:
    for path, digest in zip(paths, digests, strict=True):
        count = 0
        for count, line in enumerate(read_lines(path, digest=digest), 1):  # noqa: B007
            yield line
        if not count:
            raise UserError(f"{path}: the file is empty; a line for each pair was expected")


def _names(paths: tuple[Path, ...]) -> str:
    return " + ".join(map(str, paths))


def nonblank(pairs: datasets.Dataset) -> tuple[Iterable[str], Iterable[str]]:
    """Return both sides of the pairs that are not blank on either, for `train_tokenizers`.

    A line is blank when normalisation leaves nothing of it, which a tokenizer trained later will
    find too. Both results can be read more than once.
    """
    keep = np.fromiter(
        (
            not (is_blank(source) or is_blank(target))
            for source, target in zip(
                _Column(pairs, "source"), _Column(pairs, "target"), strict=True
            )
        ),
        np.bool_,
        count=len(pairs),
    )
    return _Column(pairs, "source", keep), _Column(pairs, "target", keep)


class _Column:
    """The text of one column, all or where `keep` is true."""

    def __init__(
        self, pairs: datasets.Dataset, name: str, keep: npt.NDArray[np.bool_] | None = None
    ) -> None:
        self._table = pairs.select_columns([name]).with_format("arrow")
        self._name, self._keep = name, keep

    def __iter__(self) -> Iterator[str]:
        start = 0
        for table in self._table.iter(batch_size=_BATCH_ROWS):
            lines = table[self._name].to_pylist()
            if self._keep is None:
                yield from lines
            else:
                yield from compress(lines, self._keep[start : start + len(lines)])
            start += len(lines)
