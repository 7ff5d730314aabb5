"""Encoders: from source ids to annotations, and to what the decoder starts from."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from rnnsearch.fused import UnitScan
from rnnsearch.packing import Packing, pack
from rnnsearch.positions import TransformerInput
from rnnsearch.products import linear
from rnnsearch.recurrent import GatedUnit, Unit, plain_scan


class Encoded(NamedTuple):
    """What an encoder gives.

    `annotations` (B, M, D): h_j, which the decoder may look at; `mask` (B, M): which of them are
    real. `summary` (B, D'): what the decoder's first state is made from.
    """

    annotations: Float[Tensor, "B M D"]
    mask: Bool[Tensor, "B M"]
    summary: Float[Tensor, "B D2"]


class Encoder(nn.Module):
    """What all encoders share: a table of source embeddings Ē.

    Called with source ids (B, S), their mask (B, S) and, where it is known, the packing of the
    mask, an encoder returns `Encoded`.
    """

    embedding: nn.Embedding

    @property
    def most_positions(self) -> int | None:
        """The longest source, EOS included, that it takes; None for any."""
        return None

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of the weights under the paper's names."""
        return {"E_bar": self.embedding.weight.detach()}


class BidirectionalEncoder(Encoder):
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

    def forward(
        self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"], packing: Packing | None = None
    ) -> Encoded:
        """Return the annotations of `source`, whose real positions `mask` tells."""
        x = self.dropout(self.embedding(source))
        if self.fused:
            packing = pack(mask) if packing is None else packing
            forward = packed_scan(self.left_to_right, x, mask, packing)
            backward = packed_scan(self.right_to_left, x, mask, packing, reverse=True)
        else:
            forward = plain_scan(self.left_to_right, x, mask)
            backward = plain_scan(self.right_to_left, x, mask, reverse=True)
        return Encoded(torch.cat([forward, backward], dim=-1), mask, backward[:, 0])

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of the weights under the paper's names."""
        return {
            **super().paper_symbols(),
            **self.left_to_right.paper_symbols("_fwd"),
            **self.right_to_left.paper_symbols("_bwd"),
        }


def packed_scan(
    unit: GatedUnit, x: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"], packing: Packing,
    *, reverse: bool = False,
) -> Float[Tensor, "B S H"]:  # fmt: skip
    """Return the states of `plain_scan` by the fast path, 0 at padding unless `packing.whole`."""
    rows = packing.reversed_rows if reverse else packing.rows
    projected = unit.project(x.flatten(0, 1)[rows])
    if packing.whole:
        projected = unit.hold(projected, ~mask.flatten()[rows, None])
    start = projected.new_zeros(len(mask), unit.hidden_size)
    states = UnitScan.apply(projected, start, unit.U_gates, unit.U, packing.counts)  # type: ignore[no-untyped-call]
    padded = states.new_zeros(mask.numel(), unit.hidden_size)
    filled: Tensor = padded.index_copy(0, rows, states)
    return filled.reshape(*mask.shape, -1)


class ForwardEncoder(Encoder):
    """One unit read from left to right; what it knows at the end is all that is kept.

        h_j = f(h_{j-1}, Ē x_j),   c = h_S         (Cho et al. 2014; the paper's RNNencdec)

    The only annotation is c. The summary is the last state, which is c too, and [c ; cell] of an
    LSTM.
    """

    def __init__(self, embedding: nn.Embedding, unit: Unit, *, dropout: float) -> None:
        super().__init__()
        self.embedding = embedding
        self.unit = unit
        self.dropout = nn.Dropout(dropout)
        self.fused = isinstance(unit, GatedUnit)  # false: the plain scan, which defines the result

    def forward(
        self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"], packing: Packing | None = None
    ) -> Encoded:
        """Return c and the last state of `source`, whose real positions `mask` tells."""
        x = self.dropout(self.embedding(source))
        if self.fused and isinstance(self.unit, GatedUnit):
            packing = pack(mask) if packing is None else packing
            states = packed_scan(self.unit, x, mask, packing)
        else:
            states = plain_scan(self.unit, x, mask)
        end = (mask.sum(1) - 1)[:, None, None].expand(-1, 1, states.shape[2])
        last = states.gather(1, end)[:, 0]
        return Encoded(self.unit.visible(last)[:, None], torch.ones_like(mask[:, :1]), last)

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of the weights under the paper's names."""
        return super().paper_symbols() | self.unit.paper_symbols("_fwd")


class InputEncoder(Encoder):
    """No recurrence: every position for itself, or through layers of self-attention.

        Z = c X + P,   h_j = W_p Z'_j + b

    Z' is Z, or what N layers of the Transformer's encoder make of it (Vaswani et al. 2017, section
    3.1). The summary is the mean of h_j over real positions.

    Args:
        source: makes Z.
        layers: self-attention, or None.
        output: W_p.
        dropout: probability for Z.
    """

    def __init__(
        self, source: TransformerInput, layers: nn.TransformerEncoder | None, output: nn.Linear,
        *, dropout: float,
    ) -> None:  # fmt: skip
        super().__init__()
        self.input = source
        self.layers = layers
        self.W_p = output
        self.dropout = nn.Dropout(dropout)

    @property
    def embedding(self) -> nn.Embedding:  # type: ignore[override]
        """The table Ē."""
        return self.input.embedding

    @property
    def most_positions(self) -> int | None:
        """The number of learned codes; None for other positions, which have no end."""
        return None if self.input.P is None else len(self.input.P)

    def forward(
        self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"], packing: Packing | None = None
    ) -> Encoded:
        """Return the annotations of `source`, whose real positions `mask` tells.

        Raises:
            ValueError: there are more positions than learned codes; a whole packing cannot tell.
        """
        if self.most_positions is not None and (packing is None or not packing.whole):
            length = int(mask.sum(1).max()) if packing is None else len(packing.counts)
            if length > self.most_positions:
                raise ValueError(f"{length} positions, of which {self.most_positions} have codes")
        # Learned codes have to reach to the last real position; behind it there may be padding.
        reach = source.shape[1] if self.most_positions is None else self.most_positions
        z = self.dropout(self.input(source[:, :reach]))
        z = functional.pad(z, (0, 0, 0, source.shape[1] - z.shape[1]))
        if self.layers is not None:
            z = self.layers(z, src_key_padding_mask=~mask)
        annotations = linear(z, self.W_p.weight, self.W_p.bias)
        real = mask[..., None].to(annotations.dtype)
        summary = (annotations * real).sum(1) / real.sum(1)
        return Encoded(annotations, mask, summary)

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of the weights by name; the layers' own are left out."""
        named = {"W_p": self.W_p.weight, "b_W_p": self.W_p.bias, "P": self.input.P}
        found = {name: weight.detach() for name, weight in named.items() if weight is not None}
        return super().paper_symbols() | found


class ResetAfterEncoder(Encoder):
    """The same encoder made of `torch.nn.GRU`: the reset gate acts AFTER the recurrent product.

        h̃ = tanh(W x + r ⊙ (U h)),   h' = (1 - z') ⊙ h̃ + z' ⊙ h   with PyTorch's z' = 1 - z

    Not the paper's equations; for comparison, and for weights made elsewhere.
    """

    def __init__(self, embedding: nn.Embedding, gru: nn.GRU, *, dropout: float) -> None:
        super().__init__()
        self.embedding = embedding
        self.gru = gru
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"], packing: Packing | None = None
    ) -> Encoded:
        """Return the annotations of `source`, whose real positions `mask` tells."""
        packing = pack(mask) if packing is None else packing
        x = self.dropout(self.embedding(source))
        rows = nn.utils.rnn.PackedSequence(
            x.flatten(0, 1)[packing.rows], torch.tensor(packing.counts), packing.order,
            torch.argsort(packing.order),
        )  # fmt: skip
        states = self.gru(rows)[0].data
        padded = states.new_zeros(mask.numel(), states.shape[1])
        annotations = padded.index_copy(0, packing.rows, states).reshape(*mask.shape, -1)
        return Encoded(annotations, mask, annotations[:, 0, self.gru.hidden_size :])

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of the weights under the names of the paper's gates.

        The z blocks are PyTorch's, of 1 - z. The hidden-side biases have no name in the paper and
        are left out.
        """
        symbols = super().paper_symbols()
        for torch_suffix, suffix in (("l0", "_fwd"), ("l0_reverse", "_bwd")):
            named = {"W": "weight_ih_", "U": "weight_hh_", "b_W": "bias_ih_"}
            for name, prefix in named.items():
                weight = getattr(self.gru, prefix + torch_suffix, None)
                if weight is not None:
                    r, z, candidate = weight.chunk(3)
                    symbols |= {f"{name}{suffix}": candidate, f"{name}_z{suffix}": z}
                    symbols[f"{name}_r{suffix}"] = r
        return {name: weight.detach() for name, weight in symbols.items()}
