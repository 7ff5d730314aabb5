"""Batches: how pairs are grouped and ordered, and how ids become padded tensors with masks."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from rnnsearch.packing import Packing, moved, pack
from rnnsearch.text import BOS, EOS, PAD

Ids = Sequence[Sequence[int]]
IntArray = npt.NDArray[np.int32]


class Batch(NamedTuple):
    """Pairs as tensors; B sentences, S source and T target positions, EOS among them.

    Attributes:
        source: (B, S) int64: ids, EOS, then PAD.
        source_mask: (B, S) bool: true up to EOS.
        target_in: (B, T) int64: BOS y_1 .. y_n, what the decoder is given.
        target_out: (B, T) int64: y_1 .. y_n EOS, what it has to say.
        target_mask: (B, T) bool: true where `target_out` counts.
        source_packing: of `source_mask`.
        target_packing: of `target_mask`.
    """

    source: Tensor
    source_mask: Tensor
    target_in: Tensor
    target_out: Tensor
    target_mask: Tensor
    source_packing: Packing
    target_packing: Packing

    def to(self, device: torch.device) -> Batch:
        """Return the batch on `device`; a GPU is not waited for."""
        source, source_mask, target_in, target_out, target_mask = (
            moved(tensor, device) for tensor in self[:5]
        )
        packings = (self.source_packing.to(device), self.target_packing.to(device))
        return Batch(source, source_mask, target_in, target_out, target_mask, *packings)


def collate(sources: Ids, targets: Ids, *, multiple: int = 1, whole: bool = False) -> Batch:
    """Pad pairs to one batch; BOS, EOS, the shift and the masks are made here alone.

    Args:
        sources: ids of each sentence without EOS.
        targets: as many, without BOS and EOS.
        multiple: the numbers of positions are rounded up to multiples of it.
        whole: pack all positions, see `packing.Packing`.
    """
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} sources beside {len(targets)} targets")
    source, source_mask = collate_sources(sources, multiple=multiple)
    target_out, real = _pad(targets, multiple=multiple)
    # The last position of a row is EOS or padding, so shifting loses no word; the EOS that
    # shorter rows would then hold is padding of the input.
    target_in = np.full_like(target_out, BOS)
    target_in[:, 1:] = np.where(real[:, 1:], target_out[:, :-1], PAD)
    target_mask = torch.from_numpy(real)
    return Batch(
        source,
        source_mask,
        torch.from_numpy(target_in),
        torch.from_numpy(target_out),
        target_mask,
        pack(source_mask, whole=whole),
        pack(target_mask, whole=whole),
    )


def collate_sources(sources: Ids, *, multiple: int = 1) -> tuple[Tensor, Tensor]:
    """Return ids with EOS and padding, (B, S) int64, and their mask, (B, S) bool.

    Args:
        sources: ids of each sentence without EOS.
        multiple: S is rounded up to a multiple of it.
    """
    ids, mask = _pad(sources, multiple=multiple)
    return torch.from_numpy(ids), torch.from_numpy(mask)


def _pad(sentences: Ids, *, multiple: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    lengths = np.fromiter(map(len, sentences), np.int64, count=len(sentences))
    width = int(lengths.max(initial=0)) + 1
    width += -width % multiple
    positions = np.arange(width)
    ids = np.full((len(sentences), width), PAD, np.int64)
    tokens = np.fromiter(chain.from_iterable(sentences), np.int64, count=int(lengths.sum()))
    ids[positions < lengths[:, None]] = tokens
    ids[np.arange(len(sentences)), lengths] = EOS
    return ids, positions <= lengths[:, None]


class Plan(Sequence[IntArray]):
    """The batches of an epoch in their order, each an array of pair numbers.

    One permutation and two offsets a batch, so that millions of batches stay light.
    """

    def __init__(self, order: IntArray, starts: IntArray, ends: IntArray) -> None:
        self._order, self._starts, self._ends = order, starts, ends
        self._order.setflags(write=False)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> IntArray: ...
    @overload
    def __getitem__(self, index: slice) -> Plan: ...
    def __getitem__(self, index: int | slice) -> IntArray | Plan:
        """Return one batch, or the plan of some of them (to go on after a stop)."""
        if isinstance(index, slice):
            return Plan(self._order, self._starts[index], self._ends[index])
        return self._order[self._starts[index] : self._ends[index]]


def plan_epoch(
    source_lengths: IntArray,
    target_lengths: IntArray,
    *,
    seed: int,
    epoch: int,
    batch_sentences: int | None,
    batch_tokens: int | None,
    sort_window: int,
) -> Plan:
    """Order the pairs of an epoch and cut them into batches; every pair comes exactly once.

    The pairs are shuffled; each window of `sort_window` batches is sorted by the longer side, so
    that little is padded; the windows are cut, and the batches shuffled (after the paper's
    appendix B.2: twenty batches are fetched and sorted). The order depends on `seed` and `epoch`
    alone.

    Args:
        source_lengths: (pairs,) pieces of each source, EOS not counted.
        target_lengths: (pairs,) likewise.
        seed: not negative.
        epoch: not negative.
        batch_sentences: pairs of a batch at most, or None.
        batch_tokens: target tokens of a batch at most, padding and EOS counted, or None; a single
            pair over it stands alone. When both are given the tighter one rules.
        sort_window: batches of a window.
    """
    if batch_sentences is None and batch_tokens is None:
        raise ValueError("neither batch_sentences nor batch_tokens is given")
    generator = np.random.default_rng(np.random.SeedSequence([seed, epoch]))
    order = np.arange(len(source_lengths), dtype=np.int32)
    generator.shuffle(order)
    usual = batch_sentences or _usual_sentences(target_lengths, batch_tokens or 1)
    window = sort_window * usual
    for start in range(0, len(order), window):
        pairs = order[start : start + window]
        longer = np.maximum(source_lengths[pairs], target_lengths[pairs])
        order[start : start + window] = pairs[np.argsort(longer, kind="stable")]
    if batch_tokens is None:
        starts = np.arange(0, len(order), usual, dtype=np.int32)
    else:
        starts = _cut(order, target_lengths, window, batch_sentences or len(order), batch_tokens)
    ends = np.append(starts[1:], np.int32(len(order))) if len(starts) else starts
    batches = generator.permutation(len(starts))
    return Plan(order, starts[batches], ends[batches])


def _usual_sentences(target_lengths: IntArray, batch_tokens: int) -> int:
    """Return how many pairs of mean length a budget of target tokens holds."""
    mean = float(target_lengths.mean()) + 1 if len(target_lengths) else 1.0
    return max(1, int(batch_tokens / mean))


def _cut(
    order: IntArray, target_lengths: IntArray, window: int, sentences: int, tokens: int
) -> IntArray:
    """Return where batches begin: greedily, never across the end of a window."""
    starts = array("i")
    for start in range(0, len(order), window):
        count = longest = 0
        lengths = target_lengths[order[start : start + window]] + 1
        for position, length in enumerate(lengths.tolist(), start):
            longest = max(longest, length)
            count += 1
            if count == 1 or count > sentences or count * longest > tokens:
                starts.append(position)
                count, longest = 1, length
    return np.frombuffer(starts, np.int32) if starts else np.empty(0, np.int32)


def plan_decoding(
    lengths: Sequence[int], *, batch_sentences: int, max_positions: int
) -> list[list[int]]:
    """Group sentences for search, the short ones first; each appears once.

    Args:
        lengths: positions of each sentence.
        batch_sentences: sentences of a group at most.
        max_positions: sentences times the longest of a group at most; a longer one stands alone.
    """
    groups: list[list[int]] = []
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        # In this order the newest is the longest.
        if group and (
            len(group) >= batch_sentences or (len(group) + 1) * lengths[index] > max_positions
        ):
            groups.append(group)
            group = []
        group.append(index)
    return [*groups, group] if group else groups
