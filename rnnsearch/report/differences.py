"""Where an output differs from its reference, word by word."""

import difflib
from collections.abc import Sequence

from rnnsearch.report.page import escaped, shortened, unseen

MOST_COMPARED = 60_000
"""Words of the one times words of the other text; the comparison takes as many steps and more."""


def marked(reference: str, output: str) -> tuple[str, str]:
    """Return both texts as HTML, marked where the other one lacks the words.

    `<del>` stands for what the output misses, `<ins>` for what it has instead or besides. Words
    are what white space separates. Texts that are too long for a comparison are not marked.
    """
    words, others = reference.split(), output.split()
    if len(words) * len(others) > MOST_COMPARED:
        return plain(reference), plain(output)
    if not words or not others:
        return _part(words, "del", "missing"), _part(others, "ins", "added")
    left, right = [], []
    matcher = difflib.SequenceMatcher(None, words, others, autojunk=False)
    for what, start, end, other_start, other_end in matcher.get_opcodes():
        ours, theirs = words[start:end], others[other_start:other_end]
        if what == "equal":
            left.append(_text(ours))
            right.append(_text(theirs))
            continue
        left += [_part(ours, "del", "missing")] if ours else []
        right += [_part(theirs, "ins", "added")] if theirs else []
    return " ".join(left), " ".join(right)


def plain(text: str) -> str:
    """Return a text as HTML; a blank one says that it is."""
    return escaped(shortened(text)) if text.strip() else _blank()


def _part(words: Sequence[str], tag: str, told: str) -> str:
    if not words:
        return _blank()
    # Colour and underline are nothing to a screen reader, so words stand around the part.
    return f"<{tag}>{unseen(f'({told}: ')}{_text(words)}{unseen(')')}</{tag}>"


def _text(words: Sequence[str]) -> str:
    return escaped(shortened(" ".join(words)))


def _blank() -> str:
    return '<span class="note" lang="en">(blank)</span>'
