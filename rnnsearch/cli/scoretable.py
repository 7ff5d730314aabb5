"""The scores as they are printed: for reading in a terminal and copying into a paper."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rnnsearch.errors import printable
from rnnsearch.metrics import Difference

METRICS = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
# What the signature leaves unsaid: chrF with beta 2.
_VARIANTS = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER"}

_LONGEST_NAME = 24  # a longer one stands in a line of its own
_COLUMNS = 80  # of the columns by length; further ones go below

Row = tuple[str, Mapping[str, Any]]
"""A name, of a test set or a run, and the record of its scores."""


def score_table(what: str, rows: Sequence[Row]) -> str:
    """Return the scores, a row each; for words the pairs without unknown ones, too; by length.

    Args:
        what: the names stand for: `test set` or `run`.
        rows: at least one.
    """
    parts = [_main(what, rows)]
    if any("no_unk" in record for _, record in rows):
        parts.append(_no_unk(rows))
    return "\n\n".join([*parts, _by_length(rows)])


def notes(rows: Sequence[Row], *, search: str) -> str:
    """Return what has to be known about the figures: the search, the interval, the signatures.

    Args:
        rows: those of the table.
        search: how translations were found, in a few words.
    """
    lines = [f"search: {search}"]
    if any(record["bleu"]["low"] is not None for _, record in rows):
        lines.append("±: half the width of the 95% bootstrap interval, around its mean")
    if _aligned(rows):
        lines.append(
            "AER: alignment error rate in percent; links from the attention while the reference is "
            "forced"
        )
    signatures = {
        f"{name} {record[key]['signature']}": None
        for key, name in _VARIANTS.items()
        for _, record in rows
        if record[key] is not None
    }
    return "\n".join([*lines, *signatures])


def difference_table(
    first: str, differences: Sequence[tuple[str, Mapping[str, Difference]]], *, resamples: int
) -> str:
    """Return how runs differ from the first one, a row each.

    Args:
        first: name of the first run.
        differences: name of each other run, and its differences by metric.
        resamples: of the paired bootstrap test.
    """
    tested = differences[0][1]
    head = ("difference", *(METRICS[key] for key in tested))
    cells = [
        (name, *(_difference(by_metric[key]) for key in tested)) for name, by_metric in differences
    ]
    note = f"less {first}; p: paired bootstrap test, {resamples} resamples; *: p < 0.05"
    return f"{_grid(head, cells)}\n{note}"


def training_table(rows: Sequence[Row]) -> str:
    """Return the size of each run and how it was trained, a row each."""
    head = ("run", "parameters", "updates", "minutes", "target tokens/s")
    cells = [
        (
            name,
            f"{record['parameters']:,}",
            "-" if record["updates"] is None else f"{record['updates']:,}",
            _number(record["training_minutes"], 1),
            _number(record["training_tokens_per_second"], 0),
        )
        for name, record in rows
    ]
    return _grid(head, cells)


def _difference(found: Difference) -> str:
    mark = "*" if found.p_value < 0.05 else " "
    return f"{found.difference:+.2f} (p = {found.p_value:.4f}){mark}"


def _main(what: str, rows: Sequence[Row]) -> str:
    head = [what, *METRICS.values(), "loss", "perplexity", "length ratio", "sentences"]
    cells = [
        [
            name,
            _score(record["bleu"]),
            _number(record["chrf"]["score"], 2),
            _number(record["ter"] and record["ter"]["score"], 2),
            _number(record["loss"], 4),
            _number(record["perplexity"], 2),
            _number(record["length_ratio"], 3),
            str(record["sentences"]),
        ]
        for name, record in rows
    ]
    if _aligned(rows):
        head.append("AER")
        for row, (_, record) in zip(cells, rows, strict=True):
            rate = record.get("alignment_error_rate")
            row.append("-" if rate is None else f"{100 * rate:.2f}")
    if any(record["unknown_rate"] for _, record in rows):
        head.append("unknown")
        for row, (_, record) in zip(cells, rows, strict=True):
            row.append(f"{100 * record['unknown_rate']:.2f}%")
    return _grid(head, cells)


def _aligned(rows: Sequence[Row]) -> bool:
    return any(record.get("alignment_error_rate") is not None for _, record in rows)


def _no_unk(rows: Sequence[Row]) -> str:
    """The paper's two columns: all pairs, and those without an unknown word."""
    cells = [
        (
            name,
            _score(record["bleu"]),
            _score(record["no_unk"]["bleu"]),
            f"{record['no_unk']['sentences']} of {record['sentences']}",
        )
        for name, record in rows
        if "no_unk" in record
    ]
    return _grid(("BLEU", "All", "No UNK", "sentences"), cells)


def _by_length(rows: Sequence[Row]) -> str:
    """BLEU by words of the source, a column each ten; under it how many sentences there are."""
    bins = sorted({(b["from"], b["to"]) for _, record in rows for b in record["by_length"]})
    cells: list[list[str]] = []
    counts: list[str] = []
    for name, record in rows:
        found = {(b["from"], b["to"]): b for b in record["by_length"]}
        if counts and counts != (now := _counts(found, bins)):
            cells.append(["sentences", *counts])
            counts = now
        counts = counts or _counts(found, bins)
        cells.append([name, *(_number(found[b]["bleu"], 2) if b in found else "-" for b in bins)])
    cells.append(["sentences", *counts])
    head = ["BLEU by words", *(f"{first}-{last}" for first, last in bins)]
    label = max(map(terminal_width, [head[0], *(row[0] for row in cells if _short(row[0]))]))
    widest = max(map(len, [*head[1:], *(cell for row in cells for cell in row[1:])]))
    step = max((_COLUMNS - label) // (widest + 2), 1)
    blocks = [
        _grid([head[0], *head[at : at + step]], [[r[0], *r[at : at + step]] for r in cells])
        for at in range(1, len(head), step)
    ]
    return "\n\n".join(blocks)


def _counts(
    found: Mapping[tuple[int, int], Mapping[str, Any]], bins: Iterable[tuple[int, int]]
) -> list[str]:
    return [str(found[b]["sentences"]) if b in found else "-" for b in bins]


def _score(score: Mapping[str, Any] | None) -> str:
    """Return a score as `sacrebleu --confidence -w 2` prints it, without the mean."""
    if score is None:
        return "-"
    if score["low"] is None:
        return _number(score["score"], 2)
    return f"{_number(score['score'], 2)} ± {(score['high'] - score['low']) / 2:.2f}"


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return cells in columns, the first one to the left, a long name above its row."""
    laid: list[Sequence[str]] = [head]
    for row in rows:
        name = printable(row[0])
        if _short(name):
            laid.append([name, *row[1:]])
        else:
            laid += [[name], ["", *row[1:]]]
    widths = [
        max(terminal_width(row[column]) for row in laid if len(row) > 1)
        for column in range(len(head))
    ]
    return "\n".join(_line(row, widths) for row in laid)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    if len(row) == 1:
        return row[0]
    cells = [row[0] + " " * (widths[0] - terminal_width(row[0]))]
    cells += [
        " " * (room - terminal_width(cell)) + cell
        for cell, room in zip(row[1:], widths[1:], strict=True)
    ]
    return "  ".join(cells).rstrip()


def _short(name: str) -> bool:
    return terminal_width(name) <= _LONGEST_NAME


def terminal_width(text: str) -> int:
    """Return how many columns a terminal needs for a text."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) > 0 for c in text)
