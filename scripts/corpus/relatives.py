"""Relative clauses with qui and que, and the agreement of participles before which que stands."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from . import objects, states
from .action import able, act, make, possible, tense_for
from .adjectives import ADJECTIVE, Adjective
from .clause import subject, two
from .draw import Draw
from .group import Form, compound
from .nominal import Nominal
from .noun_phrase import noun_phrase
from .nouns import Noun, nouns_of
from .objects import Object
from .phrase import Phrase, Word, connective, token
from .verbs import ACTIONS, MOTIONS, Verb, named, of_subject

# What may have been done to a thing before the sentence tells more of it.
BEFORE = ("buy", "prepare", "choose", "find", "write", "paint", "repair", "build", "wash", "see",
          "sell", "cut", "open", "break", "lose", "forget", "read", "eat", "drink",
          "wear")  # fmt: skip
# What may be done to it then.
AFTER = ("eat", "drink", "read", "open", "close", "look at", "look for", "wear", "find", "wash",
         "take", "hide", "carry")  # fmt: skip
# The first verb leaves the thing ready for the second.
READY = ("buy", "prepare", "choose", "find", "write", "paint", "repair", "wash", "see")
DESCRIBABLE = [a for a in ADJECTIVE if not a.attributive and a.english not in ("young", "broken")]
NOT_USED = frozenset((*objects.PEOPLE, "pet"))
EVERY = (*ACTIONS, *MOTIONS)
DOINGS = tuple(verb for verb in ACTIONS if not verb.flags & {"generic", "stative"})
MEETING = {"know": "present", "wait for": "progressive", "help": "past", "see": "past",
           "meet": "past", "call": "past", "thank": "past", "follow": "past"}  # fmt: skip


def relative(draw: Draw) -> Phrase:
    """Return a sentence with a relative clause in its subject or its object."""
    rules = {who_acts: 4, thing_described: 4, thing_used: 4, person_met: 3}
    return draw.weighted(rules)(draw)


def who_clause(draw: Draw, who: Nominal, tense: str) -> tuple[Nominal, Verb]:
    """Return a person or an animal with "who is reading" after it, and the verb of that clause."""
    beast = who.noun is not None and who.noun.category in ("pet", "livestock", "wild")
    word = Word("that" if beast else "who")
    inner = replace(who, phrase=Phrase([word], [token("qui", word, mark="relative qui")]))
    verb = draw.even(able(DOINGS, who.kind, who.agreement, tense))
    clause = act(draw, inner, verb=verb, tense=tense, negation="").clause
    return replace(who, phrase=who.phrase + clause.statement()), verb


def who_acts(draw: Draw) -> Phrase:
    """Return "the man who is reading a book is tired" or "... knows Paul"."""
    noun = draw.even(nouns_of("adult youth worker group pet"))
    plural = noun.plural_only or draw.chance(0.25)
    quality = draw.chance(0.6)
    adjectives = 0.0 if quality else 0.1
    who = noun_phrase(draw, noun, determiner="the", plural=plural, adjectives=adjectives)
    tense = draw.pick(("progressive", "past"))
    who, first = who_clause(draw, who, tense)
    if quality:
        adjective = draw.even(states.fitting(who))
        over = tense == "past" and adjective.english in states.PASSING
        tenses = {"present": 2, "past": 1} if over else {"present": 1}
        return states.described_as(who, adjective, states.be_form(draw, tenses)).statement()
    tense = "past" if tense == "past" else "near"
    verbs = [
        verb
        for verb in able(EVERY, who.kind, who.agreement, tense)
        if verb.forms.base != first.forms.base
    ]
    return act(draw, who, verb=draw.even(verbs), negation="", tense=tense).clause.statement()


def that_clause(draw: Draw, nominal: Nominal, other: Nominal, names: tuple[str, ...]) -> Nominal:
    """Return a thing with a clause whose object it is: "that Paul bought"."""
    verbs = doers(nominal, other, names)
    verb = draw.even(verbs)
    form = Form("past", preceding=nominal.agreement if compound(verb, "past") else None)
    clause = make(draw, other, verb, form, Object()).statement()
    return replace(nominal, phrase=nominal.phrase + connective("that which") + clause)


def doers(nominal: Nominal, other: Nominal, names: tuple[str, ...]) -> list[Verb]:
    """Return the verbs of that name which `other` can have done to the thing."""
    return [
        verb
        for verb in of_subject(named(*names), other.kind)
        if nominal.noun is not None
        and objects.suits(verb, nominal.noun, other)
        and possible(verb, other.agreement, "past")
        # Several people do not wear one coat.
        and (verb.english != "wear" or other.agreement.many == nominal.agreement.many)
    ]


def used(nominal: Nominal) -> bool:
    """Whether the thing was eaten, drunk or sold, so that it is no more."""
    return any(word.text in ("ate", "drank", "sold") for word in nominal.phrase.english)


@cache
def _described(adjective: Adjective) -> tuple[Noun, ...]:
    """Return the things that may be told of and that the adjective is said of."""
    things = nouns_of("food drink vehicle garment pair text device item furniture")
    return tuple(noun for noun in things if noun.english in adjective.nouns)


def thing_described(draw: Draw) -> Phrase:
    """Return "the book that Paul bought is interesting"."""
    adjective = draw.even(DESCRIBABLE)
    nouns = _described(adjective)
    if not nouns:
        return thing_described(draw)
    noun = draw.even(nouns)
    plural = noun.plural_only or (not noun.mass and draw.chance(0.3))
    what = noun_phrase(draw, noun, determiner="the", plural=plural, adjectives=0.0)
    other = subject(draw)
    if not doers(what, other, BEFORE):
        return thing_described(draw)
    what = that_clause(draw, what, other, BEFORE)
    if used(what) and adjective.english in ("ready", "empty", "closed"):
        return thing_described(draw)
    form = states.be_form(draw, {"past": 1} if used(what) else {"present": 2, "past": 1})
    return states.described_as(what, adjective, form).statement()


def thing_used(draw: Draw, tenses: tuple[str, ...] = ()) -> Phrase:
    """Return "Marie is eating the cake that her mother prepared"; any tense unless some given."""
    who, other = two(draw)
    verb = draw.even(of_subject(named(*AFTER), who.kind))
    if tenses and not possible(verb, who.agreement, tenses[0]):
        return thing_used(draw, tenses)
    noun = draw.even([n for n in objects.nouns_for(verb, who) if n.category not in NOT_USED])
    worn = verb.english == "wear" and who.agreement.many
    several = worn or ("one" not in verb.flags and draw.chance(0.3))
    plural = noun.plural_only or (several and not noun.mass)
    what = noun_phrase(
        draw, noun, determiner="the", plural=plural, adjectives=0.1, barred=objects.FLAWS
    )
    barred = ("find", "wash", "look for") if verb.english == "look for" else (verb.english,)
    names = tuple(name for name in READY if name not in barred)
    if not doers(what, other, names):
        return thing_used(draw, tenses)
    what = that_clause(draw, what, other, names)
    tense = draw.pick(tenses) if tenses else tense_for(draw, verb, who)
    while tense == "present":
        tense = tense_for(draw, verb, who)
    return make(draw, who, verb, Form(tense), Object(what.phrase)).statement()


def person_met(draw: Draw) -> Phrase:
    """Return "I met a man who was selling flowers"."""
    who = subject(draw)
    name = draw.pick(tuple(MEETING))
    verb = named(name)[0]
    tense = MEETING[name]
    noun = draw.even([n for n in nouns_of("adult youth worker") if n.english != who.kind])
    determiner = draw.pick(("the", "a"))
    someone = noun_phrase(draw, noun, determiner=determiner, adjectives=0.1)
    inner = "imperfect" if tense == "past" else draw.pick(("past", "progressive"))
    target, _ = who_clause(draw, someone, inner)
    return make(draw, who, verb, Form(tense), Object(target.phrase)).statement()
