"""Long sentences: two of the other types, one after the other, in the same time."""

from __future__ import annotations

from collections.abc import Callable

from . import relatives, routines, sequences, statements
from .draw import Draw
from .phrase import Phrase, comma, fixed

TENSES = {("past",): 3, ("future",): 2, ("near",): 1}
PARTS: dict[Callable[[Draw, tuple[str, ...]], Phrase], int] = {
    sequences.same_object: 4,
    sequences.same_subject: 3,
    relatives.thing_used: 3,
    routines.journey: 3,
    routines.dated: 3,
    statements.shopping_list: 4,
}


def chain(draw: Draw) -> Phrase:
    """Return two sentences of one tense joined by a comma and "and"."""
    tenses = draw.weighted(TENSES)
    first, second = draw.weighted(PARTS), draw.weighted(PARTS)
    while second is first:
        second = draw.weighted(PARTS)
    return comma(first(draw, tenses)) + fixed("and", "et") + second(draw, tenses)
