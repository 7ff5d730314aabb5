"""What a run tells: progress bars, `metrics.jsonl` and `train.log`.

Bars and lines go to standard error, so that standard output carries results only.
"""

import contextlib
import json
import math
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TextIO

from tqdm import tqdm

from rnnsearch.boards import Board
from rnnsearch.errors import UserError, without_controls
from rnnsearch.wholefiles import write_text, writing

PLAIN_SECONDS = 60.0
"""Between the lines that stand for a bar where there is no terminal."""


class RunLog:
    """Writes a run's records; used as a context, so that the bar is closed on every way out.

    Args:
        run_dir: the run folder.
        silent: tell nothing; for all but the first of several processes.
    """

    def __init__(self, run_dir: Path, *, silent: bool = False) -> None:
        self.silent = silent
        self.metrics = run_dir / "metrics.jsonl"
        self.log = run_dir / "train.log"
        self.bar: tqdm[Any] | None = None
        self.board: Board | None = None  # takes the records as well
        self._begun = self._told = time.monotonic()
        self._first = 0.0  # the share of the budget that was used up before

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()
        if self.board is not None:  # one that fails as well hides no other error
            with contextlib.suppress(*([] if kind is None else [UserError])):
                self.board.close()

    def say(self, message: str) -> None:
        """Write one line to `train.log` and standard error.

        Control characters are escaped: a sample of the data is told here, and must not move the
        cursor of whoever looks.
        """
        if self.silent:
            return
        message = without_controls(message)
        with writing(self.log), self._open_log() as log:
            log.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {message}\n")
        tqdm.write(message, file=sys.stderr)

    def _open_log(self) -> TextIO:
        # A path that the locale cannot spell comes as half surrogates; its bytes are kept.
        return self.log.open("a", encoding="utf-8", errors="surrogateescape", newline="\n")

    def warn(self, message: str) -> None:
        """Write one line marked as a warning."""
        self.say(f"warning: {message}")

    def record(self, fields: Mapping[str, Any]) -> None:
        """Append one line to `metrics.jsonl`; what is not finite is written as null."""
        if self.silent:
            return
        plain = {
            key: None if isinstance(value, float) and not math.isfinite(value) else value
            for key, value in fields.items()
        }
        with writing(self.metrics), self.metrics.open("a", encoding="utf-8") as metrics:
            metrics.write(json.dumps(plain) + "\n")
        if self.board is not None:
            self.board.add(fields)

    def sample(self, source: str, hypothesis: str, *, update: int) -> None:
        """Show how a line is translated at present."""
        self.say(f"  {source} -> {hypothesis}")
        if self.board is not None:
            self.board.show(f"{source} -> {hypothesis}", update)

    def rewind(self, update: int, *, validated: int) -> None:
        """Drop the records of what a killed run did and lost.

        Args:
            update: the update that the training goes on from.
            validated: the update of the last validation that is not lost.
        """
        if self.silent or not self.metrics.exists():
            return
        kept = []
        for line in self.metrics.read_bytes().split(b"\n"):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):  # blank, cut short by a kill, or nested too deep
                continue
            if not isinstance(record, dict):
                continue
            last = validated if record.get("kind") == "validation" else update
            at = record.get("update", 0)
            if isinstance(at, int) and at <= last:
                kept.append(json.dumps(record))
        write_text(self.metrics, "".join(line + "\n" for line in kept))

    def start_bar(self, share: float) -> None:
        """Show the training bar from `share` of the budget on; without a terminal, lines."""
        self._begun = self._told = time.monotonic()
        self._first = share
        self.bar = tqdm(
            total=1.0, initial=share, desc="training", dynamic_ncols=True, leave=False,
            disable=self.silent or not sys.stderr.isatty(), file=sys.stderr,
            bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}",
        )  # fmt: skip

    def stage(self, what: str) -> "tqdm[Any]":
        """Return a context that shows what is being done; nothing without a terminal."""
        return tqdm(
            desc=what, bar_format="{desc} ...", dynamic_ncols=True, file=sys.stderr, leave=False,
            disable=self.silent or not sys.stderr.isatty(),
        )  # fmt: skip

    def progress_bar(self, total: int, *, description: str, unit: str) -> "tqdm[Any]":
        """Return a bar as `progress_bar` does, silent where the log is."""
        return progress_bar(total, description=description, unit=unit, silent=self.silent)

    def advance(self, share: float, postfix: Mapping[str, str]) -> None:
        """Move the training bar to `share` of the budget, with figures behind it.

        Without a terminal a line tells the same now and then.
        """
        if self.bar is None or self.silent:
            return
        if not self.bar.disable:
            self.bar.set_postfix(postfix, refresh=False)
            self.bar.update(share - self.bar.n)
            return
        now = time.monotonic()
        if now - self._told < PLAIN_SECONDS or share <= self._first:
            return
        self._told = now
        left = (now - self._begun) / (share - self._first) * (1 - share)
        figures = ", ".join(f"{name} {value}" for name, value in postfix.items())
        remaining = tqdm.format_interval(max(left, 0))
        print(f"training: {share:.0%}, {figures}, {remaining} left", file=sys.stderr, flush=True)


def progress_bar(
    total: int | None, *, description: str, unit: str, silent: bool = False
) -> "tqdm[Any]":
    """Return a bar on standard error with speed and time left, silent without a terminal."""
    return tqdm(
        total=total, desc=description, unit=unit, dynamic_ncols=True, file=sys.stderr,
        disable=silent or not sys.stderr.isatty(), leave=False,
    )  # fmt: skip


@dataclass
class Meter:
    """Sums of the updates since the last record.

    Attributes:
        nll: sum of -log p, nats.
        tokens: target tokens, EOS included.
        seconds: time spent in updates.
    """

    nll: float = 0.0
    tokens: int = 0
    seconds: float = 0.0

    def reset(self) -> None:
        """Start anew."""
        self.nll, self.tokens, self.seconds = 0.0, 0, 0.0

    def add(self, nll: float, tokens: int, seconds: float) -> None:
        """Count one update."""
        self.nll += nll
        self.tokens += tokens
        self.seconds += seconds

    @property
    def loss(self) -> float:
        """Nats a target token."""
        return self.nll / max(self.tokens, 1)

    @property
    def tokens_per_second(self) -> float:
        """Target tokens a second of update time."""
        return self.tokens / max(self.seconds, 1e-9)
