"""Actions: a verb in a tense its subject allows, with object, place and time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from . import objects, times
from .clause import Clause
from .draw import Draw
from .group import HELPERS, SIMPLE, Form, compound, controlled, helper, simple
from .moments import Action, clock
from .nominal import Agreement, Nominal
from .nouns import nouns_of, rows
from .objects import VERB, Object
from .phrase import Phrase, Word, fixed
from .place import abroad, at, destination
from .verbs import (
    CONTROLS,
    DITRANSITIVES,
    INTRANSITIVES,
    MOTIONS,
    TRANSITIVES,
    Verb,
    flagged,
    of_subject,
)

TENSES = {
    "present": 22, "progressive": 20, "past": 24, "perfect": 7, "future": 10, "near": 9,
    "can": 4, "must": 4, "should": 3, "could": 2, "would like": 3, "just": 14, "control": 12,
}  # fmt: skip
PLANNED = ("near", "can", "must", "should", "could", "would like", "control")
INTENTIONS = ("must", "should", "could", "would like", "control")
ANIMALS = frozenset(noun.english for noun in nouns_of("animal transport"))
FOOD = ("fruit", "vegetable", "legume", "dish", "staple", "drink")
ROLES = ("there", "stay", "home", "goal", "back", "source", "origin")


def possible(verb: Verb, agreement: Agreement, tense: str, *, question: bool = False) -> bool:
    """Whether the verb has this tense, and English shows all that French must know for it."""
    flags = verb.flags
    if "origin" in flags:
        return tense == "present"
    if "stative" in flags:
        later = tense == "future" and verb.forms.base in ("have", "need", "live")
        return tense in ("present", "past") or later
    if tense == "used":
        return "habit" in flags and "untimed" not in flags
    if tense == "present" and not flags & {"habit", "now"}:
        return False
    if tense in ("progressive", "imperfect") and "noprog" in flags:
        return False
    if (tense, verb.french.infinitive) in (("just", "rester"), ("near", "aller")):
        return False
    if tense in INTENTIONS and flags & {"now", "idle"}:
        return False
    if tense in (*PLANNED, "future") and "mishap" in flags:
        return False
    if compound(verb, tense) and verb.etre and agreement.gender is None:
        return False
    unmarked = tense in ("present", "past") and agreement.english != "singular" and not question
    return not ("same" in flags and unmarked)


@cache
def able(verbs: tuple[Verb, ...], kind: str, agreement: Agreement, tense: str) -> tuple[Verb, ...]:
    """Return the verbs that a subject of this kind can have in this tense."""
    return of_subject(_able(verbs, agreement, tense), kind)


@cache
def _able(verbs: tuple[Verb, ...], agreement: Agreement, tense: str) -> tuple[Verb, ...]:
    return tuple(verb for verb in verbs if possible(verb, agreement, tense))


@cache
def _tenses(verb: Verb, agreement: Agreement, *, human: bool) -> dict[str, int]:
    return {
        tense: weight
        for tense, weight in TENSES.items()
        if possible(verb, agreement, tense) and (human or tense not in INTENTIONS)
    }


def tense_for(draw: Draw, verb: Verb, subject: Nominal) -> str:
    """Return a tense that the verb and its subject allow; animals have no intentions."""
    return draw.weighted(_tenses(verb, subject.agreement, human=subject.kind not in ANIMALS))


def anchored(phrase: Phrase, verb: Word) -> Phrase:
    """Return the phrase with the links that waited for a verb tied to it."""
    if all(item.sure is not VERB for item in phrase.french):
        return phrase
    tokens = [item._replace(sure=verb) if item.sure is VERB else item for item in phrase.french]
    return Phrase(phrase.english, tokens)


def make(draw: Draw, subject: Nominal, verb: Verb, form: Form, complement: Object) -> Clause:
    """Return the clause: verb group, infinitive if the tense has one, object."""
    agreement, clitics = subject.agreement, complement.clitics
    if complement.before is not None:
        form = form._replace(preceding=complement.before)
    if form.tense in SIMPLE:
        group, lower = simple(verb, agreement, form, clitics), Phrase()
    elif form.tense in HELPERS:
        group, lower = helper(verb, agreement, form, clitics)
    else:
        control = draw.even(_controls(verb, negated=bool(form.negation)))
        tense = draw.pick(
            [t for t in ("present", "progressive", "past") if possible(control, agreement, t)]
        )
        form = form._replace(tense=tense)
        group, lower = controlled(control, verb, agreement, form, clitics)
    rest = lower + anchored(complement.phrase, group.head)
    if "split" in verb.flags and complement.phrase.english:
        return _split(draw, verb, Clause(subject, group, rest), len(complement.phrase.english))
    return Clause(subject, group, rest)


def _split(draw: Draw, verb: Verb, clause: Clause, length: int) -> Clause:
    """Return the clause with the particle after its object of `length` words, if that is short.

    A pronoun always stands before the particle: "puts it on", "puts on the coat" or "puts the
    coat on".
    """
    if length > 3 or (length > 1 and draw.chance(0.4)):
        return clause
    words = clause.group.rest + clause.rest.english
    cut, particle = len(words) - length, len(verb.particle)
    moved = words[: cut - particle] + words[cut:] + words[cut - particle : cut]
    first = len(clause.group.rest) - (particle if not clause.rest.english[:-length] else 0)
    group = replace(clause.group, rest=moved[:first])
    return Clause(clause.subject, group, Phrase(moved[first:], clause.rest.french))


@cache
def _controls(verb: Verb, *, negated: bool) -> list[Verb]:
    """Return the verbs that may take this one as an infinitive.

    "Does not have to" is not "ne doit pas", which forbids, and nobody "does not hope".
    """
    return [
        control
        for control in CONTROLS
        if ("habit" in verb.flags or "routine" not in control.flags)
        and ("skill" in verb.flags or "skill" not in control.flags)
        and not (negated and control.forms.base in ("have", "hope"))
    ]


def place(draw: Draw, verb: Verb) -> Phrase:
    """Return where the action happens, or nothing."""
    if "abroad" in verb.flags and draw.chance(0.15):
        return abroad(draw, "there")
    if verb.where and draw.chance(0.3):
        return at(draw, draw.even(verb.where), "there")
    return Phrase()


@cache
def verbs_for(kind: str) -> dict[tuple[Verb, ...], int]:
    """Return the verbs of each family that such a subject can have, with the family's weight."""
    families = {TRANSITIVES: 11, INTRANSITIVES: 6, DITRANSITIVES: 2, MOTIONS: 4}
    fitting = {of_subject(family, kind): weight for family, weight in families.items()}
    fitting.pop((), None)
    return fitting


def verb_for(draw: Draw, kind: str) -> Verb:
    """Return a verb that a subject of this kind can have."""
    family: tuple[Verb, ...] = draw.weighted(verbs_for(kind))
    return draw.even(family)


def complement(draw: Draw, verb: Verb, subject: Nominal, *, negated: bool, tense: str) -> Object:
    """Return object, recipient and place of the verb."""
    if verb in MOTIONS:
        role = next(role for role in ROLES if role in verb.flags)
        return Object(destination(draw, role, near=tense in ("present", "progressive")))
    if tense == "present" and {"clock", "untimed"} <= verb.flags:
        return Object(clock(draw, verb))
    asked = verb
    if tense in ("present", "used") and "habit" in verb.flags:
        asked = flagged(verb, "habitual")
    found = objects.choose(draw, asked, subject, negated=negated, compound=compound(verb, tense))
    if verb in DITRANSITIVES:
        to = objects.recipient(draw, verb, subject)
        if to.clitics:
            return Object(to.phrase + found.phrase, to.clitics, found.noun)
        return Object(found.phrase + to.phrase, [], found.noun)
    found.phrase += place(draw, verb)
    return found


def act(
    draw: Draw,
    subject: Nominal,
    *,
    verb: Verb | None = None,
    tense: str | None = None,
    negation: str | None = None,
    question: bool = False,
    often: float = 0.25,
) -> Action:
    """Return an action of the subject; what is not given is drawn.

    `often` is the chance of an adverb of frequency with a habit.
    """
    verb = verb or verb_for(draw, subject.kind)
    tense = tense or tense_for(draw, verb, subject)
    if negation is None:
        negation = _negation(draw, verb, tense, question=question)
    if verb.tail.startswith(("un:", "une:", "du:", "de:")):
        negation = ""  # "pas" would change the article of the phrase
    adverb = _adverb(draw, verb, tense, often) if not negation and not question else None
    form = Form(tense, negation=negation, adverb=adverb, question=question)
    found = complement(draw, verb, subject, negated=bool(negation), tense=tense)
    clause = make(draw, subject, verb, form, found)
    # A second adverbial of time after "often" or "never" would crowd the sentence.
    crowded = adverb is not None or negation in ("never", "no longer")
    return Action(clause, verb, tense, crowded=crowded, negated=bool(negation))


def _negation(draw: Draw, verb: Verb, tense: str, *, question: bool) -> str:
    if question or tense == "just" or "mishap" in verb.flags or verb.english == "find":
        return ""
    if "generic" in verb.flags:
        return "not" if verb.english == "like" and draw.chance(0.2) else ""
    never = 3 if tense in ("present", "perfect") else 0
    no_longer = 4 if tense == "present" and not verb.flags & {"now", "origin"} else 0
    return draw.weighted({"": 82, "not": 15, "never": never, "no longer": no_longer})


def _adverb(draw: Draw, verb: Verb, tense: str, often: float) -> Phrase | None:
    habit = "habit" in verb.flags and "untimed" not in verb.flags
    if tense == "present" and habit and draw.chance(often):
        return fixed(*draw.even(rows(times.FREQUENCY)))
    if tense == "perfect" and draw.chance(0.4):
        return fixed("already", "déjà")
    return None
