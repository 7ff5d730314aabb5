"""The log-probability of given pairs under a model: loss, perplexity and `scores`."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from rnnsearch.batches import collate, plan_decoding
from rnnsearch.model import TranslationModel

POSITIONS = 16 * 1024
"""Padded positions forced at once; bounds the memory that long pairs take."""


@torch.inference_mode()
def score_pairs(
    model: TranslationModel,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    batch_sentences: int = 64,
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float64]:
    """Return log p(target, EOS | source) of each pair, natural logarithm, in the pairs' order.

    Dropout is off meanwhile. A pair without source or target pieces counts like any other.

    Args:
        model: the model.
        sources: ids without EOS.
        targets: likewise.
        batch_sentences: pairs at once.
        progress: called with the number of pairs just finished.
    """
    device = model.W_o.weight.device
    was_training = model.training
    model.eval()
    lengths = [max(len(s), len(t)) + 1 for s, t in zip(sources, targets, strict=True)]
    scores = np.zeros(len(lengths))
    try:
        for chosen in plan_decoding(
            lengths, batch_sentences=batch_sentences, max_positions=POSITIONS
        ):
            batch = collate([sources[i] for i in chosen], [targets[i] for i in chosen])
            log_p, _ = model.log_probabilities(batch.to(device))
            scores[chosen] = log_p.double().sum(1).cpu().numpy()
            if progress is not None:
                progress(len(chosen))
    finally:
        model.train(was_training)
    return scores
