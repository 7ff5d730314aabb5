"""Tables of verbs: English and French forms, who does it to what, and where.

English forms: base, then past, participle and gerund where not regular; words after a slash
follow every form ("look / at"). French: `se` makes a reflexive verb, words after the infinitive
follow the verb and link to the English words by number. In the object column a word before `+` is
a preposition French wants; the last English word after the slash then stands before the object.
`where` lists the places of an action: nouns, or a key of WHERE.

Flags: `stative` has no progressive and takes the imparfait for the English past; `noprog` has no
progressive; `habit` goes with "often" and "every day"; `clock` goes with a time of day, `untimed`
with no other time; `mishap` is nothing one plans; `one` takes a single object; `abroad` goes with
cities and countries; `last` with "for two hours"; `now` has a simple present without a habit;
`idle` is not intended; `generic` takes whole kinds ("likes cats"); `want` takes new things ("a",
"some"); `the` takes the definite article alone; `same` has a past written like its base; `split`
lets a short object stand before the particle ("puts the coat on"); `skill` is something one learns.
"""

# ruff: noqa: E501

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
see saw seen | voir | person | person animal vehicle transport building flower bloom nature | | noprog now
see saw seen | voir | animal | person animal | | noprog now
look / at | regarder | person pet | animal vehicle photo map flower house church clock train plane bus bridge nature bloom | | idle
look / for | chercher | person | pet item text garment pair phone watch suitcase bag tableware | home |
find found found | trouver | person | item text garment pair phone watch bag pet spoon knife | home town | noprog
lose lost lost losing | perdre | person | item text hat scarf gloves phone watch bag -flower | town | noprog mishap
buy bought bought | acheter | person | food drink vehicle garment pair text device furniture item house tableware -letter instrument -passport -coin -key | market | abroad
sell sold sold | vendre | person | food drink vehicle garment pair text device furniture item house -letter -passport -coin -toothbrush -comb -key tableware instrument | |
eat ate eaten | manger | person | food | meal | habit
eat ate eaten | manger | rabbit horse goat donkey | carrot apple bread | garden | habit
eat ate eaten | manger | dog cat mouse | meat cheese fish bread | kitchen garden | habit
drink drank drunk drinking | boire | person | drink | meal | habit
drink drank drunk drinking | boire | pet livestock | water milk | garden | habit
read read | lire | person | text story poem recipe | study | habit same
write wrote written | écrire | person | letter novel postcard story poem song recipe | study |
open opened opened opening | ouvrir | person | opening box bag suitcase wardrobe gift letter cupboard | |
close | fermer | person | opening box bag suitcase wardrobe book cupboard | |
take took taken | prendre | person | transport umbrella key bag map photo coat bicycle knife plate spoon | | one
carry | porter | person | vessel umbrella chair tray stool rocking_chair bedside_table bench mirror | | untimed one
wear wore worn | porter | person | garment pair watch ring necklace | | one
wash | laver | person | car lorry garment -belt tableware dog window fruit van motorbike towel | garden kitchen | habit
clean | nettoyer | person | room house shoes boots car furniture -garden -bed -desk | | habit
break broke broken | casser | person | cup plate glass lamp watch window chair clock armchair bowl jug saucer teapot mirror doll alarm_clock | kitchen bedroom | noprog mishap one
repair | réparer | person | vehicle device furniture -carpet -mirror door window rocking_chair | |
drive drove driven | conduire | adult kin -son -daughter -grandson -granddaughter -nephew -niece | car lorry bus van tractor tram | | abroad one skill
paint | peindre | person | house door bridge boat church table gate bench shelf wardrobe cupboard room -garden cloud star rainbow tree mountain rocking_chair bedside_table stool waterfall lake | |
help | aider | person | person | town home | habit
know knew known | connaître | person | adult youth worker group restaurant village museum | | stative
wait / for | attendre | person | person transport | town | habit
meet met met meeting | rencontrer | person | person | town walk | noprog abroad
visit | visiter | person | museum castle church house farm school village cathedral factory university exhibition | |
call | appeler | person | person | | habit
thank | remercier | person | person | |
follow | suivre | person | person pet car lorry | walk | idle mishap
follow | suivre | animal | person animal | walk | idle
listen / to | écouter | person | person bird song story concert | walk | habit
hear heard heard | entendre | person animal | animal train lorry plane bus piano violin | walk | noprog now
cut cut cut cutting | couper | person | bread meat cheese cake onion apple carrot flower pizza tart tomato leek ham | kitchen garden | same
prepare | préparer | person | soup salad coffee tea meat rice cake pancake fish sandwich omelette pizza tart chicken chips noodles lentils mushrooms | kitchen | habit
choose chose chosen | choisir | person | garment pair text dish item -letter film song recipe bloom -passport -coin -key | |
forget forgot forgotten forgetting | oublier | person | item text hat scarf coat phone bag | town office | noprog mishap
hide hid hidden | cacher | person | gift letter key chocolate photo cake coin ring necklace doll | home |
love | adorer | person | food drink animal instrument film song story bloom nature | | generic stative
like | aimer | person | food drink animal bloom film song story nature | | generic stative
hate | détester | person | vegetable staple drink animal legume | | generic stative
prefer preferred preferred preferring | préférer | person | food drink animal bloom film song story nature | | generic stative
want | vouloir | person | food drink pet garment book newspaper novel vehicle phone computer instrument doll kite camera furniture | | want stative
need | avoir besoin | person | de+ car bicycle garment pair device furniture item bag tableware | | want stative
have had had | avoir | person | pet vehicle house device instrument garden farm umbrella | | want stative
feed fed fed | nourrir | person | pet livestock | farm garden | habit
build built built | construire | adult kin -son -daughter -grandson -granddaughter -nephew -niece | house boat table wardrobe gate | |
leave left left leaving | quitter | person | house hotel hospital museum village office kitchen living_room dining_room | |
enter entered entered entering | entrer | person | dans+ house church hotel kitchen office castle living_room dining_room cellar attic garage | |
play | jouer | person | de+ instrument | house garden theatre church | the habit skill
talk / to | parler | person | à+ person | town walk | habit
phone | téléphoner | person | à+ person | | habit
answer answered answered answering | répondre | person | à+ person | |
smile / at | sourire | person | à+ person | |
use | utiliser | person | computer phone umbrella map pencil knife spoon bicycle hammer ruler pen dictionary vacuum_cleaner camera saucepan frying_pan teapot | | idle
borrow | emprunter | person | bicycle car umbrella book novel pencil suitcase dictionary pen hammer van camera saucepan frying_pan instrument -piano | |
keep kept | garder | person | key letter ticket photo gift book ball ring coin postcard | | idle
draw drew drawn | dessiner | person | animal house flower castle church bridge boat tree mountain bloom star river cloud rainbow waterfall hill lake | study |
push | pousser | person | door car bicycle chair table armchair sofa wardrobe rocking_chair bedside_table stool | | one
pull | tirer | person | door chair table suitcase | | one
pull | tirer | horse donkey | boat | | one
fill | remplir | person | glass cup basket box bottle bucket jug jar | kitchen | one
taste | goûter | person | dish soup cheese honey wine strawberry jam ham | restaurant kitchen |
order | commander | person | dish soup salad fish coffee tea wine beer pizza salmon orange_juice mineral_water lemonade chips noodles lentils peas mushrooms | restaurant |
catch caught caught | attraper | person | ball fish mouse hen duck rabbit | | noprog one
catch caught caught | attraper | cat dog | mouse bird ball fish rabbit rat | | noprog one
chase | poursuivre | boy girl children dog | cat hen rabbit duck goat | street garden park | idle one
chase | poursuivre | cat fox | mouse bird hen | garden | idle one
invite | inviter | person | person | restaurant |
greet | saluer | person | person | town |
kiss | embrasser | person | kin | |
congratulate | féliciter | person | person | |
recognise | reconnaître | person | person house village church photo | town | noprog
understand understood understood | comprendre | person | person question lesson joke story poem film recipe | | stative
describe | décrire | person | house castle village photo man woman boy girl room mountain lake waterfall rainbow cloud star | | idle
admire | admirer | person | castle church garden horse flower photo museum bridge nature exhibition necklace bloom | | stative
cross | traverser | person animal | street bridge park village forest garden river square field | | one
receive | recevoir | person | letter postcard gift newspaper flower | | noprog
hold held held | tenir | person | bag umbrella key glass flower book basket | | one
pick | cueillir | person | flower apple pear strawberry orange tomato bloom cherry plum peach raspberry | garden | habit
plant | planter | person | flower potato carrot onion tomato beans bloom tree cabbage leek peas | garden |
peel | éplucher | person | potato carrot onion apple pear orange cucumber banana turnip | kitchen |
pour | verser | person | drink | kitchen |
serve | servir | person | dish soup salad meat fish cheese coffee tea wine beer pizza champagne cider lemonade chips noodles lentils mushrooms walnuts | restaurant |
share | partager | person | cake sandwich bread chocolate orange pancake sweets walnuts chips | | one
translate | traduire | person | letter book novel poem song story | |
miss | rater | person | bus train plane tram | station | noprog mishap one
disturb | déranger | person | person | |
respect | respecter | person | person | | stative
watch | regarder | person | film match | | habit
learn | apprendre | person | song poem lesson | school | habit
sing sang sung | chanter | person | song | church theatre bathroom | habit
ask | poser | person | question | | noprog the
tell told | raconter | person | story joke | | one
organise | organiser | person | party concert meeting exhibition wedding | |
leave left left | quitter | person | party meeting concert | | the noprog
attend | assister | person | à+ concert wedding meeting match | | one
explain | expliquer | person | lesson recipe question joke | school | one
climb | escalader | person | mountain | | one
wake woke woken / up | réveiller | person | person pet | | split
put put put putting / on | mettre | person | garment pair watch | | split same one
take took taken / off | enlever | person | garment pair watch | | split one
turn / on | allumer | person | lamp computer television radio torch washing_machine dishwasher | | split one
turn / off | éteindre | person | lamp computer phone television radio torch washing_machine alarm_clock | | split one
pick / up | ramasser | person | ball pencil key gloves book ticket photo box newspaper coin pen | street | split
throw threw thrown / away | jeter | person | newspaper letter ticket box photo map cup plate meat bread fish magazine toothbrush | | split
put put put putting / away | ranger | person | book plate glass cup ball shoes boots coat knife spoon fork bowl saucepan pen exercise_book | | split same
try tried tried / on | essayer | person | garment shoes boots gloves sunglasses sandals slippers | | split one
bring brought brought / back | rapporter | person | book umbrella bicycle suitcase ball novel key | | split
look / after | s'occuper | person | de+ pet livestock garden farm | | one
remember | se souvenir | person | de+ person village house novel song film story wedding party concert meeting | | stative the
talk / about | parler | person | de+ person novel book museum castle village film story song match wedding concert exhibition party | | the
dream / about | rêver | person | de+ castle beach horse house garden mountain lake wedding waterfall | | the noprog mishap
be was been / afraid of | avoir peur | person | de+ wild dog horse cow bull | | stative the
trust | faire confiance | person | à+ person | | stative
forgive forgave forgiven | pardonner | person | à+ person | | noprog
look / like | ressembler | person | à+ kin actor actress | | stative one
get got got getting / on | monter | person | dans+ bus train plane tram | | one
get got got getting / off | descendre | person | de+ bus train plane tram ferry | | one
"""

# english | french | subjects | where | flags
INTRANSITIVE = """
sleep slept | dormir | person | bedroom hotel garden house | habit last
sleep slept | dormir | animal | garden forest | habit last
work | travailler | adult kin worker students | job | habit abroad last
swim swam swum swimming | nager | person | swimming_pool | habit last skill
swim swam swum swimming | nager | dog duck | | habit last
run ran run running | courir | person dog horse rabbit | walk | habit
walk | marcher | person | walk | habit last
laugh | rire | person | | habit
cry | pleurer | person | bedroom street | last idle mishap
smile | sourire | person | | habit
sing sang sung | chanter | person bird | walk theatre church bathroom | habit skill
dance | danser | person | walk theatre kitchen | habit last skill
cook | cuisiner | person | kitchen restaurant | habit skill
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
speak spoke spoken / French | parler français:1 | person | | habit skill
speak spoke spoken / English | parler anglais:1 | person | | habit skill
speak spoke spoken / Spanish | parler espagnol:1 | person | | habit skill
learn / German | apprendre l'allemand:1 | person | school | abroad
learn / Italian | apprendre l'italien:1 | person | school | abroad
learn / Spanish | apprendre l'espagnol:1 | person | school | abroad
travel travelled travelled travelling | voyager | person | | habit abroad last
wait | attendre | person | station town | last
shout | crier | person | street park | idle
whisper | chuchoter | person | library church theatre | habit idle
cough | tousser | person | | idle noprog mishap
sneeze | éternuer | person | | idle noprog mishap
jump | sauter | person cat dog | garden park | idle
fly flew flown | voler | bird duck owl pigeon crow swan | | habit
study studied studied | étudier | person | library school | habit last
get got got getting / dressed | s'habiller | person | bedroom bathroom | clock untimed habit
get got got getting / lost | se perdre | person | forest | noprog mishap
have had had / a good time | s'amuser | person | park beach garden | last
sit sat sat sitting / down | s'asseoir | person | garden park | habit
fall fell fallen / asleep | s'endormir | person | theatre | noprog idle
have had had / a bath | prendre un:1 bain:2 | person | | habit
do did done / the washing-up | faire la:1 vaisselle:2 | person | kitchen | habit
do did done / the housework | faire le:1 ménage:2 | person | | habit
make made / the bed | faire le:1 lit:2 | person | | habit
tell told / the truth | dire la:1 vérité:2 | person | | noprog
tell told / lies | mentir | person | | habit
tell told / a story | raconter une:1 histoire:2 | person | | habit
ride rode ridden / a bicycle | faire du:1 vélo:2 | person | park village | habit skill
ride rode ridden / a horse | monter à:1 cheval:2 | person | | habit skill
play / chess | jouer aux:1 échecs:1 | person | library park | habit skill
win won won winning | gagner | person | | noprog idle
listen / to the radio | écouter la:2 radio:3 | person | kitchen | habit
go went gone / fishing | aller à:1 la:1 pêche:1 | person | | habit
"""

# english | french | things given
DITRANSITIVE = """
give gave given giving | donner | item text fruit watch hat scarf bloom ring necklace -passport -toothbrush -comb
show showed shown | montrer | item text house vehicle watch dress
send sent | envoyer | letter postcard gift book photo flower
lend lent | prêter | bicycle car umbrella book pencil coat suitcase camera dictionary pen
bring brought | apporter | flower gift book fruit cake newspaper chair cup glass bloom bottle bowl teapot tray saucepan jug sweets walnuts saucer
offer | offrir | flower gift book watch chocolate hat scarf bloom ring necklace sweets
throw threw thrown | lancer | ball apple orange
give gave given giving / back | rendre | book umbrella bicycle suitcase ball novel key pencil
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
need / to | avoir besoin_de | stative
prefer preferred preferred preferring / to | préférer | stative routine
know knew known / how to | savoir | stative skill
learn / to | apprendre à | skill
refuse / to | refuser de |
decide / to | décider de | noprog
forget forgot forgotten forgetting / to | oublier de | noprog
promise / to | promettre de | noprog
agree / to | accepter de | noprog
manage / to | réussir à | noprog
continue / to | continuer à | routine
"""

# The finite word of English, the finite verb of French and its tense.
MODALS = """
can | pouvoir | present
must | devoir | present
should | devoir | conditional
could | pouvoir | conditional
would like | vouloir | conditional
"""
