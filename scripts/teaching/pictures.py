"""Pictures of matrices as PNG and SVG, and arguments that are refused in one line."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from rnnsearch.errors import UserError

Matrix = npt.NDArray[np.floating]

DPI = 120
SIGNED = "RdBu_r"  # blue, white, red: told apart also by who sees no red or green
FONT: Any = {"font.size": 11, "axes.titlesize": 13, "axes.titlelocation": "left"}


class OneLineParser(argparse.ArgumentParser):
    """Tells wrong arguments in one line, as the commands of the package do."""

    def error(self, message: str) -> NoReturn:
        """Raise `message` as the user's mistake."""
        raise UserError(f"{message}; --help names all")


def new_figure(width: float, height: float, *, arranged: bool = True) -> Figure:
    """Return a figure of so many inches that needs no display.

    Args:
        width: inches.
        height: inches.
        arranged: whether matplotlib finds the places of its parts.
    """
    figure = Figure(
        figsize=(width, height), dpi=DPI, layout="constrained" if arranged else None
    )  # fmt: skip
    return FigureCanvasAgg(figure).figure


def heat_map(axes: Axes, matrix: Matrix, *, most: float) -> AxesImage:
    """Draw a matrix in signed colours from -most to most."""
    return axes.imshow(
        matrix, cmap=SIGNED, vmin=-most, vmax=most, aspect="auto", interpolation="none"
    )


def save(figure: Figure, folder: Path, name: str) -> Iterator[Path]:
    """Write a figure as PNG and SVG, byte for byte the same each time; yield their paths.

    Raises:
        UserError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, metadata in (("png", {}), ("svg", {"Date": None})):
            path = folder / f"{name}.{suffix}"
            with rc_context({"svg.hashsalt": name}):
                figure.savefig(path, metadata=metadata, facecolor="white")
            yield path
    except OSError as error:
        raise UserError(
            f"{folder}: cannot be written ({error.strerror}); name another folder"
        ) from error
