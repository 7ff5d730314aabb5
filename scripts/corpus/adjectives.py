"""Adjectives: their forms, their place beside a French noun, and the nouns they fit."""

# ruff: noqa: E501

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from . import french
from .nouns import Noun, nouns_of, rows

# english | french masculine, feminine, before a vowel | position | kind | nouns it fits
# Position: pre or post the French noun; pred only after "to be", pre! never there. The kind gives
# the order in English: a dirty old shirt, a small black dog.
ADJECTIVES = """
big | grand grande | pre | size | dog horse vehicle vessel house garden kitchen table bed plate hotel school
small | petit petite | pre | size | youth pet vehicle vessel house restaurant hotel garden table
old | vieux vieille vieil | pre | age | adult pet vehicle wearable text furniture building device actor
young | jeune | pre | age | man woman worker tourists
new | nouveau nouvelle nouvel | pre! | age | vehicle garment text device instrument hotel school hospital
beautiful | beau belle bel | pre | opinion | horse bird cat garment house church castle flower garden piano
pretty | joli jolie | pre | opinion | girl dress skirt scarf flower house cup village lamp photo bird basket
good | bon bonne | pre | opinion | apple orange pear strawberry dish staple wine beer restaurant hotel novel
long | long longue | pre | size | letter dress street novel bridge coat skirt scarf
fat | gros grosse | pre | size | pet cow duck hen mouse hedgehog
red | rouge | post | colour | wearable vehicle vessel cup pencil umbrella flower ball door lamp
blue | bleu bleue | post | colour | wearable vehicle vessel cup pencil umbrella ball door lamp bird
green | vert verte | post | colour | wearable vehicle vessel cup pencil umbrella ball door apple
white | blanc blanche | post | colour | wearable vehicle cat rabbit bird horse cup flower house hen duck
black | noir noire | post | colour | wearable vehicle cat dog horse cow umbrella bag suitcase hen
yellow | jaune | post | colour | wearable flower car ball pencil umbrella cup bird
grey | gris grise | post | colour | wearable cat mouse car donkey lorry suitcase rabbit
brown | marron | post | colour | wearable bag suitcase box armchair
Italian | italien italienne | post | origin | man woman worker tourists students car wine cheese novel
French | français française | post | origin | man woman worker tourists students wine cheese book newspaper
English | anglais anglaise | post | origin | man woman worker tourists students book newspaper novel tea car
German | allemand allemande | post | origin | man woman worker tourists students car beer lorry novel
wooden | en bois | post | material | chair table bed box spoon door bridge boat
happy | heureux heureuse | post | opinion | person
sad | triste | post | opinion | person
rich | riche | post | opinion | adult kin tourists actor actress
famous | célèbre | post | opinion | actor actress museum castle novel restaurant
kind | gentil gentille | pred | opinion | person
strong | fort forte | post | state | horse man fireman donkey coffee
intelligent | intelligent intelligente | post | opinion | person
tired | fatigué fatiguée | pred | state | person pet horse donkey
sick | malade | pred | state | person pet livestock
ready | prêt prête | pred | state | person cake soup dish
tall | grand grande | pred | size | person
busy | occupé occupée | pred | state | adult kin worker
expensive | cher chère | post | opinion | garment shoes boots vehicle device instrument wine hotel restaurant
modern | moderne | post | age | house hotel hospital library theatre kitchen car computer train plane
clean | propre | post | state | wearable cup plate glass vehicle room beach street -garden
dirty | sale | post | state | wearable tableware vehicle kitchen window street bathroom
heavy | lourd lourde | post | state | vessel table armchair wardrobe desk
empty | vide | post | state | vessel cup glass plate church house street wardrobe
broken | cassé cassée | post | state | device cup plate glass chair window umbrella guitar violin
interesting | intéressant intéressante | post | opinion | text museum castle -postcard
hot | chaud chaude | post | state | tea coffee milk water soup bread meat pancake
cold | froid froide | post | state | water milk soup meat beer orange_juice rice tea coffee
fresh | frais fraîche | post | state | bread fish milk egg cheese strawberry tomato
delicious | délicieux délicieuse | post | opinion | fruit dish staple
comfortable | confortable | post | opinion | bed chair armchair shoes boots car hotel train plane
quiet | calme | post | opinion | street village hotel park library
closed | fermé fermée | pred | state | opening museum bakery market library church restaurant
"""

# The comparative of those that go by degrees.
COMPARATIVE = {
    "big": "bigger", "small": "smaller", "old": "older", "young": "younger",
    "beautiful": "more beautiful", "good": "better", "long": "longer", "fat": "fatter",
    "happy": "happier", "sad": "sadder", "rich": "richer", "famous": "more famous",
    "strong": "stronger", "intelligent": "more intelligent", "tall": "taller",
    "expensive": "more expensive", "heavy": "heavier", "interesting": "more interesting",
    "comfortable": "more comfortable", "quiet": "quieter", "fresh": "fresher",
}  # fmt: skip
KINDS = ("opinion", "size", "state", "age", "colour", "origin", "material")


class Adjective(NamedTuple):
    """An adjective with the nouns it may describe, by English singular."""

    english: str
    masculine: str
    feminine: str
    before_vowel: str | None
    position: str
    attributive: bool
    rank: int
    nouns: frozenset[str]

    def form(self, gender: str, *, many: bool) -> str:
        """Return the French form; phrases like "en bois" and "marron" never change."""
        if self.english in ("wooden", "brown"):
            return self.masculine
        form = self.feminine if gender == "f" else self.masculine
        return french.plural(form) if many else form

    @property
    def epicene(self) -> bool:
        """Whether both genders are written alike, as the gender of "I" and "we" is unknown."""
        return self.masculine == self.feminine


def _adjectives() -> list[Adjective]:
    adjectives = []
    for name, forms, position, kind, nouns in rows(ADJECTIVES):
        split = [forms] if name == "wooden" else forms.split()
        adjectives.append(
            Adjective(
                name,
                split[0],
                split[min(1, len(split) - 1)],
                split[2] if len(split) > 2 else None,
                position.removesuffix("!"),
                position.endswith("!"),
                KINDS.index(kind),
                frozenset(noun.english for noun in nouns_of(nouns)),
            )
        )
    return adjectives


ADJECTIVE = _adjectives()


@cache
def attributes(noun: Noun, position: str) -> tuple[Adjective, ...]:
    """Return the adjectives that may stand beside the noun at that place, pre or post."""
    return tuple(a for a in ADJECTIVE if a.position == position and noun.english in a.nouns)
