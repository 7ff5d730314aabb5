"""What comes of a line: its translation, the pieces of both sides, and where the model looked."""

from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.errors import without_controls

END_MARK = "</s>"
"""How the end of the source is shown in pictures and alignments."""

MAX_WEIGHTS = 1 << 24
"""Most attention weights of a translation that are kept, so that a very long line, translated to
as many pieces as it likes, takes 64 MiB and not all memory."""

MAX_CELLS = 10_000
"""Most attention weights that a notebook shows as a table."""


class Translation(NamedTuple):
    """A translation of one line; a notebook shows it with its attention as a table.

    Attributes:
        text: the translation.
        score: log-probability (natural) over (pieces + 1)^α; 0 for a blank line.
        source_pieces: S pieces, the end mark last.
        target_pieces: T pieces, without an end mark.
        alignment: (T, S) attention weights, a row for each target piece; None if not asked for, if
            the model has no attention, or if they were more than `MAX_WEIGHTS`.
        unknown: unknown words that were chosen; the text lacks them unless they were replaced.
    """

    text: str
    score: float
    source_pieces: list[str]
    target_pieces: list[str]
    alignment: NDArray[np.float32] | None
    unknown: int = 0

    def _repr_html_(self) -> str:
        """Return the text, and a row of shaded weights for each target piece; for notebooks.

        >>> Translation("le < la", -0.5, ["the", END_MARK], [], None)._repr_html_()
        '<p dir="auto">le &lt; la</p>'
        """
        text = f'<p dir="auto">{_shown(self.text)}</p>'
        if self.alignment is None or not 0 < self.alignment.size <= MAX_CELLS:
            return text
        head = "".join(f"<th scope=col>{_shown(piece)}</th>" for piece in self.source_pieces)
        rows = "".join(
            f"<tr><th scope=row>{_shown(piece)}</th>{''.join(map(_cell, row))}</tr>"
            for piece, row in zip(self.target_pieces, self.alignment.tolist(), strict=True)
        )
        return f"{text}<table><tr><td></td>{head}</tr>{rows}</table>"


BLANK = Translation("", 0.0, [], [], None)


def _shown(text: str) -> str:
    return escape(without_controls(text))


def _cell(weight: float) -> str:
    """Return a cell that is the darker the larger the weight, which it says as well."""
    style = (
        f"background:rgba(37,99,235,{weight:.2f});color:{'white' if weight > 0.5 else 'inherit'}"
    )
    return f'<td style="{style}">{weight:.2f}</td>'


def unaligned(source_pieces: int, target_pieces: int) -> bool:
    """Return whether a translation has too many pieces for its attention to be kept.

    Args:
        source_pieces: S, the end mark counted.
        target_pieces: T.
    """
    return source_pieces * target_pieces > MAX_WEIGHTS
