"""Sentences with a clause of time, and what people say, think or hope."""

from __future__ import annotations

from . import states
from .action import able, act, make, possible
from .causes import WEATHER_STATES, intention, joined
from .clause import Clause, subject, two
from .draw import Draw
from .group import Form
from .nominal import Nominal, again
from .nouns import rows
from .objects import Object
from .phrase import Phrase, comma, connective
from .verbs import ACTIONS, BY_NAME, MOTIONS, make_verb, of_subject

# Verbs whose subject reports something: English | French | flags
REPORTS = """
think thought thought | penser | stative
say said said | dire |
know knew known | savoir | stative
believe | croire | stative
hope | espérer | stative
"""
REPORT_VERBS = tuple(
    make_verb([source, target, "person", "", "", flags]) for source, target, flags in rows(REPORTS)
)
SUDDEN = ("arrive", "come back", "leave", "go out", "fall", "get up", "wake up", "go home")
GOING_ON = tuple(verb for verb in ACTIONS if verb.english not in SUDDEN)
ARRIVALS = ("arrive", "come back", "leave", "go home")
HOPED = ("visit", "meet", "buy", "find", "see", "come back", "rest", "arrive", "return", "go",
         "stay at home", "swim", "dance", "have", "help", "phone", "write", "answer")  # fmt: skip
HOPES = tuple(verb for verb in (*ACTIONS, *MOTIONS) if verb.english in HOPED)
STATES = (*states.STATE_VERBS, "tired", "sick", "happy", "sad", "busy")


def when(draw: Draw) -> Phrase:
    """Return a clause with "when": what was going on, what will follow, what always happens."""
    kind = draw.weighted({"background": 4, "future": 4, "habit": 3})
    if kind == "habit":
        return habit(draw)
    first, second = two(draw)
    names = ARRIVALS if kind == "future" else SUDDEN
    verb = draw.even([BY_NAME[name] for name in names])
    tense = "expected" if kind == "future" else "past"
    sub = make(draw, first, verb, Form(tense), Object()).statement()
    main = intention(draw, second) if kind == "future" else ongoing(draw, second).statement()
    return joined(draw, main, connective("when") + sub)


def ongoing(draw: Draw, who: Nominal) -> Clause:
    """Return what somebody was doing."""
    verb = draw.even(able(GOING_ON, who.kind, who.agreement, "imperfect"))
    return act(draw, who, verb=verb, tense="imperfect", negation="").clause


def habit(draw: Draw) -> Phrase:
    """Return "when it rains, ..." or "when Paul is tired, he ..."."""
    who = subject(draw, adjectives=0.0)
    if draw.chance(0.4):
        sky, names = draw.pick(WEATHER_STATES)
        names = tuple(name for name in names if states.can_be(who, name))
        if not names:
            return habit(draw)
        state = states.be_in_state(who, draw.even(names), Form("present")).statement()
        return joined(draw, state, connective("when") + states.weather(sky))
    names, actions = draw.pick(states.CAUSES)
    reason, verb = draw.even(names), BY_NAME[draw.even(actions)]
    if who.kind not in verb.subjects or not states.can_be(who, reason):
        return habit(draw)
    sub = states.be_in_state(who, reason, Form("present")).statement()
    main = make(draw, again(who), verb, Form("present"), Object()).statement()
    return comma(connective("when") + sub) + main


def meanwhile(draw: Draw) -> Phrase:
    """Return two things that went on at the same time."""
    first, second = two(draw)
    sub = connective("while") + ongoing(draw, second).statement()
    return joined(draw, ongoing(draw, first).statement(), sub)


def report(draw: Draw) -> Phrase:
    """Return what somebody thinks, says, knows, believes or hopes."""
    who, other = two(draw)
    verb = draw.even(REPORT_VERBS)
    past = draw.chance(0.35) and verb.english not in ("hope", "believe")
    opening = make(draw, who, verb, Form("past" if past else "present"), Object()).statement()
    if draw.chance(0.3) and verb.english != "know":
        other = again(who)
    return opening + connective("that") + content(draw, other, verb.english, past=past)


def content(draw: Draw, who: Nominal, verb: str, *, past: bool) -> Phrase:
    """Return the reported clause."""
    unsure = who.pronoun and verb in ("think", "believe")
    if past or unsure or draw.chance(0.3):
        hoped = ("happy", "ready", "right", "on holiday")
        names = [n for n in (hoped if verb == "hope" else STATES) if states.can_be(who, n)]
        tense = "past" if past else ("future" if verb == "hope" else "present")
        return states.be_in_state(who, draw.even(names), Form(tense)).statement()
    if verb == "hope":
        hoped_for = draw.even(able(HOPES, who.kind, who.agreement, "future"))
        return act(draw, who, verb=hoped_for, tense="future", negation="").clause.statement()
    verbs = of_subject(ACTIONS, who.kind)
    inner = draw.even([v for v in verbs if not (who.pronoun and "stative" in v.flags)])
    tenses = ("present", "past", "future", "progressive", "near")
    tense = draw.pick(
        [
            tense
            for tense in tenses
            if possible(inner, who.agreement, tense)
            and (tense != "present" or "stative" in inner.flags)
        ]
    )
    return act(draw, who, verb=inner, tense=tense, negation="").clause.statement()
