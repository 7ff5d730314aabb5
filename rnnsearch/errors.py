"""The one error class for users' mistakes, and the hint that names the nearest known name."""

import contextlib
import difflib
import re
from collections.abc import Iterable

_LONGEST = 2_000  # characters of a message
# Marks that turn the direction of the text that follows are among them.
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class UserError(Exception):
    """A mistake that the user can mend, told in one line.

    The message says what came, what was expected and what to do, and names the file and line or
    the configuration key. The commands print it on standard error without a traceback.

    Args:
        message: one line; line breaks and other control characters in it are escaped.
        status: exit status of the command: 2 for wrong use, 1 for a failure at work.
        own: whether of several processes that train together this one alone may have it to tell.
    """

    def __init__(self, message: str, *, status: int = 2, own: bool = False) -> None:
        # A file name may hold a line break; the promise of one line holds all the same.
        told = printable(message)
        if len(told) > _LONGEST:  # a value from a damaged file: its ends are enough
            told = f"{told[: _LONGEST // 2]} ... {told[-_LONGEST // 2 :]}"
        super().__init__(told)
        self.status = status
        self.own = own


def printable(text: str) -> str:
    """Return text in one line: what cannot be printed is escaped.

    Under an ASCII locale a file name comes as bytes, each half of a pair; it is spelt as elsewhere.
    """
    with contextlib.suppress(UnicodeError):
        text = text.encode("utf-8", "surrogateescape").decode()
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def without_controls(text: str) -> str:
    """Return text that moves no cursor and colours nothing: control characters are escaped."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the known name most like `name`, or nothing."""
    matches = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return f" (did you mean '{matches[0]}'?)" if matches else ""


class Ended(Exception):  # noqa: N818 - whoever has the error tells it
    """Another process has failed, and says so itself."""

    status = 1


class Interrupted(Exception):  # noqa: N818 - no error: it was asked for
    """The user or the system asked the command to end; what was done has been saved.

    Args:
        signal_number: SIGINT or SIGTERM.
    """

    def __init__(self, signal_number: int) -> None:
        super().__init__(f"interrupted by signal {signal_number}")
        self.status = 128 + signal_number
