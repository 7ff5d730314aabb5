"""What a training says of itself before its first update."""

from rnnsearch.config import OptimizerConfig, TrainConfig, TrainerConfig
from rnnsearch.corpus import PairSource
from rnnsearch.modelconfig import ModelConfig
from rnnsearch.run import Run


def describe(training: Run, train: PairSource, valid: PairSource) -> None:
    """Say what is being trained on what, until when, and where it is kept."""
    config, log = training.config, training.log
    log.say(f"{config.folder}: model={config.model.kind} data={config.data.kind}")
    log.say(f"  training   {train.label}: {training.train.counts.describe()}")
    count = len(training.valid.encoded)
    log.say(f"  validation {valid.label}: {count} pairs read, {count} kept")
    tokenizers = training.translator.tokenizers
    log.say(
        f"  vocabulary {tokenizers.source.vocab_size} source, {tokenizers.target.vocab_size} "
        f"target {'words' if tokenizers.target.kind == 'word' else 'pieces'}"
    )
    parameters = sum(parameter.numel() for parameter in training.model.parameters())
    log.say(f"  network    {_sizes(config.model)}; {parameters:,} parameters on {training.device}")
    log.say(f"  updates    {_updates(config)}")
    if config.logger == "tensorboard":
        log.say(f"  curves     tensorboard --logdir {config.folder}")


def _sizes(model: ModelConfig) -> str:
    """Return the sizes of the layers in units, and which of its kind a model is."""
    parts = [f"embeddings {model.embedding_size}"]
    encoder = model.encoder_size or model.hidden_size
    match model.kind:
        case "rnnsearch":
            parts.append(f"encoder 2 x {encoder}")
        case "transformer_input":
            parts.append(f"encoder of {getattr(model, 'layers', 0)} layers")
        case _:
            parts.append(f"encoder {encoder}, unit {getattr(model, 'unit', 'gated')}")
    parts.append(f"decoder {model.hidden_size}")
    if attention := getattr(model, "attention", None):
        units = getattr(model, "alignment_size", None) or model.hidden_size
        parts.append(f"attention {attention}" + (f" {units}" if attention == "additive" else ""))
    parts += [f"maxout {model.maxout_size}", f"wiring {model.wiring}"]
    return ", ".join(parts if model.tied == "none" else [*parts, f"tied {model.tied}"])


def _updates(config: TrainConfig) -> str:
    """Return what an update is, when there is a validation, and when the training ends."""
    trainer = config.trainer
    every = "epoch" if trainer.valid_every is None else f"{trainer.valid_every} updates"
    return (
        f"of {_batch(trainer)}, {_rate(config.optimizer)}; a validation every {every}; "
        f"{_end(trainer)}"
    )


def _batch(trainer: TrainerConfig) -> str:
    if trainer.batch_tokens is not None:
        return f"{trainer.batch_tokens} target tokens"
    return f"{trainer.batch_sentences} pairs"


def _rate(optimizer: OptimizerConfig) -> str:
    return f"{optimizer.kind} {optimizer.lr:g}"


def _end(trainer: TrainerConfig) -> str:
    """Return the limits, the first of which ends the run."""
    limits = [
        f"{value:g} {unit}"
        for value, unit in (
            (trainer.max_updates, "updates"),
            (trainer.max_epochs, "epochs"),
            (trainer.max_minutes, "minutes"),
            (trainer.patience, f"validations without a better {trainer.metric}"),
        )
        if value is not None
    ]
    return f"the end after {' or '.join(limits)}" if limits else "no limit"
