"""Attention drawn as text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch import textplot
from rnnsearch.textplot import Style, draw_text, width_of

SOURCE = ["The", "dog", "sees", "the", "cat."]
TARGET = ["Le", "chien", "voit", "le", "chat."]
WEIGHTS = np.array([
    [0.90, 0.05, 0.02, 0.02, 0.01],
    [0.02, 0.65, 0.33, 0.00, 0.00],
    [0.00, 0.20, 0.40, 0.40, 0.00],
    [0.00, 0.00, 0.02, 0.60, 0.38],
    [0.00, 0.00, 0.00, 0.04, 0.96],
], np.float32)  # fmt: skip


def drawn(width: int, *, blocks: bool = True) -> list[str]:
    return draw_text(SOURCE, TARGET, WEIGHTS, style=Style(width, blocks))


def test_words_stand_along_the_top_and_down_the_side() -> None:
    assert drawn(80) == [
        "      The dog sees the cat.",
        "Le    ███ ░░░",
        "chien     ▓▓▓ ░░░░",
        "voit      ░░░ ▒▒▒▒ ▒▒▒",
        "le                 ▒▒▒ ▒▒▒▒",
        "chat.                  ████",
    ]
    assert drawn(27) == drawn(80)


def test_without_blocks_the_weights_are_percent() -> None:
    assert drawn(80, blocks=False) == [
        "      The dog sees the cat.",
        "Le    90  5",
        "chien     65  33",
        "voit      20  40   40",
        "le                 60  38",
        "chat.                  96",
    ]


def test_where_words_have_no_room_there_are_numbers() -> None:
    assert drawn(22) == [
        "      1  2  3  4  5",
        "Le    ██ ░░",
        "chien    ▓▓ ░░",
        "voit     ░░ ▒▒ ▒▒",
        "le             ▒▒ ▒▒",
        "chat.             ██",
        "1 The  2 dog  3 sees",
        "4 the  5 cat.",
    ]


def test_where_numbers_have_no_room_there_are_links() -> None:
    source = [f"w{i}" for i in range(40)]
    weights = np.zeros((2, 40), np.float32)
    weights[0, [3, 30, 7, 9]] = 0.4, 0.3, 0.15, 0.1
    weights[1, 39] = 0.02
    assert draw_text(source, ["a", "bc"], weights, style=Style(80, True)) == [
        "a  ← w3 40%, w30 30%, w7 15%",
        "bc ←",
    ]
    # A link that has no room is left out as a whole.
    assert draw_text(source, ["a", "bc"], weights, style=Style(24, False)) == [
        "a  <- w3 40%, w30 30%",
        "bc <-",
    ]


def test_words_are_cut_and_so_many_of_them_are_counted() -> None:
    lines = draw_text(
        ["s" * 99], ["t" * 99] * 103, np.ones((103, 1), np.float32), style=Style(80, True)
    )
    assert lines[0].strip() == "s" * (textplot.MAX_WORD - 1) + "…"
    assert lines[1].split()[0] == "t" * (textplot.MAX_WORD - 1) + "…"
    assert len(lines) == 1 + textplot.MAX_ROWS + 1
    assert lines[-1] == "and 3 more words"


def test_what_is_not_a_number_shows() -> None:
    weights = np.array([[np.nan, 1.0]], np.float32)
    for blocks, cell in ((True, "██"), (False, "99")):
        lines = draw_text(["a", "b"], ["c"], weights, style=Style(80, blocks))
        assert lines[1] == f"c ?  {cell}"
    assert draw_text(["a", "b"], ["c"], weights, style=Style(6, True))[0].startswith("c ←")


def test_nothing_has_no_picture() -> None:
    for source, target in (([], ["a"]), (["a"], [])):
        weights = np.zeros((len(target), len(source)), np.float32)
        assert draw_text(source, target, weights, style=Style(80, True)) == []


@pytest.mark.parametrize(
    ("text", "width"),
    [
        ("", 0),
        ("abc", 3),
        ("猫", 2),
        ("Ａ", 2),
        ("ｱ", 1),
        ("e\u0301", 1),
        ("א\u200e", 1),
        ("\u00ad", 1),
    ],
)
def test_the_cells_of_a_text(text: str, width: int) -> None:
    assert width_of(text) == width


def test_wide_words_and_accents_keep_the_columns_in_line() -> None:
    source, target = ["猫が", "cafe\u0301", "x"], ["犬", "le"]
    lines = draw_text(source, target, np.full((2, 3), 0.9, np.float32), style=Style(80, True))
    assert lines == ["   猫が cafe\u0301 x", "犬 ████ ████ ██", "le ████ ████ ██"]


def test_words_that_read_from_right_to_left_stay_in_their_columns() -> None:
    lines = draw_text(
        ["שלום", "עולם", "a"], ["مرحبا"], np.full((1, 3), 0.9, np.float32), style=Style(80, True)
    )
    assert lines == [
        "      \u200eשלום\u200e \u200eעולם\u200e a",
        "\u200eمرحبا\u200e ████ ████ ██",
    ]


WORDS = st.lists(
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=20),
    min_size=1, max_size=30,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(WORDS, WORDS, st.integers(10, 200), st.booleans(), st.randoms(use_true_random=False))
def test_no_line_is_wider_than_the_terminal(source, target, width, blocks, random) -> None:
    weights = np.array([[random.random() for _ in source] for _ in target], np.float32)
    lines = draw_text(source, target, weights, style=Style(width, blocks))
    assert len(lines) >= len(target)
    assert max(map(width_of, lines)) <= width
    assert not any("\n" in line for line in lines)


@pytest.mark.parametrize("width", range(1, 10))
def test_a_terminal_of_no_use_ends_nothing(width: int) -> None:
    assert len(drawn(width)) >= len(TARGET)
