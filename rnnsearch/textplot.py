"""Attention drawn as text: a matrix of shades where it fits the terminal, else a list of links.

Shapes: J target words, I source words.
"""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

MAX_WORD = 16  # cells of a word
MAX_ROWS = 100  # target words
MAX_LINKS = 3  # source words of a target word, in a list
FAINT = 0.05  # a weight below it shows nothing, in a list twice as much

# From so much on a weight has the shade whose share of ink is nearest to it.
_SHADES = ((7 / 8, "█"), (5 / 8, "▓"), (3 / 8, "▒"), (FAINT, "░"))
_LEFT_TO_RIGHT_MARK = "\u200e"


class Style(NamedTuple):
    """What the terminal can show.

    Attributes:
        width: cells of a line.
        blocks: whether it has more than ASCII; otherwise weights are numbers, in percent.
    """

    width: int
    blocks: bool

    @property
    def ellipsis(self) -> str:
        """What stands for the rest of a word."""
        return "…" if self.blocks else "~"


def draw_text(
    source_words: Sequence[str], target_words: Sequence[str], weights: NDArray[np.float32],
    *, style: Style,
) -> list[str]:  # fmt: skip
    """Return the lines of a picture of the attention: target words down the side.

    The source words stand along the top; where they have no room, their numbers; where those have
    none, each target word has its largest links in a line.

    Args:
        source_words: I words, free of control characters.
        target_words: J words, likewise.
        weights: (J, I), from `alignment.merge_pieces`.
        style: of the terminal.
    """
    if not source_words or not target_words:
        return []
    shown = target_words[:MAX_ROWS]
    source = [_clipped(word, MAX_WORD, style) for word in source_words]
    target = [_clipped(word, min(MAX_WORD, style.width // 3), style) for word in shown]
    label = max(map(width_of, target))
    numbers = [str(number) for number in range(1, len(source) + 1)]
    for heads in (source, numbers):
        columns = [max(2, width_of(head)) for head in heads]
        if label + sum(columns) + len(columns) <= style.width:
            lines = _matrix(heads, target, weights, columns=columns, label=label, style=style)
            legend = [] if heads is source else _legend(source, style)
            break
    else:
        lines, legend = _links(source, target, weights, style=style), []
    if len(target_words) > MAX_ROWS:
        lines.append(f"and {len(target_words) - MAX_ROWS:,} more words"[: style.width])
    return [*lines, *legend]


def _matrix(
    heads: Sequence[str], target: Sequence[str], weights: NDArray[np.float32],
    *, columns: Sequence[int], label: int, style: Style,
) -> list[str]:  # fmt: skip
    first = [_padded(head, size) for head, size in zip(heads, columns, strict=True)]
    lines = [" ".join([" " * label, *first])]
    for word, row in zip(target, weights, strict=False):
        cells = [_cell(float(w), size, style) for w, size in zip(row, columns, strict=True)]
        lines.append(" ".join([_padded(word, label), *cells]))
    return [line.rstrip() for line in lines]


def _cell(weight: float, size: int, style: Style) -> str:
    """Return what shows one weight in `size` cells."""
    if weight != weight:  # not a number
        return _padded("?", size)
    if style.blocks:
        return next((shade for least, shade in _SHADES if weight >= least), " ") * size
    percent = str(min(99, round(100 * weight))) if weight >= FAINT else ""
    return _padded(percent, size)


def _legend(source: Sequence[str], style: Style) -> list[str]:
    """Return the source words with their numbers, as many a line as there is room for."""
    lines = [""]
    for number, word in enumerate(source, 1):
        item = _clipped(f"{number} {word}", style.width, style)
        if lines[-1] and width_of(lines[-1]) + 2 + width_of(item) > style.width:
            lines.append("")
        lines[-1] += ("  " if lines[-1] else "") + item
    return lines


def _links(
    source: Sequence[str], target: Sequence[str], weights: NDArray[np.float32], *, style: Style
) -> list[str]:
    """Return a line for each target word with the source words that it looked at most."""
    arrow = "←" if style.blocks else "<-"
    label = max(map(width_of, target))
    lines = []
    for word, row in zip(target, np.nan_to_num(weights), strict=False):
        order = np.argsort(-row, kind="stable")[:MAX_LINKS]
        told = [f"{source[i]} {round(100 * float(row[i]))}%" for i in order if row[i] >= 2 * FAINT]
        head = f"{_padded(word, label)} {arrow} "
        while told[1:] and width_of(head + ", ".join(told)) > style.width:
            told.pop()
        lines.append(_clipped((head + ", ".join(told)).rstrip(), style.width, style))
    return lines


def width_of(text: str) -> int:
    """Return how many cells of a terminal a text takes: wide characters two, accents none."""
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") and character != "\u00ad":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _clipped(text: str, cells: int, style: Style) -> str:
    """Return a text in at most so many cells; one that reads from right to left keeps its place.

    A terminal that knows such scripts would otherwise draw neighbouring words in reverse order.
    """
    if width_of(text) > cells:
        kept, used = "", width_of(style.ellipsis)
        for character in text:
            used += _cells(character)
            if used > cells:
                break
            kept += character
        text = kept + style.ellipsis if cells > 0 else ""
    if any(unicodedata.bidirectional(character) in ("R", "AL") for character in text):
        mark = _LEFT_TO_RIGHT_MARK
        return mark + text.removeprefix(mark).removesuffix(mark) + mark
    return text


def _padded(text: str, cells: int) -> str:
    return text + " " * (cells - width_of(text))
