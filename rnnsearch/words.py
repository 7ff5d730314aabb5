"""The word tokenizer: the most frequent words of a language, all others unknown."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from rnnsearch.errors import UserError
from rnnsearch.ids import SPECIAL_IDS, SPECIAL_PIECES, UNK
from rnnsearch.moses import Workers, behaviour, join_words, split_words
from rnnsearch.subwords import no_text, warn_if_smaller

# To be raised when the files change in form or meaning.
_FORMAT = "words-1"
# `str.split` takes these for blanks or nothing, so no list holds a word of them alone.
_NO_WORD = "\0\x85"


class WordTokenizer:
    """A list of words with the ids from 4 on; a word that is not in it is UNK.

    Lines are normalised as for subwords and split by the rules of Moses.

    Args:
        vocabulary: the words in the order of their ids, without the four special ones.
        language: that of the lines, such as `en`.

    Attributes:
        workers: who splits the lines of `encode_batch`; this process alone by default.
    """

    kind = "word"

    def __init__(self, vocabulary: tuple[str, ...], *, language: str) -> None:
        self.vocabulary = vocabulary
        self.language = language
        self.workers = Workers()
        self._ids = {word: number for number, word in enumerate(vocabulary, SPECIAL_IDS)}

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones included."""
        return SPECIAL_IDS + len(self.vocabulary)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the words and of how lines of the language are split into words."""
        parts = (_FORMAT, behaviour(self.language), *self.vocabulary)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def encode(self, line: str) -> list[int]:
        """Return the ids of a line; text that looks like a mark is a word like any other."""
        return self._numbers(self.split(line))

    def encode_batch(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of each line."""
        return list(map(self._numbers, self.workers.split(lines, self.language)))

    def _numbers(self, words: Sequence[str]) -> list[int]:
        return [self._ids.get(word, UNK) for word in words]

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, without special ids, on one line."""
        return self.join([self.vocabulary[i - SPECIAL_IDS] for i in ids if i >= SPECIAL_IDS])

    def join(self, words: Sequence[str]) -> str:
        """Return the text of words, known or not, as it is written in the language."""
        return join_words(words, self.language)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the word of each id, `<unk>` for an unknown one."""
        return [
            SPECIAL_PIECES[i] if i < SPECIAL_IDS else self.vocabulary[i - SPECIAL_IDS] for i in ids
        ]

    def split(self, line: str) -> list[str]:
        """Return the words of a line, one for each id of `encode`, unknowns as written."""
        return split_words(line, self.language)

    def words(self, pieces: Sequence[str]) -> list[tuple[str, int]]:
        """Return each piece, which is a word, with the number 1."""
        return [(piece, 1) for piece in pieces]


def train_words(
    sides: Sequence[tuple[Iterable[str], str, str]],
    *,
    vocab_size: int,
    warn: Callable[[str], None],
) -> list[WordTokenizer]:
    """Make one list of the most frequent words of all sides, and a tokenizer for each of them.

    Words of equal frequency stand in the order of their code points.

    Args:
        sides: lines, read once; their language; what messages call them.
        vocab_size: ids at most, the four special ones included.
        warn: called with one line when there are fewer words.

    Raises:
        UserError: the text is blank, or `vocab_size` leaves no room for a word.
    """
    name = sides[0][2] if len(sides) == 1 else "both sides"
    if vocab_size <= SPECIAL_IDS:
        raise UserError(
            f"tokenizer.vocab_size={vocab_size} is too small for {name}: a word and the four "
            f"special ids need {SPECIAL_IDS + 1} or more"
        )
    counts: Counter[str] = Counter()
    with Workers() as workers:
        for lines, language, _ in sides:
            for words in workers.split(lines, language):
                counts.update(words)
    found = [(-count, word) for word, count in counts.items() if word.strip(_NO_WORD)]
    if not found:
        raise no_text(name)
    vocabulary = tuple(word for _, word in sorted(found)[: vocab_size - SPECIAL_IDS])
    warn_if_smaller(SPECIAL_IDS + len(vocabulary), vocab_size, name, warn)
    return [WordTokenizer(vocabulary, language=language) for _, language, _ in sides]


def pack_words(tokenizers: Sequence[WordTokenizer]) -> bytes:
    """Return the content of a `.words` file: a line of JSON about it, then a word a line.

    Args:
        tokenizers: one, or two that share their list.
    """
    words = tokenizers[0].vocabulary
    languages = [tokenizer.language for tokenizer in tokenizers]
    header = json.dumps({"format": _FORMAT, "languages": languages, "words": len(words)})
    return "".join(f"{line}\n" for line in (header, *words)).encode()


def unpack_words(data: bytes) -> list[WordTokenizer]:
    """Return what `pack_words` was given.

    Raises:
        ValueError: the data are no such file, or not all of it.
    """
    # Bytes that are not UTF-8 raise a ValueError too, with a reason of their own.
    first, *words = data.decode().split("\n")
    try:
        header = json.loads(first)
        expected = {"format": _FORMAT, "languages": header["languages"], "words": header["words"]}
        languages = [str(language) for language in header["languages"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError("the first line does not say what it is") from error
    if header != expected or len(languages) not in (1, 2):
        raise ValueError(f"not a list of words in the format {_FORMAT}")
    if not words or words.pop() != "" or len(words) != header["words"]:
        raise ValueError(f"{header['words']} words were expected, each with a line end")
    if len(set(words)) < len(words) or not all(word.split() == [word] for word in words):
        raise ValueError("a word is repeated, or is none")
    vocabulary = tuple(words)
    return [WordTokenizer(vocabulary, language=language) for language in languages]
