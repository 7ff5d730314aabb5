"""States and what follows from them: predicates, causes, weather, professions."""

from __future__ import annotations

from .adjectives import ADJECTIVE, Adjective
from .draw import Draw
from .group import BE_VERB, Form, simple
from .clause import Clause
from .nominal import Nominal, adjective_tokens
from .nouns import rows
from .phrase import Phrase, Token, Word, fixed, link
from .verbs import BY_NAME, Verb, make_verb

# English after "to be" | French verb and complement; without a noun of its own: person or any.
STATES = """
hungry | avoir faim
thirsty | avoir soif
cold | avoir froid
sleepy | avoir sommeil
afraid | avoir peur
right | avoir raison
wrong | avoir tort
late | être en retard
on holiday | être en:0 vacances:1
"""
ANIMAL_STATES = ("hungry", "thirsty", "afraid")

# States, adjectives included | what one does because of them (intransitive verbs).
CAUSES = """
tired, sleepy, sick | sleep, rest, go to bed, stay at home, go home
happy | sing, smile, laugh, dance
sad | cry, go home, stay at home
late | run, hurry
on holiday | take a walk, swim, dance, go out, rest, play cards
busy | stay at home
"""
# What one does not do because of a state.
HINDERS = """
tired, sick, sleepy | work, dance, go out, swim, play football, play tennis, cook, go shopping
sad | sing, laugh, dance, smile
on holiday | work, cook
busy | go out, sleep, watch television, play cards, rest
afraid | swim, sleep
"""
CAUSES_TABLE = tuple((cells[0].split(", "), cells[1].split(", ")) for cells in rows(CAUSES))
HINDERS_TABLE = tuple((cells[0].split(", "), cells[1].split(", ")) for cells in rows(HINDERS))

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
"""

# tense | english | french
WEATHER = """
present | it is raining | il:0 pleut:2
present | it is snowing | il:0 neige:2
present | it is cold | il:0 fait:1 froid:2
present | it is hot | il:0 fait:1 chaud:2
past | it rained | il:0 a:1 plu:1
past | it snowed | il:0 a:1 neigé:1
past | it was cold | il:0 faisait:1 froid:2
past | it was hot | il:0 faisait:1 chaud:2
past | it was raining | il:0 pleuvait:2
past | it was snowing | il:0 neigeait:2
future | it will rain | il:0 pleuvra:2
future | it will snow | il:0 neigera:2
future | it will be cold | il:0 fera:2 froid:3
future | it will be hot | il:0 fera:2 chaud:3
condition | it rains | il:0 pleut:1
condition | it snows | il:0 neige:1
condition | it is cold | il:0 fait:1 froid:2
condition | it is hot | il:0 fait:1 chaud:2
condition | the weather is nice | il:1 fait:2 beau:3
present | the weather is nice | il:1 fait:2 beau:3
"""
DEGREES = ("very très", "too trop", "really vraiment", "often souvent", "always toujours")
ADJECTIVE_BY_NAME = {adjective.english: adjective for adjective in ADJECTIVE}
STATE_VERBS = {name: target for name, target in rows(STATES)}
NO_DEGREE = {"closed", "empty", "broken", "ready", "wooden", "Italian", "French", "English",
             "German", "red", "blue", "green", "white", "black", "yellow", "grey", "brown",
             "delicious"}  # fmt: skip


def _be(form: Form, subject: Nominal, verb: Verb = BE_VERB) -> Clause:
    return Clause(subject, simple(verb, subject.agreement, form, []), Phrase())


def state(subject: Nominal, name: str, form: Form) -> Clause:
    """Return "is hungry", "a faim": English to be, French avoir or être with a fixed word."""
    target, complement = STATE_VERBS[name].split(" ", 1)
    verb = make_verb(["be was been", target, "person", "", "", "stative"])
    clause = _be(form, subject, verb)
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


def fitting(subject: Nominal, *, loose: bool = True) -> list[Adjective]:
    """Return the adjectives that may be said of the subject.

    Those with two written genders are barred where English hides the subject's gender.
    """
    hidden = subject.agreement.gender is None
    return [
        adjective
        for adjective in ADJECTIVE
        if subject.kind in adjective.nouns
        and (adjective.epicene or not hidden)
        and (loose or adjective.position != "pre")
    ]


def degree(draw: Draw, adjective: Adjective) -> Phrase | None:
    """Return "very", "too" and the like, or None."""
    if adjective.english in NO_DEGREE or not draw.chance(0.4):
        return None
    return fixed(*draw.pick(DEGREES[:3]).split())


def be_in_state(subject: Nominal, name: str, form: Form) -> Clause | None:
    """Return a state of STATES or an adjective, or None where the gender is hidden."""
    if name in STATE_VERBS:
        return state(subject, name, form)
    adjective = ADJECTIVE_BY_NAME[name]
    if subject.agreement.gender is None and not adjective.epicene:
        return None
    return described_as(subject, adjective, form)


def profession(draw: Draw, subject: Nominal, form: Form) -> Clause:
    """Return "is a teacher": no article in French, and the subject's gender."""
    name, forms = draw.even([(cells[0], cells[1]) for cells in rows(PROFESSIONS)])
    masculine, feminine = forms.split()
    french = feminine if subject.agreement.gender == "f" else masculine
    plural = subject.agreement.english == "plural"
    words = [Word(name + "s")] if plural else [Word("a"), Word(name)]
    rest = Phrase(words, link(words, french + "s" if plural else french))
    return Clause(subject, _be(form, subject).group, rest)


def weather(draw: Draw, tense: str) -> Phrase:
    """Return a clause about the weather."""
    english, french = draw.even([(c[1], c[2]) for c in rows(WEATHER) if c[0] == tense])
    return fixed(english, french)


def verb_named(name: str) -> Verb:
    """Return an intransitive verb of the tables of causes."""
    return BY_NAME[name]
