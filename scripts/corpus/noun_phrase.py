"""Noun phrases: determiners, adjectives on both sides of the noun, agreement."""

from __future__ import annotations

from functools import cache

from .adjectives import KINDS, Adjective, attributes
from .draw import Draw
from .nominal import Agreement, Nominal
from .nouns import Noun
from .phrase import Phrase, Token, Word, fixed, link, token, words_of
from .times import NUMBERS

# English singular and plural | French m, f, plural; "ma", "sa" and "ce" change before a vowel.
DETERMINERS = {
    "the": ("the", "the", "le", "la", "les"),
    "a": ("a", "", "un", "une", ""),
    "this": ("this", "these", "ce", "cette", "ces"),
    "which": ("which", "which", "quel", "quelle", "quels/quelles"),
    "several": ("", "several", "", "", "plusieurs"),
    "my": ("my", "my", "mon", "ma", "mes"),
    "your": ("your", "your", "ton", "ta", "tes"),
    "your polite": ("your", "your", "votre", "votre", "vos"),
    "his": ("his", "his", "son", "sa", "ses"),
    "her": ("her", "her", "son", "sa", "ses"),
    "our": ("our", "our", "notre", "notre", "nos"),
    "their": ("their", "their", "leur", "leur", "leurs"),
}
POSSESSIVES = {"my", "your", "your polite", "his", "her", "our", "their"}
BEFORE_VOWEL = {"ce": "cet", "ma": "mon", "ta": "ton", "sa": "son"}
QUANTITIES = {
    "a lot of": ("a lot of", "beaucoup:1 de:2"),
    "how many": ("how many", "combien:0 de:1"),
    "a glass of": ("a glass of", "un:0 verre:1 de:2"),
    "a cup of": ("a cup of", "une:0 tasse:1 de:2"),
    "a bottle of": ("a bottle of", "une:0 bouteille:1 de:2"),
    "a piece of": ("a piece of", "un:0 morceau:1 de:2"),
    "a kilo of": ("a kilo of", "un:0 kilo:1 de:2"),
}


def adjective_tokens(
    adjective: Adjective, word: Word, gender: str, *, many: bool, mark: str = ""
) -> list[Token]:
    """Return the agreeing French form as one or more tokens."""
    form = adjective.form(gender, many=many)
    tokens = link([word], form, mark=mark)
    if form != adjective.masculine:
        tokens[0] = tokens[0]._replace(marks=(*tokens[0].marks, "agreeing adjective"))
    return tokens


def _choose_adjectives(
    draw: Draw, noun: Noun, chance: float, barred: frozenset[str]
) -> list[Adjective]:
    if noun.category == "kin":
        return []
    chosen: list[Adjective] = []
    for position in ("pre", "post"):
        if not draw.chance(chance):
            continue
        fitting = [
            adjective
            for adjective in attributes(noun, position)
            if adjective.english not in barred and not (chosen and _clash(chosen[0], adjective))
        ]
        if fitting:
            chosen.append(draw.even(fitting))
    return chosen


def _clash(first: Adjective, second: Adjective) -> bool:
    """Whether both say too much: nothing is "big huge", what is new is not broken."""
    state = KINDS[second.rank] == "state"
    return first.rank == second.rank or (first.english == "new" and state)


def _determiner(kind: str, noun: Noun, head: Word, *, plural: bool, preposed: bool) -> Phrase:
    """Return the determiner; `head` carries French articles that English does not have."""
    le = "les" if plural else ("la" if noun.gender == "f" else "le")
    if kind == "bare":
        return Phrase([], [token(le, head)])
    if kind.endswith(" after de"):
        return Phrase([Word(kind.partition(" ")[0])])
    if kind in ("no", "any", "not a"):
        word = Word(kind.removeprefix("not "))
        return Phrase([word], [token("de", word)])
    if kind in ("some", "unsaid some"):
        words = [Word("some")] if kind == "some" else []
        return _some(words, le, (words or [head])[0], plural=plural, preposed=preposed)
    if kind in QUANTITIES:
        return fixed(*QUANTITIES[kind])
    if kind in NUMBERS:
        return fixed(kind, NUMBERS[kind], mark="number")
    singular, many, masculine, feminine, french_plural = DETERMINERS[kind]
    word = Word(many if plural or noun.plural_only else singular)
    if plural:
        form = french_plural.split("/")[-1 if noun.gender == "f" else 0]
    else:
        form = feminine if noun.gender == "f" else masculine
    item = token(form, word, mark="possessive" if kind in POSSESSIVES else "")
    if form in BEFORE_VOWEL:
        item = item._replace(before_vowel=BEFORE_VOWEL[form])
    return Phrase([word], [item])


def _some(words: list[Word], le: str, sure: Word, *, plural: bool, preposed: bool) -> Phrase:
    """Return the partitive: du, de la, des; "de" before an adjective in the plural."""
    if plural:
        return Phrase(words, [token("de" if preposed else "des", sure, mark="partitive")])
    return Phrase(words, [token("de", sure, mark="partitive"), token(le, sure)])


def noun_phrase(
    draw: Draw,
    noun: Noun,
    *,
    determiner: str | Nominal,
    plural: bool = False,
    adjectives: float = 0.3,
    barred: frozenset[str] = frozenset(),
) -> Nominal:
    """Return a noun phrase of the third person.

    A determiner is a key of DETERMINERS, QUANTITIES or NUMBERS, "some", "unsaid some" (eats
    bread, mange du pain), "bare" (likes cats, aime les chats), "no" or "any" after a negation,
    "not a" (does not have a car, n'a pas de voiture), "some after de" and "any after de" (needs
    some bread, besoin de pain), or the possessor of "Paul's dog". `adjectives` is the chance of
    one before and of one after the French noun; `barred` names those that make no sense here.
    """
    plural = plural or noun.plural_only
    words = words_of(noun.english_plural if plural else noun.english)
    chosen = _choose_adjectives(draw, noun, adjectives, barred)
    described = [Word(adjective.english) for adjective in chosen]
    before, after = _around(noun, chosen, described, plural=plural)
    if isinstance(determiner, Nominal):
        lead, owner = _possessor(determiner, noun, words[-1], plural=plural)
        after += owner
    else:
        lead = _determiner(determiner, noun, words[-1], plural=plural, preposed=bool(before))
    turned = len(chosen) > 1 and chosen[0].rank > chosen[1].rank
    spoken = described[::-1] if turned else described
    core = link(words, noun.french_plural if plural else noun.french)
    return Nominal(
        Phrase(
            lead.english + spoken + words,
            lead.french + before + core + after,
        ),
        _agreement(noun.gender, plural),
        noun.english,
        _owner(noun, plural),
        noun=noun,
    )


def _around(
    noun: Noun, chosen: list[Adjective], words: list[Word], *, plural: bool
) -> tuple[list[Token], list[Token]]:
    """Return the French adjectives before and after the noun; vieux is vieil before a vowel."""
    before: list[Token] = []
    after: list[Token] = []
    for adjective, word in zip(chosen, words, strict=True):
        place = "after" if adjective.position == "post" else "before"
        mark = f"adjective {place} the noun"
        tokens = adjective_tokens(adjective, word, noun.gender, many=plural, mark=mark)
        if adjective.position == "post":
            after += tokens
            continue
        if noun.gender == "m" and not plural and adjective.before_vowel is not None:
            tokens[0] = tokens[0]._replace(before_vowel=adjective.before_vowel)
        before += tokens
    return before, after


@cache
def _agreement(gender: str, plural: bool) -> Agreement:
    return Agreement(3, plural, gender, "plural" if plural else "singular")


@cache
def _owner(noun: Noun, plural: bool) -> str:
    if noun.category not in ("adult", "youth", "worker", "kin", "group"):
        return "its"
    if plural:
        return "their"
    return "her" if noun.gender == "f" else "his"


def _possessor(
    possessor: Nominal, noun: Noun, head: Word, *, plural: bool
) -> tuple[Phrase, list[Token]]:
    """Return what stands before the noun and the French words after it: Paul's, de Paul."""
    last = possessor.phrase.english[-1]
    last.text += "'s"
    le = "les" if plural else ("la" if noun.gender == "f" else "le")
    lead = Phrase(possessor.phrase.english, [token(le, head, last)])
    return lead, [token("de", last, mark="noun of a noun"), *possessor.phrase.french]
