"""Saving a training and bringing it back, bit for bit."""

import contextlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from rnnsearch import checkpoint as files
from rnnsearch.config import TrainerConfig
from rnnsearch.errors import UserError
from rnnsearch.progress import Progress
from rnnsearch.run import Run
from rnnsearch.runlog import Meter


def save(run: Run) -> None:
    """Write the checkpoint of the present update, the links and the average; drop old ones.

    Raises:
        UserError: the weights are not finite, or the disk refuses (status 1).
    """
    progress, trainer = run.progress, run.config.trainer
    if progress.update == 0 or (run.saved == progress.update and not run.scored):
        return
    state = {
        **progress.to_plain(),
        "meter": asdict(run.meter),
        "data": fingerprints(run),
        "torch": torch.__version__,
    }
    if run.saved == progress.update:
        files.save_state(run.run_dir, progress.update, state)
    else:
        _save_weights(run, state)
    run.scored = False
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
    with contextlib.suppress(UserError):
        if files.load_state(run_dir / "checkpoints" / "averaged").get("averaged") == present:
            return
    files.save_average(run_dir, present)


def fingerprints(run: Run) -> dict[str, str]:
    """Return a hash of the content of each split that the training reads."""
    return {"train": run.train.fingerprint, "valid": run.valid.encoded.fingerprint}


def _save_weights(run: Run, state: dict[str, Any]) -> None:
    progress = run.progress
    weights = run.model.state_dict()
    if not all(bool(tensor.isfinite().all()) for tensor in weights.values()):
        raise UserError(
            f"update {progress.update}: weights are not finite; nothing was saved since update "
            f"{run.saved}; lower optimizer.lr={run.config.optimizer.lr:g}",
            status=1,
        )
    files.save_step(
        run.run_dir, progress.update,
        model=weights, optimizer=_optimizer_tensors(run),
        state=state,
    )  # fmt: skip
    run.saved = progress.update


def _optimizer_tensors(run: Run) -> dict[str, torch.Tensor]:
    """Return the optimizer's state by parameter name, and the generators that dropout draws from.

    Learning rate and other settings are the configuration's, so they are not stored.
    """
    names = [name for name, _ in run.model.named_parameters()]
    tensors = {
        f"{names[i]}/{key}": value
        for i, entry in run.optimizer.state_dict()["state"].items()
        for key, value in entry.items()
        if isinstance(value, torch.Tensor)
    }
    tensors["generator/cpu"] = torch.get_rng_state()
    if run.device.type == "cuda":
        tensors["generator/cuda"] = torch.cuda.get_rng_state(run.device)
    return tensors


def restore(run: Run, step: Path) -> None:
    """Bring the optimizer, the generators and the progress back from a step folder.

    Raises:
        UserError: a file is missing or damaged, or it is of other data (status 1).
    """
    tensors = files.load_tensors(step / files.OPTIMIZER)
    state = files.load_state(step)
    try:
        run.progress = Progress.from_plain(state)
        run.meter = Meter(**state["meter"])
        torch.set_rng_state(tensors.pop("generator/cpu"))
        cuda = tensors.pop("generator/cuda", None)
        if cuda is not None and run.device.type == "cuda":
            torch.cuda.set_rng_state(cuda, run.device)
        entries: dict[int, dict[str, torch.Tensor]] = {}
        indices = {name: i for i, (name, _) in enumerate(run.model.named_parameters())}
        for key, tensor in tensors.items():
            name, field_name = key.rsplit("/", 1)
            entries.setdefault(indices[name], {})[field_name] = tensor
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{step}: not a checkpoint of this run: {error}", status=1) from error
    groups = run.optimizer.state_dict()["param_groups"]
    run.optimizer.load_state_dict({"state": entries, "param_groups": groups})
