"""RNNsearch in plain NumPy, float64, one sentence at a time: the oracle of the parity tests.

Nothing here comes from the package. The equations are those of Bahdanau, Cho and Bengio (2015),
appendix A, written as on paper: vectors are columns, a matrix stands on the left, position by
position. Weights come as the dict of `paper_symbols()`; a bias that is absent is zero.

    encoder, each direction     z = σ(W_z Ē x + U_z h),  r = σ(W_r Ē x + U_r h)
                                h̃ = tanh(W Ē x + U [r ⊙ h]),  h ← (1 - z) ⊙ h + z ⊙ h̃,  h_0 = 0
    annotation                  h_j = [→h_j ; ←h_j]
    first decoder state         s_0 = tanh(W_s ←h_1)
    attention                   e_ij = v_aᵀ tanh(W_a s_{i-1} + U_a h_j),  α_i = softmax(e_i)
                                c_i = Σ_j α_ij h_j
    decoder                     z = σ(W_z E y + U_z s + C_z c),  r = σ(W_r E y + U_r s + C_r c)
                                s̃ = tanh(W E y + U [r ⊙ s] + C c),  s ← (1 - z) ⊙ s + z ⊙ s̃
    readout                     t̃ = U_o s + V_o E y_{i-1} + C_o c_i,  t_k = max(t̃_2k-1, t̃_2k)
                                p(y_i) = softmax(W_o t)

The three wirings differ in the state that the readout sees and in the word that updates it:

    appendix    readout from s_{i-1};  s_i = f(s_{i-1}, y_{i-1}, c_i)
    equation4   s_i = f(s_{i-1}, y_{i-1}, c_i);  readout from s_i
    original    readout from s_{i-1}, without the V_o term at i = 1;  s_i = f(s_{i-1}, y_i, c_i)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BOS = 1  # y_0; written out, since this file takes nothing from the package
WIRINGS = ("appendix", "equation4", "original")


class Scored(NamedTuple):
    """One sentence pair under teacher forcing.

    Attributes:
        log_probabilities: (T,), log p(y_i | y_1 .. y_{i-1}, x) of each target token.
        alpha: (T, S), row i holds the attention weights α_i1 .. α_iS.
        annotations: (S, 2n), row j is h_j = [→h_j ; ←h_j].
        distributions: (T, K_y), row i is log p(· | y_1 .. y_{i-1}, x).
    """

    log_probabilities: Array
    alpha: Array
    annotations: Array
    distributions: Array


def sigmoid(a: Array) -> Array:
    """Return σ(a) = 1 / (1 + exp(-a))."""
    return 1.0 / (1.0 + np.exp(-a))


def log_softmax(a: Array) -> Array:
    """Return log softmax(a) of one vector."""
    shifted = a - a.max()
    return shifted - np.log(np.exp(shifted).sum())


class Reference:
    """The network of one dict of paper symbols and one wiring.

    Args:
        symbols: the paper's name -> matrix in the paper's orientation (tables for Ē and E).
        wiring: one of `WIRINGS`.
    """

    def __init__(self, symbols: Mapping[str, Any], *, wiring: str) -> None:
        if wiring not in WIRINGS:
            raise ValueError(f"unknown wiring {wiring!r}")
        self.wiring = wiring
        self.p = {name: np.array(value, dtype=np.float64) for name, value in symbols.items()}
        # v_a may come as a vector or as a column.
        self.p["v_a"] = self.p["v_a"].reshape(-1)

    def bias(self, name: str) -> Array | float:
        """Return the bias of the sum that `name` opens, zero where the model has none."""
        b = self.p.get(f"b_{name}")
        return 0.0 if b is None else b.reshape(-1)

    def encoder_step(self, x: int, h: Array, *, side: str) -> Array:
        """Return h_i from source id x_i and h_{i-1}; `side` is `fwd` or `bwd`."""
        p = self.p
        embedded = p["E_bar"][x]
        z = sigmoid(p[f"W_z_{side}"] @ embedded + self.bias(f"W_z_{side}") + p[f"U_z_{side}"] @ h)
        r = sigmoid(p[f"W_r_{side}"] @ embedded + self.bias(f"W_r_{side}") + p[f"U_r_{side}"] @ h)
        candidate = np.tanh(
            p[f"W_{side}"] @ embedded + self.bias(f"W_{side}") + p[f"U_{side}"] @ (r * h)
        )
        return (1.0 - z) * h + z * candidate

    def encode(self, source: Sequence[int]) -> tuple[list[Array], Array]:
        """Return the annotations h_1 .. h_S and ←h_1; `source` holds its EOS."""
        h = np.zeros(self.p["U_fwd"].shape[0])
        forward: list[Array] = []
        for x in source:
            h = self.encoder_step(x, h, side="fwd")
            forward.append(h)

        h = np.zeros(self.p["U_bwd"].shape[0])
        backward: list[Array] = []
        for x in reversed(source):
            h = self.encoder_step(x, h, side="bwd")
            backward.insert(0, h)

        annotations = [np.concatenate(pair) for pair in zip(forward, backward, strict=True)]
        return annotations, backward[0]

    def attend(self, s: Array, annotations: Sequence[Array]) -> tuple[Array, Array]:
        """Return the weights α_i (S,) and the context c_i (2n,) for the query s_{i-1}."""
        p = self.p
        e = np.array([p["v_a"] @ np.tanh(p["W_a"] @ s + p["U_a"] @ h) for h in annotations])
        alpha = np.exp(log_softmax(e))
        c = np.zeros_like(annotations[0])
        for weight, h in zip(alpha, annotations, strict=True):
            c = c + weight * h
        return alpha, c

    def update(self, y: int, s: Array, c: Array) -> Array:
        """Return f(s, y, c), the gated unit of the decoder."""
        p = self.p
        embedded = p["E"][y]
        z = sigmoid(p["W_z"] @ embedded + self.bias("W_z") + p["U_z"] @ s + p["C_z"] @ c)
        r = sigmoid(p["W_r"] @ embedded + self.bias("W_r") + p["U_r"] @ s + p["C_r"] @ c)
        candidate = np.tanh(p["W"] @ embedded + self.bias("W") + p["U"] @ (r * s) + p["C"] @ c)
        return (1.0 - z) * s + z * candidate

    def generate(self, y: int | None, s: Array, c: Array) -> Array:
        """Return log p(·) of the next word; `y` None leaves the V_o term out."""
        p = self.p
        t_tilde = p["U_o"] @ s + self.bias("U_o") + p["C_o"] @ c
        if y is not None:
            t_tilde = t_tilde + p["V_o"] @ p["E"][y]
        t = np.array([max(t_tilde[2 * k], t_tilde[2 * k + 1]) for k in range(len(t_tilde) // 2)])
        return log_softmax(p["W_o"] @ t + self.bias("W_o"))

    def score(self, source: Sequence[int], target: Sequence[int]) -> Scored:
        """Force `target` (y_1 .. y_n and EOS) upon `source` (x_1 .. x_m and EOS)."""
        annotations, first_backward = self.encode(source)
        s = np.tanh(self.p["W_s"] @ first_backward + self.bias("W_s"))
        previous = BOS
        log_probabilities, weights, distributions = [], [], []
        for i, y in enumerate(target):
            alpha, c = self.attend(s, annotations)
            if self.wiring == "appendix":
                distribution = self.generate(previous, s, c)
                s = self.update(previous, s, c)
            elif self.wiring == "equation4":
                s = self.update(previous, s, c)
                distribution = self.generate(previous, s, c)
            else:
                distribution = self.generate(None if i == 0 else previous, s, c)
                s = self.update(y, s, c)
            log_probabilities.append(distribution[y])
            weights.append(alpha)
            distributions.append(distribution)
            previous = y
        return Scored(
            np.array(log_probabilities),
            np.array(weights),
            np.array(annotations),
            np.array(distributions),
        )

    def next_log_probabilities(self, source: Sequence[int], prefix: Sequence[int]) -> Array:
        """Return log p(· | prefix, source), (K_y,); `prefix` is y_1 .. y_{i-1}, without BOS."""
        # The word that stands at position i cannot change its own distribution: any id will do.
        return self.score(source, [*prefix, 0]).distributions[-1]
