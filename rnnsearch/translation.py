"""What comes of a line: its translation, the pieces of both sides, and where the model looked."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

END_MARK = "</s>"
"""How the end of the source is shown in pictures and alignments."""


class Translation(NamedTuple):
    """A translation of one line.

    Attributes:
        text: the translation.
        score: log-probability (natural) over (pieces + 1)^α; 0 for a blank line.
        source_pieces: S pieces, the end mark last.
        target_pieces: T pieces, without an end mark.
        alignment: (T, S) attention weights, a row for each target piece; None if not asked for, if
            the model has no attention, or if they were more than `translator.MAX_WEIGHTS`.
        unknown: unknown words that were chosen; the text lacks them unless they were replaced.
    """

    text: str
    score: float
    source_pieces: list[str]
    target_pieces: list[str]
    alignment: NDArray[np.float32] | None
    unknown: int = 0


BLANK = Translation("", 0.0, [], [], None)
