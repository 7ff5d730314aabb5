"""Verbs with the nouns they go with, and verbs that take an infinitive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from . import english as english_forms
from . import french
from .nouns import Noun, nouns_of, rows
from .verb_tables import CONTROL, DITRANSITIVE, INTRANSITIVE, MOTION, TRANSITIVE, WHERE


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb in both languages.

    `english` is the base form with its particle, the name by which tables refer to the verb.
    `preposition` stands before the object in French and `lead` before it in English; `particle`
    follows the verb in English, `tail` the verb in French. Two verbs are equal if they are one.
    """

    english: str
    forms: english_forms.EnglishVerb
    particle: tuple[str, ...]
    french: french.FrenchVerb
    reflexive: bool
    tail: str
    preposition: str
    lead: str
    subjects: frozenset[str]
    objects: tuple[Noun, ...]
    where: tuple[str, ...]
    flags: frozenset[str]

    @property
    def etre(self) -> bool:
        """Whether the passé composé takes être and agrees with the subject."""
        return self.french.etre or self.reflexive


@cache
def flagged(verb: Verb, *flags: str) -> Verb:
    """Return the verb with more flags."""
    return replace(verb, flags=verb.flags | {*flags})


@cache
def of_subject(verbs: tuple[Verb, ...], kind: str) -> tuple[Verb, ...]:
    """Return the verbs that a subject of this kind can have."""
    return tuple(verb for verb in verbs if kind in verb.subjects)


@cache
def named(*names: str) -> tuple[Verb, ...]:
    """Return the transitive verbs of these English names, in the order of the table."""
    return tuple(verb for verb in TRANSITIVES if verb.english in names)


def known(verb: Verb) -> Verb:
    """Return the verb with objects that one can already speak of: the, my, his."""
    return flagged(verb, "known", "one")


@cache
def placeless(verb: Verb) -> Verb:
    """Return the verb without places of its own."""
    return replace(verb, where=(), flags=verb.flags - {"abroad"})


def make_verb(cells: Sequence[str]) -> Verb:
    """Return a verb from the six cells of a table; tables that lack a column give ""."""
    source, target, subjects, objects, where, flags = cells
    forms, _, particle = source.partition("/")
    reflexive = target.startswith(("se ", "s'"))
    infinitive, _, tail = target.removeprefix("se ").removeprefix("s'").partition(" ")
    preposition, plus, nouns = objects.rpartition("+")
    places = " ".join(WHERE.get(key, key) for key in where.split())
    following = particle.split()
    lead = following[-1] if plus and following else ""
    base = forms.split()[0]
    return Verb(
        " ".join([base, *following]),
        english_forms.verb(forms.split()),
        tuple(following[:-1] if lead else following),
        french.verb(infinitive),
        reflexive,
        tail,
        preposition if plus else "",
        lead,
        frozenset(noun.english for noun in nouns_of(subjects)),
        tuple(nouns_of(nouns)),
        tuple(noun.english for noun in nouns_of(places)),
        frozenset(flags.split()),
    )


TRANSITIVES = tuple(make_verb(row) for row in rows(TRANSITIVE))
INTRANSITIVES = tuple(make_verb([*row[:3], "", *row[3:]]) for row in rows(INTRANSITIVE))
DITRANSITIVES = tuple(
    make_verb([source, target, "person", things, "", ""])
    for source, target, things in rows(DITRANSITIVE)
)
MOTIONS = tuple(
    make_verb([source, target, "person", "", "", role]) for source, target, role in rows(MOTION)
)
# The tail of a control verb is the French preposition before the infinitive.
CONTROLS = tuple(
    make_verb([source, target, "person", "", "", flags]) for source, target, flags in rows(CONTROL)
)
ACTIONS = (*TRANSITIVES, *INTRANSITIVES)
BY_NAME = {verb.english: verb for verb in INTRANSITIVES if "man" in verb.subjects}
