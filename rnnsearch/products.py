"""Matrix products with operands of a chosen precision; everything around them stays as it is.

Under `operands(torch.bfloat16)` the factors of a product are rounded to bfloat16, multiplied with
sums in float32, and the result goes on in float32: states, softmax, sums over rows and the
optimizer keep full precision. Without it products are ordinary ones.

A processor without instructions for bfloat16 multiplies the rounded factors in float32, which is
exact for them, and rounds the result: the same numbers but for the order of the sums. PyTorch's own
way there is many times slower. One with such instructions gets its code for a product made when its
shape is first seen, which takes longer than the product itself; so factors whose rows vary from
batch to batch are given rows of zeros up to one of few round numbers.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

_operands: ContextVar[torch.dtype | None] = ContextVar("operands", default=None)


def operands_for(precision: str, device: torch.device) -> torch.dtype | None:
    """Return the type of factors that `trainer.precision` asks for on a device.

    `auto` is bfloat16 where the processor multiplies it faster than float32, else float32.
    """
    if precision == "fp32":
        return None
    if precision == "bf16" or device.type == "cuda":
        return torch.bfloat16
    return torch.bfloat16 if _processor_multiplies_bfloat16() else None


@cache
def _processor_multiplies_bfloat16() -> bool:
    return bool(getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)())


def _rounded(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the tensor rounded to `dtype`, in the type that it is best multiplied in."""
    rounded = tensor.to(dtype)
    native = tensor.is_cuda or _processor_multiplies_bfloat16()
    return rounded if native else rounded.to(tensor.dtype)


def _round_number(rows: int) -> int:
    """Return the next of the numbers of rows that products are made for: 16, 32, ... 256, 288, ...

    Never more than an eighth above `rows`, from 128 on.
    """
    step = max(16, 1 << max(rows.bit_length() - 4, 0))
    return -(-rows // step) * step


def _rounded_rows(rows: Tensor, dtype: torch.dtype) -> Tensor:
    """Return rows rounded to `dtype`, followed by zeros where few shapes make for speed."""
    count = rows.shape[0]
    wanted = _round_number(count)
    if rows.is_cuda or wanted == count or not _processor_multiplies_bfloat16():
        return _rounded(rows, dtype)
    padded = rows.new_empty(wanted, rows.shape[1], dtype=dtype)
    padded[:count] = rows
    padded[count:] = 0
    return padded


def _multiply(a: Tensor, b: Tensor, dtype: torch.dtype, *, rows: int | None = None) -> Tensor:
    """Return a b of rounded factors in `dtype`, the first `rows` of it."""
    whole = torch.mm(a, b).to(dtype)
    return whole if rows is None else whole[:rows]


@contextlib.contextmanager
def operands(dtype: torch.dtype | None) -> Iterator[None]:
    """Round the factors of products within to `dtype`; None leaves them as they are."""
    token = _operands.set(dtype)
    try:
        yield
    finally:
        _operands.reset(token)


def operand_type() -> torch.dtype | None:
    """Return the type that factors are rounded to here, to be used again in a backward pass."""
    return _operands.get()


def operand(factor: Tensor) -> Tensor:
    """Return a factor as products take it; a weight is rounded once and used many times."""
    dtype = _operands.get()
    return factor if dtype is None else _rounded(factor, dtype)


def product(
    a: Float[Tensor, "N K"], b: Float[Tensor, "K M"], *, out: Tensor | None = None
) -> Float[Tensor, "N M"]:
    """Return a b in the type of `a`; `b` has come through `operand`."""
    dtype = _operands.get()
    if dtype is None:
        return torch.mm(a, b, out=out)
    rounded = _multiply(_rounded_rows(a, dtype), b, dtype, rows=a.shape[0])
    return rounded.to(a.dtype) if out is None else out.copy_(rounded)


def add_product(
    x: Float[Tensor, "N M"], a: Float[Tensor, "N K"], b: Float[Tensor, "K M"],
    *, out: Tensor | None = None,
) -> Float[Tensor, "N M"]:  # fmt: skip
    """Return x + a b in the type of `x`; `b` has come through `operand`."""
    dtype = _operands.get()
    if dtype is None:
        return torch.addmm(x, a, b, out=out)
    return torch.add(x, _multiply(_rounded_rows(a, dtype), b, dtype, rows=a.shape[0]), out=out)


def weight_gradient(
    d_out: Float[Tensor, "N M"], x: Float[Tensor, "N K"], *, onto: Tensor | None = None
) -> Float[Tensor, "M K"]:
    """Return the gradient of W, where `d_out` is that of x Wᵀ: d_outᵀ x, in the type of `d_out`.

    With `onto` it is added there, in full precision: small terms must not be lost.
    """
    dtype = _operands.get()
    if dtype is None:
        return torch.mm(d_out.t(), x) if onto is None else torch.addmm(onto, d_out.t(), x, out=onto)
    d_rows, rows = _rounded_rows(d_out, dtype), _rounded_rows(x, dtype)
    gradient = _multiply(d_rows.t(), rows, dtype)
    return gradient.to(d_out.dtype) if onto is None else onto.add_(gradient)


def linear(
    x: Float[Tensor, "*N K"], weight: Float[Tensor, "M K"], bias: Float[Tensor, " M"] | None = None
) -> Float[Tensor, "*N M"]:
    """Return x Wᵀ + b, as `torch.nn.functional.linear` does, with operands rounded."""
    dtype = operand_type()
    if dtype is None:
        return functional.linear(x, weight, bias)
    rounded: Tensor = _Linear.apply(x, weight, dtype)  # type: ignore[no-untyped-call]
    return rounded if bias is None else rounded + bias


class _Linear(torch.autograd.Function):
    """x Wᵀ of rounded factors, whose gradients are products of rounded factors too."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, dtype: torch.dtype) -> Tensor:
        flat = x.flatten(0, -2)
        rows, rounded = _rounded_rows(flat, dtype), operand(weight)
        ctx.save_for_backward(rows, rounded)
        ctx.shape, ctx.operands = x.shape, dtype
        out = _multiply(rows, rounded.t(), dtype, rows=flat.shape[0])
        return out.to(x.dtype).reshape(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        rows, weight = ctx.saved_tensors
        flat = d_out.flatten(0, -2)
        d_rows = _rounded_rows(flat, ctx.operands)
        d_x = d_weight = None
        if ctx.needs_input_grad[0]:
            d_x = _multiply(d_rows, weight, ctx.operands, rows=flat.shape[0])
            d_x = d_x.to(d_out.dtype).reshape(ctx.shape)
        if ctx.needs_input_grad[1]:
            d_weight = _multiply(d_rows.t(), rows, ctx.operands).to(d_out.dtype)
        return d_x, d_weight, None
