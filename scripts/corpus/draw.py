"""Random choices that are the same on every version of Python."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A seeded source of choices.

    Only `random.Random.random` is used: its sequence is the one that Python promises to keep.
    """

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random
        self._used: Counter[object] = Counter()

    def chance(self, probability: float) -> bool:
        """Return True with the probability given."""
        return self._random() < probability

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items, all equally likely."""
        return items[int(self._random() * len(items))]

    def weighted(self, weights: Mapping[T, int]) -> T:
        """Return a key with a probability in proportion to its weight."""
        point = self._random() * sum(weights.values())
        for item, weight in weights.items():
            point -= weight
            if point < 0:
                return item
        return next(reversed(list(weights)))

    def even(self, items: Sequence[T]) -> T:
        """Return the less used of two random items, so that rare words catch up."""
        number, used = len(items), self._used
        first = items[int(self._random() * number)]
        second = items[int(self._random() * number)]
        item = second if used[second] < used[first] else first
        used[item] += 1
        return item
