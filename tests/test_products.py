"""Products of rounded factors: near the exact ones, in value and gradient, and off by default."""

from itertools import pairwise

import pytest
import torch

from rnnsearch import products
from rnnsearch.products import (
    add_product,
    linear,
    operand,
    operand_type,
    operands,
    operands_for,
    product,
    weight_gradient,
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


@pytest.fixture
def shapes(monkeypatch):
    """Take the processor for one that multiplies bfloat16; collect the shapes of its products."""
    seen, mm = set(), torch.mm
    monkeypatch.setattr(products, "_processor_multiplies_bfloat16", lambda: True)

    def counted(a, b):
        assert a.dtype == b.dtype == torch.bfloat16
        seen.add((*a.shape, b.shape[1]))
        return mm(a.float(), b.float()).bfloat16()

    monkeypatch.setattr(products.torch, "mm", counted)
    return seen


def test_rows_of_zeros_change_no_number(shapes):
    for n in (1, 15, 16, 17, 300):
        x, w, d = torch.randn(n, 8), torch.randn(5, 8), torch.randn(n, 5)
        near = {"rtol": 0.03, "atol": 0.3}
        with operands(torch.bfloat16):
            assert product(x, operand(w).t()).shape == (n, 5)
            torch.testing.assert_close(product(x, operand(w).t()), x @ w.t(), **near)
            torch.testing.assert_close(add_product(d, x, operand(w).t()), d + x @ w.t(), **near)
            torch.testing.assert_close(weight_gradient(d, x), d.t() @ x, **near)
            total = torch.ones(5, 8)
            assert weight_gradient(d, x, onto=total) is total
            torch.testing.assert_close(total, 1 + d.t() @ x, **near)
            x.requires_grad_()
            w.requires_grad_()
            out = linear(x, w)
            torch.testing.assert_close(out, x @ w.t(), **near)
            d_x, d_w = torch.autograd.grad(out, (x, w), d)
        torch.testing.assert_close(d_x, d @ w, **near)
        torch.testing.assert_close(d_w, d.t() @ x, **near)


def test_products_of_many_sizes_have_few_shapes(shapes):
    b = torch.randn(8, 4)
    with operands(torch.bfloat16):
        for n in range(1, 2049):
            product(torch.randn(n, 8), operand(b))
    assert len(shapes) <= 16 + 3 * 8
    rows = sorted(shape[0] for shape in shapes)
    assert rows[:3] == [16, 32, 48]
    assert all(after <= 1.13 * before for before, after in pairwise(rows[8:]))


def test_weight_gradients_in_full_precision_are_sums_over_rows():
    d, x, total = torch.randn(7, 3), torch.randn(7, 4), torch.ones(3, 4)
    assert torch.equal(weight_gradient(d, x), d.t() @ x)
    torch.testing.assert_close(weight_gradient(d, x, onto=total), 1 + d.t() @ x)
