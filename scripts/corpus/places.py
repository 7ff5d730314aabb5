"""Given names, cities, countries, and the prepositions that places take."""

from __future__ import annotations

# Given names without a final s, so that the possessive is regular.
MEN = ("Paul", "Luc", "Pierre", "Antoine", "Victor", "Martin", "Simon", "Adrien")
WOMEN = ("Marie", "Anne", "Julie", "Sophie", "Alice", "Emma", "Claire", "Lucie")

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
"""

# Landmarks: English | French, linked as in `phrase.link`.
BESIDE = """
near | près de
in front of | devant:1
behind | derrière
opposite | en face de
next to | à:0 côté:0 de:1
"""
