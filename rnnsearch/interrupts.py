"""SIGTERM and Ctrl-C as a request that the training answers at the next safe moment."""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from rnnsearch.errors import Interrupted


class Interrupts:
    """Remembers a signal until `check` is called; a second Ctrl-C ends at once."""

    def __init__(self) -> None:
        self.received: int | None = None

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        """Catch both signals within; needs the main thread."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(number, self._remember) for number in numbers]
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None and number == signal.SIGINT:
            signal.default_int_handler(number, frame)
        self.received = number

    def check(self) -> None:
        """Raise if a signal came.

        Raises:
            Interrupted: with the signal's number.
        """
        if self.received is not None:
            raise Interrupted(self.received)
