"""SIGTERM and Ctrl-C: at once while a command starts, at the next safe moment in a training."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

from rnnsearch.errors import Interrupted


@contextlib.contextmanager
def ending_at_once(begun: Callable[[], bool]) -> Iterator[None]:
    """Let Ctrl-C end the process with status 130 until `begun` holds, and be raised from then on.

    While a command starts there is nothing to lose, and a `KeyboardInterrupt` raised in the middle
    of it does harm: libraries that are being imported take it for an error of theirs, or abort.
    Where Ctrl-C already means something else, or in another thread, all stays as it is.
    """
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, frame: FrameType | None) -> None:
        if begun():
            signal.default_int_handler(number, frame)
        with contextlib.suppress(OSError):
            os.write(2, b"rnnsearch: interrupted\n")
        os._exit(128 + number)

    signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Interrupts:
    """Remembers a signal until `check` is called; a second Ctrl-C ends at once.

    Args:
        patient: a second one changes nothing.
    """

    def __init__(self, *, patient: bool = False) -> None:
        self.received: int | None = None
        self.patient = patient

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
        if self.received is not None and number == signal.SIGINT and not self.patient:
            signal.default_int_handler(number, frame)
        self.received = number

    def check(self) -> None:
        """Raise if a signal came.

        Raises:
            Interrupted: with the signal's number.
        """
        if self.received is not None:
            raise Interrupted(self.received)
