"""What pictures are made of: literal text, grids of weights with their labels, files.

Figures are built from objects, never through pyplot: that keeps no global state and needs no
display. All lengths are pixels of a PNG.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib import rc_context, rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from rnnsearch.errors import printable

DPI = 120
CELL = 24  # pixels a side, just room for a label of LABEL_POINTS
LABEL_POINTS = 9
BASELINE = 5  # pixels from the middle of a label's letters down to the line they stand on
GAP = 8  # pixels around and between the parts of a picture
MAX_LABEL = 40  # characters of a piece
MAX_TITLE = 120

# What a user has set for matplotlib changes no picture.
_RULES: dict[Any, Any] = {
    # The first comes with matplotlib; whoever reads an SVG and lacks it takes the next.
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "svg.fonttype": "none",  # text, to be searched and copied, rather than outlines
    "svg.hashsalt": "rnnsearch",  # the same picture has the same bytes
    "svg.image_inline": True,
}
if "svg.id" in rcParams:  # older releases write none
    _RULES["svg.id"] = None


def new_figure(**how: Any) -> Figure:
    """Return an empty figure; `how` goes to matplotlib's `Figure`."""
    return FigureCanvasAgg(Figure(dpi=DPI, **how)).figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure, within `drawing`, as SVG if its name ends so, else as PNG; make its folder.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".svg":
        figure.canvas.print_figure(path, format="png", dpi=DPI, facecolor="white")
        return
    undated = {"Date": None, "Creator": None}
    figure.canvas.print_figure(path, format="svg", facecolor="white", metadata=undated)


@contextmanager
def drawing() -> Iterator[None]:
    """Draw by the rules of this module, and silently."""
    with rc_context(_RULES), quiet_glyphs():
        yield


@contextmanager
def quiet_glyphs() -> Iterator[None]:
    """Silence the warnings about characters that no font has: the picture shows boxes for them."""
    missing = r"Glyph \d+ .*missing from|Matplotlib currently does not support"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=missing, category=UserWarning)
        yield


def literal(
    figure: Figure, text: str, align: str, *, limit: int = MAX_LABEL, **how: Any
) -> Text:  # fmt: skip
    """Add one line of literal text, within `drawing`, what is unprintable escaped, cut to `limit`.

    Args:
        figure: takes it, at its lower left corner.
        text: any text.
        align: `left` or `right`.
        limit: characters.
        how: goes to matplotlib's `Text`.
    """
    return figure.text(
        0,
        0,
        cut(printable(text), limit),
        rotation_mode="anchor",  # so that labels stand on one line whatever letters they hold
        horizontalalignment=align,
        verticalalignment="baseline",
        color="black",
        parse_math=False,  # `$` starts no formula
        usetex=False,
        **{"fontsize": LABEL_POINTS, "family": "sans-serif", **how},
    )


def cut(line: str, limit: int) -> str:
    """Return a line, or its beginning and an ellipsis if it has more than `limit` characters."""
    return line if len(line) <= limit else line[: limit - 1] + "…"


class Panel:
    """A grid of weights with its labels: source along the top, target down the side.

    It is measured when it is made, before the size of the page is known, and then placed.

    Args:
        figure: the page.
        weights: target by source; what is not a number shows red.
        source_pieces: S labels.
        target_pieces: T labels.
        most: cells a side at full size; more pieces share the same room.
        limit: characters of a label.
        name: stands in the corner above the target pieces.
    """

    def __init__(
        self, figure: Figure, weights: Float[np.ndarray, "T S"],
        *, source_pieces: Sequence[str], target_pieces: Sequence[str], most: int,
        limit: int = MAX_LABEL, name: str = "",
    ) -> None:  # fmt: skip
        self._figure, self._weights, self._most = figure, weights, most
        self._columns, self._rows = len(source_pieces), len(target_pieces)
        self._across = [
            literal(figure, _label(source_pieces[i]), "left", limit=limit, rotation=90)
            for i in self._named(self._columns)
        ]
        self._down = [
            literal(figure, _label(target_pieces[i]), "right", limit=limit)
            for i in self._named(self._rows)
        ]  # fmt: skip
        self._name = literal(figure, name, "left", weight="bold") if name else None
        sides = [text.get_window_extent().width for text in self._down]
        tops = [text.get_window_extent().height for text in self._across]
        if self._name is not None:
            sides.append(self._name.get_window_extent().width)
        self._left = 2 * GAP + max(sides, default=0)
        self._above = 2 * GAP + max(tops, default=0)
        self._grid = tuple(CELL * min(max(n, 1), most) for n in (self._columns, self._rows))
        self.width = self._left + self._grid[0] + GAP
        self.height = GAP + self._grid[1] + self._above

    def _named(self, count: int) -> range:
        """Return the places of the pieces that are named: all of them, or every k-th."""
        return range(0, count, max(1, math.ceil(count / self._most)))

    def place(self, left: float, bottom: float, page: tuple[float, float]) -> None:
        """Put everything where it belongs.

        Args:
            left: edge of the panel, from that of the page.
            bottom: likewise.
            page: width and height.
        """
        width, height = page
        grid_width, grid_height = self._grid
        x0, y0 = left + self._left, bottom + GAP
        for text, i in zip(self._across, self._named(self._columns), strict=True):
            x = x0 + (i + 0.5) * grid_width / self._columns + BASELINE
            text.set_position((x / width, (y0 + grid_height + GAP / 2) / height))
        for text, i in zip(self._down, self._named(self._rows), strict=True):
            y = y0 + grid_height - (i + 0.5) * grid_height / self._rows - BASELINE
            text.set_position(((x0 - GAP / 2) / width, y / height))
        if self._name is not None:
            top = bottom + self.height - GAP - self._name.get_window_extent().y1
            self._name.set_position(((left + GAP) / width, top / height))
        room = (x0 / width, y0 / height, grid_width / width, grid_height / height)
        axes = self._figure.add_axes(room)
        axes.set(xticks=[], yticks=[], facecolor="tab:red")
        if self._weights.size:
            picture = _merge(_merge(self._weights, self._most, axis=0), self._most, axis=1)
            axes.imshow(picture, cmap="gray", vmin=0, vmax=1, aspect="auto", interpolation="none")


def _label(piece: str) -> str:
    """Return a piece with the sign of a blank where a word begins; U+2581 is a heavy bar."""
    return piece.replace("\u2581", "\u2423")


def _merge(
    weights: Float[np.ndarray, "T S"], most: int, *, axis: int
) -> Float[np.ndarray, "rows columns"]:
    """Merge neighbours along an axis into their maximum until each has at least a pixel."""
    size = weights.shape[axis]
    cells = min(size, CELL * most)
    return np.maximum.reduceat(weights, np.arange(cells) * size // cells, axis=axis)
