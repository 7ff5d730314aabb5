"""`rnnsearch translate`: a filter from lines to lines, or from file to file."""

import contextlib
import io
import itertools
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from rnnsearch.cli.checkpoints import step_names
from rnnsearch.cli.interactive import converse
from rnnsearch.cli.pictures import Pictures
from rnnsearch.cli.places import check_not, check_outside_run, check_pictures, check_place
from rnnsearch.cli.rows import alignment_row, translation_rows
from rnnsearch.config import TranslateConfig, listed
from rnnsearch.errors import UserError
from rnnsearch.lines import read_lines
from rnnsearch.runlog import progress_bar
from rnnsearch.stream import waiting_lines
from rnnsearch.translation import MAX_WEIGHTS, Translation, unaligned
from rnnsearch.translator import NO_ATTENTION, Translator

STANDARD = "-"
WINDOW = 16
"""Batches of lines read ahead, so that lines of like length can be searched together."""

WINDOW_CHARACTERS = 1 << 18
"""Characters after which no more lines are read ahead: their translations are held together, and
what attention they have, which long lines have much of."""


def run(config: TranslateConfig) -> None:
    """Translate every line of `input` to one line of `output`, in order.

    With `n_best` above 1 the rows are `line number ||| text ||| score`. Alignments and pictures are
    those of the best translation of each line. At a terminal, without any file, it asks for lines.

    Raises:
        UserError: what the user can mend.
    """
    _check_outputs(config)
    _check_input(config.input)
    checkpoints = step_names(Path(config.run_dir), listed(config.checkpoint))
    translator = Translator.load(
        config.run_dir, config.checkpoint,
        device=config.device, decode=config.decode, replace_unk=config.replace_unk,
    )  # fmt: skip
    _check_attention(config, translator)
    if _by_hand(config):
        converse(config, translator, checkpoints=checkpoints)
        return
    windows = _reached(config, translator)
    first = next(windows, [])  # before an output loses what it held
    aligned, pictures = config.alignments is not None, Pictures.of(config)
    wanted = aligned or pictures is not None
    unknown: list[int] = []
    with (
        _sink("output", config.output) as out,
        _sink("alignments", config.alignments) as alignments,
        progress_bar(None, description="translating", unit="line") as bar,
    ):
        for lines in itertools.chain([first], windows):
            found = translator.translate_n_best(
                lines, config.n_best,
                alignments=wanted, progress=bar.update,
            )  # fmt: skip
            for number, candidates in enumerate(found, len(unknown) + 1):
                best = candidates[0]
                unknown.append(best.unknown)
                if wanted or (best.unknown and translator.dictionary is not None):
                    _tell_unaligned(best, number)
                for row in translation_rows(candidates, number, config.n_best):
                    out.write(f"{row}\n".encode())
                if aligned:
                    row = alignment_row(translator, best, number, form=config.alignment_format)
                    alignments.write(row.encode())
                if pictures is not None:
                    pictures.draw(number, best)
            alignments.flush()  # first: whoever has a translation finds its alignment
            out.flush()
        if pictures is not None:
            pictures.finish()
    _tell_unknown(unknown, replaced=config.replace_unk is not False)


def _by_hand(config: TranslateConfig) -> bool:
    """Return whether somebody types lines at a terminal and reads what comes there."""
    files = (config.alignments, config.plots)
    standard = config.input == config.output == STANDARD and files == (None, None)
    return standard and all(
        stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)
    )


def _check_attention(config: TranslateConfig, translator: Translator) -> None:
    """Refuse outputs that are made of attention where there is none."""
    for key in ("alignments", "plots"):
        if getattr(config, key) is not None and not translator.attends:
            raise UserError(f"{key}: {NO_ATTENTION}, and nothing to show; leave it out")


def _reached(config: TranslateConfig, translator: Translator) -> Iterator[list[str]]:
    """Yield the windows of the input, held against the longest line that a model takes.

    A file is gone through before its first window, a stream as its lines come.
    """
    size = WINDOW * config.decode.batch_sentences
    where = "standard input" if config.input == STANDARD else config.input

    def checked() -> Iterator[list[str]]:
        first = 1
        for lines in _windows(config.input, size):
            translator.check_reach(lines, first=first, line=f"{where}:{{}}")
            yield lines
            first += len(lines)

    if config.input != STANDARD and Path(config.input).is_file():
        for _ in checked():
            pass
    yield from checked()


def _tell_unaligned(best: Translation, number: int) -> None:
    source, target = len(best.source_pieces), len(best.target_pieces)
    if unaligned(source, target):
        print(
            f"warning: line {number}: no attention is kept of {source:,} x {target:,} pieces; "
            f"the most is {MAX_WEIGHTS:,} weights; split the line into sentences",
            file=sys.stderr,
        )


def _tell_unknown(unknown: Sequence[int], *, replaced: bool) -> None:
    """Say what became of the unknown words of each line, which the text alone does not show."""
    lines = sum(count > 0 for count in unknown)
    if lines:
        what = "replaced" if replaced else "left out (replace_unk=true puts source words there)"
        print(f"unknown words {what}: {sum(unknown)}, in lines: {lines}", file=sys.stderr)


def _windows(name: str, size: int) -> Iterator[list[str]]:
    """Yield the input some lines at a time: of a stream what is waiting, of a file `size`."""
    if name == STANDARD:
        if sys.stdin is None:
            raise UserError("input=-: standard input is closed; give input=FILE")
        yield from waiting_lines(
            sys.stdin.buffer, "standard input", limit=size, characters=WINDOW_CHARACTERS
        )
        return
    window: list[str] = []
    characters = 0
    for line in read_lines(Path(name)):
        window.append(line)
        characters += len(line)
        if len(window) == size or characters >= WINDOW_CHARACTERS:
            yield window
            window, characters = [], 0
    if window:
        yield window


def _check_input(name: str) -> None:
    """Read a file through, so that a bad line is told before anything is written."""
    path = Path(name)
    if name != STANDARD and path.is_file():  # a pipe can be read but once
        for _ in read_lines(path):
            pass


def _check_outputs(config: TranslateConfig) -> None:
    """Refuse outputs that would destroy another file or have no place, before any work."""
    if config.output == STANDARD and sys.stdout is None:
        raise UserError("output=-: standard output is closed; give output=FILE")
    if config.alignments == STANDARD:
        raise UserError("alignments=-: standard output is for translations; name a file")
    taken = [("the input file", config.input), ("the output file", config.output)]
    if isinstance(config.replace_unk, str):
        taken.append(("the dictionary", config.replace_unk))
    files = {"output": config.output, "alignments": config.alignments}
    for key, name in files.items():
        if name is None or name == STANDARD:
            continue
        path = Path(name)
        check_place(key, path)
        others = [
            (what, Path(other))
            for what, other in taken
            if other != STANDARD and what != f"the {key} file"
        ]
        check_not(key, path, others)
        check_outside_run(key, path, Path(config.run_dir))
    if config.plots is not None:
        plots = Path(config.plots)
        check_place("plots", plots, folder=True)
        named = [(f"the {key} file", Path(name)) for key, name in files.items() if name]
        check_not("plots", plots, named)
        read = {"input": config.input, "replace_unk": config.replace_unk}
        others = [(k, Path(v)) for k, v in (files | read).items() if isinstance(v, str)]
        check_pictures(plots, Path(config.run_dir), others)


@contextlib.contextmanager
def _sink(key: str, name: str | None) -> Iterator[BinaryIO]:
    if name == STANDARD:
        yield sys.stdout.buffer
        return
    if name is None:
        yield io.BytesIO()
        return
    try:
        with Path(name).open("wb") as file:
            yield file
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"{key}={name}: could not be written: {reason}", status=1) from error
