"""`rnnsearch train`: from a configuration to a run folder, or on from where it stopped."""

import os
import re
from pathlib import Path

import datasets
import torch

from rnnsearch import checkpoint as files
from rnnsearch.cli.quoting import quoted_twice
from rnnsearch.cli.runfolder import run_folder
from rnnsearch.cli.sources import training_sources
from rnnsearch.cli.starting import starting_weights
from rnnsearch.config import SubwordConfig, TrainConfig
from rnnsearch.corpus import PairSource, encode_pairs, nonblank
from rnnsearch.errors import UserError
from rnnsearch.interrupts import Interrupts
from rnnsearch.loading import load_weights
from rnnsearch.model import build_model
from rnnsearch.optim import build_optimizer
from rnnsearch.plain import load_run_config, to_plain, to_yaml
from rnnsearch.products import operands_for
from rnnsearch.progress import Progress, end_reason
from rnnsearch.reach import check_reach
from rnnsearch.resuming import compare_for_resume
from rnnsearch.run import Run, ValidationSet
from rnnsearch.runlog import RunLog
from rnnsearch.saving import average, fingerprints, restore
from rnnsearch.search import search_options
from rnnsearch.text import Tokenizers, train_tokenizers
from rnnsearch.training import fit
from rnnsearch.translator import Translator
from rnnsearch.update import cuda_graphs
from rnnsearch.validation import pick_device


def run(config: TrainConfig) -> None:
    """Train as `config` says; the same command continues an unfinished run.

    Raises:
        UserError: what the user can mend.
        Interrupted: SIGTERM or Ctrl-C, after saving.
    """
    folder = config.folder
    interrupts = Interrupts()
    with run_folder(folder), RunLog(folder) as log, interrupts.caught():
        step = _start(config, log)
        if step is not None:
            progress = Progress.from_plain(files.load_state(step))
            reason = end_reason(progress, config.trainer)
            if reason is not None and progress.validated == progress.update:
                average(folder, progress, config.trainer)
                log.say(f"{folder}: finished at update {progress.update}: {reason}")
                _tell_best(progress, config, log)
                return
        training = _prepare(config, log, step=step, interrupts=interrupts)
        reason = fit(training)
        log.say(f"finished at update {training.progress.update}: {reason}")
        _draw_curves(folder, log)
        _tell_best(training.progress, config, log)


def _tell_best(progress: Progress, config: TrainConfig, log: RunLog) -> None:
    """Say what came out of a finished training, and what to do next.

    Raises:
        UserError: nothing did (status 1).
    """
    if progress.update == 0:
        raise UserError(
            f"trainer.max_minutes={config.trainer.max_minutes}: over before the first update; "
            "raise it",
            status=1,
        )
    if progress.best is None:
        raise UserError(
            f"update {progress.update}: no validation had a finite loss, so no checkpoint is the "
            f"best; lower optimizer.lr={config.optimizer.lr:g} and choose another run_dir",
            status=1,
        )
    log.say(
        f"best {config.trainer.metric} {progress.best:.2f} at update {progress.best_update}; "
        f"next: rnnsearch evaluate {_typed(config.folder)}"
    )


def _typed(folder: Path) -> str:
    """Return the override for a run folder as one types it; swept runs have `=` in their names."""
    plain = re.fullmatch(r"[\w./-]+", str(folder), re.ASCII)
    return f"run_dir={folder}" if plain else quoted_twice("run_dir", str(folder))


def _draw_curves(folder: Path, log: RunLog) -> None:
    """Draw the curves; a picture that fails must not fail the training."""
    from rnnsearch.plots import draw_curves

    try:
        path = draw_curves(folder)
    except OSError as error:
        log.warn(f"the curves could not be drawn: {error}")
    else:
        if path is not None:
            log.say(f"curves: {path}")


def _start(config: TrainConfig, log: RunLog) -> Path | None:
    """Decide between a new run and going on; return the step folder to go on from.

    Raises:
        UserError: `resume` forbids it, the settings do not allow it, or no checkpoint is whole.
    """
    folder = config.folder
    files.clean(folder)
    holds_run = (folder / "config.yaml").exists() or bool(files.steps(folder))
    if config.resume == "never" and holds_run:
        raise UserError(
            f"resume=never: {folder} holds a run; choose another run_dir, or resume=auto to go on"
        )
    last = folder / "checkpoints" / "last"
    if not files.steps(folder) and last.is_symlink():
        raise UserError(
            f"{last}: leads to {last.readlink()}, which is missing; copy the run folder again, or "
            "choose another run_dir to start anew",
            status=1,
        )
    if not files.steps(folder):
        if config.resume == "must":
            raise UserError(f"resume=must: {folder} holds no checkpoint; resume=auto starts anew")
        return None
    changes = compare_for_resume(to_plain(load_run_config(folder)), to_plain(config))
    step = _whole_checkpoint(folder, log)
    log.say(f"{folder}: going on from {step.name}")
    for change in changes:
        log.say(f"changed since: {change}")
    return step


def _whole_checkpoint(folder: Path, log: RunLog) -> Path:
    """Return the last checkpoint whose files can all be read, saying which ones cannot.

    Raises:
        UserError: there is none; it names the first file (status 1).
    """
    errors: list[UserError] = []
    for step in files.newest_first(folder):
        try:
            state = files.load_state(step)
            files.load_tensors(step / files.MODEL)
            files.load_tensors(step / files.OPTIMIZER)
        except UserError as error:
            errors.append(error)
            continue
        for damage in errors:
            log.warn(str(damage))
        if step.name == "last":
            step = files.adopt(step, state["update"])
        files.point(step.with_name("last"), step.name)
        _mend_best(step, state["best_update"], log)
        return step
    raise errors[0]


def _mend_best(step: Path, best_update: int | None, log: RunLog) -> None:
    """Let `best` lead to what was best at `step`, which a kill or a damage may have undone.

    Where it leads to a later checkpoint that is whole, it stays; a last resort is `step` itself.
    """
    best, earlier = step.with_name("best"), step.with_name(f"step-{best_update}")
    later = files.update_of(best) > files.update_of(step)
    for choice in (best, earlier) if later else (earlier, best):
        if not os.path.lexists(choice):
            continue
        try:
            files.load_tensors(choice / files.MODEL)
        except UserError as error:
            log.warn(f"best: {error}")
            continue
        if choice is earlier:
            files.point(best, earlier.name)
        return
    if os.path.lexists(best):
        files.point(best, step.name)


def _prepare(config: TrainConfig, log: RunLog, *, step: Path | None, interrupts: Interrupts) -> Run:
    """Read the data, make or load the tokenizers, build the network and restore its state."""
    folder, device = config.folder, pick_device(config.device)
    sources = training_sources(config.data, seed=config.seed)
    train_pairs, valid_pairs = (source.read() for source in sources)
    if step is None:
        tokenizers = _tokenizers(config, train_pairs, log)
        tokenizers.save(folder / "tokenizer")
        files.write_text(folder / "config.yaml", to_yaml(to_plain(config)))
    else:
        tokenizers = Tokenizers.load(folder / "tokenizer")
    data = config.data
    train = encode_pairs(
        train_pairs, tokenizers, max_length=data.max_length, max_ratio=data.max_ratio, drop=True
    )
    valid = encode_pairs(valid_pairs, tokenizers, max_length=None, max_ratio=None, drop=False)
    torch.manual_seed(config.seed)
    model = build_model(
        config.model,
        source_vocab=tokenizers.source.vocab_size, target_vocab=tokenizers.target.vocab_size,
    ).to(device)  # fmt: skip
    training = Run(
        folder, config, model, build_optimizer(config.optimizer, model),
        Translator(
            [model], tokenizers,
            options=search_options(config.decode, kind=tokenizers.target.kind),
            batch_sentences=config.decode.batch_sentences,
        ),
        train, ValidationSet(valid_pairs["source"], valid_pairs["target"], valid), log, interrupts,
    )  # fmt: skip
    _check_reach(training)
    training.operands = operands_for(config.trainer.precision, device)
    if config.trainer.cuda_graphs:
        training.graphs = cuda_graphs(training)
    _describe(training, *sources)
    if step is None and config.start_from is not None:
        weights = starting_weights(Path(config.start_from))
        load_weights(model, weights / files.MODEL)
        log.say(f"  starting from {weights} ({weights.resolve().name})")
    if step is not None:
        _check_data(training, step)
        load_weights(model, step / files.MODEL)
        restore(training, step)
        files.write_text(folder / "config.yaml", to_yaml(to_plain(config)))
    log.rewind(training.progress.update, validated=training.progress.validated)
    return training


def _check_reach(training: Run) -> None:
    """Hold that learned positions reach as far as the sources, before any work."""
    for split, encoded in (("train", training.train), ("valid", training.valid.encoded)):
        longer = "raise it" if split == "valid" else "raise it, or lower data.max_length"
        check_reach(
            [training.model], encoded.source_lengths.tolist(), remedy=longer,
            line=f"data.{split}: source {{}} of those that are kept",
        )  # fmt: skip


def _tokenizers(config: TrainConfig, pairs: datasets.Dataset, log: RunLog) -> Tokenizers:
    """Take over the tokenizers of another run, or train them on the pairs that are not blank."""
    settings = config.tokenizer
    other = config.start_from or settings.path
    if other is not None:
        return Tokenizers.load(Path(other) / "tokenizer")
    sources, targets = nonblank(pairs)
    return train_tokenizers(
        sources, targets,
        kind=settings.kind, vocab_size=settings.vocab_size, joint=settings.joint,
        byte_fallback=isinstance(settings, SubwordConfig) and settings.byte_fallback,
        languages=(config.data.source_lang, config.data.target_lang), warn=log.warn,
    )  # fmt: skip


def _check_data(training: Run, step: Path) -> None:
    """Refuse to go on with other data than the checkpoint was trained on.

    Raises:
        UserError: the content of the training or validation files has changed.
    """
    before = files.load_state(step).get("data", {})
    for split, now in fingerprints(training).items():
        if before.get(split) != now:
            raise UserError(
                f"data.{split}: these pairs have changed since {step.name} was written (content "
                f"{str(before.get(split))[:12]} then, {now[:12]} now); choose another run_dir"
            )


def _describe(training: Run, train: PairSource, valid: PairSource) -> None:
    """Say what is being trained on what."""
    config, log = training.config, training.log
    log.say(f"{config.folder}: model={config.model.kind} data={config.data.kind}")
    log.say(f"  training   {train.label}: {training.train.counts.describe()}")
    count = len(training.valid.encoded)
    log.say(f"  validation {valid.label}: {count} pairs read, {count} kept")
    tokenizers = training.translator.tokenizers
    parameters = sum(parameter.numel() for parameter in training.model.parameters())
    log.say(
        f"  vocabulary {tokenizers.source.vocab_size} source, {tokenizers.target.vocab_size} "
        f"target {'words' if tokenizers.target.kind == 'word' else 'pieces'}; {parameters:,} "
        f"parameters on {training.device}"
    )
