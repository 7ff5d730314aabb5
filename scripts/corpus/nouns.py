"""Nouns and their semantic types.

Tables are plain text. A section heading `[name flags]` opens a category; the categories are the
semantic types that verbs and adjectives ask for, so that nobody drinks a bicycle. French words
link to the last English word of the entry unless `:n` names another; `*` marks an h aspiré.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from . import english, french

# english[/plural] | french[/plural] | gender (m f); flags of a section: mass, plural (no singular).
NOUNS = """
[adult]
man/men | homme | m
woman/women | femme | f
lady | dame | f
[youth]
boy | garçon | m
girl | fille | f
[worker]
waiter | serveur | m
waitress | serveuse | f
actor | acteur | m
actress | actrice | f
policeman/policemen | policier | m
postman/postmen | facteur | m
fireman/firemen | pompier | m
fisherman/fishermen | pêcheur | m
salesman/salesmen | vendeur | m
saleswoman/saleswomen | vendeuse | f
[group plural]
children/children | enfants/enfants | m
neighbours/neighbours | voisins/voisins | m
tourists/tourists | touristes/touristes | m
students/students | étudiants/étudiants | m
pupils/pupils | élèves/élèves | m
[kin]
father | père | m
mother | mère | f
brother | frère | m
sister | sœur | f
uncle | oncle | m
aunt | tante | f
grandfather | grand-père/grands-pères | m
grandmother | grand-mère/grands-mères | f
son | fils | m
daughter | fille | f
[kin plural]
friends/friends | amis/amis | m
parents/parents | parents/parents | m
[pet]
dog | chien | m
cat | chat | m
rabbit | lapin | m
bird | oiseau | m
[livestock]
horse | cheval | m
cow | vache | f
goat | chèvre | f
duck | canard | m
hen | poule | f
donkey | âne | m
[wild]
wolf/wolves | loup | m
bear | ours | m
mouse/mice | souris | f
owl | *hibou/*hiboux | m
hedgehog | *hérisson | m
[fruit]
apple | pomme | f
pear | poire | f
orange | orange | f
banana | banane | f
tomato/tomatoes | tomate | f
strawberry | fraise | f
[vegetable]
potato/potatoes | pomme de terre/pommes de terre | f
carrot | carotte | f
onion | oignon | m
[legume plural]
beans/beans | *haricots/*haricots | m
mushrooms/mushrooms | champignons/champignons | m
[dish]
cake | gâteau | m
sandwich | sandwich | m
egg | œuf | m
pancake | crêpe | f
[staple mass]
bread | pain | m
cheese | fromage | m
meat | viande | f
rice | riz | m
soup | soupe | f
butter | beurre | m
honey | miel | m
chocolate | chocolat | m
ham | jambon | m
fish | poisson | m
salad | salade | f
[drink mass]
water | eau | f
milk | lait | m
coffee | café | m
tea | thé | m
wine | vin | m
beer | bière | f
orange juice | jus:1 d'orange:0 | m
[vehicle]
car | voiture | f
lorry | camion | m
bicycle | vélo | m
boat | bateau | m
[transport]
bus | bus | m
train | train | m
taxi | taxi | m
plane | avion | m
[garment]
hat | chapeau | m
coat | manteau | m
dress | robe | f
shirt | chemise | f
skirt | jupe | f
jacket | veste | f
scarf/scarves | écharpe | f
[pair plural]
shoes/shoes | chaussures/chaussures | f
gloves/gloves | gants/gants | m
boots/boots | bottes/bottes | f
[text]
book | livre | m
letter | lettre | f
newspaper | journal | m
novel | roman | m
postcard | carte postale/cartes postales | f
[vessel]
box | boîte | f
bag | sac | m
suitcase | valise | f
basket | panier | m
[tableware]
glass | verre | m
cup | tasse | f
plate | assiette | f
knife/knives | couteau | m
spoon | cuillère | f
[furniture]
table | table | f
chair | chaise | f
bed | lit | m
armchair | fauteuil | m
wardrobe | armoire | f
desk | bureau | m
[device]
phone | téléphone | m
computer | ordinateur | m
watch | montre | f
clock | horloge | f
lamp | lampe | f
[instrument]
guitar | guitare | f
piano | piano | m
violin | violon | m
harp | *harpe | f
[item]
key | clé | f
umbrella | parapluie | m
photo | photo | f
flower | fleur | f
ball | ballon | m
map | carte | f
gift | cadeau | m
ticket | billet | m
pencil | crayon | m
[opening]
door | porte | f
window | fenêtre | f
[building]
house | maison | f
school | école | f
church | église | f
hotel | hôtel | m
hospital | hôpital | m
museum | musée | m
restaurant | restaurant | m
market | marché | m
library | bibliothèque | f
station | gare | f
theatre | théâtre | m
castle | château | m
bakery | boulangerie | f
farm | ferme | f
post office | bureau:1 de:0 poste:0/bureaux:1 de:0 poste:0 | m
swimming pool | piscine | f
[room]
kitchen | cuisine | f
bedroom | chambre | f
bathroom | salle de bains/salles de bains | f
office | bureau | m
garden | jardin | m
[outdoors]
park | parc | m
beach | plage | f
street | rue | f
forest | forêt | f
village | village | m
bridge | pont | m
"""

# A category that stands for several.
GROUPS = {
    "person": "adult youth worker group kin",
    "animal": "pet livestock wild",
    "food": "fruit vegetable legume dish staple",
    "wearable": "garment pair",
    "thing": "wearable text vessel tableware furniture device instrument item vehicle",
    "place": "building room outdoors",
}


class Noun(NamedTuple):
    """A noun; the French forms may hold several words with link numbers (see `phrase.link`)."""

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
    """Return the cells of a table, section headings as rows of one cell."""
    lines = [line for line in table.split("\n") if line.strip()]
    return tuple(tuple(cell.strip() for cell in line.split("|")) for line in lines)


def _nouns() -> dict[str, Noun]:
    nouns: dict[str, Noun] = {}
    category, flags = "", [""]
    for cells in rows(NOUNS):
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
