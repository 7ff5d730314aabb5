"""Phrases in two languages at once, and what happens where two French words meet.

English is a list of `Word` objects. Each French `Token` points at the word it translates (its
sure link) and at words that have a share in it (possible links). A rule builds both lists in
whatever order each language wants; the links never need renumbering, because they are objects.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

ELIDED = {
    "le": "l'", "la": "l'", "je": "j'", "me": "m'", "te": "t'",
    "se": "s'", "ne": "n'", "de": "d'", "que": "qu'",
}  # fmt: skip
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
VOWELS = frozenset("aàâeéèêëiîïoôuùûœæ")
MARKS = ".,?!"


@dataclass(eq=False, slots=True)
class Word:
    """One English word; two words with the same text are still two words."""

    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """One French word before elision and contraction.

    `before_vowel` is the form used before a vowel sound; one that ends in an apostrophe joins the
    next word. `aspirated` bars elision before this word. `article` allows "de le" to become "du".
    """

    text: str
    sure: Word
    possible: tuple[Word, ...] = ()
    before_vowel: str | None = None
    aspirated: bool = False
    article: bool = False


@dataclass(slots=True)
class Phrase:
    """English words and the French tokens that translate them."""

    english: list[Word] = field(default_factory=list)
    french: list[Token] = field(default_factory=list)

    def __add__(self, other: Phrase) -> Phrase:
        return Phrase(self.english + other.english, self.french + other.french)


class Pair(NamedTuple):
    """A finished sentence pair with its alignment: `i-j` sure and `ipj` possible, from 0."""

    english: str
    french: str
    alignment: str

    @property
    def longest(self) -> int:
        """The number of words of the longer side."""
        return max(len(self.english.split(" ")), len(self.french.split(" ")))


def token(text: str, sure: Word, *possible: Word) -> Token:
    """Return a French word; a leading `*` marks one that is never elided before (h aspiré)."""
    plain = text.removeprefix("*")
    return Token(plain, sure, possible, ELIDED.get(plain), plain != text, plain in ("le", "les"))


def clitic(text: str, sure: Word) -> Token:
    """Return a pronoun; unlike the article, "le" and "les" do not contract (de les voir)."""
    return replace(token(text, sure), article=False)


def link(words: list[Word], french: str, *, default: int = -1, idle: bool = True) -> list[Token]:
    """Return the French words of a fixed expression, linked to `words`.

    `word:2` links to English word 2, a bare word to `words[default]`. English words that no
    French word claims become possible links of the first French word, unless `idle` is false.
    """
    split = [entry.partition(":") for entry in french.split()]
    targets = [words[int(number)] if number else words[default] for _, _, number in split]
    rest = [word for word in words if word not in targets] if idle else []
    first = token(split[0][0], targets[0], *rest)
    others = zip(split[1:], targets[1:], strict=True)
    return [first, *(token(text, target) for (text, _, _), target in others)]


def fixed(english: str, french: str, *, default: int = -1) -> Phrase:
    """Return an expression that is spelled out on both sides; for the links see `link`."""
    words = [Word(text) for text in english.split()]
    return Phrase(words, link(words, french, default=default))


def comma(phrase: Phrase) -> Phrase:
    """Return the phrase with a comma at its end in both languages."""
    phrase.english[-1].text += ","
    final = phrase.french[-1]
    return Phrase(phrase.english, [*phrase.french[:-1], replace(final, text=final.text + ",")])


def _vowel_sound(item: Token) -> bool:
    if item.aspirated:
        return False
    first = item.text[0].lower()
    return first in VOWELS or first == "h" or item.text.rstrip(MARKS) == "y"


def _meet(first: Token, second: Token) -> list[Token]:
    """Return the one or two words that two neighbours become."""
    elided = first.before_vowel if _vowel_sound(second) else None
    if first.text == "si" and second.text in ("il", "ils"):
        elided = "s'"
    if elided is not None and elided.endswith("'"):
        possible = (*second.possible, first.sure, *first.possible)
        return [Token(elided + second.text, second.sure, possible)]
    if elided is not None:
        return [replace(first, text=elided), second]
    contracted = CONTRACTED.get((first.text, second.text)) if second.article else None
    if contracted is not None:
        return [Token(contracted, first.sure, (*first.possible, second.sure, *second.possible))]
    return [first, second]


def join(tokens: list[Token]) -> list[Token]:
    """Return the French words after elision and contraction.

    From right to left, because "de" meets an article only when that article was not elided
    itself: "de le homme" is "de l'homme", never "du homme".
    """
    joined: list[Token] = []
    for item in reversed(tokens):
        joined[:1] = _meet(item, joined[0]) if joined else [item]
    return joined


def _articles(words: list[Word]) -> None:
    for word, following in pairwise(words):
        if word.text == "a" and following.text[0].lower() in "aeiou":
            word.text = "an"


def finish(phrase: Phrase, mark: str = ".") -> Pair:
    """Return the sentence with its first letter raised and its final mark.

    A French question mark stands apart, as a word of its own, and links to the last English word.
    """
    words = phrase.english
    tokens = join(phrase.french)
    _articles(words)
    words[-1].text += mark
    if mark == ".":
        tokens[-1] = replace(tokens[-1], text=tokens[-1].text + mark)
    else:
        tokens.append(Token(mark, words[-1]))
    english = " ".join(word.text for word in words)
    french = " ".join(item.text for item in tokens)
    return Pair(
        english[0].upper() + english[1:], french[0].upper() + french[1:], _numbers(words, tokens)
    )


def _numbers(words: list[Word], tokens: list[Token]) -> str:
    place = {id(word): index for index, word in enumerate(words)}
    links = []
    for column, item in enumerate(tokens):
        sure = place[id(item.sure)]
        links.append(f"{sure}-{column}")
        possible = {place[id(word)] for word in item.possible} - {sure}
        links.extend(f"{row}p{column}" for row in sorted(possible))
    return " ".join(links)
