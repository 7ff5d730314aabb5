"""Adjectives: their forms, their place beside a French noun, and the nouns they fit."""

# ruff: noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from . import french
from .nouns import Noun, nouns_of, rows

# english | french masculine, feminine, before a vowel | position | kind | nouns it fits
# Position: pre or post the French noun; pred only after "to be", pre! never there. The kind gives
# the order in English: a dirty old shirt, a small black dog.
ADJECTIVES = """
big | grand grande | pre | size | dog horse vehicle vessel house garden kitchen table bed plate hotel school castle factory airport tree bottle carpet mirror sofa tram ferry
small | petit petite | pre | size | youth pet vehicle vessel house restaurant hotel garden table lake hill airport lamb kitten puppy stool shelf mirror shop waterfall cloud towel
old | vieux vieille vieil | pre | age | adult pet -puppy -kitten vehicle wearable text furniture building device actor castle cathedral bridge university tree king queen shepherd tortoise instrument
young | jeune | pre | age | man woman worker tourists soldiers musicians travellers prince princess king queen
new | nouveau nouvelle nouvel | pre! | age | vehicle garment text device instrument hotel school hospital university airport factory stadium supermarket film song
beautiful | beau belle bel | pre | opinion | horse bird cat garment house church castle flower garden piano princess queen song poem lake river mountain tree rose swan cathedral bloom waterfall necklace star
pretty | joli jolie | pre | opinion | girl dress skirt scarf flower house cup village lamp photo bird basket doll princess waitress song necklace ring bowl teapot
good | bon bonne | pre | opinion | apple orange pear strawberry dish staple wine beer restaurant hotel novel film song recipe chicken steak pizza omelette tart cider noodles chips
long | long longue | pre | size | letter dress street novel bridge coat skirt scarf river film story song poem
fat | gros grosse | pre | size | pet cow duck hen mouse hedgehog pig goose pigeon rat lamb
red | rouge | post | colour | wearable vehicle vessel cup pencil umbrella flower ball door lamp rose tulip toothbrush pen notebook bucket
blue | bleu bleue | post | colour | wearable vehicle vessel cup pencil umbrella ball door lamp bird pen notebook bucket towel
green | vert verte | post | colour | wearable vehicle vessel cup pencil umbrella ball door apple pen notebook bottle frog
white | blanc blanche | post | colour | wearable vehicle cat rabbit bird horse cup flower house hen duck rose tulip goose swan lamb towel plate bowl cloud
black | noir noire | post | colour | wearable vehicle cat dog horse cow umbrella bag suitcase hen pen bull crow kitten
yellow | jaune | post | colour | wearable flower car ball pencil umbrella cup bird rose tulip pen bucket
grey | gris grise | post | colour | wearable cat mouse car donkey lorry suitcase rabbit rat pigeon kitten cloud
brown | marron | post | colour | wearable bag suitcase box armchair cow belt
Italian | italien italienne | post | origin | man woman worker tourists students car wine cheese novel musicians film song car motorbike ham
French | français française | post | origin | man woman worker tourists students wine cheese book newspaper musicians travellers film song recipe
English | anglais anglaise | post | origin | man woman worker tourists students book newspaper novel tea car musicians travellers film song
German | allemand allemande | post | origin | man woman worker tourists students car beer lorry novel musicians travellers film
wooden | en bois | post | material | chair table bed box spoon door bridge boat doll bowl bench stool shelf cupboard gate bedside_table wardrobe rocking_chair
happy | heureux heureuse | post | opinion | person
sad | triste | post | opinion | person
rich | riche | post | opinion | adult kin tourists actor actress king queen prince princess
famous | célèbre | post | opinion | actor actress museum castle novel restaurant song film university cathedral stadium waterfall mountain
kind | gentil gentille | pred | opinion | person
strong | fort forte | post | state | horse man fireman donkey coffee
intelligent | intelligent intelligente | post | opinion | person
tired | fatigué fatiguée | pred | state | person pet horse donkey puppy bull
sick | malade | pred | state | person pet livestock
ready | prêt prête | pred | state | person cake soup dish -yoghurt -ice_cream
tall | grand grande | pred | size | person
busy | occupé occupée | pred | state | adult kin worker
expensive | cher chère | post | opinion | garment shoes boots vehicle device instrument wine hotel restaurant necklace ring
modern | moderne | pred | age | house hotel hospital library theatre kitchen car computer train plane university factory airport fridge washing_machine toaster printer museum
clean | propre | post | state | wearable cup plate glass vehicle room beach street -garden towel
dirty | sale | post | state | wearable tableware vehicle room -garden window street
heavy | lourd lourde | post | state | vessel table armchair wardrobe desk cupboard sofa
empty | vide | post | state | vessel cup glass plate church house street wardrobe bus train bottle theatre stadium cinema drawer fridge cupboard
broken | cassé cassée | post | state | device cup plate glass chair window umbrella guitar violin mirror bowl jug saucer toaster doll kite
interesting | intéressant intéressante | post | opinion | text museum castle -postcard film story lesson exhibition
hot | chaud chaude | post | state | tea coffee milk water soup bread meat pancake chicken steak pizza waffle chips
cold | froid froide | post | state | water milk soup meat beer orange_juice rice tea coffee chicken lemonade cider mineral_water apple_juice
fresh | frais fraîche | post | state | bread fish milk egg cheese strawberry tomato raspberry cherry peach salmon tuna walnuts mushrooms peas
delicious | délicieux délicieuse | post | opinion | fruit dish staple legume
comfortable | confortable | post | opinion | bed chair armchair shoes boots car hotel train plane sofa bench rocking_chair slippers tram stool
quiet | calme | post | opinion | street village hotel park library lake square university
closed | fermé fermée | pred | state | opening museum bakery market library church restaurant bank shop supermarket bookshop cinema post_office town_hall factory
bad | mauvais mauvaise | pre | opinion | restaurant hotel novel film wine beer coffee joke
short | court courte | pred | size | dress skirt coat letter novel film story poem street
high | *haut *haute | pre | size | mountain hill bridge waterfall
wide | large | post | size | street river bridge door
narrow | étroit étroite | post | size | street bridge door shelf cupboard
deep | profond profonde | post | size | lake river
huge | énorme | post | size | cake bull cathedral stadium mountain
tiny | minuscule | post | size | village bathroom bedroom balcony cellar
magnificent | magnifique | post | opinion | castle church cathedral garden necklace horse mountain waterfall cathedral rainbow ring
elegant | élégant élégante | post | opinion | lady woman gentleman businesswoman dress coat hat queen princess scarf
ugly | laid laide | pred | opinion | hat house dress lamp sofa carpet tie jumper factory
rare | rare | post | opinion | book bird coin
pink | rose | post | colour | dress skirt scarf tie flower swimsuit gloves slippers umbrella rose tulip
purple | violet violette | post | colour | umbrella bag cap jacket towel shirt notebook flower dress skirt scarf tie flower jumper tulip
leather | en cuir | post | material | bag shoes boots belt gloves jacket armchair sofa
plastic | en plastique | post | material | bottle chair bucket box bowl ruler comb
gold | en or | post | material | ring necklace watch coin
silver | en argent | post | material | ring necklace spoon tray teapot
woollen | en laine | post | material | jumper scarf socks gloves hat cardigan mittens coat skirt dressing_gown cap
cotton | en coton | post | material | shirt dress tracksuit skirt socks jacket towel gloves
electric | électrique | post | material | guitar car bicycle
American | américain américaine | post | origin | man woman worker tourists students travellers soldiers musicians car film novel actor -king -queen -prince -princess
Spanish | espagnol espagnole | post | origin | man woman worker tourists students travellers musicians wine film novel guitar ham
Japanese | japonais japonaise | post | origin | man woman worker tourists students travellers musicians car film camera restaurant
Chinese | chinois chinoise | post | origin | man woman tourists students travellers restaurant tea soup
Belgian | belge | post | origin | man woman worker tourists students travellers musicians beer chocolate
foreign | étranger étrangère | post | origin | tourists students travellers newspaper film soldiers
difficult | difficile | post | opinion | question lesson poem book recipe
easy | facile | post | opinion | question lesson poem recipe
funny | drôle | post | opinion | story film joke boy girl actor actress uncle
strange | étrange | post | opinion | story film song man woman house question
boring | ennuyeux ennuyeuse | post | opinion | novel film lesson book meeting concert match
important | important importante | post | opinion | letter question meeting match lesson
useful | utile | pred | opinion | book dictionary map umbrella knife torch guidebook bicycle
dangerous | dangereux dangereuse | post | opinion | wolf bear bull wild_boar street river dog mountain
noisy | bruyant bruyante | post | state | street restaurant hotel children dog neighbours washing_machine vacuum_cleaner pupils
round | rond ronde | post | state | table box mirror plate window carpet
soft | doux douce | post | state | scarf jumper towel kitten rabbit tracksuit
wet | mouillé mouillée | pred | state | garment towel dog umbrella shoes socks street cat
dry | sec sèche | pred | state | garment towel socks
full | plein pleine | pred | state | vessel cup glass bus train theatre restaurant cinema stadium fridge wardrobe cupboard drawer tram
ripe | mûr mûre | post | state | banana pear apple peach melon strawberry tomato plum
sweet | sucré sucrée | post | state | apple orange pear strawberry melon tea coffee cake
sour | acide | post | state | orange apple cherry plum
spicy | épicé épicée | post | state | soup rice sausage chicken noodles lentils
salty | salé salée | post | state | soup ham butter cheese chips
raw | cru crue | post | state | meat fish carrot salmon
polite | poli polie | post | opinion | person
shy | timide | post | opinion | youth woman man adult kin prince princess waiter waitress
brave | courageux courageuse | post | opinion | man woman boy girl fireman soldiers policeman policewoman prince
lazy | paresseux paresseuse | post | opinion | boy girl cat pupils students donkey nephew
patient | patient patiente | post | opinion | man woman mother father grandmother shepherd
proud | fier fière | pred | opinion | person
jealous | jaloux jalouse | pred | opinion | adult youth kin king queen prince princess
worried | inquiet inquiète | pred | state | person
surprised | surpris surprise | pred | state | person
nervous | nerveux nerveuse | pred | state | person horse
blond | blond blonde | post | colour | boy man actor prince waiter
married | marié mariée | post | origin | waiter waitress actor actress policeman fireman businessman businesswoman headmaster headmistress magician milkman postman salesman saleswoman
dark | sombre | post | state | street forest bedroom cellar attic kitchen
"""

# The comparative of those that go by degrees.
COMPARATIVE = {
    "big": "bigger", "small": "smaller", "old": "older",
    "beautiful": "more beautiful", "good": "better", "long": "longer", "fat": "fatter",
    "happy": "happier", "sad": "sadder", "rich": "richer", "famous": "more famous",
    "strong": "stronger", "intelligent": "more intelligent", "tall": "taller",
    "expensive": "more expensive", "heavy": "heavier", "interesting": "more interesting",
    "comfortable": "more comfortable", "quiet": "quieter", "fresh": "fresher",
    "short": "shorter", "high": "higher", "wide": "wider", "narrow": "narrower",
    "deep": "deeper", "elegant": "more elegant", "ugly": "uglier", "rare": "rarer",
    "difficult": "more difficult", "easy": "easier", "funny": "funnier", "strange": "stranger",
    "boring": "more boring", "important": "more important", "useful": "more useful",
    "dangerous": "more dangerous", "noisy": "noisier", "soft": "softer", "sweet": "sweeter",
    "spicy": "spicier", "salty": "saltier", "polite": "more polite", "shy": "shyer",
    "brave": "braver", "lazy": "lazier", "patient": "more patient", "proud": "prouder",
    "nervous": "more nervous", "dark": "darker", "young": "younger", "wet": "wetter", "dry": "drier",
}  # fmt: skip
KINDS = ("opinion", "size", "state", "age", "colour", "origin", "material")


@dataclass(frozen=True, eq=False, slots=True)
class Adjective:
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
        if self.masculine.startswith("en ") or self.english == "brown":
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
        split = [forms] if forms.startswith("en ") else forms.split()
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
