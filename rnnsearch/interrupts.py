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
        launched: a launcher has started this process. It may pass on a signal that has come here as
            well, so a second one changes nothing; and when it is killed, that counts as SIGTERM.
    """

    def __init__(self, *, launched: bool = False) -> None:
        self._received: int | None = None
        self._launcher = os.getppid() if launched else None

    @property
    def received(self) -> int | None:
        """The signal that came, or None."""
        if self._received is None and self._launcher not in (None, os.getppid()):
            return signal.SIGTERM
        return self._received

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
        if self._received is not None and number == signal.SIGINT and self._launcher is None:
            signal.default_int_handler(number, frame)
        self._received = number

    def check(self) -> None:
        """Raise if a signal came.

        Raises:
            Interrupted: with the signal's number.
        """
        received = self.received
        if received is not None:
            raise Interrupted(received)
