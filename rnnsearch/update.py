"""One update of the weights. A GPU is given all of its work without being waited for.

indices ──load──> Loaded (batches on the device) ──start_update──> Started ──finish──> Update

`start_update` reads nothing from the device: what must not be applied is left out by the optimizer
itself, where the outcome is known. `finish` reads two numbers, when all work has been given out.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rnnsearch.batches import Batch, collate
from rnnsearch.graphs import BUCKET, Graphs, cuda_recorder
from rnnsearch.loss import normaliser, token_loss
from rnnsearch.optim import clip_gradients, rate_factor
from rnnsearch.products import operands
from rnnsearch.progress import share_done
from rnnsearch.run import Loaded, Run


class Started(NamedTuple):
    """An update that the device works on.

    `outcome` (2): sum of -log p of the targets, nats, and the norm of the gradient, on the device.
    """

    outcome: Tensor
    tokens: int
    learning_rate: float


class Update(NamedTuple):
    """What one update did: nats over `tokens` target tokens; `skipped` if something broke."""

    nll: float
    tokens: int
    gradient_norm: float
    learning_rate: float
    skipped: bool


def load(run: Run, indices: NDArray[np.int32]) -> Loaded:
    """Return this process's pairs of an update, which `trainer.accumulate` cuts into parts."""
    trainer = run.config.trainer
    shares = [run.world.share(part) for part in np.array_split(indices, trainer.accumulate)]
    parts = [run.train.pairs(share) for share in shares if len(share)]
    whole = trainer.cuda_graphs
    batches = [
        collate(sources, targets, multiple=BUCKET if whole else 1, whole=whole).to(run.device)
        for sources, targets in parts
    ]
    tokens = int(run.train.target_lengths[indices].sum()) + len(indices)
    return Loaded(batches, pairs=len(indices), tokens=tokens)


def start_update(run: Run, loaded: Loaded, *, batches: int) -> Started:
    """Begin an update: forward, loss over the whole batch's normaliser, backward, clip, step.

    Where the loss or the gradient is not finite, nothing changes.

    Args:
        run: the training; its model and optimizer are changed.
        loaded: the pairs of the update.
        batches: batches in a pass over the data.
    """
    trainer, optimizer = run.config.trainer, run.optimizer
    torch.manual_seed(_seed(run))
    run.dropouts.scale(_warm(run))
    if run.gradients is None:
        optimizer.zero_grad(set_to_none=not trainer.cuda_graphs)
    else:
        run.gradients.clear()
    divisor = normaliser(trainer.loss_reduction, sentences=loaded.pairs, tokens=loaded.tokens)
    norm = torch.full((), float(divisor), device=run.device)
    nll = torch.zeros((), device=run.device)
    for batch in loaded.batches:
        played = None if run.graphs is None else run.graphs(batch, norm)
        nll = nll + (add_gradients(run, batch, norm) if played is None else played)
    if run.gradients is not None:
        nll = run.gradients.sum(nll)
    gradient_norm = clip_gradients(run.model, trainer.clip_norm)
    outcome = torch.stack([nll, gradient_norm])
    # PyTorch's fused optimizers, and our own, do nothing where this is 1.
    optimizer.found_inf = (~outcome.isfinite().all()).float()  # type: ignore[attr-defined]
    rate = run.config.optimizer.lr * run.progress.rate_cut * rate_factor(
        run.config.scheduler,
        update=run.progress.update + 1,
        done=share_done(run.progress, trainer, batches=batches),
    )  # fmt: skip
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    return Started(outcome, loaded.tokens, rate)


def _warm(run: Run) -> float:
    """Return the share of all dropout in the next update; 1 after `trainer.dropout_warmup`."""
    return min(1.0, (run.progress.update + 1) / max(run.config.trainer.dropout_warmup, 1))


def _seed(run: Run) -> int:
    """Return what dropout draws from in the next update.

    It depends on nothing that came before, so a run goes on with the same numbers, also with
    another number of processes; each of them draws its own.
    """
    words = np.random.SeedSequence([run.config.seed, run.progress.update, run.world.rank])
    return int(words.generate_state(1, np.uint64)[0] >> np.uint64(1))


def finish(started: Started) -> Update:
    """Wait for an update and return what it did."""
    nll, gradient_norm = started.outcome.tolist()
    skipped = not (math.isfinite(nll) and math.isfinite(gradient_norm))
    return Update(nll, started.tokens, gradient_norm, started.learning_rate, skipped)


def add_gradients(run: Run, batch: Batch, norm: Tensor) -> Tensor:
    """Add the gradients of the loss of a batch, over `norm`; return its nll."""
    with operands(run.operands):
        forced = run.model(batch)
        loss = token_loss(
            forced.readouts, forced.targets, output=run.model.W_o,
            label_smoothing=run.config.trainer.label_smoothing, counted=forced.counted,
        )  # fmt: skip
    (loss.loss / norm).backward()  # type: ignore[no-untyped-call]
    return loss.nll


def cuda_graphs(run: Run) -> Graphs:
    """Return what records the passes of a training on a GPU."""
    return Graphs(
        lambda batch, norm: add_gradients(run, batch, norm), run.model.parameters(),
        record=cuda_recorder(),
    )  # fmt: skip
