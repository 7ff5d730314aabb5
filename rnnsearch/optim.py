"""Optimizers, the gradient's norm and learning-rate schedules."""

import math
from collections import Counter

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rnnsearch.adadelta import Adadelta
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


def build_optimizer(config: OptimizerConfig, model: nn.Module) -> torch.optim.Optimizer:
    """Return the optimizer that the `optimizer` group names, of all parameters of a model.

    Adadelta (Zeiler 2012) with rho 0.95 and eps 1e-6 is the paper's (appendix B.2); for it the
    embeddings of a model on the CPU are set to give sparse gradients. (A GPU would have to be
    waited for to know their rows.) All do nothing where their `found_inf` is a tensor of 1.
    """
    parameters = model.parameters()
    match config:
        case AdadeltaConfig():
            uses = Counter(id(weight) for m in model.modules() for weight in m.parameters(False))
            for module in model.modules():
                if isinstance(module, nn.Embedding):  # one that is W_o, too, has a dense gradient
                    module.sparse = not module.weight.is_cuda and uses[id(module.weight)] == 1
            return Adadelta(parameters, lr=config.lr, rho=config.rho, eps=config.eps)
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
            sgd = torch.optim.SGD(parameters, lr=config.lr, momentum=config.momentum, fused=True)
            if config.momentum:
                # Left to the first step, they would hold anything if that one is left out.
                for parameter in model.parameters():
                    sgd.state[parameter]["momentum_buffer"] = torch.zeros_like(parameter)
            return sgd
        case _:
            raise TypeError(f"no builder for {type(config).__name__}")


def state_names(optimizer: torch.optim.Optimizer) -> frozenset[str]:
    """Return the names of the tensors that an optimizer of `build_optimizer` keeps of a parameter.

    Adadelta may also keep `touched` of an embedding.
    """
    if isinstance(optimizer, Adadelta):
        return frozenset({"step", "square_avg", "acc_delta"})
    if isinstance(optimizer, torch.optim.SGD):
        return frozenset({"momentum_buffer"})
    return frozenset({"step", "exp_avg", "exp_avg_sq"})


@torch.no_grad()
def clip_gradients(model: nn.Module, most: float | None) -> Float[Tensor, ""]:
    """Scale all gradients so that their common 2-norm is at most `most`; return the norm before.

    Rows of sparse gradients are summed first, as in the dense gradient that they stand for.
    """
    values = []
    for parameter in model.parameters():
        if parameter.grad is None:
            continue
        if parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()
            values.append(parameter.grad.values())
        else:
            values.append(parameter.grad)
    norm = torch.nn.utils.get_total_norm(values)
    if most is not None:
        torch._foreach_mul_(values, (most / (norm + 1e-6)).clamp(max=1.0))
    return norm


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
