"""The values that a configuration's keys may take, beyond their types."""

import math
from typing import NamedTuple

# What tensors, files and libraries count with.
LARGEST = 2**31 - 1


class Range(NamedTuple):
    """Numbers from `low` to `high`; an open end does not belong to it."""

    low: float
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    def holds(self, value: float) -> bool:
        """Tell whether `value` lies in the range."""
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below

    def told(self, value: float) -> str:
        """Return what is asked of a number, as far as `value` fails it."""
        return f"of at most {self.high}" if value > self.high == LARGEST else str(self)

    def __str__(self) -> str:
        lower = f"above {self.low}" if self.low_open else f"of at least {self.low}"
        if self.high in (math.inf, LARGEST):
            return lower
        upper = f"below {self.high}" if self.high_open else f"at most {self.high}"
        return f"{lower} and {upper}"


class Choice(NamedTuple):
    """One of a few names."""

    names: tuple[str, ...]

    def holds(self, value: str) -> bool:
        """Tell whether `value` is one of the names."""
        return value in self.names

    def __str__(self) -> str:
        return " or ".join([", ".join(self.names[:-1]), self.names[-1]][len(self.names) == 1 :])


COUNT = Range(1, LARGEST)
SIZE = Range(1, 1_000_000)  # of vectors; far beyond it even their number overflows
COUNT_OR_NONE = Range(0, LARGEST)
POSITIVE = Range(0, low_open=True)
NOT_NEGATIVE = Range(0)
SHARE = Range(0, 1, high_open=True)  # of a whole that must not be used up: dropout, decay rates

# Values not listed are free: switches, names and paths.
RULES: dict[str, Range | Choice] = {
    "seed": Range(0, 2**32 - 1),
    "resume": Choice(("auto", "never", "must")),
    "logger": Choice(("none", "tensorboard")),
    "n_best": COUNT,
    "alignment_format": Choice(("pharaoh", "json")),
    "plot_format": Choice(("png", "svg", "both")),
    "plot_sheet": Range(0, 32),  # more cannot be read on one page
    "bootstrap": Range(0, 1_000_000),
    "model.hidden_size": SIZE,
    "model.encoder_size": SIZE,
    "model.embedding_size": SIZE,
    "model.maxout_size": SIZE,
    "model.alignment_size": SIZE,
    "model.dropout": SHARE,
    "model.annotation_dropout": SHARE,
    "model.tied": Choice(("none", "output", "all")),
    "model.init": Choice(("paper", "xavier")),
    "model.wiring": Choice(("appendix", "equation4", "original")),
    "model.unit": Choice(("gated", "lstm")),
    "model.positions": Choice(("sinusoidal", "learned", "none")),
    "model.max_positions": Range(2, 1_000_000_000),
    "model.layers": Range(0, 1000),
    "model.heads": SIZE,
    "model.feedforward_size": SIZE,
    "data.max_length": COUNT,
    "data.max_ratio": Range(1),
    "tokenizer.vocab_size": Range(5, 10_000_000),  # SentencePiece never ends on far larger ones
    "optimizer.lr": POSITIVE,
    "optimizer.beta1": SHARE,
    "optimizer.beta2": SHARE,
    "optimizer.rho": SHARE,
    "optimizer.momentum": SHARE,
    "optimizer.eps": POSITIVE,
    "optimizer.weight_decay": NOT_NEGATIVE,
    "scheduler.warmup_updates": COUNT_OR_NONE,
    "scheduler.factor": Range(0, 1, low_open=True, high_open=True),
    "scheduler.patience": COUNT_OR_NONE,
    "scheduler.min_lr_ratio": Range(0, 1),
    "trainer.max_updates": COUNT,
    "trainer.max_epochs": COUNT,
    "trainer.max_minutes": POSITIVE,
    "trainer.valid_every": COUNT,
    "trainer.save_every": COUNT,
    "trainer.log_every": COUNT,
    "trainer.keep_best": COUNT,
    "trainer.keep_last": COUNT,
    "trainer.patience": COUNT,
    "trainer.metric": Choice(("bleu", "chrf", "loss")),
    "trainer.batch_sentences": COUNT,
    "trainer.batch_tokens": COUNT,
    "trainer.sort_window": COUNT,
    "trainer.accumulate": COUNT,
    "trainer.clip_norm": POSITIVE,
    "trainer.label_smoothing": SHARE,
    "trainer.dropout_warmup": COUNT_OR_NONE,
    "trainer.loss_reduction": Choice(("token", "sentence", "sum")),
    "trainer.precision": Choice(("fp32", "bf16", "auto")),
    "trainer.average": COUNT_OR_NONE,
    "trainer.max_bad_updates": COUNT,
    "decode.beam_size": Range(1, 1000),
    "decode.length_penalty": Range(0, 50),
    "decode.max_length": COUNT,
    "decode.max_length_ratio": Range(0, 1000, low_open=True),
    "decode.min_length_ratio": Range(0, 1000),
    "decode.batch_sentences": COUNT,
    "decode.precision": Choice(("fp32", "bf16", "auto")),
}
