"""Actions: a verb in a tense its subject allows, with object, place and time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import objects, times
from .clause import Clause
from .draw import Draw
from .group import HELPERS, SIMPLE, Form, compound, controlled, helper, simple
from .nominal import Agreement, Nominal
from .nouns import Noun, rows
from .objects import VERB, Object
from .phrase import Phrase, comma, fixed
from .place import anywhere, at, city, country, home
from .verbs import CONTROLS, DITRANSITIVES, INTRANSITIVES, MOTIONS, TRANSITIVES, Verb

TENSES = {
    "present": 20, "progressive": 18, "past": 24, "perfect": 7, "future": 10, "near": 9,
    "can": 4, "must": 4, "should": 3, "just": 4, "control": 8,
}  # fmt: skip
PLANNED = ("near", "can", "must", "should", "control")
FOOD = ("fruit", "vegetable", "dish", "staple", "drink")
TIMES = {
    "progressive": times.NOW,
    "past": times.PAST,
    "future": times.FUTURE,
    "near": times.FUTURE,
    "must": times.FUTURE,
    "can": times.FUTURE,
}
HOURS = ("six", "seven", "eight", "nine", "ten", "eleven")


@dataclass(slots=True)
class Action:
    """A clause with what is still needed to place it in time."""

    clause: Clause
    verb: Verb
    tense: str
    noun: Noun | None = None


def possible(verb: Verb, agreement: Agreement, tense: str) -> bool:
    """Whether the verb has this tense, and English shows all that French must know for it."""
    flags = verb.flags
    if "stative" in flags and tense not in ("present", "past", "future"):
        return False
    if tense in ("progressive", "imperfect") and "noprog" in flags:
        return False
    if tense in PLANNED and "mishap" in flags:
        return False
    if compound(verb, tense) and verb.etre and agreement.gender is None:
        return False
    unmarked = tense in ("present", "past") and agreement.english != "singular"
    return not ("same" in flags and unmarked)


def tense_for(draw: Draw, verb: Verb, agreement: Agreement) -> str:
    """Return a tense that the verb and its subject allow."""
    return draw.weighted(
        {tense: weight for tense, weight in TENSES.items() if possible(verb, agreement, tense)}
    )


def make(
    draw: Draw, subject: Nominal, verb: Verb, form: Form, complement: Object
) -> Clause:
    """Return the clause: verb group, infinitive if the tense has one, object."""
    agreement, clitics = subject.agreement, complement.clitics
    if form.tense in SIMPLE:
        group, lower = simple(verb, agreement, form, clitics), Phrase()
    elif form.tense in HELPERS:
        group, lower = helper(verb, agreement, form, clitics)
    else:
        control = draw.even(CONTROLS)
        tense = draw.weighted({"present": 3, "progressive": 2, "past": 3})
        if not possible(control, agreement, tense):
            tense = "present"
        form = replace(form, tense=tense)
        group, lower = controlled(control, verb, agreement, form, clitics)
    tokens = [
        replace(item, sure=group.head) if item.sure is VERB else item
        for item in complement.phrase.french
    ]
    return Clause(subject, group, lower + Phrase(complement.phrase.english, tokens))


def place(draw: Draw, verb: Verb) -> Phrase:
    """Return where the action happens, or nothing."""
    if "abroad" in verb.flags and draw.chance(0.2):
        return city(draw, "there") if draw.chance(0.5) else country(draw, "there")
    if verb.where and draw.chance(0.3):
        return at(draw, draw.even(verb.where), "there")
    return Phrase()


def time(draw: Draw, action: Action, chance: float = 0.45) -> Phrase | None:
    """Return when the action happens, or None."""
    verb, tense = action.verb, action.tense
    if "clock" in verb.flags and tense in (*TIMES, "present") and draw.chance(0.4):
        return clock(draw)
    if "untimed" in verb.flags or "stative" in verb.flags or not draw.chance(chance):
        return None
    if tense == "present":
        food = action.noun is not None and action.noun.category in FOOD
        if "habit" not in verb.flags and not food:
            return None
        return fixed(*draw.even(times_of(times.HABIT)))
    if tense not in TIMES:
        return None
    return fixed(*draw.even(times_of(TIMES[tense])))


def times_of(table: str) -> list[tuple[str, str]]:
    """Return the entries of a table of times."""
    return [(cells[0], cells[1]) for cells in rows(table)]


def clock(draw: Draw) -> Phrase:
    """Return a time of day: "at eight o'clock", "at half past six", "at noon"."""
    kind = draw.weighted({"hour": 4, "half": 2, "noon": 1})
    if kind == "noon":
        return fixed(*draw.even(times_of(times.CLOCK)))
    hour = draw.even(HOURS)
    french = times.NUMBERS[hour]
    if kind == "hour":
        return fixed(f"at {hour} o'clock", f"à:0 {french}:1 heures:2")
    return fixed(f"at half past {hour}", f"à:0 {french}:3 heures:2 et:2 demie:1")


def verb_for(draw: Draw, kind: str) -> Verb:
    """Return a verb that a subject of this kind can have."""
    family = draw.weighted({"transitive": 11, "intransitive": 6, "giving": 2, "motion": 4})
    tables = {
        "transitive": TRANSITIVES,
        "intransitive": INTRANSITIVES,
        "giving": DITRANSITIVES,
        "motion": MOTIONS,
    }
    fitting = [verb for verb in tables[family] if kind in verb.subjects]
    return draw.even(fitting) if fitting else verb_for(draw, kind)


def destination(draw: Draw, verb: Verb) -> Phrase:
    """Return the place that a verb of motion or rest cannot do without."""
    if "home" in verb.flags:
        return home(draw)
    return anywhere(draw, next(role for role in ("there", "goal", "source") if role in verb.flags))


def complement(
    draw: Draw, verb: Verb, subject: Nominal, *, negated: bool, tense: str
) -> Object:
    """Return object, recipient and place of the verb."""
    if verb in MOTIONS:
        return Object(destination(draw, verb))
    found = objects.choose(draw, verb, subject, negated=negated, compound=compound(verb, tense))
    if verb in DITRANSITIVES:
        to = objects.recipient(draw, subject)
        if to.clitics:
            return Object(to.phrase + found.phrase, to.clitics, found.noun)
        return Object(found.phrase + to.phrase, [], found.noun)
    return Object(found.phrase + place(draw, verb), found.clitics, found.noun)


def act(
    draw: Draw,
    subject: Nominal,
    *,
    verb: Verb | None = None,
    tense: str | None = None,
    negation: str | None = None,
    question: bool = False,
) -> Action:
    """Return an action of the subject; what is not given is drawn."""
    verb = verb or verb_for(draw, subject.kind)
    tense = tense or tense_for(draw, verb, subject.agreement)
    if negation is None:
        negation = _negation(draw, tense, question=question)
    adverb = None
    if not negation and not question:
        adverb = _adverb(draw, verb, tense)
    form = Form(tense, negation=negation, adverb=adverb, question=question)
    found = complement(draw, verb, subject, negated=bool(negation), tense=tense)
    clause = make(draw, subject, verb, form, found)
    # A second adverbial of time after "often" or "never" would crowd the sentence.
    timed = verb if adverb is None and negation != "never" else replace(
        verb, flags=verb.flags | {"untimed"} - {"clock"}
    )
    return Action(clause, timed, tense, found.noun)


def _negation(draw: Draw, tense: str, *, question: bool) -> str:
    if question or tense == "just":
        return ""
    never = 3 if tense in ("present", "perfect") else 0
    return draw.weighted({"": 82, "not": 15, "never": never})


def _adverb(draw: Draw, verb: Verb, tense: str) -> Phrase | None:
    if tense == "present" and "habit" in verb.flags and draw.chance(0.25):
        return fixed(*draw.even(times_of(times.FREQUENCY)))
    if tense == "perfect" and draw.chance(0.4):
        return fixed("already", "déjà")
    return None


def in_time(draw: Draw, action: Action, *, front: float = 0.25) -> Phrase:
    """Return the action as a statement, placed in time at its end or before it."""
    when = time(draw, action)
    statement = action.clause.statement()
    if when is None:
        return statement
    if draw.chance(front):
        return comma(when) + statement
    return statement + when
