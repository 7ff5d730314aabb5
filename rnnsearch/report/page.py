"""One HTML page that needs nothing else: the shell around the sections, and text made harmless.

Whatever comes from outside (sentences, names, paths) passes `escaped` on its way into the page, or
`embedded` on its way into the data of its script.
"""

import base64
import contextlib
import hashlib
import html
import importlib.resources
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

MOST_CHARACTERS = 5000
"""Of a text that are shown; a browser must not choke on a line of megabytes."""

# What would be seen as nothing, or turn around the text beside it, and halves of characters.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Return text whose characters all show and are valid: others are written as `\x07`.

    A file name that came as bytes is spelt as elsewhere.
    """
    if _UNSEEN.search(text):
        with contextlib.suppress(UnicodeError):  # of other halves of characters
            text = text.encode("utf-8", "surrogateescape").decode()
    return _UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def escaped(text: object) -> str:
    """Return a value as text of the page, also within quotes."""
    return html.escape(visible(str(text)))


def shortened(text: str) -> str:
    """Return text of at most `MOST_CHARACTERS`, and how many more there were."""
    more = len(text) - MOST_CHARACTERS
    return text if more <= 0 else f"{text[:MOST_CHARACTERS]} … ({more:,} more characters)"


def embedded(data: Any) -> str:
    """Return JSON that cannot end the element it stands in; strings are `visible` already."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def number(value: float | None, digits: int = 2) -> str:
    """Return a figure, a dash for None."""
    return "–" if value is None else f"{value:,.{digits}f}"


def share(value: float | None) -> str:
    """Return a share of 1 in percent."""
    return "–" if value is None else f"{100 * value:.2f}%"


def unseen(text: str) -> str:
    """Return words for screen readers alone, in the language of the page."""
    return f'<span class="unseen" lang="en">{text}</span>'


def section(name: str, title: str, content: str) -> str:
    """Return a part of the page that its table of contents can lead to."""
    return f'<section id="{name}" aria-labelledby="{name}-h">\n<h2 id="{name}-h">{title}</h2>\n' + (
        f"{content}\n</section>\n"
    )


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column names the rows; the others are figures.

    Args:
        caption: what it shows, read out by screen readers.
        head: the columns, HTML as the cells are.
        rows: a cell a column.
    """
    first = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = [
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f"<td>{cell}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    ]
    # A wide table scrolls by itself, also with the keyboard, and the page does not.
    return (
        f'<div class="wide" role="group" aria-label="{caption}" tabindex="0">'
        f'<table>\n<caption class="unseen">{caption}</caption>\n<thead><tr>{first}</tr></thead>\n'
        "<tbody>" + "\n".join(lines) + "</tbody>\n</table></div>\n"
    )


def more(summary: str, content: str) -> str:
    """Return a part that opens when asked for."""
    return f"<details>\n<summary>{summary}</summary>\n{content}</details>\n"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and values, HTML both, as a list."""
    lines = (f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in rows)
    return '<dl class="facts">\n' + "\n".join(lines) + "\n</dl>\n"


def document(title: str, *, lead: str, sections: Sequence[tuple[str, str, str]], data: Any) -> str:
    """Return the page.

    Args:
        title: text.
        lead: HTML under the title.
        sections: name, title and content of each, in HTML.
        data: what the script finds in the page, see `explorer`.
    """
    folder = importlib.resources.files("rnnsearch.report")
    style, script = (
        f"\n{(folder / name).read_text(encoding='utf-8')}" for name in ("style.css", "script.js")
    )
    # Nothing is loaded, sent or run but these two texts, whatever stands in a sentence.
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    contents = "".join(f'<li><a href="#{name}">{head}</a></li>' for name, head, _ in sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escaped(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<h1>{escaped(title)}</h1>
{lead}
<nav aria-label="Sections"><ul>{contents}</ul></nav>
</header>
<main id="main" tabindex="-1">
{"".join(section(*one) for one in sections)}</main>
<script type="application/json" id="data">{embedded(data)}</script>
<script>{script}</script>
</body>
</html>
"""


def _digest(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
