"""Splits of sets as pairs: slices, languages, and a validation split cut where there is none."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rnnsearch import arrowcache
from rnnsearch.columns import PairColumns, find_columns, pair_batches, text_column
from rnnsearch.errors import UserError, nearest
from rnnsearch.hubaccess import OpenSet, open_set, reading, unreached
from rnnsearch.lines import counted

if TYPE_CHECKING:
    import datasets

_BATCH_ROWS = 2_000
# More rows than any split has: the end of one whose rows cannot be counted before it is read.
_ENDLESS = 1 << 60
# A cut validation split: so many pairs, or this share of all where that is less.
_CUT_PAIRS, _CUT_SHARE = 1_000, 1 / 20
# To be raised when prepared rows change in form or meaning.
_FORMAT = "1"


class _Part(NamedTuple):
    """Rows of a split, from `start` up to `stop`, None being its end."""

    split: str
    start: int
    stop: int | None


@dataclass(frozen=True)
class HubSet:
    """An open set; made by `open_hub_set`."""

    path: str
    name: str | None
    columns: PairColumns
    streaming: bool
    opened: OpenSet
    _prepared: dict[_Part, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def splits(self) -> str:
        """The names of the splits, for messages."""
        return ", ".join(self.opened.splits)

    def split(self, key: str, spec: str | None, *, usual: tuple[str, ...]) -> HubSplit | None:
        """Return the split that was asked for, or else the first of `usual` that is there.

        Args:
            key: the key that asks for it, such as `data.train.split`.
            spec: such as `train`, `train[:1000]`, `train[10:20]`, `train[:5%]+validation`; None is
                no wish.
            usual: names to look for where there is no wish.

        Raises:
            UserError: `spec` cannot be read, or names a split that is not there.
        """
        if spec is None:
            spec = next((name for name in usual if name in self.opened.splits), None)
            return None if spec is None else HubSplit(self, key, spec)
        _instruction(key, spec)
        for name in _names(spec):
            if name not in self.opened.splits:
                raise UserError(
                    f"{key}={spec}: {self.opened.title} has no split '{name}'"
                    f"{nearest(name, self.opened.splits)}; it has {self.splits}"
                )
        return HubSplit(self, key, spec)

    def rows(self, key: str, spec: str) -> Any:
        """Return the pairs of a split or of parts of splits as a `pyarrow.Table`, memory-mapped.

        Raises:
            UserError: there are none, a language is missing, or a cell is no text.
        """
        import pyarrow as pa

        tables = [self._table(part) for part in self._parts(key, spec)]
        if not all(table.num_rows for table in tables):
            counts = (f"{name} has {counted(n, 'row')}" for name, n in self._counts(spec).items())
            more = "" if self._endless else f"; {', '.join(counts)}"
            raise UserError(f"{key}={spec}: no pairs there in {self.opened.title}{more}")
        return pa.concat_tables(tables, promote_options="permissive")

    @property
    def _endless(self) -> bool:
        """Whether rows cannot be counted before they are read."""
        return self.streaming and not self._mapped(next(iter(self.opened.splits)))

    def _mapped(self, split: str) -> bool:
        import datasets

        return isinstance(self.opened.splits[split], datasets.Dataset)

    def _counts(self, spec: str) -> dict[str, int]:
        """Return the numbers of rows of the splits in `spec`."""
        if self._endless:
            return dict.fromkeys(_names(spec), _ENDLESS)
        splits = self.opened.splits
        return {
            name: len(splits[name] if self._mapped(name) else self._stored(_Part(name, 0, None)))
            for name in _names(spec)
        }

    def _parts(self, key: str, spec: str) -> Iterator[_Part]:
        """Yield the rows that `spec` means."""
        told = f"{key}={spec}: with data.streaming the number of rows is not known before the end"
        remedy = "give numbers from the start, as in 'train[:1000]', or data.streaming=false"
        if self._endless and "%" in spec:
            raise UserError(f"{told}, so there are no percentages of it; {remedy}")
        try:
            absolute = _instruction(key, spec).to_absolute(self._counts(spec))
        except ValueError as error:
            raise UserError(f"{key}={spec}: {error}") from error
        for rows in absolute:
            if rows.from_ > _ENDLESS // 2 or _ENDLESS // 2 < rows.to < _ENDLESS:
                raise UserError(f"{told}, so none can be counted from there; {remedy}")
            yield _Part(rows.splitname, rows.from_, None if rows.to == _ENDLESS else rows.to)

    def _table(self, part: _Part) -> Any:
        """Return the pairs of some rows."""
        import pyarrow as pa

        if not self._mapped(part.split):
            if self._endless:
                return self._stored(part)
            whole = self._stored(_Part(part.split, 0, None))
            return whole.slice(part.start, max((part.stop or 0) - part.start, 0))
        if part not in self._prepared:
            where = f"{self.opened.title} {part.split}"
            with reading(self.path, self.name):
                data = self.opened.splits[part.split].with_format("arrow")
                rows = data[part.start : max(part.start, part.stop or 0)]
            paths = find_columns(rows.schema, self.columns, where=where)
            sides = [text_column(rows, path, where=where, first=part.start) for path in paths]
            self._prepared[part] = pa.table(sides, ["source", "target"])
        return self._prepared[part]

    def _stored(self, part: _Part) -> Any:
        """Return rows that come one after the other and are kept in an Arrow file."""
        import pyarrow as pa

        if part not in self._prepared:
            key = self._key(part)

            def key_after() -> str:
                if self._key(part) != key:
                    what = "its files changed while they were read; start again"
                    raise UserError(f"data.path={self.path}: {what}", status=1)
                return key

            path = arrowcache.lookup(key, arrowcache.pair_schema())
            path = path or arrowcache.store_pairs(lambda: self._stream(part), key_after)
            self._prepared[part] = pa.ipc.open_stream(pa.memory_map(str(path))).read_all()
        return self._prepared[part]

    def _key(self, part: _Part) -> str:
        """Return the key of rows: by the version on the hub, by the content of local files."""
        content = [self.path, str(self.name), self.opened.version]
        if not self.opened.version:
            content = arrowcache.digests_of(self.opened.files[part.split]) or []
        return arrowcache.key_of(f"set{_FORMAT}", repr(self.columns), repr(part), *content)

    def _stream(self, part: _Part) -> Iterator[Any]:
        """Yield record batches of the rows of a part."""
        where = f"{self.opened.title} {part.split}"
        stop = _ENDLESS if part.stop is None else part.stop
        first, split = 0, self.opened.splits[part.split]
        if split is None:
            raise unreached(self.path, f"which {self.opened.title} {part.split} needs")
        with reading(self.path, self.name, self.opened.files.get(part.split, ())):
            for rows in split.with_format("arrow").iter(_BATCH_ROWS):
                start = max(part.start - first, 0)
                chosen = rows.slice(start, max(stop - first - start, 0))
                if chosen.num_rows:
                    paths = find_columns(chosen.schema, self.columns, where=where)
                    yield from pair_batches(chosen, paths, where=where, first=first + start)
                first += rows.num_rows
                if first >= stop:  # before the next part is asked for
                    break


@dataclass(frozen=True)
class HubSplit:
    """The pairs of a split, of parts of splits, or of what a cut leaves of them.

    Attributes:
        key, spec: the key that asks for it and what it says.
        seed: of a cut, if the split is cut in two.
        is_valid: whether this is the smaller part, for validation.
    """

    of: HubSet
    key: str
    spec: str
    seed: int | None = None
    is_valid: bool = False

    def cut(self, *, seed: int) -> tuple[HubSplit, HubSplit]:
        """Return the two parts of the split, for training and for validation.

        The same rows and seed always give the same parts; no row is in both.
        """
        return replace(self, seed=seed), replace(self, seed=seed, is_valid=True)

    @property
    def label(self) -> str:
        """The set and the split, such as `Helsinki-NLP/opus_books en-fr train[:100]`."""
        cut = ""
        if self.seed is not None:
            count = counted(_cut_size(self.of.rows(self.key, self.spec).num_rows), "pair")
            what = f"{count} cut from {self.spec}" if self.is_valid else f"but {count}"
            cut = f" ({what} by seed {self.seed})"
        return f"{self.of.opened.title} {self.spec}{cut}{self.of.opened.note}"

    def read(self) -> datasets.Dataset:
        """Return the pairs as columns `source` and `target`, memory-mapped.

        Raises:
            UserError: there are none, or too few to cut; a language is missing; a cell is no text.
        """
        import datasets

        table = self.of.rows(self.key, self.spec)
        if self.seed is not None and table.num_rows < 2:
            what = "1 pair is too little to cut a validation split from it"
            raise UserError(f"{self.key}={self.spec}: {what}; give data.valid.split or its files")
        if self.seed is not None:
            table = _cut(table, self.seed, is_valid=self.is_valid)
        # Without a name of our own, the library makes one of all the text.
        return datasets.Dataset(table, fingerprint=uuid.uuid4().hex)

    def references(self) -> list[str]:
        """Return the target cells without the white space at their end; nothing else changes."""
        return [text.rstrip() for text in self.read()["target"]]

    def describe(self) -> dict[str, Any]:
        """Return where the set is, its configuration and the split."""
        return {"path": self.of.path, "name": self.of.name, "split": self.spec}


def open_hub_set(path: str, *, name: str | None, columns: PairColumns, streaming: bool) -> HubSet:
    """Open a set on the hub or in a folder; it raises what `hubaccess.open_set` does."""
    return HubSet(path, name, columns, streaming, open_set(path, name, streaming=streaming))


def result_name(spec: str) -> str:
    """Return a split as a plain file name: `train[:2000]` is `train-to2000`."""
    for sign, word in (("[", "-"), (":", "to"), ("%", "pct"), ("(", "-"), ("]", ""), (")", "")):
        spec = spec.replace(sign, word)
    return re.sub(r"\s", "", spec)


def _instruction(key: str, spec: str) -> Any:
    """Return the `datasets.ReadInstruction` that `spec` spells."""
    import datasets

    try:
        return datasets.ReadInstruction.from_spec(spec)
    except ValueError as error:
        raise UserError(
            f"{key}={spec}: {error}; write a split like train, 'train[:1000]', 'train[10:20]' or "
            "'train[:5%]', and + between two"
        ) from error


def _names(spec: str) -> list[str]:
    """Return the names of the splits in a spec that can be read."""
    return [re.split(r"[\[(]", part)[0] for part in re.split(r"\s*\+\s*", spec)]


def _cut_size(rows: int) -> int:
    return min(_CUT_PAIRS, max(1, int(rows * _CUT_SHARE)))


def _cut(table: Any, seed: int, *, is_valid: bool) -> Any:
    """Return the validation rows or the others, both in their order."""
    # This generator, unlike NumPy's newer ones, gives the same numbers in every version.
    order = np.random.RandomState(seed).permutation(table.num_rows)
    chosen = np.sort(order[: _cut_size(table.num_rows)])
    if is_valid:
        return _slices(table, chosen, chosen + 1).combine_chunks()
    return _slices(table, np.append(0, chosen + 1), np.append(chosen, table.num_rows))


def _slices(table: Any, starts: npt.NDArray[Any], stops: npt.NDArray[Any]) -> Any:
    """Join some ranges of rows, without a copy of their text."""
    import pyarrow as pa

    ranges = zip(starts.tolist(), stops.tolist(), strict=True)
    return pa.concat_tables([table.slice(a, b - a) for a, b in ranges])
