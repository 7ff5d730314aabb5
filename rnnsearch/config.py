"""The schema of every command's configuration: types here, values in ``configs/*.yaml``.

No field has a default, so that a value lives in one place. The parts name themselves by ``kind``;
builders elsewhere map kinds to classes, and nothing in a configuration can name code to run.
"""

import importlib.resources
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rnnsearch.modelconfig import (
    ModelConfig,
    RnnencdecConfig,
    RnnsearchConfig,
    TransformerInputConfig,
)


@dataclass
class SplitConfig:
    """One split: two aligned files, a table, or a part of a set; a list is read in its order."""

    source: Any  # path, list of paths or null
    target: Any
    table: Any  # .tsv, .jsonl, .parquet: path, list of paths or null
    split: str | None  # of data=hub, such as train[:1000]


@dataclass
class ScoredSplitConfig(SplitConfig):
    """The test split, whose words may have gold alignments."""

    alignments: Any  # links i-j (sure) and ipj (possible), a line a pair: path, list or null


@dataclass
class DataConfig:
    """Where sentence pairs come from, and which of them train the model."""

    kind: str  # demo, files, folder, hub
    dir: str | None  # folder: the folder
    path: str | None  # hub: OWNER/NAME on the hub, or a folder that holds a set
    name: str | None  # hub: the configuration of the set
    streaming: bool  # hub: read rows as they come and keep no copy of the set's files
    source_lang: str
    target_lang: str
    columns: Any  # of tables and sets: [source, target], names or numbers from 1; null: by language
    max_length: int | None  # pieces of a side, the end mark not counted
    max_ratio: float | None  # longer side over shorter side, in pieces
    train: SplitConfig
    valid: SplitConfig
    test: ScoredSplitConfig


@dataclass
class TokenizerConfig:
    """The two tokenizers, or one vocabulary for both sides; also the whole of ``word``."""

    kind: str  # unigram, bpe, word
    vocab_size: int  # pieces or words of a side, the four marks included
    joint: bool
    path: str | None  # a run folder whose tokenizers are used again


@dataclass
class SubwordConfig(TokenizerConfig):
    """SentencePiece."""

    byte_fallback: bool


@dataclass
class OptimizerConfig:
    """What all optimizers share."""

    kind: str
    lr: float


@dataclass
class AdamConfig(OptimizerConfig):
    """Adam."""

    beta1: float
    beta2: float
    eps: float


@dataclass
class AdamWConfig(AdamConfig):
    """Adam with decoupled weight decay."""

    weight_decay: float


@dataclass
class AdadeltaConfig(OptimizerConfig):
    """Adadelta, the paper's optimizer."""

    rho: float
    eps: float


@dataclass
class SgdConfig(OptimizerConfig):
    """Stochastic gradient descent."""

    momentum: float


@dataclass
class SchedulerConfig:
    """What all schedules share; also the whole of ``constant``."""

    kind: str
    warmup_updates: int  # the rate rises linearly from 0 over so many updates


@dataclass
class InverseSqrtConfig(SchedulerConfig):
    """The rate falls with the square root of the updates after the warm-up."""


@dataclass
class PlateauConfig(SchedulerConfig):
    """The rate times `factor` after more than `patience` validations without a better score."""

    factor: float
    patience: int


@dataclass
class CosineConfig(SchedulerConfig):
    """Half a cosine from the rate to `min_lr_ratio` of it, over the trainer's nearest limit."""

    min_lr_ratio: float


@dataclass
class TrainerConfig:
    """The run: budget, validation, batches, loss."""

    max_updates: int | None
    max_epochs: int | None
    max_minutes: float | None  # of training, all sessions of the run together
    valid_every: int | None  # updates; null: every epoch
    save_every: int | None  # updates; null: at each validation
    log_every: int  # updates
    keep_best: int  # checkpoints
    keep_last: int  # checkpoints
    patience: int | None  # validations without a better score; null: never stops early
    metric: str  # bleu, chrf, loss
    batch_sentences: int | None  # pairs an update
    batch_tokens: int | None  # target tokens an update, padding included
    sort_window: int  # batches sorted by length together
    accumulate: int  # micro-batches an update
    clip_norm: float | None
    label_smoothing: float
    dropout_warmup: int  # all dropout rises linearly from 0 over so many updates
    loss_reduction: str  # token, sentence, sum
    precision: str  # fp32, bf16, auto: of the factors of matrix products
    average: int  # validations whose weights are averaged; 0: none
    max_bad_updates: int  # skipped updates, not finite, that end the run
    cuda_graphs: bool  # on a GPU: record the passes of a shape and play them back


@dataclass
class DecodeConfig:
    """The search."""

    beam_size: int  # 1: greedy
    length_penalty: float  # alpha: score / (pieces + EOS)^alpha
    max_length: int | None  # pieces
    max_length_ratio: float | None  # times the source pieces, plus 10
    min_length_ratio: float  # times the source pieces
    ban_unk: bool | None  # null: barred for subword tokenizers
    batch_sentences: int
    precision: str  # fp32, bf16, auto: of the factors of matrix products


@dataclass
class TrainConfig:
    """``rnnsearch train``."""

    run_dir: str | None
    name: str | None
    seed: int
    device: str  # auto, cpu, cuda, cuda:N
    resume: str  # auto, never, must
    start_from: str | None  # a run folder whose weights and tokenizers start this run
    logger: str  # none, tensorboard
    model: ModelConfig
    data: DataConfig
    tokenizer: TokenizerConfig
    optimizer: OptimizerConfig
    scheduler: SchedulerConfig
    trainer: TrainerConfig
    decode: DecodeConfig

    @property
    def folder(self) -> Path:
        """The run's folder; `ValueError` before the command has chosen one."""
        if self.run_dir is None:
            raise ValueError("the run's folder has not been chosen yet")
        return Path(self.run_dir)


@dataclass
class EvaluateConfig:
    """``rnnsearch evaluate``; `data` and `decode` start from what the run was trained with."""

    run_dir: Any  # a path; a list of two or more compares runs
    checkpoint: Any  # best, last, averaged, step-N, a path; a list is an ensemble
    device: str
    test_set: str | None
    references: Any  # further reference files: a path, a list of paths or null
    bootstrap: int  # resamples behind an interval; 0: no intervals
    tokenize: str  # of sacreBLEU
    lowercase: bool
    ter: bool  # whether to compute TER, which is slow on long lines
    replace_unk: Any  # false, true, or the path of a dictionary
    scores: str | None  # path
    report: bool  # whether to write an HTML page
    data: DataConfig
    decode: DecodeConfig


@dataclass
class TranslateConfig:
    """``rnnsearch translate``; `decode` starts from what the run was trained with."""

    run_dir: str
    checkpoint: Any  # best, last, averaged, step-N, a path; a list is an ensemble
    device: str
    input: str  # path, or - for the standard stream
    output: str
    n_best: int
    alignments: str | None  # path
    alignment_format: str  # pharaoh, json
    plots: str | None  # folder
    plot_format: str  # png, svg, both
    plot_sheet: int  # sentences of a page that shows them together; 0: no page
    replace_unk: Any  # false, true, or the path of a dictionary
    decode: DecodeConfig


Command = TrainConfig | EvaluateConfig | TranslateConfig

# A group's base class, and the class of each choice. A new choice is a class here and a YAML file.
KINDS: dict[type, dict[str, type]] = {
    ModelConfig: {
        "rnnsearch": RnnsearchConfig,
        "rnnencdec": RnnencdecConfig,
        "transformer_input": TransformerInputConfig,
    },
    DataConfig: dict.fromkeys(("demo", "files", "folder", "hub"), DataConfig),
    TokenizerConfig: {"unigram": SubwordConfig, "bpe": SubwordConfig, "word": TokenizerConfig},
    OptimizerConfig: {
        "adam": AdamConfig,
        "adamw": AdamWConfig,
        "adadelta": AdadeltaConfig,
        "sgd": SgdConfig,
    },
    SchedulerConfig: {
        "constant": SchedulerConfig,
        "inverse_sqrt": InverseSqrtConfig,
        "plateau": PlateauConfig,
        "cosine": CosineConfig,
    },
}


def data_folder(data: DataConfig) -> Path | None:
    """Return the folder of data=folder or of data=demo (in the package); None for the others."""
    if data.kind == "demo":
        return Path(str(importlib.resources.files("rnnsearch.demo")))
    return None if data.dir is None else Path(data.dir)


def paths_of(value: Any) -> tuple[Path, ...]:
    """Return the files that a key names: a path, a list of paths or null."""
    return tuple(Path(path) for path in listed(value))


def listed(value: Any) -> list[Any]:
    """Return the values of a key that takes one, a list or null."""
    return value if isinstance(value, list) else [] if value is None else [value]
