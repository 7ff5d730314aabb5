"""What people always do, when they do it, how long it lasts, and where they travel."""

from __future__ import annotations

from dataclasses import replace

from . import times
from .action import able, act
from .clause import animal, subject
from .draw import Draw
from .moments import clock, placed, usually
from .nominal import Nominal
from .nouns import rows
from .phrase import Phrase, timed
from .verbs import ACTIONS, DITRANSITIVES, INTRANSITIVES, MOTIONS, Verb

PAST, FUTURE = rows(times.PAST + times.LONG_AGO), rows(times.FUTURE + times.LATER)
WHEN = {"past": PAST, "future": FUTURE, "near": FUTURE}
DATED = ("past", "past", "future", "near")
TRAVELS = tuple(
    verb
    for verb in (*MOTIONS, *INTRANSITIVES)
    if verb.english in ("go", "return", "come back", "arrive", "stay", "leave")
)
TIMED = tuple(verb for verb in INTRANSITIVES if "clock" in verb.flags)
HABITS = tuple(verb for verb in ACTIONS if "habit" in verb.flags and "untimed" not in verb.flags)
DOINGS = (*ACTIONS, *DITRANSITIVES)
WISHED = (
    *HABITS,
    *(verb for verb in TRAVELS if verb.english != "arrive"),
    *DITRANSITIVES,
)
LASTING = tuple(
    replace(verb, flags=verb.flags - {"abroad"}) for verb in INTRANSITIVES if "last" in verb.flags
)


def _able(draw: Draw, verbs: tuple[Verb, ...], who: Nominal, tense: str) -> Verb | None:
    fitting = able(verbs, who.kind, who.agreement, tense)
    return draw.even(fitting) if fitting else None


def journey(draw: Draw, tenses: tuple[str, ...] = DATED) -> Phrase:
    """Return "last summer, Paul went to Italy"."""
    who, tense = subject(draw), draw.pick(tenses)
    verb = _able(draw, TRAVELS, who, tense)
    if verb is None:
        return journey(draw, tenses)
    statement = act(draw, who, verb=verb, tense=tense, negation="").clause.statement()
    return placed(draw, statement, timed(*draw.even(WHEN[tense])))


def dated(draw: Draw, tenses: tuple[str, ...] = DATED) -> Phrase:
    """Return what somebody did or will do on a certain day."""
    who, tense = subject(draw), draw.pick(tenses)
    table = {"past": times.PAST, "future": times.FUTURE, "near": times.FUTURE}[tense]
    verb = _able(draw, DOINGS, who, tense)
    if verb is None or verb.flags & {"stative", "untimed"}:
        return dated(draw, tenses)
    statement = act(draw, who, verb=verb, tense=tense).clause.statement()
    return placed(draw, statement, timed(*draw.even(rows(table))))


def timetable(draw: Draw) -> Phrase:
    """Return "my father gets up at half past six"."""
    who, tense = subject(draw), draw.pick(("present", "past", "future", "near"))
    verb = _able(draw, TIMED, who, tense)
    if verb is None:
        return timetable(draw)
    action = act(draw, who, verb=verb, tense=tense)
    if action.crowded or (tense == "present" and "untimed" in verb.flags):
        return action.clause.statement()
    return action.clause.statement() + clock(draw, verb)


def custom(draw: Draw) -> Phrase:
    """Return "Marie often plays tennis" or "in summer, the children swim"."""
    who = animal(draw) if draw.chance(0.2) else subject(draw)
    verb = _able(draw, HABITS, who, "present")
    if verb is None:
        return custom(draw)
    negation = "never" if draw.chance(0.12) else ""
    action = act(draw, who, verb=verb, tense="present", negation=negation, often=0.5)
    statement = action.clause.statement()
    if action.crowded:
        return statement
    return placed(draw, statement, usually(draw, verb, beast=who.owner == "its"))


def wish(draw: Draw) -> Phrase:
    """Return what somebody wants, likes, hopes, has, tries or begins to do."""
    who = subject(draw)
    verb = _able(draw, WISHED, who, "control")
    if verb is None:
        return wish(draw)
    return act(draw, who, verb=verb, tense="control").clause.statement()


def origin(draw: Draw) -> Phrase:
    """Return where somebody lives, lived or comes from."""
    verb = draw.pick([verb for verb in MOTIONS if verb.english in ("live", "come")])
    return act(draw, subject(draw), verb=verb, negation="").clause.statement()


def lasting(draw: Draw) -> Phrase:
    """Return "they slept for two hours"."""
    who = subject(draw)
    verb = _able(draw, LASTING, who, "past")
    if verb is None:
        return lasting(draw)
    statement = act(draw, who, verb=verb, tense="past", negation="").clause.statement()
    return statement + timed(*draw.even(rows(times.LASTING)))
