"""Adadelta, the paper's optimizer, block by block and with embedding rows that cost when touched.

    E[g²]  ← ρ E[g²] + (1-ρ) g²
    Δ      = g √(E[Δ²] + ε) / √(E[g²] + ε)
    E[Δ²]  ← ρ E[Δ²] + (1-ρ) Δ²
    θ      ← θ - lr Δ                                  (Zeiler 2012, algorithm 1)

A row without gradient does not move; its two averages only decay. So a table of embeddings is
updated where a batch has words, and a row that rested for k steps is first multiplied by ρ^k:
the same numbers as `torch.optim.Adadelta` without a pass over the table.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn

BLOCK = 1 << 18
"""Numbers updated together; so many stay in the cache through all the operations."""


class Adadelta(torch.optim.Optimizer):
    """Adadelta over blocks; sparse gradients update the rows that they name.

    State of each parameter: `square_avg` and `acc_delta`, of its shape, and `step`; with sparse
    gradients also `touched`, for each row the step of its last update.

    Args:
        parameters: to be changed in place; contiguous.
        lr: 1 in the paper.
        rho: ρ.
        eps: ε.
    """

    def __init__(
        self, parameters: Iterable[nn.Parameter], *, lr: float, rho: float, eps: float
    ) -> None:
        super().__init__(parameters, {"lr": lr, "rho": rho, "eps": eps})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        """Update every parameter that has a gradient; there is no closure."""
        if closure is not None:
            raise ValueError("this optimizer does not evaluate the loss again")
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["step"] = torch.zeros((), dtype=torch.float32)
                    state["square_avg"] = torch.zeros_like(parameter)
                    state["acc_delta"] = torch.zeros_like(parameter)
                state["step"] += 1
                if parameter.grad.is_sparse:
                    _update_rows(parameter, state, group)
                else:
                    _update_blocks(parameter, state, group)


def _update_blocks(parameter: Tensor, state: dict[str, Tensor], group: dict[str, Any]) -> None:
    assert parameter.grad is not None
    tensors = (parameter, parameter.grad, state["square_avg"], state["acc_delta"])
    flat = [torch.split(tensor.reshape(-1), BLOCK) for tensor in tensors]
    for part, gradient, square, delta in zip(*flat, strict=True):
        _update(part, gradient, square, delta, group)


def _update_rows(parameter: Tensor, state: dict[str, Tensor], group: dict[str, Any]) -> None:
    """Update the rows of a sparse gradient, each after the decay that it has missed."""
    assert parameter.grad is not None
    gradient = parameter.grad.coalesce()
    rows, step = gradient.indices()[0], state["step"].item()
    if "touched" not in state:
        # Also where the state comes from a run whose every row was updated at each step.
        state["touched"] = parameter.new_full((len(parameter),), step - 1)
    rested = step - 1 - state["touched"].index_select(0, rows)
    decay = (group["rho"] ** rested)[:, None]
    square = state["square_avg"].index_select(0, rows).mul_(decay)
    delta = state["acc_delta"].index_select(0, rows).mul_(decay)
    moved = parameter.index_select(0, rows)
    _update(moved, gradient.values(), square, delta, group)
    parameter.index_copy_(0, rows, moved)
    state["square_avg"].index_copy_(0, rows, square)
    state["acc_delta"].index_copy_(0, rows, delta)
    state["touched"].index_fill_(0, rows, step)


def _update(
    parameter: Tensor, gradient: Tensor, square: Tensor, delta: Tensor, group: dict[str, Any]
) -> None:
    """Update a part of a parameter and of its averages in place."""
    rho, eps = group["rho"], group["eps"]
    square.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
    deviation = square.add(eps).sqrt_()
    move = delta.add(eps).sqrt_().div_(deviation).mul_(gradient)
    delta.mul_(rho).addcmul_(move, move, value=1 - rho)
    parameter.add_(move, alpha=-group["lr"])
