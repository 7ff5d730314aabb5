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
from pathlib import Path

import torch
from matplotlib import rc_context
from matplotlib.figure import Figure
from teaching.pictures import FONT, OneLineParser, heat_map, new_figure, save
from teaching.stages import Step, Trace, markdown, plain, sections

from rnnsearch.batches import collate_sources
from rnnsearch.encoder import InputEncoder
from rnnsearch.errors import UserError, printable
from rnnsearch.figures import quiet_glyphs
from rnnsearch.search import prepared, search
from rnnsearch.text import BOS, EOS
from rnnsearch.translation import END_MARK
from rnnsearch.translator import Translator

SENTENCE = "The children are listening to music."
STEPS = 6
MAX_LABELS = 60  # rows of a picture that are still named


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
    with quiet_glyphs(), rc_context(FONT):
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
