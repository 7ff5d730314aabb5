"""Phrases in two languages at once, and what happens where two French words meet.

English is a list of `Word` objects. Each French `Token` points at the word it translates (its
sure link) and at words that have a share in it (possible links). A rule builds both lists in
whatever order each language wants; the links never need renumbering, because they are objects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import NamedTuple

ELIDED = {
    "le": "l'", "la": "l'", "je": "j'", "me": "m'", "te": "t'",
    "se": "s'", "ne": "n'", "de": "d'", "que": "qu'",
}  # fmt: skip
CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}
# English words that are written with a vowel and begin with the sound of "you".
CONSONANT = ("uni", "use", "eu")
# What a vowel sound begins with; h is mute unless a word is marked otherwise.
VOWELS = frozenset("aàâeéèêëiîïoôuùûœæhAÀÂEÉÈÊËIÎÏOÔUÙÛŒÆH")
# Words that change before others without having a form for vowels.
MEETING = ("de", "à", "si")
MARKS = ".,?!"


@dataclass(eq=False, slots=True)
class Word:
    """One English word; two words with the same text are still two words."""

    text: str


class Token(NamedTuple):
    """One French word before elision and contraction.

    `before_vowel` is the form used before a vowel sound; one that ends in an apostrophe joins the
    next word. `aspirated` bars elision before this word. `article` allows "de le" to become "du".
    `marks` names the phenomena of the grammar that the word is a case of, as in phenomena.py.
    """

    text: str
    sure: Word
    possible: tuple[Word, ...] = ()
    before_vowel: str | None = None
    aspirated: bool = False
    article: bool = False
    marks: tuple[str, ...] = ()


@dataclass(slots=True)
class Phrase:
    """English words and the French tokens that translate them."""

    english: list[Word] = field(default_factory=list)
    french: list[Token] = field(default_factory=list)

    def __add__(self, other: Phrase) -> Phrase:
        return Phrase(self.english + other.english, self.french + other.french)


Shape = tuple[str, str | None, bool, bool]
"""The fields of a `Token` that its text decides."""


class Pair(NamedTuple):
    """A finished sentence pair with its alignment: `i-j` sure and `ipj` possible, from 0.

    `phenomena` are the marks of its words and of its kind.
    """

    english: str
    french: str
    alignment: str
    phenomena: frozenset[str] = frozenset()

    @property
    def longest(self) -> int:
        """The number of words of the longer side."""
        return 1 + max(self.english.count(" "), self.french.count(" "))


def token(text: str, sure: Word, *possible: Word, mark: str = "") -> Token:
    """Return a French word; a leading `*` marks one that is never elided before (h aspiré)."""
    plain, before_vowel, aspirated, article = _shape(text)
    return Token(plain, sure, possible, before_vowel, aspirated, article, (mark,) if mark else ())


@cache
def _shape(text: str) -> Shape:
    """Return text, form before a vowel, aspirated, article."""
    plain = text.removeprefix("*")
    return plain, ELIDED.get(plain), plain != text, plain in ("le", "les")


def clitic(text: str, sure: Word, *, mark: str = "clitic pronoun") -> Token:
    """Return a pronoun; unlike the article, "le" and "les" do not contract (de les voir)."""
    return token(text, sure, mark=mark)._replace(article=False)


def words_of(english: str) -> list[Word]:
    """Return new English words."""
    if " " in english:
        return [Word(text) for text in english.split()]
    return [Word(english)]


Entry = tuple[str, int, tuple[int, ...], str | None, bool, bool]
"""Text, number of the sure word and of the possible ones, the other fields of a `Shape`."""


@cache
def _entries(french: str, default: int, length: int, idle: bool) -> tuple[Entry, ...]:
    """Return the words of a fixed expression; see `link`, for `length` English words."""
    split = [entry.partition(":") for entry in french.split()]
    sure = [(int(number) if number else default) % length for _, _, number in split]
    rest = tuple(set(range(length)).difference(sure)) if idle else ()
    return tuple(
        (text, number, () if place else rest, *shape)
        for place, (number, (text, *shape)) in enumerate(
            zip(sure, [_shape(text) for text, _, _ in split], strict=True)
        )
    )


def link(
    words: list[Word], french: str, *, default: int = -1, idle: bool = True, mark: str = ""
) -> list[Token]:
    """Return the French words of a fixed expression, linked to `words`.

    `word:2` links to English word 2, a bare word to `words[default]`. English words that no
    French word claims become possible links of the first French word, unless `idle` is false.
    """
    marks = (mark,) if mark else ()
    tokens = []
    for text, sure, rest, vowel, aspirated, article in _entries(french, default, len(words), idle):
        possible = tuple([words[number] for number in rest]) if rest else ()
        tokens.append(Token(text, words[sure], possible, vowel, aspirated, article, marks))
    return tokens


def fixed(english: str, french: str, *, default: int = -1, mark: str = "") -> Phrase:
    """Return an expression that is spelled out on both sides; for the links see `link`."""
    words = words_of(english)
    return Phrase(words, link(words, french, default=default, mark=mark))


def timed(english: str, french: str) -> Phrase:
    """Return an adverbial of time that is spelled out on both sides."""
    return fixed(english, french, mark="day or time")


# English | French | the phenomenon it brings; see `connective`.
CONNECTIVES = {
    "and": ("and", "et", "coordination"),
    "but": ("but", "mais", "coordination"),
    "so": ("so", "donc", "coordination"),
    "because": ("because", "parce:0 que:0", "because-clause"),
    "if": ("if", "si", "if-clause"),
    "when": ("when", "quand", "when-clause"),
    "while": ("while", "pendant:0 que:0", "when-clause"),
    "that": ("that", "que", "reported clause"),
    "that which": ("that", "que", "relative que"),
}


def connective(name: str) -> Phrase:
    """Return a word that joins two clauses or phrases, by its key in CONNECTIVES."""
    english, french, mark = CONNECTIVES[name]
    return fixed(english, french, mark=mark)


def comma(phrase: Phrase) -> Phrase:
    """Return the phrase with a comma at its end in both languages."""
    phrase.english[-1].text += ","
    text, *others = phrase.french[-1]
    return Phrase(phrase.english, [*phrase.french[:-1], Token(f"{text},", *others)])


def marked(phrase: Phrase, mark: str) -> Phrase:
    """Return the phrase as a case of a phenomenon."""
    first, *others = phrase.french
    return Phrase(phrase.english, [first._replace(marks=(*first.marks, mark)), *others])


def _vowel_sound(item: Token) -> bool:
    if item.aspirated:
        return False
    text = item.text
    return text[0] in VOWELS or text.rstrip(MARKS) == "y"


def _meet(first: Token, second: Token) -> list[Token]:
    """Return the one or two words that two neighbours become."""
    elided = first.before_vowel if _vowel_sound(second) else None
    if first.text == "si" and second.text in ("il", "ils"):
        elided = "s'"
    if elided is not None and elided.endswith("'"):
        possible = (*second.possible, first.sure, *first.possible)
        marks = (*first.marks, *second.marks, "elision")
        return [Token(elided + second.text, second.sure, possible, marks=marks)]
    if elided is not None:
        return [first._replace(text=elided), second]
    contracted = CONTRACTED.get((first.text, second.text)) if second.article else None
    if contracted is not None:
        possible = (*first.possible, second.sure, *second.possible)
        marks = (*first.marks, *second.marks, "contraction")
        return [Token(contracted, first.sure, possible, marks=marks)]
    return [first, second]


def join(tokens: list[Token]) -> list[Token]:
    """Return the French words after elision and contraction.

    From right to left, because "de" meets an article only when that article was not elided
    itself: "de le homme" is "de l'homme", never "du homme".
    """
    joined = tokens[-1:]  # the last word first
    for item in tokens[-2::-1]:
        if item.before_vowel is None and item.text not in MEETING:
            joined.append(item)
        else:
            joined[-1:] = _meet(item, joined[-1])[::-1]
    joined.reverse()
    return joined


def _articles(words: list[Word]) -> None:
    for word, following in pairwise(words):
        if word.text != "a":
            continue
        spoken = following.text.lower()
        if spoken[0] in "aeiou" and not spoken.startswith(CONSONANT):
            word.text = "an"


def finish(phrase: Phrase, mark: str = ".", *, kind: str = "") -> Pair:
    """Return the sentence with its first letter raised and its final mark.

    A French question mark stands apart, as a word of its own, and links to the last English word.
    `kind` is a phenomenon that the sentence as a whole is a case of.
    """
    words = phrase.english
    tokens = join(_asking(phrase.french, words[-1]) if mark == "?" else phrase.french)
    _articles(words)
    if mark != ".":
        tokens.append(Token("", words[-1]))
    english = " ".join([word.text for word in words]) + mark
    french = " ".join([item.text for item in tokens]) + mark
    found = {mark for item in tokens if item.marks for mark in item.marks}
    if kind:
        found.add(kind)
    return Pair(
        english[0].upper() + english[1:],
        french[0].upper() + french[1:],
        _numbers(words, tokens),
        _same(frozenset(found)),
    )


@cache
def _same(found: frozenset[str]) -> frozenset[str]:
    """Return one object for equal sets, which takes less room between processes."""
    return found


def _asking(tokens: list[Token], last: Word) -> list[Token]:
    """Link "est-ce que" possibly to the last English word, which carries the question mark."""
    return [
        item._replace(possible=(*item.possible, last))
        if item.text in ("est-ce", "que") and "question" in item.marks
        else item
        for item in tokens
    ]


def _numbers(words: list[Word], tokens: list[Token]) -> str:
    places = {word: place for place, word in enumerate(words)}
    links = []
    try:
        for column, (_, word, possible, *_) in enumerate(tokens):
            sure = places[word]
            links.append(f"{sure}-{column}")
            if possible:
                rows = {places[other] for other in possible}
                rows.discard(sure)
                links += [f"{row}p{column}" for row in sorted(rows)]
    except KeyError as error:
        raise ValueError(f"{error.args[0].text!r} is linked to, but not said") from None
    return " ".join(links)
