"""Adadelta against `torch.optim.Adadelta`, dense and by rows, also across a save and resume."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from rnnsearch import adadelta
from rnnsearch.adadelta import Adadelta
from rnnsearch.config import AdadeltaConfig
from rnnsearch.optim import build_optimizer, clip_gradients

SETTINGS = {"lr": 0.7, "rho": 0.95, "eps": 1e-6}


class Network(nn.Module):
    """A table of embeddings, of which a batch touches few rows, and a matrix."""

    def __init__(self, *, sparse: bool) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        table = torch.randn(40, 6, generator=generator, dtype=torch.float64)
        self.embedding = nn.Embedding(40, 6, _weight=table, sparse=sparse)
        self.matrix = nn.Parameter(torch.randn(6, 5, generator=generator, dtype=torch.float64))

    def loss(self, ids: Tensor) -> Tensor:
        return ((self.embedding(ids) @ self.matrix).tanh() ** 2).sum()


def batches() -> Iterator[Tensor]:
    """Yield word numbers: some repeat within a batch, most rest for many steps."""
    generator = torch.Generator().manual_seed(4)
    while True:
        yield torch.randint(0, 40, (4,), generator=generator).repeat(2)


def train(
    network: Network, optimizer: torch.optim.Optimizer, words: Iterator[Tensor], n: int
) -> None:
    for _ in range(n):
        optimizer.zero_grad()
        network.loss(next(words)).backward()
        clip_gradients(network, 0.5)
        optimizer.step()


def assert_near(network: Network, other: Network) -> None:
    for name, weight in network.named_parameters():
        torch.testing.assert_close(
            weight, dict(other.named_parameters())[name], rtol=0, atol=1e-12, msg=name
        )


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("block", [7, 1 << 18])
def test_equal_to_torch(monkeypatch: pytest.MonkeyPatch, sparse: bool, block: int) -> None:
    monkeypatch.setattr(adadelta, "BLOCK", block)
    ours, theirs = Network(sparse=sparse), Network(sparse=False)
    start = copy.deepcopy(theirs)
    train(ours, Adadelta(ours.parameters(), **SETTINGS), batches(), 80)
    train(theirs, torch.optim.Adadelta(theirs.parameters(), **SETTINGS), batches(), 80)
    assert_near(ours, theirs)
    assert not torch.equal(start.matrix, theirs.matrix)


@pytest.mark.parametrize("first", [Adadelta, torch.optim.Adadelta])
def test_equal_across_a_save_and_resume(first: type) -> None:
    """Rows that rest through the save decay by all the steps they miss."""
    theirs = Network(sparse=False)
    train(theirs, torch.optim.Adadelta(theirs.parameters(), **SETTINGS), batches(), 60)
    before = Network(sparse=first is Adadelta)
    words, optimizer = batches(), first(before.parameters(), **SETTINGS)
    train(before, optimizer, words, 25)
    after = Network(sparse=True)
    after.load_state_dict(before.state_dict())
    resumed = Adadelta(after.parameters(), **SETTINGS)
    groups = resumed.state_dict()["param_groups"]
    state = copy.deepcopy(optimizer.state_dict()["state"])
    resumed.load_state_dict({"state": state, "param_groups": groups})
    train(after, resumed, words, 35)
    assert_near(after, theirs)


def test_rows_that_are_not_named_are_not_written() -> None:
    network = Network(sparse=True)
    optimizer = build_optimizer(
        AdadeltaConfig(kind="adadelta", lr=1.0, rho=0.95, eps=1e-6), network
    )
    before = network.embedding.weight.detach().clone()
    train(network, optimizer, iter([torch.tensor([3, 5, 3])]), 1)
    changed = (network.embedding.weight != before).any(1).nonzero().flatten().tolist()
    assert changed == [3, 5]
    assert optimizer.state[network.embedding.weight]["touched"].nonzero().flatten().tolist() == [
        3,
        5,
    ]


def test_a_closure_is_refused() -> None:
    with pytest.raises(ValueError, match="does not evaluate"):
        Adadelta(Network(sparse=False).parameters(), **SETTINGS).step(lambda: 0.0)


@pytest.mark.parametrize("most", [None, 0.3, 1e6])
def test_sparse_gradients_are_clipped_as_dense_ones(most: float | None) -> None:
    dense, sparse = Network(sparse=False), Network(sparse=True)
    words = torch.tensor([1, 2, 1, 1])
    for network in (dense, sparse):
        network.loss(words).backward()
    expected = torch.nn.utils.clip_grad_norm_(
        dense.parameters(), math.inf if most is None else most
    )
    assert float(clip_gradients(sparse, most)) == pytest.approx(float(expected), rel=1e-12)
    assert sparse.embedding.weight.grad is not None
    for mine, other in (
        (sparse.embedding.weight.grad.to_dense(), dense.embedding.weight.grad),
        (sparse.matrix.grad, dense.matrix.grad),
    ):
        torch.testing.assert_close(mine, other, rtol=1e-12, atol=0)
