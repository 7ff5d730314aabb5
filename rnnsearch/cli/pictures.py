"""The pictures of `rnnsearch translate`: the attention of each line, and of the first together."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Self

from rnnsearch.config import TranslateConfig
from rnnsearch.errors import printable
from rnnsearch.translation import Translation

_SUFFIXES = {"png": (".png",), "svg": (".svg",), "both": (".png", ".svg")}


class Pictures:
    """Draws lines as their translations come.

    A picture that cannot be written stops no translation: that is said, and it is the last one.

    Args:
        folder: holds them, named by the numbers of the lines.
        form: a value of `plot_format`.
        sheet: lines that are drawn together in `sheet.png`; 0 for none.
    """

    def __init__(self, folder: Path, *, form: str, sheet: int) -> None:
        self._folder = folder
        self._suffixes = _SUFFIXES[form]
        self._wanted = sheet
        self._sheet: dict[int, Translation] = {}
        self._failed = False

    @classmethod
    def of(cls, config: TranslateConfig) -> Self | None:
        """Return the pictures that a configuration asks for, or None."""
        if config.plots is None:
            return None
        return cls(Path(config.plots), form=config.plot_format, sheet=config.plot_sheet)

    def draw(self, number: int, translation: Translation) -> None:
        """Draw one line; a blank one has no attention.

        Args:
            number: of the line, from 1.
            translation: with its alignment.
        """
        weights = translation.alignment
        if weights is None or not translation.target_pieces:
            return
        # Here, since matplotlib takes its time and most translations want no pictures.
        from rnnsearch.plots import draw_alignment

        def one(path: Path) -> None:
            draw_alignment(
                path, source_pieces=translation.source_pieces,
                target_pieces=translation.target_pieces, weights=weights,
            )  # fmt: skip

        self._write(str(number), one)
        if len(self._sheet) < self._wanted:
            self._sheet[number] = translation
            if len(self._sheet) == self._wanted:
                self._draw_sheet()  # at once: a stream may never end

    def finish(self) -> None:
        """Draw what has waited for more lines."""
        if 0 < len(self._sheet) < self._wanted:
            self._draw_sheet()

    def _draw_sheet(self) -> None:
        from rnnsearch.plots import draw_sheet

        self._write("sheet", lambda path: draw_sheet(path, self._sheet))

    def _write(self, name: str, draw: Callable[[Path], None]) -> None:
        """Draw a picture in each format, unless one has failed."""
        for suffix in self._suffixes:
            if self._failed:
                return
            path = self._folder / f"{name}{suffix}"
            try:
                draw(path)
            except OSError as error:
                message = f"{path}: could not be written: {error.strerror or error}"
                print(f"warning: {printable(message)}; no more pictures are drawn", file=sys.stderr)
                self._failed = True
