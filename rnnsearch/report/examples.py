"""Which sentences of a test set are shown."""

import hashlib
import random
from collections.abc import Iterable, Sequence

EACH = 10
"""Sentences of a kind: best, worst and random ones."""


def sentence_chrf(hypotheses: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Return chrF of each sentence, 0 to 100; of a blank one with a blank reference 100.

    Args:
        hypotheses: N lines.
        references: lists of N lines.
    """
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF()
    scores = []
    for hypothesis, *several in zip(hypotheses, *references, strict=True):
        blank = not hypothesis.strip() and not any(line.strip() for line in several)
        scores.append(100.0 if blank else float(metric.sentence_score(hypothesis, several).score))
    return scores


def best_worst_random(
    scores: Sequence[float], sources: Sequence[str], *, each: int = EACH
) -> list[list[int]]:
    """Return the numbers of the best, the worst and of random sentences, from 0, none twice.

    Small sets are shared out, a third for each kind. Sentences with a blank source come into it
    only where there are no others: nothing was translated there. Of equal scores the earlier
    sentence comes first. The random ones stand in the order of the test set.

    Args:
        scores: of the sentences, more is better.
        sources: of the sentences; they alone decide on the order in which random ones are drawn.
        each: sentences of a kind at most.
    """
    candidates = _candidates(sources)
    count = len(candidates)
    ranked = sorted(candidates, key=lambda i: -scores[i])
    best = ranked[: min(each, -(-count // 3))]
    reverse = sorted(ranked[len(best) :], key=lambda i: scores[i])
    worst = reverse[: min(each, -(-len(reverse) // 2))]
    return [best, worst, _drawn(sources, without={*best, *worst}, most=each)]


def furthest_apart(
    scores: Sequence[Sequence[float]], sources: Sequence[str], *, each: int = EACH
) -> list[list[int]]:
    """Return where the others beat the first system most, where it beats them, and random ones.

    Of several others the mean of their scores counts. No sentence comes twice; one on which they
    are equal comes among the random ones alone.

    Args:
        scores: of each system, the scores of the sentences.
        sources: as `best_worst_random` takes them.
        each: sentences of a kind at most.
    """
    first, *others = scores
    gains = [sum(one[i] for one in others) / len(others) - mine for i, mine in enumerate(first)]
    candidates = _candidates(sources)
    others_ahead = sorted((i for i in candidates if gains[i] > 0), key=lambda i: -gains[i])[:each]
    first_ahead = sorted((i for i in candidates if gains[i] < 0), key=lambda i: gains[i])[:each]
    shown = {*others_ahead, *first_ahead}
    return [others_ahead, first_ahead, _drawn(sources, without=shown, most=each)]


def _candidates(sources: Sequence[str]) -> list[int]:
    """Return the sentences that have a source, or all if none has."""
    return [i for i, source in enumerate(sources) if source.strip()] or [*range(len(sources))]


def _drawn(sources: Sequence[str], *, without: Iterable[int], most: int) -> list[int]:
    """Return random sentences; what a model makes of them has no say in the order of the draw."""
    order = _candidates(sources)
    digest = hashlib.sha256("\n".join(sources).encode("utf-8", "surrogatepass"))
    random.Random(digest.digest()).shuffle(order)
    taken = set(without)
    return sorted([i for i in order if i not in taken][:most])
