"""Positional codes and the input of an encoder without recurrence, against numbers worked by hand.

Everything runs in float64.
"""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from rnnsearch.positions import TransformerInput, sinusoidal_codes

ROOT_2 = 1.4142135623730951
E = torch.tensor([[0.2, 0.5], [-0.1, 0.7], [0.8, -0.3]], dtype=torch.float64)
P = torch.tensor([[0.0, 0.1], [0.2, 0.0], [-0.1, 0.3]], dtype=torch.float64)
IDS = torch.tensor([[0, 1, 2]])


def table(weight: Tensor = E) -> nn.Embedding:
    return nn.Embedding.from_pretrained(weight.clone(), freeze=False)


def wide_table(size: int, *, dtype: torch.dtype = torch.float64) -> nn.Embedding:
    weight = torch.randn(5, size, generator=torch.Generator().manual_seed(0), dtype=dtype)
    return table(weight)


def learned(codes: Tensor = P, *, scale: bool = True) -> TransformerInput:
    """Return the input with these learned codes."""
    module = TransformerInput(table(), positions="learned", scale=scale, most=len(codes))
    assert module.P is not None
    module.P.data = codes.clone()
    return module


def close(came: Tensor, expected: object, *, atol: float = 1e-12) -> None:
    numbers = torch.as_tensor(expected, dtype=torch.float64)
    torch.testing.assert_close(came.detach().double(), numbers, rtol=0, atol=atol)


# The worked numbers


def test_the_look_up_is_the_product_with_a_one_hot_row() -> None:
    one_hot = torch.tensor([[0.0, 1.0, 0.0]], dtype=torch.float64)
    X = learned().parts(torch.tensor([[1]])).X
    close(X, [[[-0.1, 0.7]]])
    close(one_hot @ E, [[-0.1, 0.7]])


def test_all_three_parts_of_a_sentence() -> None:
    parts = learned().parts(IDS)
    close(parts.X, [E.tolist()])
    close(parts.P, P.tolist())
    by_hand = [
        [0.2 * ROOT_2, 0.5 * ROOT_2 + 0.1],
        [-0.1 * ROOT_2 + 0.2, 0.7 * ROOT_2],
        [0.8 * ROOT_2 - 0.1, -0.3 * ROOT_2 + 0.3],
    ]
    close(parts.Z, [by_hand])
    decimals = [[0.2828427, 0.8071068], [0.0585786, 0.9899495], [1.0313708, -0.1242641]]
    close(parts.Z, [decimals], atol=5e-8)
    assert torch.equal(learned()(IDS), parts.Z)


def test_without_scaling_the_rows_are_added_as_they_are() -> None:
    close(learned(scale=False)(IDS), [[[0.2, 0.6], [0.1, 0.7], [0.7, 0.0]]])


@pytest.mark.parametrize(("size", "c"), [(1, 1.0), (4, 2.0), (512, 22.627416997969522)])
def test_rows_are_scaled_by_the_root_of_their_size(size: int, c: float) -> None:
    embedding = wide_table(size)
    scaled = TransformerInput(embedding, positions="none", scale=True, most=None)
    close(scaled(IDS), (c * embedding.weight[:3])[None].tolist())


def test_three_positions_of_two_dimensions() -> None:
    expected = [[0, 1], [0.8415, 0.5403], [0.9093, -0.4161]]
    close(sinusoidal_codes(3, 2), expected, atol=5e-5)


def test_four_dimensions_have_a_hundredth_of_the_speed_in_their_second_pair() -> None:
    """10000^(2/4) = 100."""
    expected = [
        [0, 1, 0, 1],
        [0.8414709848, 0.5403023059, 0.0099998333, 0.9999500004],
        [0.9092974268, -0.4161468365, 0.0199986667, 0.9998000067],
    ]
    close(sinusoidal_codes(3, 4), expected, atol=5e-11)


def test_the_fastest_and_the_slowest_of_512_dimensions() -> None:
    """The angles are pos and pos / 10000^(510/512) = pos / 9646.616..."""
    codes = sinusoidal_codes(1000, 512)
    position = torch.arange(1000, dtype=torch.float64)
    slow = torch.atan2(codes[:, 510], codes[:, 511])
    close(slow * 9646.616199111993, position, atol=1e-9)
    fast = torch.atan2(codes[:4, 0], codes[:4, 1])
    close(fast, [0, 1, 2, 3])


# Properties of the codes


@pytest.mark.parametrize(("length", "size", "least"), [(5000, 16, 1.0), (1000, 4, 0.04)])
def test_no_two_positions_have_one_code(length: int, size: int, least: float) -> None:
    codes = sinusoidal_codes(length, size)
    distances = torch.cdist(codes, codes)
    assert float(distances.fill_diagonal_(math.inf).min()) > least


def test_every_code_has_the_same_length() -> None:
    close(sinusoidal_codes(300, 64).square().sum(1), [32.0] * 300)


@given(k=st.integers(0, 3000), pairs=st.integers(1, 20), start=st.integers(0, 3000))
@settings(max_examples=50, deadline=None)
def test_going_on_by_k_is_a_rotation_that_knows_nothing_of_the_position(
    k: int, pairs: int, start: int
) -> None:
    """P[pos+k] = R_k P[pos]: R_k is read off the code of k, since P[0] = (0, 1, 0, 1, ...)."""
    codes = sinusoidal_codes(start + k + 8, 2 * pairs)
    blocks = [torch.stack([torch.stack([c, s]), torch.stack([-s, c])])
              for s, c in codes[k].view(-1, 2)]  # fmt: skip
    R = torch.block_diag(*blocks)
    close(R.T @ R, torch.eye(2 * pairs).tolist())
    here, there = codes[start : start + 8], codes[start + k : start + k + 8]
    close(here @ R.T, there.tolist(), atol=1e-9)
    close(there @ R, here.tolist(), atol=1e-9)  # and back by the inverse


@pytest.mark.parametrize("k", [1, 5, 40])
def test_how_alike_two_codes_are_depends_on_their_distance_alone(k: int) -> None:
    codes = sinusoidal_codes(200, 32)
    products = (codes[:-k] * codes[k:]).sum(1)
    close(products, [float(products[0])] * len(products), atol=1e-10)
    assert float(products[0]) < 15.9  # the product of a code with itself is 16


def test_there_is_no_last_position() -> None:
    codes = sinusoidal_codes(100_000, 8)
    assert codes.shape == (100_000, 8)
    assert codes.dtype == torch.float64
    # sin and cos of 99,999 and of 99.999, to ten digits.
    close(codes[-1, :2], [0.8602482808, -0.5098753724], atol=1e-10)
    close(codes[-1, 6:], [-0.5072277067, 0.8618120756], atol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 7, 16])
def test_a_code_does_not_depend_on_how_many_are_asked_for(size: int) -> None:
    codes = sinusoidal_codes(300, size)
    for length in (0, 1, 2, 5, 63, 299):
        shorter = sinusoidal_codes(length, size)
        assert shorter.shape == (length, size)
        close(shorter, codes[:length].tolist() if length else shorter, atol=1e-15)


def test_an_odd_size_ends_in_a_sine_without_its_cosine() -> None:
    close(sinusoidal_codes(3, 1), [[0], [0.8414709848], [0.9092974268]], atol=5e-11)
    codes = sinusoidal_codes(50, 3)
    close(codes[1], [0.8414709848, 0.5403023059, 0.0021544330], atol=5e-11)  # 10000^(-2/3)
    close(codes[0], [0, 1, 0])


# The three kinds


def test_sinusoidal_codes_are_cast_to_the_type_of_the_table() -> None:
    embedding = wide_table(6, dtype=torch.float32)
    module = TransformerInput(embedding, positions="sinusoidal", scale=False, most=None)
    X, codes, Z = module.parts(torch.tensor([[4, 4, 4], [0, 1, 2]]))
    assert (codes.dtype, Z.dtype) == (torch.float32, torch.float32)
    close(codes, sinusoidal_codes(3, 6).tolist(), atol=1e-7)
    close(Z - X, codes.expand(2, 3, 6).tolist(), atol=1e-6)
    assert not torch.equal(Z[0, 0], Z[0, 1])  # one word at two places
    assert [name for name, _ in module.named_parameters()] == ["embedding.weight"]
    assert module.P is None


def test_codes_are_worked_out_in_double_even_for_a_table_of_single_numbers() -> None:
    """The second angle at 99,999 is 9999.9; as a float32 it would cost the fourth decimal."""
    embedding = wide_table(8, dtype=torch.float32)
    module = TransformerInput(embedding, positions="sinusoidal", scale=False, most=None)
    codes = module.parts(torch.zeros(1, 100_000, dtype=torch.int64)).P
    close(codes[-1, 2:4], [-0.2090306663, -0.9779090861], atol=1e-7)


def test_without_positions_the_codes_are_zero_and_the_order_is_lost() -> None:
    module = TransformerInput(table(), positions="none", scale=True, most=None)
    X, codes, Z = module.parts(IDS)
    assert torch.equal(codes, torch.zeros(3, 2, dtype=torch.float64))
    close(Z, (ROOT_2 * X).tolist())
    assert torch.equal(module(IDS.flip(1)), Z.flip(1))
    assert not torch.equal(learned()(IDS.flip(1)), learned()(IDS).flip(1))


def test_learned_codes_are_a_parameter_and_learn_where_they_were_used() -> None:
    module = learned(torch.zeros(5, 2, dtype=torch.float64))
    assert {name: tuple(p.shape) for name, p in module.named_parameters()} == {
        "embedding.weight": (3, 2), "P": (5, 2),
    }  # fmt: skip
    module(torch.tensor([[2, 2, 0], [1, 0, 0]])).sum().backward()
    assert module.P is not None
    close(module.P.grad, [[2, 2], [2, 2], [2, 2], [0, 0], [0, 0]])
    grad = module.embedding.weight.grad
    close(grad, [[3 * ROOT_2] * 2, [ROOT_2] * 2, [2 * ROOT_2] * 2])


def test_sentences_up_to_the_last_learned_code_and_no_longer() -> None:
    module = learned()
    assert module(torch.zeros(2, 3, dtype=torch.int64)).shape == (2, 3, 2)
    with pytest.raises(ValueError, match=r"^4 source positions, but only 3 have learned codes$"):
        module(torch.zeros(2, 4, dtype=torch.int64))


@pytest.mark.parametrize(
    ("positions", "most", "words"),
    [
        ("rotary", None, "positions=rotary: expected sinusoidal, learned, none"),
        ("learned", None, "positions=learned with most=None"),
        ("sinusoidal", 9, "positions=sinusoidal with most=9"),
        ("none", 9, "positions=none with most=9"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    positions: str, most: int | None, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        TransformerInput(table(), positions=positions, scale=True, most=most)
