"""The choice of a sentence type, and the stream of sentence pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import causes, complexes, questions, relatives, sequences, statements
from .draw import Draw
from .phrase import Pair, Phrase, finish

STATEMENTS: dict[Callable[[Draw], Phrase], int] = {
    statements.action: 32,
    statements.description: 10,
    statements.state: 6,
    statements.whereabouts: 6,
    statements.existence: 6,
    statements.shopping_list: 5,
    causes.because: 8,
    causes.condition: 4,
    causes.skies: 3,
    complexes.when: 5,
    complexes.meanwhile: 3,
    complexes.report: 5,
    relatives.relative: 10,
    sequences.same_object: 5,
    sequences.lost: 1,
    sequences.same_subject: 4,
    sequences.two_people: 3,
    sequences.taste: 3,
}
QUESTIONS: dict[Callable[[Draw], Phrase], int] = {
    questions.yes_no: 7,
    questions.adverbial: 4,
    questions.about_object: 4,
    questions.about_subject: 2,
}
KINDS = {"statement": 100, "question": 16, "addressed": 8}


def sentence(draw: Draw) -> Pair:
    """Return one sentence pair of any type."""
    kind = draw.weighted(KINDS)
    if kind == "statement":
        return finish(draw.weighted(STATEMENTS)(draw))
    if kind == "question":
        return finish(draw.weighted(QUESTIONS)(draw), "?")
    phrase, mark = questions.addressed(draw)
    return finish(phrase, mark)


def sentences(seed: int, *, max_words: int) -> Iterator[Pair]:
    """Yield pairs without end, at most `max_words` words on either side; they may repeat."""
    draw = Draw(seed)
    while True:
        pair = sentence(draw)
        if pair.longest <= max_words:
            yield pair
