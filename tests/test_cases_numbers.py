"""Cases B and N: better and patience, and numbers that are none."""

import json
from pathlib import Path

import pytest
from cases_common import (
    FROZEN,
    IN,
    QUICK,
    TINY,
    records,
    refuse,
    rnnsearch,
    state,
    succeed,
    validations,
)
from safetensors.torch import load_file


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schedule", "metric"),
    [
        *((name, "loss") for name in ("constant", "inverse_sqrt", "plateau", "cosine")),
        ("constant", "bleu"),
    ],
)
def test_b1_a_score_that_never_moves(schedule: str, metric: str, tmp_path: Path) -> None:
    run = tmp_path / "p"
    limits = ("trainer.patience=2", "trainer.max_updates=400", "decode.max_length=10")
    words = (FROZEN, *limits, f"trainer.metric={metric}", f"scheduler={schedule}")
    succeed("train", *TINY, *words, f"run_dir={run}")
    assert validations(run) == [10, 20, 30]
    assert state(run)["update"] == 30
    assert [record["best"] for record in records(run, "validation")] == [True, False, False]
    assert (run / "checkpoints" / "best").resolve().name == "step-10"
    log = (run / "train.log").read_text("utf-8")
    assert "finished at update 30: trainer.patience=2" in log


@pytest.mark.parametrize("stop", [None, "6", "9"])
def test_patience_counts_the_same_after_a_stop(stop: str | None, tmp_path: Path) -> None:
    words = (*QUICK, FROZEN, "trainer.patience=2", "trainer.max_updates=40", "trainer.metric=loss")
    if stop is not None:
        succeed("train", *words, f"trainer.max_updates={stop}", f"run_dir={tmp_path}/p")
    succeed("train", *words, f"run_dir={tmp_path}/p")
    assert state(tmp_path / "p")["update"] == 12
    # What patience compares with is no validation that a stop added.
    assert state(tmp_path / "p")["bad_validations"] == 2
    again = succeed("train", *words, f"run_dir={tmp_path}/p")
    assert "trainer.patience=2" in again.err


@pytest.mark.parametrize(
    "settings",
    [("optimizer=sgd", "optimizer.lr=1e30"), ("optimizer=adam", "optimizer.lr=1e20")],
    ids=["sgd", "adam"],
)
@pytest.mark.parametrize("more", [(), ("trainer.save_every=1", "trainer.valid_every=1")])
def test_n1_divergence(settings: tuple[str, ...], more: tuple[str, ...], tmp_path: Path) -> None:
    words = (*settings, "trainer.max_bad_updates=5", "decode.max_length=8", *more)
    result = rnnsearch("train", *TINY, *words, f"run_dir={tmp_path}/x")
    assert result.status == 1
    assert result.out == ""
    last = result.err.removesuffix("\n").split("\n")[-1]
    assert last.startswith("rnnsearch: update ")
    assert "finite" in last
    for path in (tmp_path / "x").rglob("*.safetensors"):
        assert all(bool(tensor.isfinite().all()) for tensor in load_file(path).values())
    if (tmp_path / "x" / "metrics.jsonl").exists():
        for record in records(tmp_path / "x", "validation"):
            assert record["loss"] is not None or not record["best"]
    for best in (tmp_path / "x").glob("checkpoints/best/state.json"):
        assert json.loads(best.read_bytes())["best"] is not None


@pytest.mark.parametrize("metric", ["bleu", "chrf", "loss"])
def test_a_validation_without_a_finite_loss_is_never_best(metric: str, tmp_path: Path) -> None:
    words = ("optimizer=sgd", "optimizer.lr=1e30", "trainer.max_bad_updates=100")
    result = rnnsearch("train", *QUICK, *words, f"trainer.metric={metric}", f"run_dir={tmp_path}/x")
    found = list(records(tmp_path / "x", "validation"))
    broken = [record for record in found if record["loss"] is None]
    assert not any(record["best"] for record in broken)
    assert (tmp_path / "x" / "checkpoints" / "best").exists() == (len(broken) < len(found))
    if len(broken) == len(found):  # a run without any finite score is no success, nor is it later
        assert result.status == 1
        assert "finite" in result.err.split("\n")[-2]
        again = rnnsearch(
            "train", *QUICK, *words, f"trainer.metric={metric}", f"run_dir={tmp_path}/x"
        )
        assert again.status == 1


def test_n2_no_pair_is_short_enough(tmp_path: Path) -> None:
    refuse(
        *("train", *TINY, "data.max_length=2", f"run_dir={tmp_path}/f"),
        words=("0 of 168 pairs", "data.max_length"),
    )
    assert not (tmp_path / "f" / "checkpoints").exists()
    succeed("train", *QUICK, "trainer.max_updates=1", f"run_dir={tmp_path}/f")


def test_n2_no_time_for_an_update(tmp_path: Path) -> None:
    words = ("trainer.max_minutes=1e-9", f"run_dir={tmp_path}/r")
    result = rnnsearch("train", *QUICK, *words)
    assert result.status == 1
    told = "rnnsearch: trainer.max_minutes=1e-09: over before the first update; raise it\n"
    assert result.err.endswith(told)


def test_n2_empty_files(tmp_path: Path) -> None:
    empty = (f"data.train.source={IN}/empty.src", f"data.train.target={IN}/empty.src")
    refuse("train", *TINY, *empty, f"run_dir={tmp_path}/e", words=("empty.src",))
    valid = (f"data.valid.source={IN}/empty.src", f"data.valid.target={IN}/empty.src")
    refuse("train", *TINY, *valid, f"run_dir={tmp_path}/e", words=("empty.src",))
    blank = tmp_path / "blank"
    blank.write_bytes("\n \n\u200b\n".encode())
    blanks = (f"data.train.source={blank}", f"data.train.target={blank}")
    refuse("train", *TINY, *blanks, f"run_dir={tmp_path}/e", words=("blank",))


def test_n2_an_empty_test_set(quick_run: Path) -> None:
    empty = (f"data.test.source={IN}/empty.src", f"data.test.target={IN}/empty.src")
    refuse("evaluate", f"run_dir={quick_run}", *empty, words=("empty.src",))


def test_n2_dropped_pairs_are_counted(tmp_path: Path) -> None:
    words = ("data.max_length=30", "trainer.max_updates=2", "decode.max_length=8")
    succeed("train", *TINY, *words, f"run_dir={tmp_path}/m")
    log = (tmp_path / "m" / "train.log").read_text("utf-8")
    assert "168 pairs read, " in log
    assert " longer than data.max_length=30" in log
