"""Hypotheses of a search: where they ended, which of them are best, and what they say."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor


class Hypothesis(NamedTuple):
    """A translation found.

    Attributes:
        ids: pieces without EOS.
        log_probability: of the pieces, and of EOS if `finished`; natural logarithm.
        score: by which hypotheses are ranked.
        finished: whether EOS was chosen.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float
    finished: bool


class Ends(NamedTuple):
    """Hypotheses that ended in a step, N of them: the last piece lies in place `slot`."""

    sentence: Int[Tensor, " N"]
    slot: Int[Tensor, " N"]
    log_probability: Float[Tensor, " N"]
    score: Float[Tensor, " N"]


class End(NamedTuple):
    """Where a hypothesis ended: after `step` steps, its last piece in place `slot`."""

    sentence: int
    slot: int
    log_probability: float
    score: float
    step: int
    finished: bool


def listed(ends: Ends, *, step: int, finished: bool) -> list[End]:
    """Return the ends of a step one by one."""
    columns = (column.tolist() for column in ends)
    return [
        End(sentence, slot, log_p, score, step, finished)
        for sentence, slot, log_p, score in zip(*columns, strict=True)
    ]


def ranked(ends: list[End], sentence: int, n_best: int) -> list[End]:
    """Return the ends of a sentence to report, best first."""
    best = sorted((end for end in ends if end.finished), key=lambda end: -end.score)
    nothing = End(sentence, 0, -math.inf, -math.inf, 0, False)
    cut = next((end for end in ends if not end.finished), nothing)
    if all(end.step == 1 and end.score < cut.score for end in best):
        best.insert(0, cut)
    return best[:n_best]


def trace(history: list[tuple[Tensor, Tensor]], ends: list[End]) -> list[Hypothesis]:
    """Return the hypotheses that ended there, read back to front all at once."""
    sentence, slot, last = (
        torch.tensor([end[i] for end in ends], dtype=torch.int64) for i in (0, 1, 4)
    )
    ids = torch.zeros(len(ends), len(history), dtype=torch.int64)
    for step in range(len(history) - 1, -1, -1):
        parents, tokens = (part.cpu()[sentence, slot] for part in history[step])
        ids[:, step] = tokens
        slot = torch.where(step < last, parents, slot)
    return [
        Hypothesis(
            tuple(row[: end.step - end.finished]), end.log_probability, end.score, end.finished
        )
        for row, end in zip(ids.tolist(), ends, strict=True)
    ]
