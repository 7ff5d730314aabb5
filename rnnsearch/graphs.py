"""CUDA graphs: the forward and backward pass of a shape recorded once, then played back.

On a GPU the many small kernels of a recurrence cost less to run than to start. A recorded pass
starts all of them at once. It needs fixed shapes, so batches are padded to a few of them and packed
whole (`packing.Packing`), and fixed places: a recorded pass reads one batch in memory that is
filled anew each time, and adds to the gradients where they lie.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from rnnsearch.batches import Batch
from rnnsearch.packing import Packing

BUCKET = 8
"""Numbers of positions are rounded up to multiples of this: few shapes, a fifth of padding."""

MOST = 64
"""Shapes that are recorded; further ones, which are rare, run as they are."""

WARM_UP = 3

Pass = Callable[[Batch, Tensor], Tensor]
"""Adds the gradients of the loss of a batch, over a normaliser, and returns its nll."""


class Recorded(NamedTuple):
    """A pass over `batch` and `norm`, whose outcome lies in `nll` when it has been played."""

    play: Callable[[], None]
    batch: Batch
    norm: Tensor
    nll: Tensor


class Graphs:
    """A pass, recorded for each shape when the shape first comes.

    Args:
        work: the pass.
        parameters: of the model; their gradients get their places here and have to keep them.
        record: makes what plays a pass, and returns it with the outcome that it fills.
    """

    def __init__(
        self, work: Pass, parameters: Iterable[nn.Parameter],
        *, record: Callable[[Callable[[], Tensor]], tuple[Callable[[], None], Tensor]],
    ) -> None:  # fmt: skip
        self.work = work
        self.record = record
        self.parameters = list(parameters)
        self.recorded: dict[tuple[torch.Size, torch.Size], Recorded] = {}
        for parameter in self.parameters:
            parameter.grad = torch.zeros_like(parameter)

    def __call__(self, batch: Batch, norm: Tensor) -> Tensor:
        """Make the pass over a batch that was packed whole; return its nll."""
        shape = (batch.source.shape, batch.target_in.shape)
        if shape not in self.recorded:
            if len(self.recorded) >= MOST:
                return self.work(batch, norm)
            self.recorded[shape] = self._recorded(batch, norm)
        play, own, own_norm, nll = self.recorded[shape]
        for place, tensor in zip(_tensors(own), _tensors(batch), strict=True):
            place.copy_(tensor)
        own_norm.copy_(norm)
        play()
        return nll.clone()

    def _recorded(self, batch: Batch, norm: Tensor) -> Recorded:
        """Record the pass over a copy of a batch; gradients and generators are left as they are."""
        own, own_norm = _copy(batch), norm.clone()
        kept = [_gradient(parameter).clone() for parameter in self.parameters]
        cuda = [norm.device] if norm.is_cuda else []
        with torch.random.fork_rng(cuda):
            play, nll = self.record(lambda: self.work(own, own_norm))
        for parameter, gradient in zip(self.parameters, kept, strict=True):
            _gradient(parameter).copy_(gradient)
        return Recorded(play, own, own_norm, nll)


def cuda_recorder() -> Callable[[Callable[[], Tensor]], tuple[Callable[[], None], Tensor]]:
    """Return what records work on a GPU.

    All graphs share their memory: they never run at once, and what they give is copied before
    another runs.
    """
    pool = torch.cuda.graph_pool_handle()

    def record(work: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
        side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                work()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=pool):
            outcome = work()
        return graph.replay, outcome

    return record


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad


def _tensors(batch: Batch) -> Iterator[Tensor]:
    for part in batch:
        if isinstance(part, Packing):
            yield from (part.order, part.rows, part.reversed_rows)
        else:
            yield part


def _copy(batch: Batch) -> Batch:
    return Batch(
        *(tensor.clone() for tensor in batch[:5]),  # type: ignore[arg-type]
        *(_copy_of_packing(packing) for packing in batch[5:]),
    )


def _copy_of_packing(packing: Packing) -> Packing:
    order, counts, rows, reversed_rows, whole = packing
    return Packing(order.clone(), counts, rows.clone(), reversed_rows.clone(), whole)
