"""When and how often: adverbials sorted by the tenses they go with."""

from __future__ import annotations

PAST = """
yesterday | hier
yesterday morning | hier:0 matin:1
yesterday evening | hier:0 soir:1
this morning | ce:0 matin:1
on Monday | lundi
on Saturday | samedi
on Sunday | dimanche
two days ago | il:2 y:2 a:2 deux:0 jours:1
"""
LONG_AGO = """
last week | la:1 semaine:1 dernière:0
last month | le:1 mois:1 dernier:0
last year | l'année:1 dernière:0
last summer | l'été:1 dernier:0
three weeks ago | il:2 y:2 a:2 trois:0 semaines:1
four months ago | il:2 y:2 a:2 quatre:0 mois:1
ten years ago | il:2 y:2 a:2 dix:0 ans:1
in January | en:0 janvier:1
in March | en:0 mars:1
"""
FUTURE = """
tomorrow | demain
tomorrow morning | demain:0 matin:1
tomorrow evening | demain:0 soir:1
tonight | ce soir
this evening | ce:0 soir:1
on Monday | lundi
on Tuesday | mardi
on Friday | vendredi
on Sunday | dimanche
"""
LATER = """
next week | la:1 semaine:1 prochaine:0
next month | le:1 mois:1 prochain:0
next year | l'année:1 prochaine:0
next summer | l'été:1 prochain:0
in April | en:0 avril:1
"""
DAILY = """
every day | tous:0 les:0 jours:1
every morning | tous:0 les:0 matins:1
every evening | tous:0 les:0 soirs:1
in the morning | le:1 matin:2
in the evening | le:1 soir:2
"""
WEEKLY = """
every week | toutes:0 les:0 semaines:1
every Sunday | tous:0 les:0 dimanches:1
every Saturday | tous:0 les:0 samedis:1
on Mondays | le lundi
on Fridays | le vendredi
on Saturdays | le samedi
"""
SEASONS = """
in summer | en:0 été:1
in winter | en:0 hiver:1
in spring | au:0 printemps:1
in autumn | en:0 automne:1
"""
# How long something lasted.
LASTING = """
for two hours | pendant:0 deux:1 heures:2
for three hours | pendant:0 trois:1 heures:2
for half an hour | pendant:0 une:2 demi-heure:3
for ten minutes | pendant:0 dix:1 minutes:2
"""
SOON = """
tomorrow | demain
tomorrow morning | demain:0 matin:1
tonight | ce soir
this evening | ce:0 soir:1
"""
NOW = """
now | maintenant
at the moment | en:0 ce:1 moment:2
"""
MIDNIGHT = """
at midnight | à:0 minuit:1
"""
CLOCK = f"""
at noon | à:0 midi:1
{MIDNIGHT}
"""

# Between the subject and the verb in English, after the verb in French.
FREQUENCY = """
often | souvent
always | toujours
sometimes | parfois
rarely | rarement
"""

# Digits up to twelve, as English writes them: `*` bars elision (le onze).
NUMBERS = {
    "two": "deux", "three": "trois", "four": "quatre", "five": "cinq", "six": "six",
    "seven": "sept", "eight": "*huit", "nine": "neuf", "ten": "dix", "eleven": "*onze",
    "twelve": "douze", "twenty": "vingt",
}  # fmt: skip
