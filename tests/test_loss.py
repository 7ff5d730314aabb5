"""The loss in blocks equals PyTorch's cross-entropy, in value and gradient."""

import pytest
import torch
from torch.nn import functional

from rnnsearch import loss as module
from rnnsearch.loss import normaliser, token_loss


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("rows", [1, 7, 8])
def test_equals_cross_entropy(smoothing, bias, rows, monkeypatch):
    monkeypatch.setattr(module, "ROWS", 3)
    generator = torch.Generator().manual_seed(rows)
    output = torch.nn.Linear(5, 11, bias=bias).double()
    readouts = torch.randn(rows, 5, dtype=torch.float64, generator=generator, requires_grad=True)
    targets = torch.randint(11, (rows,), generator=generator)
    parameters = [readouts, *output.parameters()]

    found = token_loss(readouts, targets, output=output, label_smoothing=smoothing)
    expected = functional.cross_entropy(
        output(readouts), targets, reduction="sum", label_smoothing=smoothing
    )
    nll = functional.cross_entropy(output(readouts), targets, reduction="sum")
    torch.testing.assert_close(found.loss, expected)
    torch.testing.assert_close(found.nll, nll.detach())
    for mine, theirs in zip(
        torch.autograd.grad(found.loss / 7, parameters),
        torch.autograd.grad(expected / 7, parameters),
        strict=True,
    ):
        torch.testing.assert_close(mine, theirs)


def test_no_gradient_is_computed_where_none_is_wanted():
    output = torch.nn.Linear(3, 4).requires_grad_(False)
    assert not token_loss(torch.randn(2, 3), torch.tensor([0, 1]), output=output).loss.requires_grad


def test_normaliser():
    assert [normaliser(r, sentences=3, tokens=20) for r in ("token", "sentence", "sum")] == [
        20,
        3,
        1,
    ]
