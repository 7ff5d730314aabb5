"""Matrix products with operands of a chosen precision; everything around them stays as it is.

Under `operands(torch.bfloat16)` the factors of a product are rounded to bfloat16, multiplied with
sums in float32, and the result goes on in float32: states, softmax, sums over rows and the
optimizer keep full precision. Without it products are ordinary ones.
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
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
    # Processors without the instructions emulate them, tens of times slower than float32.
    fast = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return torch.bfloat16 if fast() else None


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
    return factor if dtype is None else factor.to(dtype)


def product(
    a: Float[Tensor, "N K"], b: Float[Tensor, "K M"], *, out: Tensor | None = None
) -> Float[Tensor, "N M"]:
    """Return a b in the type of `a`; `b` has come through `operand`."""
    if b.dtype == a.dtype:
        return torch.mm(a, b, out=out)
    rounded = torch.mm(a.to(b.dtype), b)
    return rounded.to(a.dtype) if out is None else out.copy_(rounded)


def add_product(
    x: Float[Tensor, "N M"], a: Float[Tensor, "N K"], b: Float[Tensor, "K M"],
    *, out: Tensor | None = None,
) -> Float[Tensor, "N M"]:  # fmt: skip
    """Return x + a b in the type of `x`; `b` has come through `operand`."""
    if b.dtype == a.dtype:
        return torch.addmm(x, a, b, out=out)
    return torch.add(x, torch.mm(a.to(b.dtype), b), out=out)


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
        ctx.shape = x.shape
        return torch.mm(rows, rounded.t()).to(x.dtype).reshape(*x.shape[:-1], -1)

    @staticmethod
    def backward(ctx: Any, d_out: Tensor) -> tuple[Tensor | None, Tensor | None]:
        rows, weight = ctx.saved_tensors
        d_rows = d_out.flatten(0, -2).to(rows.dtype)
        d_x = d_weight = None
        if ctx.needs_input_grad[0]:
            d_x = torch.mm(d_rows, weight).to(d_out.dtype).reshape(ctx.shape)
        if ctx.needs_input_grad[1]:
            d_weight = torch.mm(d_rows.t(), rows).to(d_out.dtype)
        return d_x, d_weight
