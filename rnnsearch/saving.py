"""Saving a training and bringing it back, bit for bit."""

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from rnnsearch import checkpoint as files
from rnnsearch.config import TrainerConfig
from rnnsearch.errors import UserError
from rnnsearch.loading import describe
from rnnsearch.optim import state_names
from rnnsearch.progress import Progress
from rnnsearch.run import Run
from rnnsearch.runlog import Meter


def save(run: Run) -> None:
    """Write the checkpoint of the present update, the links and the average; drop old ones.

    Of several processes the first one writes.

    Raises:
        UserError: the weights are not finite, or the disk refuses (status 1).
    """
    progress = run.progress
    if progress.update == 0 or (run.saved == progress.update and not run.scored):
        return
    if run.world.leads:
        _write(run)
    run.saved, run.scored = progress.update, False


def _write(run: Run) -> None:
    progress, trainer = run.progress, run.config.trainer
    state = {
        **progress.to_plain(),
        "meter": asdict(run.meter),
        "data": fingerprints(run),
        "torch": torch.__version__,
        "processes": run.world.size,
    }
    if run.saved == progress.update:
        files.save_state(run.run_dir, progress.update, state)
    else:
        _save_weights(run, state)
    if progress.best_update == progress.update:
        files.point(run.run_dir / "checkpoints" / "best", f"step-{progress.update}")
    recent = progress.recent if trainer.average else []
    ranked = [update for _, update in progress.ranking]
    files.prune(run.run_dir, {*recent, *ranked, *files.steps(run.run_dir)[-trainer.keep_last :]})
    average(run.run_dir, progress, trainer)


def average(run_dir: Path, progress: Progress, trainer: TrainerConfig) -> None:
    """Bring `averaged` up to the last validations; a kill may have come before it was written."""
    if not trainer.average or progress.validated != progress.update:
        return
    present = [update for update in progress.recent if update in files.steps(run_dir)]
    if not present:
        return
    with contextlib.suppress(UserError):
        if files.load_state(run_dir / "checkpoints" / "averaged").get("averaged") == present:
            return
    files.save_average(run_dir, present)


def fingerprints(run: Run) -> dict[str, str]:
    """Return a hash of the content of each split that the training reads."""
    return {"train": run.train.fingerprint, "valid": run.valid.encoded.fingerprint}


def about(run: Run) -> dict[str, str]:
    """Return what the weights belong to, to be stored beside them."""
    return describe(run.config.model, run.translator.tokenizers)


def _save_weights(run: Run, state: dict[str, Any]) -> None:
    progress = run.progress
    weights = {name: weight.detach() for name, weight in run.model.named_parameters()}
    if not all(bool(tensor.isfinite().all()) for tensor in weights.values()):
        raise UserError(
            f"update {progress.update}: weights are not finite; nothing was saved since update "
            f"{run.saved}; lower optimizer.lr={run.config.optimizer.lr:g}",
            status=1,
        )
    files.save_step(
        run.run_dir, progress.update,
        model=weights, optimizer=_optimizer_tensors(run),
        state=state, about=about(run),
    )  # fmt: skip


def _optimizer_tensors(run: Run) -> dict[str, torch.Tensor]:
    """Return the optimizer's state by parameter name.

    Learning rate and other settings are the configuration's, so they are not stored.
    """
    names = [name for name, _ in run.model.named_parameters()]
    return {
        f"{names[i]}/{key}": value
        for i, entry in run.optimizer.state_dict()["state"].items()
        for key, value in entry.items()
        if isinstance(value, torch.Tensor)
    }


def load_progress(step: Path) -> Progress:
    """Return the counters of a step folder.

    Raises:
        UserError: `state.json` is missing, damaged, or not one of a training (status 1).
    """
    state = files.load_state(step)
    try:
        progress = Progress.from_plain(state)
    except (KeyError, TypeError) as error:
        raise _foreign(step / files.STATE, error) from error
    if files.update_of(step) not in (0, progress.update):
        raise UserError(
            f"{step / files.STATE}: belongs to another checkpoint, that of update "
            f"{progress.update}; copy the run folder again",
            status=1,
        )
    return progress


def restore(run: Run, step: Path) -> None:
    """Bring the optimizer and the progress back from a step folder.

    Raises:
        UserError: a file is missing or damaged, or it is of another model (status 1).
    """
    tensors = files.load_tensors(step / files.OPTIMIZER)
    run.progress = load_progress(step)
    try:
        meter = files.load_state(step)["meter"]
        run.meter = Meter(float(meter["nll"]), int(meter["tokens"]), float(meter["seconds"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _foreign(step / files.STATE, error) from error
    try:
        entries = _optimizer_state(run, tensors)
    except (KeyError, TypeError, ValueError) as error:
        raise _foreign(step / files.OPTIMIZER, error) from error
    groups = run.optimizer.state_dict()["param_groups"]
    run.optimizer.load_state_dict({"state": entries, "param_groups": groups})


def _foreign(path: Path, error: Exception) -> UserError:
    return UserError(f"{path}: not of this run: {error}", status=1)


def _optimizer_state(
    run: Run, tensors: dict[str, torch.Tensor]
) -> dict[int, dict[str, torch.Tensor]]:
    """Return tensors as the optimizer's state: by the number of the parameter, then by name.

    Raises:
        KeyError: a parameter has another name.
        TypeError: a tensor is no 32-bit numbers.
        ValueError: a tensor is missing or has another shape.
    """
    numbers = {name: i for i, (name, _) in enumerate(run.model.named_parameters())}
    parameters = list(run.model.parameters())
    entries: dict[int, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        name, _, what = key.rpartition("/")
        if name == "generator":  # of folders written before dropout had a seed for each update
            continue
        shape = parameters[numbers[name]].shape
        if tensor.dtype != torch.float32:
            raise TypeError(f"{key} is of {tensor.dtype}")
        if tensor.shape not in (shape, shape[:1], torch.Size(())):
            raise ValueError(f"{key} is {tuple(tensor.shape)}, of a parameter of {tuple(shape)}")
        entries.setdefault(numbers[name], {})[what] = tensor
    needed = state_names(run.optimizer)
    for entry in entries.values():
        if entry.keys() - {"touched"} != needed:
            raise ValueError(f"it holds {', '.join(sorted(entry))} of a parameter")
    return entries
