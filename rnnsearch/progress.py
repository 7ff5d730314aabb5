"""Where a training stands, as plain numbers: what a resume needs, and when it has to end."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

from rnnsearch.config import PlateauConfig, SchedulerConfig, TrainerConfig
from rnnsearch.lines import is_number
from rnnsearch.rules import LARGEST


@dataclass
class Progress:
    """The counters of a training; saved with every checkpoint.

    Attributes:
        update: updates made, skipped ones included.
        epoch: passes over the data completed.
        batch: batches of the present pass completed.
        elapsed_seconds: time in training and validation, all parts of the run together.
        validated: the update of the last validation.
        best: the best score of `trainer.metric` so far, at update `best_update`.
        reference: the score that patience compares with; moved by regular validations only, so
            that stopping a run early and going on changes nothing.
        bad_validations: regular validations in a row without a better score.
        rate_cut: product of the cuts of the `plateau` schedule.
        plateau: bad validations since the last cut.
        bad_updates: updates in a row that were skipped because something was not finite.
        ranking: [score, update] of the best validated checkpoints, best first.
        recent: updates of the last validated checkpoints, for averaging.
    """

    update: int = 0
    epoch: int = 0
    batch: int = 0
    elapsed_seconds: float = 0.0
    validated: int = 0
    best: float | None = None
    best_update: int | None = None
    reference: float | None = None
    bad_validations: int = 0
    rate_cut: float = 1.0
    plateau: int = 0
    bad_updates: int = 0
    ranking: list[tuple[float, int]] = field(default_factory=list)
    recent: list[int] = field(default_factory=list)

    def to_plain(self) -> dict[str, Any]:
        """Return the fields for `state.json`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_plain(cls, state: dict[str, Any]) -> Self:
        """Read the fields from `state.json`.

        Raises:
            KeyError: one is missing.
            TypeError: one is of another kind, negative or too large.
        """
        names = [f.name for f in dataclasses.fields(cls)]
        values = {name: state[name] for name in names}
        for name, value in values.items():
            if not _KINDS[name](value):
                raise TypeError(f"{name} is {str(value)[:50]}")
        values["ranking"] = [(float(score), update) for score, update in values["ranking"]]
        return cls(**values)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and is_number(value)


def _is_ranked(value: Any) -> bool:
    pair = isinstance(value, list | tuple) and len(value) == 2
    return pair and _is_number(value[0]) and _is_count(value[1])


def _list_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(holds, value))


def _or_none(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or holds(value)


# What each field may be in a file that anybody may have written.
_KINDS: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("update", "epoch", "batch", "validated"), _is_count),
    **dict.fromkeys(("bad_validations", "plateau", "bad_updates"), _is_count),
    **dict.fromkeys(("elapsed_seconds", "rate_cut"), _is_number),
    **dict.fromkeys(("best", "reference"), _or_none(_is_number)),
    "best_update": _or_none(_is_count),
    "ranking": _list_of(_is_ranked),
    "recent": _list_of(_is_count),
}


def is_better(metric: str, score: float, than: float | None) -> bool:
    """Return whether `score` improves on `than`: higher, for `loss` lower; equal is no better.

    What is not finite is never better.
    """
    if not math.isfinite(score):
        return False
    return than is None or (score < than if metric == "loss" else score > than)


def judge(
    progress: Progress, score: float, *, trainer: TrainerConfig, scheduler: SchedulerConfig,
    regular: bool,
) -> bool:  # fmt: skip
    """Enter a validation's score; return whether it is the best so far.

    Args:
        progress: changed in place.
        score: of `trainer.metric`.
        trainer: the group of the configuration.
        scheduler: likewise.
        regular: whether the validation stands on the grid of `trainer.valid_every`; one that the
            end of a run adds does not count for patience and schedule.
    """
    progress.validated = progress.update
    best = is_better(trainer.metric, score, progress.best)
    if best:
        progress.best, progress.best_update = score, progress.update
    if math.isfinite(score):
        progress.ranking.append((score, progress.update))
        sign = 1 if trainer.metric == "loss" else -1
        # Of equal scores the earlier one ranks first: the same rule as for `best`.
        progress.ranking.sort(key=lambda entry: (sign * entry[0], entry[1]))
        del progress.ranking[trainer.keep_best :]
    progress.recent = [*progress.recent, progress.update][-max(trainer.average, 1) :]
    if regular:
        _count(progress, score, trainer=trainer, scheduler=scheduler)
    return best


def _count(
    progress: Progress, score: float, *, trainer: TrainerConfig, scheduler: SchedulerConfig
) -> None:
    """Move patience and the plateau schedule on."""
    if is_better(trainer.metric, score, progress.reference):
        progress.reference = score
        progress.bad_validations = progress.plateau = 0
        return
    progress.bad_validations += 1
    progress.plateau += 1
    factor, patience = plateau_settings(scheduler)
    if progress.plateau > patience:
        progress.rate_cut *= factor
        progress.plateau = 0


def plateau_settings(scheduler: SchedulerConfig) -> tuple[float, float]:
    """Return the cut and the validations it waits for; no cut for other schedules."""
    if isinstance(scheduler, PlateauConfig):
        return scheduler.factor, scheduler.patience
    return 1.0, math.inf


def end_reason(progress: Progress, trainer: TrainerConfig) -> str | None:
    """Return why the training is over, naming the key that would let it go on, or None."""
    if trainer.max_updates is not None and progress.update >= trainer.max_updates:
        return f"trainer.max_updates={trainer.max_updates} reached"
    if trainer.max_epochs is not None and progress.epoch >= trainer.max_epochs:
        return f"trainer.max_epochs={trainer.max_epochs} reached"
    if trainer.max_minutes is not None and progress.elapsed_seconds >= 60 * trainer.max_minutes:
        return f"trainer.max_minutes={trainer.max_minutes:g} reached"
    if trainer.patience is not None and progress.bad_validations >= trainer.patience:
        return (
            f"trainer.patience={trainer.patience}: that many validations in a row without a better "
            f"{trainer.metric}"
        )
    return None


def share_done(progress: Progress, trainer: TrainerConfig, *, batches: int) -> float:
    """Return the share of the budget used up, 0 to 1, by whichever limit is nearest.

    Args:
        progress: where the training stands.
        trainer: the limits.
        batches: batches in a pass over the data.
    """
    shares = [0.0]
    if trainer.max_updates is not None:
        shares.append(progress.update / trainer.max_updates)
    if trainer.max_epochs is not None:
        shares.append((progress.epoch + progress.batch / batches) / trainer.max_epochs)
    if trainer.max_minutes is not None:
        shares.append(progress.elapsed_seconds / (60 * trainer.max_minutes))
    return min(max(shares), 1.0)
