"""Lines that are longer than memory or learned positions reach, told before any work."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from rnnsearch.errors import UserError
from rnnsearch.model import TranslationModel

SHORTEN = "shorten the line, or take a model with other positions"

LONGEST = 1 << 15
"""Most pieces of a line. The weights of a pair with as many on both sides take 4 GiB."""

Lengths = Sequence[int] | NDArray[np.int32]
"""Of many millions of pairs they are an array; a list of them would take ten times the memory."""


def check_lines(lines: Sequence[str]) -> None:
    """Hold that these are lines.

    Raises:
        UserError: they are one text, or a line is no text or holds a line end.
    """
    if isinstance(lines, str):
        raise UserError("lines: expected a list of lines, came one text; write [line]")
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str):
            raise UserError(f"lines: number {number} is no text, it is of {type(line)}")
        if "\n" in line:
            raise UserError(f"lines: number {number} holds a line end; give a text as its lines")


def perhaps_too_long(lines: Sequence[str]) -> list[str]:
    """Return the lines that may have more than `LONGEST` pieces, blank ones in place of the others.

    Normalisation writes a character as 18 at most, and these have some bytes each, which are pieces
    at most; so most lines need not be split into pieces for a first look.
    """
    return [line if len(line) > LONGEST // 64 else "" for line in lines]


def check_longest(
    lengths: Lengths, *, line: str, remedy: str = "split it into sentences", first: int = 1
) -> None:
    """Hold that no line is so long that it might take the machine down.

    Args:
        lengths: pieces of each line, the end mark not counted.
        line: what a line is called, with `{}` for its number.
        remedy: what to do about a longer one.
        first: the number of the first line.

    Raises:
        UserError: names the first line that is too long.
    """
    number = _first_over(LONGEST, lengths)
    if number is not None:
        which = line.replace("{}", str(number + first))
        told = f"{which} has {lengths[number]:,} pieces; the most is {LONGEST:,}"
        raise UserError(f"{told}; {remedy}")


def check_reach(
    models: Iterable[TranslationModel], lengths: Lengths,
    *, line: str, remedy: str, first: int = 1,
) -> None:  # fmt: skip
    """Hold that memory and positions reach to the end of every source.

    Args:
        models: one model or an ensemble.
        lengths: pieces of each source, the end mark not counted.
        line: what a source is called, with `{}` for its number.
        remedy: what to do about a longer one.
        first: the number of the first source.

    Raises:
        UserError: names the first source that is too long.
    """
    check_longest(lengths, line=line, first=first)
    ends = [model.most_positions for model in models if model.most_positions is not None]
    if not ends:
        return
    most = min(ends)
    number = _first_over(most - 1, lengths)
    if number is not None:
        which = line.replace("{}", str(number + first))
        raise UserError(
            f"{which} has {lengths[number]} pieces and the end mark, but the "
            f"learned positions end at model.max_positions={most}; {remedy}"
        )


def _first_over(most: int, lengths: Lengths) -> int | None:
    over = np.flatnonzero(np.asarray(lengths) > most)
    return int(over[0]) if over.size else None
