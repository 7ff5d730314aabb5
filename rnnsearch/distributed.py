"""Several processes that train one model, as `torchrun` starts them: the few calls between them.

Every process holds the whole model and makes the same updates: of each batch it works on its
share, and the gradients of all shares are summed. The first process alone writes the run folder.
What is on a CPU travels over gloo, what is on GPUs over NCCL.
"""

import contextlib
import itertools
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed import PrefixStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import rendezvous

from rnnsearch.errors import Ended, UserError

Rows = TypeVar("Rows", bound="Sequence[Any] | np.ndarray[Any, Any]")
Outcome = TypeVar("Outcome")

_TIMEOUT = timedelta(minutes=30)
"""For processes that stand at the same place of a training."""

_MEETING = timedelta(minutes=10)
"""For all of them to be started."""

_POLL_SECONDS = 0.1
_TRAININGS = itertools.count()
_FAILED = "failed"


class Notes(Protocol):
    """A `torch.distributed.Store`: notes that one process leaves and all can read."""

    def set(self, key: str, value: str) -> None:
        """Leave a note."""

    def get(self, key: str) -> bytes:
        """Return a note."""

    def check(self, keys: list[str]) -> bool:
        """Return whether all these notes are there."""


@dataclass(frozen=True)
class World:
    """The processes of a training, or the only one.

    Attributes:
        rank: the number of this process, from 0.
        size: how many there are.
        store: where they leave notes for one another; None for a single process.
    """

    rank: int = 0
    size: int = 1
    store: Notes | None = None

    @property
    def leads(self) -> bool:
        """Whether this is the process that writes the run folder."""
        return self.rank == 0

    def share(self, rows: Rows) -> Rows:
        """Return every `size`-th of `rows`, so that sorted ones are shared out evenly."""
        return rows[self.rank :: self.size]  # type: ignore[return-value]

    def led(self, name: str, work: Callable[[], Any], *, waiting: Callable[[], object]) -> Any:
        """Have the first process do some work, and return to all what came of it.

        Args:
            name: of the work; each name serves once.
            work: what it returns is made of lists, dictionaries, text, numbers.
            waiting: called again and again by those that wait.

        Raises:
            Ended: the first process has failed.
        """
        if self.store is None:
            return work()
        if self.leads:
            return self._noting(f"{name}/0", work)
        return json.loads(self._note(f"{name}/0", waiting))

    def in_turn(
        self, name: str, work: Callable[[], Outcome], *, waiting: Callable[[], object]
    ) -> Outcome:
        """Have the first process do some work, then the others; all go on when all are done.

        So the others find what the first has prepared and kept. The work may take hours.

        Args:
            name: of the work; each name serves once.
            work: done by every process.
            waiting: called again and again by those that wait.

        Raises:
            Ended: another process has failed.
        """
        if self.store is None:
            return work()
        if not self.leads:
            self._note(f"{name}/0", waiting)
        outcome: list[Outcome] = []
        self._noting(f"{name}/{self.rank}", lambda: outcome.append(work()))
        for rank in range(self.size):
            self._note(f"{name}/{rank}", waiting)
        return outcome[0]

    def _noting(self, key: str, work: Callable[[], Any]) -> Any:
        """Do some work, and leave a note of what came of it."""
        assert self.store is not None
        try:
            outcome = work()
        except BaseException:
            with contextlib.suppress(RuntimeError):
                self.store.set(key, _FAILED)
            raise
        with _lost_peers():
            self.store.set(key, json.dumps(outcome))
        return outcome

    def _note(self, key: str, waiting: Callable[[], object]) -> bytes:
        """Wait for the note of another process and return it."""
        assert self.store is not None
        with _lost_peers():
            while not self.store.check([key]):
                waiting()
                time.sleep(_POLL_SECONDS)
            note: bytes = self.store.get(key)
        if note == _FAILED.encode():
            raise Ended
        return note

    def numbers(self, values: Sequence[float]) -> list[list[float]]:
        """Return the numbers of each process, as many of each, in the order of the ranks."""
        if self.store is None:
            return [list(values)]
        mine = torch.tensor(values, dtype=torch.float64)
        all_of_them = [torch.empty_like(mine) for _ in range(self.size)]
        with _lost_peers():
            dist.all_gather(all_of_them, mine)
        return [row.tolist() for row in all_of_them]

    def gather(self, value: Any) -> list[Any]:
        """Return a value of each process, made of lists, dictionaries, text, numbers."""
        if self.store is None:
            return [value]
        text = np.frombuffer(json.dumps(value).encode(), np.uint8)
        sizes = [int(size) for (size,) in self.numbers([len(text)])]
        mine = torch.zeros(max(sizes), dtype=torch.uint8)
        mine[: len(text)] = torch.from_numpy(text.copy())
        all_of_them = [torch.empty_like(mine) for _ in sizes]
        with _lost_peers():
            dist.all_gather(all_of_them, mine)
        return [
            json.loads(row[:size].numpy().tobytes())
            for row, size in zip(all_of_them, sizes, strict=True)
        ]

    def check_same(self, facts: Mapping[str, str], *, remedy: str) -> None:
        """Hold that all processes have the same facts.

        Raises:
            UserError: in every process; it names the fact and the process that differs (status 1).
        """
        first, *others = self.gather(dict(facts))
        for rank, other in enumerate(others, 1):
            for name, fact in first.items():
                if other.get(name) != fact:
                    raise UserError(
                        f"{name}: process {rank} has other content than process 0 "
                        f"({str(other.get(name))[:12]}, not {fact[:12]}); {remedy}",
                        status=1,
                    )

    def copy_from_first(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give every process the parameters of the first."""
        if self.store is None:
            return
        with torch.no_grad(), _lost_peers():
            for parameter in parameters:
                dist.broadcast(parameter, 0)


class SharedGradients:
    """The gradients of all parameters in one piece of memory, so that one call sums them.

    Args:
        parameters: their gradients get their places here and have to keep them.
    """

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        own = list(parameters)
        # The last number is the loss, which every process wants to know as well.
        self._all = own[0].new_zeros(sum(parameter.numel() for parameter in own) + 1)
        sizes = [*(parameter.numel() for parameter in own), 1]
        for parameter, part in zip(own, torch.split(self._all, sizes), strict=False):
            parameter.grad = part.view_as(parameter)

    def clear(self) -> None:
        """Set all gradients to zero."""
        self._all.zero_()

    def sum(self, nll: Tensor) -> Tensor:
        """Sum the gradients of all processes; return the sum of their `nll`."""
        self._all[-1] = nll
        with _lost_peers():
            dist.all_reduce(self._all)
        return self._all[-1].clone()


@contextlib.contextmanager
def joined(rank: int, size: int, *, gpu: bool) -> Iterator[World]:
    """Join the processes of a training; a single process is its own world.

    Args:
        rank: of this process.
        size: how many there are.
        gpu: whether the model is on one.

    Raises:
        UserError: the others cannot be reached (status 1).
    """
    if size == 1:
        yield World()
        return
    backend = "cpu:gloo,cuda:nccl" if gpu else "gloo"
    with _dying_at_once(), _lost_peers():
        store, rank, size = next(iter(rendezvous("env://", timeout=_MEETING)))
        # What an earlier training, or the launcher's attempt before, has left there means nothing.
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        store = PrefixStore(f"{attempt}/{next(_TRAININGS)}", store)
        dist.init_process_group(
            backend, store=PrefixStore("collectives", store), rank=rank, world_size=size,
            timeout=_TIMEOUT,
        )  # fmt: skip
    try:
        yield World(rank, size, PrefixStore("notes", store))
    except BaseException as error:
        if not gpu:  # NCCL would wait for those that are still at work
            dist.destroy_process_group()
        if isinstance(error, UserError):
            raise UserError(str(error), status=error.status, own=True) from error
        raise
    dist.destroy_process_group()


@contextlib.contextmanager
def _dying_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process: there is nothing to lose, and the wait is not one of Python's."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _lost_peers() -> Iterator[None]:
    """Turn a broken connection into one line."""
    try:
        yield
    except (RuntimeError, ValueError) as error:  # all errors of torch.distributed are of these
        raise _lost() from error


def _lost() -> UserError:
    return UserError(
        "another process of this training has ended, or cannot be reached at "
        f"{os.environ.get('MASTER_ADDR')}:{os.environ.get('MASTER_PORT')}; see its own message",
        status=1,
    )
