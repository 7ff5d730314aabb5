"""The choice of a sentence type, and the streams of sentence pairs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from . import (
    absences,
    causes,
    comparisons,
    complexes,
    durations,
    growing,
    owners,
    questions,
    relatives,
    routines,
    sequences,
    statements,
)  # fmt: skip
from .adjectives import ADJECTIVE
from .draw import Draw
from .nouns import NOUN
from .phrase import VOWELS, Pair, Phrase, finish
from .places import MEN, WOMEN

STATEMENTS: dict[Callable[[Draw], Phrase], int] = {
    statements.action: 20,
    routines.custom: 12,
    routines.journey: 13,
    routines.dated: 8,
    routines.timetable: 6,
    routines.lasting: 2,
    routines.wish: 5,
    routines.origin: 3,
    statements.description: 9,
    statements.state: 15,
    statements.whereabouts: 9,
    statements.existence: 6,
    statements.shopping_list: 6,
    causes.because: 8,
    causes.condition: 5,
    causes.skies: 4,
    complexes.when: 7,
    complexes.meanwhile: 4,
    complexes.report: 6,
    relatives.relative: 13,
    sequences.same_object: 6,
    sequences.lost: 2,
    sequences.same_subject: 4,
    sequences.two_people: 7,
    sequences.taste: 4,
    comparisons.comparison: 10,
    comparisons.superlative: 10,
    comparisons.price: 3,
    comparisons.belonging: 4,
    owners.owners: 6,
    durations.since: 5,
    durations.formerly: 5,
    durations.manner: 5,
    absences.missing: 5,
    absences.nobody: 2,
    absences.nothing: 3,
    growing.chain: 14,
}
LANGUAGES = ("Italian", "French", "English", "German", "Spanish")
QUESTIONS: dict[Callable[[Draw], Phrase], int] = {
    questions.yes_no: 7,
    questions.adverbial: 4,
    questions.about_object: 4,
    questions.about_subject: 2,
    questions.about_other: 3,
    questions.how_much: 1,
    durations.how_long: 1,
}
# In a large corpus, most of what types of few different sentences give came before, so they are
# drawn less often there; so are chains, of which many are too long.
SCARCE: dict[Callable[[Draw], Phrase], int] = {
    routines.lasting: 1,
    routines.origin: 2,
    statements.description: 4,
    statements.state: 3,
    statements.whereabouts: 4,
    statements.existence: 3,
    comparisons.comparison: 4,
    comparisons.superlative: 1,
    comparisons.price: 1,
    durations.since: 3,
    durations.manner: 2,
    absences.missing: 4,
    absences.nobody: 1,
    absences.nothing: 1,
    growing.chain: 4,
}
MANY = STATEMENTS | SCARCE
MANY_QUESTIONS: dict[Callable[[Draw], Phrase], int] = {
    questions.yes_no: 22,
    questions.adverbial: 7,
    questions.about_object: 9,
    questions.about_subject: 4,
    questions.about_other: 3,
    questions.how_much: 1,
    durations.how_long: 1,
}
CONTENT = frozenset(
    [*MEN, *WOMEN]
    + [form for noun in NOUN.values() for form in (noun.english, noun.english_plural)]
    + [adjective.english for adjective in ADJECTIVE if adjective.english not in LANGUAGES]
)
NAME = re.compile(rf"\b(?:{'|'.join([*MEN, *WOMEN])})\b")
# The names that may stand for each one: of one gender, elided before or not.
LIKE = {
    name: tuple(
        other for other in names if other != name and (other[0] in VOWELS) == (name[0] in VOWELS)
    )
    for names in (MEN, WOMEN)
    for name in names
}
KINDS = {"statement": 130, "question": 20, "addressed": 8}


def sentence(draw: Draw, *, many: bool) -> Pair:
    """Return one sentence pair of any type; of `many`, those that seldom came before."""
    kind = draw.weighted(KINDS)
    if kind == "statement":
        return finish(draw.weighted(MANY if many else STATEMENTS)(draw))
    if kind == "question":
        asked = draw.weighted(MANY_QUESTIONS if many else QUESTIONS)(draw)
        return finish(asked, "?", kind="question")
    phrase, mark = questions.addressed(draw)
    return finish(phrase, mark, kind="question" if mark == "?" else "said to somebody")


def repeats(english: str) -> bool:
    """Whether a name, a noun or an adjective is said twice, where a reader expects a pronoun."""
    words = english.rstrip(".?").replace(",", "").replace("'s", "").split(" ")
    named = [word for word in words if word in CONTENT]
    return len(set(named)) < len(named)


def renamed(draw: Draw, pair: Pair) -> Pair | None:
    """Return the pair with another name in place of its first one, or None if there is none."""
    found = NAME.search(pair.english)
    if found is None:
        return None
    name = found.group()
    other = draw.pick(LIKE[name])
    if other in pair.english:
        return None
    english, french = (re.sub(rf"\b{name}\b", other, line) for line in pair[:2])
    return pair._replace(english=english, french=french)


def sentences(draw: Draw, *, max_words: int, many: bool) -> Iterator[Pair]:
    """Yield pairs without end, at most `max_words` words on either side; they may repeat.

    `many` is for the later ones of a large corpus: one with a name comes again with another name.
    """
    while True:
        pair = sentence(draw, many=many)
        if pair.longest <= max_words and not repeats(pair.english):
            yield pair
            if many and (other := renamed(draw, pair)) is not None:
                yield other


def long_sentences(draw: Draw, lengths: range) -> Iterator[Pair]:
    """Yield pairs without end that have about as many English words as one of the lengths."""
    while True:
        pair = finish(growing.long_sentence(draw, draw.pick(lengths)))
        if not repeats(pair.english):
            yield pair
