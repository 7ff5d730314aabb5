"""The rules of better, patience, schedule and end, as pure functions."""

import math

import pytest

from rnnsearch.config import (
    CosineConfig,
    InverseSqrtConfig,
    PlateauConfig,
    SchedulerConfig,
    TrainerConfig,
)
from rnnsearch.optim import rate_factor
from rnnsearch.progress import Progress, end_reason, is_better, judge, share_done

CONSTANT = SchedulerConfig("constant", 0)


def trainer(**changes):
    values = dict.fromkeys(TrainerConfig.__dataclass_fields__)
    values |= {"metric": "bleu", "keep_best": 1, "average": 0} | changes
    return TrainerConfig(**values)


@pytest.mark.parametrize(
    ("metric", "score", "than", "better"),
    [
        ("bleu", 2.0, 1.0, True),
        ("bleu", 1.0, 1.0, False),
        ("bleu", 0.0, None, True),
        ("chrf", 1.0, 2.0, False),
        ("loss", 1.0, 2.0, True),
        ("loss", 2.0, 2.0, False),
        ("loss", math.nan, None, False),
        ("bleu", math.inf, 1.0, False),
    ],
)
def test_is_better(metric, score, than, better):
    assert is_better(metric, score, than) is better


def validations(scores, *, scheduler=CONSTANT, regular=True, **changes):
    progress = Progress()
    for score in scores:
        progress.update += 10
        judge(progress, score, trainer=trainer(**changes), scheduler=scheduler, regular=regular)
    return progress


def test_patience_counts_validations_without_a_better_score():
    progress = validations([1.0, 1.0, 1.0], patience=2)
    assert (progress.best_update, progress.bad_validations) == (10, 2)
    assert "trainer.patience=2" in end_reason(progress, trainer(patience=2))
    assert end_reason(validations([1.0, 1.0, 2.0]), trainer(patience=2)) is None


def test_a_score_that_is_not_finite_is_never_best_and_counts_against_patience():
    progress = validations([math.nan, 1.0, math.inf], patience=5)
    assert (progress.best, progress.best_update, progress.bad_validations) == (1.0, 20, 1)
    assert progress.ranking == [(1.0, 20)]


def test_a_last_validation_off_the_grid_moves_best_but_not_patience():
    progress = validations([1.0])
    progress.update = 15
    assert judge(progress, 2.0, trainer=trainer(), scheduler=CONSTANT, regular=False)
    assert (progress.best_update, progress.reference, progress.bad_validations) == (15, 1.0, 0)


def test_ranking_keeps_the_best_and_prefers_the_earlier_of_equals():
    assert validations([1.0, 3.0, 3.0, 2.0], keep_best=2).ranking == [(3.0, 20), (3.0, 30)]
    ranking = validations([1.0, 3.0, 3.0, 2.0], keep_best=2, metric="loss").ranking
    assert ranking == [(1.0, 10), (2.0, 40)]


def test_plateau_cuts_the_rate_after_its_patience():
    plateau = PlateauConfig("plateau", 0, factor=0.5, patience=1)
    assert validations([1.0, 1.0], scheduler=plateau).rate_cut == 1.0
    assert validations([1.0, 1.0, 1.0], scheduler=plateau).rate_cut == 0.5
    assert validations([1.0] * 5, scheduler=plateau).rate_cut == 0.25
    assert validations([1.0, 1.0, 2.0, 2.0], scheduler=plateau).rate_cut == 1.0


@pytest.mark.parametrize(
    ("limit", "reached"),
    [
        ({"max_updates": 5}, {"update": 5}),
        ({"max_epochs": 2}, {"epoch": 2}),
        ({"max_minutes": 1.0}, {"elapsed_seconds": 60.0}),
    ],
)
def test_each_limit_ends_the_run_and_is_named(limit, reached):
    (key,) = limit
    assert end_reason(Progress(), trainer(**limit)) is None
    assert key in end_reason(Progress(**reached), trainer(**limit))


def test_share_done_is_that_of_the_nearest_limit():
    progress = Progress(update=25, epoch=1, batch=5, elapsed_seconds=30.0)
    limits = trainer(max_updates=100, max_epochs=2, max_minutes=5.0)
    assert share_done(progress, limits, batches=10) == pytest.approx(0.75)
    assert share_done(Progress(update=9), trainer(max_updates=3), batches=1) == 1.0
    assert share_done(progress, trainer(), batches=10) == 0.0


def test_progress_survives_json():
    progress = validations([1.0, 2.0])
    assert Progress.from_plain(progress.to_plain()) == progress
    with pytest.raises(KeyError):
        Progress.from_plain({"update": 1})


@pytest.mark.parametrize(
    ("config", "update", "done", "factor"),
    [
        (SchedulerConfig("constant", 0), 7, 0.5, 1.0),
        (SchedulerConfig("constant", 10), 5, 0.5, 0.5),
        (InverseSqrtConfig("inverse_sqrt", 100), 50, 0.0, 0.5),
        (InverseSqrtConfig("inverse_sqrt", 100), 100, 0.0, 1.0),
        (InverseSqrtConfig("inverse_sqrt", 100), 400, 0.0, 0.5),
        (InverseSqrtConfig("inverse_sqrt", 0), 4, 0.0, 0.5),
        (CosineConfig("cosine", 0, 0.0), 1, 0.0, 1.0),
        (CosineConfig("cosine", 0, 0.0), 1, 0.5, 0.5),
        (CosineConfig("cosine", 0, 0.1), 1, 1.0, 0.1),
    ],
)
def test_rate_factor(config, update, done, factor):
    assert rate_factor(config, update=update, done=done) == pytest.approx(factor)
