"""How a run was trained: its curves, from `metrics.jsonl`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rnnsearch.lines import by_update, read_records
from rnnsearch.report.charts import Curve, line_chart
from rnnsearch.report.page import more, number, table

POINTS = 240
"""Points of a curve at most; neighbours share one, which is their mean."""


def training_curves(run_dir: Path) -> str:
    """Return the section about a run's training: charts, and a table of the validations."""
    records = list(read_records(run_dir / "metrics.jsonl"))
    train, validation = (
        [record for record in records if record.get("kind") == kind]
        for kind in ("train", "validation")
    )
    charts = _charts(
        ("Loss, nats a token", _curve("training", train, "loss"),
         _curve("validation", validation, "loss")),
        ("BLEU on the validation set", _curve("validation", validation, "bleu")),
        ("Learning rate", _curve("training", train, "learning_rate")),
        ("Speed, target tokens a second", _curve("training", train, "tokens_per_second")),
    )  # fmt: skip
    if not charts:
        return "<p>The run has no records of its training (metrics.jsonl), so no curves.</p>\n"
    return f'<div class="charts">\n{charts}</div>\n{_validations(validation)}'


def curves_of_runs(runs: Sequence[tuple[str, Path]]) -> str:
    """Return validation loss and BLEU of several runs, each with its name, or a sentence."""
    records = [
        (name, [r for r in read_records(path / "metrics.jsonl") if r.get("kind") == "validation"])
        for name, path in runs
    ]
    charts = _charts(
        ("Validation loss, nats a token", *(_curve(name, r, "loss") for name, r in records)),
        ("BLEU on the validation set", *(_curve(name, r, "bleu") for name, r in records)),
    )
    if not charts:
        return "<p>The runs have no records of their validations, so no curves.</p>\n"
    return f'<div class="charts">\n{charts}</div>\n'


def _charts(*panels: tuple[Any, ...]) -> str:
    """Return a chart for each panel that has points, all over the same updates."""
    most = max((x for _, *curves in panels for one in curves for x, _ in one.points), default=0.0)
    return "".join(
        line_chart(title, curves, x_label="update", most=most)
        for title, *curves in panels
        if any(one.points for one in curves)
    )


def _curve(name: str, records: Sequence[Mapping[str, Any]], key: str) -> Curve:
    points = sorted(by_update(records, key).items())
    per = -(-len(points) // POINTS) or 1
    groups = [points[start : start + per] for start in range(0, len(points), per)]
    return Curve(
        name,
        [
            (sum(x for x, _ in group) / len(group), sum(y for _, y in group) / len(group))
            for group in groups
        ],
    )


def _validations(records: Sequence[Mapping[str, Any]]) -> str:
    digits = {"loss": 4, "perplexity": 2, "bleu": 2, "chrf": 2}
    columns = {key: by_update(records, key) for key in digits}
    updates = sorted({update for found in columns.values() for update in found})
    if not updates:
        return ""
    step = -(-len(updates) // POINTS)
    rows = [
        [number(update, 0), *(number(columns[key].get(update), n) for key, n in digits.items())]
        for update in updates[::step]
    ]
    head = ("update", "loss", "perplexity", "BLEU", "chrF")
    return more("Validations as a table", table("Scores on the validation set", head, rows))
