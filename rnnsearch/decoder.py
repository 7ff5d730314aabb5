"""The attention decoder: one step of it, and the same recurrence over a known target."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rnnsearch.attention import AdditiveScore, attend, padding_bias
from rnnsearch.encoder import Encoded
from rnnsearch.fused import DecoderScan, DecoderWeights, pack
from rnnsearch.products import linear
from rnnsearch.recurrent import GatedUnit


class Memory(NamedTuple):
    """What the decoder may look at, computed once a sentence.

    `keys` (B, S, A): the part of the score that depends on the annotations alone, such as U_a h_j.
    `padding` (B, 1, S): 0 at real positions, far below zero at padding.
    `summary` (B, D'): what s_0 is made from.
    """

    annotations: Float[Tensor, "B S D"]
    keys: Float[Tensor, "B S A"]
    padding: Float[Tensor, "B 1 S"]
    summary: Float[Tensor, "B D2"]


class DecoderState(NamedTuple):
    """The state between two steps, R rows; in search R is B sentences times K hypotheses.

    `s` (R, H); `context` (R, D), c of the step before (zeros at first); `first` (R, 1), whether no
    word has been read yet. Only the `original` wiring looks at the last two.
    """

    s: Float[Tensor, "R H"]
    context: Float[Tensor, "R D"]
    first: Bool[Tensor, "R 1"]


class Unrolled(NamedTuple):
    """The decoder run over a known target.

    `readouts` (N, L): t_i at the N real positions; `rows` (N): which of the B·T positions they
    are; `alpha` (B, T, S).
    """

    readouts: Float[Tensor, "N L"]
    rows: Int[Tensor, " N"]
    alpha: Float[Tensor, "B T S"]


class Wiring(NamedTuple):
    """The order of look, update and read out in a step; see `WIRINGS`."""

    update_first: bool
    read_new_state: bool


WIRINGS = {
    # Appendix A.2.2: look with s_{i-1}, read out from s_{i-1}, update.
    "appendix": Wiring(update_first=False, read_new_state=False),
    # Equation 4: look with s_{i-1}, update, read out from s_i.
    "equation4": Wiring(update_first=False, read_new_state=True),
    # The original program: look, read out, update with the word chosen. Since a step is given the
    # word before, it first finishes the update that the last step left open.
    "original": Wiring(update_first=True, read_new_state=False),
}


class Readout(nn.Module):
    """t̃ = U_o s + V_o E y + C_o c,   t_k = max(t̃_{2k-1}, t̃_{2k})   (appendix A.2.2, maxout)."""

    def __init__(
        self, state_size: int, embedding_size: int, context_size: int, *, size: int, bias: bool
    ) -> None:
        super().__init__()
        self.U_o = nn.Linear(state_size, 2 * size, bias=bias)
        self.V_o = nn.Linear(embedding_size, 2 * size, bias=False)
        self.C_o = nn.Linear(context_size, 2 * size, bias=False)

    def forward(
        self, s: Float[Tensor, "*N H"], y: Float[Tensor, "*N E"], c: Float[Tensor, "*N D"]
    ) -> Float[Tensor, "*N L"]:
        """Return t."""
        t = linear(s, self.U_o.weight, self.U_o.bias) + linear(y, self.V_o.weight)
        t = t + linear(c, self.C_o.weight)
        return t.reshape(*t.shape[:-1], -1, 2).amax(-1)


class AttentionDecoder(nn.Module):
    """The decoder of appendix A.2.2 in one of three wirings.

        s_0 = tanh(W_s ←h_1)
        e_ij = f(s_{i-1}, h_j),  α_ij = softmax_j(e_ij),  c_i = Σ_j α_ij h_j
        s_i = unit(s_{i-1}, E y_{i-1}, c_i)

    Args:
        embedding: the table E (V, E).
        start: W_s.
        score: the score function f.
        unit: the gated unit, with a context.
        readout: the maxout layer.
        wiring: one of `WIRINGS`.
        dropout: probability for target embeddings and readouts; never inside the recurrence.
    """

    def __init__(
        self, embedding: nn.Embedding, start: nn.Linear, *, score: AdditiveScore, unit: GatedUnit,
        readout: Readout, wiring: Wiring, dropout: float,
    ) -> None:  # fmt: skip
        super().__init__()
        self.embedding = embedding
        self.W_s = start
        self.score = score
        self.unit = unit
        self.readout = readout
        self.wiring = wiring
        self.dropout = nn.Dropout(dropout)
        # False: step after step, which defines the result; the fast path knows one score.
        self.fused = isinstance(score, AdditiveScore)

    def remember(self, encoded: Encoded, mask: Bool[Tensor, "B S"]) -> Memory:
        """Return what every later step needs of a source."""
        annotations, summary = encoded
        keys = self.score.project(annotations)
        return Memory(annotations, keys, padding_bias(mask, annotations), summary)

    def start(self, memory: Memory) -> DecoderState:
        """Return the state before the first word."""
        s = torch.tanh(self.W_s(memory.summary))
        context = s.new_zeros(s.shape[0], memory.annotations.shape[-1])
        return DecoderState(s, context, torch.ones_like(s[:, :1], dtype=torch.bool))

    def step(
        self, previous: Int[Tensor, " R"], state: DecoderState, memory: Memory
    ) -> tuple[Float[Tensor, "R L"], DecoderState, Float[Tensor, "R S"]]:
        """Return the readout t_i, the new state and α_i from the word before, y_{i-1}."""
        y = self._embed(previous, state.first)
        s, state, alpha = self._move(self._project(y, state.first), state, memory)
        return self.dropout(self.readout(s, y, state.context)), state, alpha

    def forward(
        self, target_in: Int[Tensor, "B T"], target_mask: Bool[Tensor, "B T"], memory: Memory
    ) -> Unrolled:
        """Return the readouts at the real positions of a known target, and every α_i.

        What depends on known words alone is computed for all positions before the loop, the
        readout after it.
        """
        first = torch.zeros_like(target_mask[..., None])
        first[:, 0] = True
        y = self._embed(target_in, first)
        unroll = self._packed_steps if self.fused else self._plain_steps
        s, contexts, rows, alpha = unroll(y, target_mask, memory)
        readouts = self.readout(s, y.flatten(0, 1)[rows], contexts)
        return Unrolled(self.dropout(readouts), rows, alpha)

    def _plain_steps(
        self, y: Float[Tensor, "B T E"], mask: Bool[Tensor, "B T"], memory: Memory
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return states to read from, contexts, their rows among the B·T positions, and α."""
        first = torch.zeros_like(mask.t()[..., None])
        first[0] = True
        x = self._project(y.transpose(0, 1), first)  # time first: a step's rows lie together
        state = self.start(memory)
        read_from, contexts, alphas = [], [], []
        for x_t in x.unbind(0):
            s, state, alpha = self._move(x_t, state, memory)
            read_from.append(s)
            contexts.append(state.context)
            alphas.append(alpha)
        rows = mask.flatten().nonzero().squeeze(1)
        s, c = (torch.stack(steps, dim=1).flatten(0, 1)[rows] for steps in (read_from, contexts))
        return s, c, rows, torch.stack(alphas, dim=1)

    def _packed_steps(
        self, y: Float[Tensor, "B T E"], mask: Bool[Tensor, "B T"], memory: Memory
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the same by the fast path; rows stand in the order of the packing."""
        packing = pack(mask)
        weights = DecoderWeights(
            self.score.W_a, self.score.v_a, self.unit.U_gates, self.unit.U, self.unit.context
        )
        s, c, alpha = DecoderScan.apply(  # type: ignore[no-untyped-call]
            self.unit.project(y.flatten(0, 1)[packing.rows]),
            self.start(memory).s[packing.order],
            memory.keys[packing.order],
            memory.annotations[packing.order],
            memory.padding[packing.order],
            self.wiring,
            packing.counts,
            *weights,
        )
        alphas = alpha.new_zeros(*mask.shape, alpha.shape[2])
        alphas[packing.order, : alpha.shape[1]] = alpha
        return s, c, packing.rows, alphas

    def _embed(
        self, previous: Int[Tensor, "*N"], first: Bool[Tensor, "*N 1"]
    ) -> Float[Tensor, "*N E"]:
        """Return E y_{i-1}; in the `original` wiring there is no word before the first."""
        y: Tensor = self.dropout(self.embedding(previous))
        return y.masked_fill(first, 0) if self.wiring.update_first else y

    def _project(
        self, y: Float[Tensor, "*N E"], first: Bool[Tensor, "*N 1"]
    ) -> Float[Tensor, "*N 3H"]:
        """Return the projections for the unit.

        In the `original` wiring the update that the first word would finish does not take place.
        """
        x = self.unit.project(y)
        return self.unit.hold(x, first) if self.wiring.update_first else x

    def _move(
        self, x: Float[Tensor, "R 3H"], state: DecoderState, memory: Memory
    ) -> tuple[Float[Tensor, "R H"], DecoderState, Float[Tensor, "R S"]]:
        """Return the state to read out from, the next state and α: the recurrence itself."""
        s = state.s
        if self.wiring.update_first:
            s = self.unit.step(s, x, state.context)
        context, alpha = self._look(s, memory)
        new = s if self.wiring.update_first else self.unit.step(s, x, context)
        read_from = new if self.wiring.read_new_state else s
        return read_from, DecoderState(new, context, torch.zeros_like(state.first)), alpha

    def _look(
        self, s: Float[Tensor, "R H"], memory: Memory
    ) -> tuple[Float[Tensor, "R D"], Float[Tensor, "R S"]]:
        """Return c_i and α_i; the R rows are K queries for each of the B sentences in turn."""
        query = s.reshape(memory.keys.shape[0], -1, s.shape[1])
        context, alpha = attend(self.score(query, memory.keys), memory.padding, memory.annotations)
        return context.flatten(0, 1), alpha.flatten(0, 1)

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of the weights under the paper's names."""
        symbols = {"E": self.embedding.weight, "W_s": self.W_s.weight, "b_W_s": self.W_s.bias}
        layers = {"U_o": self.readout.U_o, "V_o": self.readout.V_o, "C_o": self.readout.C_o}
        symbols |= {name: layer.weight for name, layer in layers.items()}
        symbols["b_U_o"] = self.readout.U_o.bias
        found = {name: weight.detach() for name, weight in symbols.items() if weight is not None}
        return found | self.unit.paper_symbols() | self.score.paper_symbols()
