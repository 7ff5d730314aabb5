"""Positions: an encoder without recurrence is told the order of the words in its input alone.

    X = T E,   Z = c X + P

T holds the source words as one-hot rows, E is the embedding table, so that T E looks its rows up;
c is √d or 1; P has one code a position, learned or sinusoidal (Vaswani et al. 2017, sections 3.4
and 3.5):

    P[pos, 2r] = sin(pos / 10000^(2r/d)),   P[pos, 2r+1] = cos(pos / 10000^(2r/d)),   pos from 0

Each pair of columns is the hand of a clock, from fast to slow. To go on by k positions turns every
hand by an angle of its own, whatever the position: P[pos+k] = R_k P[pos], R_k a rotation.

Shapes: B sentences, S source length, d embedding size.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

BASE = 10000.0
"""The slowest hand turns nearly so many times more slowly than the fastest."""

POSITIONS = ("sinusoidal", "learned", "none")


def sinusoidal_codes(
    length: int, size: int, *, device: torch.device | None = None
) -> Float[Tensor, "S d"]:
    """Return P of the positions 0 .. length - 1, in float64; callers cast it.

    There is no largest length, and a code does not depend on how many are asked for. In an odd
    `size` the last column is a sine without its cosine.

    Args:
        length: S.
        size: d.
        device: where they are made; the CPU by default.
    """
    position = torch.arange(length, dtype=torch.float64, device=device)[:, None]
    # In float32 the angles at position 100,000 would be off by up to 0.007.
    angles = position / BASE ** (
        torch.arange(0, size, 2, dtype=torch.float64, device=device) / size
    )
    codes = position.new_empty(length, size)
    codes[:, 0::2] = angles.sin()
    codes[:, 1::2] = angles[:, : size // 2].cos()
    return codes


class InputParts(NamedTuple):
    """The input of an encoder and what it is made of.

    `X` (B, S, d): the rows of the table, not scaled. `P` (S, d): the codes, the same for every
    sentence. `Z` (B, S, d): c X + P.
    """

    X: Float[Tensor, "B S d"]
    P: Float[Tensor, "S d"]
    Z: Float[Tensor, "B S d"]


class TransformerInput(nn.Module):
    """Z = c X + P.

    Learned codes are the parameter `P` (most, d), left for the builder to initialise; otherwise `P`
    is None.

    Args:
        embedding: the table E (V, d).
        positions: `sinusoidal`, `learned` or `none`, which is P = 0.
        scale: whether c is √d, or 1.
        most: positions that have a learned code; None for the other kinds.

    Raises:
        ValueError: there is no such kind, or `most` is missing or too much for it.
    """

    P: nn.Parameter | None

    def __init__(
        self, embedding: nn.Embedding, *, positions: str, scale: bool, most: int | None
    ) -> None:
        super().__init__()
        if positions not in POSITIONS:
            raise ValueError(f"positions={positions}: expected {', '.join(POSITIONS)}")
        if (positions == "learned") != (most is not None):
            raise ValueError(f"positions={positions} with most={most}: learned ones need a number")
        size = embedding.embedding_dim
        self.embedding = embedding
        self.positions = positions
        self.c = math.sqrt(size) if scale else 1.0
        learned = None if most is None else nn.Parameter(torch.empty(most, size))
        self.register_parameter("P", learned)

    def forward(self, ids: Int[Tensor, "B S"]) -> Float[Tensor, "B S d"]:
        """Return Z; see `parts`."""
        return self.parts(ids).Z

    def parts(self, ids: Int[Tensor, "B S"]) -> InputParts:
        """Return X, P and Z of source ids.

        Raises:
            ValueError: the learned codes do not reach so far, be it padding.
        """
        X = self.embedding(ids)
        P = self._codes(X)
        return InputParts(X, P, self.c * X + P)

    def _codes(self, X: Float[Tensor, "B S d"]) -> Float[Tensor, "S d"]:
        """Return P as long as X, of its type and on its device."""
        length, size = X.shape[1:]
        if self.P is None:
            if self.positions == "none":
                return X.new_zeros(length, size)
            return sinusoidal_codes(length, size, device=X.device).to(X.dtype)
        if length > len(self.P):
            raise ValueError(
                f"{length} source positions, but only {len(self.P)} have learned codes"
            )
        return self.P[:length]
