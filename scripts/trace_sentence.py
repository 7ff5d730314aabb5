"""Follow one sentence through a trained model, from its text to the first words said.

    python scripts/trace_sentence.py runs/demo
    python scripts/trace_sentence.py runs/demo "We sleep." --output trace.md --plots pictures

text -> pieces -> ids -> X -> P -> Z -> annotations -> s_0 -> greedy steps, each with its shape and
its first numbers. A model without positional codes has X alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import sys
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from matplotlib import rc_context
from matplotlib.figure import Figure
from position_pictures import FONT, OneLineParser, heat_map, new_figure, save
from torch import Tensor

from rnnsearch.batches import collate_sources
from rnnsearch.decoder import DecoderState, Memory
from rnnsearch.encoder import InputEncoder
from rnnsearch.errors import UserError, printable
from rnnsearch.model import TranslationModel
from rnnsearch.positions import InputParts
from rnnsearch.search import prepared, search
from rnnsearch.text import BOS, EOS
from rnnsearch.translator import END_MARK, Translator

SENTENCE = "The children are listening to music."
ROWS, COLUMNS = 8, 6  # of a matrix that are shown
STEPS = 6
MAX_LABELS = 60  # rows of a picture that are still named
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


@torch.inference_mode()
def trace(translator: Translator, sentence: str) -> Trace:
    """Run one sentence through the translator's model, greedily.

    Raises:
        UserError: the sentence is blank, has several lines, or is longer than learned positions
            reach.
    """
    if "\n" in sentence:
        raise UserError("SENTENCE: expected one line, came several")
    ids = translator.source_tokenizer.encode(sentence)
    if not ids:
        raise UserError("SENTENCE: it is blank, so there is nothing to follow; give some words")
    translator.check_reach([sentence])
    model = translator.model
    source, mask = collate_sources([ids])
    encoder = model.encoder
    made = encoder.input if isinstance(encoder, InputEncoder) else None
    memory = model.encode(source, mask)
    state = start = model.start(memory)
    options = dataclasses.replace(translator.options, beam_size=1)
    (best,) = search(prepared([model], options), source, mask, options=options)[0]
    said = [*best.ids, EOS] if best.finished else list(best.ids)
    steps = []
    previous = BOS
    for word in said[:STEPS]:
        log_p, state, alpha = model.step(torch.tensor([previous]), state, memory)
        (piece,) = translator.target_tokenizer.pieces([word])
        steps.append(Step(piece, float(log_p[0, word].exp()), alpha[0]))
        previous = word
    return Trace(
        sentence, [*translator.source_tokenizer.split(sentence), END_MARK], source[0].tolist(),
        encoder.embedding(source), None if made is None else made.parts(source),
        None if made is None else made.c, memory, start, steps, len(said) <= STEPS,
    )  # fmt: skip


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
    """Return names filled up with blanks to one width, as a terminal shows it.

    Chinese and Japanese letters take two places there.
    """
    labels = [printable(name) for name in names]
    widths = [
        sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in label)
        for label in labels
    ]
    most = max(widths, default=0)
    return [label + " " * (most - width) for label, width in zip(labels, widths, strict=True)]


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


def input_figure(found: Trace) -> Figure:
    """Return the input as heat maps: c X, P and Z side by side in one scale, or X alone."""
    panels = [("X: each row is the embedding of a piece", found.X[0])]
    if found.parts is not None:
        P, Z = found.parts.P.detach(), found.parts.Z
        panels = [("c X: what stands there", Z[0] - P), ("P: where", P), ("Z = c X + P", Z[0])]
    # A few large numbers would make all others pale.
    most = float(torch.cat([matrix.abs() for _, matrix in panels]).quantile(0.95)) or 1.0
    count = len(found.pieces)
    figure = new_figure(13, max(3.5, min(1.5 + 0.25 * count, 16)))
    all_axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for axes, (title, matrix) in zip(all_axes, panels, strict=True):
        image = heat_map(axes, matrix.numpy(), most=most)
        axes.set_title(title)
        axes.set(xlabel="dimension", yticks=[])
    all_axes[0].set_ylabel("position")
    if count <= MAX_LABELS:
        names = [f"{j} {printable(piece)}" for j, piece in enumerate(found.pieces)]
        all_axes[0].set_yticks(range(count), names, parse_math=False)
    figure.colorbar(image, ax=list(all_axes), pad=0.015, fraction=0.03, extend="both")
    return figure


def draw(found: Trace, folder: Path) -> None:
    """Write the picture as PNG and SVG and say where."""
    with warnings.catch_warnings(), rc_context(FONT):
        # A letter that no font has is drawn as a box.
        missing = r"Glyph \d+ .*missing from|Matplotlib currently does not support"
        warnings.filterwarnings("ignore", message=missing, category=UserWarning)
        for path in save(input_figure(found), folder, "input"):
            print(f"written: {path}", file=sys.stderr)


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = OneLineParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    add = parser.add_argument
    add("run_dir", metavar="RUN_DIR", type=Path, help="a run folder with a checkpoint")
    add("sentence", metavar="SENTENCE", nargs="?", default=SENTENCE, help=f"{SENTENCE!r} if absent")
    add("--checkpoint", default="best", help="best (if absent), last, averaged, step-N or a path")
    add("--output", type=Path, metavar="FILE.md", help="write the trace as Markdown, too")
    add("--plots", type=Path, metavar="FOLDER", help="draw X, P and Z there as PNG and SVG")
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Print the trace; return 0, or a status after one line on standard error."""
    try:
        options = arguments(argv)
        translator = Translator.load(options.run_dir, options.checkpoint, device="cpu")
        found = trace(translator, options.sentence)
        stages = list(sections(found, translator.model))
        if options.output is not None:
            try:
                options.output.write_text(
                    markdown(stages, options.run_dir), encoding="utf-8", newline="\n"
                )
            except OSError as error:
                raise UserError(
                    f"--output {options.output}: cannot be written ({error.strerror})"
                ) from error
        print(plain(stages), end="")
        if options.plots is not None:
            draw(found, options.plots)
    except UserError as error:
        print(f"trace: {error}", file=sys.stderr)
        return error.status
    return 0


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(main())
