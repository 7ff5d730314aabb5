"""Coordination that lets a sentence grow to any length."""

from __future__ import annotations

from collections.abc import Callable

from . import relatives, routines, sequences, statements
from .draw import Draw
from .phrase import Phrase, comma, connective

TENSES = {("past",): 3, ("future",): 2, ("near",): 1}
PARTS: dict[Callable[[Draw, tuple[str, ...]], Phrase], int] = {
    sequences.same_object: 4,
    sequences.same_subject: 3,
    relatives.thing_used: 3,
    statements.shopping_list: 4,
    sequences.simple_action: 5,
}
# Sentences with a date; one is enough in a row.
DATED: dict[Callable[[Draw, tuple[str, ...]], Phrase], int] = {
    routines.journey: 5,
    routines.dated: 4,
}


def chain(draw: Draw) -> Phrase:
    """Return two sentences of one tense joined by a comma and "and"."""
    tenses = draw.weighted(TENSES)
    first = draw.weighted(PARTS | DATED)
    second = draw.weighted(PARTS)
    while second is first:
        second = draw.weighted(PARTS)
    return comma(first(draw, tenses)) + connective("and") + second(draw, tenses)


def long_sentence(draw: Draw, words: int) -> Phrase:
    """Return clauses of one tense, one after the other, until there are about so many words.

    The first ones are joined by commas, the last one by "and" or "but".
    """
    tenses = draw.weighted(TENSES)
    phrase = draw.weighted(PARTS | DATED)(draw, tenses)
    following = draw.weighted(PARTS)(draw, tenses)
    while len(phrase.english) + len(following.english) < words:
        phrase = comma(phrase) + following
        following = draw.weighted(PARTS)(draw, tenses)
    joint = connective("and" if draw.chance(0.7) else "but")
    return comma(phrase) + joint + following
