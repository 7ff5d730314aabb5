"""Losses: negative log-likelihood with label smoothing, in nats, without holding all logits."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from rnnsearch.products import operand, product, weight_gradient

ROWS = 256
"""Target positions whose logits are held at once. A block of this size stays in the cache, which
also makes it faster than one product over all rows."""


class TokenLoss(NamedTuple):
    """Sums over the target positions of a batch, in nats.

    `loss` is what is minimised, with gradient; `nll` is -log p of the targets, without.
    """

    loss: Float[Tensor, ""]
    nll: Float[Tensor, ""]


def token_loss(
    readouts: Float[Tensor, "N L"], targets: Int[Tensor, " N"],
    *, output: nn.Linear, label_smoothing: float = 0.0, counted: Bool[Tensor, " N"] | None = None,
) -> TokenLoss:  # fmt: skip
    """Return the cross-entropy of softmax(W_o t) with smoothed targets.

        loss = -Σ_n [(1 - ε) log p(y_n) + ε/V Σ_v log p(v)]

    (Szegedy et al. 2016, section 7; ε = 0 is the paper's maximum likelihood.) Each block of rows
    yields its part of the gradient as soon as its logits are known, so that memory does not grow
    with the batch. It can be differentiated once.

    Args:
        readouts: t of each position.
        targets: y of each.
        output: W_o.
        label_smoothing: ε.
        counted: the positions that count; None for all.
    """
    loss, nll = _Blocks.apply(
        readouts, output.weight, output.bias, targets, label_smoothing, counted
    )  # type: ignore[no-untyped-call]
    return TokenLoss(loss, nll.detach())


class _Blocks(torch.autograd.Function):
    """The loss and, since it is a sum over rows, its gradient block by block in one go."""

    @staticmethod
    def forward(
        ctx: Any, readouts: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor,
        smoothing: float, counted: Tensor | None,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        wanted = any(ctx.needs_input_grad[:3])
        vocab, factor = weight.shape[0], operand(weight)
        loss, nll = readouts.new_zeros(()), readouts.new_zeros(())
        d_readouts = torch.empty_like(readouts)
        d_weight = torch.zeros_like(weight)
        d_bias = torch.zeros_like(weight[:, 0])
        for start in range(0, readouts.shape[0], ROWS):
            rows = slice(start, start + ROWS)
            t, y = readouts[rows], targets[rows, None]
            logits = product(t, factor.t())
            if bias is not None:
                logits += bias
            chosen = logits.gather(1, y)
            mean = logits.mean(-1, keepdim=True) if smoothing else chosen
            # p = exp(logit - max) / Z, with one exponential for loss and gradient.
            most = logits.amax(-1, keepdim=True)
            p = logits.sub_(most).exp_()
            z = p.sum(-1, keepdim=True)
            log_z = z.log() + most
            surprise, spread = log_z - chosen, log_z - mean
            if counted is not None:
                padding = ~counted[rows, None]
                surprise.masked_fill_(padding, 0)
                spread.masked_fill_(padding, 0)
            block_nll = surprise.sum()
            nll += block_nll
            loss += torch.lerp(block_nll, spread.sum(), smoothing)
            if wanted:
                # d loss / d logits = p - (1 - ε) [v = y] - ε/V
                d_logits = p.div_(z)
                d_logits.scatter_add_(1, y, torch.full_like(z, smoothing - 1))
                if smoothing:
                    d_logits.sub_(smoothing / vocab)
                if counted is not None:
                    d_logits.masked_fill_(padding, 0)
                product(d_logits, factor, out=d_readouts[rows])
                weight_gradient(d_logits, t, onto=d_weight)
                d_bias += d_logits.sum(0)
        ctx.save_for_backward(d_readouts, d_weight, d_bias)
        ctx.has_bias = bias is not None
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        d_readouts, d_weight, d_bias = ctx.saved_tensors
        bias = d_bias * d_loss if ctx.has_bias else None
        # A new tensor for the readouts, which are small; the weight's is scaled where it lies.
        return d_readouts * d_loss, d_weight.mul_(d_loss), bias, None, None, None


def normaliser(reduction: str, *, sentences: int, tokens: int) -> int:
    """Return what the summed loss of one update is divided by.

    Args:
        reduction: `token` (mean over target tokens), `sentence` (mean over pairs) or `sum` (the
            original program's: no division).
        sentences: pairs in the whole update.
        tokens: target tokens in the whole update, EOS included.
    """
    return {"token": tokens, "sentence": sentences, "sum": 1}[reduction]
