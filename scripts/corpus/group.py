"""Verb groups: auxiliaries, negation, adverbs and clitics, each where its language wants it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from . import french
from .nominal import Agreement
from .nouns import rows
from .phrase import Phrase, Token, Word, clitic, link, token
from .verb_tables import MODALS
from .verbs import Verb, make_verb

SIMPLE = (
    "present", "progressive", "imperfect", "past", "perfect", "future", "expected", "since", "used",
)  # fmt: skip
BE = {"I": ("am", "was"), "singular": ("is", "was"), "plural": ("are", "were")}
DO = {"I": "do", "singular": "does", "plural": "do"}
HAVE = {"I": "have", "singular": "has", "plural": "have"}
REFLEXIVE = ("me", "te", "se", "nous", "vous", "se")
BE_VERB = make_verb(["be was been", "être", "person", "", "", "stative"])
AVOIR, ETRE, ALLER, VENIR = (french.verb(name) for name in ("avoir", "être", "aller", "venir"))
MODAL = {name: (french.verb(target), mood) for name, target, mood in rows(MODALS)}
HELPERS = ("near", "just", *MODAL)
# English: the French word after the finite verb, linked to the last English one.
NEGATIONS = {"not": "pas", "never": "jamais", "no longer": "plus"}
FINITE_MARKS = {
    "imperfect": "imperfect", "future": "simple future", "expected": "simple future",
    "since": "present with depuis", "used": "used to",
}  # fmt: skip


class Form(NamedTuple):
    """How a verb group is built.

    `tense` is one of SIMPLE or HELPERS; "expected" is what follows "when" before a future: the
    present in English, the future in French. "since" is "has been working", French present, and
    "used" is "used to work", French imparfait. `negation` is "" or a key of NEGATIONS; `adverb`
    stands between the subject and the verb in English. `question` asks for an auxiliary to invert.
    `preceding` is a direct object before the verb, with which a participle with avoir agrees.
    """

    tense: str
    negation: str = ""
    adverb: Phrase | None = None
    question: bool = False
    preceding: Agreement | None = None


@dataclass(slots=True)
class Group:
    """A verb group; `auxiliary` is the word that a question moves before the subject.

    `head` is the English verb of meaning.
    """

    auxiliary: Word | None
    rest: list[Word]
    french: list[Token]
    head: Word


def compound(verb: Verb, tense: str) -> bool:
    """Whether the French verb stands in the passé composé."""
    return tense == "perfect" or (tense == "past" and "stative" not in verb.flags)


@cache
def _english(verb: Verb, key: str, tense: str, support: bool) -> tuple[str, tuple[str, ...]]:
    """Return the auxiliary, or "", and the words of the main verb.

    There are none where "be" is its own auxiliary; the last is the verb of meaning.
    """
    forms = verb.forms
    if forms.base == "be" and tense in ("present", "past", "expected"):
        return BE[key][tense == "past"], ()
    if tense in ("present", "expected"):
        third = forms.third if key == "singular" else forms.base
        return (DO[key], (forms.base,)) if support else ("", (third,))
    if tense == "past":
        return ("did", (forms.base,)) if support else ("", (forms.past,))
    if tense in ("progressive", "imperfect"):
        return BE[key][tense == "imperfect"], (forms.gerund,)
    if tense == "perfect":
        return HAVE[key], (forms.participle,)
    if tense == "since":
        return HAVE[key], ("been", forms.gerund)
    if tense == "used":
        return "", ("used", "to", forms.base)
    return "will", (forms.base,)


def _negate(form: Form, auxiliary: Word | None) -> tuple[list[Word], list[Token], list[Token]]:
    """Return the English words, and what French puts before and after its finite verb."""
    words: list[Word] = []
    before: list[Token] = []
    after: list[Token] = []
    if form.negation:
        if auxiliary is not None and auxiliary.text == "cannot":
            words_of_it = [auxiliary]
        else:
            words += [Word(text) for text in form.negation.split()]
            words_of_it = words[:]
        before.append(token("ne", words_of_it[0], mark="negation"))
        after.append(token(NEGATIONS[form.negation], words_of_it[-1]))
    if form.adverb is not None:
        words += form.adverb.english
        after += form.adverb.french
    return words, before, after


@cache
def finite(verb: Verb, agreement: Agreement, tense: str) -> str:
    if compound(verb, tense):
        return (ETRE if verb.etre else AVOIR).present[agreement.row]
    if tense in ("present", "progressive", "since"):
        return verb.french.present[agreement.row]
    if tense in ("future", "expected"):
        return verb.french.future(agreement.row)
    return verb.french.imperfect(agreement.row)


def _participle(verb: Verb, agreement: Agreement, form: Form, words: tuple[Word, ...]) -> Token:
    """Return the participle, linked to the first word and possibly to the others."""
    with_whom = agreement if verb.etre else form.preceding
    if with_whom is None:
        return token(verb.french.participle, *words)
    if with_whom.gender is None:
        raise ValueError(f"{verb.english}: the gender of a participle is not visible in English")
    text = french.agree(verb.french.participle, with_whom.gender, many=with_whom.many)
    return token(text, *words, mark="agreeing participle")


def _reflexive(verb: Verb, agreement: Agreement, head: Word) -> list[Token]:
    if not verb.reflexive:
        return []
    return [clitic(REFLEXIVE[agreement.row], head, mark="reflexive verb")]


def _tail(verb: Verb, words: list[Word]) -> list[Token]:
    return link(words, verb.tail, default=0, idle=False) if verb.tail else []


def simple(verb: Verb, agreement: Agreement, form: Form, clitics: list[Token]) -> Group:
    """Return a verb group with one verb of meaning; `clitics` link to English object words."""
    support = form.negation == "not" or form.question
    auxiliary_text, main_texts = _english(verb, agreement.english, form.tense, support)
    leading = [Word(auxiliary_text)] if auxiliary_text else []
    auxiliary = leading[0] if leading else None
    main = [Word(text) for text in main_texts]
    words = main[-1:]
    if verb.particle:
        words += [Word(text) for text in verb.particle]
    head = words[0] if main else leading[0]
    tail = _tail(verb, words)
    taken = [item.sure for item in tail]
    middle, before, after = _negate(form, auxiliary)
    conjugated = finite(verb, agreement, form.tense)
    if compound(verb, form.tense):
        mark = f"passé composé with {'être' if verb.etre else 'avoir'}"
        first = token(conjugated, auxiliary or head, mark=mark)
        particles = [word for word in words[1:] if word not in taken]
        participle = _participle(verb, agreement, form, (head, *particles))
        verbs = [first, *after, participle]
    else:
        mark = "imperfect" if form.tense == "past" else FINITE_MARKS.get(form.tense, "")
        side = [word for word in leading + main + words[1:] if word is not head]
        if taken:
            side = [word for word in side if word not in taken]
        verbs = [token(conjugated, head, *side, mark=mark), *after]
    tokens = before + _reflexive(verb, agreement, head) + clitics + verbs + tail
    return Group(auxiliary, middle + main[:-1] + words, tokens, head)


def infinitive(
    verb: Verb, agreement: Agreement, to: list[Word], clitics: list[Token], *, form: str = "base"
) -> Phrase:
    """Return the infinitive; `to` holds the English "to", if any."""
    text = verb.forms.participle if form == "participle" else verb.forms.base
    words = [Word(item) for item in (text, *verb.particle)]
    tail = _tail(verb, words)
    taken = [item.sure for item in tail]
    particles = [word for word in words[1:] if word not in taken]
    main = token(verb.french.infinitive, words[0], *particles, *to)
    tokens = _reflexive(verb, agreement, words[0]) + clitics + [main] + tail
    return Phrase(to + words, tokens)


def helper(
    verb: Verb, agreement: Agreement, form: Form, clitics: list[Token]
) -> tuple[Group, Phrase]:
    """Return the finite group of "is going to", "has just" or a modal, and the infinitive."""
    index = agreement.row
    if form.tense == "near":
        auxiliary, going, to = Word(BE[agreement.english][0]), Word("going"), Word("to")
        finite = [token(ALLER.present[index], going, auxiliary, mark="near future")]
        rest, after_to, kind = [going], [to], "base"
    elif form.tense == "just":
        auxiliary, just = Word(HAVE[agreement.english]), Word("just")
        finite = [
            token(VENIR.present[index], just, auxiliary, mark="recent past"),
            token("de", just),
        ]
        rest, after_to, kind = [just], [], "participle"
    else:
        cannot = form.tense == "can" and form.negation == "not"
        first, *others = ["cannot"] if cannot else form.tense.split()
        auxiliary, rest = Word(first), [Word(text) for text in others]
        target, mood = MODAL[form.tense]
        text = target.conditional(index) if mood == "conditional" else target.present[index]
        meaning, *side = [*reversed(rest), auxiliary]
        finite = [token(text, meaning, *side, mark="modal verb")]
        after_to, kind = [Word("to")] if rest else [], "base"
    middle, before, after = _negate(form, auxiliary)
    tokens = before + finite[:1] + after + finite[1:]
    lower = infinitive(verb, agreement, after_to, clitics, form=kind)
    return Group(auxiliary, middle + rest, tokens, lower.english[len(after_to)]), lower


def controlled(
    control: Verb, verb: Verb, agreement: Agreement, form: Form, clitics: list[Token]
) -> tuple[Group, Phrase]:
    """Return the group of a verb like "want to", and the infinitive it takes."""
    group = simple(_plain(control), agreement, form, [])
    how = [Word(text) for text in control.particle]
    lower = infinitive(verb, agreement, how, clitics)
    # "besoin_de" is two words, the noun linked to the English verb.
    *nouns, preposition = control.tail.split("_")
    if preposition:
        lower.french.insert(0, token(preposition, how[-1]))
    nouns_of_it = [token(noun, group.head) for noun in nouns]
    group = Group(
        group.auxiliary, group.rest, [*group.french, *nouns_of_it], lower.english[len(how)]
    )
    return group, lower


@cache
def _plain(control: Verb) -> Verb:
    return replace(control, particle=(), tail="")
