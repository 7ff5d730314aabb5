"""Nouns and their semantic types.

The nouns stand in nouns.txt, under categories: the semantic types that verbs and adjectives ask
for, so that nobody drinks a bicycle. French words link to the last English word of the entry
unless `:n` names another; `*` marks an h aspiré.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from . import english, french

# A category that stands for several.
GROUPS = {
    "person": "adult youth worker group kin",
    "animal": "pet livestock wild",
    "food": "fruit vegetable legume dish staple",
    "wearable": "garment pair",
    "thing": "wearable text vessel tableware furniture device instrument item vehicle",
    "place": "building room outdoors",
}


@dataclass(frozen=True, eq=False, slots=True)
class Noun:
    """A noun; the French forms may hold several words with link numbers (see `phrase.link`).

    It is equal to itself alone, so that it is found fast among others.
    """

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str
    category: str
    mass: bool
    plural_only: bool


@cache
def rows(table: str) -> tuple[tuple[str, ...], ...]:
    """Return the cells of a table, headings as rows of one cell, without comments."""
    lines = [line for line in table.split("\n") if line.strip() and not line.startswith("#")]
    return tuple(tuple(cell.strip() for cell in line.split("|")) for line in lines)


def _nouns() -> dict[str, Noun]:
    nouns: dict[str, Noun] = {}
    category, flags = "", [""]
    for cells in rows(Path(__file__).with_name("nouns.txt").read_text(encoding="utf-8")):
        if len(cells) == 1:
            category, *flags = cells[0].strip("[]").split()
            continue
        singular, _, many = cells[0].partition("/")
        un, _, des = cells[1].partition("/")
        nouns[singular] = Noun(
            singular,
            many or english.plural(singular),
            un,
            des or ("" if " " in un else french.plural(un)),
            cells[2],
            category,
            "mass" in flags,
            "plural" in flags,
        )
    return nouns


NOUN = _nouns()
if clash := {noun.category for noun in NOUN.values()} & {*NOUN}:
    raise ValueError(f"a category and a noun share a name: {clash}")


@cache
def nouns_of(names: str) -> tuple[Noun, ...]:
    """Return the nouns that a list of groups, categories and nouns stands for, less -names."""
    found: dict[str, Noun] = {}
    for name in names.split():
        if name.startswith("-"):
            for noun in nouns_of(name[1:]):
                found.pop(noun.english, None)
        elif name in GROUPS:
            found.update((noun.english, noun) for noun in nouns_of(GROUPS[name]))
        elif name.replace("_", " ") in NOUN:
            found[name.replace("_", " ")] = NOUN[name.replace("_", " ")]
        else:
            members = {key: noun for key, noun in NOUN.items() if noun.category == name}
            if not members:
                raise KeyError(f"no noun or category {name!r} in the lexicon")
            found.update(members)
    return tuple(found.values())
