"""Products of rounded factors: near the exact ones, in value and gradient, and off by default."""

import pytest
import torch

from rnnsearch.products import (
    add_product,
    linear,
    operand,
    operand_type,
    operands,
    operands_for,
    product,
)


def test_ordinary_products_without_a_choice():
    x, w, b = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5)
    assert operand_type() is None
    assert operand(w) is w
    assert torch.equal(linear(x, w, b), torch.nn.functional.linear(x, w, b))


@pytest.mark.parametrize("shape", [(6, 8), (2, 3, 8)])
def test_rounded_linear_is_near_in_value_and_gradient(shape):
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(*s, generator=generator, requires_grad=True) for s in (shape, (5, 8)))
    b = torch.randn(5, generator=generator, requires_grad=True)
    exact = torch.nn.functional.linear(x, w, b)
    with operands(torch.bfloat16):
        assert operand_type() == torch.bfloat16
        rounded = linear(x, w, b)
    assert operand_type() is None
    assert rounded.dtype == torch.float32
    assert not torch.equal(rounded, exact)
    torch.testing.assert_close(rounded, exact, rtol=0.03, atol=0.05)
    weight = torch.randn_like(exact)
    for near, true in zip(
        torch.autograd.grad((rounded * weight).sum(), (x, w, b)),
        torch.autograd.grad((exact * weight).sum(), (x, w, b)),
        strict=True,
    ):
        torch.testing.assert_close(near, true, rtol=0.05, atol=0.1)


def test_products_keep_the_type_of_what_they_are_added_to():
    a, b, x = torch.randn(3, 4), torch.randn(4, 5), torch.randn(3, 5)
    out = torch.empty(3, 5)
    with operands(torch.bfloat16):
        assert product(a, operand(b)).dtype == torch.float32
        add_product(x, a, operand(b), out=out)
    torch.testing.assert_close(out, x + a @ b, rtol=0.03, atol=0.05)


def test_precision_by_name():
    cpu = torch.device("cpu")
    assert operands_for("fp32", cpu) is None
    assert operands_for("bf16", cpu) == torch.bfloat16
    assert operands_for("auto", cpu) in (None, torch.bfloat16)
    assert operands_for("auto", torch.device("cuda")) == torch.bfloat16
