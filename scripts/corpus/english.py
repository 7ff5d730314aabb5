"""English inflection: plurals of nouns and forms of verbs."""

from __future__ import annotations

from typing import NamedTuple


class EnglishVerb(NamedTuple):
    """The five forms of a verb."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str


def plural(noun: str) -> str:
    """Return the regular plural of the last word of `noun`."""
    return _add_s(noun)


def _add_s(word: str) -> str:
    if word.endswith(("s", "sh", "ch", "x")) or word in ("go", "do"):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeou":
        return word[:-1] + "ies"
    return word + "s"


def verb(forms: list[str]) -> EnglishVerb:
    """Return all forms from the base, and past, participle and gerund where not regular."""
    base = forms[0]
    past = forms[1] if len(forms) > 1 else _add_ed(base)
    participle = forms[2] if len(forms) > 2 else past
    gerund = forms[3] if len(forms) > 3 else _add_ing(base)
    third = {"have": "has", "be": "is"}.get(base, _add_s(base))
    return EnglishVerb(base, third, past, participle, gerund)


def _add_ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeou":
        return base[:-1] + "ied"
    return base + "ed"


def _add_ing(base: str) -> str:
    return (base[:-1] if base.endswith("e") and not base.endswith("ee") else base) + "ing"
