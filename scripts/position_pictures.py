"""Draw what positional codes look like, for teaching: the matrix P, its clock hands, likeness.

    python scripts/position_pictures.py pictures
    python scripts/position_pictures.py pictures --size 128 --length 64 --row 20

Writes PNG and SVG of four pictures and prints their paths. `codes` is P as a heat map;
`codes-small` the same of 16 positions and 32 dimensions, with its numbers; `hands` shows pairs of
columns as the hands of clocks; `likeness` the product of every two codes. The codes are those of
rnnsearch.positions, which names the source.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np
from argument_types import whole
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge
from teaching.pictures import DPI, FONT, Matrix, OneLineParser, heat_map, new_figure, save

from rnnsearch.errors import UserError
from rnnsearch.positions import BASE, sinusoidal_codes

SMALL = (16, 32)
CLOCKS = 16  # positions whose hands are shown
AMOUNT = "cividis"
WIDTH, HEIGHT = 1536, 640  # most pixels of a matrix, unless it has more cells
MARGINS = (75, 65, 125, 75)  # pixels on its left, below, on its right, above
LINE, MARK = "#0072b2", "#d55e00"  # blue and vermilion of Okabe and Ito


def even(text: str) -> int:
    """Return the number of an argument whose columns come in pairs."""
    value = whole(2)(text)
    if value % 2:
        raise argparse.ArgumentTypeError(f"{value} is odd, but dimensions come in pairs")
    return value


even.__name__ = "whole number"


def codes_figure(length: int, size: int) -> Figure:
    """Return P as a heat map: a row a position, a column a dimension.

    Every cell has a whole number of pixels: fine stripes would otherwise be uneven.
    """
    width, height = (max(1, room // n) * n for room, n in ((WIDTH, size), (HEIGHT, length)))
    left, below, right, above = MARGINS
    across, up = left + width + right, below + height + above
    figure = new_figure(across / DPI, up / DPI, arranged=False)
    axes = figure.add_axes((left / across, below / up, width / across, height / up))
    codes = sinusoidal_codes(length, size).numpy()
    image = heat_map(axes, codes, most=1)
    bar = figure.add_axes(((left + width + 20) / across, below / up, 25 / across, height / up))
    figure.colorbar(image, cax=bar)
    axes.set(xlabel="dimension of the code (even: sine, odd: cosine)", ylabel="position")
    axes.set_title(
        f"P of {length} positions and {size} dimensions: each row is the code of one position.\n"
        "Columns on the left change from word to word, columns on the right hardly at all."
    )
    if codes.size <= math.prod(SMALL):
        _write_numbers(axes, codes)
    return figure


def _write_numbers(axes: Axes, codes: Matrix) -> None:
    """Write each number into its cell."""
    length, size = codes.shape
    axes.set(xticks=range(size), yticks=range(length))
    for (row, column), number in np.ndenumerate(codes):
        axes.text(
            column, row, f"{number:.2f}".replace("-", "\N{MINUS SIGN}"), fontsize=7,
            color="white" if abs(number) > 0.6 else "black",
            horizontalalignment="center", verticalalignment="center",
        )  # fmt: skip


def turn(r: int, size: int) -> float:
    """Return in how many positions the hand of columns 2r, 2r+1 goes round once."""
    return float(2 * math.pi * BASE ** (2 * r / size))


def clock_pairs(size: int) -> list[int]:
    """Return pairs of columns whose hands slow down by two from row to row, and the slowest."""
    pairs = size // 2
    slower = {round(pairs * math.log(2**n, BASE)) for n in range(5)}
    return sorted({r for r in slower if r < pairs} | {pairs - 1})


def hands_figure(size: int) -> Figure:
    """Return a row of clocks for some pairs of columns: the hand is (cos, sin) at each position."""
    pairs = clock_pairs(size)
    figure = new_figure(13, 1.3 + 0.66 * len(pairs))
    axes = figure.add_subplot()
    codes = sinusoidal_codes(CLOCKS, size).numpy()
    for row, r in enumerate(pairs):
        for position in range(CLOCKS):
            sine, cosine = codes[position, 2 * r : 2 * r + 2]
            _clock(axes, (position, -row), sine, cosine)
    axes.set(
        xlim=(-0.6, CLOCKS - 0.4), ylim=(0.4 - len(pairs), 0.6), aspect="equal",
        xlabel="position (shaded: the angle since position 0, without whole turns)",
        xticks=range(CLOCKS), yticks=[-row for row in range(len(pairs))],
    )  # fmt: skip
    axes.set_yticklabels([
        f"dimensions {2 * r} and {2 * r + 1}\none turn in {_about(turn(r, size))} positions"
        for r in pairs
    ])  # fmt: skip
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(
        "A position is told like the time, by fast and slow hands: each pair of dimensions is the "
        "hand (cos, sin) of a clock.\n"
        "From one column to the next every hand turns by an angle of its own, the same everywhere."
    )
    return figure


def _about(number: float) -> str:
    """Return a number in three figures: 6.28, 62.8, 628, 62,800."""
    digits = max(0, 2 - math.floor(math.log10(number)))
    return f"{float(f'{number:.3g}'):,.{digits}f}"


def _clock(axes: Axes, centre: tuple[float, float], sine: float, cosine: float) -> None:
    """Draw a clock that starts at three and turns to the left, as angles do."""
    x, y = centre
    radius = 0.42
    axes.add_patch(Circle(centre, radius, facecolor="white", edgecolor="0.6"))
    angle = math.degrees(math.atan2(sine, cosine)) % 360
    axes.add_patch(Wedge(centre, radius, 0, angle, facecolor=LINE, alpha=0.15, linewidth=0))
    tip = (x + radius * cosine, y + radius * sine)
    axes.plot([x, tip[0]], [y, tip[1]], color=LINE, linewidth=2, solid_capstyle="round")
    axes.plot(*tip, marker="o", markersize=4, color=MARK)


def likeness_figure(length: int, size: int, row: int) -> Figure:
    """Return PE(i)·PE(j) as a heat map, and its row i = `row` as a curve."""
    codes = sinusoidal_codes(length, size).numpy()
    products = codes @ codes.T
    figure = new_figure(13, 6)
    left, right = figure.subplots(1, 2, gridspec_kw={"wspace": 0.1})
    image = left.imshow(products, cmap=AMOUNT, origin="upper", interpolation="none")
    figure.colorbar(image, ax=left, fraction=0.046, pad=0.03, label="PE(i)·PE(j)")
    left.axhline(row, color=MARK, linewidth=1.5, linestyle="--")
    left.set(xlabel="position j", ylabel="position i")
    left.set_title("PE(i)·PE(j): equal along each diagonal,\nso only the distance i - j counts")
    right.plot(products[row], color=LINE, linewidth=2, marker="o", markersize=2.5)
    right.axvline(row, color=MARK, linewidth=1.5, linestyle="--")
    right.set(xlabel="position j", ylabel=f"PE({row})·PE(j)", xlim=(-0.5, length - 0.5))
    right.set_title(
        f"One row, i = {row}: the peak is the position itself,\nits neighbours are on the slopes"
    )
    right.grid(alpha=0.3)
    right.spines[["top", "right"]].set_visible(False)
    return figure


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = OneLineParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    add = parser.add_argument
    add("folder", type=Path, help="where the pictures are written; it is made")
    add("--size", type=even, default=512, help="dimensions of a code (512)")
    add("--length", type=whole(2), default=128, help="positions (128)")
    add("--row", type=whole(0), help="position whose curve is drawn (the middle one)")
    options = parser.parse_args(argv)
    if options.row is None:
        options.row = options.length // 2
    if options.row >= options.length:
        parser.error(f"argument --row: {options.row} is not below --length {options.length}")
    return options


def main(argv: list[str] | None = None) -> int:
    """Write the pictures; return 0, or a status after one line on standard error."""
    try:
        options = arguments(argv)
        with rc_context(FONT):
            for name, figure in (
                ("codes", codes_figure(options.length, options.size)),
                ("codes-small", codes_figure(*SMALL)),
                ("hands", hands_figure(options.size)),
                ("likeness", likeness_figure(options.length, options.size, options.row)),
            ):
                for path in save(figure, options.folder, name):
                    print(path)
    except UserError as error:
        print(f"position_pictures: {error}", file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
