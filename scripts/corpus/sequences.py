"""Two actions in one sentence: of one subject, on one object, or of two people."""

from __future__ import annotations

from dataclasses import replace

from . import objects
from .action import able, act, anchored, complement, make, possible
from .clause import subject, two
from .draw import Draw
from .group import Form, infinitive
from .nominal import Nominal, again
from .noun_phrase import noun_phrase
from .nouns import Noun, nouns_of, rows
from .objects import Object
from .phrase import Phrase, Word, clitic, comma, connective
from .verbs import ACTIONS, DITRANSITIVES, Verb, flagged, named, of_subject, placeless

# The first verb, what may follow it with the same object, and the objects that make sense.
SEQUENCES = """
buy | eat | fruit sandwich cake egg cheese meat pancake bread ham fish
buy | drink | milk water coffee tea wine beer orange_juice
choose | read | book novel
buy | read | book novel newspaper
prepare | eat | soup meat cake pancake salad fish sandwich
prepare | drink | coffee tea
wash | eat | apple pear tomato strawberry
wash | cut | apple
choose | buy | garment pair text
buy | sell | car lorry boat bicycle
repair | sell | car bicycle boat computer watch
write | send | letter postcard
open | read | letter
find | hide | key letter photo gift
take | hide | photo key
break | repair | lamp watch chair clock
buy | lose | hat scarf gloves
"""
VERBS_NAMED = {
    name: named(name) + tuple(verb for verb in DITRANSITIVES if verb.english == name)
    for cells in rows(SEQUENCES)
    for name in cells[:2]
}
AFTER_EACH_OTHER = ("past", "past", "future", "near")
JOINED = tuple(verb for verb in ACTIONS if not verb.flags & {"noprog", "stative", "mishap"})
HABITS = tuple(
    verb
    for verb in JOINED
    if "habit" in verb.flags and "clock" not in verb.flags and verb.forms.base != "speak"
)


def _named(name: str, noun: Noun, subject: Nominal) -> list[Verb]:
    """Return the verbs of that English name which join this subject and this object."""
    return [
        verb
        for verb in of_subject(VERBS_NAMED[name], subject.kind)
        if objects.suits(verb, noun, subject)
    ]


def follow_up(draw: Draw, who: Nominal, verb: Verb, tense: str, found: Object) -> Phrase:
    """Return what stands after "and": a second verb of the same subject in the same tense.

    A pronoun is said again, for "et l'ai mangé" without "je" is bookish.
    """
    if tense == "near":
        lower = infinitive(verb, who.agreement, [], found.clitics)
        return lower + anchored(found.phrase, lower.english[0])
    if who.pronoun:
        return make(draw, again(who), verb, Form(tense), found).statement()
    silent = replace(who, phrase=Phrase())
    return make(draw, silent, verb, Form(tense), found).continued()


def same_object(draw: Draw, tenses: tuple[str, ...] = AFTER_EACH_OTHER) -> Phrase:
    """Return "Paul bought the apples and ate them"."""
    who = subject(draw)
    first_name, second_name, nouns = draw.pick(rows(SEQUENCES))
    noun = draw.even(nouns_of(nouns))
    firsts, seconds = _named(first_name, noun, who), _named(second_name, noun, who)
    if not firsts or not seconds:
        return same_object(draw, tenses)
    first, second = firsts[0], seconds[0]
    fitting = [
        tense
        for tense in tenses
        if possible(first, who.agreement, tense) and possible(second, who.agreement, tense)
    ]
    if not fitting:
        return same_object(draw, tenses)
    tense = draw.pick(fitting)
    new = first.english in ("buy", "choose", "prepare", "write")
    source = flagged(first, "want") if new else first
    what = objects.described(draw, source, noun, subject=who, plain=True)
    clause = make(draw, who, first, Form(tense), Object(what.phrase)).statement()
    found = pointing_at(what)
    return clause + connective("and") + follow_up(draw, who, second, tense, found)


def pointing_at(nominal: Nominal) -> Object:
    """Return "it" or "them" and the clitic with the gender of the noun before."""
    agreement = nominal.agreement
    word = Word("them" if agreement.english == "plural" else "it")
    text = "les" if agreement.plural else ("la" if agreement.gender == "f" else "le")
    return Object(Phrase([word]), [clitic(text, word)], before=agreement)


def lost(draw: Draw) -> Phrase:
    """Return "Paul is looking for his key, but he cannot find it"."""
    who = subject(draw)
    seek, find = named("look for")[0], named("find")[0]
    noun = draw.even([n for n in objects.nouns_for(seek, who) if n in find.objects])
    plural = noun.plural_only or who.agreement.many or draw.chance(0.25)
    determiner = who.owner
    what = noun_phrase(draw, noun, determiner=determiner, plural=plural, adjectives=0.2)
    first, second = draw.pick((("progressive", "can"), ("past", "past")))
    opening = make(draw, who, seek, Form(first), Object(what.phrase)).statement()
    found = pointing_at(what)
    form = Form(second, negation="not")
    closing = make(draw, again(who), find, form, found).statement()
    return comma(opening) + connective("but") + closing


def same_subject(draw: Draw, tenses: tuple[str, ...] = AFTER_EACH_OTHER) -> Phrase:
    """Return one subject that does two things."""
    who = subject(draw)
    tense = draw.pick(tenses)
    first, second = (_verb(draw, who, tense, habits=True) for _ in range(2))
    if first.forms.base == second.forms.base or bool(first.objects) > bool(second.objects):
        return same_subject(draw, tenses)
    one = complement(draw, placeless(first), who, negated=False, tense=tense)
    other = complement(draw, second, who, negated=False, tense=tense)
    if one.clitics or other.clitics:
        return same_subject(draw, tenses)
    opening = make(draw, who, first, Form(tense), one).statement()
    return opening + connective("and") + follow_up(draw, who, second, tense, other)


def _verb(draw: Draw, who: Nominal, tense: str, *, habits: bool = False) -> Verb:
    return draw.even(able(HABITS if habits else JOINED, who.kind, who.agreement, tense))


def simple_action(draw: Draw, tenses: tuple[str, ...] = AFTER_EACH_OTHER) -> Phrase:
    """Return one action in one of the tenses."""
    who = subject(draw)
    tense = draw.pick(tenses)
    verb = draw.even(able(JOINED, who.kind, who.agreement, tense))
    return act(draw, who, tense=tense, verb=verb, negation="").clause.statement()


def two_people(draw: Draw) -> Phrase:
    """Return what two people do, joined by "and"."""
    first, second = two(draw)
    if len(second.phrase.english) > 1 and second.phrase.english[1].text == "and":
        return two_people(draw)
    tense = draw.pick(("past", "progressive", "future", "near"))
    one = act(draw, first, tense=tense, verb=_verb(draw, first, tense), negation="").clause
    other = act(draw, second, tense=tense, verb=_verb(draw, second, tense), negation="").clause
    return one.statement() + connective("and") + other.statement()


def taste(draw: Draw) -> Phrase:
    """Return "Paul likes tea, but Marie prefers coffee" or "... but Marie hates it"."""
    first, second = two(draw)
    like = draw.pick(named("like", "love", "hate"))
    other = draw.pick(named("prefer", "love" if like.english == "hate" else "hate"))
    liked = objects.nouns_for(like, first)
    noun = draw.even([n for n in liked if objects.suits(other, n, second)])
    what = objects.described(draw, like, noun)
    one = make(draw, first, like, Form("present"), Object(what.phrase)).statement()
    if other.english == "prefer":
        shared = objects.nouns_for(other, second)
        rest = [n for n in shared if n.category == noun.category and n is not noun]
        found = Object(objects.described(draw, other, draw.even(rest)).phrase)
    else:
        found = pointing_at(what)
    second_clause = make(draw, second, other, Form("present"), found).statement()
    return comma(one) + connective("but") + second_clause
