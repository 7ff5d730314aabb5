"""Pictures: an alignment and BLEU by length as in the paper's figures 3 and 2, training curves.

Figures are built from objects, never through pyplot: that keeps no global state and needs no
display.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from rnnsearch.errors import printable
from rnnsearch.lines import is_number, read_records

DPI = 120
CELL = 24  # pixels a side, just room for a label of LABEL_POINTS
LABEL_POINTS = 9
BASELINE = 5  # pixels from the middle of a label's letters down to the line they stand on
GAP = 8  # pixels around and between the parts of a picture
MAX_CELLS = 200  # cells a side at full size; more pieces share the same room
MAX_LABEL = 40  # characters of a piece
MAX_TITLE = 120


def draw_alignment(
    path: Path,
    *,
    source_pieces: Sequence[str],
    target_pieces: Sequence[str],
    weights: Float[np.ndarray, "T S"],
    title: str = "",
) -> None:
    """Write a PNG of the weights alpha_ij as in figure 3 of the paper: 0 black, 1 white.

    Source pieces stand along the top, target pieces down the side, in reading order; a row is the
    distribution of one target piece over the source. Text is shown literally and long labels are
    cut. A side of more than `MAX_CELLS` pieces has the size of one of `MAX_CELLS`: its cells
    shrink, every k-th piece is named, and cells below a pixel merge into their largest weight.

    Args:
        path: the picture; its folder is made.
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
    figure = FigureCanvasAgg(Figure(dpi=DPI)).figure
    with quiet_glyphs():
        axes = figure.add_axes(_write_labels(figure, source_pieces, target_pieces, title))
        axes.set(xticks=[], yticks=[], facecolor="tab:red")
        if weights.size:
            picture = _merge(_merge(weights, axis=0), axis=1)
            axes.imshow(picture, cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="none")
        _save(figure, path)


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
        ("loss, nats a token", [_curve(train, "loss"), _curve(validation, "loss")]),
        ("BLEU on the validation set", [{}, _curve(validation, "bleu")]),
        ("learning rate", [_curve(train, "learning_rate"), {}]),
        ("target tokens a second", [_curve(train, "tokens_per_second"), {}]),
    ]
    if not any(curve for _, curves in panels for curve in curves):
        return None
    figure = FigureCanvasAgg(Figure(figsize=(10, 7), dpi=DPI, layout="constrained")).figure
    last = max(max(curve) for _, curves in panels for curve in curves if curve)
    for axes, (title, curves) in zip(figure.subplots(2, 2).flat, panels, strict=True):
        _draw_panel(axes, title, *curves)
        axes.set_xlim(0, max(last, 1) * 1.02)
        axes.set_ylim(bottom=0)
    path = run_dir / "plots" / "training.png"
    _save(figure, path)
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
    figure = FigureCanvasAgg(Figure(figsize=(8, 5), dpi=DPI, layout="constrained")).figure
    axes = figure.subplots()
    for (name, bins), marker in zip(runs, itertools.cycle("osD^vPX*"), strict=False):
        known = [one for one in bins if one["bleu"] is not None]
        middles = [(one["from"] + one["to"]) / 2 for one in known]
        axes.plot(
            middles, [one["bleu"] for one in known], marker=marker, markersize=5, clip_on=False,
            label=_cut(printable(name), MAX_LABEL),
        )  # fmt: skip
    widest = max((bins for _, bins in runs), key=len)
    axes.set_xticks([(one["from"] + one["to"]) / 2 for one in widest])
    axes.set_xticklabels([f"{one['from']}-{one['to']}\n{one['sentences']}" for one in widest])
    axes.set_xlabel("words of the source; under them the sentences")
    axes.set_ylabel("BLEU")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)  # `$` in a name starts no formula
    with quiet_glyphs():
        _save(figure, path)


def _write_labels(
    figure: Figure, source_pieces: Sequence[str], target_pieces: Sequence[str], title: str
) -> tuple[float, float, float, float]:
    """Size the figure, write its text and return the room left for the grid.

    The room is (left, bottom, width, height) in fractions of the figure; all else is in pixels
    from the lower left corner.
    """
    columns, rows = len(source_pieces), len(target_pieces)
    grid_width, grid_height = (CELL * min(max(count, 1), MAX_CELLS) for count in (columns, rows))
    across = [_text(figure, source_pieces[i], "left", rotation=90) for i in _named(columns)]
    down = [_text(figure, target_pieces[i], "right") for i in _named(rows)]
    left = 2 * GAP + max((text.get_window_extent().width for text in down), default=0)
    above = 2 * GAP + max((text.get_window_extent().height for text in across), default=0)
    width, height = left + grid_width + GAP, GAP + grid_height + above
    if title:
        head = _text(figure, title, "left", limit=MAX_TITLE)
        box = head.get_window_extent()
        width, height = max(width, box.width + 2 * GAP), height + box.height + GAP
        head.set_position((GAP / width, 1 - (GAP + box.y1) / height))
    figure.set_size_inches(width / DPI, height / DPI)
    for text, i in zip(across, _named(columns), strict=True):
        x = left + (i + 0.5) * grid_width / columns + BASELINE
        text.set_position((x / width, (GAP + grid_height + GAP / 2) / height))
    for text, i in zip(down, _named(rows), strict=True):
        y = GAP + grid_height - (i + 0.5) * grid_height / rows - BASELINE
        text.set_position(((left - GAP / 2) / width, y / height))
    return left / width, GAP / height, grid_width / width, grid_height / height


def _named(count: int) -> range:
    """Return the places of the pieces that are named: all of them, or every k-th."""
    return range(0, count, max(1, math.ceil(count / MAX_CELLS)))


def _text(
    figure: Figure, text: str, align: str, *, rotation: int = 0, limit: int = MAX_LABEL
) -> Text:
    """Add one line of literal text, its unprintable characters escaped, cut to `limit`."""
    line = printable(text)
    return figure.text(
        0,
        0,
        _cut(line, limit),
        rotation=rotation,
        rotation_mode="anchor",  # so that labels stand on one line whatever letters they hold
        horizontalalignment=align,
        verticalalignment="baseline",
        fontsize=LABEL_POINTS,
        family="DejaVu Sans",
        color="black",
        parse_math=False,  # `$` starts no formula
        usetex=False,
    )


def _cut(line: str, limit: int) -> str:
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _merge(weights: Float[np.ndarray, "T S"], *, axis: int) -> Float[np.ndarray, "rows columns"]:
    """Merge neighbours along an axis into their maximum until each has at least a pixel."""
    size = weights.shape[axis]
    cells = min(size, CELL * MAX_CELLS)
    return np.maximum.reduceat(weights, np.arange(cells) * size // cells, axis=axis)


def _curve(records: list[dict[str, Any]], key: str) -> dict[float, float]:
    """Return a value by update, without the records that lack either."""
    return {
        record["update"]: record[key]
        for record in records
        if is_number(record.get("update")) and is_number(record.get(key))
    }


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


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.canvas.print_figure(path, format="png", dpi=DPI, facecolor="white")


@contextmanager
def quiet_glyphs() -> Iterator[None]:
    """Silence the warnings about characters that no font has: the picture shows boxes for them."""
    missing = r"Glyph \d+ .*missing from|Matplotlib currently does not support"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=missing, category=UserWarning)
        yield
