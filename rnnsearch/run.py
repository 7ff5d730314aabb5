"""A training with everything that it needs, as one value that the steps pass on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import torch

from rnnsearch.batches import Batch
from rnnsearch.config import TrainConfig
from rnnsearch.corpus import EncodedCorpus
from rnnsearch.distributed import SharedGradients, World
from rnnsearch.dropouts import Dropouts
from rnnsearch.graphs import Graphs
from rnnsearch.interrupts import Interrupts
from rnnsearch.model import TranslationModel
from rnnsearch.progress import Progress
from rnnsearch.runlog import Meter, RunLog
from rnnsearch.translator import Translator


class ValidationSet(NamedTuple):
    """Raw text for the scores and ids for the loss, N pairs."""

    sources: Sequence[str]
    references: Sequence[str]
    encoded: EncodedCorpus


class Loaded(NamedTuple):
    """What a process works on in an update, on the device, in one part, several or none.

    `pairs` and `tokens`, target tokens with EOS, count the whole update.
    """

    batches: list[Batch]
    pairs: int
    tokens: int


@dataclass
class Run:
    """A training with everything that it needs."""

    run_dir: Path
    config: TrainConfig
    model: TranslationModel
    optimizer: torch.optim.Optimizer
    translator: Translator
    train: EncodedCorpus
    valid: ValidationSet
    log: RunLog
    interrupts: Interrupts
    progress: Progress = field(default_factory=Progress)
    meter: Meter = field(default_factory=Meter)
    saved: int = 0  # the update whose weights are on the disk
    operands: torch.dtype | None = None  # of matrix products in updates; see `products`
    scored: bool = False  # a validation has come since
    ahead: Loaded | None = None  # the next update's pairs
    graphs: Graphs | None = None  # of trainer.cuda_graphs
    world: World = field(default_factory=World)
    gradients: SharedGradients | None = None  # where there are several processes

    def __post_init__(self) -> None:
        self.dropouts = Dropouts(self.model)

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self.model.W_o.weight.device
