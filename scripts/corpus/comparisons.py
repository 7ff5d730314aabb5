"""Comparatives and superlatives, prices, and what belongs to whom."""

from __future__ import annotations

from functools import cache

from . import states, times
from .adjectives import ADJECTIVE, COMPARATIVE, Adjective
from .clause import Clause, person
from .draw import Draw
from .group import BE_VERB, Form, simple
from .nominal import Nominal, name
from .noun_phrase import adjective_tokens, noun_phrase
from .nouns import Noun, nouns_of, rows
from .objects import PEOPLE
from .phrase import Phrase, Token, Word, fixed, link, marked, token
from .statements import thing
from .verbs import make_verb

COMPARABLE = nouns_of("person food drink thing place transport nature work task event")
# What is the greatest of its kind | in this place.
SUPERLATIVES = """
house hotel restaurant church museum castle bakery library market farm school | village
house hotel restaurant church museum theatre bakery library | street
flower | garden park
book novel | library
boy girl | school village
man woman | village
photo | museum
car bicycle | street village
"""
# Thing | what it may cost, in euros.
PRICES = """
book novel hat scarf gloves umbrella map cup plate ball | five, ten, twelve, twenty
shoes boots dress skirt shirt jacket coat suitcase bag lamp | thirty, forty, fifty, sixty
bicycle watch guitar table armchair bed violin phone | two hundred, three hundred, a hundred
"""
NUMBERS = {
    **times.NUMBERS, "thirty": "trente", "forty": "quarante", "fifty": "cinquante",
    "sixty": "soixante", "a hundred": "cent", "two hundred": "deux cents",
    "three hundred": "trois cents",
}  # fmt: skip
COST = make_verb(["cost cost cost", "coûter", "person", "", "", "stative"])
BELONG = make_verb(["belong", "appartenir", "person", "", "", "stative"])
BELONGINGS = nouns_of("vehicle garment pair text device instrument item vessel -flower -ticket")


@cache
def _alike(adjective: Adjective) -> dict[str, list[Noun]]:
    """Return the nouns the adjective fits, by category, where there are at least two."""
    kinds: dict[str, list[Noun]] = {}
    for noun in COMPARABLE:
        if noun.english in adjective.nouns:
            kinds.setdefault(noun.category, []).append(noun)
    return {category: nouns for category, nouns in kinds.items() if len(nouns) > 1}


@cache
def _usable() -> list[Adjective]:
    return [a for a in ADJECTIVE if a.english in COMPARATIVE and not a.attributive and _alike(a)]


def comparison(draw: Draw) -> Phrase:
    """Return "the castle is older than the church" or "Paul is not as tall as Marie"."""
    adjective = draw.even(_usable())
    if draw.chance(0.4) and _personal(adjective):
        first, second = name(draw), name(draw)
        if first.kind not in adjective.nouns or second.kind not in adjective.nouns:
            return comparison(draw)
        if first.phrase.english[0].text == second.phrase.english[0].text:
            return comparison(draw)
    else:
        first, second = _two_things(draw, adjective)
    tense = draw.weighted({"present": 5, "past": 1 if adjective.english in states.PASSING else 0})
    kind = draw.weighted({"more": 6, "as": 2, "not as": 1, "less": 1})
    form = Form(tense, negation="not" if kind == "not as" else "")
    group = simple(BE_VERB, first.agreement, form, [])
    degree = compared(adjective, first, kind.removeprefix("not "))
    rest = degree + Phrase(second.phrase.english, second.phrase.french)
    return Clause(first, group, rest).statement()


@cache
def _personal(adjective: Adjective) -> bool:
    return any(noun.category in PEOPLE for noun in COMPARABLE if _fits(adjective, noun))


def _fits(adjective: Adjective, noun: Noun) -> bool:
    return noun.english in adjective.nouns


def _two_things(draw: Draw, adjective: Adjective) -> tuple[Nominal, Nominal]:
    kinds = _alike(adjective)
    nouns = kinds[draw.pick(tuple(kinds))]
    first, second = draw.even(nouns), draw.even(nouns)
    while second is first:
        second = draw.even(nouns)
    plural = draw.chance(0.2) and not (first.mass or second.mass or first.category == "kin")
    return thing(draw, first, plural=plural), thing(draw, second, plural=plural)


def compared(adjective: Adjective, who: Nominal, kind: str) -> Phrase:
    """Return "older than", "as old as" or "less old than" with the agreement of `who`."""
    agreement = who.agreement
    gender, many = agreement.gender or "m", agreement.many
    if kind == "more":
        words = [Word(text) for text in COMPARATIVE[adjective.english].split()]
        than = Word("than")
        tokens = _more(adjective, words, gender, many=many)
    else:
        words = [Word("as" if kind == "as" else "less"), Word(adjective.english)]
        than = Word("as" if kind == "as" else "than")
        degree = token("aussi" if kind == "as" else "moins", words[0])
        tokens = [degree, *adjective_tokens(adjective, words[1], gender, many=many)]
    phrase = Phrase([*words, than], [*tokens, token("que", than)])
    return marked(phrase, "comparative")


def _more(adjective: Adjective, words: list[Word], gender: str, *, many: bool) -> list[Token]:
    """Return "plus vieux", or "meilleur", for "older" or "more beautiful"."""
    if adjective.english == "good":
        form = "meilleure" if gender == "f" else "meilleur"
        return [token(form + "s" * many, words[-1])]
    return [token("plus", words[0]), *adjective_tokens(adjective, words[-1], gender, many=many)]


def superlative(draw: Draw) -> Phrase:
    """Return "this is the oldest house in the village" or "Paul is the strongest boy ..."."""
    nouns, place = draw.pick(rows(SUPERLATIVES))
    noun = draw.even(nouns_of(nouns))
    fitting = _superlatives(noun)
    if not fitting:
        return superlative(draw)
    adjective = draw.even(fitting)
    the = Word("the")
    words = [Word(text) for text in most(COMPARATIVE[adjective.english]).split()]
    head = [Word(text) for text in noun.english.split()]
    described = _more(adjective, words, noun.gender, many=False)
    if noun.gender == "m" and adjective.before_vowel is not None:
        described[-1] = described[-1]._replace(before_vowel=adjective.before_vowel)
    le = "la" if noun.gender == "f" else "le"
    core = link(head, noun.french)
    if adjective.position == "post":
        tokens = [token(le, the), *core, token(le, words[0]), *described]
    else:
        tokens = [token(le, the), *described, *core]
    where = noun_phrase(draw, draw.pick(nouns_of(place)), determiner="the", adjectives=0.2)
    phrase = Phrase([the, *words, *head], tokens) + fixed("in", "de") + where.phrase
    who = _this() if noun.category not in PEOPLE else _named(draw, noun)
    verb = Word("is")
    return who + Phrase([verb], [token("est", verb)]) + marked(phrase, "superlative")


@cache
def _superlatives(noun: Noun) -> list[Adjective]:
    return [
        adjective
        for adjective in ADJECTIVE
        if adjective.english in COMPARATIVE
        and _fits(adjective, noun)
        and not adjective.attributive
        and (adjective.position != "pred" or adjective.english == "tall")
    ]


def _this() -> Phrase:
    word = Word("this")
    return Phrase([word], [token("ce", word)._replace(before_vowel="c'")])


def _named(draw: Draw, noun: Noun) -> Phrase:
    who = name(draw)
    while who.agreement.gender != noun.gender:
        who = name(draw)
    return who.phrase


def most(comparative: str) -> str:
    """Return the superlative of a comparative: oldest, most beautiful, best."""
    irregular = {"better": "best", "worse": "worst"}
    if comparative in irregular:
        return irregular[comparative]
    if comparative.startswith("more "):
        return "most " + comparative.removeprefix("more ")
    return comparative.removesuffix("r") + "st"


def price(draw: Draw) -> Phrase:
    """Return "the shoes cost forty euros"."""
    return price_clause(draw).statement()


def price_clause(draw: Draw, *, question: bool = False) -> Clause:
    """Return a thing with its price; a question is for the price, which it does not name."""
    nouns, numbers = draw.pick(rows(PRICES))
    noun = draw.even(nouns_of(nouns))
    kind = draw.weighted({"the": 4, "this": 2})
    what = noun_phrase(draw, noun, determiner=kind, adjectives=0.2)
    # "The boots cost" may be past or present; English does not show which.
    tense = "present" if noun.plural_only else draw.pick(("present", "present", "past"))
    form = Form(tense, question=question)
    group = simple(COST, what.agreement, form, [])
    amount = Phrase() if question else _euros(draw.even(numbers.split(", ")))
    return Clause(what, group, amount)


def _euros(number: str) -> Phrase:
    words = [Word(text) for text in number.split()]
    french = NUMBERS[number].split()
    tokens = [token(text, words[min(i, len(words) - 1)]) for i, text in enumerate(french)]
    if number == "a hundred":
        tokens = [token("cent", words[1], words[0])]
    unit = fixed("euros", "euros")
    return marked(Phrase(words, tokens), "number") + unit


def belonging(draw: Draw) -> Phrase:
    """Return "the blue bicycle belongs to my sister"."""
    noun = draw.even(BELONGINGS)
    plural = noun.plural_only or draw.chance(0.25)
    kind = draw.weighted({"the": 4, "this": 2})
    what = noun_phrase(draw, noun, determiner=kind, plural=plural, adjectives=0.2)
    form = Form(
        draw.weighted({"present": 5, "past": 1}), negation="not" if draw.chance(0.15) else ""
    )
    group = simple(BELONG, what.agreement, form, [])
    to = fixed("to", "à") + person(draw).phrase
    return Clause(what, group, to).statement()
