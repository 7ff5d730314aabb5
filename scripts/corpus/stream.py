"""One endless stream of sentences, made in blocks that several processes can work on."""

from __future__ import annotations

import gc
import multiprocessing
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import count, islice

from .draw import Draw
from .phrase import Pair
from .sentences import long_sentences, sentences

BLOCK = 2000
# From this block on there are many sentences that a scarce one may repeat.
LATER = 20
# Blocks that wait for each process, so that none is ever idle and few are held in memory.
AHEAD = 2
# Numbers of blocks stay below this, so that no two seeds share one.
BLOCKS = 1 << 40


def block(seed: int, number: int, max_words: int) -> list[Pair]:
    """Return block `number` of the stream: it depends on nothing else."""
    pairs = sentences(Draw(seed * BLOCKS + number), max_words=max_words, many=number >= LATER)
    return list(islice(pairs, BLOCK))


def stream(seed: int, *, max_words: int, processes: int) -> Iterator[Pair]:
    """Yield pairs without end, the same ones for any number of processes; they may repeat."""
    if processes == 1:
        for number in count():
            yield from block(seed, number, max_words)
    waiting: deque[Future[list[Pair]]] = deque()
    context = multiprocessing.get_context("spawn")
    # Phrases hold no cycles, and looking for some takes a fifth of the time.
    with ProcessPoolExecutor(processes, mp_context=context, initializer=gc.disable) as pool:
        try:
            for number in count():
                waiting.append(pool.submit(block, seed, number, max_words))
                if len(waiting) > AHEAD * processes:
                    yield from waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


def long_stream(seed: int, lengths: range) -> Iterator[Pair]:
    """Yield pairs without end with about so many English words; they may repeat."""
    return long_sentences(Draw(seed * BLOCKS + BLOCKS - lengths[-1]), lengths)
