"""From attention over pieces to links between words, and to words in place of unknown ones.

Shapes: T target pieces, S source pieces without the end mark, J target words, I source words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rnnsearch.errors import UserError
from rnnsearch.lines import read_lines

Weights = NDArray[np.float32]


def merge_pieces(
    weights: Weights, *, source_counts: Sequence[int], target_counts: Sequence[int]
) -> Weights:
    """Return the weights between words, (J, I): the largest between any of their pieces.

    Args:
        weights: (T, S + 1) or (T, S); a column for the end of the source is left out.
        source_counts: pieces of each of the I source words, S in all.
        target_counts: pieces of each of the J target words, T in all.

    Raises:
        ValueError: the counts are not those of the weights.
    """
    rows, columns = sum(target_counts), sum(source_counts)
    if weights.shape[0] != rows or weights.shape[1] - columns not in (0, 1):
        raise ValueError(f"weights of {weights.shape} for {rows} target, {columns} source pieces")
    if not rows or not columns:
        return np.zeros((len(target_counts), len(source_counts)), np.float32)
    by_row = np.maximum.reduceat(weights[:, :columns], _starts(target_counts), axis=0)
    merged: Weights = np.maximum.reduceat(by_row, _starts(source_counts), axis=1)
    return merged


def _starts(counts: Sequence[int]) -> NDArray[np.int64]:
    return np.cumsum([0, *counts[:-1]])


def links(weights: Weights) -> list[tuple[int, int]]:
    """Return a link (i, j) for each target word j: to the source word i with the largest weight.

    Of equal weights the first counts. There are none where the source has no words.

    Args:
        weights: (J, I), from `merge_pieces`.
    """
    if weights.shape[1] == 0:
        return []
    return [(int(i), j) for j, i in enumerate(weights.argmax(axis=1))]


def pharaoh(pairs: Sequence[tuple[int, int]]) -> str:
    """Return links as `i-j`, source word first, both counted from 0, in their order."""
    return " ".join(f"{i}-{j}" for i, j in sorted(pairs))


def replace_unknown(
    target_words: Sequence[str | None],
    weights: Weights,
    *,
    source_words: Sequence[str],
    dictionary: Mapping[str, str],
) -> list[str]:
    """Return the target words, each unknown one as the source word it looked at most.

    The word comes as it is written in the source, or as `dictionary` translates it (Luong et al.,
    2015; Jean et al., 2015).

    Args:
        target_words: T words, None for an unknown one.
        weights: (T, S + 1) or (T, S), a word a row; the end of the source is never looked at.
        source_words: S words; without any, the unknown words are left out.
        dictionary: translations of source words.
    """
    looked_at = weights[:, : len(source_words)]
    words = []
    for word, row in zip(target_words, looked_at, strict=True):
        if word is not None:
            words.append(word)
        elif source_words:
            source = source_words[int(row.argmax())]
            words.append(dictionary.get(source, source))
    return words


def read_dictionary(path: Path) -> dict[str, str]:
    """Read a dictionary: on each line a source word, a tab and its translation.

    Raises:
        UserError: the file cannot be read, or a line has another form or repeats a word.
    """
    first: dict[str, int] = {}
    dictionary: dict[str, str] = {}
    for number, line in enumerate(read_lines(path), 1):
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != 2 or not all(cells):
            raise UserError(
                f"{path}:{number}: expected a source word, one tab and its translation, "
                f"came {line[:60]!r}"
            )
        source, target = cells
        if source in first:
            raise UserError(
                f"{path}:{number}: {source!r} stands in line {first[source]} already; keep one"
            )
        first[source] = number
        dictionary[source] = target
    if not dictionary:
        raise UserError(f"{path}: the dictionary is empty; write replace_unk=true to copy words")
    return dictionary
