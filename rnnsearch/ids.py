"""The four special ids, and what every tokenizer does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

UNK, BOS, EOS, PAD = 0, 1, 2, 3
SPECIAL_IDS = 4
# What `Tokenizer.pieces` shows for them, in the order of the ids.
SPECIAL_PIECES = ("<unk>", "<s>", "</s>", "<pad>")


class Tokenizer(Protocol):
    """Turns a line into ids and back, without BOS and EOS, which belong to `batches.collate`."""

    @property
    def kind(self) -> str:
        """The name of the method, as in `tokenizer=...`: `unigram`, `bpe` or `word`."""

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones included."""

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides the ids of a line."""

    def encode(self, line: str) -> list[int]:
        """Return the ids of a line; empty for a blank line, never BOS, EOS or PAD."""

    def encode_batch(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of each line."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; the special ids add nothing to it."""

    def join(self, words: Sequence[str]) -> str:
        """Return the text of words such as those of `words`, on one line and without marks."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the printable piece of each id."""

    def split(self, line: str) -> list[str]:
        """Return the printable piece of each id of a line, unknowns as they are written."""

    def words(self, pieces: Sequence[str]) -> list[tuple[str, int]]:
        """Return the words that pieces spell, each with its number of pieces.

        Every piece belongs to a word: the numbers add up to `len(pieces)`.
        """
