"""Where an output differs from its reference, word by word."""

import difflib
import re
from collections.abc import Iterable

from rnnsearch.report.page import escaped, shortened, unseen

MOST_COMPARED = 60_000
"""Words of the one times words of the other text; the comparison takes as many steps and more."""

_WORD = re.compile(r"\S+")


def marked(reference: str, output: str) -> tuple[str, str]:
    """Return both texts as HTML, marked where the other one lacks the words.

    `<del>` stands for what the output misses, `<ins>` for what it has instead or besides. Words
    are what white space separates. Texts that are too long for a comparison are not marked.
    """
    spans, others = ([word.span() for word in _WORD.finditer(t)] for t in (reference, output))
    if len(spans) * len(others) > MOST_COMPARED:
        return plain(reference), plain(output)
    matcher = difflib.SequenceMatcher(
        None,
        [reference[start:end] for start, end in spans],
        [output[start:end] for start, end in others],
        autojunk=False,
    )
    differing = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    missing = [(spans[a][0], spans[b - 1][1]) for _, a, b, _, _ in differing if a < b]
    added = [(others[a][0], others[b - 1][1]) for _, _, _, a, b in differing if a < b]
    return _with(reference, missing, "del", "missing"), _with(output, added, "ins", "added")


def plain(text: str) -> str:
    """Return a text as HTML; a blank one says that it is."""
    if not text.strip():
        return '<span class="note" lang="en">(blank)</span>'
    return escaped(shortened(text))


def _with(text: str, parts: Iterable[tuple[int, int]], tag: str, told: str) -> str:
    """Return a text with some parts marked, given as places in the text."""
    if not text.strip():
        return plain(text)
    found, at = [], 0
    for start, end in parts:
        # Colour and underline are nothing to a screen reader, so words stand around the part.
        inner = f"{unseen(f'({told}: ')}{escaped(shortened(text[start:end]))}{unseen(')')}"
        found += [escaped(shortened(text[at:start])), f"<{tag}>{inner}</{tag}>"]
        at = end
    return "".join([*found, escaped(shortened(text[at:]))])
