"""What stands in the lines that `rnnsearch translate` writes."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch.alignment import links, merge_pieces, pharaoh
from rnnsearch.translation import Translation
from rnnsearch.translator import Translator


class Words(NamedTuple):
    """The words of a translation and of its source, each with its number of pieces."""

    source: list[tuple[str, int]]
    target: list[tuple[str, int]]

    def merged(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the weights between words from those between pieces."""
        return merge_pieces(
            weights,
            source_counts=[count for _, count in self.source],
            target_counts=[count for _, count in self.target],
        )


def words_of(translator: Translator, best: Translation) -> Words:
    """Return the words that the pieces of a translation spell, the end mark left out."""
    return Words(
        translator.source_tokenizer.words(best.source_pieces[:-1]),
        translator.target_tokenizer.words(best.target_pieces),
    )


def translation_rows(candidates: Sequence[Translation], number: int, n_best: int) -> list[str]:
    """Return the translations of a line: the text, or `line number ||| text ||| score`.

    Args:
        candidates: best first.
        number: of the line, from 1.
        n_best: how many were asked for.
    """
    if n_best == 1:
        return [candidates[0].text]
    return [f"{number} ||| {c.text} ||| {c.score:.6f}" for c in candidates]


def alignment_row(translator: Translator, best: Translation, number: int, *, form: str) -> str:
    """Return a line for the file of alignments, its end included.

    Args:
        translator: what translated.
        best: a translation with its alignment; a blank one has none.
        number: of the line, from 1.
        form: `pharaoh`: links `i-j` between words; `json`: pieces, words and all weights.
    """
    words = words_of(translator, best)
    if form == "pharaoh":
        if best.alignment is None or not words.source:
            return "\n"
        return pharaoh(links(words.merged(best.alignment))) + "\n"
    record: dict[str, Any] = {
        "line": number,
        "source_pieces": best.source_pieces,
        "target_pieces": best.target_pieces,
        "source_words": [word for word, _ in words.source],
        "target_words": [word for word, _ in words.target],
        "weights": [] if best.alignment is None else best.alignment.round(6).tolist(),
        "score": best.score,
    }
    return json.dumps(record, ensure_ascii=False) + "\n"
