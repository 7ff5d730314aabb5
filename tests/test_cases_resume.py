"""Case R: stopping and going on equals never stopping."""

import json
import shutil
from pathlib import Path

import pytest
from cases_common import (
    IN,
    QUICK,
    STRAIGHT,
    TINY,
    check_equal,
    records,
    refuse,
    rnnsearch,
    same_weights,
    state,
    succeed,
    validations,
    weights,
)

from rnnsearch import checkpoint as files

SLOW = pytest.mark.slow


@pytest.mark.slow
def test_r1_stopped_inside_an_epoch(base_run: Path, tmp_path: Path) -> None:
    succeed("train", *TINY, "trainer.max_updates=20", f"run_dir={tmp_path}/b")
    succeed("train", *TINY, f"run_dir={tmp_path}/b")
    check_equal(tmp_path / "b", base_run)
    assert validations(tmp_path / "b") == [10, 20, 30, 40]


@pytest.mark.parametrize(
    "stops", [(5,), *(pytest.param(s, marks=SLOW) for s in [(1,), (4,), (5, 6), (3, 7, 9, 12)])]
)
def test_stopped_anywhere(stops: tuple[int, ...], quick_run: Path, tmp_path: Path) -> None:
    for stop in stops:
        succeed("train", *QUICK, f"trainer.max_updates={stop}", f"run_dir={tmp_path}/r")
    succeed("train", *QUICK, f"run_dir={tmp_path}/r")
    check_equal(tmp_path / "r", quick_run)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        ("optimizer=adadelta", "optimizer.lr=1", "trainer.accumulate=2"),
        ("optimizer=sgd", "optimizer.momentum=0.9", "scheduler=inverse_sqrt"),
        ("optimizer=adamw", "trainer.average=2", "trainer.keep_last=2", "trainer.log_every=4"),
        (
            "scheduler=plateau",
            "scheduler.patience=0",
            "trainer.metric=chrf",
            "scheduler.factor=0.3",
        ),
        ("trainer.batch_tokens=120", "trainer.sort_window=2", "trainer.log_every=5"),
    ],
    ids=lambda settings: settings[0],
)
def test_stopped_under_other_settings(settings: tuple[str, ...], tmp_path: Path) -> None:
    words = (*QUICK, *settings)
    succeed("train", *words, f"run_dir={tmp_path}/straight")
    for stop in ("3", "8"):
        succeed("train", *words, f"trainer.max_updates={stop}", f"run_dir={tmp_path}/r")
    succeed("train", *words, f"run_dir={tmp_path}/r")
    check_equal(tmp_path / "r", tmp_path / "straight")
    if "trainer.average=2" in settings:
        # The validation that the first stop added, at update 3, has long left the average.
        a, b = (weights(tmp_path / name, "averaged") for name in ("r", "straight"))
        assert all(a[name].equal(b[name]) for name in a)
        assert state(tmp_path / "r", "averaged")["averaged"] == [12, 14]


def test_a_finished_run_says_so(quick_run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(quick_run, tmp_path / "copy", symlinks=True)
    before = {p: p.read_bytes() for p in copy.rglob("*") if p.is_file() and p.name != "train.log"}
    result = succeed("train", *QUICK, f"run_dir={copy}")
    assert "finished at update 14: trainer.max_updates=14" in result.err
    assert {p: p.read_bytes() for p in before} == before


@pytest.mark.slow
def test_a_copy_that_followed_the_links_goes_on(quick_run: Path, tmp_path: Path) -> None:
    succeed("train", *QUICK, "trainer.max_updates=20", f"run_dir={tmp_path}/longer")
    copy = shutil.copytree(quick_run, tmp_path / "copy", symlinks=False)
    succeed("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}")
    check_equal(copy, tmp_path / "longer")
    assert (copy / "checkpoints" / "last").is_symlink()
    assert (copy / "checkpoints" / "best").is_symlink()
    lean = tmp_path / "lean"  # of the checkpoints, only `last` was copied
    for name in ("tokenizer", "checkpoints/last"):
        shutil.copytree(quick_run / name, lean / name)
    shutil.copy(quick_run / "config.yaml", lean)
    succeed("train", *QUICK, "trainer.max_updates=20", f"run_dir={lean}")
    assert same_weights(lean, tmp_path / "longer")


@pytest.mark.slow
def test_r2_changed_options_are_used_and_logged(tmp_path: Path) -> None:
    run = tmp_path / "r"
    succeed("train", *TINY, "trainer.max_updates=20", f"run_dir={run}")
    log = (run / "train.log").read_bytes()
    succeed("train", *TINY, "optimizer.lr=0.005", f"run_dir={run}")
    assert (run / "train.log").read_bytes().startswith(log)
    assert b"optimizer.lr: 0.01 -> 0.005" in (run / "train.log").read_bytes()
    assert validations(run) == [10, 20, 30, 40]
    rates = {record["update"]: record["learning_rate"] for record in records(run, "train")}
    assert rates[20] == 0.01
    assert rates[40] == 0.005
    sums = {p: p.read_bytes() for p in (run / "checkpoints").rglob("*") if p.is_file()}
    refuse(
        *("train", *TINY, "trainer.max_updates=60", "model.hidden_size=64", f"run_dir={run}"),
        words=("model.hidden_size", "32", "64"),
        status=(2,),
    )
    assert {p: p.read_bytes() for p in (run / "checkpoints").rglob("*") if p.is_file()} == sums


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("seed=2", ("seed", "1", "2")),
        ("model.dropout=0.5", ("model.dropout", "0.2", "0.5")),
        ("tokenizer=bpe", ("tokenizer.kind", "unigram", "bpe")),
        ("data.max_length=100", ("data.max_length", "200", "100")),
        (f"data.valid.source={IN}/seven.en", ("data.valid.source", "tiny.en", "seven.en")),
        ("trainer.batch_sentences=3", ("trainer.batch_sentences", "4", "3")),
    ],
)
def test_what_cannot_change_is_refused(word: str, words: tuple[str, ...], quick_run: Path) -> None:
    longer = ("trainer.max_updates=20", word, f"run_dir={quick_run}")
    before = sorted((quick_run / "checkpoints").rglob("*"))
    refuse("train", *QUICK, *longer, words=words, status=(2,))
    assert sorted((quick_run / "checkpoints").rglob("*")) == before


@pytest.mark.parametrize("split", ["train", "valid"])
def test_data_edited_in_place_are_refused(split: str, tmp_path: Path) -> None:
    for name in ("tiny.en", "tiny.fr"):
        shutil.copy(IN / name, tmp_path / name)
    own = tuple(
        f"data.{split}.{side}={tmp_path}/{name}"
        for side, name in (("source", "tiny.en"), ("target", "tiny.fr"))
    )
    words = (*QUICK, *own, f"run_dir={tmp_path}/r")
    succeed("train", *words, "trainer.max_updates=2")
    text = (tmp_path / "tiny.fr").read_bytes()
    (tmp_path / "tiny.fr").write_bytes(text.replace(b"chat", b"chut"))
    result = rnnsearch("train", *words)
    assert result.status == 2
    assert f"data.{split}" in result.err
    (tmp_path / "tiny.fr").write_bytes(text)
    succeed("train", *words)


def test_records_of_what_was_lost_are_dropped(quick_run: Path, tmp_path: Path) -> None:
    # A process that is killed between a validation's record and its checkpoint, or before the
    # first checkpoint, leaves records of a future that comes again.
    run = tmp_path / "r"
    succeed("train", *QUICK, "trainer.max_updates=2", f"run_dir={run}")
    saved = state(run)
    step = run / "checkpoints" / "step-2" / "state.json"
    with (run / "metrics.jsonl").open("a") as metrics:
        metrics.write('{"kind": "train", "update": 3, "loss": 1.0}\n')
        metrics.write('{"kind": "validation", "update": 4, "loss": 1.0, "bl')
    step.write_text(json.dumps({**saved, "validated": 0, "best": None, "best_update": None}))
    succeed("train", *QUICK, f"run_dir={run}")
    assert validations(run) == STRAIGHT
    assert [r["update"] for r in records(run, "train")] == list(range(1, 15))
    assert same_weights(run, quick_run)
    shutil.rmtree(run / "checkpoints")
    succeed("train", *QUICK, f"run_dir={run}")
    assert validations(run) == STRAIGHT
    assert [r["update"] for r in records(run, "train")] == list(range(1, 15))


def test_two_processes_do_not_train_in_one_folder(quick_run: Path) -> None:
    with files.lock(quick_run):
        refuse(
            *("train", *QUICK, "trainer.max_updates=20", f"run_dir={quick_run}"),
            words=("run_dir", "another process"),
            status=(2,),
        )
