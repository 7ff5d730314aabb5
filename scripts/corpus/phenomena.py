"""What the grammar has to offer: names of its phenomena, and how often each is to occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .phrase import Pair

# Name | English | French. The grammar marks its words with these names; "several words for one",
# "one word for several" and "long-distance move" are read off the alignment.
PHENOMENA = {
    "elision": ("I like the man", "j'aime l'homme"),
    "contraction": ("from the village to the markets", "du village aux marchés"),
    "partitive": ("some bread, some apples", "du pain, des pommes"),
    "agreeing adjective": ("the old coats, the old house", "les vieux manteaux, la vieille maison"),
    "adjective before the noun": ("a pretty dress", "une jolie robe"),
    "adjective after the noun": ("a red dress", "une robe rouge"),
    "possessive": ("his sister, her brother", "sa sœur, son frère"),
    "noun of a noun": ("Paul's dog", "le chien de Paul"),
    "clitic pronoun": ("he sees it", "il le voit"),
    "negation": ("she does not sleep", "elle ne dort pas"),
    "passé composé with avoir": ("we ate", "nous avons mangé"),
    "passé composé with être": ("she left", "elle est partie"),
    "agreeing participle": ("the apples that he ate", "les pommes qu'il a mangées"),
    "simple future": ("she will sing", "elle chantera"),
    "near future": ("she is going to sing", "elle va chanter"),
    "recent past": ("she has just left", "elle vient de partir"),
    "imperfect": ("she was singing", "elle chantait"),
    "used to": ("she used to sing", "elle chantait"),
    "present with depuis": ("he has been waiting for an hour", "il attend depuis une heure"),
    "reflexive verb": ("he gets up", "il se lève"),
    "modal verb": ("we must work", "nous devons travailler"),
    "question": ("where does he live?", "où est-ce qu'il habite ?"),
    "said to somebody": ("Sir, open the door", "Monsieur, ouvrez la porte"),
    "comparative": ("taller than Paul", "plus grand que Paul"),
    "superlative": ("the oldest house", "la plus vieille maison"),
    "number": ("twelve eggs", "douze œufs"),
    "day or time": ("on Monday at half past six", "lundi à six heures et demie"),
    "adverb of manner": ("he drives slowly", "il conduit lentement"),
    "country or city": ("in Italy, to Japan, from Rome", "en Italie, au Japon, de Rome"),
    "relative qui": ("the man who is singing", "l'homme qui chante"),
    "relative que": ("the book that I bought", "le livre que j'ai acheté"),
    "relative dont": ("the lady whose son is tall", "la dame dont le fils est grand"),
    "if-clause": ("if it rains", "s'il pleut"),
    "because-clause": ("because it is raining", "parce qu'il pleut"),
    "when-clause": ("when Paul arrives", "quand Paul arrivera"),
    "reported clause": ("he says that it is raining", "il dit qu'il pleut"),
    "there is": ("there are two cats", "il y a deux chats"),
    "coordination": ("Paul sings and Marie dances", "Paul chante et Marie danse"),
    "several words for one": ("a potato", "une pomme de terre"),
    "one word for several": ("he is looking for it", "il le cherche"),
    "long-distance move": ("Paul misses his little brother", "son petit frère manque à Paul"),
}  # fmt: skip
# A link between words that are so many places apart.
FAR = 4


def of(pair: Pair) -> frozenset[str]:
    """Return the phenomena of a pair, those that the alignment shows included."""
    found = set(pair.phenomena)
    sure = [link.split("-") for link in pair.alignment.split(" ") if "-" in link]
    rows = [int(row) for row, _ in sure]
    if len(set(rows)) < len(rows):
        found.add("several words for one")
    if "p" in pair.alignment:
        found.add("one word for several")
    if any(abs(int(row) - int(column)) >= FAR for row, column in sure):
        found.add("long-distance move")
    return frozenset(found)


# How many pairs a share may be behind before none is taken without the phenomenon.
BEHIND = 20


class Quota:
    """Holds phenomena to the shares of the pairs that were asked for.

    After n pairs, those with a phenomenon of share s are n s at most, rounded up, and not much
    fewer as long as the grammar has sentences with the combinations that are needed. A share of 0
    or 1 holds exactly.
    """

    def __init__(self, shares: Mapping[str, float]) -> None:
        self._shares = shares
        self._taken = 0
        self._with: Counter[str] = Counter()

    def takes(self, pair: Pair) -> bool:
        """Whether the pair keeps every share; if so it is counted.

        It must have one of the phenomena that are behind, not all of them at once: there may be
        no such sentence.
        """
        if not self._shares:
            return True
        found = of(pair)
        behind = helped = False
        for name, share in self._shares.items():
            missing = share * (self._taken + 1) - self._with[name]
            if name in found:
                if share == 0 or missing <= 0:
                    return False
                helped = helped or missing >= 1
            elif share == 1 or missing > BEHIND:
                return False
            behind = behind or missing >= 1
        if behind and not helped:
            return False
        self._taken += 1
        self._with.update(found)
        return True


def table(pairs: Iterable[Pair]) -> str:
    """Return a Markdown table: each phenomenon with an example and its share of the pairs."""
    counts: Counter[str] = Counter()
    total = 0
    for pair in pairs:
        counts.update(of(pair))
        total += 1
    rows = ["| phenomenon | | | pairs with it |", "|---|---|---|---|"]
    for name, (english, french) in PHENOMENA.items():
        rows.append(f"| {name} | {english} | {french} | {100 * counts[name] / total:.1f}% |")
    return "\n".join(rows)
