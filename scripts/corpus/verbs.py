"""Verbs with the nouns they go with, and verbs that take an infinitive.

English forms: base, then past, participle and gerund where not regular; words after a slash
follow every form ("look / at"). French: `se` makes a reflexive verb, words after the infinitive
follow the verb and link to the English words by number. In the object column a word before `+` is
a preposition French wants. `where` lists the places of an action: nouns, or a key of WHERE.

Flags: `stative` has no progressive and takes the imparfait for the English past; `noprog` has no
progressive; `habit` goes with "often" and "every day"; `clock` goes with a time of day, `untimed`
with no other time; `mishap` is nothing one plans; `one` takes a single object; `abroad` goes with cities and countries; `last`
with "for two hours"; `now` has a simple present without a habit; `idle` is not intended; `generic` takes whole kinds ("likes
cats"); `want` takes new things ("a", "some"); `the` takes the definite article alone; `same` has
a past written like its base.
"""

# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import english as english_forms
from . import french
from .nouns import Noun, nouns_of, rows

WHERE = {
    "meal": "restaurant kitchen garden park hotel",
    "town": "station market museum library restaurant beach park street hotel theatre school post_office bakery",
    "walk": "park forest street beach village garden",
    "job": "hospital museum hotel restaurant market library station theatre bakery farm post_office office school castle",
    "study": "library garden park kitchen office school bedroom",
    "play": "garden park beach school house swimming_pool",
    "home": "garden kitchen bedroom house bathroom",
}

# english | french | subjects | objects | where | flags
TRANSITIVE = """
see saw seen | voir | person | person animal vehicle transport building flower | | noprog now
see saw seen | voir | animal | person animal | | noprog now
look / at | regarder | person pet | animal vehicle photo map flower house church clock train plane bus bridge | | idle
look / for | chercher | person | pet item text garment pair phone watch suitcase bag knife spoon | home |
find found found | trouver | person | item text garment pair phone watch bag pet spoon knife | home town | noprog
lose lost lost losing | perdre | person | item text hat scarf gloves phone watch bag -flower | town | noprog mishap
buy bought bought | acheter | person | food drink vehicle garment pair text device furniture item house tableware -letter | market | abroad
sell sold sold | vendre | person | food drink vehicle garment pair text device furniture item house -letter | |
eat ate eaten | manger | person | food | meal | habit
eat ate eaten | manger | rabbit horse goat donkey | carrot apple bread | garden | habit
eat ate eaten | manger | dog cat mouse | meat cheese fish bread | kitchen garden | habit
drink drank drunk drinking | boire | person | drink | meal | habit
drink drank drunk drinking | boire | pet livestock | water milk | garden | habit
read read | lire | person | text | study | habit same
write wrote written | écrire | person | letter novel postcard | study |
open opened opened opening | ouvrir | person | opening box bag suitcase wardrobe gift letter | |
close | fermer | person | opening box bag suitcase wardrobe book | |
take took taken | prendre | person | transport umbrella key bag map photo coat bicycle knife plate spoon | | one
carry | porter | person | vessel umbrella chair | | untimed one
wear wore worn | porter | person | garment pair watch | | one
wash | laver | person | car lorry garment tableware dog window fruit | garden kitchen | habit
clean | nettoyer | person | room house shoes boots car table -garden | | habit
break broke broken | casser | person | cup plate glass lamp watch window chair clock armchair | kitchen bedroom | noprog mishap one
repair | réparer | person | vehicle device furniture door window | |
drive drove driven | conduire | adult kin -son -daughter | car lorry bus | | abroad one
paint | peindre | person | house door bridge boat church table | |
help | aider | person | person | town home | habit
know knew known | connaître | person | adult youth worker group restaurant village museum | | stative
wait / for | attendre | person | person transport | town | habit
meet met met meeting | rencontrer | person | person | town walk | noprog abroad
visit | visiter | person | museum castle church house farm school village | |
call | appeler | person | person | | habit
thank | remercier | person | person | |
follow | suivre | person | person pet car lorry | walk | idle mishap
follow | suivre | animal | person animal | walk | idle
listen / to | écouter | person | person bird | walk | habit
hear heard heard | entendre | person animal | animal train lorry plane bus piano violin | walk | noprog now
cut cut cut cutting | couper | person | bread meat cheese cake onion apple carrot flower | kitchen garden | same
prepare | préparer | person | soup salad coffee tea meat rice cake pancake fish sandwich | kitchen | habit
choose chose chosen | choisir | person | garment pair text dish item -letter | market |
forget forgot forgotten forgetting | oublier | person | item text hat scarf coat phone bag | town office | noprog mishap
hide hid hidden | cacher | person | gift letter key chocolate photo cake | home |
love | adorer | person | food drink animal instrument | | generic stative
like | aimer | person | food drink animal | | generic stative
hate | détester | person | vegetable staple drink animal | | generic stative
prefer preferred preferred preferring | préférer | person | food drink animal | | generic stative
want | vouloir | person | food drink pet garment book newspaper novel vehicle phone computer | | want stative
need | avoir besoin | person | de+ car bicycle garment pair device furniture item bag | | want stative
have had had | avoir | person | pet vehicle house device instrument garden farm umbrella | | want stative
feed fed fed | nourrir | person | pet livestock | farm garden | habit
build built built | construire | adult kin -son -daughter | house boat table wardrobe | |
leave left left leaving | quitter | person | house hotel hospital museum village office kitchen | |
enter entered entered entering | entrer | person | dans+ house church hotel kitchen office castle | |
play | jouer | person | de+ instrument | house garden theatre church | the habit
talk / to | parler | person | à+ person | town walk | habit
phone | téléphoner | person | à+ person | | habit
answer answered answered answering | répondre | person | à+ person | |
smile / at | sourire | person | à+ person | |
"""

# english | french | subjects | where | flags
INTRANSITIVE = """
sleep slept | dormir | person | bedroom hotel garden house | habit last
sleep slept | dormir | animal | garden forest | habit last
work | travailler | adult kin worker students | job | habit abroad last
swim swam swum swimming | nager | person | swimming_pool | habit last
swim swam swum swimming | nager | dog duck | | habit last
run ran run running | courir | person dog horse rabbit | walk | habit
walk | marcher | person | walk | habit last
laugh | rire | person | | habit
cry | pleurer | person | bedroom street | last idle
smile | sourire | person | | habit
sing sang sung | chanter | person bird | walk theatre church bathroom | habit
dance | danser | person | walk theatre kitchen | habit last
cook | cuisiner | person | kitchen restaurant | habit
arrive | arriver | person transport | | clock untimed habit
leave left left leaving | partir | person transport | | clock habit untimed
come came come / back | revenir | person pet | | clock habit
go went gone / out | sortir | person cat dog | | clock habit
fall fell fallen | tomber | person | walk | noprog mishap
get got got getting / up | se lever | person | | clock untimed habit
wake woke woken / up | se réveiller | person | | clock untimed habit
go went gone / to bed | se coucher | person | | clock untimed habit
rest | se reposer | person | garden bedroom hotel | last
rest | se reposer | animal | garden forest | last
hurry | se dépêcher | person | |
take took taken / a walk | se promener | person | walk | habit
go went gone / home | rentrer à:1 la:1 maison:1 | person | | clock habit
stay / at home | rester à:1 la:2 maison:2 | person | |
go went gone / shopping | faire les:1 courses:1 | person | | habit
have had had / breakfast | prendre le:1 petit:1 déjeuner:1 | person | meal | untimed
have had had / lunch | déjeuner | person | meal | untimed
have had had / dinner | dîner | person | meal | untimed
take took taken / a shower | prendre une:1 douche:2 | person | | habit
watch / television | regarder la:1 télévision:1 | person | | habit
listen / to music | écouter de:1 la:1 musique:2 | person | study | habit
play / football | jouer au:1 football:1 | person | park garden beach street | habit
play / tennis | jouer au:1 tennis:1 | person | | habit
play / cards | jouer aux:1 cartes:1 | person | garden kitchen restaurant | habit
speak spoke spoken / French | parler français:1 | person | | habit
speak spoke spoken / English | parler anglais:1 | person | | habit
speak spoke spoken / Spanish | parler espagnol:1 | person | | habit
learn / German | apprendre l'allemand:1 | person | school | abroad
learn / Italian | apprendre l'italien:1 | person | school | abroad
learn / Spanish | apprendre l'espagnol:1 | person | school | abroad
"""

# english | french | things given
DITRANSITIVE = """
give gave given giving | donner | item text fruit watch hat scarf
show showed shown | montrer | item text house vehicle watch dress
send sent | envoyer | letter postcard gift book photo flower
lend lent | prêter | bicycle car umbrella book pencil coat suitcase
bring brought | apporter | flower gift book fruit cake newspaper chair cup glass
"""

# english | french | role of the place (there, stay, home, goal, back, source, origin) and flags
MOTION = """
go went gone | aller | goal habit
return | retourner | back
come came come | venir | origin
come came come / back | revenir | source idle
arrive | arriver | there
stay | rester | stay
live | habiter | home stative
"""

# Verbs that take an infinitive: english | french with its preposition | flags; `routine` wants a habit.
CONTROL = """
want / to | vouloir | stative
like / to | aimer | stative routine
hope / to | espérer | stative
have had had / to | devoir | stative
try / to | essayer de | routine
begin began begun beginning / to | commencer à | routine
"""

# The finite word of English, the finite verb of French and its tense.
MODALS = """
can | pouvoir | present
must | devoir | present
should | devoir | conditional
"""


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb in both languages.

    `english` is the base form with its particle, the name by which tables refer to the verb.
    `preposition` stands before the object in French and `lead` before it in English; `particle`
    follows the verb in English, `tail` the verb in French.
    """

    english: str
    forms: english_forms.EnglishVerb
    particle: tuple[str, ...]
    french: french.FrenchVerb
    reflexive: bool
    tail: str
    preposition: str
    lead: str
    subjects: frozenset[str]
    objects: tuple[Noun, ...]
    where: tuple[str, ...]
    flags: frozenset[str]

    @property
    def etre(self) -> bool:
        """Whether the passé composé takes être and agrees with the subject."""
        return self.french.etre or self.reflexive


def make_verb(cells: Sequence[str]) -> Verb:
    """Return a verb from the six cells of a table; tables that lack a column give ""."""
    source, target, subjects, objects, where, flags = cells
    forms, _, particle = source.partition("/")
    reflexive = target.startswith("se ")
    infinitive, _, tail = target.removeprefix("se ").partition(" ")
    preposition, plus, nouns = objects.rpartition("+")
    places = " ".join(WHERE.get(key, key) for key in where.split())
    lead = particle.strip() if plus else ""
    base = forms.split()[0]
    return Verb(
        " ".join([base, *particle.split()]),
        english_forms.verb(forms.split()),
        () if lead else tuple(particle.split()),
        french.verb(infinitive),
        reflexive,
        tail,
        preposition if plus else "",
        lead,
        frozenset(noun.english for noun in nouns_of(subjects)),
        tuple(nouns_of(nouns)),
        tuple(noun.english for noun in nouns_of(places)),
        frozenset(flags.split()),
    )


TRANSITIVES = tuple(make_verb(row) for row in rows(TRANSITIVE))
INTRANSITIVES = tuple(make_verb([*row[:3], "", *row[3:]]) for row in rows(INTRANSITIVE))
DITRANSITIVES = tuple(
    make_verb([source, target, "person", things, "", ""])
    for source, target, things in rows(DITRANSITIVE)
)
MOTIONS = tuple(
    make_verb([source, target, "person", "", "", role]) for source, target, role in rows(MOTION)
)
# The tail of a control verb is the French preposition before the infinitive.
CONTROLS = tuple(
    make_verb([source, target, "person", "", "", flags]) for source, target, flags in rows(CONTROL)
)
BY_NAME = {verb.english: verb for verb in INTRANSITIVES if "man" in verb.subjects}
