"""Packed rows: the real positions of padded sentences, step after step, without the padding.

Sentences are sorted by length, longest first; step t works on the first `counts[t]` of them. It is
all found out on the host, from lengths that are known there, so that a GPU never has to be asked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor


class Packing(NamedTuple):
    """How (B, T) positions become N packed rows, step after step.

    Attributes:
        order: (B) the sentences in the order of their rows, longest first.
        counts: for each step how many sentences reach it.
        rows: (N) the row of the flattened (B·T) positions behind each packed row.
        reversed_rows: (N) the same with every sentence read from its end.
        whole: whether all B·T positions are rows, padding among them. The shapes then depend on B
            and T alone; whoever reads the rows has to leave the padding out.
    """

    order: Int[Tensor, " B"]
    counts: list[int]
    rows: Int[Tensor, " N"]
    reversed_rows: Int[Tensor, " N"]
    whole: bool = False

    def to(self, device: torch.device) -> Packing:
        """Return the packing on `device`; see `moved`."""
        tensors = (moved(part, device) for part in (self.order, self.rows, self.reversed_rows))
        order, rows, reversed_rows = tensors
        return Packing(order, self.counts, rows, reversed_rows, self.whole)


def moved(tensor: Tensor, device: torch.device) -> Tensor:
    """Return a tensor of the host on `device`, without waiting for a GPU to have it."""
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def pack(mask: Bool[Tensor, "B T"], *, whole: bool = False) -> Packing:
    """Return the packing of positions that are real up to each sentence's end.

    A mask on a GPU is waited for.

    Args:
        mask: true at real positions.
        whole: take all positions as rows; see `Packing`.
    """
    real = mask.cpu().numpy()
    sentences, width = real.shape
    lengths = np.full(sentences, width) if whole else real.sum(1)
    order = np.argsort(-lengths, kind="stable")
    steps = np.arange(int(lengths.max(initial=0)))[:, None]
    reached = steps < lengths[order]
    rows = (order * width + steps)[reached]
    reversed_rows = (order * width + lengths[order] - 1 - steps)[reached]
    tensors = (torch.from_numpy(a).to(mask.device) for a in (order, rows, reversed_rows))
    order_tensor, rows_tensor, reversed_tensor = tensors
    counts = reached.sum(1).tolist()
    return Packing(order_tensor, counts, rows_tensor, reversed_tensor, whole)


def spans(counts: list[int]) -> list[slice]:
    """Return the packed rows of each step."""
    ends = np.cumsum(counts).tolist()
    return [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
