"""Lines of text that hardly anybody writes."""

from __future__ import annotations

import random

FRAGMENTS = (
    *("\0", "\x01", "\t", "\x0b", "\x0c", "\r", "\x1c", "\x1d", "\x1e", "\x1f", "\x7f", "\x85"),
    *("\xa0", "\xad", "\u0301", "\u0345", "\u200b", "\u200d", "\u200e", "\u2028", "\u2029"),
    *("\u202e", "\u2066", "\u2069", "\u2047", "\u2060", "\u2581", "\u2585", "\u3000", "\ufe0f"),
    *("\ufeff", "\ufffd", "\ufffe", "\uffff", "\ud800", "\udfff", "\udc80", "\U0001f642"),
    *("\U000e0041", "\U0010ffff", "\ue000", "\u1680", "\u180e", "\u0f0b", "\ufb01", "\ufdfa"),
    *(
        "👨‍👩‍👧‍👦",
        "🇫🇷",
        "👍🏽",
        "שלום",
        "مرحبا",
        "e\u0301",
        "हिन्दी",
        "한국어",
        "猫が好き。",
        "ﷺ",
        "Ǆ",
        "İ",
    ),
    *("<unk>", "<s>", "</s>", "<pad>", "<0x0A>", "<0x41>", "<0xFF>", "▁the", "&amp;", "@-@"),
    *("@@", "|||", "DOTMULTI", "DOTDOTMULTI", "...", "....", "'", '"', "`", "``", ".'", "a.b."),
    *("l'", ",", "1,000.5", "$1", "%", "\\", "\\n", "{}", "${x}", "[", "]", "-", "--", "—", "№"),
    *("http://a.b/c?d=e&f", "a@b.c", "x" * 40, "the", "The", "cat", "sees", ".", "apple", "today"),
    *("in the garden", "I", "Mr.", "i.e.", "No. 7", "isn't", "don't", "qu'on", "c.-à-d.", "»"),
)
_PLANES = (
    (0, 0x80),
    (0, 0x800),
    (0, 0x10000),
    (0x10000, 0x110000),
    (0x2000, 0x2100),
    (0x300, 0x370),
)


def fragment(chance: random.Random) -> str:
    """Return a few characters without LF."""
    if chance.random() < 0.6:
        return chance.choice(FRAGMENTS)
    low, high = chance.choice(_PLANES)
    text = "".join(chr(chance.randrange(low, high)) for _ in range(chance.choice((1, 1, 3, 9))))
    return text.replace("\n", "")


def line(chance: random.Random, *, most: int = 3000) -> str:
    """Return a line of at most so many characters."""
    parts = [fragment(chance) for _ in range(chance.choice((0, 1, 2, 4, 8, 20)))]
    text = chance.choice(("", " ", " ", "\u3000")).join(parts)
    if chance.random() < 0.1:
        times = chance.choice((30, 300, most))
        text = (text or "a") * times
    return text[:most]


def text(chance: random.Random, *, lines: int) -> bytes:
    """Return a file of hostile lines; half surrogates become bytes that are no UTF-8."""
    rows = [line(chance, most=chance.choice((60, 400))) for _ in range(chance.randrange(lines + 1))]
    end = chance.choice(("\n", "\n", "\n", "\r\n"))
    joined = end.join(rows) + chance.choice((end, end, ""))
    if chance.random() < 0.7:
        joined = "".join(c for c in joined if not "\ud800" <= c <= "\udfff")
    return joined.encode("utf-8", "surrogatepass")
