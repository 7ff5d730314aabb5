"""Given names, cities, countries, and the prepositions that places take."""

from __future__ import annotations

# Given names without a final s, so that the possessive is regular.
MEN = (
    "Paul", "Luc", "Pierre", "Antoine", "Victor", "Martin", "Simon", "Adrien", "Hugo", "Arthur",
    "David", "Daniel", "Robert", "Vincent", "Marc", "Patrick", "Gabriel", "Léo", "Oscar", "Alain",
    "Henri", "Olivier", "Samuel", "Bruno",
)  # fmt: skip
WOMEN = (
    "Marie", "Anne", "Julie", "Sophie", "Alice", "Emma", "Claire", "Lucie", "Charlotte", "Louise",
    "Jeanne", "Manon", "Sarah", "Laura", "Nina", "Isabelle", "Caroline", "Nathalie", "Hélène",
    "Élise", "Chloé", "Juliette", "Margot", "Zoé",
)  # fmt: skip

# english | french; all take "à" and have no article.
CITIES = """
Paris | Paris
Lyon | Lyon
London | Londres
Rome | Rome
Madrid | Madrid
Berlin | Berlin
Geneva | Genève
Lisbon | Lisbonne
Brussels | Bruxelles
Athens | Athènes
Vienna | Vienne
Moscow | Moscou
Warsaw | Varsovie
Venice | Venise
Barcelona | Barcelone
Edinburgh | Édimbourg
Copenhagen | Copenhague
Marseille | Marseille
Toulouse | Toulouse
Dublin | Dublin
"""

# english | french | gender: m, f, or p (plural).
COUNTRIES = """
France | France | f
Italy | Italie | f
Spain | Espagne | f
Germany | Allemagne | f
England | Angleterre | f
Belgium | Belgique | f
Portugal | Portugal | m
Japan | Japon | m
Canada | Canada | m
Brazil | Brésil | m
the United States | États-Unis | p
the Netherlands | Pays-Bas | p
Switzerland | Suisse | f
Greece | Grèce | f
Poland | Pologne | f
Sweden | Suède | f
Scotland | Écosse | f
Ireland | Irlande | f
China | Chine | f
Morocco | Maroc | m
Mexico | Mexique | m
Denmark | Danemark | m
"""


# noun | being there: English, French preposition | going there, or nothing.
PLACES = """
house | in dans |
school | at à | to à
church | in dans | to à
hotel | at à | to à
hospital | at à | to à
museum | at à | to à
restaurant | at à | to à
market | at à | to à
library | at à | to à
station | at à | to à
theatre | at à | to à
castle | in dans | to à
bakery | at à | to à
farm | on à | to à
post office | at à | to à
swimming pool | at à | to à
kitchen | in dans | into dans
bedroom | in dans | into dans
bathroom | in dans | into dans
office | at à | to à
garden | in dans | into dans
park | in dans | to à
beach | on sur | to à
street | in dans |
forest | in dans | into dans
village | in dans | to à
bridge | on sur |
bank | at à | to à
shop | at à | to à
supermarket | at à | to à
factory | at à | to à
town hall | at à | to à
police station | at à | to à
airport | at à | to à
cinema | at à | to à
cathedral | in dans | to à
university | at à | to à
bookshop | at à | to à
stadium | at à | to à
living room | in dans | into dans
dining room | in dans | into dans
cellar | in dans | into dans
attic | in dans | into dans
garage | in dans | into dans
balcony | on sur | onto sur
field | in dans | into dans
square | in sur | to sur
harbour | at à | to à
"""

# Landmarks: English | French, linked as in `phrase.link`.
BESIDE = """
near | près de
in front of | devant:1
behind | derrière
opposite | en face de
next to | à:0 côté:0 de:1
"""
