"""Write the controlled English-French corpus: text, translation and gold word alignment.

Without arguments it writes the committed files of data/ again, byte for byte:

    python scripts/make_corpus.py
    python scripts/make_corpus.py --pairs 1000000 --output /tmp/corpus

The grammar stands in scripts/corpus/. Sentences are written as they are made; only eight bytes for
each one are kept, to tell whether it came before.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from corpus.phrase import Pair
from corpus.sentences import sentences

DATA = Path(__file__).resolve().parent.parent / "data"
SUFFIXES = ("en", "fr", "align")
# Sentences in a row that were all known before: then the grammar has no more to give.
PATIENCE = 20_000


class ExhaustedError(Exception):
    """There are not as many different sentences as were asked for."""


class Splits:
    """Draws the splits from one stream and keeps them apart.

    A training pair has an English side that did not come before. A held-out pair is new on both
    sides, and every word of it, as it stands between blanks, occurs in the training text.
    """

    def __init__(self, seed: int, *, max_words: int) -> None:
        self._stream = sentences(seed, max_words=max_words)
        self._seen: tuple[set[bytes], set[bytes]] = (set(), set())
        self._words: tuple[set[str], set[str]] = (set(), set())

    def train(self, count: int) -> Iterator[Pair]:
        """Yield training pairs."""
        for pair in self._take(count, held_out=False):
            for words, line in zip(self._words, (pair.english, pair.french), strict=True):
                words.update(line.split(" "))
            yield pair

    def held_out(self, count: int) -> Iterator[Pair]:
        """Yield pairs for validation or test; call it after the training pairs are drawn."""
        return self._take(count, held_out=True)

    def _take(self, count: int, *, held_out: bool) -> Iterator[Pair]:
        taken = refused = 0
        while taken < count:
            pair = next(self._stream)
            if self._fits(pair, held_out=held_out):
                taken, refused = taken + 1, 0
                yield pair
            else:
                refused += 1
            if refused == PATIENCE:
                raise ExhaustedError(
                    f"only {taken} of {count} pairs found: no new sentence in {PATIENCE} tries; "
                    "ask for fewer pairs or more words"
                )

    def _fits(self, pair: Pair, *, held_out: bool) -> bool:
        lines = (pair.english, pair.french)
        digests = [hashlib.blake2b(line.encode(), digest_size=8).digest() for line in lines]
        known = [digest in seen for digest, seen in zip(digests, self._seen, strict=True)]
        if known[0] or (held_out and known[1]):
            return False
        if held_out and not all(
            words.issuperset(line.split(" "))
            for line, words in zip(lines, self._words, strict=True)
        ):
            return False
        for digest, seen in zip(digests, self._seen, strict=True):
            seen.add(digest)
        return True


def write(pairs: Iterator[Pair], folder: Path, name: str) -> None:
    """Write pairs as `name`.en, `name`.fr and `name`.align, one pair a line."""
    with ExitStack() as stack:
        files = [
            stack.enter_context(
                (folder / f"{name}.{suffix}").open("w", encoding="utf-8", newline="\n")
            )
            for suffix in SUFFIXES
        ]
        for pair in pairs:
            for file, line in zip(files, pair, strict=True):
                file.write(line + "\n")


def number(lowest: int) -> type[int]:
    """Return an argument type: a whole number not below `lowest`."""

    def parse(text: str) -> int:
        value = int(text)
        if value < lowest:
            raise argparse.ArgumentTypeError(f"{value} is too small, the least is {lowest}")
        return value

    parse.__name__ = "whole number"
    return parse  # type: ignore[return-value]


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Write the controlled English-French corpus.")
    parser.add_argument("--output", type=Path, default=DATA, help="folder to write (data/)")
    parser.add_argument("--pairs", type=number(1), default=5000, help="training pairs (5000)")
    parser.add_argument(
        "--held-out", type=number(0), default=500, help="pairs of valid and of test (500)"
    )
    parser.add_argument("--seed", type=number(0), default=1, help="another seed, other sentences")
    parser.add_argument(
        "--max-words", type=number(4), default=20, help="longest sentence, on either side (20)"
    )
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Write the files; return 0, or 1 after one line on standard error."""
    options = arguments(argv)
    splits = Splits(options.seed, max_words=options.max_words)
    try:
        options.output.mkdir(parents=True, exist_ok=True)
        write(splits.train(options.pairs), options.output, "train")
        for name in ("valid", "test"):
            write(splits.held_out(options.held_out), options.output, name)
    except (OSError, ExhaustedError) as error:
        print(f"make_corpus: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
