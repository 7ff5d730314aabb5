"""Clauses as statements and questions, and the subjects they may have."""

from __future__ import annotations

from dataclasses import dataclass

from .draw import Draw
from .group import Group
from .nominal import Nominal, both, name, pronoun
from .noun_phrase import noun_phrase
from .nouns import nouns_of
from .phrase import Phrase, token

PEOPLE = nouns_of("adult youth worker")
GROUPS = nouns_of("group")
KIN = nouns_of("kin")
ANIMALS = nouns_of("animal")


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

    def continued(self) -> Phrase:
        """Return what follows "and" when the subject is not said again.

        English drops the auxiliary as well ("is singing and dancing"), French does not.
        """
        dropped = self.group.auxiliary
        tokens = [
            item._replace(possible=tuple(word for word in item.possible if word is not dropped))
            for item in self.group.french
        ]
        return Phrase(self.group.rest + self.rest.english, tokens + self.rest.french)

    def question(self, lead: Phrase | None = None) -> Phrase:
        """Return the clause as a question with "est-ce que", after a question word if given."""
        word = self.group.auxiliary
        if word is None:
            raise ValueError("a question needs a group built with question=True")
        lead = lead or Phrase()
        what = bool(lead.french) and lead.french[0].text == "que"
        asking = [
            token("est-ce", lead.english[0] if what else word, self.group.head, mark="question"),
            token("que", word, self.group.head, mark="question"),
        ]
        subject, group = self.subject.phrase, self.group
        return Phrase(
            [*lead.english, word, *subject.english, *group.rest, *self.rest.english],
            [*lead.french, *asking, *subject.french, *group.french, *self.rest.french],
        )


def person(draw: Draw, *, adjectives: float = 0.2) -> Nominal:
    """Return one person, not a pronoun."""
    kind = draw.weighted({"name": 5, "noun": 5, "kin": 3})
    if kind == "name":
        return name(draw)
    if kind == "kin":
        return noun_phrase(draw, draw.even(KIN), determiner=draw.pick(("my", "my", "our", "his")))
    determiner = draw.weighted({"the": 7, "this": 1})
    return noun_phrase(draw, draw.even(PEOPLE), determiner=determiner, adjectives=adjectives)


def subject(draw: Draw, *, pronouns: bool = True, adjectives: float = 0.2) -> Nominal:
    """Return a human subject of any kind."""
    kinds = {"one": 9, "pronoun": 6 if pronouns else 0, "plural": 2, "group": 2, "both": 2}
    kind = draw.weighted(kinds)
    if kind == "pronoun":
        return pronoun(draw.weighted({"I": 3, "he": 3, "she": 3, "we": 3}))
    if kind == "plural":
        return noun_phrase(
            draw, draw.even(PEOPLE), determiner="the", plural=True, adjectives=adjectives
        )
    if kind == "group":
        return noun_phrase(draw, draw.even(GROUPS), determiner="the", adjectives=adjectives)
    return couple(draw) if kind == "both" else person(draw, adjectives=adjectives)


def couple(draw: Draw) -> Nominal:
    """Return two different names joined by "and"."""
    first, second = name(draw), name(draw)
    while first.phrase.english[0].text == second.phrase.english[0].text:
        second = name(draw)
    return both(first, second)


def two(draw: Draw) -> tuple[Nominal, Nominal]:
    """Return two different subjects, neither of them a pronoun."""
    first, second = subject(draw, pronouns=False), subject(draw, pronouns=False)
    texts = {word.text for word in first.phrase.english} - {"the", "my", "our", "and", "this"}
    while texts & {word.text for word in second.phrase.english} or (
        first.noun is not None and first.noun is second.noun
    ):
        second = subject(draw, pronouns=False)
    return first, second


def animal(draw: Draw) -> Nominal:
    """Return an animal as a subject."""
    plural = draw.chance(0.25)
    return noun_phrase(draw, draw.even(ANIMALS), determiner="the", plural=plural)
