"""States and what follows from them: predicates, causes, weather, professions."""

from __future__ import annotations

from functools import cache

from .adjectives import ADJECTIVE, Adjective
from .clause import Clause
from .draw import Draw
from .group import BE_VERB, Form, simple
from .nominal import Nominal
from .noun_phrase import adjective_tokens
from .nouns import rows
from .phrase import Phrase, Token, Word, fixed, link
from .verbs import Verb, make_verb

# English after "to be" | French verb and complement; without a noun of its own: person or any.
STATES = """
hungry | avoir faim
thirsty | avoir soif
cold | avoir froid
hot | avoir chaud
sleepy | avoir sommeil
afraid | avoir peur
right | avoir raison
wrong | avoir tort
late | être en retard
on holiday | être en:0 vacances:1
angry | être en colère
"""
FORESEEN = ("late", "on holiday", "hungry")
ANIMAL_STATES = ("hungry", "thirsty", "afraid")

# States, adjectives included | what one does because of them (intransitive verbs).
_CAUSES = """
tired, sleepy, sick | sleep, rest, go to bed, stay at home, go home
happy | sing, smile, laugh, dance
sad | cry, go home, stay at home
late | run, hurry
on holiday | take a walk, swim, dance, go out, rest, play cards
busy | stay at home
"""
# What one does not do because of a state.
_HINDERS = """
tired, sick, sleepy | work, dance, go out, swim, play football, play tennis, cook, go shopping
sad | sing, laugh, dance, smile
on holiday | work, cook
busy | go out, sleep, watch television, play cards, rest
afraid | swim, sleep
"""
CAUSES, HINDERS = (
    tuple((tuple(states.split(", ")), tuple(deeds.split(", "))) for states, deeds in rows(table))
    for table in (_CAUSES, _HINDERS)
)

# english | french m, f; French uses no article after être.
PROFESSIONS = """
teacher | professeur professeure
baker | boulanger boulangère
nurse | infirmier infirmière
lawyer | avocat avocate
farmer | agriculteur agricultrice
singer | chanteur chanteuse
doctor | médecin médecin
engineer | ingénieur ingénieure
cook | cuisinier cuisinière
student | étudiant étudiante
painter | peintre peintre
butcher | boucher bouchère
hairdresser | coiffeur coiffeuse
dentist | dentiste dentiste
journalist | journaliste journaliste
musician | musicien musicienne
writer | écrivain écrivaine
dancer | danseur danseuse
pilot | pilote pilote
gardener | jardinier jardinière
photographer | photographe photographe
translator | traducteur traductrice
mechanic | mécanicien mécanicienne
"""

WEATHER = """
it is raining | il:0 pleut:2
it is snowing | il:0 neige:2
it is cold | il:0 fait:1 froid:2
it is hot | il:0 fait:1 chaud:2
the weather is nice | il:1 fait:2 beau:3
it was raining | il:0 pleuvait:2
it was snowing | il:0 neigeait:2
it was cold | il:0 faisait:1 froid:2
it was hot | il:0 faisait:1 chaud:2
the weather was nice | il:1 faisait:2 beau:3
it rains | il:0 pleut:1
it snows | il:0 neige:1
"""
SKIES = tuple(cells[0] for cells in rows(WEATHER))[:10]
MILD = ("very très", "really vraiment")
DEGREES = (*MILD, "too trop")
BE_TENSES = {"present": 6, "past": 3, "future": 1}
# Qualities that pass; others have no future, and where a thing comes from has only a present.
PASSING = {"happy", "sad", "tired", "sick", "ready", "busy", "clean", "dirty", "empty", "hot",
           "cold", "closed", "quiet", "rich", "famous", "delicious", "good",
           "interesting", "full", "wet", "dry", "worried", "surprised", "nervous", "angry",
           "noisy", "polite", "jealous", "proud"}  # fmt: skip
LASTING = {"Italian", "French", "English", "German", "American", "Spanish", "Japanese", "Chinese",
           "Belgian", "foreign", "wooden", "leather", "plastic", "gold", "silver", "woollen",
           "cotton", "electric", "tall", "young", "blond", "round", "high", "wide", "narrow",
           "deep", "huge", "tiny"}  # fmt: skip
# Ages by generation, so that no grandfather is twelve.
AGES = {"six": "six", "seven": "sept", "eight": "*huit", "nine": "neuf", "ten": "dix",
        "eleven": "*onze", "twelve": "douze"}  # fmt: skip
GROWN = {"twenty": "vingt", "thirty": "trente", "forty": "quarante", "fifty": "cinquante"}
OLD = {"seventy": "soixante-dix", "eighty": "quatre-vingts"}
GENERATIONS = {
    "grandfather": OLD, "grandmother": OLD, "lady": OLD,
    "father": {"forty": "quarante", "fifty": "cinquante"},
    "mother": {"forty": "quarante", "fifty": "cinquante"},
    "uncle": {"thirty": "trente", "forty": "quarante"},
    "aunt": {"thirty": "trente", "forty": "quarante"},
    "godfather": {"forty": "quarante", "fifty": "cinquante"},
    "godmother": {"forty": "quarante", "fifty": "cinquante"},
    "stepfather": {"forty": "quarante", "fifty": "cinquante"},
    "stepmother": {"forty": "quarante", "fifty": "cinquante"},
    "prince": {"twenty": "vingt", "thirty": "trente"},
    "princess": {"twenty": "vingt", "thirty": "trente"},
    "king": {"forty": "quarante", "fifty": "cinquante"},
    "queen": {"forty": "quarante", "fifty": "cinquante"},
    "headmaster": {"forty": "quarante", "fifty": "cinquante"},
    "headmistress": {"forty": "quarante", "fifty": "cinquante"},
}  # fmt: skip
ADJECTIVE_BY_NAME = {adjective.english: adjective for adjective in ADJECTIVE}
STATE_VERBS = {name: target for name, target in rows(STATES)}  # noqa: C416
NO_DEGREE = {"closed", "empty", "broken", "ready", "wooden", "Italian", "French", "English",
             "German", "red", "blue", "green", "white", "black", "yellow", "grey", "brown",
             "delicious", "American", "Spanish", "Japanese", "Chinese", "Belgian", "foreign",
             "leather", "plastic", "gold", "silver", "woollen", "cotton", "electric", "pink",
             "purple", "blond", "married", "round", "raw", "huge", "tiny", "magnificent", "full",
             "bad"}  # fmt: skip


def _be(form: Form, subject: Nominal, verb: Verb = BE_VERB) -> Clause:
    return Clause(subject, simple(verb, subject.agreement, form, []), Phrase())


def be_form(
    draw: Draw, tenses: dict[str, int], *, negation: float = 0.12, question: bool = False
) -> Form:
    """Return a tense of "to be", sometimes negated."""
    negated = not question and draw.chance(negation)
    return Form(draw.weighted(tenses), negation="not" if negated else "", question=question)


def timely(draw: Draw, adjective: Adjective, *, question: bool = False) -> Form:
    """Return a tense in which the adjective makes sense."""
    if adjective.english in PASSING:
        tenses = BE_TENSES
    elif adjective.english in LASTING:
        tenses = {"present": 1}
    else:
        tenses = {"present": 2, "past": 1}
    return be_form(draw, tenses, question=question)


@cache
def _be_as(target: str) -> Verb:
    """Return "be" as another French verb translates it."""
    return make_verb(["be was been", target, "person", "", "", "stative"])


def state(subject: Nominal, name: str, form: Form) -> Clause:
    """Return "is hungry", "a faim": English to be, French avoir or être with a fixed word."""
    target, complement = STATE_VERBS[name].split(" ", 1)
    clause = _be(form, subject, _be_as(target))
    words = [Word(text) for text in name.split()]
    return Clause(subject, clause.group, Phrase(words, link(words, complement)))


def described_as(
    subject: Nominal, adjective: Adjective, form: Form, *, degree: Phrase | None = None
) -> Clause:
    """Return "is (very) tired" with the agreement of the subject."""
    agreement = subject.agreement
    word = Word(adjective.english)
    tokens: list[Token] = adjective_tokens(
        adjective, word, agreement.gender or "m", many=agreement.many
    )
    rest = (degree or Phrase()) + Phrase([word], tokens)
    return Clause(subject, _be(form, subject).group, rest)


def fitting(subject: Nominal) -> list[Adjective]:
    """Return the adjectives that may be said of the subject.

    Those with two written genders are barred where English hides the subject's gender.
    """
    hidden = subject.agreement.gender is None
    return [
        adjective
        for adjective in ADJECTIVE
        if subject.kind in adjective.nouns
        and (adjective.epicene or not hidden)
        and not adjective.attributive
    ]


def degree(draw: Draw, adjective: Adjective) -> Phrase | None:
    """Return "very", "too" and the like, or None."""
    if adjective.english in NO_DEGREE or not draw.chance(0.4):
        return None
    degrees = DEGREES if adjective.rank > 0 or adjective.english == "expensive" else MILD
    return fixed(*draw.pick(degrees).split())


def can_be(subject: Nominal, name: str) -> bool:
    """Whether the state can be said of the subject without knowing a hidden gender."""
    if name in STATE_VERBS:
        return True
    return subject.agreement.gender is not None or ADJECTIVE_BY_NAME[name].epicene


def be_in_state(subject: Nominal, name: str, form: Form) -> Clause:
    """Return a state of STATES or an adjective as a predicate."""
    if name in STATE_VERBS:
        return state(subject, name, form)
    return described_as(subject, ADJECTIVE_BY_NAME[name], form)


def profession(draw: Draw, subject: Nominal, form: Form) -> Clause:
    """Return "is a teacher": no article in French, and the subject's gender."""
    name, forms = draw.even(rows(PROFESSIONS))
    masculine, feminine = forms.split()
    french = feminine if subject.agreement.gender == "f" else masculine
    plural = subject.agreement.english == "plural"
    words = [Word(name + "s")] if plural else [Word("a"), Word(name)]
    rest = Phrase(words, link(words, french + "s" if plural else french))
    return Clause(subject, _be(form, subject).group, rest)


def age(draw: Draw, subject: Nominal) -> Clause:
    """Return "is ten years old", "a dix ans"."""
    noun = subject.noun
    if noun is None:
        ages = {**AGES, **GROWN}
    elif noun.category in ("adult", "worker"):
        ages = GENERATIONS.get(noun.english, GROWN)
    else:
        ages = GENERATIONS.get(noun.english, AGES)
    number = draw.even(tuple(ages))
    group = _be(Form("present"), subject, _be_as("avoir")).group
    return Clause(subject, group, fixed(f"{number} years old", f"{ages[number]}:0 ans:1"))


def weather(english: str) -> Phrase:
    """Return a clause about the weather by its English words."""
    return fixed(english, next(cells[1] for cells in rows(WEATHER) if cells[0] == english))
