"""`rnnsearch translate`: a filter from lines to lines, or from file to file."""

import contextlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from rnnsearch.checkpoint import writing
from rnnsearch.config import TranslateConfig
from rnnsearch.errors import UserError
from rnnsearch.lines import read_lines
from rnnsearch.runlog import progress_bar
from rnnsearch.stream import waiting_lines
from rnnsearch.translator import Translation, Translator

STANDARD = "-"
WINDOW = 16
"""Batches of lines read ahead, so that lines of like length can be searched together."""


def run(config: TranslateConfig) -> None:
    """Translate every line of `input` to one line of `output`, in order.

    With `n_best` above 1 the rows are `line number ||| text ||| score`.

    Raises:
        UserError: what the user can mend.
    """
    _check_output(config)
    _check_input(config.input)
    translator = Translator.load(
        config.run_dir, config.checkpoint, device=config.device, decode=config.decode
    )
    number = 0
    window = WINDOW * config.decode.batch_sentences
    with (
        _sink(config.output) as sink,
        progress_bar(None, description="translating", unit="line") as bar,
    ):
        for lines in _windows(config.input, window):
            found = translator.translate_n_best(
                lines, config.n_best, alignments=config.plots is not None, progress=bar.update
            )
            for candidates in found:
                number += 1
                sink.write(_rows(candidates, number, config.n_best).encode())
                if config.plots is not None:
                    _draw(Path(config.plots), number, candidates[0])
            sink.flush()


def _windows(name: str, size: int) -> Iterator[list[str]]:
    """Yield the input some lines at a time: of a stream what is waiting, of a file `size`."""
    if name == STANDARD:
        if sys.stdin is None:
            raise UserError("input=-: standard input is closed; give input=FILE")
        yield from waiting_lines(sys.stdin.buffer, "standard input", limit=size)
        return
    lines = read_lines(Path(name))
    while window := list(itertools.islice(lines, size)):
        yield window


def _check_input(name: str) -> None:
    """Read a file through, so that a bad line is told before anything is written."""
    path = Path(name)
    if name != STANDARD and path.is_file():  # a pipe can be read but once
        for _ in read_lines(path):
            pass


def _check_output(config: TranslateConfig) -> None:
    """Refuse an output that would destroy the input or has no place, before any work."""
    if config.plots is not None and Path(config.plots).exists() and not Path(config.plots).is_dir():
        raise UserError(f"plots={config.plots}: is a file; name a folder for the pictures")
    folder = Path(config.output).parent
    if config.output != STANDARD and not folder.is_dir():
        raise UserError(f"output={config.output}: there is no folder {folder}; make it first")
    if STANDARD in (config.input, config.output):
        return
    source, target = Path(config.input), Path(config.output)
    if target.exists() and source.exists() and source.samefile(target):
        raise UserError(f"output={config.output}: is the input file; choose another name")


def _rows(candidates: list[Translation], number: int, n_best: int) -> str:
    if n_best == 1:
        return candidates[0].text + "\n"
    return "".join(f"{number} ||| {c.text} ||| {c.score:.6f}\n" for c in candidates)


def _draw(folder: Path, number: int, translation: Translation) -> None:
    """Draw the attention of one line; a blank one has none."""
    if translation.alignment is None or not translation.target_pieces:
        return
    from rnnsearch.plots import draw_alignment

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        draw_alignment(
            folder / f"{number}.png",
            source_pieces=translation.source_pieces,
            target_pieces=translation.target_pieces,
            weights=translation.alignment,
        )


@contextlib.contextmanager
def _sink(name: str) -> Iterator[BinaryIO]:
    if name == STANDARD:
        yield sys.stdout.buffer
        return
    try:
        with Path(name).open("wb") as file:
            yield file
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"output={name}: could not be written: {reason}", status=1) from error
