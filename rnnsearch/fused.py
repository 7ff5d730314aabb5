"""The fast path: the recurrences over packed rows, with their gradients written out.

Rows stand as `packing` says, so that padding costs nothing in a product. The forward pass keeps
what the gates gave; the backward pass walks the same steps in reverse and then forms every weight
gradient as one product over all rows, where autograd would read and write the whole matrix once a
step. The attention's hidden layer is computed again in the backward pass instead of being kept.

The equations are those of `recurrent` and `decoder`, whose plain step is the definition that tests
hold this file against. These functions can be differentiated once.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from rnnsearch.packing import spans
from rnnsearch.products import (
    add_product,
    operand,
    operand_type,
    operands,
    product,
    weight_gradient,
)


class _Unit:
    """One gated unit's weights with its step and that step's gradient, row by row."""

    def __init__(self, u_gates: Tensor, u: Tensor, c: Tensor | None = None) -> None:
        self.u_gates, self.u = operand(u_gates), operand(u)
        self.c = None if c is None else operand(c)
        self.n = u.shape[0]

    def step(self, x: Tensor, h: Tensor, context: Tensor | None, kept: Tensor) -> Tensor:
        """Return h'; write z, r and the candidate into the (K, 3H) rows of `kept`."""
        n = self.n
        if self.c is not None:
            assert context is not None
            x = add_product(x, context, self.c.t())
        gates, candidate = kept[:, : 2 * n], kept[:, 2 * n :]
        add_product(x[:, : 2 * n], h, self.u_gates.t(), out=gates).sigmoid_()
        add_product(x[:, 2 * n :], gates[:, n:] * h, self.u.t(), out=candidate).tanh_()
        return torch.lerp(h, candidate, gates[:, :n])

    def backward(self, d_new: Tensor, h: Tensor, kept: Tensor, d_x: Tensor) -> Tensor:
        """Return the gradient of h; write that of the three sums into the (K, 3H) rows `d_x`."""
        n = self.n
        z, r, candidate = kept[:, :n], kept[:, n : 2 * n], kept[:, 2 * n :]
        d_candidate = torch.ops.aten.tanh_backward(d_new * z, candidate)
        d_reset = product(d_candidate, self.u)
        d_x[:, :n] = torch.ops.aten.sigmoid_backward(d_new * (candidate - h), z)
        d_x[:, n : 2 * n] = torch.ops.aten.sigmoid_backward(d_reset * h, r)
        d_x[:, 2 * n :] = d_candidate
        return add_product(d_new * (1 - z) + d_reset * r, d_x[:, : 2 * n], self.u_gates)

    def weight_gradients(self, d_x: Tensor, h: Tensor, kept: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients of U_gates and U from all N packed rows."""
        n = self.n
        gates, candidate = d_x[:, : 2 * n], d_x[:, 2 * n :]
        return weight_gradient(gates, h), weight_gradient(candidate, kept[:, n : 2 * n] * h)


class UnitScan(torch.autograd.Function):
    """The states of a gated unit without a context of its own, over packed, projected inputs.

    The encoder, from h_0 = 0, and the decoder whose context is the same at every step and so part
    of the input. Sentences stand in the order of the packing.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Float[Tensor, "N 3H"],
        h_0: Float[Tensor, "B H"],
        u_gates: Float[Tensor, "2H H"],
        u: Float[Tensor, "H H"],
        counts: list[int],
    ) -> Float[Tensor, "N H"]:
        """Return h' of every packed row."""
        unit, n = _Unit(u_gates, u), u.shape[0]
        kept = torch.empty_like(x)
        states, before = x.new_empty(x.shape[0], n), x.new_empty(x.shape[0], n)
        h = h_0
        for rows, count in zip(spans(counts), counts, strict=True):
            before[rows] = h[:count]
            h = unit.step(x[rows], h[:count], None, kept[rows])
            states[rows] = h
        ctx.save_for_backward(u_gates, u, kept, before)
        ctx.counts, ctx.operands = counts, operand_type()
        return states

    @staticmethod
    def backward(ctx: Any, d_states: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of x, h_0, U_gates and U."""
        with operands(ctx.operands):
            return UnitScan._gradients(ctx, d_states)

    @staticmethod
    def _gradients(ctx: Any, d_states: Tensor) -> tuple[Tensor | None, ...]:
        u_gates, u, kept, before = ctx.saved_tensors
        counts, unit = ctx.counts, _Unit(u_gates, u)
        d_x = torch.empty_like(kept)
        d_h = before.new_zeros(counts[0], before.shape[1])
        for rows, count in zip(reversed(spans(counts)), reversed(counts), strict=True):
            d_new = d_states[rows] + d_h[:count]
            d_h[:count] = unit.backward(d_new, before[rows], kept[rows], d_x[rows])
        return d_x, d_h, *unit.weight_gradients(d_x, before, kept), None


def _updated(rows: slice, counts: list[int], t: int, read_new: bool) -> slice:
    """Return the rows whose update after step t is looked at by anything."""
    following = counts[t + 1] if t + 1 < len(counts) else 0
    return rows if read_new else slice(rows.start, rows.start + following)


class DecoderWeights(NamedTuple):
    """What the decoder's recurrence multiplies with: W_a, v_a of the score; U, U_gates, C."""

    W_a: Float[Tensor, "A H"]
    v_a: Float[Tensor, " A"]
    U_gates: Float[Tensor, "2H H"]
    U: Float[Tensor, "H H"]
    C: Float[Tensor, "3H D"]


class DecoderScan(torch.autograd.Function):
    """The decoder's recurrence over packed, projected previous words, in any wiring.

    Gives for each packed row the state to read out from and the context, and all weights α
    (B, T, S) without gradient. Sentences stand in the order of the packing.
    """

    @staticmethod
    def forward(
        ctx: Any,
        x: Float[Tensor, "N 3H"],
        s_0: Float[Tensor, "B H"],
        keys: Float[Tensor, "B S A"],
        annotations: Float[Tensor, "B S D"],
        padding: Float[Tensor, "B 1 S"],
        wiring: tuple[bool, bool],
        counts: list[int],
        *weights: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Run the steps; `wiring` is `decoder.Wiring`, `weights` are `DecoderWeights`."""
        w = DecoderWeights(*weights)
        unit, w_a = _Unit(w.U_gates, w.U, w.C), operand(w.W_a)
        update_first, read_new = wiring
        rows_n, n, d = x.shape[0], s_0.shape[1], annotations.shape[2]
        kept, queries = torch.zeros_like(x), x.new_empty(rows_n, w.W_a.shape[0])
        before, looked = x.new_zeros(rows_n, n), x.new_empty(rows_n, n)
        read, contexts = x.new_empty(rows_n, n), x.new_empty(rows_n, d)
        entered = x.new_zeros(rows_n, d)  # the context that entered the unit at this step
        alphas = x.new_zeros(s_0.shape[0], len(counts), keys.shape[1])
        s, c = s_0, x.new_zeros(s_0.shape[0], d)
        for t, (rows, k) in enumerate(zip(spans(counts), counts, strict=True)):
            s, c = s[:k], c[:k]
            if update_first and t > 0:
                before[rows], entered[rows] = s, c
                s = unit.step(x[rows], s, c, kept[rows])
            looked[rows] = s
            query = product(2 * s, w_a.t(), out=queries[rows])
            hidden = (keys[:k] + query[:, None]).sigmoid_()
            scores = (hidden @ (2 * w.v_a)).add_(padding[:k, 0])
            alpha = torch.softmax(scores, -1)
            alphas[:k, t] = alpha
            c = torch.bmm(alpha[:, None], annotations[:k])[:, 0]
            contexts[rows] = c
            read[rows] = s
            if not update_first:
                last = _updated(rows, counts, t, read_new)
                m = last.stop - last.start
                before[last], entered[last] = s[:m], c[:m]
                s = unit.step(x[last], s[:m], c[:m], kept[last])
            if read_new:
                read[rows] = s
        ctx.save_for_backward(
            keys, annotations, kept, queries, before, looked, entered, alphas, *weights
        )
        ctx.wiring, ctx.counts, ctx.operands = wiring, counts, operand_type()
        ctx.mark_non_differentiable(alphas)
        return read, contexts, alphas

    @staticmethod
    def backward(
        ctx: Any, d_read: Tensor, d_contexts: Tensor, _: Tensor
    ) -> tuple[Tensor | None, ...]:
        """Return the gradients of x, s_0, keys, annotations and the weights."""
        with operands(ctx.operands):
            return DecoderScan._gradients(ctx, d_read, d_contexts)

    @staticmethod
    def _gradients(ctx: Any, d_read: Tensor, d_contexts: Tensor) -> tuple[Tensor | None, ...]:
        keys, annotations, kept, queries, before, looked, entered, alphas, *weights = (
            ctx.saved_tensors
        )
        w, counts = DecoderWeights(*weights), ctx.counts
        unit, c, w_a = _Unit(w.U_gates, w.U, w.C), operand(w.C), operand(w.W_a)
        update_first, read_new = ctx.wiring
        d_x, d_queries = torch.zeros_like(kept), torch.empty_like(queries)
        d_keys, d_v = torch.zeros_like(keys), torch.zeros_like(w.v_a)
        d_c_all = annotations.new_zeros(*alphas.shape[:2], annotations.shape[2])
        d_s = before.new_zeros(counts[0], before.shape[1])
        d_c_next = before.new_zeros(counts[0], annotations.shape[2])
        for t, (rows, k) in reversed(list(enumerate(zip(spans(counts), counts, strict=True)))):
            d_c = d_contexts[rows] + d_c_next[:k]
            d_old = d_s[:k] + d_read[rows]
            if not update_first:
                last = _updated(rows, counts, t, read_new)
                m = last.stop - last.start
                d_new = d_old if read_new else d_s[:m]
                d_before = unit.backward(d_new, before[last], kept[last], d_x[last])
                d_c[:m] += product(d_x[last], c)
                d_old = d_before if read_new else d_read[rows].clone()
                if not read_new:
                    d_old[:m] += d_before
            # c = Σ α h: the part of h follows after the loop, in one product.
            d_c_all[:k, t] = d_c
            alpha = alphas[:k, t]
            d_alpha = torch.bmm(d_c[:, None], annotations[:k].transpose(1, 2))[:, 0]
            d_e = torch.ops.aten._softmax_backward_data(d_alpha, alpha, -1, alpha.dtype)
            hidden = (keys[:k] + queries[rows, None]).sigmoid_()
            # Σ_j d_e = 0, which is why the constant that the score leaves out has no gradient.
            d_v.addmv_(hidden.flatten(0, 1).t(), d_e.flatten())
            d_hidden = d_e[:, :, None] * (2 * w.v_a)
            d_hidden = torch.ops.aten.sigmoid_backward(d_hidden, hidden)
            d_keys[:k] += d_hidden
            torch.sum(d_hidden, 1, out=d_queries[rows])
            d_old = add_product(d_old, 2 * d_queries[rows], w_a)
            if update_first and t > 0:
                d_old = unit.backward(d_old, before[rows], kept[rows], d_x[rows])
                product(d_x[rows], c, out=d_c_next[:k])
            d_s[:k] = d_old
        d_annotations = torch.bmm(alphas.transpose(1, 2), d_c_all)
        d_gates, d_u = unit.weight_gradients(d_x, before, kept)
        d_w_a = weight_gradient(d_queries, looked)
        d_c_weight = weight_gradient(d_x, entered)
        return (
            d_x, d_s, d_keys, d_annotations, None, None, None,
            d_w_a.mul_(2), d_v.mul_(2), d_gates, d_u, d_c_weight,
        )  # fmt: skip
