"""The decoder: one step of it, and the same recurrence over a known target."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rnnsearch.attention import AdditiveScore, FixedContext, Score, attend, padding_bias
from rnnsearch.encoder import Encoded
from rnnsearch.fused import DecoderScan, DecoderWeights, UnitScan
from rnnsearch.packing import Packing
from rnnsearch.products import linear
from rnnsearch.recurrent import GatedUnit, Unit


class Memory(NamedTuple):
    """What the decoder may look at, computed once a sentence.

    `annotations` (B, M, D): h_j, one for each source position, or c alone where the context is
    fixed. `keys` (B, M, A): the part of the score that depends on them alone, such as U_a h_j.
    `padding` (B, 1, M): 0 at real ones, far below zero at padding. `summary` (B, D'): what s_0 is
    made from.
    """

    annotations: Float[Tensor, "B M D"]
    keys: Float[Tensor, "B M A"]
    padding: Float[Tensor, "B 1 M"]
    summary: Float[Tensor, "B D2"]


class DecoderState(NamedTuple):
    """The state between two steps, R rows; in search R is B sentences times K hypotheses.

    `s` (R, Z), of an LSTM [s ; cell]; `context` (R, D), c of the step before (zeros at first);
    `first` (R, 1), whether no word has been read yet. Only the `original` wiring looks at the last
    two.
    """

    s: Float[Tensor, "R Z"]
    context: Float[Tensor, "R D"]
    first: Bool[Tensor, "R 1"]


class Unrolled(NamedTuple):
    """The decoder run over a known target.

    `readouts` (N, L): t_i at the N positions of the packing; `alpha` (B, T, M).
    """

    readouts: Float[Tensor, "N L"]
    alpha: Float[Tensor, "B T M"]


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

    def look(self, c: Float[Tensor, "*N D"]) -> Float[Tensor, "*N 2L"]:
        """Return C_o c."""
        return linear(c, self.C_o.weight)

    def forward(
        self, s: Float[Tensor, "*N H"], y: Float[Tensor, "*N E"], looked: Float[Tensor, "*N 2L"]
    ) -> Float[Tensor, "*N L"]:
        """Return t from the state, the embedding of the word before and C_o c."""
        t = linear(s, self.U_o.weight, self.U_o.bias) + linear(y, self.V_o.weight)
        t = t + looked
        return t.reshape(*t.shape[:-1], -1, 2).amax(-1)


class Decoder(nn.Module):
    """The decoder of appendix A.2.2 in one of three wirings.

        s_0 = tanh(W_s summary)                            the summary itself for an LSTM
        e_ij = f(s_{i-1}, h_j),  α_ij = softmax_j(e_ij),  c_i = Σ_j α_ij h_j
        s_i = unit(s_{i-1}, E y_{i-1}, c_i)

    Args:
        embedding: the table E (V, E).
        start: W_s, or None.
        score: the score function f; `FixedContext` for the model without attention.
        unit: the recurrent unit, with a context.
        readout: the maxout layer.
        wiring: one of `WIRINGS`.
        dropout: probability for target embeddings and readouts; never inside the recurrence.
        annotation_dropout: probability for annotations, once a sentence.
    """

    def __init__(
        self, embedding: nn.Embedding, start: nn.Linear | None, *, score: Score, unit: Unit,
        readout: Readout, wiring: Wiring, dropout: float, annotation_dropout: float,
    ) -> None:  # fmt: skip
        super().__init__()
        self.embedding = embedding
        self.W_s = start
        self.score = score
        self.unit = unit
        self.readout = readout
        self.wiring = wiring
        self.dropout = nn.Dropout(dropout)
        self.annotation_dropout = nn.Dropout(annotation_dropout)
        # False: step after step, which defines the result.
        self.fused = isinstance(unit, GatedUnit) and type(score) in (AdditiveScore, FixedContext)

    @property
    def attends(self) -> bool:
        """Whether the decoder chooses what it looks at."""
        return not isinstance(self.score, FixedContext)

    def remember(self, encoded: Encoded) -> Memory:
        """Return what every later step needs of a source."""
        whole, mask, summary = encoded
        annotations = self.annotation_dropout(whole)
        keys = self.score.project(annotations)
        return Memory(annotations, keys, padding_bias(mask, annotations), summary)

    def start(self, memory: Memory) -> DecoderState:
        """Return the state before the first word."""
        s = memory.summary
        if self.W_s is not None:
            s = torch.tanh(self.W_s(s))
        context = s.new_zeros(s.shape[0], memory.annotations.shape[-1])
        return DecoderState(s, context, torch.ones_like(s[:, :1], dtype=torch.bool))

    def step(
        self, previous: Int[Tensor, " R"], state: DecoderState, memory: Memory
    ) -> tuple[Float[Tensor, "R L"], DecoderState, Float[Tensor, "R M"]]:
        """Return the readout t_i, the new state and α_i from the word before, y_{i-1}."""
        y = self._embed(previous, state.first)
        s, state, alpha = self._move(self.unit.project(y), state, memory)
        looked = self.readout.look(state.context)
        return self.dropout(self.readout(s, y, looked)), state, alpha

    def forward(self, target_in: Int[Tensor, "B T"], packing: Packing, memory: Memory) -> Unrolled:
        """Return the readouts at the positions of the packing of a known target, and every α_i.

        What depends on known words alone is computed for all positions before the loop, the
        readout after it.
        """
        first = torch.zeros_like(target_in[..., None], dtype=torch.bool)
        first[:, 0] = True
        y = self._embed(target_in, first)
        s, looked, alpha = self._unroll(y, packing, memory)
        return Unrolled(self.dropout(self.readout(s, y.flatten(0, 1)[packing.rows], looked)), alpha)

    def _unroll(
        self, y: Float[Tensor, "B T E"], packing: Packing, memory: Memory
    ) -> tuple[Float[Tensor, "N H"], Float[Tensor, "N 2L"], Float[Tensor, "B T M"]]:
        """Return the states to read out from, C_o c and α."""
        if self.fused and isinstance(self.score, FixedContext):
            return self._fixed_steps(y, packing, memory)
        unroll = self._packed_steps if self.fused else self._plain_steps
        s, contexts, alpha = unroll(y, packing, memory)
        return s, self.readout.look(contexts), alpha

    def _plain_steps(
        self, y: Float[Tensor, "B T E"], packing: Packing, memory: Memory
    ) -> tuple[Float[Tensor, "N H"], Float[Tensor, "N D"], Float[Tensor, "B T M"]]:
        """Return states to read out from, contexts and α, step after step."""
        x = self.unit.project(y.transpose(0, 1))  # time first: a step's rows lie together
        state = self.start(memory)
        read_from, contexts, alphas = [], [], []
        for x_t in x.unbind(0):
            s, state, alpha = self._move(x_t, state, memory)
            read_from.append(s)
            contexts.append(state.context)
            alphas.append(alpha)
        s, c = (
            torch.stack(steps, dim=1).flatten(0, 1)[packing.rows]
            for steps in (read_from, contexts)
        )  # fmt: skip
        return s, c, torch.stack(alphas, dim=1)

    def _packed_steps(
        self, y: Float[Tensor, "B T E"], packing: Packing, memory: Memory
    ) -> tuple[Float[Tensor, "N H"], Float[Tensor, "N D"], Float[Tensor, "B T M"]]:
        """Return the same by the fast path."""
        unit, score = self.unit, self.score
        assert isinstance(unit, GatedUnit)
        assert isinstance(score, AdditiveScore)
        weights = DecoderWeights(score.W_a, score.v_a, unit.U_gates, unit.U, unit.context)
        s, c, alpha = DecoderScan.apply(  # type: ignore[no-untyped-call]
            unit.project(y.flatten(0, 1)[packing.rows]),
            self.start(memory).s[packing.order],
            memory.keys[packing.order],
            memory.annotations[packing.order],
            memory.padding[packing.order],
            self.wiring,
            packing.counts,
            *weights,
        )
        alphas = alpha.new_zeros(*y.shape[:2], alpha.shape[2])
        alphas[packing.order, : alpha.shape[1]] = alpha
        return s, c, alphas

    def _fixed_steps(
        self, y: Float[Tensor, "B T E"], packing: Packing, memory: Memory
    ) -> tuple[Float[Tensor, "N H"], Float[Tensor, "N 2L"], Float[Tensor, "B T 1"]]:
        """Return the states, C_o c and α by the fast path, where c is the same at every step.

        C c and C_o c are then known before the loop, once a sentence.
        """
        unit, c = self.unit, memory.annotations[:, 0]
        assert isinstance(unit, GatedUnit)
        sentences = packing.rows // y.shape[1]
        x = unit.project(y.flatten(0, 1)[packing.rows])
        x = x + linear(c, unit.context).index_select(0, sentences)
        update_first, read_new = self.wiring
        count = packing.counts[0]
        if update_first:
            x = torch.cat([unit.hold(x[:count], torch.ones_like(x[:count, :1]).bool()), x[count:]])
        s_0 = self.start(memory).s[packing.order]
        states = UnitScan.apply(x, s_0, unit.U_gates, unit.U, packing.counts)  # type: ignore[no-untyped-call]
        if not (update_first or read_new):
            states = earlier(states, s_0, packing.counts)
        looked = self.readout.look(c).index_select(0, sentences)
        return states, looked, torch.ones_like(y[..., :1])

    def _embed(
        self, previous: Int[Tensor, "*N"], first: Bool[Tensor, "*N 1"]
    ) -> Float[Tensor, "*N E"]:
        """Return E y_{i-1}; in the `original` wiring there is no word before the first."""
        y: Tensor = self.dropout(self.embedding(previous))
        return y.masked_fill(first, 0) if self.wiring.update_first else y

    def _move(
        self, x: Float[Tensor, "R P"], state: DecoderState, memory: Memory
    ) -> tuple[Float[Tensor, "R H"], DecoderState, Float[Tensor, "R M"]]:
        """Return the state to read out from, the next state and α: the recurrence itself."""
        s = state.s
        if self.wiring.update_first:
            # The update that the first word would finish does not take place.
            s = torch.where(state.first, s, self.unit.step(s, x, state.context))
        context, alpha = self._look(self.unit.visible(s), memory)
        new = s if self.wiring.update_first else self.unit.step(s, x, context)
        read_from = self.unit.visible(new if self.wiring.read_new_state else s)
        return read_from, DecoderState(new, context, torch.zeros_like(state.first)), alpha

    def _look(
        self, s: Float[Tensor, "R H"], memory: Memory
    ) -> tuple[Float[Tensor, "R D"], Float[Tensor, "R M"]]:
        """Return c_i and α_i; the R rows are K queries for each of the B sentences in turn."""
        query = s.reshape(memory.keys.shape[0], -1, s.shape[1])
        context, alpha = attend(self.score(query, memory.keys), memory.padding, memory.annotations)
        return context.flatten(0, 1), alpha.flatten(0, 1)

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of the weights under the paper's names."""
        symbols = {"E": self.embedding.weight}
        if self.W_s is not None:
            symbols |= {"W_s": self.W_s.weight, "b_W_s": self.W_s.bias}
        layers = {"U_o": self.readout.U_o, "V_o": self.readout.V_o, "C_o": self.readout.C_o}
        symbols |= {name: layer.weight for name, layer in layers.items()}
        symbols["b_U_o"] = self.readout.U_o.bias
        found = {name: weight.detach() for name, weight in symbols.items() if weight is not None}
        return found | self.unit.paper_symbols() | self.score.paper_symbols()


def earlier(
    states: Float[Tensor, "N H"], start: Float[Tensor, "B H"], counts: list[int]
) -> Float[Tensor, "N H"]:
    """Return for each packed row the state before its own: s_{i-1} for s_i."""
    before = [start, *torch.split(states, counts)[:-1]]
    return torch.cat([s[:count] for s, count in zip(before, counts, strict=True)])
