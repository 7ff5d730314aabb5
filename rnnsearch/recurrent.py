"""The gated unit of the paper, one step at a time, and the plain scan over a sequence.

This is the definition that every faster path is held against. It is not `torch.nn.GRU`: the reset
gate acts before the recurrent product, and z weighs the candidate, not the old state.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from rnnsearch.products import linear

CLOSED = -1e4
"""Pre-activation that shuts an update gate: σ gives exactly 0, so the state and its gradient are
carried through unchanged and no mask is needed in the step."""


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
        self.hidden_size = hidden_size
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


def plain_scan(
    unit: GatedUnit, x: Float[Tensor, "B S E"], mask: Bool[Tensor, "B S"], *, reverse: bool = False
) -> Float[Tensor, "B S H"]:
    """Return the states h_1..h_S of `unit` from h_0 = 0, read right to left if `reverse`.

    At padding the state is carried, so padding on the right changes nothing at real positions in
    either direction.
    """
    projected = unit.hold(unit.project(x.transpose(0, 1)), ~mask.t()[..., None])
    inputs = projected.unbind(0)
    h = x.new_zeros(x.shape[0], unit.hidden_size)
    states = []
    for x_t in reversed(inputs) if reverse else inputs:
        h = unit.step(h, x_t)
        states.append(h)
    return torch.stack(states[::-1] if reverse else states, dim=1)
