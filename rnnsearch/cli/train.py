"""`rnnsearch train`: from a configuration to a run folder, or on from where it stopped."""

import contextlib
import platform
import re
import time
from pathlib import Path

import datasets
import torch

from rnnsearch import checkpoint as files
from rnnsearch.boards import board_for, check_logger
from rnnsearch.cli.describing import describe
from rnnsearch.cli.quoting import quoted_twice
from rnnsearch.cli.resume import start_or_resume
from rnnsearch.cli.runfolder import run_folder
from rnnsearch.cli.sources import training_sources
from rnnsearch.cli.starting import starting_weights
from rnnsearch.config import SubwordConfig, TrainConfig
from rnnsearch.corpus import encode_pairs, nonblank
from rnnsearch.devices import pick_device
from rnnsearch.distributed import SharedGradients, World, joined
from rnnsearch.errors import UserError
from rnnsearch.interrupts import Interrupts
from rnnsearch.launch import launched
from rnnsearch.loading import check_about, load_weights
from rnnsearch.model import build_model
from rnnsearch.optim import build_optimizer
from rnnsearch.plain import to_plain, to_yaml
from rnnsearch.products import operands_for
from rnnsearch.progress import Progress, end_reason
from rnnsearch.reach import check_longest, check_reach
from rnnsearch.run import Run, ValidationSet
from rnnsearch.runlog import RunLog
from rnnsearch.saving import about, average, fingerprints, load_progress, restore
from rnnsearch.search import search_options
from rnnsearch.text import Tokenizers, train_tokenizers
from rnnsearch.training import fit
from rnnsearch.translator import Translator
from rnnsearch.update import cuda_graphs
from rnnsearch.wholefiles import write_text

# A file that is new on a shared file system may take so long to be seen from another machine.
_SHARED_SECONDS = 60


def run(config: TrainConfig) -> None:
    """Train as `config` says; the same command continues an unfinished run.

    Raises:
        UserError: what the user can mend.
        Interrupted: SIGTERM or Ctrl-C, after saving.
    """
    rank, size, local_rank = launched()
    device = pick_device(config.device, process=local_rank if size > 1 else None)
    check_logger(config.logger)
    interrupts = Interrupts(launched=size > 1)
    with joined(rank, size, gpu=device.type == "cuda") as world, contextlib.ExitStack() as stack:
        if world.leads:
            stack.enter_context(run_folder(config.folder))
        log = stack.enter_context(RunLog(config.folder, silent=not world.leads))
        stack.enter_context(interrupts.caught())
        step, finished = world.led("begin", lambda: _begin(config, log), waiting=interrupts.check)
        if finished:
            return
        training = world.in_turn(
            "prepare",
            lambda: _prepare(config, log, world, device, step=step, interrupts=interrupts),
            waiting=interrupts.check,
        )
        _join(training)
        reason = fit(training)
        log.say(f"finished at update {training.progress.update}: {reason}")
        if world.leads:
            _draw_curves(config.folder, log)
            _tell_best(training.progress, config, log)


def _begin(config: TrainConfig, log: RunLog) -> tuple[str | None, bool]:
    """Return the name of the checkpoint to go on from, if any, and whether nothing is left to do.

    Raises:
        UserError: `resume` forbids it, the settings do not allow it, or no checkpoint is whole.
    """
    folder = config.folder
    step = start_or_resume(config, log)
    if step is None:
        return None, False
    progress = load_progress(step)
    reason = end_reason(progress, config.trainer)
    if reason is None or progress.validated < progress.update:
        return step.name, False
    average(folder, progress, config.trainer)
    log.say(f"{folder}: finished at update {progress.update}: {reason}; raise it to go on")
    _tell_best(progress, config, log)
    return step.name, True


def _join(training: Run) -> None:
    """Hold that all processes begin with the same data and the same weights.

    Raises:
        UserError: the data differ (status 1).
    """
    world = training.world
    if world.size == 1:
        return
    told = {f"data.{split}": content for split, content in fingerprints(training).items()}
    world.check_same(told, remedy="give every machine the same files")
    world.copy_from_first(training.model.parameters())
    training.gradients = SharedGradients(training.model.parameters())


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


def _prepare(
    config: TrainConfig, log: RunLog, world: World, device: torch.device,
    *, step: str | None, interrupts: Interrupts,
) -> Run:  # fmt: skip
    """Read the data, make or load the tokenizers, build the network and restore its state."""
    folder = config.folder
    sources = training_sources(config.data, seed=config.seed)
    with log.stage("reading the data"):
        train_pairs, valid_pairs = (source.read() for source in sources)
    if step is None and world.leads:
        with log.stage("training the tokenizers"):
            tokenizers = _tokenizers(config, train_pairs, log)
        tokenizers.save(folder / "tokenizer")
        write_text(folder / "config.yaml", to_yaml(to_plain(config)))
    else:
        _check_shared(folder)
        tokenizers = Tokenizers.load(folder / "tokenizer")
    data = config.data
    with log.progress_bar(len(train_pairs), description="encoding", unit="pair") as bar:
        train = encode_pairs(
            train_pairs, tokenizers,
            max_length=data.max_length, max_ratio=data.max_ratio, drop=True, progress=bar.update,
        )  # fmt: skip
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
        world=world,
    )  # fmt: skip
    _check_reach(training)
    training.operands = operands_for(config.trainer.precision, device)
    if config.trainer.cuda_graphs:
        training.graphs = cuda_graphs(training)
    describe(training, *sources)
    if step is None and config.start_from is not None:
        weights = starting_weights(Path(config.start_from))
        load_weights(model, weights / files.MODEL)
        log.say(f"  starting from {weights} ({weights.resolve().name})")
    if step is not None:
        _go_on(training, folder / "checkpoints" / step)
    log.rewind(training.progress.update, validated=training.progress.validated)
    if world.leads:
        log.board = board_for(config.logger, folder, update=training.progress.update)
    return training


def _check_shared(folder: Path) -> None:
    """Hold that a process sees the folder that the first one has made.

    Raises:
        UserError: it does not (status 1).
    """
    for _ in range(_SHARED_SECONDS):
        if (folder / "config.yaml").exists():
            return
        time.sleep(1)
    raise UserError(
        f"run_dir={folder}: not seen on {platform.node()}; machines that train together need a "
        "run_dir on a file system that they share",
        status=1,
    )


def _go_on(training: Run, step: Path) -> None:
    """Bring a training back to a checkpoint."""
    folder, config, log = training.run_dir, training.config, training.log
    check_about(step / files.MODEL, about(training))  # other tokenizers make other data, too
    _check_data(training, step)
    load_weights(training.model, step / files.MODEL)
    restore(training, step)
    processes = files.load_state(step).get("processes", 1)
    if processes != training.world.size:
        log.say(f"changed since: processes: {processes} -> {training.world.size}")
    if training.world.leads:
        write_text(folder / "config.yaml", to_yaml(to_plain(config)))


def _check_reach(training: Run) -> None:
    """Hold that memory and learned positions reach as far as the data, before any work."""
    for split, encoded in (("train", training.train), ("valid", training.valid.encoded)):
        longer = "raise it" if split == "valid" else "raise it, or lower data.max_length"
        check_reach(
            [training.model], encoded.source_lengths, remedy=longer,
            line=f"data.{split}: source {{}} of those that are kept",
        )  # fmt: skip
        line = f"data.{split}: target {{}} of those that are kept"
        check_longest(encoded.target_lengths, line=line)


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
    before = files.load_state(step).get("data")
    before = before if isinstance(before, dict) else {}
    for split, now in fingerprints(training).items():
        if before.get(split) != now:
            raise UserError(
                f"data.{split}: these pairs have changed since {step.name} was written (content "
                f"{str(before.get(split))[:12]} then, {now[:12]} now); choose another run_dir"
            )
