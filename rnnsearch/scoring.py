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
    attention: Callable[[int, NDArray[np.float32]], object] | None = None,
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
        attention: called with the number of each pair and its attention weights (T, S + 1), without
            the row of the end mark; pairs come in any order.
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
            log_p, alpha = force(ensemble, batch.to(device))
            scores[chosen] = log_p.double().sum(1).cpu().numpy()
            if attention is not None:
                weights = alpha.float().cpu().numpy()
                for row, i in enumerate(chosen):
                    attention(i, weights[row, : len(targets[i]), : len(sources[i]) + 1])
            if progress is not None:
                progress(len(chosen))
    finally:
        for model, was_training in zip(ensemble, were_training, strict=True):
            model.train(was_training)
    return scores


def force(
    models: Sequence[TranslationModel], batch: Batch
) -> tuple[Float[Tensor, "B T"], Float[Tensor, "B T S"]]:
    """Return log p of each target word (0 at padding) and the attention weights.

    Of an ensemble these are the logarithm of the mean probability, and the mean of the weights of
    the models that have attention; what comes of none of them means nothing.
    """
    found = [model.log_probabilities(batch) for model in models]
    if len(found) == 1:
        return found[0]
    # At padding every model says 0, and so does the mean.
    log_p = torch.stack([log_p for log_p, _ in found]).logsumexp(0) - math.log(len(found))
    alphas = [alpha for model, (_, alpha) in zip(models, found, strict=True) if model.attends]
    return log_p, torch.stack(alphas or [alpha for _, alpha in found]).mean(0)
