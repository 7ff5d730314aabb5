"""Why people do what they do: hunger, tiredness, weather; and what they do if it rains."""

from __future__ import annotations

from . import objects, states
from .action import able, act, make, possible
from .clause import animal, subject, two
from .draw import Draw
from .group import Form
from .nominal import Nominal, again
from .noun_phrase import noun_phrase
from .nouns import NOUN, rows
from .objects import Object
from .phrase import Phrase, comma, connective, timed
from .place import at
from .times import NUMBERS, SOON
from .verbs import ACTIONS, BY_NAME, MOTIONS, Verb, named, of_subject

# Tense of an action, tense of the state that explains it.
REASON_TENSES = {"progressive": "present", "near": "present", "past": "past"}
# The weather, present, past and after "if" | what one does then, * what one does not do. A deed
# is an intransitive verb, or a verb with its noun.
_BAD = (
    "stay at home, hurry, go home, watch television, play cards, take:taxi, take:bus, take:train, "
    "read:book, prepare:soup, drink:tea, *go out, *play football, *play tennis, *swim, *take a walk"
)
_COLD = (
    "stay at home, go home, wear:coat, wear:gloves, wear:scarf, drink:tea, drink:coffee, "
    "prepare:soup, *swim, *go out, *take a walk"
)
_HOT = (
    "swim, rest, sleep, wear:hat, drink:water, drink:orange juice, go:beach, go:swimming pool, "
    "*run, *work, *play football, *cook"
)
_NICE = (
    "swim, go out, take a walk, play football, play tennis, go:beach, go:park, go:market, "
    "have lunch, take:bicycle, clean:car, paint:house, *stay at home, *watch television"
)
WEATHER_DEEDS = (
    ("it is raining", "it was raining", "it rains", _BAD),
    ("it is snowing", "it was snowing", "it snows", _BAD),
    ("it is cold", "it was cold", "it is cold", _COLD),
    ("it is hot", "it was hot", "it is hot", _HOT),
    ("the weather is nice", "the weather was nice", "the weather is nice", _NICE),
)
# The weather | how one feels.
WEATHER_STATES = (
    ("it rains", ("sad", "sleepy", "late")),
    ("it snows", ("cold", "happy", "late")),
    ("it is cold", ("sick", "tired")),
    ("it is hot", ("thirsty", "tired", "sleepy")),
    ("the weather is nice", ("happy",)),
)
INTENDED = (
    "eat", "drink", "read", "prepare", "buy", "clean", "wash", "repair", "help", "visit", "call",
    "phone", "talk to", "thank", "have lunch", "have dinner", "go shopping", "play football",
    "play cards", "play tennis", "watch television", "listen to music", "take a walk", "dance",
    "sing", "go out", "work", "cook", "play", "open", "leave",
)  # fmt: skip
INTENTIONS = tuple(verb for verb in ACTIONS if verb.english in INTENDED)
DELIBERATE = tuple(verb for verb in ACTIONS if "mishap" not in verb.flags)
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
    who = subject(draw, adjectives=0.0)
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
        return main + connective("because") + cause
    cause = states.be_in_state(who, reason, cause_form).statement()
    main = make(draw, again(who), verb, form, complement).statement()
    return comma(cause) + connective("so") + main


def appetite(draw: Draw) -> Phrase:
    """Return somebody who eats or drinks because of hunger or thirst."""
    who = animal(draw) if draw.chance(0.2) else subject(draw, adjectives=0.0)
    reason, action = draw.pick((("hungry", "eat"), ("thirsty", "drink")))
    verbs = of_subject(named(action), who.kind)
    if not verbs:
        return appetite(draw)
    verb = draw.pick(verbs)
    noun = draw.even(objects.nouns_for(verb, who))
    what = objects.described(draw, verb, noun, subject=who)
    tense = draw.pick(tuple(REASON_TENSES))
    return explain(draw, who, verb, Form(tense), Object(what.phrase), reason)


def deed(draw: Draw, who: Nominal, text: str) -> tuple[Verb, Object] | None:
    """Return the verb and the object of a deed, or None if the subject cannot do it."""
    name, _, noun = text.removeprefix("*").partition(":")
    if not noun:
        verb, found = BY_NAME[name], Object()
    elif name == "go":
        verb, found = next(v for v in MOTIONS if v.english == "go"), Object(at(draw, noun, "goal"))
    else:
        thing = NOUN[noun]
        verb = next(v for v in named(name) if thing in v.objects)
        owned = thing.category in ("garment", "pair", "vehicle", "room", "building")
        determiner = "some" if thing.mass else (who.owner if owned else "a")
        many = thing.category == "garment" and who.agreement.many
        what = noun_phrase(draw, thing, determiner=determiner, plural=many, adjectives=0.0)
        found = Object(what.phrase)
    return (verb, found) if who.kind in verb.subjects else None


def weather_cause(draw: Draw) -> Phrase:
    """Return what somebody does, or does not do, because of the weather."""
    now, then, _, deeds = draw.pick(WEATHER_DEEDS)
    text, who = draw.even(deeds.split(", ")), subject(draw)
    done = deed(draw, who, text)
    if done is None:
        return weather_cause(draw)
    negation = "not" if text.startswith("*") else ""
    tenses = [t for t in REASON_TENSES if possible(done[0], who.agreement, t)]
    tenses = [t for t in tenses if not (negation and t == "near")]
    if not tenses:
        return weather_cause(draw)
    tense = draw.pick(tenses)
    cause = states.weather(then if tense == "past" else now)
    main = make(draw, who, done[0], Form(tense, negation=negation), done[1]).statement()
    if draw.chance(0.65):
        return main + connective("because") + cause
    return comma(cause) + connective("so") + main


def joined(draw: Draw, main: Phrase, sub: Phrase) -> Phrase:
    """Return both clauses in one of the two orders."""
    return comma(sub) + main if draw.chance(0.5) else main + sub


def condition(draw: Draw) -> Phrase:
    """Return "if it rains tomorrow, ..." with a future in the main clause."""
    if draw.chance(0.35):
        first, who = two(draw)
        verb = BY_NAME[draw.pick(CONDITION_VERBS)]
        sub = make(draw, first, verb, Form("present"), Object()).statement()
        return joined(draw, intention(draw, who), connective("if") + sub)
    *_, sky, deeds = draw.pick(WEATHER_DEEDS)
    text, who = draw.even(deeds.split(", ")), subject(draw)
    done = deed(draw, who, text)
    if done is None:
        return condition(draw)
    form = Form("future", negation="not" if text.startswith("*") else "")
    main = make(draw, who, done[0], form, done[1]).statement()
    sub = states.weather(sky)
    if draw.chance(0.5):
        sub += timed(*draw.pick(rows(SOON)))
    return joined(draw, main, connective("if") + sub)


def intention(draw: Draw, who: Nominal) -> Phrase:
    """Return something that somebody will do, or not do, on purpose."""
    verbs = able(INTENTIONS, who.kind, who.agreement, "future")
    return act(draw, who, verb=draw.even(verbs), tense="future").clause.statement()


def skies(draw: Draw) -> Phrase:
    """Return the weather or the hour, and what somebody is doing then."""
    opening = hour(draw) if draw.chance(0.4) else states.weather(draw.even(states.SKIES))
    return opening + connective("and") + _doing(draw, opening)


def _doing(draw: Draw, opening: Phrase) -> Phrase:
    who = subject(draw)
    verbs = able(DELIBERATE, who.kind, who.agreement, "progressive")
    was = any(word.text == "was" for word in opening.english)
    tense = "imperfect" if was else "progressive"
    return act(draw, who, verb=draw.even(verbs), tense=tense, negation="").clause.statement()


def hour(draw: Draw) -> Phrase:
    """Return "it is eight o'clock", "il est huit heures"."""
    number = draw.even(HOURS)
    french = NUMBERS[number]
    if draw.chance(0.6):
        return timed(f"it is {number} o'clock", f"il:0 est:1 {french}:2 heures:3")
    return timed(f"it is half past {number}", f"il:0 est:1 {french}:4 heures:3 et:3 demie:2")
