"""When an action happens: hours, days and seasons, and where the sentence names them."""

from __future__ import annotations

from dataclasses import dataclass

from . import times
from .clause import Clause
from .draw import Draw
from .nouns import rows
from .phrase import Phrase, comma, timed
from .verbs import MOTIONS, Verb

TIMES = {
    "progressive": times.NOW,
    "past": times.PAST,
    "future": times.FUTURE,
    "near": times.FUTURE,
    "must": times.SOON,
    "can": times.SOON,
}
FAR = {"past": times.LONG_AGO, "future": times.LATER, "near": times.LATER}
# Things done seldom enough to be dated by the year.
LARGE = ("visit", "sell", "paint", "build", "see", "lend", "show")
CLOCKED = ("present", "past", "future", "near", "must", "can")
HOURS = ("six", "seven", "eight", "nine", "ten", "eleven")
# The hours at which one gets up or goes to bed: a part of HOURS, and noon or midnight or neither.
DAY = {
    "get up": (0, 4, ""),
    "wake up": (0, 4, ""),
    "go to bed": (3, 6, times.MIDNIGHT),
}
# What one does in some seasons rather than others.
SEASONAL = (
    "swim", "run", "walk", "travel", "take a walk", "go fishing", "play football", "play tennis",
    "ride a bicycle", "ride a horse", "sleep", "go shopping", "cook", "pick",
)  # fmt: skip
# What one does more often than once a week.
DAILY = ("take a shower", "have a bath", "make the bed", "eat", "drink", "smile", "sleep", "laugh",
         "wash", "sit down", "go out", "listen to", "use")  # fmt: skip


@dataclass(slots=True)
class Action:
    """A clause with what is still needed to place it in time."""

    clause: Clause
    verb: Verb
    tense: str
    crowded: bool = False
    negated: bool = False


def time(draw: Draw, action: Action, chance: float = 0.5) -> Phrase | None:
    """Return when or how long the action happens, or None."""
    verb, tense = action.verb, action.tense
    flags = verb.flags
    if action.crowded:
        return None
    if tense == "present" and "untimed" in flags:
        return None
    if "clock" in flags and tense in CLOCKED and draw.chance(0.4):
        return clock(draw, verb)
    if flags & {"untimed", "stative"} or not draw.chance(chance):
        return None
    if tense == "past" and "last" in flags and not action.negated and draw.chance(0.4):
        return timed(*draw.even(rows(times.LASTING)))
    if tense == "present":
        return usually(draw, verb) if "habit" in flags else None
    if tense not in TIMES:
        return None
    far = "abroad" in flags or verb in MOTIONS or verb.english in LARGE
    entries = rows(TIMES[tense])
    if far and tense in FAR:
        entries += rows(FAR[tense])
    return timed(*draw.even(entries))


def usually(draw: Draw, verb: Verb, *, beast: bool = False) -> Phrase:
    """Return "every day" or the like; weeks and week-days are for people."""
    often = beast or verb.english in DAILY
    table = times.DAILY if often else times.DAILY + times.WEEKLY
    if verb.english in SEASONAL:
        table += times.SEASONS
    return timed(*draw.even(rows(table)))


def clock(draw: Draw, verb: Verb) -> Phrase:
    """Return a time of day that suits the verb: "at eight o'clock", "at half past six"."""
    kind = draw.weighted({"hour": 4, "half": 3, "noon": 3})
    first, last, twelve = DAY.get(verb.english, (0, len(HOURS), times.CLOCK))
    if kind == "noon" and twelve:
        return timed(*draw.even(rows(twelve)))
    hour = draw.even(HOURS[first:last])
    french = times.NUMBERS[hour]
    if kind == "half":
        return timed(f"at half past {hour}", f"à:0 {french}:3 heures:2 et:2 demie:1")
    return timed(f"at {hour} o'clock", f"à:0 {french}:1 heures:2")


def in_time(draw: Draw, action: Action) -> Phrase:
    """Return the action as a statement, placed in time at its end or before it."""
    when = time(draw, action)
    statement = action.clause.statement()
    return statement if when is None else placed(draw, statement, when)


def placed(draw: Draw, statement: Phrase, when: Phrase) -> Phrase:
    """Return the adverbial after the statement, or before it with a comma."""
    twice = statement.english[-1].text == when.english[0].text  # "puts it on on Friday"
    return comma(when) + statement if twice or draw.chance(0.25) else statement + when
