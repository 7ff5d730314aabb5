"""Relative clauses with dont: "whose", and objects that French joins with de."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from . import objects, states
from .action import able, act, possible
from .adjectives import ADJECTIVE, Adjective
from .clause import subject
from .draw import Draw
from .group import Form, simple
from .nominal import Nominal
from .noun_phrase import noun_phrase
from .nouns import Noun, nouns_of
from .phrase import Phrase, Word, token
from .relatives import DOINGS
from .verbs import MOTIONS, TRANSITIVES, Verb, of_subject

OWNED = nouns_of("kin pet vehicle house garden")
DEEDS = (*DOINGS, *MOTIONS)
CONCERNED = tuple(verb for verb in TRANSITIVES if verb.preposition == "de")


def owners(draw: Draw) -> Phrase:
    """Return a sentence with "dont" in its subject."""
    return whose(draw) if draw.chance(0.5) else concerned(draw)


@cache
def _qualities(noun: Noun) -> list[Adjective]:
    return [
        a
        for a in ADJECTIVE
        if noun.english in a.nouns and not a.attributive and a.english not in states.PASSING
    ]


@cache
def _owned() -> list[Noun]:
    return [noun for noun in OWNED if _qualities(noun)]


def whose(draw: Draw) -> Phrase:
    """Return "the man whose car is red left yesterday"."""
    noun = draw.even(nouns_of("adult youth worker"))
    who = noun_phrase(draw, noun, determiner="the", adjectives=0.0)
    owned = draw.even(_owned())
    plural = owned.plural_only
    word = Word("whose")
    what = noun_phrase(draw, owned, determiner="the", plural=plural, adjectives=0.0)
    # English drops the article after "whose".
    the, *rest = what.phrase.english
    french = [
        item._replace(sure=rest[-1]) if item.sure is the else item for item in what.phrase.french
    ]
    bare = replace(what, phrase=Phrase(rest, french))
    adjective = draw.even(_qualities(owned))
    inner = states.described_as(bare, adjective, Form("present")).statement()
    dont = Phrase([word], [token("dont", word, mark="relative dont")])
    long = replace(who, phrase=who.phrase + dont + inner)
    tense = draw.pick(("past", "near", "progressive"))
    verb = draw.even(able(DEEDS, who.kind, who.agreement, tense))
    return act(draw, long, verb=verb, tense=tense, negation="").clause.statement()


@cache
def _said_of(noun: Noun) -> list[Adjective]:
    return [
        a
        for a in ADJECTIVE
        if noun.english in a.nouns and not a.attributive and a.english != "broken"
    ]


def concerned(draw: Draw) -> Phrase:
    """Return "the novel that Marie is talking about is interesting"."""
    other = subject(draw)
    verb = draw.even(of_subject(CONCERNED, other.kind))
    tenses = [t for t in ("present", "progressive", "past") if possible(verb, other.agreement, t)]
    noun = draw.even(objects.nouns_for(verb, other))
    qualities = _said_of(noun)
    if not tenses or not qualities or noun.category == "kin":
        return concerned(draw)
    plural = noun.plural_only
    what = noun_phrase(draw, noun, determiner="the", plural=plural, adjectives=0.0)
    long = that_concerns(what, other, verb, draw.pick(tenses))
    return states.described_as(long, draw.even(qualities), Form("present")).statement()


def that_concerns(nominal: Nominal, other: Nominal, verb: Verb, tense: str) -> Nominal:
    """Return a thing with "that Marie is talking about", "dont Marie parle", after it."""
    group = simple(verb, other.agreement, Form(tense), [])
    that = Word("that")
    stranded = [Word(verb.lead)] if verb.lead else []
    english = [that, *other.phrase.english]
    english += [group.auxiliary] if group.auxiliary else []
    english += [*group.rest, *stranded]
    dont = token("dont", that, *stranded, mark="relative dont")
    clause = Phrase(english, [dont, *other.phrase.french, *group.french])
    return replace(nominal, phrase=nominal.phrase + clause)
