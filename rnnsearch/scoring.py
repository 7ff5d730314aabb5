"""The log-probability of given pairs under a model or an ensemble: loss, perplexity, `scores`."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from rnnsearch.batches import Batch, collate, plan_decoding
from rnnsearch.model import TranslationModel

POSITIONS = 16 * 1024
"""Padded positions forced at once; bounds the memory that long pairs take."""


@torch.inference_mode()
def score_pairs(
    models: TranslationModel | Sequence[TranslationModel],
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    batch_sentences: int = 64,
    progress: Callable[[int], object] | None = None,
) -> NDArray[np.float64]:
    """Return log p(target, EOS | source) of each pair, natural logarithm, in the pairs' order.

    Dropout is off meanwhile. A pair without source or target pieces counts like any other.

    Args:
        models: a model, or an ensemble, which averages the probabilities of each word as the search
            does.
        sources: ids without EOS.
        targets: likewise.
        batch_sentences: pairs at once.
        progress: called with the number of pairs just finished.
    """
    ensemble = [models] if isinstance(models, TranslationModel) else list(models)
    device = ensemble[0].W_o.weight.device
    were_training = [model.training for model in ensemble]
    for model in ensemble:
        model.eval()
    lengths = [max(len(s), len(t)) + 1 for s, t in zip(sources, targets, strict=True)]
    scores = np.zeros(len(lengths))
    try:
        for chosen in plan_decoding(
            lengths, batch_sentences=batch_sentences, max_positions=POSITIONS
        ):
            batch = collate([sources[i] for i in chosen], [targets[i] for i in chosen])
            log_p = _log_probabilities(ensemble, batch.to(device))
            scores[chosen] = log_p.double().sum(1).cpu().numpy()
            if progress is not None:
                progress(len(chosen))
    finally:
        for model, was_training in zip(ensemble, were_training, strict=True):
            model.train(was_training)
    return scores


def _log_probabilities(models: Sequence[TranslationModel], batch: Batch) -> Float[Tensor, "B T"]:
    """Return log p of each target word, 0 at padding, where every model says 0."""
    log_p = [model.log_probabilities(batch)[0] for model in models]
    if len(log_p) == 1:
        return log_p[0]
    return torch.stack(log_p).logsumexp(0) - math.log(len(log_p))
