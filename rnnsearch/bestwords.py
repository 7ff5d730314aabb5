"""The best next words of hypotheses, without sorting the vocabulary."""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

BLOCK = 64
"""Words of a block: the best K words of a row lie in the K blocks with the largest maxima, and only
those blocks are searched."""


ROWS = 32
"""Rows that are gone through together, several times over; so many stay in the cache."""


def best_words(
    scores: Float[Tensor, "R V"], barred: Bool[Tensor, "R 4"], k: int
) -> tuple[Float[Tensor, "R M"], Int[Tensor, "R M"]]:
    """Return log softmax of the M = min(k, V) largest scores of each row, and where they are.

    Nothing is renormalised: words that are barred, which get -inf, count in the sum of the softmax.

    Args:
        scores: used up.
        barred: which of the four special ids may not be chosen.
        k: words of a row.
    """
    if scores.is_cuda:
        return _best_of_rows(scores, barred, k)
    parts = zip(scores.split(ROWS), barred.split(ROWS), strict=True)  # type: ignore[no-untyped-call]
    values, words = zip(*(_best_of_rows(*part, k) for part in parts), strict=True)
    return torch.cat(values), torch.cat(words)


def _best_of_rows(
    scores: Float[Tensor, "R V"], barred: Bool[Tensor, "R 4"], k: int
) -> tuple[Float[Tensor, "R M"], Int[Tensor, "R M"]]:
    specials = scores[:, : barred.shape[1]]
    kept = specials.clone()
    specials.masked_fill_(barred, -math.inf)
    values, words = _largest(scores, min(k, scores.shape[1]))
    specials.copy_(kept)
    most = torch.maximum(values[:, :1], kept.amax(1, keepdim=True))
    log_z = scores.sub_(most).exp_().sum(1, keepdim=True).log_().add_(most)
    return values - log_z, words


def _largest(
    scores: Float[Tensor, "R V"], k: int
) -> tuple[Float[Tensor, "R K"], Int[Tensor, "R K"]]:
    """Return what `topk` does, in two stages: the best blocks, then the best in them."""
    rows, size = scores.shape
    blocks = size // BLOCK
    if blocks <= 2 * k:
        values, words = scores.topk(k)
        return values, words
    body = scores[:, : blocks * BLOCK].view(rows, blocks, BLOCK)
    chosen = body.amax(-1).topk(k).indices
    words = (chosen[..., None] * BLOCK + torch.arange(BLOCK, device=scores.device)).flatten(1)
    rest = torch.arange(blocks * BLOCK, size, device=scores.device)
    words = torch.cat([words, rest.expand(rows, -1)], dim=1)
    values, index = scores.gather(1, words).topk(k)
    return values, words.gather(1, index)
