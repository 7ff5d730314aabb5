"""Training pairs whose words are cut into other pieces each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from rnnsearch.encoded import EncodedCorpus
from rnnsearch.reach import LONGEST
from rnnsearch.subwords import SentencePieceTokenizer
from rnnsearch.text import Tokenizers

if TYPE_CHECKING:
    import datasets


class SampledPairs:
    """Draws the pieces of pairs: BPE-dropout (Provilkov et al. 2020).

    Args:
        pairs: the text, columns `source` and `target`.
        encoded: the same pairs as ids, filtered.
        tokenizers: of kind `bpe`.
        most_positions: the longest source, EOS included, that the model takes; None for any.
    """

    def __init__(
        self, pairs: datasets.Dataset, encoded: EncodedCorpus, tokenizers: Tokenizers,
        *, most_positions: int | None = None,
    ) -> None:  # fmt: skip
        self._sides = [side for side in tokenizers if isinstance(side, SentencePieceTokenizer)]
        if len(self._sides) != 2:
            raise TypeError("words have no pieces")
        self._pairs, self._encoded = pairs, encoded
        # Single letters would take several times the memory that the longest line needs, and reach
        # beyond learned positions; such a line keeps its usual pieces.
        lengths = (encoded.source_lengths, encoded.target_lengths)
        self._longest = [min(2 * int(side.max()), LONGEST) for side in lengths]
        if most_positions is not None:
            self._longest[0] = min(self._longest[0], most_positions - 1)

    def draw(
        self, indices: npt.NDArray[np.integer[Any]], *, rate: float, seed: tuple[int, int]
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Return source and target ids of the pairs numbered, without BOS and EOS.

        Args:
            indices: numbers as `EncodedCorpus.pairs` takes them.
            rate: the probability with which each merge of two pieces is left out.
            seed: what the draws depend on, and nothing else.
        """
        text = self._pairs[self._encoded.rows(indices)]
        usual = self._encoded.pairs(indices)
        states = np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(2)
        sides = []
        for tokenizer, name, plain, longest, state in zip(
            self._sides, ("source", "target"), usual, self._longest, states, strict=True
        ):
            drawn = tokenizer.sample(text[name], rate=rate, seed=int(state) >> 1)
            sides.append(
                [ids if len(ids) <= longest else p for ids, p in zip(drawn, plain, strict=True)]
            )
        return sides[0], sides[1]
