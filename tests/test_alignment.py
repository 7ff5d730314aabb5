"""From attention to links and to words in place of unknown ones."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnnsearch.alignment import links, merge_pieces, pharaoh, read_dictionary, replace_unknown
from rnnsearch.errors import UserError


def weights(*rows: list[float]) -> np.ndarray:
    return np.array(rows, np.float32)


def test_pieces_merge_by_their_largest_weight_and_the_end_is_dropped() -> None:
    # Two source words of 2 and 1 pieces, two target words of 1 and 2; the last column is the end.
    alpha = weights([0.1, 0.2, 0.3, 0.4], [0.0, 0.5, 0.1, 0.4], [0.2, 0.1, 0.6, 0.1])
    merged = merge_pieces(alpha, source_counts=[2, 1], target_counts=[1, 2])
    assert merged.tolist() == weights([0.2, 0.3], [0.5, 0.6]).tolist()
    assert links(merged) == [(1, 0), (1, 1)]


def test_the_end_of_the_source_is_no_word_however_much_weight_it_has() -> None:
    merged = merge_pieces(weights([0.1, 0.05, 0.85]), source_counts=[1, 1], target_counts=[1])
    assert links(merged) == [(0, 0)]


def test_of_equal_weights_the_first_word_counts() -> None:
    assert links(weights([0.5, 0.5])) == [(0, 0)]


def test_nothing_to_link() -> None:
    assert links(merge_pieces(weights([1.0]), source_counts=[], target_counts=[1])) == []
    assert links(merge_pieces(np.zeros((0, 3)), source_counts=[1, 1], target_counts=[])) == []


def test_weights_of_other_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match=r"weights of \(1, 2\) for 1 target, 4 source pieces"):
        merge_pieces(weights([0.5, 0.5]), source_counts=[4], target_counts=[1])


def test_pharaoh_counts_from_0_source_first() -> None:
    assert pharaoh([(2, 0), (0, 1), (0, 2)]) == "0-1 0-2 2-0"
    assert pharaoh([]) == ""


@given(st.lists(st.integers(1, 3), min_size=1), st.lists(st.integers(1, 3), min_size=1))
def test_every_target_word_has_one_link_inside_the_sentence(
    source: list[int], target: list[int]
) -> None:
    alpha = np.random.default_rng(sum(source)).random((sum(target), sum(source) + 1))
    merged = merge_pieces(alpha, source_counts=source, target_counts=target)
    assert merged.shape == (len(target), len(source))
    found = links(merged)
    assert [j for _, j in found] == list(range(len(target)))
    assert all(0 <= i < len(source) for i, _ in found)


def test_an_unknown_word_becomes_the_source_word_looked_at_most() -> None:
    alpha = weights([0.9, 0.05, 0.05], [0.1, 0.3, 0.6], [0.6, 0.3, 0.1])
    words = replace_unknown(
        ["le", None, None], alpha, source_words=["Ada", "sleeps"], dictionary={"Ada": "Adà"}
    )
    assert words == ["le", "sleeps", "Adà"]


def test_without_source_words_the_unknown_are_left_out() -> None:
    assert replace_unknown([None, "x"], weights([1], [1]), source_words=[], dictionary={}) == ["x"]


def test_a_dictionary_is_read(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_bytes("\ufeffdog\tchien\r\npotato\tpomme de terre\n".encode())
    assert read_dictionary(path) == {"dog": "chien", "potato": "pomme de terre"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dog\tchien\ncat\n", r"words.tsv:2: expected a source word, one tab .* came 'cat'"),
        ("dog chien\n", r"words.tsv:1: expected a source word, one tab"),
        ("dog\tle\tchien\n", r"words.tsv:1: expected"),
        ("dog\t \n", r"words.tsv:1: expected"),
        ("\n", r"words.tsv:1: expected"),
        ("a\tb\na\tc\n", r"words.tsv:2: 'a' stands in line 1 already"),
        ("", r"words.tsv: the dictionary is empty; write replace_unk=true"),
    ],
)
def test_a_broken_dictionary_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "words.tsv"
    path.write_text(text)
    with pytest.raises(UserError, match=message):
        read_dictionary(path)
