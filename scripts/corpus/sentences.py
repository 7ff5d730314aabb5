"""The choice of a sentence type, and the stream of sentence pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import causes, chains, complexes, questions, relatives, routines, sequences, statements
from .adjectives import ADJECTIVE
from .draw import Draw
from .nouns import NOUN
from .phrase import Pair, Phrase, finish
from .places import MEN, WOMEN

STATEMENTS: dict[Callable[[Draw], Phrase], int] = {
    statements.action: 14,
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
    chains.chain: 20,
}
LANGUAGES = ("Italian", "French", "English", "German")
QUESTIONS: dict[Callable[[Draw], Phrase], int] = {
    questions.yes_no: 7,
    questions.adverbial: 4,
    questions.about_object: 4,
    questions.about_subject: 2,
}
CONTENT = frozenset(
    [*MEN, *WOMEN]
    + [form for noun in NOUN.values() for form in (noun.english, noun.english_plural)]
    + [adjective.english for adjective in ADJECTIVE if adjective.english not in LANGUAGES]
)
KINDS = {"statement": 130, "question": 20, "addressed": 8}


def sentence(draw: Draw) -> Pair:
    """Return one sentence pair of any type."""
    kind = draw.weighted(KINDS)
    if kind == "statement":
        return finish(draw.weighted(STATEMENTS)(draw))
    if kind == "question":
        return finish(draw.weighted(QUESTIONS)(draw), "?")
    phrase, mark = questions.addressed(draw)
    return finish(phrase, mark)


def repeats(english: str) -> bool:
    """Whether a name, a noun or an adjective is said twice, where a reader expects a pronoun."""
    words = [word.removesuffix("'s") for word in english.rstrip(".?").replace(",", "").split()]
    named = [word for word in words if word in CONTENT]
    return len(set(named)) < len(named)


def sentences(seed: int, *, max_words: int) -> Iterator[Pair]:
    """Yield pairs without end, at most `max_words` words on either side; they may repeat."""
    draw = Draw(seed)
    while True:
        pair = sentence(draw)
        if pair.longest <= max_words and not repeats(pair.english):
            yield pair
