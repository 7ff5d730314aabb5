"""Questions, and sentences that say "you" to somebody who is named first."""

from __future__ import annotations

from dataclasses import replace

from . import objects, states
from .action import act, make, possible, verb_for
from .clause import subject
from .comparisons import price_clause
from .draw import Draw
from .group import BE_VERB, Form, simple
from .moments import time
from .nominal import Agreement, Nominal, pronoun
from .noun_phrase import noun_phrase
from .nouns import Noun, rows
from .objects import Object
from .phrase import Phrase, Word, comma, fixed, token
from .statements import description_clause, existence
from .verbs import INTRANSITIVES, MOTIONS, TRANSITIVES, Verb, known, named, of_subject

ASKED = ("present", "progressive", "progressive", "past", "past", "future", "near", "can")
TOLD = ("must", "should", "can", "past", "perfect")
WHY = ("progressive", "past")
# English | French | gender or - where English hides it | number
ADDRESSES = """
Mum | Maman | f | tu
Dad | Papa | m | tu
Grandma | Mamie | f | tu
Grandpa | Papi | m | tu
Sir | Monsieur | m | vous
Madam | Madame | f | vous
Mr Martin | Monsieur:0 Martin:1 | m | vous
Mrs Martin | Madame:0 Martin:1 | f | vous
Children | Les enfants | m | all
Gentlemen | Messieurs | m | all
"""
ORDERS = (
    "open", "close", "look at", "look for", "take", "read", "choose", "wash", "clean", "prepare",
    "buy", "eat", "drink", "wait for", "help", "cut", "listen to", "call", "feed",
)  # fmt: skip
# Orders that need not be about a thing already known.
OFFERED = ("take", "choose", "prepare", "buy", "eat", "drink")
PREPOSITIONAL = tuple(
    verb for verb in TRANSITIVES if verb.preposition in ("à", "de") and verb.english != "play"
)
WHERE_VERBS = ("work", "live", "go", "buy", "find", "lose", "meet", "play football", "swim")
PLACED = tuple(
    verb for verb in (*TRANSITIVES, *INTRANSITIVES, *MOTIONS) if verb.english in WHERE_VERBS
)
CLOCKED = tuple(verb for verb in INTRANSITIVES if "clock" in verb.flags)
PLAIN_OBJECT = tuple(
    verb
    for verb in TRANSITIVES
    if not verb.preposition
    and not verb.tail
    and "the" not in verb.flags
    and verb.english not in ("have", "tell", "ask")
)
PLAIN = ("arrive", "fall", "wake up", "have breakfast")


def yes_no(draw: Draw) -> Phrase:
    """Return a question with "est-ce que"."""
    kind = draw.weighted({"act": 6, "describe": 2, "exist": 1})
    if kind == "exist":
        return existence(draw, question=True)
    if kind == "describe":
        return description_clause(draw, question=True).question()
    return asked(draw, asked_about(draw))


def asked_about(draw: Draw) -> Nominal:
    """Return the subject of a question; nobody asks what "I" am doing."""
    if draw.chance(0.3):
        return pronoun(draw.pick(("he", "she")))
    return subject(draw, pronouns=False)


def asked(
    draw: Draw, who: Nominal, lead: Phrase | None = None, *, tenses: tuple[str, ...] = ASKED
) -> Phrase:
    """Return an action of somebody as a question, after a question word if given."""
    verb = verb_for(draw, who.kind)
    fitting = [
        tense
        for tense in tenses
        if possible(verb, who.agreement, tense, question=True)
        and (tense == "present" or "generic" not in verb.flags)
    ]
    if not fitting or (lead is not None and (verb.english in PLAIN or "stative" in verb.flags)):
        return asked(draw, who, lead, tenses=tenses)
    tense = draw.pick(fitting)
    done = act(draw, who, verb=verb, tense=tense, question=True)
    when = None if lead is not None else time(draw, done)
    question = done.clause.question(lead)
    return question if when is None else question + when


def adverbial(draw: Draw) -> Phrase:
    """Return a question with why, when or where."""
    kind = draw.weighted({"why": 3, "when": 3, "where": 4})
    who = asked_about(draw)
    if kind == "why":
        return asked(draw, who, fixed("why", "pourquoi"), tenses=WHY)
    if kind == "where":
        return where(draw, who)
    verb = draw.even(of_subject(CLOCKED, who.kind))
    tenses = [
        t for t in ("past", "future", "near") if possible(verb, who.agreement, t, question=True)
    ]
    clause = make(draw, who, verb, Form(draw.pick(tenses), question=True), Object())
    return clause.question(fixed("when", "quand"))


def where(draw: Draw, who: Nominal) -> Phrase:
    """Return a question for a place; its verb stands without one."""
    lead = fixed("where", "où")
    if draw.chance(0.3) and not who.pronoun:
        group = simple(BE_VERB, who.agreement, Form(draw.pick(("present", "past"))), [])
        # "Où est Marie ?": after "où" a short verb goes before its subject.
        english = [*lead.english, group.head, *who.phrase.english]
        return Phrase(english, lead.french + group.french + who.phrase.french)
    verb = draw.even(of_subject(PLACED, who.kind))
    tenses = [
        t
        for t in ("present", "past", "future", "near", "progressive")
        if possible(verb, who.agreement, t, question=True)
    ]
    if verb.english not in ("work", "live", "swim", "play football"):
        tenses = [t for t in tenses if t != "present"]
    tense = draw.pick(tenses)
    found = Object()
    if verb not in MOTIONS:
        found = objects.choose(draw, known(verb), who, compound=tense == "past")
    return make(draw, who, verb, Form(tense, question=True), found).question(lead)


def about_object(draw: Draw) -> Phrase:
    """Return a question for the object: what, who, which, how many."""
    who = asked_about(draw)
    verb = draw.even(of_subject(PLAIN_OBJECT, who.kind))
    tenses = [
        t
        for t in ("present", "past", "future", "near", "progressive")
        if possible(verb, who.agreement, t, question=True)
    ]
    tense = draw.pick(tenses)
    noun = draw.even(objects.nouns_for(verb, who))
    human = noun.category in objects.PEOPLE
    if human or draw.chance(0.35):
        lead, before = _what(human=human), None
    else:
        lead, before = _which(draw, verb, noun)
    form = Form(tense, question=True, preceding=before)
    clause = make(draw, who, verb, form, Object())
    return clause.question(lead)


def about_other(draw: Draw) -> Phrase:
    """Return a question whose preposition English leaves behind: "who is she talking to"."""
    who = asked_about(draw)
    verb = draw.even(of_subject(PREPOSITIONAL, who.kind))
    tenses = [
        t
        for t in ("present", "past", "future", "near", "progressive")
        if possible(verb, who.agreement, t, question=True)
    ]
    if not tenses:
        return about_other(draw)
    noun = draw.even(objects.nouns_for(verb, who))
    human = noun.category in objects.PEOPLE
    asked_for = Word("who" if human else "what")
    stranded = [Word(verb.lead)] if verb.lead else []
    clause = make(draw, who, verb, Form(draw.pick(tenses), question=True), Object())
    lead = Phrase(
        [asked_for],
        [
            token(verb.preposition, stranded[0] if stranded else clause.group.head),
            token("qui" if human else "quoi", asked_for),
        ],
    )
    return replace(clause, rest=clause.rest + Phrase(stranded, [])).question(lead)


def how_much(draw: Draw) -> Phrase:
    """Return "how much do the shoes cost", "combien coûtent les chaussures"."""
    clause = price_clause(draw, question=True)
    lead = fixed("how much", "combien:1", mark="question")
    group, who = clause.group, clause.subject
    auxiliary = [group.auxiliary] if group.auxiliary else []
    english = [*lead.english, *auxiliary, *who.phrase.english, *group.rest]
    return Phrase(english, lead.french + group.french + who.phrase.french)


def _what(*, human: bool) -> Phrase:
    return fixed("who", "qui") if human else fixed("what", "que")


def _which(draw: Draw, verb: Verb, noun: Noun) -> tuple[Phrase, Agreement]:
    """Return "which car" or "how many apples", and what a participle agrees with."""
    many = noun.plural_only or (
        not noun.mass and noun.english in objects.COUNTED and draw.chance(0.6)
    )
    count = many and not noun.plural_only and "generic" not in verb.flags
    determiner = "how many" if count else "which"
    nominal = noun_phrase(draw, noun, determiner=determiner, plural=many, adjectives=0.0)
    return nominal.phrase, nominal.agreement


def about_subject(draw: Draw) -> Phrase:
    """Return a question with "who" as its subject; the word order is that of a statement."""
    word = Word("who")
    agreement = Agreement(3, False, "m", "singular")
    who = Nominal(Phrase([word], [token("qui", word)]), agreement, "man", "his", pronoun=True)
    verb = verb_for(draw, "man")
    tenses = [tense for tense in (*ASKED, "perfect", "just") if possible(verb, agreement, tense)]
    done = act(draw, who, verb=verb, tense=draw.pick(tenses), negation="")
    when = time(draw, done, 0.2)
    statement = done.clause.statement()
    return statement if when is None else statement + when


def addressee(draw: Draw) -> tuple[Phrase, Nominal, str]:
    """Return a form of address with its comma, the "you" that follows, and its number.

    The address is what shows whether "you" is tu or vous, one or many, and its gender.
    """
    english, french, gender, number = draw.even(rows(ADDRESSES))
    call = comma(fixed(english, french))
    word = Word("you")
    agreement = Agreement(2, number != "tu", gender, "plural", polite=number == "vous")
    owner = "your" if number == "tu" else "your polite"
    phrase = Phrase([word], [token("tu" if number == "tu" else "vous", word)])
    kind = "woman" if gender == "f" else "man"
    kind = "children" if english == "Children" else kind
    you = Nominal(phrase, agreement, kind, owner, pronoun=True)
    return call, you, number


def addressed(draw: Draw) -> tuple[Phrase, str]:
    """Return a question, a statement or an order to somebody, and its final mark."""
    call, you, number = addressee(draw)
    kind = draw.weighted({"question": 5, "state": 2, "order": 4, "statement": 1})
    if kind == "question":
        return call + asked(draw, you), "?"
    if kind == "order":
        return call + order(draw, you, number), "."
    if kind == "statement":
        verb = draw.even(of_subject(INTRANSITIVES, you.kind))
        fitting = [t for t in TOLD if possible(verb, you.agreement, t)]
        told = act(draw, you, verb=verb, tense=draw.pick(fitting))
        return call + told.clause.statement(), "."
    question = draw.chance(0.5)
    form = Form("present", question=question)
    if draw.chance(0.5):
        clause = states.state(you, draw.even(tuple(states.STATE_VERBS)), form)
    else:
        clause = states.described_as(you, draw.even(states.fitting(you)), form)
    return (call + clause.question(), "?") if question else (call + clause.statement(), ".")


def order(draw: Draw, you: Nominal, number: str) -> Phrase:
    """Return an order, perhaps negated, perhaps with "please"."""
    verb = draw.even(of_subject(named(*ORDERS), "man"))
    negated = draw.chance(0.2)
    noun = draw.even(objects.nouns_for(verb, you))
    source = known(verb) if negated or verb.english not in OFFERED else verb
    thing = objects.described(draw, source, noun, subject=you, negated=negated)
    words = [Word(text) for text in (verb.forms.base, *verb.particle)]
    form = verb.french.present[4] if number != "tu" else verb.french.present[1]
    if number == "tu" and form.endswith("es"):
        form = form[:-1]
    tokens = [token(form, words[0], *words[1:])]
    lead: list[Word] = []
    if negated:
        lead = [Word("do"), Word("not")]
        tokens = [token("ne", lead[1], lead[0]), *tokens, token("pas", lead[1])]
    told = Phrase(lead + words, tokens) + thing.phrase
    if draw.chance(0.5):
        please = "s'il te plaît" if number == "tu" else "s'il vous plaît"
        told = comma(told) + fixed("please", please)
    return told
