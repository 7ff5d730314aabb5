"""What has been going on for some time, what used to be, and how things are done."""

from __future__ import annotations

from .action import able, act, make
from .clause import person, subject
from .draw import Draw
from .group import Form, simple
from .moments import usually
from .nominal import pronoun
from .nouns import rows
from .objects import Object
from .phrase import Phrase, Word, fixed, timed, token
from .place import abroad
from .routines import HABITS
from .verbs import ACTIONS, INTRANSITIVES, MOTIONS

LONG = """
for two years | depuis:0 deux:1 ans:2
for ten years | depuis:0 dix:1 ans:2
for six months | depuis:0 six:1 mois:2
for three weeks | depuis:0 trois:1 semaines:2
for a long time | depuis:0 longtemps:3
"""
SHORT = """
for an hour | depuis:0 une:1 heure:2
for two hours | depuis:0 deux:1 heures:2
for half an hour | depuis:0 une:2 demi-heure:3
for twenty minutes | depuis:0 vingt:1 minutes:2
for a long time | depuis:0 longtemps:3
"""
YEARLY = tuple(v for v in INTRANSITIVES if v.forms.base in ("learn", "work"))
HOURLY = tuple(
    v
    for v in INTRANSITIVES
    if v.english in ("sleep", "walk", "swim", "cry", "dance", "wait", "rest", "study", "cook",
                     "listen to music", "watch television", "play cards", "play tennis",
                     "play chess", "read")
)  # fmt: skip
LIVE = next(v for v in MOTIONS if v.english == "live")
# Verb | adverbs: English, French; "!" after those that French puts next to the finite verb.
MANNERS = """
walk | slowly lentement, fast vite, quietly doucement
run | fast vite
swim | well bien!, fast vite, badly mal!
drive | carefully prudemment, fast vite, slowly lentement, well bien!, badly mal!
sing | well bien!, badly mal!, quietly doucement
dance | well bien!, badly mal!
sleep | well bien!, badly mal!
work | hard dur, slowly lentement, quietly tranquillement
cook | well bien!, badly mal!
play tennis | well bien!, badly mal!
play cards | well bien!, badly mal!
play football | well bien!, badly mal!
speak French | well bien!, badly mal!, fluently couramment!
speak English | well bien!, badly mal!, fluently couramment!
speak Spanish | well bien!, badly mal!, fluently couramment!
eat | slowly lentement, fast vite, quietly tranquillement
"""
MANNER_VERBS = {verb.english: verb for verb in ACTIONS if "man" in verb.subjects}


def since(draw: Draw) -> Phrase:
    """Return "Paul has been living in Rome for ten years", "habite à Rome depuis dix ans"."""
    who = subject(draw)
    if draw.chance(0.3):
        clause = make(draw, who, LIVE, Form("since"), Object(abroad(draw, "there")))
        return clause.statement() + timed(*draw.even(rows(LONG)))
    long = draw.chance(0.4)
    verbs = [v for v in (YEARLY if long else HOURLY) if who.kind in v.subjects]
    if not verbs:
        return since(draw)
    clause = make(draw, who, draw.even(verbs), Form("since"), Object())
    return clause.statement() + timed(*draw.even(rows(LONG if long else SHORT)))


def how_long(draw: Draw) -> Phrase:
    """Return "how long has Paul been waiting", "depuis combien de temps"."""
    who = pronoun(draw.pick(("he", "she"))) if draw.chance(0.3) else person(draw)
    verbs = [v for v in (*YEARLY, *HOURLY) if who.kind in v.subjects]
    if not verbs:
        return how_long(draw)
    clause = make(draw, who, draw.even(verbs), Form("since", question=True), Object())
    return clause.question(fixed("how long", "depuis:0 combien:0 de:1 temps:1"))


def formerly(draw: Draw) -> Phrase:
    """Return "my uncle used to play tennis on Sundays", "jouait au tennis le dimanche"."""
    who = subject(draw)
    verb = draw.even(able(HABITS, who.kind, who.agreement, "used"))
    statement = act(draw, who, verb=verb, tense="used", negation="").clause.statement()
    return statement + usually(draw, verb)


def manner(draw: Draw) -> Phrase:
    """Return "Marie speaks French well", "Marie parle bien français"."""
    who = subject(draw)
    name, adverbs = draw.even(rows(MANNERS))
    verb = MANNER_VERBS[name]
    tense = draw.weighted({"present": 3, "past": 2, "progressive": 1})
    english, french = draw.even(adverbs.split(", ")).split()
    skill = english in ("well", "badly", "fluently")
    if who.kind not in verb.subjects or (tense == "progressive" and skill):
        return manner(draw)
    word = Word(english)
    if english == "fluently":
        tense = "present"
    beside = french.endswith("!")
    adverb = token(french.removesuffix("!"), word, mark="adverb of manner")
    form = Form(tense, adverb=Phrase([], [adverb]) if beside else None)
    group = simple(verb, who.agreement, form, [])
    spoken = [group.auxiliary] if group.auxiliary else []
    english_words = [*who.phrase.english, *spoken, *group.rest, word]
    french_tokens = [*who.phrase.french, *group.french, *([] if beside else [adverb])]
    return Phrase(english_words, french_tokens)
