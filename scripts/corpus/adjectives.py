"""Adjectives: their forms, their place beside a French noun, and the nouns they fit."""

from __future__ import annotations

from typing import NamedTuple

from . import french
from .nouns import nouns_of, rows

# english | french masculine, feminine, before a vowel | position | nouns it fits, less -nouns.
# Position: pre or post the French noun; pred only after "to be". `en bois` never changes.
ADJECTIVES = """
big | grand grande | pre | dog horse vehicle vessel house garden kitchen table bed plate hotel school
small | petit petite | pre | youth pet farm vehicle vessel house restaurant hotel garden table
old | vieux vieille vieil | pre | adult pet vehicle wearable text furniture building device actor
young | jeune | pre | man woman worker tourists
new | nouveau nouvelle nouvel | pre | vehicle garment text device instrument hotel school hospital
beautiful | beau belle bel | pre | horse bird cat garment house church castle flower garden piano
pretty | joli jolie | pre | girl dress skirt scarf flower house cup village lamp photo bird basket
good | bon bonne | pre | apple orange pear strawberry dish staple wine beer restaurant hotel novel
long | long longue | pre | letter dress street novel bridge coat skirt scarf
fat | gros grosse | pre | pet cow duck hen mouse hedgehog
red | rouge | post | wearable vehicle vessel cup pencil umbrella flower ball door lamp
blue | bleu bleue | post | wearable vehicle vessel cup pencil umbrella ball door lamp bird
green | vert verte | post | wearable vehicle vessel cup pencil umbrella ball door apple
white | blanc blanche | post | wearable vehicle cat rabbit bird horse cup flower house hen duck
black | noir noire | post | wearable vehicle cat dog horse cow umbrella bag suitcase hen
yellow | jaune | post | wearable flower car ball pencil umbrella cup bird
grey | gris grise | post | wearable cat mouse car donkey lorry suitcase rabbit
brown | marron | post | wearable bag suitcase box armchair
Italian | italien italienne | post | man woman worker tourists students car wine cheese novel
French | français française | post | man woman worker tourists students wine cheese text
English | anglais anglaise | post | man woman worker tourists students text tea car
German | allemand allemande | post | man woman worker tourists students car beer lorry novel
wooden | en bois | post | chair table bed box spoon door bridge boat
happy | heureux heureuse | post | person
sad | triste | post | person
rich | riche | post | adult kin tourists actor actress
famous | célèbre | post | actor actress museum castle novel restaurant
kind | gentil gentille | pred | person
strong | fort forte | post | horse man fireman donkey coffee
intelligent | intelligent intelligente | post | person dog
tired | fatigué fatiguée | pred | person pet horse donkey
sick | malade | pred | person pet farm
ready | prêt prête | pred | person cake soup dish
tall | grand grande | pred | person
busy | occupé occupée | pred | adult kin worker
expensive | cher chère | post | garment shoes boots vehicle device instrument wine hotel restaurant
modern | moderne | post | house hotel hospital library theatre kitchen car computer
clean | propre | post | wearable cup plate glass vehicle room beach street hotel hospital -garden
dirty | sale | post | wearable tableware vehicle kitchen window street bathroom
heavy | lourd lourde | post | vessel table armchair wardrobe desk
empty | vide | post | vessel cup glass plate church house street wardrobe
broken | cassé cassée | post | device cup plate glass chair window umbrella guitar violin
interesting | intéressant intéressante | post | text museum castle -postcard
hot | chaud chaude | post | tea coffee milk water soup bread meat pancake
cold | froid froide | post | water milk soup meat beer orange_juice rice tea coffee
fresh | frais fraîche | post | bread fish milk egg cheese strawberry tomato
delicious | délicieux délicieuse | post | fruit dish staple
comfortable | confortable | post | bed chair armchair shoes boots car hotel train
quiet | calme | post | street village hotel park library
closed | fermé fermée | pred | opening museum bakery market library church restaurant
"""


class Adjective(NamedTuple):
    """An adjective with the nouns it may describe, by English singular."""

    english: str
    masculine: str
    feminine: str
    before_vowel: str | None
    position: str
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
    for name, forms, position, nouns in rows(ADJECTIVES):
        split = [forms] if name == "wooden" else forms.split()
        adjectives.append(
            Adjective(
                name,
                split[0],
                split[min(1, len(split) - 1)],
                split[2] if len(split) > 2 else None,
                position,
                frozenset(noun.english for noun in nouns_of(nouns)),
            )
        )
    return adjectives


ADJECTIVE = _adjectives()
