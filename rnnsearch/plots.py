"""Pictures: alignments and BLEU by length as in the paper's figures 3 and 2, training curves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes

from rnnsearch.errors import printable
from rnnsearch.figures import (
    DPI,
    GAP,
    MAX_LABEL,
    MAX_TITLE,
    Panel,
    cut,
    drawing,
    literal,
    new_figure,
    save,
)
from rnnsearch.lines import by_update, read_records
from rnnsearch.translation import Translation

MAX_CELLS = 200  # cells a side at full size; more pieces share the same room
SHEET_CELLS = 240  # the same of the sentences side by side in a sheet, taken together
SHEET_LABEL = 20  # characters of a piece in a sheet
SHEET_SHAPE = 4 / 3  # width over height of the page that a sheet comes near to


def draw_alignment(
    path: Path,
    *,
    source_pieces: Sequence[str],
    target_pieces: Sequence[str],
    weights: Float[np.ndarray, "T S"],
    title: str = "",
) -> None:
    """Draw the weights alpha_ij as in figure 3 of the paper: 0 black, 1 white.

    Source pieces stand along the top, target pieces down the side, in reading order; a row is the
    distribution of one target piece over the source. Text is shown literally and long labels are
    cut. A side of more than `MAX_CELLS` pieces has the size of one of `MAX_CELLS`: its cells
    shrink, every k-th piece is named, and cells below a pixel merge into their largest weight.

    Args:
        path: a PNG, or an SVG if its name ends so; its folder is made.
        source_pieces: S labels.
        target_pieces: T labels.
        weights: target by source; what is not a number shows red.
        title: one line above the picture.

    Raises:
        ValueError: the weights are not of shape (T, S).
        OSError: the picture cannot be written.
    """
    shape = (len(target_pieces), len(source_pieces))
    if weights.shape != shape:
        raise ValueError(f"weights of shape {weights.shape} for (target, source) pieces {shape}")
    figure = new_figure()
    with drawing():
        panel = Panel(
            figure, weights,
            source_pieces=source_pieces, target_pieces=target_pieces, most=MAX_CELLS,
        )  # fmt: skip
        width, height = panel.width, panel.height
        if title:
            head = literal(figure, title, "left", limit=MAX_TITLE)
            box = head.get_window_extent()
            width, height = max(width, box.width + 2 * GAP), height + box.height + GAP
            head.set_position((GAP / width, 1 - (GAP + box.y1) / height))
        figure.set_size_inches(width / DPI, height / DPI)
        panel.place(0, 0, (width, height))
        save(figure, path)


def draw_sheet(path: Path, translations: Mapping[int, Translation]) -> None:
    """Draw the alignments of several sentences on one page, each as in `draw_alignment`.

    They stand in rows, in their order, each with its number in the corner. The page grows with the
    sentences; a side of more pieces than its share of `SHEET_CELLS` has that size.

    Args:
        path: a PNG, or an SVG if its name ends so; its folder is made.
        translations: one or more by their numbers, each with its alignment.

    Raises:
        OSError: the picture cannot be written.
    """
    figure = new_figure()
    most = min(MAX_CELLS, SHEET_CELLS // math.ceil(math.sqrt(len(translations))))
    with drawing():
        panels = [
            Panel(
                figure, one.alignment, source_pieces=one.source_pieces,
                target_pieces=one.target_pieces, most=most, limit=SHEET_LABEL, name=str(number),
            )
            for number, one in translations.items()
            if one.alignment is not None
        ]  # fmt: skip
        rows = _arranged(panels)
        page = width, height = _size(rows)
        figure.set_size_inches(width / DPI, height / DPI)
        top = height
        for row in rows:
            left = 0.0
            for panel in row:
                panel.place(left, top - panel.height, page)
                left += panel.width
            top -= max(panel.height for panel in row)
        save(figure, path)


def _arranged(panels: Sequence[Panel]) -> list[list[Panel]]:
    """Return the panels in rows that fill the smallest page of `SHEET_SHAPE`."""
    starts = range(len(panels))
    runs = [sum(panel.width for panel in panels[i : j + 1]) for i in starts for j in starts[i:]]
    choices = [_filled(panels, width) for width in runs]

    def needed(rows: list[list[Panel]]) -> float:
        width, height = _size(rows)
        return max(width, height * SHEET_SHAPE)

    return min(choices, key=needed)


def _filled(panels: Sequence[Panel], width: float) -> list[list[Panel]]:
    """Return rows of panels, in their order, none wider than `width` but of a single panel."""
    rows: list[list[Panel]] = [[]]
    for panel in panels:
        if rows[-1] and sum(one.width for one in rows[-1]) + panel.width > width + 0.5:
            rows.append([])
        rows[-1].append(panel)
    return rows


def _size(rows: Sequence[Sequence[Panel]]) -> tuple[float, float]:
    widths = [sum(panel.width for panel in row) for row in rows]
    return max(widths), sum(max(panel.height for panel in row) for row in rows)


def draw_curves(run_dir: Path) -> Path | None:
    """Draw loss, BLEU, learning rate and speed of a run into `plots/training.png`.

    They come from the run's `metrics.jsonl`. A line that is cut or no JSON object, a field that is
    missing and a value that is not finite are left out; of two records of one update the later
    counts, because a resumed run may repeat what a kill had not saved.

    Returns:
        The picture's path, or None when there is nothing to draw yet.

    Raises:
        OSError: the records cannot be read or the picture cannot be written.
    """
    records = list(read_records(run_dir / "metrics.jsonl"))
    train = [record for record in records if record.get("kind") == "train"]
    validation = [record for record in records if record.get("kind") == "validation"]
    panels = [
        ("loss, nats a token", [by_update(train, "loss"), by_update(validation, "loss")]),
        ("BLEU on the validation set", [{}, by_update(validation, "bleu")]),
        ("learning rate", [by_update(train, "learning_rate"), {}]),
        ("target tokens a second", [by_update(train, "tokens_per_second"), {}]),
    ]
    if not any(curve for _, curves in panels for curve in curves):
        return None
    figure = new_figure(figsize=(10, 7), layout="constrained")
    last = max(max(curve) for _, curves in panels for curve in curves if curve)
    for axes, (title, curves) in zip(figure.subplots(2, 2).flat, panels, strict=True):
        _draw_panel(axes, title, *curves)
        axes.set_xlim(0, max(last, 1) * 1.02)
        axes.set_ylim(bottom=0)
    path = run_dir / "plots" / "training.png"
    save(figure, path)
    return path


def draw_by_length(path: Path, runs: Sequence[tuple[str, Sequence[Mapping[str, Any]]]]) -> None:
    """Draw BLEU over the length of the source, a line a run, as the paper's figure 2.

    Args:
        path: the picture; its folder is made.
        runs: the name of each, and its bins: `from`, `to`, `sentences` and `bleu`, which may be
            None.

    Raises:
        OSError: the picture cannot be written.
    """
    figure = new_figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    for (name, bins), marker in zip(runs, itertools.cycle("osD^vPX*"), strict=False):
        known = [one for one in bins if one["bleu"] is not None]
        middles = [(one["from"] + one["to"]) / 2 for one in known]
        axes.plot(
            middles, [one["bleu"] for one in known], marker=marker, markersize=5, clip_on=False,
            label=cut(printable(name), MAX_LABEL),
        )  # fmt: skip
    widest = max((bins for _, bins in runs), key=len)
    axes.set_xticks([(one["from"] + one["to"]) / 2 for one in widest])
    axes.set_xticklabels([f"{one['from']}-{one['to']}\n{one['sentences']}" for one in widest])
    axes.set_xlabel("words of the source; below them, sentences")
    axes.set_ylabel("BLEU")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)  # `$` in a name starts no formula
    with drawing():
        save(figure, path)


def _draw_panel(
    axes: Axes, title: str, training: dict[float, float], validation: dict[float, float]
) -> None:
    curves = [(training, "training", "tab:blue"), (validation, "validation", "tab:orange")]
    for curve, name, color in curves:
        updates = sorted(curve)
        # Few points are marked: a line through one point shows nothing.
        marker = "o" if len(updates) <= 50 else ""
        values = [curve[update] for update in updates]
        axes.plot(updates, values, marker=marker, markersize=3, color=color, label=name)
    if training and validation:
        axes.legend(frameon=False)
    if not training and not validation:
        axes.text(0.5, 0.5, "nothing recorded yet", transform=axes.transAxes, ha="center")
        axes.set_yticks([])
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel("update")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
