"""One step of a search over many hypotheses, by the plain path or by the fast one.

The fast path knows the decoders that `fused` knows. What depends on the source alone is computed
once a sentence, the projections of the annotations included, the only one of a fixed context too:

    C c_i = Σ_j α_ij (C h_j)    and    C_o c_i = Σ_j α_ij (C_o h_j)

and what multiplies one vector is one product: U_z, U_r, W_a and U_o meet the state together, W and
V_o the word before, whose product is kept for when it comes again. `model.step` is the definition
that tests hold it against.

Shapes: B sentences, K places of a beam, R rows: the places that are in use, in their order. A row
stands in place `slots[row]` of the B·K.
"""

from functools import cache
from typing import NamedTuple, Protocol

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from rnnsearch.attention import AdditiveScore, attend
from rnnsearch.decoder import DecoderState, Memory
from rnnsearch.model import TranslationModel
from rnnsearch.products import add_product, linear, operand, operands, product
from rnnsearch.recurrent import CLOSED, GatedUnit

HIDDEN = 1 << 18
"""Numbers of the attention's hidden layer held at once; so many stay in the cache."""


TABLE = 1 << 26
"""Numbers of the table of words at most."""


class Projected(NamedTuple):
    """What the fast path looks at, computed once a sentence.

    `keys` (B, M, A): 2 U_a h_j. `values` (B, M, P): C h_j and C_o h_j, or h_j. `padding` (B, 1, M)
    as in `Memory`. `start` (B, H): s_0.
    """

    keys: Float[Tensor, "B M A"]
    values: Float[Tensor, "B M P"]
    padding: Float[Tensor, "B 1 M"]
    start: Float[Tensor, "B H"]


Remembered = Memory | Projected


class Stepper(Protocol):
    """What a search asks of a model."""

    def remember(self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"]) -> Remembered:
        """Return what the steps need of the source ids (EOS included)."""

    def start(self, memory: Remembered) -> DecoderState:
        """Return the state before the first word, a row a sentence."""

    def step(
        self, previous: Int[Tensor, " R"], state: DecoderState, memory: Remembered,
        slots: Int[Tensor, " R"], *, width: int,
    ) -> tuple[Float[Tensor, "R L"], DecoderState]:  # fmt: skip
        """Return the readout t_i and the new state.

        Args:
            previous: the last word of each row, BOS at first.
            state: from `start` or the step before, R rows.
            memory: from `remember`, of B sentences.
            slots: the place of each row among the B·K.
            width: K.
        """

    def logits(self, t: Float[Tensor, "N L"]) -> Float[Tensor, "N V"]:
        """Return W_o t of some of the rows."""


@cache
def fewest_rows() -> int:
    """Return from how many rows on a product gives each the same numbers whatever is beside it.

    Products of few rows take other code in the libraries and round differently. With at least so
    many a translation does not depend on how many sentences are searched beside it. Found by trial,
    since processors differ.
    """
    generator = torch.Generator().manual_seed(0)
    fewest = 4
    for size, width in ((100, 300), (256, 1024), (512, 2000)):
        x, w = (torch.randn(n, size, generator=generator) for n in (64, width))
        whole = torch.mm(x, w.t())
        products = {n: torch.mm(x[:n], w.t()) for n in range(fewest, 16)}
        differing = [n for n, rows in products.items() if not torch.equal(rows, whole[:n])]
        fewest = max([fewest, *(n + 1 for n in differing)])
    return fewest


def stepper_for(
    model: TranslationModel, precision: torch.dtype | None = None, *, width: int
) -> Stepper:
    """Return the fast path where it knows the model, else the plain one.

    Args:
        model: in evaluation mode.
        precision: type that the factors of products are rounded to; None for none.
        width: K. With one row a sentence, about as many contexts are projected as there are
            annotations, so that projecting those gains nothing.
    """
    if model.decoder.fused:
        return FastStepper(model, precision, hoisted=width > 1 or not model.attends)
    return PlainStepper(model, precision)


class PlainStepper:
    """`model.step` over all places of the beams, used or not."""

    def __init__(self, model: TranslationModel, precision: torch.dtype | None = None) -> None:
        self.model = model
        self.precision = precision

    def remember(self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"]) -> Memory:
        """See `Stepper`."""
        with operands(self.precision):
            return self.model.encode(source, mask)

    def start(self, memory: Remembered) -> DecoderState:
        """See `Stepper`."""
        assert isinstance(memory, Memory)
        return self.model.start(memory)

    def step(
        self, previous: Int[Tensor, " R"], state: DecoderState, memory: Remembered,
        slots: Int[Tensor, " R"], *, width: int,
    ) -> tuple[Float[Tensor, "R L"], DecoderState]:  # fmt: skip
        """See `Stepper`."""
        assert isinstance(memory, Memory)
        places = len(memory.keys) * width
        whole = [_spread(part, slots, places) for part in (previous, *state)]
        with operands(self.precision):
            t, new, _ = self.model.decoder.step(whole[0], DecoderState(*whole[1:]), memory)
        return t[slots], DecoderState(*(part[slots] for part in new))

    def logits(self, t: Float[Tensor, "N L"]) -> Float[Tensor, "N V"]:
        """See `Stepper`."""
        with operands(self.precision):
            return linear(t, self.model.W_o.weight, self.model.W_o.bias)


class FastStepper:
    """The same with the products hoisted and joined.

    The weights are laid out anew here, so a stepper is for one search: it does not see weights
    that are changed later.

    Args:
        model: in evaluation mode.
        precision: type that the factors of products are rounded to; None for none.
        hoisted: whether the annotations are projected, once a sentence, or each context.
    """

    def __init__(
        self, model: TranslationModel, precision: torch.dtype | None = None,
        *, hoisted: bool = True,
    ) -> None:  # fmt: skip
        self.model = model
        self.precision = precision
        self.hoisted = hoisted
        decoder = model.decoder
        unit, readout, score = decoder.unit, decoder.readout, decoder.score
        assert isinstance(unit, GatedUnit)
        self.hidden = unit.hidden_size
        self.update_first, self.read_new = decoder.wiring
        # What meets s_{i-1}, and what meets s_i.
        before: list[Tensor] = [unit.U_gates]
        after: list[Tensor] = []
        self.query = 0
        self.v: Tensor | None = None  # None: there is one context, and nothing to look for
        if isinstance(score, AdditiveScore):
            self.query, self.v = len(score.W_a), 2 * score.v_a
            (after if self.update_first else before).append(2 * score.W_a)
        (after if self.update_first or self.read_new else before).append(readout.U_o.weight)
        with operands(precision):
            self.before = operand(torch.cat(before)).t()
            self.after = operand(torch.cat(after)).t() if after else None
            self.candidate = operand(unit.U).t()
            self.words = operand(torch.cat([unit.W, readout.V_o.weight])).t()
            self.values = operand(torch.cat([unit.context, readout.C_o.weight])).t()
            # Laid out this way a product of few rows is faster; of many, as fast.
            self.output = operand(model.W_o.weight).t().contiguous()
        # W y and V_o y by word. On a GPU it would have to be asked which words are new.
        size = (decoder.embedding.num_embeddings, self.words.shape[1])
        small = not self.words.is_cuda and size[0] * size[1] <= TABLE
        self.table = unit.W.new_empty(size) if small else None
        self.seen = torch.zeros(size[0], dtype=torch.bool)
        biases = (unit.b, readout.U_o.bias)
        widths = (3 * self.hidden, len(readout.U_o.weight))
        self.bias = torch.cat(
            [
                unit.U.new_zeros(width) if bias is None else bias
                for bias, width in zip(biases, widths, strict=True)
            ]
        )

    def remember(self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"]) -> Projected:
        """See `Stepper`."""
        with operands(self.precision):
            memory = self.model.encode(source, mask)
            values = memory.annotations
            if self.v is None:
                values = product(values[:, 0], self.values)[:, None]
            elif self.hoisted:
                rows = mask.flatten().nonzero().squeeze(1)
                projected = product(values.flatten(0, 1)[rows], self.values)
                values = projected.new_zeros(mask.numel(), projected.shape[1])
                values = values.index_copy_(0, rows, projected).reshape(*mask.shape, -1)
        return Projected(memory.keys, values, memory.padding, self.model.start(memory).s)

    def start(self, memory: Remembered) -> DecoderState:
        """See `Stepper`; the context of a state is (C c, C_o c)."""
        assert isinstance(memory, Projected)
        s = memory.start
        context = s.new_zeros(len(s), self.values.shape[1])
        return DecoderState(s, context, torch.ones_like(s[:, :1], dtype=torch.bool))

    def step(
        self, previous: Int[Tensor, " R"], state: DecoderState, memory: Remembered,
        slots: Int[Tensor, " R"], *, width: int,
    ) -> tuple[Float[Tensor, "R L"], DecoderState]:  # fmt: skip
        """See `Stepper`."""
        assert isinstance(memory, Projected)
        with operands(self.precision):
            return self._step(previous, state, memory, slots, width=width)

    def _step(
        self, previous: Tensor, state: DecoderState, memory: Projected, slots: Tensor,
        *, width: int,
    ) -> tuple[Tensor, DecoderState]:  # fmt: skip
        n, s, context = self.hidden, state.s, state.context
        x = self._read(previous)
        known = product(s, self.before)
        gates, rest = known[:, : 2 * n], known[:, 2 * n :]
        if self.update_first:  # at first there is no word, and no update that it would finish
            x = torch.where(state.first, self.bias, x)
            x[:, :n].masked_fill_(state.first, CLOSED)
            s = self._update(s, x, gates, context)
            assert self.after is not None
            rest = product(s, self.after)
        context = self._look(rest[:, : self.query], memory, slots, width=width)
        new = s if self.update_first else self._update(s, x, gates, context)
        if self.read_new:
            assert self.after is not None
            read = product(new, self.after)
        else:
            read = rest[:, self.query :]
        t = read + x[:, 3 * n :] + context[:, 3 * n :]
        t = t.reshape(len(t), -1, 2).amax(-1)
        return t, DecoderState(new, context, torch.zeros_like(state.first))

    def _read(self, previous: Int[Tensor, " R"]) -> Float[Tensor, "R P"]:
        """Return W y + b and V_o y + b of the last words, each worked out when it first comes."""
        if self.table is None:
            return add_product(self.bias, self.model.decoder.embedding(previous), self.words)
        new = torch.unique(previous[~self.seen[previous]])
        if len(new):
            self.seen[new] = True
            rows = new[torch.arange(max(len(new), fewest_rows())) % len(new)]
            found = add_product(self.bias, self.model.decoder.embedding(rows), self.words)
            self.table[new] = found[: len(new)]
        return self.table.index_select(0, previous)

    def logits(self, t: Float[Tensor, "N L"]) -> Float[Tensor, "N V"]:
        """See `Stepper`."""
        bias = self.model.W_o.bias
        with operands(self.precision):
            return product(t, self.output) if bias is None else add_product(bias, t, self.output)

    def _update(self, s: Tensor, x: Tensor, gates: Tensor, context: Tensor) -> Tensor:
        """Return s_i from s_{i-1}, W y, U_z s and U_r s in a row, and C c."""
        n = self.hidden
        z, r = (x[:, : 2 * n] + context[:, : 2 * n]).add_(gates).sigmoid_().chunk(2, 1)
        sums = x[:, 2 * n : 3 * n] + context[:, 2 * n : 3 * n]
        return torch.lerp(s, add_product(sums, r * s, self.candidate).tanh_(), z)

    def _look(self, query: Tensor, memory: Projected, slots: Tensor, *, width: int) -> Tensor:
        """Return (C c_i, C_o c_i) of the rows."""
        if self.v is None:
            return memory.values[:, 0].index_select(0, slots // width)
        b, length, size = memory.keys.shape
        queries = _spread(query, slots, b * width).reshape(b, width, size)
        contexts = query.new_empty(b, width, memory.values.shape[2])
        together = max(1, HIDDEN // (width * length * size))
        for first in range(0, b, together):
            rows = slice(first, first + together)
            hidden = (queries[rows, :, None] + memory.keys[rows, None]).sigmoid_()
            contexts[rows], _ = attend(hidden @ self.v, memory.padding[rows], memory.values[rows])
        found = contexts.flatten(0, 1).index_select(0, slots)
        return found if self.hoisted else product(found, self.values)


def _spread(part: Tensor, slots: Tensor, places: int) -> Tensor:
    """Return the rows in their places; the others hold zeros."""
    if len(part) == places:
        return part
    return part.new_zeros(places, *part.shape[1:]).index_copy_(0, slots, part)
