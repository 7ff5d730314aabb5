"""Plain statements: actions, descriptions, where things are, what there is, lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import objects, states
from .action import FOOD, act, make, possible
from .adjectives import ADJECTIVE, Adjective
from .clause import PEOPLE, Clause, animal, person, subject
from .draw import Draw
from .group import BE_VERB, Form, simple
from .moments import in_time
from .nominal import Nominal, name, pronoun
from .noun_phrase import noun_phrase
from .nouns import Noun, nouns_of, rows
from .phrase import Phrase, Word, comma, connective, fixed, token
from .place import abroad, at, beside
from .times import NUMBERS
from .verbs import INTRANSITIVES, flagged, named, of_subject

# English | French | things | what they are on, under or in
SPOTS = """
on | sur | item text cat lamp phone | table chair bed desk armchair
on | sur | tableware fruit cake egg bread cheese | table bench
under | sous | cat dog ball shoes mouse bag box | table chair bed
in | dans | key letter photo book garment gift map ticket pencil | box bag suitcase wardrobe
in | dans | fruit bread cheese beans potato onion carrot mushrooms egg flower | basket box kitchen
behind | derrière | cat dog ball umbrella chair suitcase box bag | door
in front of | devant:1 | car bicycle lorry dog cat bus taxi | door house hotel school church
in | dans | animal | garden forest village park
in | dans | car lorry bicycle tourists children policeman | street
"""
SPOT_ROWS = tuple(
    (english, french, tuple(nouns_of(things)), tuple(nouns_of(places)))
    for english, french, things, places in rows(SPOTS)
)
DESCRIBED = nouns_of(
    "person food drink thing transport place opening animal nature bloom work task event"
)
FIXED_PLACES = ("nature", "building", "room", "outdoors", "transport", "wild")
LISTS = ("buy", "see", "eat", "sell", "prepare", "choose", "have", "need", "want", "find")
LISTED = ("present", "past", "near", "must", "future")
NOT_LISTED = (*objects.PEOPLE, "building", "outdoors", "room", "transport")


def action(draw: Draw) -> Phrase:
    """Return somebody doing something, sometime."""
    if draw.chance(0.3):
        return in_time(draw, act(draw, animal(draw)))
    if draw.chance(0.05):
        number = draw.pick(objects.FEW)
        some = noun_phrase(draw, draw.even(PEOPLE), determiner=number, plural=True)
        verb = draw.even(of_subject(INTRANSITIVES, some.kind))
        return in_time(draw, act(draw, some, verb=verb, tense="past", negation=""))
    return in_time(draw, act(draw, subject(draw)))


def thing(draw: Draw, noun: Noun, *, plural: bool = False) -> Nominal:
    """Return a definite noun phrase: the, this, my, Paul's."""
    if noun.category == "kin":
        return noun_phrase(draw, noun, determiner=draw.pick(("my", "our")), plural=plural)
    kinds = {"the": 6, "this": 1}
    if noun.category not in (*FIXED_PLACES, *objects.PEOPLE, "fruit", "vegetable", "dish"):
        kinds |= {"my": 1, "his": 1, "her": 1, "our": 1, "genitive": 1}
    kind = draw.weighted(kinds)
    determiner = name(draw) if kind == "genitive" else kind
    return noun_phrase(draw, noun, determiner=determiner, plural=plural, adjectives=0.0)


@dataclass(frozen=True, eq=False, slots=True)
class Quality:
    """An adjective and the things it can be said of."""

    adjective: Adjective
    nouns: tuple[Noun, ...]


@cache
def _qualities() -> tuple[Quality, ...]:
    found = [
        Quality(adjective, tuple(n for n in DESCRIBED if n.english in adjective.nouns))
        for adjective in ADJECTIVE
        if not adjective.attributive
    ]
    return tuple(quality for quality in found if quality.nouns)


def description_clause(draw: Draw, *, question: bool = False) -> Clause:
    """Return a thing, an animal or a person with an adjective said of it."""
    if draw.chance(0.35):
        who = subject(draw, pronouns=not question, adjectives=0.0)
        adjective = draw.even(states.fitting(who))
    else:
        quality = draw.even(_qualities())
        adjective, noun = quality.adjective, draw.even(quality.nouns)
        plural = not noun.mass and noun.category != "kin" and draw.chance(0.3)
        who = thing(draw, noun, plural=plural)
    form = states.timely(draw, adjective, question=question)
    plain = form.negation or form.tense == "future"
    degree = None if plain else states.degree(draw, adjective)
    return states.described_as(who, adjective, form, degree=degree)


def description(draw: Draw) -> Phrase:
    """Return "the soup is very hot"."""
    return description_clause(draw).statement()


def state(draw: Draw) -> Phrase:
    """Return "the boy is hungry", "he is ten years old" or a profession."""
    kind = draw.weighted({"state": 4, "age": 4, "profession": 7})
    form = states.be_form(draw, states.BE_TENSES)
    if kind == "state":
        animals = draw.chance(0.15)
        names = states.ANIMAL_STATES if animals else tuple(states.STATE_VERBS)
        who = animal(draw) if animals else subject(draw, adjectives=0.0)
        state_name = draw.even(names)
        if form.tense == "future" and state_name not in states.FORESEEN:
            form = Form("present", negation=form.negation)
        return states.state(who, state_name, form).statement()
    who = draw.pick((person, lambda d: pronoun(d.pick(("he", "she", "I")))))(draw)
    if who.agreement.plural:
        who = name(draw)
    if kind == "age":
        return states.age(draw, who).statement()
    if who.agreement.gender is None:
        who = pronoun(draw.pick(("he", "she")))
    if who.noun is not None and who.noun.category in ("youth", "worker"):
        who = name(draw)
    return states.profession(draw, who, form).statement()


def whereabouts(draw: Draw) -> Phrase:
    """Return where a person or a thing is."""
    form = states.be_form(draw, states.BE_TENSES)
    if draw.chance(0.5):
        who = subject(draw, adjectives=0.0)
        kind = draw.weighted({"place": 3, "abroad": 3, "beside": 4})
        if kind == "place":
            where = at(draw, draw.pick(nouns_of("building room outdoors")).english, "there")
        else:
            where = abroad(draw, "there") if kind == "abroad" else beside(draw)
    else:
        what, where = spot(draw)
        vehicle = what.category in ("vehicle", "transport")
        many = not what.mass and not vehicle and draw.chance(0.3)
        who = thing(draw, what, plural=many)
        form = Form(draw.pick(("present", "present", "past")))
    group = simple(BE_VERB, who.agreement, form, [])
    return Clause(who, group, where).statement()


def spot(draw: Draw) -> tuple[Noun, Phrase]:
    """Return a thing and a phrase of place that suits it."""
    english, french, things, places = draw.pick(SPOT_ROWS)
    noun = draw.even(things)
    spots = [place for place in places if place.english != noun.english]
    where = noun_phrase(draw, draw.even(spots), determiner="the", adjectives=0.12)
    return noun, fixed(english, french) + where.phrase


def existence(draw: Draw, *, question: bool = False) -> Phrase:
    """Return "there is a cat under the table", "il y a un chat sous la table"."""
    noun, where = spot(draw)
    negated = not question and draw.chance(0.2)
    plural = noun.plural_only or (not noun.mass and draw.chance(0.55))
    if negated:
        determiner = "no"
    elif noun.mass:
        determiner = "some"
    elif plural:
        number = draw.even(tuple(NUMBERS))
        determiner = draw.weighted({"some": 3, number: 7, "several": 1, "a lot of": 1})
        if noun.plural_only and determiner == number:
            determiner = "some"
    else:
        determiner = "a"
    what = noun_phrase(draw, noun, determiner=determiner, plural=plural, adjectives=0.2)
    tense = draw.weighted({"present": 6, "past": 3, "future": 0 if question else 1})
    return there_is(what, tense, where, negated=negated, question=question)


def there_is(what: Nominal, tense: str, where: Phrase, *, negated: bool, question: bool) -> Phrase:
    """Return what there is, was or will be, with its place."""
    many = what.agreement.english == "plural"
    texts = {"present": "are" if many else "is", "past": "were" if many else "was"}
    there, verb = Word("there"), Word(texts.get(tense, "will"))
    french = {"present": "a", "past": "avait"}.get(tense, "aura")
    be = [] if tense in texts else [Word("be")]
    no = what.phrase.english[0]
    opening = [token("il", there, mark="there is")]
    if negated:
        opening.append(token("ne", no))
    opening += [token("y", there), token(french, be[0] if be else verb, *([verb] if be else []))]
    if negated:
        opening.append(token("pas", no))
    if question:
        lead = [token(text, verb, mark="question") for text in ("est-ce", "que")]
        return Phrase([verb, there, *be], lead + opening) + what.phrase + where
    return Phrase([there, verb, *be], opening) + what.phrase + where


def shopping_list(draw: Draw, tenses: tuple[str, ...] = LISTED) -> Phrase:
    """Return an action with two or three objects: "a cake, two pears and some bread"."""
    who = subject(draw)
    verb = draw.even(of_subject(named(*LISTS), who.kind))
    wanted = [tense for tense in tenses if possible(verb, who.agreement, tense)]
    if not wanted:
        return shopping_list(draw, tenses)
    tense = draw.pick(wanted)
    kinds = [noun for noun in objects.nouns_for(verb, who) if noun.category not in NOT_LISTED]
    category = draw.pick(kinds).category
    if category in FOOD:
        nouns = [noun for noun in kinds if noun.category in FOOD]
    else:
        nouns = [noun for noun in kinds if noun.category == category]
    chosen: list[Noun] = []
    while len(chosen) < min(len(nouns), draw.pick((2, 3))):
        noun = draw.even(nouns)
        if noun not in chosen:
            chosen.append(noun)
    new = flagged(verb, "want")
    phrases = [
        objects.with_preposition(verb, objects.described(draw, new, noun, subject=who))
        for noun in chosen
    ]
    clause = make(draw, who, verb, Form(tense), objects.Object(enumeration(phrases)))
    return clause.statement()


def enumeration(phrases: list[Phrase]) -> Phrase:
    """Return "a, b and c"."""
    listed = phrases[0]
    for following in phrases[1:-1]:
        listed = comma(listed) + following
    return listed + connective("and") + phrases[-1] if len(phrases) > 1 else listed
