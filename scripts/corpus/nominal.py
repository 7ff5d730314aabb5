"""Noun phrases: determiners, adjectives on both sides of the noun, agreement."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .adjectives import ADJECTIVE, Adjective
from .draw import Draw
from .nouns import NOUN, Noun
from .phrase import Phrase, Token, Word, fixed, link, token
from .places import MEN, WOMEN
from .times import NUMBERS


@dataclass(frozen=True, slots=True)
class Agreement:
    """What other words must agree with.

    `english` is "I", "singular" or "plural" and rules the English verb; `person` (1 to 3) and
    `plural` rule the French verb. `gender` is None where English leaves it open. `polite` is one
    person called "vous", whose adjectives stay singular.
    """

    person: int
    plural: bool
    gender: str | None
    english: str
    polite: bool = False

    @property
    def index(self) -> int:
        """The place in a French conjugation table."""
        return self.person - 1 + 3 * self.plural

    @property
    def many(self) -> bool:
        """Whether adjectives and participles are plural."""
        return self.plural and not self.polite


@dataclass(slots=True)
class Nominal:
    """A noun phrase, a name or a pronoun.

    `kind` is the English noun that decides which verbs and adjectives fit; names and pronouns
    count as "man" or "woman". `owner` names the possessive that points back here ("his").
    """

    phrase: Phrase
    agreement: Agreement
    kind: str
    owner: str
    pronoun: bool = False
    noun: Noun | None = None


# English pronoun: French, person, plural, gender, English verb, possessive.
PRONOUNS = {
    "I": ("je", 1, False, None, "I", "my"),
    "he": ("il", 3, False, "m", "singular", "his"),
    "she": ("elle", 3, False, "f", "singular", "her"),
    "we": ("nous", 1, True, None, "plural", "our"),
}

# English singular and plural | French m, f, plural; "ma", "sa" and "ce" change before a vowel.
DETERMINERS = {
    "the": ("the", "the", "le", "la", "les"),
    "a": ("a", "", "un", "une", ""),
    "this": ("this", "these", "ce", "cette", "ces"),
    "which": ("which", "which", "quel", "quelle", "quels/quelles"),
    "every": ("every", "", "chaque", "chaque", ""),
    "several": ("", "several", "", "", "plusieurs"),
    "my": ("my", "my", "mon", "ma", "mes"),
    "your": ("your", "your", "ton", "ta", "tes"),
    "your polite": ("your", "your", "votre", "votre", "vos"),
    "his": ("his", "his", "son", "sa", "ses"),
    "her": ("her", "her", "son", "sa", "ses"),
    "our": ("our", "our", "notre", "notre", "nos"),
    "their": ("their", "their", "leur", "leur", "leurs"),
}
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
POSSESSIVES = ("my", "his", "her", "our", "their")


def pronoun(name: str) -> Nominal:
    """Return a subject pronoun whose gender, if it has one, is visible in English."""
    french, person, plural, gender, english, owner = PRONOUNS[name]
    word = Word(name)
    return Nominal(
        Phrase([word], [token(french, word)]),
        Agreement(person, plural, gender, english),
        "woman" if gender == "f" else "man",
        owner,
        pronoun=True,
    )


def again(nominal: Nominal) -> Nominal:
    """Return the pronoun of the third person that points back at `nominal`."""
    agreement = nominal.agreement
    if agreement.person == 1:
        return pronoun("we" if agreement.plural else "I")
    person = nominal.noun is None or nominal.noun.category in (
        "adult", "youth", "worker", "group", "kin",
    )  # fmt: skip
    if agreement.english == "plural":
        name = "they"
    elif person:
        name = "she" if agreement.gender == "f" else "he"
    else:
        name = "it"
    french = "elle" if agreement.gender == "f" else "il"
    word = Word(name)
    subject = token(french + "s" if agreement.plural else french, word)
    return replace(nominal, phrase=Phrase([word], [subject]), pronoun=True)


def name(draw: Draw) -> Nominal:
    """Return a given name."""
    gender = draw.pick("mf")
    text = draw.even(MEN if gender == "m" else WOMEN)
    return Nominal(
        fixed(text, text),
        Agreement(3, False, gender, "singular"),
        "man" if gender == "m" else "woman",
        "his" if gender == "m" else "her",
    )


def both(first: Nominal, second: Nominal) -> Nominal:
    """Return two noun phrases of the third person joined by "and"."""
    masculine = "m" in (first.agreement.gender, second.agreement.gender)
    return Nominal(
        first.phrase + fixed("and", "et") + second.phrase,
        Agreement(3, True, "m" if masculine else "f", "plural"),
        first.kind,
        "their",
    )


def adjective_tokens(adjective: Adjective, word: Word, gender: str, *, many: bool) -> list[Token]:
    """Return the agreeing French form as one or more tokens."""
    return link([word], adjective.form(gender, many=many))


def _before(adjective: Adjective, word: Word, noun: Noun, *, plural: bool) -> list[Token]:
    tokens = adjective_tokens(adjective, word, noun.gender, many=plural)
    if noun.gender == "m" and not plural and adjective.before_vowel is not None:
        tokens[0] = replace(tokens[0], before_vowel=adjective.before_vowel)
    return tokens


def _choose_adjectives(
    draw: Draw, noun: Noun, chance: float, barred: frozenset[str]
) -> list[Adjective]:
    if noun.category == "kin":
        return []
    chosen = []
    for position in ("pre", "post"):
        fitting = [
            adjective
            for adjective in ADJECTIVE
            if adjective.position == position
            and noun.english in adjective.nouns
            and adjective.english not in barred
        ]
        if fitting and draw.chance(chance):
            chosen.append(draw.even(fitting))
    return chosen


def _determiner(
    kind: str, noun: Noun, head: Word, *, plural: bool, preposed: bool, after_de: bool
) -> Phrase:
    """Return the determiner; `head` carries French articles that English does not have."""
    le = "les" if plural else ("la" if noun.gender == "f" else "le")
    if kind == "bare":
        return Phrase([], [token(le, head)])
    if kind in ("no", "any"):
        word = Word({"no": "no", "any": "any"}[kind])
        return Phrase([word], [token("de", word)])
    if kind == "some" and after_de:
        return Phrase([Word("some")])
    if kind == "some":
        word = Word("some")
        if plural:
            return Phrase([word], [token("de" if preposed else "des", word)])
        return Phrase([word], [token("de", word), token(le, word)])
    if kind in QUANTITIES:
        return fixed(*QUANTITIES[kind])
    if kind in NUMBERS:
        return fixed(kind, NUMBERS[kind])
    if kind == "all the":
        all_, the = Word("all"), Word("the")
        tous = "toutes" if noun.gender == "f" else "tous"
        return Phrase([all_, the], [token(tous, all_), token("les", the)])
    singular, many, masculine, feminine, french_plural = DETERMINERS[kind]
    word = Word(many if plural or noun.plural_only else singular)
    if plural:
        form = french_plural.split("/")[-1 if noun.gender == "f" else 0]
    else:
        form = feminine if noun.gender == "f" else masculine
    item = token(form, word)
    if form in BEFORE_VOWEL:
        item = replace(item, before_vowel=BEFORE_VOWEL[form])
    return Phrase([word], [item])


def noun_phrase(
    draw: Draw,
    noun: Noun,
    *,
    determiner: str,
    plural: bool = False,
    possessor: Nominal | None = None,
    adjectives: float = 0.3,
    negated: bool = False,
    barred: frozenset[str] = frozenset(),
    after_de: bool = False,
) -> Nominal:
    """Return a noun phrase of the third person.

    `adjectives` is the chance of one before and of one after the French noun, `barred` names
    those that make no sense here. After the preposition "de" French drops the partitive
    ("besoin de pain"): `after_de`.

    `possessor` makes "Paul's dog", whatever the determiner. `negated` turns the indefinite
    article into "de" ("does not have a car", "n'a pas de voiture").
    """
    plural = plural or noun.plural_only
    words = [Word(text) for text in (noun.english_plural if plural else noun.english).split()]
    chosen = _choose_adjectives(draw, noun, adjectives, barred)
    described = [Word(adjective.english) for adjective in chosen]
    ranked = sorted(zip(chosen, described, strict=True), key=lambda both: both[0].rank)
    before: list[Token] = []
    after: list[Token] = []
    for adjective, word in zip(chosen, described, strict=True):
        if adjective.position == "pre":
            before += _before(adjective, word, noun, plural=plural)
        else:
            after += adjective_tokens(adjective, word, noun.gender, many=plural)
    if possessor is not None:
        lead, owner = _possessor(possessor, noun, words[-1], plural=plural)
        after += owner
    else:
        lead = _determiner(
            determiner, noun, words[-1], plural=plural, preposed=bool(before), after_de=after_de
        )
        if negated and determiner == "a":
            lead = Phrase(lead.english, [token("de", lead.english[0])])
    core = link(words, noun.french_plural if plural else noun.french)
    phrase = Phrase(
        lead.english + [word for _, word in ranked] + words, lead.french + before + core + after
    )
    return Nominal(
        phrase,
        Agreement(3, plural, noun.gender, "plural" if plural else "singular"),
        noun.english,
        _owner(noun, plural=plural),
        noun=noun,
    )


def _owner(noun: Noun, *, plural: bool) -> str:
    if plural:
        return "their"
    if NOUN[noun.english].category in ("adult", "youth", "worker", "kin"):
        return "her" if noun.gender == "f" else "his"
    return "its"


def _possessor(
    possessor: Nominal, noun: Noun, head: Word, *, plural: bool
) -> tuple[Phrase, list[Token]]:
    """Return what stands before the noun and the French words after it: Paul's, de Paul."""
    last = possessor.phrase.english[-1]
    last.text += "'s"
    le = "les" if plural else ("la" if noun.gender == "f" else "le")
    lead = Phrase(possessor.phrase.english, [token(le, head, last)])
    return lead, [token("de", last), *possessor.phrase.french]
