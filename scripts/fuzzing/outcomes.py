"""What a case may come to: it works, it is refused in one line, or it is a finding."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple, Protocol

from rnnsearch.cli.main import main
from rnnsearch.errors import UserError

LONGEST_MESSAGE = 4000


class Wrong(Exception):  # noqa: N818 - the outcome of a case, not an error of the program
    """What the program should not have done, in one line."""


class Case(NamedTuple):
    """One case.

    Attributes:
        chance: decides everything about it.
        place: an empty folder of its own.
        note: takes lines that tell what was done.
    """

    chance: random.Random
    place: Path
    note: Callable[[str], None]


class Target(Protocol):
    """Something to throw cases at."""

    def run(self, case: Case) -> bool:
        """Run a case; return whether the program worked, or else refused it as it should.

        Raises:
            Wrong: it did neither; whatever else is raised is a finding too.
        """


def hold(condition: object, message: str) -> None:
    """Raise `Wrong` unless `condition` holds."""
    if not condition:
        raise Wrong(message)


def check_line(line: str, names: Iterable[object]) -> None:
    """Hold that a message is one line, and that it names one of `names`."""
    hold(line.strip(), "an empty message")
    hold(line.isprintable(), f"a message that is not one printable line: {line!r}")
    hold(len(line) <= LONGEST_MESSAGE, f"a message of {len(line)} characters: {line[:200]!r}")
    hold(any(str(name) in line for name in names), f"a message that names nothing: {line}")


def refused(error: UserError, case: Case, names: Iterable[object]) -> bool:
    """Return False, having looked at the line with which a case was refused."""
    case.note(f"refused: {error}")
    check_line(str(error), names)
    return False


class Ended(NamedTuple):
    """How a command ended and what it wrote."""

    status: int
    out: bytes
    err: bytes


def command(case: Case, *words: str | Path, stdin: bytes | None = None) -> Ended:
    """Run a command line in this process."""
    case.note(f"rnnsearch {' '.join(map(str, words))}")
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    if stdin is not None:
        words = (*words, f"input={_file(case.place / 'stdin', stdin)}")
    with redirect_stdout(out), redirect_stderr(err):
        status = main([str(word) for word in words])
    contents = []
    for stream in (out, err):
        stream.flush()
        contents.append(stream.buffer.getvalue())  # type: ignore[attr-defined]
    return Ended(status, *contents)


def _file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def command_refused(ended: Ended, case: Case, names: Iterable[object]) -> bool:
    """Return False, having looked at the last line of a command that was refused."""
    text = ended.err.decode("utf-8", "replace")
    hold(ended.status in (1, 2), f"status {ended.status}: {text[-300:]!r}")
    hold(text.endswith("\n"), f"a message without an end: {text[-300:]!r}")
    line = text.removesuffix("\n").rpartition("\n")[2]
    case.note(f"refused, {ended.status}: {line}")
    hold(line.startswith("rnnsearch: "), f"a last line that is no message: {line!r}")
    hold("Traceback" not in text, "a traceback beside the message")
    hold("out of memory" not in line, f"memory: {line}")
    check_line(line.removeprefix("rnnsearch: "), names)
    return False
