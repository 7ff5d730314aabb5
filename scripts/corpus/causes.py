"""Why people do what they do: hunger, tiredness, weather; and what they do if it rains."""

from __future__ import annotations

from . import objects, states
from .action import act, make, possible
from .clause import animal, subject, two
from .draw import Draw
from .group import Form
from .nominal import Nominal, again
from .nouns import NOUN, rows
from .objects import Object
from .phrase import Phrase, comma, fixed
from .times import NUMBERS, SOON
from .verbs import BY_NAME, INTRANSITIVES, TRANSITIVES, Verb

BECAUSE = ("because", "parce:0 que:0")
# Tense of an action, tense of the state that explains it.
REASON_TENSES = {"progressive": "present", "near": "present", "past": "past"}
# The weather | what one does, * what one does not do.
WEATHER_CAUSES = """
it is raining, it is snowing, it is cold | stay at home, hurry, go home, *go out, *play football, *play tennis, *swim, *take a walk, take taxi, take bus
it is hot | swim, rest, go out, *run, *work, *play football, drink water, drink orange juice
"""  # noqa: E501
PAST_WEATHER = {
    "it is raining": "it was raining",
    "it is snowing": "it was snowing",
    "it is cold": "it was cold",
    "it is hot": "it was hot",
}
CONDITION_VERBS = ("come back", "arrive", "leave", "stay at home", "go home")
HOURS = ("six", "seven", "eight", "nine", "ten", "eleven")


def because(draw: Draw) -> Phrase:
    """Return an action, or one not done, with its cause."""
    kind = draw.weighted({"cause": 5, "hinder": 4, "need": 4, "weather": 4})
    if kind == "need":
        return appetite(draw)
    if kind == "weather":
        return weather_cause(draw)
    names, verbs = draw.pick(states.CAUSES if kind == "cause" else states.HINDERS)
    who = subject(draw)
    verb, reason = BY_NAME[draw.even(verbs)], draw.even(names)
    tenses = [t for t in REASON_TENSES if possible(verb, who.agreement, t)]
    if kind == "hinder":
        tenses = [t for t in tenses if t != "near"]
    if not tenses or who.kind not in verb.subjects or not states.can_be(who, reason):
        return because(draw)
    form = Form(draw.pick(tenses), negation="not" if kind == "hinder" else "")
    return explain(draw, who, verb, form, Object(), reason)


def explain(
    draw: Draw, who: Nominal, verb: Verb, form: Form, complement: Object, reason: str
) -> Phrase:
    """Return "he sleeps because he is tired" or "he is tired, so he sleeps"."""
    cause_form = Form(REASON_TENSES[form.tense])
    if draw.chance(0.65):
        main = make(draw, who, verb, form, complement).statement()
        cause = states.be_in_state(again(who), reason, cause_form).statement()
        return main + fixed(*BECAUSE) + cause
    cause = states.be_in_state(who, reason, cause_form).statement()
    main = make(draw, again(who), verb, form, complement).statement()
    return comma(cause) + fixed("so", "donc") + main


def appetite(draw: Draw) -> Phrase:
    """Return somebody who eats or drinks because of hunger or thirst."""
    who = animal(draw) if draw.chance(0.2) else subject(draw)
    reason, action = draw.pick((("hungry", "eat"), ("thirsty", "drink")))
    verbs = [v for v in TRANSITIVES if v.english == action and who.kind in v.subjects]
    if not verbs:
        return appetite(draw)
    verb = draw.pick(verbs)
    noun = draw.even(objects.nouns_for(verb, who))
    what = objects.described(draw, verb, noun, subject=who)
    tense = draw.pick(tuple(REASON_TENSES))
    return explain(draw, who, verb, Form(tense), Object(what.phrase), reason)


def weather_cause(draw: Draw) -> Phrase:
    """Return what somebody does, or does not do, because of the weather."""
    skies, deeds = (cell.split(", ") for cell in draw.pick(rows(WEATHER_CAUSES)))
    sky, deed = draw.even(skies), draw.even(deeds)
    who = subject(draw)
    name, _, thing = deed.removeprefix("*").partition(" ")
    if name in ("take", "drink") and deed not in ("take a walk", "*take a walk"):
        verb = next(v for v in TRANSITIVES if v.english == name and who.kind in v.subjects)
        determiner = "a" if name == "take" else "some"
        what = objects.noun_phrase(draw, NOUN[thing], determiner=determiner, adjectives=0.0)
        complement = Object(what.phrase)
    else:
        verb, complement = BY_NAME[deed.removeprefix("*")], Object()
    negation = "not" if deed.startswith("*") else ""
    tenses = [t for t in REASON_TENSES if possible(verb, who.agreement, t)]
    tenses = [t for t in tenses if not (negation and t == "near")]
    if not tenses or who.kind not in verb.subjects:
        return weather_cause(draw)
    tense = draw.pick(tenses)
    cause = states.weather(PAST_WEATHER[sky] if tense == "past" else sky)
    main = make(draw, who, verb, Form(tense, negation=negation), complement).statement()
    if draw.chance(0.65):
        return main + fixed(*BECAUSE) + cause
    return comma(cause) + fixed("so", "donc") + main


def joined(draw: Draw, main: Phrase, sub: Phrase) -> Phrase:
    """Return both clauses in one of the two orders."""
    return comma(sub) + main if draw.chance(0.5) else main + sub


def condition(draw: Draw) -> Phrase:
    """Return "if it rains tomorrow, ..." with a future in the main clause."""
    if draw.chance(0.65):
        sub = states.weather(draw.even(states.CONDITIONS))
        who = subject(draw)
        if draw.chance(0.5):
            sub += fixed(*draw.pick(rows(SOON)))
    else:
        first, who = two(draw)
        named = [BY_NAME[name] for name in CONDITION_VERBS]
        sub = make(draw, first, draw.even(named), Form("present"), Object()).statement()
    return joined(draw, intention(draw, who), fixed("if", "si") + sub)


def intention(draw: Draw, who: Nominal) -> Phrase:
    """Return something that somebody will do, or not do, on purpose."""
    verbs = [
        verb
        for verb in (*TRANSITIVES, *INTRANSITIVES)
        if who.kind in verb.subjects
        and not verb.flags & {"noprog", "stative", "mishap"}
        and verb.english not in ("come back", "arrive", "wake up", "answer", "cry")
    ]
    return act(draw, who, verb=draw.even(verbs), tense="future").clause.statement()


def skies(draw: Draw) -> Phrase:
    """Return the weather or the hour, and what somebody is doing then."""
    if draw.chance(0.4):
        opening = hour(draw)
        link = fixed("and", "et")
    else:
        opening = states.weather(draw.even(states.SKIES))
        link = fixed("and", "et") if draw.chance(0.5) else fixed("but", "mais")
        if link.english[0].text == "but":
            comma_opening = comma(opening)
            return comma_opening + link + _doing(draw, opening)
    return opening + link + _doing(draw, opening)


def _doing(draw: Draw, opening: Phrase) -> Phrase:
    who = subject(draw)
    verbs = [
        verb
        for verb in (*TRANSITIVES, *INTRANSITIVES)
        if who.kind in verb.subjects
        and possible(verb, who.agreement, "progressive")
        and not verb.flags & {"mishap"}
    ]
    was = any(word.text == "was" for word in opening.english)
    tense = "imperfect" if was else "progressive"
    return act(draw, who, verb=draw.even(verbs), tense=tense, negation="").clause.statement()


def hour(draw: Draw) -> Phrase:
    """Return "it is eight o'clock", "il est huit heures"."""
    number = draw.even(HOURS)
    french = NUMBERS[number]
    if draw.chance(0.6):
        return fixed(f"it is {number} o'clock", f"il:0 est:1 {french}:2 heures:3")
    return fixed(f"it is half past {number}", f"il:0 est:1 {french}:4 heures:3 et:3 demie:2")
