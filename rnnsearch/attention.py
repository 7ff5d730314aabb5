"""Attention: how well a state matches each annotation, and the context that follows.

Query s_{i-1}, keys and values the annotations h_j: Attention(Q, K, V) = softmax(f(Q, K)) V
(Bahdanau et al. 2015, section 3.1 and appendix A.1.2). The score function f is a small class in
`SCORES`; the masked softmax and the weighted sum are written once, in `attend`.

Shapes: B sentences, K queries a sentence (1 in training, the beam in search), S source length,
D annotation size, H state size, A alignment size.
"""

import math
from collections.abc import Callable
from typing import Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from rnnsearch.products import linear

MASKED = -1e9
"""Added to the score of padding: far below any score, yet finite, so that no NaN can arise."""


class Score(Protocol):
    """A score function f(query, key), made as `Score(query_size, annotation_size, alignment_size)`.

    It is an `nn.Module`.
    """

    def project(self, annotations: Float[Tensor, "B S D"]) -> Float[Tensor, "B S A"]:
        """Return what depends on the annotations alone, computed once a sentence."""

    def __call__(
        self, query: Float[Tensor, "B K H"], keys: Float[Tensor, "B S A"]
    ) -> Float[Tensor, "B K S"]:
        """Return the scores, up to a constant that is the same for all positions."""

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return the weights by name; they are initialised by it."""


class AdditiveScore(nn.Module):
    """e_ij = v_aᵀ tanh(W_a s_{i-1} + U_a h_j), the paper's alignment model (appendix A.1.2).

    It has no biases. Since tanh(x) = 2σ(2x) - 1 and the constant Σ v_a cancels in the softmax, the
    score is computed as 2 v_aᵀ σ(2 W_a s + 2 U_a h): on a CPU σ is several times faster than tanh.
    """

    def __init__(self, query_size: int, annotation_size: int, alignment_size: int) -> None:
        super().__init__()
        self.W_a = nn.Parameter(torch.empty(alignment_size, query_size))
        self.U_a = nn.Parameter(torch.empty(alignment_size, annotation_size))
        self.v_a = nn.Parameter(torch.empty(alignment_size))

    def project(self, annotations: Float[Tensor, "B S D"]) -> Float[Tensor, "B S A"]:
        """Return 2 U_a h_j."""
        return linear(annotations, 2 * self.U_a)

    def forward(
        self, query: Float[Tensor, "B K H"], keys: Float[Tensor, "B S A"]
    ) -> Float[Tensor, "B K S"]:
        """Return e_ij + Σ v_a."""
        hidden = 2 * linear(query, self.W_a)
        return (hidden[:, :, None] + keys[:, None]).sigmoid_() @ (2 * self.v_a)

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return the weights under the paper's names."""
        return {"v_a": self.v_a.detach(), "W_a": self.W_a.detach(), "U_a": self.U_a.detach()}


class DotScore(nn.Module):
    """e_ij = (W_a s_{i-1})ᵀ (U_a h_j), in a space of the alignment's size n'."""

    def __init__(self, query_size: int, annotation_size: int, alignment_size: int) -> None:
        super().__init__()
        self.W_a = nn.Parameter(torch.empty(alignment_size, query_size))
        self.U_a = nn.Parameter(torch.empty(alignment_size, annotation_size))

    def project(self, annotations: Float[Tensor, "B S D"]) -> Float[Tensor, "B S A"]:
        """Return U_a h_j."""
        return linear(annotations, self.U_a)

    def forward(
        self, query: Float[Tensor, "B K H"], keys: Float[Tensor, "B S A"]
    ) -> Float[Tensor, "B K S"]:
        """Return e_ij."""
        return linear(query, self.W_a) @ keys.transpose(1, 2)

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return the weights by name."""
        return {"W_a": self.W_a.detach(), "U_a": self.U_a.detach()}


class ScaledDotScore(DotScore):
    """e_ij = (W_a s_{i-1})ᵀ (U_a h_j) / √n' (Vaswani et al. 2017, equation 1)."""

    def forward(
        self, query: Float[Tensor, "B K H"], keys: Float[Tensor, "B S A"]
    ) -> Float[Tensor, "B K S"]:
        """Return e_ij."""
        scores: Tensor = super().forward(query, keys)
        return scores / math.sqrt(keys.shape[-1])


class GeneralScore(nn.Module):
    """e_ij = s_{i-1}ᵀ W_a h_j (Luong et al. 2015, section 3.1); it has no size of its own."""

    def __init__(self, query_size: int, annotation_size: int, _: int) -> None:
        super().__init__()
        self.W_a = nn.Parameter(torch.empty(query_size, annotation_size))

    def project(self, annotations: Float[Tensor, "B S D"]) -> Float[Tensor, "B S H"]:
        """Return W_a h_j."""
        return linear(annotations, self.W_a)

    def forward(
        self, query: Float[Tensor, "B K H"], keys: Float[Tensor, "B S H"]
    ) -> Float[Tensor, "B K S"]:
        """Return e_ij."""
        scores: Tensor = query @ keys.transpose(1, 2)
        return scores

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return the weight by name."""
        return {"W_a": self.W_a.detach()}


class FixedContext(nn.Module):
    """No choice: the one annotation that there is, as in the encoder-decoder of Cho et al. 2014.

    The encoder gives a single vector, so that α = 1 and c_i = c whatever the state.
    """

    def project(self, annotations: Float[Tensor, "B 1 D"]) -> Float[Tensor, "B 1 0"]:
        """Return nothing for each annotation."""
        return annotations[..., :0]

    def forward(
        self, query: Float[Tensor, "B K H"], _: Float[Tensor, "B 1 0"]
    ) -> Float[Tensor, "B K 1"]:
        """Return zeros."""
        return query.new_zeros(*query.shape[:2], 1)

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return no weights: there are none."""
        return {}


SCORES: dict[str, Callable[[int, int, int], Score]] = {
    "additive": AdditiveScore,
    "dot": DotScore,
    "scaled_dot": ScaledDotScore,
    "general": GeneralScore,
}
"""The score functions by the names that `model.attention` takes; a new one is entered here."""


def padding_bias(mask: Bool[Tensor, "B S"], like: Tensor) -> Float[Tensor, "B 1 S"]:
    """Return 0 at real positions and `MASKED` at padding, in the type of `like`."""
    return torch.zeros_like(mask, dtype=like.dtype).masked_fill_(~mask, MASKED)[:, None]


def attend(
    scores: Float[Tensor, "B K S"],
    padding: Float[Tensor, "B 1 S"],
    annotations: Float[Tensor, "B S D"],
) -> tuple[Float[Tensor, "B K D"], Float[Tensor, "B K S"]]:
    """Return c_i = Σ_j α_ij h_j and α_ij = softmax_j(e_ij) over real positions only."""
    alpha = torch.softmax(scores + padding, dim=-1)
    return torch.bmm(alpha, annotations), alpha
