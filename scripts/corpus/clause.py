"""Clauses as statements and questions, and the subjects they may have."""

from __future__ import annotations

from dataclasses import dataclass

from .draw import Draw
from .group import Group
from .nominal import Nominal, both, name, noun_phrase, pronoun
from .nouns import nouns_of
from .phrase import Phrase, token

PEOPLE = tuple(nouns_of("adult youth worker"))
GROUPS = tuple(nouns_of("group"))
KIN = tuple(noun for noun in nouns_of("kin") if not noun.plural_only)
ANIMALS = tuple(nouns_of("animal"))

@dataclass(slots=True)
class Clause:
    """A subject with its verb group and everything after it."""

    subject: Nominal
    group: Group
    rest: Phrase

    def statement(self) -> Phrase:
        """Return the clause in the order of a statement."""
        auxiliary = [self.group.auxiliary] if self.group.auxiliary else []
        return Phrase(
            self.subject.phrase.english + auxiliary + self.group.rest + self.rest.english,
            self.subject.phrase.french + self.group.french + self.rest.french,
        )

    def question(self, lead: Phrase | None = None) -> Phrase:
        """Return the clause as a question with "est-ce que", after a question word if given."""
        word = self.group.auxiliary
        if word is None:
            raise ValueError("a question needs a group built with question=True")
        lead = lead or Phrase()
        asking = [token("est-ce", word), token("que", word)]
        return Phrase(
            [*lead.english, word, *self.subject.phrase.english, *self.group.rest]
            + self.rest.english,
            lead.french + asking + self.subject.phrase.french + self.group.french
            + self.rest.french,
        )


def person(draw: Draw) -> Nominal:
    """Return one person, not a pronoun."""
    kind = draw.weighted({"name": 5, "noun": 5, "kin": 3})
    if kind == "name":
        return name(draw)
    if kind == "kin":
        owner = draw.pick(("my", "my", "our"))
        return noun_phrase(draw, draw.even(KIN), determiner=owner)
    return noun_phrase(draw, draw.even(PEOPLE), determiner=draw.weighted({"the": 6, "this": 1}))


def subject(draw: Draw, *, pronouns: bool = True) -> Nominal:
    """Return a human subject of any kind."""
    kinds = {"one": 9, "pronoun": 6 if pronouns else 0, "plural": 2, "group": 2, "both": 3}
    kind = draw.weighted(kinds)
    if kind == "pronoun":
        return pronoun(draw.weighted({"I": 3, "he": 3, "she": 3, "we": 3}))
    if kind == "plural":
        return noun_phrase(
            draw, draw.even(PEOPLE), determiner=draw.weighted({"the": 4, "two": 1, "three": 1}),
            plural=True,
        )
    if kind == "group":
        return noun_phrase(draw, draw.even(GROUPS), determiner="the")
    if kind == "both":
        first, second = name(draw), name(draw)
        while first.phrase.english[0].text == second.phrase.english[0].text:
            second = name(draw)
        return both(first, second)
    return person(draw)


def animal(draw: Draw) -> Nominal:
    """Return an animal as a subject."""
    plural = draw.chance(0.25)
    return noun_phrase(draw, draw.even(ANIMALS), determiner="the", plural=plural)
