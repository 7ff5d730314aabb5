"""Objects of verbs: a noun that suits the verb, its determiner, or a clitic pronoun."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

from . import times
from .draw import Draw
from .nominal import Agreement, Nominal, name
from .noun_phrase import noun_phrase
from .nouns import Noun, nouns_of
from .phrase import Phrase, Token, Word, clitic, fixed, token
from .verbs import Verb

PEOPLE = ("adult", "youth", "worker", "group", "kin")
COUNTED = frozenset(
    noun.english
    for noun in nouns_of(
        "fruit vegetable dish pet livestock flower bloom chair plate glass cup bottle pen coin tree"
    )
)
PLENTY = frozenset(
    noun.english for noun in nouns_of("fruit vegetable legume dish text flower bloom photo gift")
)
FEW = ("two", "three", "four")
CHILDREN = frozenset(
    noun.english
    for noun in nouns_of("youth children pupils son daughter grandson granddaughter nephew niece")
)
NOT_FOR_CHILDREN = frozenset(nouns_of("wine beer cider champagne vehicle house farm furniture"))
MEASURES = {
    "a glass of": nouns_of("drink -coffee -tea"),
    "a cup of": nouns_of("coffee tea"),
    "a bottle of": nouns_of("water milk wine beer lemonade cider champagne mineral_water"),
    "a piece of": nouns_of("bread cheese chocolate ham meat chicken"),
    "a kilo of": nouns_of("rice meat butter fruit vegetable legume -banana"),
}
# What men do to skirts and dresses only if these are their wives'.
WOMENS = ("wear", "look for", "put on", "take off", "try on")
FLAWS = frozenset({"dirty", "broken", "empty"})
# Verbs whose object may well be dirty, broken or empty.
FLAWED = ("see", "wash", "repair", "look at", "hide", "carry", "close", "open")
MEASURED = ("buy", "drink", "eat", "want")
# English pronoun: direct object, indirect object.
CLITICS = {
    "him": ("le", "lui"),
    "her": ("la", "lui"),
    "them": ("les", "leur"),
    "me": ("me", "me"),
    "us": ("nous", "nous"),
}
# Stands for the verb in the links of an object that is built before its verb.
VERB = Word("")


@dataclass(slots=True)
class Object:
    """What completes a verb: words after it, or clitics before it."""

    phrase: Phrase = field(default_factory=Phrase)
    clitics: list[Token] = field(default_factory=list)
    noun: Noun | None = None
    # A direct object that stands before the verb: what a participle with avoir agrees with.
    before: Agreement | None = None


def nouns_for(verb: Verb, subject: Nominal) -> tuple[Noun, ...]:
    """Return the objects of the verb that suit this subject: no wine for children."""
    return _suitable(verb, subject.kind, subject.agreement.gender == "m")


def suits(verb: Verb, noun: Noun, subject: Nominal) -> bool:
    """Whether the noun is one of `nouns_for`."""
    return noun.english in _names(verb, subject.kind, subject.agreement.gender == "m")


@cache
def _suitable(verb: Verb, kind: str, male: bool) -> tuple[Noun, ...]:
    child, man = kind in CHILDREN, male and verb.english in WOMENS
    return tuple(
        noun
        for noun in verb.objects
        if noun.english != kind
        and not (child and noun in NOT_FOR_CHILDREN)
        and not (man and noun.english in ("dress", "skirt"))
    )


@cache
def _names(verb: Verb, kind: str, male: bool) -> frozenset[str]:
    return frozenset(noun.english for noun in _suitable(verb, kind, male))


def owner(draw: Draw, subject: Nominal | None, *, kin: bool = False) -> str:
    """Return a possessive, most often the one that points back at the subject.

    Unrelated people have no common father: `kin` bars "their" after "the waiters".
    """
    strangers = (
        kin and subject is not None and subject.noun is not None and subject.owner == "their"
    )
    if subject is not None and subject.owner != "its" and not strangers and draw.chance(0.8):
        return subject.owner
    return draw.pick(("my", "our", "his", "her"))


def _measure(draw: Draw, verb: Verb, noun: Noun, chance: float) -> str | None:
    if verb.english not in MEASURED or not draw.chance(chance):
        return None
    fitting = [name for name, nouns in MEASURES.items() if noun in nouns]
    if verb.english in ("eat", "drink"):
        fitting = [name for name in fitting if name not in ("a kilo of", "a bottle of")]
    return draw.pick(fitting) if fitting else None


def _mass(draw: Draw, verb: Verb, noun: Noun, *, negated: bool) -> str:
    if "known" in verb.flags:
        return "the"
    measure = None if negated else _measure(draw, verb, noun, 0.3)
    if measure is not None:
        return measure
    kinds = {"any" if negated else "some": 5}
    if "want" not in verb.flags:
        kinds["the"] = 4
    if not negated:
        kinds["a lot of"] = 1
    return draw.weighted(kinds)


def _singular(draw: Draw, verb: Verb, noun: Noun) -> str:
    if "known" in verb.flags:
        owned = noun.category not in (*PEOPLE, "nature")
        return draw.weighted({"the": 2, "this": 1, "owner": 3 if owned else 0})
    kinds = {"a": 5}
    if "want" not in verb.flags:
        kinds |= {"the": 5, "this": 1}
        if (
            noun.category not in (*PEOPLE, "wild", "fruit", "vegetable", "dish", "nature")
            and noun.english != "flower"
        ):
            kinds |= {"owner": 4, "genitive": 2}
    return draw.weighted(kinds)


def _plural(draw: Draw, verb: Verb, noun: Noun, *, negated: bool) -> str:
    measure = None if negated else _measure(draw, verb, noun, 0.2)
    if measure is not None:
        return measure
    kinds = {"any" if negated else "some": 3}
    if "want" not in verb.flags:
        kinds |= {"the": 4, "this": 1}
        if noun.plural_only:
            kinds["owner"] = 4
    if not negated and not noun.plural_only:
        many = noun.english in COUNTED and draw.chance(0.6)
        kinds[draw.even(tuple(times.NUMBERS) if many else FEW)] = 4
        kinds["several"] = 1
    if not negated and noun.english in PLENTY:
        kinds["a lot of"] = 1
    return draw.weighted(kinds)


def _determiner(draw: Draw, verb: Verb, noun: Noun, *, negated: bool) -> tuple[str, bool]:
    """Return the determiner of an object, and whether the object is plural."""
    if noun.category == "kin":
        return "owner", noun.plural_only
    if "the" in verb.flags:
        return "the", noun.plural_only
    if "generic" in verb.flags:
        return "bare", not noun.mass
    if noun.category == "group":
        return "the", True
    if noun.category in ("building", "room", "outdoors") and "want" not in verb.flags:
        return draw.weighted({"the": 5, "this": 1}), False
    if noun.category == "transport":
        return draw.pick(("the", "a")), False
    if noun.mass:
        return _mass(draw, verb, noun, negated=negated), False
    if not noun.plural_only and ("one" in verb.flags or draw.chance(0.68)):
        return _singular(draw, verb, noun), False
    return _plural(draw, verb, noun, negated=negated), True


def described(
    draw: Draw,
    verb: Verb,
    noun: Noun,
    *,
    subject: Nominal | None = None,
    negated: bool = False,
    plain: bool = False,
) -> Nominal:
    """Return a noun phrase that can be the object of the verb.

    `plain` bars adjectives and measures ("a glass of").
    """
    # "Pas de" takes the place of an article, never after a preposition.
    negated = negated and verb.preposition in ("", "de")
    kind, plural = _determiner(draw, verb, noun, negated=negated)
    beast = subject is not None and subject.noun is not None and subject.owner == "its"
    while (plain or beast) and kind in MEASURES:
        kind, plural = _determiner(draw, verb, noun, negated=negated)
    if verb.english == "wear" and subject is not None and subject.agreement.many:
        kind, plural = draw.weighted({"owner": 3, "some": 2, "the": 1}), not noun.mass
    if kind == "owner":
        kind = owner(draw, subject, kin=noun.category == "kin")
        shared = kind in ("our", "their") and noun.category == "garment"
        plural = plural or shared
    plain = (
        plain
        or "the" in verb.flags
        or kind == "bare"
        or kind in MEASURES
        or verb.english == "clean"
    )
    if kind == "a" and negated and "want" not in verb.flags and draw.chance(0.6):
        kind = "the"
    if kind == "a" and negated and not verb.preposition:
        kind = "not a"
    if kind == "some" and "habitual" in verb.flags and not verb.preposition:
        kind = "unsaid some"
    if kind in ("some", "any") and verb.preposition == "de":
        kind += " after de"
    return noun_phrase(
        draw,
        noun,
        determiner=name(draw) if kind == "genitive" else kind,
        plural=plural,
        adjectives=0.0 if plain else 0.22,
        barred=frozenset() if verb.english in FLAWED else FLAWS,
    )


def with_preposition(verb: Verb, nominal: Nominal) -> Phrase:
    """Return the object after the prepositions that the verb wants.

    A French preposition without an English one links to VERB until the verb is known.
    """
    if not verb.preposition:
        return nominal.phrase
    lead = [Word(verb.lead)] if verb.lead else []
    preposition = token(verb.preposition, lead[0] if lead else VERB)
    return Phrase(lead + nominal.phrase.english, [preposition, *nominal.phrase.french])


def _persons(subject: Nominal) -> list[str]:
    return [] if subject.owner in ("my", "our") else ["me", "us"]


def _pronoun(draw: Draw, verb: Verb, subject: Nominal, *, compound: bool) -> Object:
    """Return a clitic; a direct one whose gender is open cannot stand before a participle."""
    indirect = verb.preposition == "à"
    names = ["him", "her"]
    if indirect or not compound:
        names += ["them", *_persons(subject)]
    word = Word(draw.pick(names))
    lead = [Word(verb.lead)] if verb.lead else []
    gender = {"him": "m", "her": "f"}.get(word.text)
    before = None if indirect or gender is None else Agreement(3, False, gender, "singular")
    clitics = [clitic(CLITICS[word.text][indirect], word)]
    return Object(Phrase([*lead, word]), clitics, before=before)


def someone_else(draw: Draw, subject: Nominal) -> Nominal:
    """Return a name that is not the subject's."""
    said = [word.text for word in subject.phrase.english]
    someone = name(draw)
    while someone.phrase.english[0].text in said:
        someone = name(draw)
    return someone


def choose(
    draw: Draw, verb: Verb, subject: Nominal, *, negated: bool = False, compound: bool = False
) -> Object:
    """Return an object for the verb: a noun phrase, a name or a pronoun."""
    if not verb.objects:
        return Object()
    noun = draw.even(nouns_for(verb, subject))
    if noun.category in PEOPLE and verb.preposition in ("", "à"):
        kind = draw.weighted({"pronoun": 3, "name": 3, "noun": 5})
        if kind == "pronoun":
            return _pronoun(draw, verb, subject, compound=compound)
        if kind == "name":
            return Object(with_preposition(verb, someone_else(draw, subject)))
    nominal = described(draw, verb, noun, subject=subject, negated=negated)
    return Object(with_preposition(verb, nominal), noun=noun)


def recipient(draw: Draw, verb: Verb, subject: Nominal) -> Object:
    """Return the receiver of a gift: "to the boy", or "him" before the thing.

    A particle ("give back") leaves no place for a pronoun.
    """
    if not verb.particle and draw.chance(0.4):
        word = Word(draw.pick(["him", "her", "them", *_persons(subject)]))
        return Object(Phrase([word]), [clitic(CLITICS[word.text][1], word)])
    noun = draw.even([noun for noun in nouns_of("person") if noun.english != subject.kind])
    if noun.category == "kin":
        someone = noun_phrase(draw, noun, determiner=owner(draw, subject, kin=True))
    elif noun.category == "group":
        someone = noun_phrase(draw, noun, determiner="the")
    elif draw.chance(0.4):
        someone = someone_else(draw, subject)
    else:
        someone = noun_phrase(draw, noun, determiner="the", adjectives=0.15)
    return Object(fixed("to", "à") + someone.phrase)
