"""The gated unit of the paper and the LSTM, one step at a time, and the plain scan over a sequence.

This is the definition that every faster path is held against. The gated unit is not `torch.nn.GRU`:
the reset gate acts before the recurrent product, and z weighs the candidate, not the old state.
"""

from typing import Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from rnnsearch.products import linear

CLOSED = -1e4
"""Pre-activation that shuts an update gate: σ gives exactly 0, so the state and its gradient are
carried through unchanged and no mask is needed in the step."""


class Unit(Protocol):
    """What encoder and decoder ask of a recurrent unit, an `nn.Module`.

    `hidden_size`: H, what others see of a state. `state_size`: Z, what it carries from step to
    step.
    """

    hidden_size: int
    state_size: int

    def project(self, x: Float[Tensor, "*N E"]) -> Float[Tensor, "*N P"]:
        """Return the part of all sums that the input alone makes."""

    def step(
        self, state: Float[Tensor, "B Z"], x: Float[Tensor, "B P"], c: Tensor | None = None, /
    ) -> Float[Tensor, "B Z"]:
        """Return the next state from the state, the projected input and the context, if any."""

    def visible(self, state: Float[Tensor, "*N Z"]) -> Float[Tensor, "*N H"]:
        """Return what others see of a state."""

    def paper_symbols(self, suffix: str = "") -> dict[str, Tensor]:
        """Return views of the weights by name, `suffix` appended."""


class GatedUnit(nn.Module):
    """The gated hidden unit (Cho et al. 2014; Bahdanau et al. 2015, appendix A.1.1).

        z = σ(W_z x + U_z h [+ C_z c])
        r = σ(W_r x + U_r h [+ C_r c])
        h̃ = tanh(W x + U (r ⊙ h) [+ C c])
        h' = (1 - z) ⊙ h + z ⊙ h̃

    Stored fused, rows in the order z, r, candidate: W (3H, E), C (3H, D), U_gates (2H, H), U (H, H)
    and one bias b (3H), that of the input side.

    Args:
        input_size: E, size of x.
        hidden_size: H, size of h.
        context_size: D, size of the context c; 0 for a unit without one, as in the encoder.
        bias: whether there is a bias.
    """

    def __init__(
        self, input_size: int, hidden_size: int, *, context_size: int = 0, bias: bool = True
    ) -> None:
        super().__init__()
        self.hidden_size = self.state_size = hidden_size
        self.W = nn.Parameter(torch.empty(3 * hidden_size, input_size))
        self.U_gates = nn.Parameter(torch.empty(2 * hidden_size, hidden_size))
        self.U = nn.Parameter(torch.empty(hidden_size, hidden_size))
        self.C = nn.Parameter(torch.empty(3 * hidden_size, context_size)) if context_size else None
        self.b = nn.Parameter(torch.empty(3 * hidden_size)) if bias else None

    def project(self, x: Float[Tensor, "*N E"]) -> Float[Tensor, "*N 3H"]:
        """Return W x + b for the three sums; known inputs are projected before any time loop."""
        return linear(x, self.W, self.b)

    @property
    def context(self) -> Float[Tensor, "3H D"]:
        """C of a unit that has one."""
        if self.C is None:
            raise AttributeError("this unit has no context")
        return self.C

    def hold(self, x: Float[Tensor, "*N 3H"], where: Bool[Tensor, "*N 1"]) -> Tensor:
        """Return projected inputs whose update gate is shut at `where`: there h' = h exactly."""
        z, rest = torch.split(x, [self.hidden_size, 2 * self.hidden_size], dim=-1)
        return torch.cat([z.masked_fill(where, CLOSED), rest], dim=-1)

    def step(
        self, h: Float[Tensor, "B H"], x: Float[Tensor, "B 3H"], c: Tensor | None = None
    ) -> Float[Tensor, "B H"]:
        """Return h' from h, the projected input x and, for a unit that has one, the context c."""
        if self.C is not None and c is not None:
            x = torch.addmm(x, c, self.C.t())
        x_gates, x_candidate = torch.split(x, [2 * self.hidden_size, self.hidden_size], dim=-1)
        z, r = torch.sigmoid(torch.addmm(x_gates, h, self.U_gates.t())).chunk(2, dim=-1)
        candidate = torch.tanh(torch.addmm(x_candidate, r * h, self.U.t()))
        return torch.lerp(h, candidate, z)

    def visible(self, state: Float[Tensor, "*N H"]) -> Float[Tensor, "*N H"]:
        """Return the state: all of it is seen."""
        return state

    def paper_symbols(self, suffix: str = "") -> dict[str, Tensor]:
        """Return views of the weights under the paper's names, `suffix` appended."""
        n = self.hidden_size
        fused = {"W": self.W, "C": self.C, "b_W": self.b}
        symbols = {"U": self.U, "U_z": self.U_gates[:n], "U_r": self.U_gates[n:]}
        for name, weight in fused.items():
            if weight is not None:
                z, r, candidate = torch.split(weight, n)
                symbols |= {name: candidate, f"{name}_z": z, f"{name}_r": r}
        return {name + suffix: weight.detach() for name, weight in symbols.items()}


class LSTMUnit(nn.Module):
    """Long short-term memory (Hochreiter and Schmidhuber 1997) with a context in every gate.

        i = σ(W_in x + U_in h + C_in c),   f, o likewise with W_forget, W_out
        g = tanh(W_cell x + U_cell h + C_cell c)
        cell' = f ⊙ cell + i ⊙ g,   h' = o ⊙ tanh(cell')

    A state is [h ; cell]. Stored fused, rows in the order i, f, g, o of `torch.nn.LSTM`: W (4H, E),
    U (4H, H), C (4H, D) and one bias b (4H).

    Args:
        input_size: E, size of x.
        hidden_size: H, size of h and of the cell.
        context_size: D, size of the context c; 0 for a unit without one, as in the encoder.
        bias: whether there is a bias.
    """

    def __init__(
        self, input_size: int, hidden_size: int, *, context_size: int = 0, bias: bool = True
    ) -> None:
        super().__init__()
        self.hidden_size, self.state_size = hidden_size, 2 * hidden_size
        self.W = nn.Parameter(torch.empty(4 * hidden_size, input_size))
        self.U = nn.Parameter(torch.empty(4 * hidden_size, hidden_size))
        self.C = nn.Parameter(torch.empty(4 * hidden_size, context_size)) if context_size else None
        self.b = nn.Parameter(torch.empty(4 * hidden_size)) if bias else None

    def project(self, x: Float[Tensor, "*N E"]) -> Float[Tensor, "*N 4H"]:
        """Return W x + b for the four sums."""
        return linear(x, self.W, self.b)

    def step(
        self, state: Float[Tensor, "B 2H"], x: Float[Tensor, "B 4H"], c: Tensor | None = None
    ) -> Float[Tensor, "B 2H"]:
        """Return [h' ; cell'] from [h ; cell], the projected input and the context, if any."""
        h, cell = state.chunk(2, dim=-1)
        if self.C is not None and c is not None:
            x = torch.addmm(x, c, self.C.t())
        i, f, g, o = torch.addmm(x, h, self.U.t()).chunk(4, dim=-1)
        cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
        return torch.cat([torch.sigmoid(o) * torch.tanh(cell), cell], dim=-1)

    def visible(self, state: Float[Tensor, "*N 2H"]) -> Float[Tensor, "*N H"]:
        """Return h of [h ; cell]."""
        return state[..., : self.hidden_size]

    def paper_symbols(self, suffix: str = "") -> dict[str, Tensor]:
        """Return views of the weights by name, `suffix` appended; the paper has no LSTM."""
        fused = {"W": self.W, "U": self.U, "C": self.C, "b_W": self.b}
        return {
            f"{name}_{gate}{suffix}": part.detach()
            for name, weight in fused.items()
            if weight is not None
            for gate, part in zip(LSTM_GATES, weight.chunk(4), strict=True)
        }


LSTM_GATES = ("in", "forget", "cell", "out")


def plain_scan(
    unit: Unit, x: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"], *, reverse: bool = False
) -> Float[Tensor, "B S Z"]:
    """Return the states 1..S of `unit` from a state of zeros, read right to left if `reverse`.

    At padding the state is carried, so padding on the right changes nothing at real positions in
    either direction.
    """
    inputs = unit.project(x.transpose(0, 1)).unbind(0)
    steps = list(zip(inputs, mask.t()[..., None].unbind(0), strict=True))
    state = x.new_zeros(x.shape[0], unit.state_size)
    states = []
    for x_t, real in reversed(steps) if reverse else steps:
        state = torch.where(real, unit.step(state, x_t), state)
        states.append(state)
    return torch.stack(states[::-1] if reverse else states, dim=1)
