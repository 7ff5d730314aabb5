"""Phrases of place with the preposition that noun, city or country asks for."""

from __future__ import annotations

from functools import cache

from .draw import Draw
from .noun_phrase import noun_phrase
from .nouns import NOUN, nouns_of, rows
from .phrase import Phrase, Word, fixed, token
from .places import BESIDE, CITIES, COUNTRIES, PLACES

LANDMARKS = nouns_of(
    "church school hotel museum station theatre park castle post_office bakery bank cinema "
    "cathedral town_hall university supermarket stadium bookshop"
)

# Where only some people may go.
PRIVATE = (
    "house", "street", "bridge",
    *(noun.english for noun in nouns_of("room") if noun.english != "office"),
)  # fmt: skip


@cache
def _places(role: str) -> dict[str, tuple[str, str]]:
    column = 1 if role == "there" else 2
    found = {}
    for cells in rows(PLACES):
        if cells[column]:
            english, french = cells[column].split()
            found[cells[0]] = (english, french)
    return found


def city(draw: Draw, role: str) -> Phrase:
    """Return a city with its preposition: in or to, or from."""
    english, french = draw.even(rows(CITIES))
    preposition = {"there": "in à", "goal": "to à", "source": "from de", "object": ""}[role]
    name = fixed(english, french)
    return fixed(*preposition.split(), mark="country or city") + name if preposition else name


def country(draw: Draw, role: str) -> Phrase:
    """Return a country: "en Italie", "au Japon", "aux États-Unis", "d'Italie", "l'Italie"."""
    english, french, gender = draw.even(rows(COUNTRIES))
    words = [Word(text) for text in english.split()]
    core = token(french, words[-1], *words[:-1])
    article = token({"f": "la", "m": "le", "p": "les"}[gender], words[0])
    lead = {"there": "in", "goal": "to", "source": "from", "object": ""}[role]
    if not lead:
        return Phrase(words, [article, core])
    preposition = Word(lead)
    french_preposition = "de" if role == "source" else "en" if gender == "f" else "à"
    before = [token(french_preposition, preposition, mark="country or city")]
    if gender != "f":
        before.append(article)
    return Phrase([preposition, *words], [*before, core])


def at(draw: Draw, noun: str, role: str) -> Phrase:
    """Return a place of the lexicon, always with the definite article."""
    known = _places("goal" if role == "goal" else "there")
    english, french = ("from", "de") if role == "source" else known[noun]
    nominal = noun_phrase(draw, NOUN[noun], determiner="the", adjectives=0.1)
    return fixed(english, french) + nominal.phrase


def beside(draw: Draw) -> Phrase:
    """Return a landmark: near the church, in front of the station."""
    english, french = draw.even(rows(BESIDE))
    nominal = noun_phrase(draw, draw.even(LANDMARKS), determiner="the", adjectives=0.15)
    return fixed(english, french) + nominal.phrase


def public_place(draw: Draw, role: str, *, rooms: bool) -> Phrase:
    """Return a place that anybody may be at, go to or come from; `rooms` lets one go into them."""
    known = _places("goal" if role in ("goal", "back") else "there")
    barred = PRIVATE
    if role in ("back", "there"):
        barred += ("forest", "church", "castle", "cathedral", "field")
    names = [name for name in known if (role == "goal" and rooms) or name not in barred]
    return at(draw, draw.even(names), "goal" if role == "back" else role)


def abroad(draw: Draw, role: str) -> Phrase:
    """Return a city or a country."""
    return city(draw, role) if draw.chance(0.5) else country(draw, role)


def destination(draw: Draw, role: str, *, near: bool) -> Phrase:
    """Return the place of a verb of motion or rest; `near` bars cities and countries."""
    if role == "origin":
        return abroad(draw, "source")
    if role == "home":
        return home(draw)
    if role == "stay":
        stays = ("hotel", "hospital", "village", "farm", "castle")
        return abroad(draw, "there") if draw.chance(0.5) else at(draw, draw.even(stays), "there")
    if near or draw.chance(0.5):
        return public_place(draw, role, rooms=near)
    return abroad(draw, "goal" if role == "back" else role)


def home(draw: Draw) -> Phrase:
    """Return where somebody lives."""
    kind = draw.weighted({"abroad": 6, "place": 2, "beside": 2})
    if kind == "place":
        return at(draw, draw.even(("house", "village", "farm", "castle", "forest")), "there")
    return beside(draw) if kind == "beside" else abroad(draw, "there")
