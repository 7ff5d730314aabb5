"""Where the model looked: the data that the script of the page makes an explorer of."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import merge_pieces
from rnnsearch.report.page import visible
from rnnsearch.translation import Translation
from rnnsearch.translator import NO_ATTENTION, Translator

MOST_WEIGHTS = 20_000
"""Of a sentence that is explored, its pieces times those of the output: beyond that nobody finds
anything, and the page would grow by more than 50 kB for it."""

TOO_LONG = "This sentence is too long for the explorer."
WITHOUT = (
    f"<p>There is nothing to explore here: {NO_ATTENTION}. Such a model writes every word from one "
    "vector, its summary of the whole source, and looks at no word in particular.</p>\n"
)


def too_long(source_pieces: int, target_pieces: int) -> bool:
    """Return whether a sentence has more weights than are explored."""
    return source_pieces * target_pieces > MOST_WEIGHTS


def explored(translator: Translator, translation: Translation) -> dict[str, Any] | str:
    """Return the weights of a translation for the page, or why there are none.

    Returns:
        `pieces` and, if the tokenizer has pieces that are less than words, `words`; each of them a
        dict of `source` (S tokens), `target` (T tokens) and `weights`: T rows of S, in thousandths.
        `pieces` keeps the end of the source, whose token comes last; `words` leaves it out.
    """
    weights = translation.alignment
    if not translation.target_pieces:
        return "The output is blank, so there is nothing to explore."
    if weights is None or too_long(*weights.shape):
        return TOO_LONG
    found = {"pieces": _view(translation.source_pieces, translation.target_pieces, weights)}
    if translator.target_tokenizer.kind == "word":
        return found
    source = translator.source_tokenizer.words(translation.source_pieces[:-1])
    target = translator.target_tokenizer.words(translation.target_pieces)
    merged = merge_pieces(
        weights,
        source_counts=[count for _, count in source],
        target_counts=[count for _, count in target],
    )
    found["words"] = _view([word for word, _ in source], [word for word, _ in target], merged)
    return found


def _view(
    source: Sequence[str], target: Sequence[str], weights: NDArray[np.float32]
) -> dict[str, Any]:
    thousandths = np.rint(np.nan_to_num(weights) * 1000).astype(int)  # a diverged model has NaN
    return {
        "source": [visible(token) for token in source],
        "target": [visible(token) for token in target],
        "weights": thousandths.tolist(),
    }
