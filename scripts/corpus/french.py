"""French inflection: conjugation, plurals, agreement of adjectives and participles."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

# Infinitive | je tu il nous vous ils | past participle | stem of the future.
IRREGULAR = """
être | suis es est sommes êtes sont | été | ser
avoir | ai as a avons avez ont | eu | aur
aller | vais vas va allons allez vont | allé | ir
faire | fais fais fait faisons faites font | fait | fer
dire | dis dis dit disons dites disent | dit | dir
venir | viens viens vient venons venez viennent | venu | viendr
revenir | reviens reviens revient revenons revenez reviennent | revenu | reviendr
partir | pars pars part partons partez partent | parti | partir
sortir | sors sors sort sortons sortez sortent | sorti | sortir
dormir | dors dors dort dormons dormez dorment | dormi | dormir
ouvrir | ouvre ouvres ouvre ouvrons ouvrez ouvrent | ouvert | ouvrir
courir | cours cours court courons courez courent | couru | courr
voir | vois vois voit voyons voyez voient | vu | verr
pouvoir | peux peux peut pouvons pouvez peuvent | pu | pourr
vouloir | veux veux veut voulons voulez veulent | voulu | voudr
devoir | dois dois doit devons devez doivent | dû | devr
savoir | sais sais sait savons savez savent | su | saur
connaître | connais connais connaît connaissons connaissez connaissent | connu | connaîtr
boire | bois bois boit buvons buvez boivent | bu | boir
lire | lis lis lit lisons lisez lisent | lu | lir
écrire | écris écris écrit écrivons écrivez écrivent | écrit | écrir
prendre | prends prends prend prenons prenez prennent | pris | prendr
apprendre | apprends apprends apprend apprenons apprenez apprennent | appris | apprendr
comprendre | comprends comprends comprend comprenons comprenez comprennent | compris | comprendr
conduire | conduis conduis conduit conduisons conduisez conduisent | conduit | conduir
construire | construis construis construit construisons construisez construisent | construit | construir
suivre | suis suis suit suivons suivez suivent | suivi | suivr
croire | crois crois croit croyons croyez croient | cru | croir
rire | ris ris rit rions riez rient | ri | rir
sourire | souris souris sourit sourions souriez sourient | souri | sourir
peindre | peins peins peint peignons peignez peignent | peint | peindr
acheter | achète achètes achète achetons achetez achètent | acheté | achèter
lever | lève lèves lève levons levez lèvent | levé | lèver
promener | promène promènes promène promenons promenez promènent | promené | promèner
appeler | appelle appelles appelle appelons appelez appellent | appelé | appeller
préférer | préfère préfères préfère préférons préférez préfèrent | préféré | préférer
espérer | espère espères espère espérons espérez espèrent | espéré | espérer
nettoyer | nettoie nettoies nettoie nettoyons nettoyez nettoient | nettoyé | nettoier
essayer | essaie essaies essaie essayons essayez essaient | essayé | essaier
envoyer | envoie envoies envoie envoyons envoyez envoient | envoyé | enverr
ennuyer | ennuie ennuies ennuie ennuyons ennuyez ennuient | ennuyé | ennuier
mettre | mets mets met mettons mettez mettent | mis | mettr
promettre | promets promets promet promettons promettez promettent | promis | promettr
jeter | jette jettes jette jetons jetez jettent | jeté | jetter
enlever | enlève enlèves enlève enlevons enlevez enlèvent | enlevé | enlèver
éteindre | éteins éteins éteint éteignons éteignez éteignent | éteint | éteindr
reconnaître | reconnais reconnais reconnaît reconnaissons reconnaissez reconnaissent | reconnu | reconnaîtr
décrire | décris décris décrit décrivons décrivez décrivent | décrit | décrir
traduire | traduis traduis traduit traduisons traduisez traduisent | traduit | traduir
offrir | offre offres offre offrons offrez offrent | offert | offrir
cueillir | cueille cueilles cueille cueillons cueillez cueillent | cueilli | cueiller
servir | sers sers sert servons servez servent | servi | servir
endormir | endors endors endort endormons endormez endorment | endormi | endormir
mentir | mens mens ment mentons mentez mentent | menti | mentir
tenir | tiens tiens tient tenons tenez tiennent | tenu | tiendr
souvenir | souviens souviens souvient souvenons souvenez souviennent | souvenu | souviendr
appartenir | appartiens appartiens appartient appartenons appartenez appartiennent | appartenu | appartiendr
recevoir | reçois reçois reçoit recevons recevez reçoivent | reçu | recevr
poursuivre | poursuis poursuis poursuit poursuivons poursuivez poursuivent | poursuivi | poursuivr
asseoir | assieds assieds assied asseyons asseyez asseyent | assis | assiér
"""  # noqa: E501
ETRE = ("aller", "venir", "revenir", "partir", "sortir", "arriver", "rester", "tomber", "rentrer",
        "entrer", "retourner", "monter", "descendre")  # fmt: skip
IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
REGULAR = {
    "er": (("e", "es", "e", "ons", "ez", "ent"), "é"),
    "ir": (("is", "is", "it", "issons", "issez", "issent"), "i"),
    "re": (("s", "s", "", "ons", "ez", "ent"), "u"),
}


class FrenchVerb(NamedTuple):
    """The forms of a verb; persons are numbered 0 to 5: je, tu, il, nous, vous, ils."""

    infinitive: str
    present: tuple[str, ...]
    participle: str
    future_stem: str
    etre: bool

    def imperfect(self, person: int) -> str:
        """Return the imparfait, whose stem is that of "nous"."""
        stem = "ét" if self.infinitive == "être" else self.present[3].removesuffix("ons")
        ending = IMPERFECT[person]
        if ending.startswith("i"):
            stem = stem[:-1] if stem.endswith("ge") else stem.replace("ç", "c")
        return stem + ending

    def future(self, person: int) -> str:
        """Return the futur simple."""
        return self.future_stem + FUTURE[person]

    def conditional(self, person: int) -> str:
        """Return the conditionnel présent."""
        return self.future_stem + IMPERFECT[person]


def _irregular() -> dict[str, FrenchVerb]:
    verbs = {}
    for line in IRREGULAR.strip().split("\n"):
        infinitive, present, participle, stem = (cell.strip() for cell in line.split("|"))
        etre = infinitive in ETRE
        verbs[infinitive] = FrenchVerb(infinitive, tuple(present.split()), participle, stem, etre)
    return verbs


_IRREGULAR = _irregular()


@cache
def verb(infinitive: str) -> FrenchVerb:
    """Return a verb by its infinitive, regular ones by rule."""
    if infinitive in _IRREGULAR:
        return _IRREGULAR[infinitive]
    stem, group = infinitive[:-2], infinitive[-2:]
    endings, participle = REGULAR[group]
    present = [stem + ending for ending in endings]
    if group == "er" and stem.endswith("g"):
        present[3] = stem + "eons"
    if group == "er" and stem.endswith("c"):
        present[3] = stem[:-1] + "çons"
    future = infinitive.removesuffix("e") if group == "re" else infinitive
    return FrenchVerb(infinitive, tuple(present), stem + participle, future, infinitive in ETRE)


def plural(word: str) -> str:
    """Return the regular plural of a noun or a masculine adjective."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith(("eau", "eu")) and word != "bleu":
        return word + "x"
    if word.endswith("al"):
        return word[:-2] + "aux"
    return word + "s"


def agree(participle: str, gender: str, *, many: bool) -> str:
    """Return a past participle that agrees: vu, vue, vus, vues."""
    form = participle.replace("û", "u") + "e" if gender == "f" else participle
    return plural(form) if many else form
