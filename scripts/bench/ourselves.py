"""Runs this package for `scripts/benchmark.py`; it answers as the workers of other programs do.

    python ourselves.py FOLDER THREADS PRECISION < commands > answers

FOLDER is what `pieces.write` made, of a run folder; for commands and answers see `workers`.
Operations are those of matrix products, as PyTorch's counter finds them; the ceiling is a product
of two square matrices in the same process, measured before each answer.
"""

import copy
import dataclasses
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode
from workers import serve

from rnnsearch.batches import plan_epoch
from rnnsearch.cli.sources import training_sources
from rnnsearch.config import AdadeltaConfig, TrainConfig
from rnnsearch.encoded import EncodedCorpus, encode_pairs
from rnnsearch.interrupts import Interrupts
from rnnsearch.lines import read_lines
from rnnsearch.model import build_model
from rnnsearch.optim import build_optimizer, clip_gradients
from rnnsearch.plain import load_run_config
from rnnsearch.products import operands_for
from rnnsearch.run import Run, ValidationSet
from rnnsearch.runlog import RunLog
from rnnsearch.search import search_options
from rnnsearch.text import Tokenizers
from rnnsearch.translator import Translator
from rnnsearch.update import Update, finish, load, start_update

SQUARE = 1024


def ceiling() -> float:
    """Return the operations a second of processor time in products of large square matrices."""
    a, b = torch.randn(SQUARE, SQUARE), torch.randn(SQUARE, SQUARE)
    rates = []
    for _ in range(5):
        start = time.process_time()
        torch.mm(a, b)
        rates.append(2 * SQUARE**3 / (time.process_time() - start))
    return sorted(rates)[2]


def memory(name: str) -> int:
    """Return a figure of this process in MiB: VmRSS, what it holds; VmHWM, the most it held."""
    with Path("/proc/self/status").open() as status:
        line = next(line for line in status if line.startswith(name))
    return int(line.split()[1]) // 1024


class Worker:
    """A fresh network of the run's sizes to train, and the run's best checkpoint to decode with."""

    def __init__(self, folder: Path, precision: str) -> None:
        self.precision = precision
        named = json.loads((folder / "sizes.json").read_text())
        self.run_dir = Path(named["run_dir"])
        self.config = load_run_config(self.run_dir)
        self.sentences = [*read_lines(folder / "test.lines")]
        self.log_folder = tempfile.TemporaryDirectory()
        self.translators: dict[tuple[int, int], Translator] = {}
        self.counted: dict[tuple[Translator, int], int] = {}
        start = time.perf_counter()
        data, self.tokenizers = self.config.data, Tokenizers.load(self.run_dir / "tokenizer")
        sources = training_sources(data, seed=self.config.seed)
        self.train_ids, self.valid_ids = (
            encode_pairs(
                source.read(), self.tokenizers,
                max_length=data.max_length, max_ratio=data.max_ratio, drop=True,
            )
            for source in sources
        )  # fmt: skip
        self.reading = time.perf_counter() - start
        start = time.perf_counter()
        trainer = self.config.trainer
        self.plan = plan_epoch(
            self.train_ids.source_lengths, self.train_ids.target_lengths,
            seed=self.config.seed, epoch=0, batch_sentences=trainer.batch_sentences,
            batch_tokens=trainer.batch_tokens, sort_window=trainer.sort_window,
        )  # fmt: skip
        self.planning = time.perf_counter() - start
        self.run = _new_run(
            self.config, precision, self.tokenizers, self.train_ids, self.valid_ids,
            Path(self.log_folder.name),
        )  # fmt: skip

    def describe(self) -> dict[str, Any]:
        """Return what the table says of the data and the network."""
        network = self.run.model
        return {
            "pairs": len(self.train_ids),
            "parameters": sum(p.numel() for p in network.parameters()),
            "reading": self.reading,
            "planning": self.planning,
        }

    def train(self, updates: int) -> dict[str, float]:
        """Make so many updates, the next ones of the plan."""
        run, top = self.run, ceiling()
        first = run.progress.update
        batches = [self.plan[i % len(self.plan)] for i in range(first, first + updates)]
        if first == 0:  # the optimizer's state belongs to the model, not to an update
            self._update(batches[0])
        Path("/proc/self/clear_refs").write_text("5")
        before = memory("VmRSS")
        start, wall = time.process_time(), time.perf_counter()
        done = [self._update(batch) for batch in batches]
        seconds, wall = time.process_time() - start, time.perf_counter() - wall
        peak = memory("VmHWM") - before
        run.progress.update += updates
        # The same updates once more, since counting takes time itself.
        counted = _operations(lambda: [self._update(batch) for batch in batches])
        return {
            "tokens": sum(update.tokens for update in done), "updates": updates,
            "seconds": seconds, "wall": wall, "peak": peak, "share": counted / seconds / top,
        }  # fmt: skip

    def _update(self, pairs: NDArray[np.int32]) -> Update:
        loaded = load(self.run, pairs)
        return finish(start_update(self.run, loaded, batches=len(self.plan)))

    def optimize(self, steps: int) -> dict[str, float]:
        """Clip and step with the gradients of one update; Adadelta also as PyTorch has it."""
        run = self.run
        start_update(run, load(run, self.plan[0]), batches=len(self.plan))
        seconds = {"seconds": _seconds(run.optimizer, run.model, steps)}
        if isinstance(self.config.optimizer, AdadeltaConfig):
            twin = copy.deepcopy(run.model)
            for own, other in zip(run.model.parameters(), twin.parameters(), strict=True):
                assert own.grad is not None
                other.grad = own.grad.to_dense() if own.grad.is_sparse else own.grad.clone()
            rho, eps = self.config.optimizer.rho, self.config.optimizer.eps
            torchs = torch.optim.Adadelta(twin.parameters(), lr=1.0, rho=rho, eps=eps)
            seconds["torch"] = _seconds(torchs, twin, steps)
        return seconds

    def decode(self, beam: int, batch: int, sentences: int) -> dict[str, Any]:
        """Translate the first sentences of the test set."""
        key = (beam, batch)
        if key not in self.translators:
            decode = dataclasses.replace(
                self.config.decode, beam_size=beam, batch_sentences=batch,
                precision=self.precision,
            )  # fmt: skip
            self.translators[key] = Translator.load(self.run_dir, device="cpu", decode=decode)
        translator, lines, top = self.translators[key], self.sentences[:sentences], ceiling()
        start, wall = time.process_time(), time.perf_counter()
        found = translator.translate(lines, alignments=False)
        seconds, wall = time.process_time() - start, time.perf_counter() - wall
        # A search does the same each time, an update does not.
        if (translator, sentences) not in self.counted:
            self.counted[translator, sentences] = _operations(
                lambda: translator.translate(lines, alignments=False)
            )
        counted = self.counted[translator, sentences]
        return {
            "sentences": sentences, "seconds": seconds, "wall": wall,
            "share": counted / seconds / top,
            "pieces": sum(len(one.target_pieces) for one in found),
        }  # fmt: skip


def _seconds(optimizer: torch.optim.Optimizer, model: torch.nn.Module, steps: int) -> float:
    """Return the median seconds of processor time of clipping and a step."""
    seconds = []
    for _ in range(steps):
        start = time.process_time()
        clip_gradients(model, 1.0)
        optimizer.step()
        seconds.append(time.process_time() - start)
    return sorted(seconds)[steps // 2]


def _operations(work: Callable[[], object]) -> int:
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def _new_run(
    config: TrainConfig, precision: str, tokenizers: Tokenizers, train: EncodedCorpus,
    valid: EncodedCorpus, folder: Path,
) -> Run:  # fmt: skip
    torch.manual_seed(config.seed)
    model = build_model(
        config.model,
        source_vocab=tokenizers.source.vocab_size, target_vocab=tokenizers.target.vocab_size,
    )  # fmt: skip
    kind = tokenizers.target.kind
    translator = Translator([model], tokenizers, options=search_options(config.decode, kind=kind))
    run = Run(
        folder, config, model, build_optimizer(config.optimizer, model), translator, train,
        ValidationSet([], [], valid), RunLog(folder), Interrupts(),
    )  # fmt: skip
    run.operands = operands_for(precision, torch.device("cpu"))
    model.train()
    return run


if __name__ == "__main__":
    torch.set_num_threads(int(sys.argv[2]))
    ours = Worker(Path(sys.argv[1]), sys.argv[3])
    serve(ours, ours.describe())
