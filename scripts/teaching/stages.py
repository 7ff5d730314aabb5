"""The stages of a sentence's way through a model, told as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from rnnsearch.cli.scoretable import terminal_width
from rnnsearch.decoder import DecoderState, Memory
from rnnsearch.encoder import InputEncoder
from rnnsearch.errors import printable
from rnnsearch.model import TranslationModel
from rnnsearch.positions import InputParts
from rnnsearch.text import EOS

ROWS, COLUMNS = 8, 6  # of a matrix that are shown
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


class Section(NamedTuple):
    """A stage of the way: its name with the shape, a sentence about it, and lines that show it."""

    title: str
    about: str
    lines: list[str]


class Step(NamedTuple):
    """A step of the decoder: the piece said, its probability, the weights α_i (S,)."""

    piece: str
    probability: float
    alpha: Tensor


class Trace(NamedTuple):
    """All that is shown of a sentence.

    `pieces` and `ids` end with the end mark; `parts` and `c` are None where the encoder has no
    positional codes; `ended` tells whether the last of `steps` is the end of the translation.
    """

    sentence: str
    pieces: list[str]
    ids: list[int]
    X: Tensor
    parts: InputParts | None
    c: float | None
    memory: Memory
    start: DecoderState
    steps: list[Step]
    ended: bool


def sections(found: Trace, model: TranslationModel) -> Iterator[Section]:
    """Yield the stages of the way.

    Args:
        found: what was traced.
        model: the model that it went through.
    """
    encoder, attends = model.encoder, model.attends
    count = (
        len(encoder.layers.layers) if isinstance(encoder, InputEncoder) and encoder.layers else 0
    )
    between = f", after {count} layers of self-attention" if count else ""
    unit = model.decoder.unit
    cell = ": h, and behind it the cell." if unit.state_size > unit.hidden_size else "."
    named = [f"{position} {piece}" for position, piece in enumerate(found.pieces)]
    yield Section("text", "What was typed.", [printable(found.sentence)])
    yield Section(
        f"pieces, {len(found.pieces)}",
        "The tokenizer cuts the text; the end mark is added.",
        [" ".join(printable(piece) for piece in found.pieces)],
    )
    yield Section(
        f"ids {shape(torch.tensor([found.ids]))}",
        f"The number of each piece in the source vocabulary; the end mark is {EOS}.",
        [" ".join(map(str, found.ids))],
    )
    yield Section(
        f"X = T E {shape(found.X)}",
        "Row j is the embedding of piece j: the product of its one-hot row with the table E, done "
        "as a look-up.",
        excerpt(found.X[0], named),
    )
    yield from _input_sections(found, named, type(encoder).__name__)
    h = found.memory.annotations
    yield Section(
        f"annotations h {shape(h)}",
        f"What the decoder may look at, a row for each piece{between}." if attends
        else "One vector c for the whole sentence: this model has no attention.",
        excerpt(h[0], named if attends else ["c"]),
    )  # fmt: skip
    yield Section(
        f"first decoder state s_0 {shape(found.start.s)}",
        f"Made of the summary of the source, before any word is said{cell}",
        excerpt(found.start.s, ["s_0"]),
    )
    yield from _step_sections(found, attends=attends)


def _input_sections(found: Trace, named: list[str], encoder: str) -> Iterator[Section]:
    """Yield P and Z, or the one line that there are none."""
    if found.parts is None:
        yield Section(
            "no P and no Z",
            f"There is no P: this encoder ({encoder}) reads the pieces one after the other, so "
            "that the order is in its states. The annotations are made of X.",
            [],
        )
        return
    _, P, Z = found.parts
    yield Section(
        f"P {shape(P)}", "The codes of the positions, the same for every sentence.",
        excerpt(P, named),
    )  # fmt: skip
    yield Section(
        f"Z = c X + P {shape(Z)}",
        f"The input of the encoder, c = {found.c:.4g}: what stands there, and where.",
        excerpt(Z[0], named),
    )


def _step_sections(found: Trace, *, attends: bool) -> Iterator[Section]:
    """Yield the greedy steps and, with attention, where they look."""
    named = [f"{i} {step.piece}" for i, step in enumerate(found.steps, 1)]
    lines = []
    for label, step in zip(aligned(named), found.steps, strict=True):
        line = f"{label}  p = {step.probability:.3f}"
        if attends:
            j = int(step.alpha.argmax())
            line += f", looking most at {j} {printable(found.pieces[j])} ({step.alpha[j]:.2f})"
        lines.append(line)
    yield Section(
        f"greedy steps, {'all' if found.ended else 'the first'} {len(named)}",
        "At each step the most probable piece y_i is said, and read at the next.",
        lines,
    )
    if attends and found.steps:
        alpha = torch.stack([step.alpha for step in found.steps])
        yield Section(
            f"attention weights alpha {shape(alpha)}",
            "Row i tells how much step i looks at each annotation; it sums to 1.",
            excerpt(alpha, named),
        )


def shape(tensor: Tensor) -> str:
    """Return the shape of a tensor as `(1, 8, 128)`."""
    return f"({', '.join(map(str, tensor.shape))})"


def excerpt(matrix: Tensor, names: Sequence[str]) -> list[str]:
    """Return the first rows and columns of a matrix as lines, its rows named."""
    rows, columns = matrix.shape
    more = f"  {ELLIPSIS}" if columns > COLUMNS else ""
    lines = [
        label + "".join(f" {value:8.4f}" for value in row[:COLUMNS].tolist()) + more
        for label, row in zip(aligned(names[:ROWS]), matrix, strict=False)
    ]
    return [*lines, ELLIPSIS] if rows > ROWS else lines


def aligned(names: Sequence[str]) -> list[str]:
    """Return names filled up with blanks to one width, as a terminal shows it."""
    labels = [printable(name) for name in names]
    most = max(map(terminal_width, labels), default=0)
    return [label + " " * (most - terminal_width(label)) for label in labels]


def plain(stages: Sequence[Section]) -> str:
    """Return the stages as plain text."""
    blocks = [
        "\n".join([f"{number}. {title}", about, *(f"    {line}" for line in lines)])
        for number, (title, about, lines) in enumerate(stages, 1)
    ]
    return "\n\n".join(blocks) + "\n"


def markdown(stages: Sequence[Section], run_dir: Path) -> str:
    """Return the stages as Markdown; indented code takes any letter as it is."""
    blocks = [f"# A sentence on its way through {printable(run_dir.resolve().name)}"]
    for number, (title, about, lines) in enumerate(stages, 1):
        blocks += [f"## {number}. {title}", about]
        if lines:
            blocks.append("\n".join(f"    {line}" for line in lines))
    return "\n\n".join(blocks) + "\n"
