"""Verb groups: auxiliaries, negation, adverbs and clitics, each where its language wants it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from . import french
from .nominal import Agreement
from .nouns import rows
from .phrase import Phrase, Token, Word, clitic, link, token
from .verbs import MODALS, Verb, make_verb

SIMPLE = ("present", "progressive", "imperfect", "past", "perfect", "future", "expected")
BE = {"I": ("am", "was"), "singular": ("is", "was"), "plural": ("are", "were")}
DO = {"I": "do", "singular": "does", "plural": "do"}
HAVE = {"I": "have", "singular": "has", "plural": "have"}
REFLEXIVE = ("me", "te", "se", "nous", "vous", "se")
BE_VERB = make_verb(["be was been", "être", "person", "", "", "stative"])
AVOIR, ETRE, ALLER, VENIR = (french.verb(name) for name in ("avoir", "être", "aller", "venir"))
MODAL = {name: (french.verb(target), mood) for name, target, mood in rows(MODALS)}
HELPERS = ("near", "just", *MODAL)


@dataclass(frozen=True, slots=True)
class Form:
    """How a verb group is built.

    `tense` is one of SIMPLE or HELPERS; "expected" is what follows "when" before a future: the
    present in English, the future in French. `negation` is "", "not" or "never"; `adverb` stands
    between the subject and the verb in English. `question` asks for an auxiliary to invert.
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


def _english(verb: Verb, agreement: Agreement, form: Form) -> tuple[str, str]:
    """Return the auxiliary, or "", and the main verb, or "" where "be" is its own auxiliary."""
    key, forms, tense = agreement.english, verb.forms, form.tense
    support = form.negation == "not" or form.question
    if forms.base == "be" and tense in ("present", "past", "expected"):
        return BE[key][tense == "past"], ""
    if tense in ("present", "expected"):
        third = forms.third if key == "singular" else forms.base
        return (DO[key], forms.base) if support else ("", third)
    if tense == "past":
        return ("did", forms.base) if support else ("", forms.past)
    if tense in ("progressive", "imperfect"):
        return BE[key][tense == "imperfect"], forms.gerund
    if tense == "perfect":
        return HAVE[key], forms.participle
    return "will", forms.base


def _negate(form: Form, auxiliary: Word | None) -> tuple[list[Word], list[Token], list[Token]]:
    """Return the English words, and what French puts before and after its finite verb."""
    words: list[Word] = []
    before: list[Token] = []
    after: list[Token] = []
    if form.negation:
        if auxiliary is not None and auxiliary.text == "cannot":
            word = auxiliary
        else:
            word = Word(form.negation)
            words.append(word)
        before.append(token("ne", word))
        after.append(token("jamais" if form.negation == "never" else "pas", word))
    if form.adverb is not None:
        words += form.adverb.english
        after += form.adverb.french
    return words, before, after


def _finite(verb: Verb, agreement: Agreement, tense: str) -> str:
    if compound(verb, tense):
        return (ETRE if verb.etre else AVOIR).present[agreement.index]
    if tense in ("present", "progressive"):
        return verb.french.present[agreement.index]
    if tense in ("future", "expected"):
        return verb.french.future(agreement.index)
    return verb.french.imperfect(agreement.index)


def _participle(verb: Verb, agreement: Agreement, form: Form) -> str:
    with_whom = agreement if verb.etre else form.preceding
    if with_whom is None:
        return verb.french.participle
    if with_whom.gender is None:
        raise ValueError(f"{verb.english}: the gender of a participle is not visible in English")
    return french.agree(verb.french.participle, with_whom.gender, many=with_whom.many)


def _reflexive(verb: Verb, agreement: Agreement, head: Word) -> list[Token]:
    return [clitic(REFLEXIVE[agreement.index], head)] if verb.reflexive else []


def _tail(verb: Verb, words: list[Word]) -> list[Token]:
    return link(words, verb.tail, default=0, idle=False) if verb.tail else []


def simple(verb: Verb, agreement: Agreement, form: Form, clitics: list[Token]) -> Group:
    """Return a verb group with one verb of meaning; `clitics` link to English object words."""
    auxiliary_text, main_text = _english(verb, agreement, form)
    auxiliary = Word(auxiliary_text) if auxiliary_text else None
    words = [Word(text) for text in (main_text, *verb.particle) if text]
    spoken = [word for word in (auxiliary, *words) if word is not None]
    head = words[0] if main_text else spoken[0]
    tail = _tail(verb, words)
    taken = [item.sure for item in tail]
    side = [word for word in spoken if word is not head and word not in taken]
    middle, before, after = _negate(form, auxiliary)
    finite = _finite(verb, agreement, form.tense)
    if compound(verb, form.tense):
        first = token(finite, auxiliary or head)
        particles = [word for word in words[1:] if word not in taken]
        participle = token(_participle(verb, agreement, form), head, *particles)
        verbs = [first, *after, participle]
    else:
        verbs = [token(finite, head, *side), *after]
    tokens = before + _reflexive(verb, agreement, head) + clitics + verbs + tail
    return Group(auxiliary, middle + words, tokens, head)


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
    index = agreement.index
    if form.tense == "near":
        auxiliary, going, to = Word(BE[agreement.english][0]), Word("going"), Word("to")
        finite = [token(ALLER.present[index], going, auxiliary)]
        rest, after_to, kind = [going], [to], "base"
    elif form.tense == "just":
        auxiliary, just = Word(HAVE[agreement.english]), Word("just")
        finite = [token(VENIR.present[index], just, auxiliary), token("de", just)]
        rest, after_to, kind = [just], [], "participle"
    else:
        cannot = form.tense == "can" and form.negation == "not"
        auxiliary = Word("cannot" if cannot else form.tense)
        target, mood = MODAL[form.tense]
        text = target.conditional(index) if mood == "conditional" else target.present[index]
        finite = [token(text, auxiliary)]
        rest, after_to, kind = [], [], "base"
    middle, before, after = _negate(form, auxiliary)
    tokens = before + finite[:1] + after + finite[1:]
    lower = infinitive(verb, agreement, after_to, clitics, form=kind)
    return Group(auxiliary, middle + rest, tokens, lower.english[len(after_to)]), lower


def controlled(
    control: Verb, verb: Verb, agreement: Agreement, form: Form, clitics: list[Token]
) -> tuple[Group, Phrase]:
    """Return the group of a verb like "want to", and the infinitive it takes."""
    plain = replace(control, particle=(), tail="")
    group = simple(plain, agreement, form, [])
    to = Word("to")
    lower = infinitive(verb, agreement, [to], clitics)
    if control.tail:
        lower.french.insert(0, token(control.tail, to))
    return replace(group, head=lower.english[1]), lower
