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
gentleman/gentlemen | monsieur/messieurs | m
[youth]
boy | garçon | m
girl | fille | f
[worker]
king | roi | m
queen | reine | f
prince | prince | m
princess | princesse | f
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
policewoman/policewomen | policière | f
businessman/businessmen | homme:0 d'affaires:0/hommes:0 d'affaires:0 | m
businesswoman/businesswomen | femme:0 d'affaires:0/femmes:0 d'affaires:0 | f
headmaster | directeur | m
headmistress | directrice | f
shepherd | berger | m
shepherdess | bergère | f
milkman/milkmen | laitier | m
magician | magicien | m
[group plural]
children/children | enfants/enfants | m
neighbours/neighbours | voisins/voisins | m
tourists/tourists | touristes/touristes | m
students/students | étudiants/étudiants | m
pupils/pupils | élèves/élèves | m
guests/guests | invités/invités | m
passengers/passengers | passagers/passagers | m
customers/customers | clients/clients | m
soldiers/soldiers | soldats/soldats | m
travellers/travellers | voyageurs/voyageurs | m
musicians/musicians | musiciens/musiciens | m
farmers/farmers | agriculteurs/agriculteurs | m
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
grandson | petit-fils/petits-fils | m
granddaughter | petite-fille/petites-filles | f
nephew | neveu | m
niece | nièce | f
godfather | parrain | m
godmother | marraine | f
stepfather | beau-père/beaux-pères | m
stepmother | belle-mère/belles-mères | f
[kin plural]
friends/friends | amis/amis | m
parents/parents | parents/parents | m
grandparents/grandparents | grands-parents/grands-parents | m
cousins/cousins | cousins/cousins | m
[pet]
dog | chien | m
cat | chat | m
rabbit | lapin | m
bird | oiseau | m
hamster | *hamster/*hamsters | m
tortoise | tortue | f
parrot | perroquet | m
puppy | chiot | m
kitten | chaton | m
[livestock]
horse | cheval | m
cow | vache | f
goat | chèvre | f
duck | canard | m
hen | poule | f
donkey | âne | m
pig | cochon | m
goose/geese | oie | f
lamb | agneau | m
calf/calves | veau | m
cock | coq | m
bull | taureau | m
[wild]
wolf/wolves | loup | m
bear | ours | m
mouse/mice | souris | f
owl | *hibou/*hiboux | m
hedgehog | *hérisson | m
fox | renard | m
squirrel | écureuil | m
frog | grenouille | f
monkey | singe | m
crow | corbeau | m
swan | cygne | m
wild boar | sanglier | m
pigeon | pigeon | m
rat | rat | m
[fruit]
apple | pomme | f
pear | poire | f
orange | orange | f
banana | banane | f
tomato/tomatoes | tomate | f
strawberry | fraise | f
peach | pêche | f
plum | prune | f
cherry | cerise | f
melon | melon | m
apricot | abricot | m
raspberry | framboise | f
pineapple | ananas | m
fig | figue | f
[vegetable]
potato/potatoes | pomme de terre/pommes de terre | f
carrot | carotte | f
onion | oignon | m
cabbage | chou/choux | m
cucumber | concombre | m
leek | poireau | m
radish | radis | m
aubergine | aubergine | f
courgette | courgette | f
turnip | navet | m
artichoke | artichaut | m
[legume plural]
beans/beans | *haricots/*haricots | m
mushrooms/mushrooms | champignons/champignons | m
peas/peas | petits:0 pois:0/petits:0 pois:0 | m
lentils/lentils | lentilles/lentilles | f
chips/chips | frites/frites | f
noodles/noodles | nouilles/nouilles | f
sweets/sweets | bonbons/bonbons | m
walnuts/walnuts | noix/noix | f
[dish]
cake | gâteau | m
sandwich | sandwich | m
egg | œuf | m
pancake | crêpe | f
omelette | omelette | f
pizza | pizza | f
tart | tarte | f
biscuit | biscuit | m
croissant | croissant | m
steak | steak | m
sausage | saucisse | f
ice cream | glace | f
yoghurt | yaourt | m
waffle | gaufre | f
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
jam | confiture | f
chicken | poulet | m
beef | bœuf | m
pork | porc | m
salmon | saumon | m
tuna | thon | m
[drink mass]
water | eau | f
milk | lait | m
coffee | café | m
tea | thé | m
wine | vin | m
beer | bière | f
orange juice | jus:1 d'orange:0 | m
apple juice | jus:1 de:0 pomme:0 | m
lemonade | limonade | f
cider | cidre | m
champagne | champagne | m
mineral water | eau:1 minérale:0 | f
[vehicle]
car | voiture | f
lorry | camion | m
bicycle | vélo | m
boat | bateau | m
motorbike | moto | f
van | camionnette | f
tractor | tracteur | m
scooter | scooter | m
[transport]
bus | bus | m
train | train | m
taxi | taxi | m
plane | avion | m
tram | tram | m
ferry | ferry | m
[garment]
hat | chapeau | m
coat | manteau | m
dress | robe | f
shirt | chemise | f
skirt | jupe | f
jacket | veste | f
scarf/scarves | écharpe | f
jumper | pull | m
tie | cravate | f
belt | ceinture | f
cap | casquette | f
tracksuit | survêtement | m
cardigan | gilet | m
raincoat | imperméable | m
apron | tablier | m
swimsuit | maillot:0 de:0 bain:0/maillots:0 de:0 bain:0 | m
dressing gown | robe:1 de:0 chambre:0/robes:1 de:0 chambre:0 | f
[pair plural]
shoes/shoes | chaussures/chaussures | f
gloves/gloves | gants/gants | m
boots/boots | bottes/bottes | f
socks/socks | chaussettes/chaussettes | f
slippers/slippers | pantoufles/pantoufles | f
sandals/sandals | sandales/sandales | f
mittens/mittens | moufles/moufles | f
sunglasses/sunglasses | lunettes:0 de:0 soleil:0/lunettes:0 de:0 soleil:0 | f
[text]
book | livre | m
letter | lettre | f
newspaper | journal | m
novel | roman | m
postcard | carte postale/cartes postales | f
magazine | magazine | m
dictionary | dictionnaire | m
comic book | bande:1 dessinée:0/bandes:1 dessinées:0 | f
guidebook | guide | m
[vessel]
box | boîte | f
bag | sac | m
suitcase | valise | f
basket | panier | m
bottle | bouteille | f
bucket | seau | m
backpack | sac:0 à:0 dos:0/sacs:0 à:0 dos:0 | m
jar | bocal | m
[tableware]
glass | verre | m
cup | tasse | f
plate | assiette | f
knife/knives | couteau | m
spoon | cuillère | f
fork | fourchette | f
bowl | bol | m
saucepan | casserole | f
frying pan | poêle | f
teapot | théière | f
jug | pichet | m
saucer | soucoupe | f
tray | plateau | m
[furniture]
table | table | f
chair | chaise | f
bed | lit | m
armchair | fauteuil | m
wardrobe | armoire | f
desk | bureau | m
sofa | canapé | m
mirror | miroir | m
bedside table | table:1 de:0 nuit:0/tables:1 de:0 nuit:0 | f
stool | tabouret | m
carpet | tapis | m
cupboard | placard | m
shelf/shelves | étagère | f
bench | banc | m
rocking chair | fauteuil:1 à:0 bascule:0/fauteuils:1 à:0 bascule:0 | m
[device]
phone | téléphone | m
computer | ordinateur | m
watch | montre | f
clock | horloge | f
lamp | lampe | f
television | télévision | f
radio | radio | f
camera | appareil:0 photo:0/appareils:0 photo:0 | m
washing machine | machine:1 à:0 laver:0/machines:1 à:0 laver:0 | f
dishwasher | lave-vaisselle/lave-vaisselle | m
fridge | réfrigérateur | m
alarm clock | réveil | m
vacuum cleaner | aspirateur | m
toaster | grille-pain/grille-pain | m
printer | imprimante | f
[instrument]
guitar | guitare | f
piano | piano | m
violin | violon | m
harp | *harpe | f
flute | flûte | f
trumpet | trompette | f
cello | violoncelle | m
accordion | accordéon | m
clarinet | clarinette | f
drum | tambour | m
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
doll | poupée | f
kite | cerf-volant/cerfs-volants | m
ruler | règle | f
pen | stylo | m
notebook | carnet | m
exercise book | cahier | m
comb | peigne | m
toothbrush | brosse:0 à:0 dents:0/brosses:0 à:0 dents:0 | f
towel | serviette | f
ring | bague | f
necklace | collier | m
coin | pièce | f
torch | lampe:0 de:0 poche:0/lampes:0 de:0 poche:0 | f
passport | passeport | m
hammer | marteau | m
screwdriver | tournevis | m
[opening]
door | porte | f
window | fenêtre | f
gate | portail/portails | m
drawer | tiroir | m
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
bank | banque | f
shop | magasin | m
supermarket | supermarché | m
factory | usine | f
town hall | mairie | f
police station | commissariat | m
airport | aéroport | m
cinema | cinéma | m
cathedral | cathédrale | f
university | université | f
bookshop | librairie | f
stadium | stade | m
[room]
kitchen | cuisine | f
bedroom | chambre | f
bathroom | salle de bains/salles de bains | f
office | bureau | m
garden | jardin | m
living room | salon | m
dining room | salle:1 à:0 manger:0/salles:1 à:0 manger:0 | f
cellar | cave | f
attic | grenier | m
garage | garage | m
balcony | balcon | m
[outdoors]
park | parc | m
beach | plage | f
street | rue | f
forest | forêt | f
village | village | m
bridge | pont | m
field | champ | m
square | place | f
harbour | port | m
[nature]
river | rivière | f
mountain | montagne | f
lake | lac | m
hill | colline | f
tree | arbre | m
star | étoile | f
cloud | nuage | m
rainbow | arc-en-ciel/arcs-en-ciel | m
waterfall | cascade | f
[bloom]
rose | rose | f
tulip | tulipe | f
daisy | marguerite | f
sunflower | tournesol | m
[work]
song | chanson | f
film | film | m
story | histoire | f
poem | poème | m
[task]
question | question | f
lesson | leçon | f
joke | blague | f
recipe | recette | f
[event]
concert | concert | m
wedding | mariage | m
party | fête | f
meeting | réunion | f
match/matches | match | m
exhibition | exposition | f
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
