"""Runs JoeyNMT for `scripts/benchmark.py`, by the interpreter of JoeyNMT's own folder.

    python joeynmt_worker.py FOLDER < commands > answers

FOLDER is what `pieces.write` made; for commands and answers see `workers`.
"""

import json
import sys
import time
from itertools import count
from pathlib import Path
from typing import Any

import torch
from joeynmt.config import parse_global_args
from joeynmt.prediction import predict, prepare
from joeynmt.training import TrainManager
from safetensors.torch import load_file, save_file
from workers import RATE, learning_rate, serve


def settings(folder: Path, sizes: dict[str, Any]) -> dict[str, Any]:
    """Return JoeyNMT's configuration of the model that has the sizes of ours."""
    sides = {}
    for side in ("src", "trg"):
        # Pieces are separated by blanks, so that both programs see the same ones.
        sides[side] = {"lang": side, "level": "word", "voc_file": str(folder / f"vocab.{side}")}
    embeddings = {"embedding_dim": sizes["embedding_size"], "dropout": sizes["dropout"]}
    return {
        "name": "benchmark",
        "model_dir": str(folder / "joeynmt"),
        "use_cuda": False,
        "random_seed": 1,
        "data": {
            "train": str(folder / "train"),
            "dev": str(folder / "valid"),
            "test": str(folder / "test"),
            "dataset_type": "plain",
            **sides,
        },
        "testing": {"beam_size": 5, "beam_alpha": 1.0, "batch_size": 64},
        "training": {
            "optimizer": "adam",
            "learning_rate": RATE,
            "scheduling": "exponential",  # never stepped; its plateau fails on newer torch
            "clip_grad_norm": 1.0,
            "label_smoothing": sizes["label_smoothing"],
            "batch_size": sizes["batch_sentences"],
            "batch_type": "sentence",
            "epochs": 1000,
        },
        "model": {
            "encoder": {
                "type": "recurrent",
                "rnn_type": "gru",
                "embeddings": dict(embeddings),
                "hidden_size": sizes["encoder_size"],
                "bidirectional": True,
                "dropout": sizes["dropout"],
            },
            "decoder": {
                "type": "recurrent",
                "rnn_type": "gru",
                "embeddings": dict(embeddings),
                "hidden_size": sizes["hidden_size"],
                "hidden_dropout": sizes["dropout"],
                "attention": "bahdanau",
                "input_feeding": True,
                "init_hidden": "bridge",
            },
        },
    }


class Worker:
    """JoeyNMT's model, data and trainer, used as its own `train` and `test` use them."""

    def __init__(self, folder: Path) -> None:
        sizes = json.loads((folder / "sizes.json").read_text())
        (folder / "joeynmt").mkdir(exist_ok=True)
        self.weights = folder / "joeynmt.safetensors"
        self.args = parse_global_args(settings(folder, sizes), mode="train")
        self.model, self.train_data, _, self.test_data = prepare(self.args, 0, "train")
        self.manager = TrainManager(
            rank=0, model=self.model, model_dir=self.args.model_dir, device=self.args.device,
            n_gpu=0, num_workers=0, autocast=self.args.autocast, seed=self.args.seed,
            train_args=self.args.train, dev_args=self.args.test,
        )  # fmt: skip
        self.batches = self._batches()

    def _batches(self) -> Any:
        train = self.manager.args
        loader = self.train_data.make_iter(
            batch_size=train.batch_size, batch_type=train.batch_type, seed=1, shuffle=True,
            num_workers=0, device=self.args.device,
            eos_index=self.model.eos_index, pad_index=self.model.pad_index,
        )  # fmt: skip
        for epoch in count(1):
            loader.batch_sampler.set_seed(epoch)
            yield from loader

    def _update(self) -> int:
        batch = next(self.batches)
        self.manager._train_step(batch)
        self.manager.clip_grad_fun(parameters=self.model.parameters())
        self.manager.optimizer.step()
        self.model.zero_grad()
        return int(batch.ntokens)

    def train(self, updates: int) -> dict[str, float]:
        """Make so many updates; return target tokens and processor seconds."""
        start = time.process_time()
        tokens = sum(self._update() for _ in range(updates))
        return {"tokens": tokens, "updates": updates, "seconds": time.process_time() - start}

    def fit(self, minutes: float) -> dict[str, float]:
        """Train for so many minutes and keep the weights in the folder."""
        start, updates = time.monotonic(), 0
        while (passed := (time.monotonic() - start) / 60) < minutes:
            for group in self.manager.optimizer.param_groups:
                group["lr"] = learning_rate(passed / minutes)
            self._update()
            updates += 1
        save_file(self.model.state_dict(), self.weights)
        return {"updates": updates}

    def decode(self, beam: int, batch: int, sentences: int) -> dict[str, Any]:
        """Translate the first sentences of the test set; return processor seconds and pieces."""
        self.model.load_state_dict(load_file(self.weights))  # without what `train` did
        data = self.test_data
        kept = {side: data.data[side] for side in data.data}
        data.data = {side: lines[:sentences] for side, lines in kept.items()}
        data.reset_indices()
        args = self.args.test._replace(beam_size=beam, batch_size=batch)
        start = time.process_time()
        found = predict(
            self.model, data, self.args.device, 0, args=args, autocast=self.args.autocast
        )
        seconds = time.process_time() - start
        data.data = kept
        pieces = sum(len(best) - ("</s>" in best) for best in found[3])
        return {"sentences": sentences, "seconds": seconds, "pieces": pieces}


if __name__ == "__main__":
    torch.set_num_threads(1)
    serve(Worker(Path(sys.argv[1])), {})
