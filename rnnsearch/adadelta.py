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
    gradients also `touched`, for each row the step of its last update. As in PyTorch's fused
    optimizers, a step does nothing where a tensor `found_inf` is 1.

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
        broken: Tensor | None = getattr(self, "found_inf", None)
        if broken is not None and broken.device.type == "cpu":  # one that can be read at once
            if broken:
                return
            broken = None
        self._move(broken)

    @torch.no_grad()
    def _move(self, broken: Tensor | None) -> None:
        """Update every parameter unless `broken`, a tensor that is not read here, is 1."""
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state["step"] = parameter.new_zeros((), dtype=torch.float32)
                    state["square_avg"] = torch.zeros_like(parameter)
                    state["acc_delta"] = torch.zeros_like(parameter)
                if parameter.grad.is_sparse:
                    _update_rows(parameter, state, group)
                else:
                    _update_blocks(parameter, state, group, broken)


def _update_blocks(
    parameter: Tensor, state: dict[str, Tensor], group: dict[str, Any], broken: Tensor | None
) -> None:
    assert parameter.grad is not None
    _catch_up(state, group)
    gradient, rho = parameter.grad, group["rho"]
    if broken is None:
        state["step"] += 1
    else:  # no gradient and no decay
        gradient = torch.where(broken > 0, 0, gradient)
        rho = torch.where(broken > 0, 1.0, rho)
        state["step"] += 1 - broken
    tensors = (parameter, gradient, state["square_avg"], state["acc_delta"])
    flat = [torch.split(tensor.reshape(-1), BLOCK) for tensor in tensors]
    for parts in zip(*flat, strict=True):
        _update(*parts, rho=rho, group=group)


def _catch_up(state: dict[str, Tensor], group: dict[str, Any]) -> None:
    """Let the rows that have rested decay, where the state comes from sparse gradients."""
    if "touched" in state:
        rested = state["step"] - state.pop("touched")
        decay = (group["rho"] ** rested)[:, None]
        state["square_avg"] *= decay
        state["acc_delta"] *= decay


def _update_rows(parameter: Tensor, state: dict[str, Tensor], group: dict[str, Any]) -> None:
    """Update the rows of a sparse gradient, each after the decay that it has missed."""
    assert parameter.grad is not None
    gradient = parameter.grad.coalesce()
    state["step"] += 1
    rows, step = gradient.indices()[0], state["step"].item()
    if "touched" not in state:
        # Also where the state comes from a run whose every row was updated at each step.
        state["touched"] = parameter.new_full((len(parameter),), step - 1)
    rested = step - 1 - state["touched"].index_select(0, rows)
    decay = (group["rho"] ** rested)[:, None]
    square = state["square_avg"].index_select(0, rows).mul_(decay)
    delta = state["acc_delta"].index_select(0, rows).mul_(decay)
    moved = parameter.index_select(0, rows)
    _update(moved, gradient.values(), square, delta, rho=group["rho"], group=group)
    parameter.index_copy_(0, rows, moved)
    state["square_avg"].index_copy_(0, rows, square)
    state["acc_delta"].index_copy_(0, rows, delta)
    state["touched"].index_fill_(0, rows, step)


def _update(
    parameter: Tensor, gradient: Tensor, square: Tensor, delta: Tensor,
    *, rho: float | Tensor, group: dict[str, Any],
) -> None:  # fmt: skip
    """Update a part of a parameter and of its averages in place."""
    eps, new = group["eps"], 1 - group["rho"]
    square.mul_(rho).addcmul_(gradient, gradient, value=new)
    deviation = square.add(eps).sqrt_()
    move = delta.add(eps).sqrt_().div_(deviation).mul_(gradient)
    delta.mul_(rho).addcmul_(move, move, value=new)
    parameter.add_(move, alpha=-group["lr"])
