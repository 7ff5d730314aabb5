"""Matrix products with operands of a chosen precision; everything around them stays as it is.

Under `operands(torch.bfloat16)` the factors of a product are rounded to bfloat16, multiplied with
sums in float32, and the result goes on in float32: states, softmax, sums over rows and the
optimizer keep full precision. Without it products are ordinary ones.

A processor without instructions for bfloat16 multiplies the rounded factors in float32, which is
exact for them, and rounds the result: the same numbers but for the order of the sums. PyTorch's own
way there is many times slower.
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


def _multiply(a: Tensor, b: Tensor, dtype: torch.dtype) -> Tensor:
    """Return a b of rounded factors in `dtype`."""
    return torch.mm(a, b).to(dtype)


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
    rounded = _multiply(_rounded(a, dtype), b, dtype)
    return rounded.to(a.dtype) if out is None else out.copy_(rounded)


def add_product(
    x: Float[Tensor, "N M"], a: Float[Tensor, "N K"], b: Float[Tensor, "K M"],
    *, out: Tensor | None = None,
) -> Float[Tensor, "N M"]:  # fmt: skip
    """Return x + a b in the type of `x`; `b` has come through `operand`."""
    dtype = _operands.get()
    if dtype is None:
        return torch.addmm(x, a, b, out=out)
    return torch.add(x, _multiply(_rounded(a, dtype), b, dtype), out=out)


def linear(
    x: Float[Tensor, "*N K"], weight: Float[Tensor, "M K"], bias: Float[Tensor, " M"] | None = None
) -> Float[Tensor, "*N M"]:
    """Return x Wᵀ + b, as `torch.nn.functional.linear` does, with operands rounded."""
    if operand_type() is None:
        return functional.linear(x, weight, bias)
    rounded: Tensor = _Linear.apply(x, weight)  # type: ignore[no-untyped-call]
    return rounded if bias is None else rounded + bias


class _Linear(torch.autograd.Function):
    """x Wᵀ of rounded factors, whose gradients are products of rounded factors too."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        rows, rounded = operand(x.flatten(0, -2)), operand(weight)
        ctx.save_for_backward(rows, rounded)
        ctx.shape, ctx.operands = x.shape, operand_type()
        out = _multiply(rows, rounded.t(), ctx.operands)
        return out.to(x.dtype).reshape(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, Tensor | None]:
        rows, weight = ctx.saved_tensors
        d_rows = _rounded(d_out.flatten(0, -2), ctx.operands)
        d_x = d_weight = None
        if ctx.needs_input_grad[0]:
            d_x = _multiply(d_rows, weight, ctx.operands).to(d_out.dtype).reshape(ctx.shape)
        if ctx.needs_input_grad[1]:
            d_weight = _multiply(d_rows.t(), rows, ctx.operands).to(d_out.dtype)
        return d_x, d_weight
