# ruff: noqa: E402 - the stand-ins have to be in place before OpenNMT-py is imported
"""Runs OpenNMT-py for `scripts/benchmark.py`; it is started by the interpreter of its own folder.

    python opennmt_worker.py FOLDER < commands > answers

FOLDER is what `pieces.write` made; for commands and answers see `workers`.

Its environment, see `environments`, has only what training and translating pieces need. UNUSED
names packages that it imports all the same; empty stand-ins take their places.
"""

import codecs
import json
import logging
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import torch
from safetensors.torch import load_file, save_file
from workers import RATE, learning_rate, serve

UNUSED = ("ahocorasick", "fasttext", "rapidfuzz", "sacrebleu", "spacy")
sys.modules.update({name: MagicMock() for name in UNUSED})

from onmt.constants import CorpusTask, DefaultTokens
from onmt.inputters.dynamic_iterator import build_dynamic_dataset_iter
from onmt.model_builder import build_model
from onmt.opts import train_opts, translate_opts
from onmt.train_single import _init_train
from onmt.trainer import build_trainer
from onmt.translate import GNMTGlobalScorer, Translator
from onmt.utils import Optimizer, Statistics, set_random_seed
from onmt.utils.misc import RandomShuffler
from onmt.utils.parse import ArgumentParser


def options(add: Any, values: dict[str, Any]) -> Namespace:
    """Return the options of one of OpenNMT-py's commands, all but the given ones at default."""
    parser = ArgumentParser()
    add(parser)
    return parser.parse_args([str(word) for pair in values.items() for word in pair])


def settings(folder: Path, sizes: dict[str, Any]) -> Namespace:
    """Return the options of `onmt_train` for the model that has the sizes of ours."""
    corpus = {"path_src": str(folder / "train.src"), "path_tgt": str(folder / "train.trg")}
    values = {
        "-data": json.dumps({"train": {**corpus, "weight": 1}}),
        "-src_vocab": folder / "opennmt" / "vocab.src",
        "-tgt_vocab": folder / "opennmt" / "vocab.trg",
        "-seed": 1,
        # Other processes' seconds would not be counted.
        "-num_workers": 0,
        "-encoder_type": "brnn",
        "-decoder_type": "rnn",
        "-rnn_type": "GRU",
        "-layers": 1,
        "-word_vec_size": sizes["embedding_size"],
        "-hidden_size": sizes["hidden_size"],
        "-global_attention": "mlp",
        "-dropout": sizes["dropout"],
        "-label_smoothing": sizes["label_smoothing"],
        "-batch_type": "sents",
        "-batch_size": sizes["batch_sentences"],
        "-optim": "adam",
        "-learning_rate": RATE,
        "-max_grad_norm": 1.0,
    }
    opt = options(train_opts, values)
    ArgumentParser.validate_train_opts(opt)
    ArgumentParser.update_model_opts(opt)
    ArgumentParser.validate_model_opts(opt)
    return opt


def write_vocabularies(folder: Path) -> None:
    """Copy the vocabularies with OpenNMT-py's name for the padding, so that all numbers stay."""
    (folder / "opennmt").mkdir(exist_ok=True)
    for name in ("vocab.src", "vocab.trg"):
        pieces = (folder / name).read_text(encoding="utf-8").split("\n")
        pieces[pieces.index("<pad>")] = DefaultTokens.PAD
        (folder / "opennmt" / name).write_text("\n".join(pieces), encoding="utf-8")


class Shuffler(RandomShuffler):
    """OpenNMT-py's shuffler of the batches in a pool, which also notes how large the pool is."""

    filled = False
    batches = 0
    sentences = 0

    def __call__(self, data: list[Any]) -> list[Any]:
        """Return the batches of a pool that has just been filled in another order."""
        self.filled = True
        self.batches = len(data)
        self.sentences = sum(len(batch) for batch in data)
        return super().__call__(data)


class Worker:
    """OpenNMT-py's model, data and trainer, used as `onmt_train` and `onmt_translate` use them."""

    def __init__(self, folder: Path) -> None:
        sizes = json.loads((folder / "sizes.json").read_text())
        write_vocabularies(folder)
        self.test = (folder / "test.src").read_text(encoding="utf-8").split("\n")[:-1]
        self.weights = folder / "opennmt.safetensors"
        self.opt = settings(folder, sizes)
        set_random_seed(self.opt.seed, False)
        _, self.vocabs, self.transforms = _init_train(self.opt)
        self.model = build_model(self.opt, self.opt, self.vocabs, None, -1)
        self.optimizer = Optimizer.from_opt(self.model, self.opt)
        self.trainer = build_trainer(self.opt, -1, self.model, self.vocabs, self.optimizer)
        self.pool = Shuffler()
        self.last_filling = self.all_fillings = 0.0
        self.batches = self._batches()

    def _batches(self) -> Iterator[Any]:
        """Yield batches; note the seconds of the last filling of the pool and of all of them."""
        data = build_dynamic_dataset_iter(self.opt, self.transforms, self.vocabs)
        data.random_shuffler = self.pool
        batches = iter(data)
        while True:
            start = time.process_time()
            batch = next(batches)
            if self.pool.filled:
                self.last_filling = time.process_time() - start
                self.all_fillings += self.last_filling
                self.pool.filled = False
            yield batch

    def _update(self, updates: int) -> Statistics:
        last = self.optimizer.training_step + updates - 1
        return self.trainer.train(self.batches, last)

    def train(self, updates: int) -> dict[str, float]:
        """Make so many updates; return target tokens and processor seconds.

        A pool serves thousands of updates. Each of them pays its share of the filling, whether or
        not the pool is filled here. `left_out` is the part of a pool that is not trained on:
        OpenNMT-py drops a sentence from a batch that has the same source already, and a pool
        larger than the corpus holds each sentence several times.
        """
        start, fillings = time.process_time(), self.all_fillings
        done = self._update(updates)
        seconds = time.process_time() - start - (self.all_fillings - fillings)
        return {
            "tokens": done.n_words,
            "updates": updates,
            "seconds": seconds + self.last_filling * updates / self.pool.batches,
            "sentences": done.n_sents,
            "left_out": 1 - self.pool.sentences / self.opt.bucket_size,
        }

    def fit(self, minutes: float) -> dict[str, float]:
        """Train for so many minutes and keep the weights in the folder.

        The first update, which may have to fill the pool, is made before the minutes begin.
        """
        self._update(1)
        start, updates = time.monotonic(), 1
        while (passed := (time.monotonic() - start) / 60) < minutes:
            self.optimizer._learning_rate = learning_rate(passed / minutes)
            self._update(1)
            updates += 1
        save_file(self.model.state_dict(), self.weights)
        return {"updates": updates}

    def _translator(self, opt: Namespace, out: Any) -> Translator:
        scorer = GNMTGlobalScorer.from_opt(opt)
        return Translator.from_opt(
            self.model, self.vocabs, opt, self.opt,
            global_scorer=scorer, out_file=out, report_score=False,
        )  # fmt: skip

    def decode(self, beam: int, batch: int, sentences: int) -> dict[str, Any]:
        """Translate the first sentences of the test set; return processor seconds and pieces."""
        values = {"-model": "-", "-src": "-", "-beam_size": beam, "-batch_size": batch}
        opt = options(translate_opts, values)
        # Without what `train` did. The model's own method wants OpenNMT-py's checkpoint, a pickle.
        torch.nn.Module.load_state_dict(self.model, load_file(self.weights))
        self.model.eval()
        with codecs.open(os.devnull, "w", "utf-8") as out:
            translator = self._translator(opt, out)
            start = time.process_time()
            data = build_dynamic_dataset_iter(
                opt, {}, self.vocabs, task=CorpusTask.INFER, src=self.test[:sentences]
            )
            _, found = translator._translate(data, data.transforms)
            seconds = time.process_time() - start
        self.model.train()
        if len(found) != sentences:
            raise ValueError(f"{len(found)} translations of {sentences} sentences")
        pieces = sum(len(best.split()) for (best,) in found)
        return {"sentences": sentences, "seconds": seconds, "pieces": pieces}


if __name__ == "__main__":
    torch.set_num_threads(1)
    logging.disable(logging.INFO)
    serve(Worker(Path(sys.argv[1])), {})
