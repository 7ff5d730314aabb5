"""Words of a line by the rules of Moses, and many lines shared among processes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice
from types import TracebackType
from typing import Any, Self

from rnnsearch.subwords import clean, encodable, normalize

# Lines that one process splits before others are started: they take most of a second to start.
_ALONE = 10_000
_CHUNK_LINES = 100
_MAX_PROCESSES = 16
# A line for every rule: abbreviations, numbers, apostrophes, dots, symbols, other scripts.
_PROBE = (
    "Mr. Fox paid $1,500.75 (incl. 5 % tax), i.e. No. 7... on 3. May, e.g. at 10.30 p.m.",
    "L'eau qu'on n'a pas, c.-à-d. M. Petit l'a bue ; aujourd'hui « non » ? Oui !",
    "She's the Joneses' dog; 'tis well-known - don't: \"it\" [or & <so>] 90's rock 'n' roll.",
    "naïve e\u0301tude ½ ﬁn … 猫が好き。 ภาษา हिन्दी 한국어 🙂 a/b x_y @me #tag ~ ^ ` \\ | {z}",
)


@cache
def _splitter(language: str) -> Callable[[str], list[str]]:
    from sacremoses import MosesTokenizer

    moses = MosesTokenizer(lang=language)
    # The same answers as its own two methods, which build sets of thousands of letters for every
    # full stop: two minutes for a line of 100,000 characters such as "a.b. a.b. a.b. ...".
    lower, letters = frozenset(moses.IsLower), frozenset(moses.IsAlpha)
    moses.islower = lower.issuperset
    moses.isanyalpha = lambda text: not letters.isdisjoint(text)
    return partial(moses.tokenize, escape=False)


@cache
def _joiner(language: str) -> Callable[[Sequence[str]], str]:
    from sacremoses import MosesDetokenizer

    return partial(MosesDetokenizer(lang=language).detokenize, unescape=False)


def split_words(line: str, language: str) -> list[str]:
    """Return the words of a line, normalised as for subwords; none if and only if it is blank.

    Args:
        line: text without a line end.
        language: two letters, such as `en`; it decides about apostrophes and abbreviations.
    """
    text = normalize(line)
    # Moses drops NUL and U+0085, but a line of nothing else is not blank to any tokenizer.
    return _splitter(language)(text) or text.split(" ") if text else []


def join_words(words: Sequence[str], language: str) -> str:
    """Return the text of words, on one line and without marks."""
    shown = [clean(encodable(word)) for word in words]
    try:
        return _joiner(language)(shown)
    except TypeError:
        # The Czech rules for dashes (`e-mail`) of sacremoses 0.2.0 end in this error.
        return " ".join(" ".join(shown).split())


@cache
def behaviour(language: str) -> str:
    """Return a hash of how lines of a language are split: another release may do it otherwise."""
    words = [split_words(line, language) for line in _PROBE]
    return hashlib.sha256(json.dumps([language, words]).encode()).hexdigest()


class Workers:
    """Processes that split lines beside this one, started once there are many lines.

    Used as a context, at whose end the processes end. Without it, with one core, or when a
    process cannot be started or dies, this process does the work. The words are the same.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._limit = 0
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        cores = _cores()
        self._limit = min(cores, _MAX_PROCESSES) if cores > 1 else 0
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()

    def split(self, lines: Iterable[str], language: str) -> Iterator[list[str]]:
        """Yield the words of each line, in order."""
        rest = iter(lines)
        idle = deque(self._processes)
        asked: deque[tuple[subprocess.Popen[bytes], list[str]]] = deque()
        try:
            while chunk := list(islice(rest, _CHUNK_LINES)):
                self._seen += len(chunk)
                if self._seen > _ALONE and self._limit and not self._processes:
                    self._start()
                    idle.extend(self._processes)
                # One question at a time to each: with two, both ends could wait to write.
                while asked and not (idle and self._processes):
                    process, earlier = asked.popleft()
                    yield from self._answer(process, earlier, language)
                    idle.append(process)
                if self._processes:
                    asked.append((idle.popleft(), chunk))
                    self._ask(*asked[-1], language)
                else:
                    yield from (split_words(line, language) for line in chunk)
            while asked:
                yield from self._answer(*asked.popleft(), language)
        finally:
            if asked:
                self._end()

    def _start(self) -> None:
        # -P: a file in the folder where the user stands must not take the place of a module.
        command = [sys.executable, "-P", "-c", "from rnnsearch.moses import serve; serve()"]
        pipe = subprocess.PIPE
        try:
            for _ in range(self._limit):
                self._processes.append(
                    subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
                )
        except OSError:
            self._end()

    def _ask(self, process: subprocess.Popen[bytes], lines: list[str], language: str) -> None:
        try:
            _send(process.stdin, [language, lines])
        except (OSError, ValueError):
            self._end()

    def _answer(
        self, process: subprocess.Popen[bytes], lines: list[str], language: str
    ) -> list[list[str]]:
        try:
            words: list[list[str]] = json.loads(process.stdout.readline())  # type: ignore[union-attr]
        except (OSError, ValueError):
            # It has died, or another has, and all were ended.
            self._end()
            return [split_words(line, language) for line in lines]
        return words

    def _end(self) -> None:
        """End the processes for good; what they were asked is answered here."""
        self._limit = 0
        for process in self._processes:
            process.kill()
            process.communicate()
        self._processes = []


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _send(stream: Any, value: Any) -> None:
    # JSON escapes line ends and half surrogate pairs, so that a message is a line of ASCII.
    stream.write(json.dumps(value).encode() + b"\n")
    stream.flush()


def serve() -> None:
    """Split the lines that come on standard input, until it ends: what a process of Workers does.

    A message is a line of JSON: language and lines; the answer is the words of each line.
    """
    # Ctrl-C is for the process that asks, which may still want its answers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for message in sys.stdin.buffer:
        language, lines = json.loads(message)
        _send(sys.stdout.buffer, [split_words(line, language) for line in lines])
