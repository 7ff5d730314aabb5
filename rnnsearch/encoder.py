"""Encoders: from source ids to annotations, one for each position."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rnnsearch.fused import EncoderScan, pack
from rnnsearch.recurrent import GatedUnit, plain_scan


class Encoded(NamedTuple):
    """What an encoder gives.

    `annotations` (B, S, D): h_j. `summary` (B, D'): what the decoder's first state is made from.
    """

    annotations: Float[Tensor, "B S D"]
    summary: Float[Tensor, "B D2"]


class BidirectionalEncoder(nn.Module):
    """Two gated units over one shared embedding (appendix A.2.1).

        →h_j = f(→h_{j-1}, Ē x_j),   ←h_j = f(←h_{j+1}, Ē x_j),   h_j = [→h_j ; ←h_j]

    The summary is ←h_1, which has read the whole sentence.
    """

    def __init__(
        self, embedding: nn.Embedding, left_to_right: GatedUnit, right_to_left: GatedUnit,
        *, dropout: float,
    ) -> None:  # fmt: skip
        super().__init__()
        self.embedding = embedding
        self.left_to_right = left_to_right
        self.right_to_left = right_to_left
        self.dropout = nn.Dropout(dropout)
        self.fused = True  # false: the plain scan, which defines the result

    def forward(self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"]) -> Encoded:
        """Return the annotations of `source`, whose real positions `mask` tells."""
        x = self.dropout(self.embedding(source))
        if self.fused:
            annotations = self._packed_scans(x, mask)
        else:
            forward = plain_scan(self.left_to_right, x, mask)
            backward = plain_scan(self.right_to_left, x, mask, reverse=True)
            annotations = torch.cat([forward, backward], dim=-1)
        return Encoded(annotations, annotations[:, 0, self.left_to_right.hidden_size :])

    def _packed_scans(
        self, x: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"]
    ) -> Float[Tensor, "B S D"]:
        """Return the annotations, 0 at padding, by the fast path."""
        packing = pack(mask)
        flat = x.flatten(0, 1)
        directions = []
        for unit, rows in (
            (self.left_to_right, packing.rows),
            (self.right_to_left, packing.reversed_rows),
        ):
            projected = unit.project(flat[rows])
            states = EncoderScan.apply(projected, unit.U_gates, unit.U, packing.counts)  # type: ignore[no-untyped-call]
            padded = states.new_zeros(flat.shape[0], unit.hidden_size)
            directions.append(padded.index_copy(0, rows, states))
        return torch.cat(directions, dim=-1).reshape(*mask.shape, -1)

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of the weights under the paper's names."""
        return {
            "E_bar": self.embedding.weight.detach(),
            **self.left_to_right.paper_symbols("_fwd"),
            **self.right_to_left.paper_symbols("_bwd"),
        }


class ResetAfterEncoder(nn.Module):
    """The same encoder made of `torch.nn.GRU`: the reset gate acts AFTER the recurrent product.

        h̃ = tanh(W x + r ⊙ (U h)),   h' = (1 - z') ⊙ h̃ + z' ⊙ h   with PyTorch's z' = 1 - z

    Not the paper's equations; for comparison, and for weights made elsewhere.
    """

    def __init__(self, embedding: nn.Embedding, gru: nn.GRU, *, dropout: float) -> None:
        super().__init__()
        self.embedding = embedding
        self.gru = gru
        self.dropout = nn.Dropout(dropout)

    def forward(self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"]) -> Encoded:
        """Return the annotations of `source`, whose real positions `mask` tells."""
        x = self.dropout(self.embedding(source))
        lengths = mask.sum(1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=False
        )
        annotations, _ = nn.utils.rnn.pad_packed_sequence(
            self.gru(packed)[0], batch_first=True, total_length=source.shape[1]
        )
        return Encoded(annotations, annotations[:, 0, self.gru.hidden_size :])

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of the weights under the names of the paper's gates.

        The z blocks are PyTorch's, of 1 - z. The hidden-side biases have no name in the paper and
        are left out.
        """
        symbols = {"E_bar": self.embedding.weight}
        for torch_suffix, suffix in (("l0", "_fwd"), ("l0_reverse", "_bwd")):
            named = {"W": "weight_ih_", "U": "weight_hh_", "b_W": "bias_ih_"}
            for name, prefix in named.items():
                weight = getattr(self.gru, prefix + torch_suffix, None)
                if weight is not None:
                    r, z, candidate = weight.chunk(3)
                    symbols |= {f"{name}{suffix}": candidate, f"{name}_z{suffix}": z}
                    symbols[f"{name}_r{suffix}"] = r
        return {name: weight.detach() for name, weight in symbols.items()}
