"""Optimizers and learning-rate schedules."""

import math
from collections.abc import Iterable

import torch
from torch import nn

from rnnsearch.config import (
    AdadeltaConfig,
    AdamConfig,
    AdamWConfig,
    CosineConfig,
    InverseSqrtConfig,
    OptimizerConfig,
    SchedulerConfig,
    SgdConfig,
)


def build_optimizer(
    config: OptimizerConfig, parameters: Iterable[nn.Parameter]
) -> torch.optim.Optimizer:
    """Return the optimizer that the `optimizer` group names.

    Adadelta (Zeiler 2012) with rho 0.95 and eps 1e-6 is the paper's (appendix B.2).
    """
    match config:
        case AdadeltaConfig():
            return torch.optim.Adadelta(parameters, lr=config.lr, rho=config.rho, eps=config.eps)
        case AdamWConfig():
            return torch.optim.AdamW(
                parameters, lr=config.lr, betas=(config.beta1, config.beta2), eps=config.eps,
                weight_decay=config.weight_decay, fused=True,
            )  # fmt: skip
        case AdamConfig():
            return torch.optim.Adam(
                parameters, lr=config.lr, betas=(config.beta1, config.beta2), eps=config.eps,
                fused=True,
            )  # fmt: skip
        case SgdConfig():
            return torch.optim.SGD(parameters, lr=config.lr, momentum=config.momentum, fused=True)
        case _:
            raise TypeError(f"no builder for {type(config).__name__}")


def rate_factor(config: SchedulerConfig, *, update: int, done: float) -> float:
    """Return what the learning rate is multiplied by at an update.

        warm-up        u / w                                 for u < w
        inverse_sqrt   sqrt(max(w, 1) / u)                   (Vaswani et al. 2017, section 5.3)
        cosine         m + (1 - m) (1 + cos(π d)) / 2        (Loshchilov and Hutter 2017)
        constant, plateau   1

    The cuts of `plateau` depend on the validations and are kept with the training state.

    Args:
        config: the `scheduler` group; w is its `warmup_updates`, m its `min_lr_ratio`.
        update: u, counted from 1.
        done: d, the share of the training budget that is used up, from 0 to 1.
    """
    if update < config.warmup_updates:
        return update / config.warmup_updates
    match config:
        case InverseSqrtConfig():
            return math.sqrt(max(config.warmup_updates, 1) / update)
        case CosineConfig():
            wave = (1 + math.cos(math.pi * min(max(done, 0.0), 1.0))) / 2
            return config.min_lr_ratio + (1 - config.min_lr_ratio) * wave
        case _:
            return 1.0
