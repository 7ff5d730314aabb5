"""What noun phrases, names and pronouns have in common: agreement and who they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from .draw import Draw
from .nouns import Noun
from .phrase import Phrase, Word, connective, fixed, token
from .places import MEN, WOMEN


class Agreement(NamedTuple):
    """What other words must agree with.

    `english` is "I", "singular" or "plural" and rules the English verb; `person` (1 to 3) and
    `plural` rule the French verb. `gender` is None where English leaves it open. `polite` is one
    person called "vous", whose adjectives stay singular.
    """

    person: int
    plural: bool
    gender: str | None
    english: str
    polite: bool = False

    @property
    def row(self) -> int:
        """The place in a French conjugation table."""
        return self.person - 1 + 3 * self.plural

    @property
    def many(self) -> bool:
        """Whether adjectives and participles are plural."""
        return self.plural and not self.polite


@dataclass(slots=True)
class Nominal:
    """A noun phrase, a name or a pronoun.

    `kind` is the English noun that decides which verbs and adjectives fit; names and pronouns
    count as "man" or "woman". `owner` names the possessive that points back here ("his"); it is
    "its" for animals, which own nothing.
    """

    phrase: Phrase
    agreement: Agreement
    kind: str
    owner: str
    pronoun: bool = False
    noun: Noun | None = None


# English pronoun: French, person, plural, gender, English verb, possessive.
PRONOUNS = {
    "I": ("je", 1, False, None, "I", "my"),
    "he": ("il", 3, False, "m", "singular", "his"),
    "she": ("elle", 3, False, "f", "singular", "her"),
    "we": ("nous", 1, True, None, "plural", "our"),
}


def pronoun(name: str) -> Nominal:
    """Return a subject pronoun whose gender, if it has one, is visible in English."""
    french, person, plural, gender, english, owner = PRONOUNS[name]
    word = Word(name)
    return Nominal(
        Phrase([word], [token(french, word)]),
        Agreement(person, plural, gender, english),
        "woman" if gender == "f" else "man",
        owner,
        pronoun=True,
    )


def again(nominal: Nominal) -> Nominal:
    """Return the pronoun of the third person that points back at `nominal`."""
    agreement = nominal.agreement
    if agreement.person == 1:
        return pronoun("we" if agreement.plural else "I")
    person = nominal.noun is None or nominal.noun.category in (
        "adult", "youth", "worker", "group", "kin",
    )  # fmt: skip
    if agreement.english == "plural":
        name = "they"
    elif person:
        name = "she" if agreement.gender == "f" else "he"
    else:
        name = "it"
    french = "elle" if agreement.gender == "f" else "il"
    word = Word(name)
    subject = token(french + "s" if agreement.plural else french, word)
    return replace(nominal, phrase=Phrase([word], [subject]), pronoun=True)


def name(draw: Draw) -> Nominal:
    """Return a given name."""
    gender = draw.pick("mf")
    text = draw.even(MEN if gender == "m" else WOMEN)
    return Nominal(
        fixed(text, text),
        Agreement(3, False, gender, "singular"),
        "man" if gender == "m" else "woman",
        "his" if gender == "m" else "her",
    )


def both(first: Nominal, second: Nominal) -> Nominal:
    """Return two noun phrases of the third person joined by "and"."""
    masculine = "m" in (first.agreement.gender, second.agreement.gender)
    return Nominal(
        first.phrase + connective("and") + second.phrase,
        Agreement(3, True, "m" if masculine else "f", "plural"),
        first.kind,
        "their",
    )
