"""Nobody, nothing, and whom one misses: sentences whose halves trade places."""

from __future__ import annotations

from dataclasses import replace

from . import objects
from .action import able, act, make
from .clause import subject
from .draw import Draw
from .group import Form, finite, simple
from .nominal import Agreement, Nominal, name
from .noun_phrase import noun_phrase
from .nouns import nouns_of
from .objects import Object
from .phrase import Phrase, Token, Word, clitic, token
from .relatives import DOINGS
from .verbs import TRANSITIVES, known, make_verb

MISS = make_verb(["miss", "manquer", "person", "", "", "stative"])
SUBJECT_CLITICS = {"I": "me", "we": "nous", "he": "lui", "she": "lui"}
# Who is missed: English object, French subject, gender.
MISSED = {"him": ("il", "m"), "her": ("elle", "f")}
# What one may do to nothing or to nobody.
THINGS = ("buy", "sell", "eat", "drink", "see", "hear", "find", "lose", "choose", "forget", "hide",
          "read", "write", "break", "prepare", "order", "receive", "repair")  # fmt: skip
PERSONS = ("see", "meet", "recognise", "help", "invite", "call", "hear", "greet", "thank")


def missing(draw: Draw) -> Phrase:
    """Return "Paul misses his brother", "son frère manque à Paul"."""
    who = subject(draw, adjectives=0.0)
    form = Form(
        draw.weighted({"present": 5, "past": 2, "future": 1}),
        negation="not" if draw.chance(0.12) else "",
    )
    group = simple(MISS, who.agreement, form, [])
    missed = _missed(draw, who)
    verb = finite(MISS, missed.agreement, form.tense)
    french = [
        item._replace(text=verb) if item.sure is group.head else item for item in group.french
    ]
    to: list[Token] = []
    if who.pronoun:
        # After "ne", before the verb.
        place = 1 if form.negation else 0
        word = who.phrase.english[0]
        french.insert(place, clitic(SUBJECT_CLITICS[word.text], word))
    else:
        to = [token("à", group.head), *who.phrase.french]
    spoken = [group.auxiliary] if group.auxiliary else []
    english = [*who.phrase.english, *spoken, *group.rest, *missed.phrase.english]
    return Phrase(english, [*missed.phrase.french, *french, *to])


def _missed(draw: Draw, who: Nominal) -> Nominal:
    """Return whom or what somebody misses."""
    kind = draw.weighted({"kin": 5, "name": 3, "pronoun": 2, "thing": 3})
    if kind == "name":
        other = name(draw)
        said = [word.text for word in who.phrase.english]
        return other if other.phrase.english[0].text not in said else _missed(draw, who)
    if kind == "pronoun":
        word = Word(draw.pick(tuple(MISSED)))
        french, gender = MISSED[word.text]
        agreement = Agreement(3, False, gender, "singular")
        return Nominal(Phrase([word], [token(french, word)]), agreement, "man", "his", pronoun=True)
    nouns = nouns_of("kin" if kind == "kin" else "pet house village garden")
    fitting = [noun for noun in nouns if noun.english != who.kind]
    noun = draw.even(fitting)
    owner = objects.owner(draw, who, kin=kind == "kin")
    return noun_phrase(draw, noun, determiner=owner, adjectives=0.0)


def nobody(draw: Draw) -> Phrase:
    """Return "nobody saw the cat", "personne n'a vu le chat"."""
    word = Word("nobody")
    agreement = Agreement(3, False, "m", "singular")
    subject_tokens = [token("personne", word), token("ne", word, mark="negation")]
    who = Nominal(Phrase([word], subject_tokens), agreement, "man", "its", pronoun=True)
    tense = draw.weighted({"past": 5, "progressive": 2, "future": 2})
    verb = known(draw.even(able(DOINGS, "man", agreement, tense)))
    return act(draw, who, verb=verb, tense=tense, negation="").clause.statement()


def nothing(draw: Draw) -> Phrase:
    """Return "Paul did not buy anything", "Paul n'a rien acheté"; or anybody, "personne"."""
    who = subject(draw)
    person = draw.chance(0.4)
    names = PERSONS if person else THINGS
    tense = draw.weighted({"past": 5, "future": 2, "progressive": 1})
    verbs = [
        verb
        for verb in able(TRANSITIVES, who.kind, who.agreement, tense)
        if verb.english in names and not verb.preposition
    ]
    if not verbs:
        return nothing(draw)
    clause = make(draw, who, draw.even(verbs), Form(tense, negation="not"), Object())
    word = Word("anybody" if person else "anything")
    french = []
    for item in clause.group.french:
        if item.text != "pas":
            french.append(item)
        elif not person:  # "rien" stands where "pas" would, "personne" after the participle
            french.append(token("rien", word))
    ending = [token("personne", word)] if person else []
    group = replace(clause.group, french=[*french, *ending])
    return replace(clause, group=group, rest=Phrase([word], [])).statement()
