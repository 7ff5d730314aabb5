"""Write the controlled English-French corpus: text, translation and gold word alignment.

Without arguments it writes the committed files of data/ again, byte for byte:

    python scripts/make_corpus.py
    python scripts/make_corpus.py --pairs 1000000 --output /tmp/corpus
    python scripts/make_corpus.py --pairs 50000 --share negation=0.5 --output /tmp/negated

The grammar stands in scripts/corpus/. Sentences are written as they are made; only a hash of each
side is kept, to tell whether it came before.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from argument_types import whole
from corpus import phenomena
from corpus.phrase import Pair
from corpus.stream import BLOCK, long_stream, stream

DATA = Path(__file__).resolve().parent.parent / "data"
SUFFIXES = ("en", "fr", "align")
# Sentences in a row that did not fit: then the grammar has no more to give.
PATIENCE = 20_000
# Below so many pairs, further processes cost more to start than they bring.
FEW = 10 * BLOCK
BIN = 10


# The options that change what is written.
TEXT = ("pairs", "held_out", "by_length", "longest", "max_words", "seed", "share")


class ExhaustedError(Exception):
    """There are not as many different sentences as were asked for."""


class Splits:
    """Draws the splits one after the other and keeps them apart.

    A training pair has an English side that did not come before. A held-out pair is new on both
    sides, and every word of it, as it stands between blanks, occurs in the training text.
    """

    def __init__(
        self, seed: int, *, max_words: int, processes: int, shares: Mapping[str, float]
    ) -> None:
        self._seed, self._max_words = seed, max_words
        self._stream = stream(seed, max_words=max_words, processes=processes)
        self._shares = shares
        # The hashes of 64 bits stand for the lines, of which there may be millions.
        self._seen: tuple[set[int], set[int]] = (set(), set())
        self._words: tuple[set[str], set[str]] = (set(), set())

    def train(self, count: int) -> Iterator[Pair]:
        """Yield training pairs."""
        quota = phenomena.Quota(self._shares)
        for pair in self._take(self._stream, count, lambda pair: self._new(pair, quota)):
            self._words[0].update(pair.english.split(" "))
            self._words[1].update(pair.french.split(" "))
            yield pair

    def held_out(self, count: int) -> Iterator[Pair]:
        """Yield pairs for validation or test; call it after the training pairs are drawn."""
        fits = self._held_out(range(1, self._max_words + 1), phenomena.Quota(self._shares))
        return self._take(self._stream, count, fits)

    def by_length(self, count: int, longest: int) -> Iterator[Pair]:
        """Yield `count` pairs for each ten English words up to `longest`, held out as well."""
        for first in range(1, longest, BIN):
            lengths = range(first, min(first + BIN, longest + 1))
            # Sentences of every type as far as they go, then chains of clauses.
            usual = first <= self._max_words
            pairs = self._stream if usual else long_stream(self._seed, lengths)
            yield from self._take(pairs, count, self._held_out(lengths, phenomena.Quota({})))

    def _take(
        self, pairs: Iterator[Pair], count: int, fits: Callable[[Pair], bool]
    ) -> Iterator[Pair]:
        taken = refused = 0
        while taken < count:
            pair = next(pairs)
            if fits(pair):
                taken, refused = taken + 1, 0
                self._seen[0].add(hash(pair.english))
                self._seen[1].add(hash(pair.french))
                yield pair
            else:
                refused += 1
            if refused == PATIENCE:
                raise ExhaustedError(
                    f"only {taken} of {count} pairs found: no fitting sentence in {PATIENCE} "
                    "tries; ask for fewer pairs, other lengths, other shares or, since every "
                    "word of a held-out pair occurs in training, for more --pairs"
                )

    def _new(self, pair: Pair, quota: phenomena.Quota) -> bool:
        return hash(pair.english) not in self._seen[0] and quota.takes(pair)

    def _held_out(self, lengths: range, quota: phenomena.Quota) -> Callable[[Pair], bool]:
        """Return what tells whether a pair of these English lengths can be held out."""

        def fits(pair: Pair) -> bool:
            if 1 + pair.english.count(" ") not in lengths:
                return False
            if hash(pair.english) in self._seen[0] or hash(pair.french) in self._seen[1]:
                return False
            sides = zip(self._words, pair[:2], strict=True)
            known = all(words.issuperset(line.split(" ")) for words, line in sides)
            return known and quota.takes(pair)

        return fits


def write(pairs: Iterator[Pair], folder: Path, name: str) -> Iterator[Pair]:
    """Write pairs as `name`.en, `name`.fr and `name`.align, one pair a line, and pass them on."""
    with ExitStack() as stack:
        files = [
            stack.enter_context(
                (folder / f"{name}.{suffix}").open("w", encoding="utf-8", newline="\n")
            )
            for suffix in SUFFIXES
        ]
        english, french, alignment = files
        for pair in pairs:
            english.write(f"{pair.english}\n")
            french.write(f"{pair.french}\n")
            alignment.write(f"{pair.alignment}\n")
            yield pair


def share(text: str) -> tuple[str, float]:
    """Return the phenomenon and the share of an argument NAME=SHARE."""
    name, _, number = text.rpartition("=")
    if name not in phenomena.PHENOMENA:
        near = difflib.get_close_matches(name, phenomena.PHENOMENA, 1, 0)
        raise argparse.ArgumentTypeError(
            f"there is no phenomenon {name!r}; is it {near[0]!r}? --help names all"
        )
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{name}={number}: a share is a number from 0 to 1")
    return name, value


def arguments(argv: list[str] | None) -> argparse.Namespace:
    names = "\n".join(
        f"  {name}: {english} - {french}" for name, (english, french) in phenomena.PHENOMENA.items()
    )
    parser = argparse.ArgumentParser(
        description="Write the controlled English-French corpus.",
        epilog=f"Phenomena for --share:\n{names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--output", type=Path, help="folder to write (data/, which has no other settings)")
    add("--pairs", type=whole(1), default=20_000, help="training pairs (20000)")
    add("--held-out", type=whole(0), default=1000, help="pairs of valid and of test (1000)")
    add("--by-length", type=whole(0), default=200,
        help="pairs of test_length for each ten English words (200)")  # fmt: skip
    add("--longest", type=whole(BIN), default=60, help="most English words in test_length (60)")
    add("--max-words", type=whole(4), default=20,
        help="longest sentence of train, valid and test, on either side (20)")  # fmt: skip
    add("--seed", type=whole(0), default=1, help="another seed, other sentences")
    add("--share", type=share, action="append", default=[], metavar="NAME=SHARE",
        help="hold the pairs with a phenomenon to a share, 0 to 1; may be repeated")  # fmt: skip
    add("--processes", type=whole(1), default=None, help="by default one for each core")
    add("--count", action="store_true", help="print how often each phenomenon occurs")
    options = parser.parse_args(argv)
    if options.output is None:
        own = [name for name in TEXT if getattr(options, name) != parser.get_default(name)]
        if own:
            given = ", ".join("--" + name.replace("_", "-") for name in own)
            parser.error(f"{given} would write another corpus over {DATA}; add --output FOLDER")
        options.output = DATA
    return options


def main(argv: list[str] | None = None) -> int:
    """Write the files; return 0, or 1 after one line on standard error."""
    options = arguments(argv)
    few = options.pairs < FEW and not options.share
    splits = Splits(
        options.seed,
        max_words=options.max_words,
        processes=options.processes or (1 if few else os.cpu_count() or 1),
        shares=dict(options.share),
    )
    sets: dict[str, Callable[[], Iterator[Pair]]] = {
        "train": lambda: splits.train(options.pairs),
        "valid": lambda: splits.held_out(options.held_out),
        "test": lambda: splits.held_out(options.held_out),
        "test_length": lambda: splits.by_length(options.by_length, options.longest),
    }
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        for name, draw in sets.items():
            pairs = write(draw(), options.output, name)
            if name == "train" and options.count:
                print(phenomena.table(pairs))
            else:
                for _ in pairs:
                    pass
    except (OSError, ExhaustedError) as error:
        print(f"make_corpus: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    gc.disable()  # nothing here makes cycles, and looking for some walks over millions of hashes
    sys.exit(main())
