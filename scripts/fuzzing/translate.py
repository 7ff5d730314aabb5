"""Hostile lines through the search, from Python and from the command line."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from fuzzing import hostile
from fuzzing.outcomes import Case, command, command_refused, hold, refused
from fuzzing.readers import lines_of
from fuzzing.roundtrip import check_shown
from rnnsearch import Translator
from rnnsearch.errors import UserError
from rnnsearch.translator import Translation

RUNS = ("bpe", "bytes", "word", "learned")
CHECKPOINTS = ("best", "last", "averaged")
_LINKS = re.compile(r"([0-9]+-[0-9]+( [0-9]+-[0-9]+)*)?")


class Translate:
    """Translators of the small runs.

    Args:
        folder: of the whole work.
    """

    def __init__(self, folder: Path) -> None:
        self.runs = {name: folder / "runs" / name for name in RUNS}
        self.loaded = {
            name: Translator.load(path, replace_unk=name == "word", device="cpu")
            for name, path in self.runs.items()
        }
        self.kinds: tuple[Callable[[Case], bool], ...] = (
            *(self.lines, self.lines, self.alone, self.files),
        )

    def run(self, case: Case) -> bool:
        """Run a case of one of the kinds."""
        kind = case.chance.choice(self.kinds)
        case.note(kind.__name__)
        return kind(case)

    def _translator(self, case: Case) -> Translator:
        """Return a translator that searches in some way."""
        chance = case.chance
        name = chance.choice(RUNS)
        translator = self.loaded[name]
        translator.options = dataclasses.replace(
            translator.options, beam_size=chance.choice((1, 2, 3, 7)),
            length_penalty=chance.choice((0.0, 1.0, 50.0)), ban_unk=chance.random() < 0.5,
        )  # fmt: skip
        translator.batch_sentences = chance.choice((1, 2, 64))
        case.note(f"{name} {translator.options} {translator.batch_sentences}")
        return translator

    def _lines(self, case: Case) -> list[str]:
        chance = case.chance
        return [
            hostile.line(chance, most=chance.choice((30, 100, 100, 400)))
            for _ in range(chance.choice((0, 1, 2, 5)))
        ]

    def lines(self, case: Case) -> bool:
        """Lines through Python."""
        translator, lines = self._translator(case), self._lines(case)
        if case.chance.random() < 0.05:
            lines.append("a\nb")
        case.note(ascii(lines))
        n = case.chance.choice((0, 1, 1, 2, 3, 8))
        alignments = case.chance.random() < 0.7
        try:
            found = translator.translate_n_best(lines, n, alignments=alignments)
        except UserError as error:
            return refused(error, case, ["n_best", "lines: number", "line "])
        hold(len(found) == len(lines), "another number of results than of lines")
        for line, candidates in zip(lines, found, strict=True):
            hold(1 <= len(candidates) <= max(n, 1), f"{len(candidates)} of {n} candidates")
            texts = [one.text for one in candidates]
            hold(len(set(texts)) == len(texts), "a text twice")
            scores = [one.score for one in candidates]
            hold(all(map(math.isfinite, scores)), f"scores {scores}")
            hold(scores == sorted(scores, reverse=True), "candidates that are not sorted")
            for one in candidates:
                check_shown(one.text)
                self._check_weights(one, aligned=alignments and translator.attends)
            if not translator.source_tokenizer.encode(line):
                hold(texts == [""], "a blank line that is translated")
        return True

    @staticmethod
    def _check_weights(one: Translation, *, aligned: bool) -> None:
        if not one.source_pieces or not aligned:
            hold(one.alignment is None, "weights that nobody asked for")
            return
        hold(
            one.alignment.shape == (len(one.target_pieces), len(one.source_pieces)),
            f"weights of {one.alignment.shape}",
        )
        sums = one.alignment.sum(axis=1)
        hold(np.allclose(sums, 1, atol=1e-3), f"weights that add up to {sums[:5]}")

    def alone(self, case: Case) -> bool:
        """Lines together and one by one: the same text, as the README says."""
        translator, lines = self._translator(case), self._lines(case)
        case.note(ascii(lines))
        try:
            together = translator.translate(lines, alignments=False)
            single = [translator.translate([line], alignments=False)[0] for line in lines]
        except UserError as error:
            return refused(error, case, ["line "])
        hold([one.text for one in together] == [one.text for one in single], "neighbours count")
        near = [
            math.isclose(a.score, b.score, abs_tol=1e-4)
            for a, b in zip(together, single, strict=True)
        ]
        hold(all(near), "scores that depend on neighbours")
        return True

    def files(self, case: Case) -> bool:
        """A file through the command."""
        chance = case.chance
        run = self.runs[chance.choice(RUNS)]
        source, output = case.place / "a.en", case.place / "out.fr"
        source.write_bytes(hostile.text(chance, lines=6))
        words = [f"run_dir={run}", f"input={source}", f"output={output}"]
        words += chance.choice(([], [f"checkpoint={chance.choice(CHECKPOINTS)}"]))
        n_best = chance.choice((1, 1, 2))
        form = chance.choice((None, "pharaoh", "json"))
        if n_best > 1:
            words.append(f"n_best={n_best}")
        if form is not None:
            words += [f"alignments={case.place}/links", f"alignment_format={form}"]
        if run.name == "word":
            words += chance.choice(([], ["replace_unk=true"], ["decode.ban_unk=true"]))
        lines = lines_of(source.read_bytes())
        ended = command(case, "translate", *words)
        if ended.status:
            hold(
                lines is None or b"max_positions" in ended.err,
                f"whole lines refused: {ended.err!r}",
            )
            hold(not output.exists(), "an output in spite of the refusal")
            return command_refused(ended, case, [source, "line "])
        hold(lines is not None, "lines that are no UTF-8 were translated")
        hold(ended.out == b"", "text on standard output")
        rows = output.read_bytes().decode().split("\n")
        hold(rows.pop() == "", "a last line without an end")
        for row in rows:
            check_shown(row)
        if n_best == 1:
            hold(len(rows) == len(lines), f"{len(rows)} rows for {len(lines)} lines")
        else:
            numbers = [int(row.split(" ||| ")[0]) for row in rows]
            hold(sorted({*numbers}) == [*range(1, len(lines) + 1)], "a line without a row")
        if form is not None:
            _check_links(case.place / "links", len(lines), form)
        return True


def _check_links(path: Path, count: int, form: str) -> None:
    rows = path.read_bytes().decode().split("\n")
    hold(rows.pop() == "" and len(rows) == count, f"{len(rows)} rows of links for {count} lines")
    for row in rows:
        if form == "pharaoh":
            hold(_LINKS.fullmatch(row), f"links {row!r}")
            continue
        record = json.loads(row)
        weights = record["weights"]
        hold(len(weights) in (0, len(record["target_pieces"])), "weights of another number")
        hold(all(len(one) == len(record["source_pieces"]) for one in weights), "weights of a row")
