"""Cases R, B and N: stopping and going on, better and patience, numbers that are none."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cases_common import (
    FROZEN,
    IN,
    QUICK,
    TINY,
    command,
    environment,
    losses,
    records,
    refuse,
    rnnsearch,
    same_weights,
    state,
    succeed,
    validations,
    weights,
)
from safetensors.torch import load_file

from rnnsearch import checkpoint as files

SLOW = pytest.mark.slow
STRAIGHT = [4, 8, 12, 14]  # where QUICK validates: every 4 updates, and at its end


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the run of QUICK that was never stopped."""
    folder = tmp_path_factory.mktemp("quick") / "straight"
    succeed("train", *QUICK, f"run_dir={folder}")
    return folder


def check_equal(resumed: Path, straight: Path) -> None:
    """Hold that a run that was stopped equals the one that never was."""
    assert same_weights(resumed, straight)
    a, b = losses(resumed), losses(straight)
    assert {key: a[key] for key in a.keys() & b.keys()} == {
        key: b[key] for key in a.keys() & b.keys()
    }
    assert len(validations(resumed)) == len(set(validations(resumed)))
    assert set(validations(straight)) <= set(validations(resumed))
    one, other = state(resumed), state(straight)
    for changing in ("elapsed_seconds", "meter", "recent"):  # `recent` is trainer.average's
        one.pop(changing), other.pop(changing)
    if validations(resumed) == validations(straight):
        assert one == other
    names = {path.name for path in (resumed / "checkpoints").iterdir()}
    assert {n for n in names if not files.STEP.fullmatch(n)} <= {"last", "best", "averaged"}
    assert (resumed / "checkpoints" / "last" / "model.safetensors").is_file()
    assert (resumed / "checkpoints" / "best" / "model.safetensors").is_file()


@pytest.mark.slow
def test_r1_stopped_inside_an_epoch(base_run: Path, tmp_path: Path) -> None:
    succeed("train", *TINY, "trainer.max_updates=20", f"run_dir={tmp_path}/b")
    succeed("train", *TINY, f"run_dir={tmp_path}/b")
    check_equal(tmp_path / "b", base_run)
    assert validations(tmp_path / "b") == [10, 20, 30, 40]


@pytest.mark.parametrize(
    "stops", [(5,), *(pytest.param(s, marks=SLOW) for s in [(1,), (4,), (5, 6), (3, 7, 9, 12)])]
)
def test_stopped_anywhere(stops: tuple[int, ...], straight: Path, tmp_path: Path) -> None:
    for stop in stops:
        succeed("train", *QUICK, f"trainer.max_updates={stop}", f"run_dir={tmp_path}/r")
    succeed("train", *QUICK, f"run_dir={tmp_path}/r")
    check_equal(tmp_path / "r", straight)


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


def test_a_finished_run_says_so(straight: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(straight, tmp_path / "copy", symlinks=True)
    before = {p: p.read_bytes() for p in copy.rglob("*") if p.is_file() and p.name != "train.log"}
    result = succeed("train", *QUICK, f"run_dir={copy}")
    assert "finished at update 14: trainer.max_updates=14" in result.err
    assert {p: p.read_bytes() for p in before} == before


def test_a_copy_that_followed_the_links_goes_on(straight: Path, tmp_path: Path) -> None:
    succeed("train", *QUICK, "trainer.max_updates=20", f"run_dir={tmp_path}/longer")
    copy = shutil.copytree(straight, tmp_path / "copy", symlinks=False)
    succeed("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}")
    check_equal(copy, tmp_path / "longer")
    assert (copy / "checkpoints" / "last").is_symlink()
    assert (copy / "checkpoints" / "best").is_symlink()
    lean = tmp_path / "lean"  # of the checkpoints, only `last` was copied
    for name in ("tokenizer", "checkpoints/last"):
        shutil.copytree(straight / name, lean / name)
    shutil.copy(straight / "config.yaml", lean)
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
def test_what_cannot_change_is_refused(word: str, words: tuple[str, ...], straight: Path) -> None:
    longer = ("trainer.max_updates=20", word, f"run_dir={straight}")
    before = sorted((straight / "checkpoints").rglob("*"))
    refuse("train", *QUICK, *longer, words=words, status=(2,))
    assert sorted((straight / "checkpoints").rglob("*")) == before


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


def test_records_of_what_was_lost_are_dropped(straight: Path, tmp_path: Path) -> None:
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
    assert same_weights(run, straight)
    shutil.rmtree(run / "checkpoints")
    succeed("train", *QUICK, f"run_dir={run}")
    assert validations(run) == STRAIGHT
    assert [r["update"] for r in records(run, "train")] == list(range(1, 15))


# Ends the process, without any clean-up, before the N-th change of a name in a folder.
KILLED_AT_A_MOVE = """
import os, sys
left = int(sys.argv.pop(1))
def counted(change):
    def wrapper(*args, **settings):
        global left
        left -= 1
        if left == 0:
            os._exit(9)
        return change(*args, **settings)
    return wrapper
from rnnsearch.cli.main import main
for name in ("replace", "rename", "symlink", "unlink", "rmdir"):
    setattr(os, name, counted(getattr(os, name)))
sys.exit(main())
"""


@pytest.mark.slow
def test_killed_at_any_change_of_a_name(straight: Path, tmp_path: Path) -> None:
    run, chance, kills = tmp_path / "r", random.Random(3), 0
    words = ("train", *QUICK, "trainer.average=2", f"run_dir={run}")
    while True:
        count = str(chance.randint(2, 24))
        python = [sys.executable, "-c", KILLED_AT_A_MOVE, count, *words]
        done = subprocess.run(python, capture_output=True, env=environment(), timeout=300)
        assert done.returncode in (0, 9), done.stderr
        if done.returncode == 0:
            break
        kills += 1
        check_links(run)
    assert kills >= 4
    check_equal(run, straight)
    assert validations(run) == STRAIGHT
    assert state(run, "averaged")["averaged"] == [12, 14]


def check_links(run: Path) -> None:
    """Hold that `last` and `best` lead to whole checkpoints, once there are any."""
    for name in ("last", "best"):
        link = run / "checkpoints" / name
        if link.is_symlink():
            assert load_file(link / "model.safetensors")
            assert state(run, name)["format"] == files.FORMAT


def start(*argv: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(*argv), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )


def wait_for(what: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until `what` holds; not for ever, and not past the end of the process."""
    end = time.monotonic() + 300
    while not what() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["term", "int"]
)
def test_a_signal_saves_and_the_same_command_goes_on(
    number: int, status: int, base_run: Path, tmp_path: Path
) -> None:
    run = tmp_path / "r"
    process = start("train", *TINY, "trainer.log_every=1", f"run_dir={run}")
    wait_for(lambda: (run / "metrics.jsonl").exists(), process)
    process.send_signal(number)
    out, err = process.communicate(timeout=300)
    assert process.returncode == status, err
    assert out == b""
    assert b"Traceback" not in err
    assert b"the same command goes on" in err
    update = state(run)["update"]
    assert 1 <= update < 40
    succeed("train", *TINY, "trainer.log_every=1", f"run_dir={run}")
    assert f"going on from step-{update}" in (run / "train.log").read_text("utf-8")
    assert same_weights(run, base_run)
    assert validations(run) == [10, 20, 30, 40]


def test_a_signal_during_a_validation(
    straight: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The validation is made again; the updates before it are not."""
    from rnnsearch import training

    real, run = training.score_pairs, tmp_path / "r"

    def scored(*args, progress, **settings):  # type: ignore[no-untyped-def]
        signal.raise_signal(signal.SIGTERM)
        return real(*args, progress=progress, **settings)

    for _ in range(2):  # the second time, at the start, in the validation to be made again
        monkeypatch.setattr(training, "score_pairs", scored)
        result = rnnsearch("train", *QUICK, f"run_dir={run}")
        assert result.status == 143
        assert "stopped at update 4" in result.err
        assert state(run)["update"] == 4
        assert validations(run) == []
    monkeypatch.setattr(training, "score_pairs", real)
    succeed("train", *QUICK, f"run_dir={run}")
    check_equal(run, straight)
    assert validations(run) == STRAIGHT


@pytest.mark.slow
def test_killed_at_random_moments(base_run: Path, tmp_path: Path) -> None:
    run, chance = tmp_path / "r", random.Random(7)
    words = ("train", *TINY, "trainer.save_every=2", "trainer.log_every=1", f"run_dir={run}")
    kills = 0
    metrics = run / "metrics.jsonl"
    while kills < 8:
        process = start(*words)
        begun = metrics.stat().st_mtime_ns if metrics.exists() else 0
        wait_for(
            lambda since=begun: metrics.exists() and metrics.stat().st_mtime_ns > since, process
        )
        time.sleep(chance.random() * 1.5)
        process.kill()
        if process.wait() == 0:
            break
        process.communicate()
        kills += 1
        check_links(run)
    succeed(*words)
    assert same_weights(run, base_run)
    assert validations(run) == [10, 20, 30, 40]
    assert [record["update"] for record in records(run, "train")] == list(range(1, 41))
    names = {path.name for path in (run / "checkpoints").iterdir()}
    best = state(run)["best_update"]
    assert names == {"last", "best", "step-40", f"step-{best}"}
    assert not list(run.glob(".*"))


def test_two_processes_do_not_train_in_one_folder(straight: Path) -> None:
    with files.lock(straight):
        refuse(
            *("train", *QUICK, "trainer.max_updates=20", f"run_dir={straight}"),
            words=("run_dir", "another process"),
            status=(2,),
        )


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


def test_n2_empty_files(tmp_path: Path) -> None:
    empty = (f"data.train.source={IN}/empty.src", f"data.train.target={IN}/empty.src")
    refuse("train", *TINY, *empty, f"run_dir={tmp_path}/e", words=("empty.src",))
    valid = (f"data.valid.source={IN}/empty.src", f"data.valid.target={IN}/empty.src")
    refuse("train", *TINY, *valid, f"run_dir={tmp_path}/e", words=("empty.src",))
    blank = tmp_path / "blank"
    blank.write_bytes("\n \n\u200b\n".encode())
    blanks = (f"data.train.source={blank}", f"data.train.target={blank}")
    refuse("train", *TINY, *blanks, f"run_dir={tmp_path}/e", words=("blank",))


def test_n2_an_empty_test_set(straight: Path) -> None:
    empty = (f"data.test.source={IN}/empty.src", f"data.test.target={IN}/empty.src")
    refuse("evaluate", f"run_dir={straight}", *empty, words=("empty.src",))


def test_n2_dropped_pairs_are_counted(tmp_path: Path) -> None:
    words = ("data.max_length=30", "trainer.max_updates=2", "decode.max_length=8")
    succeed("train", *TINY, *words, f"run_dir={tmp_path}/m")
    log = (tmp_path / "m" / "train.log").read_text("utf-8")
    assert "168 pairs read, " in log
    assert " longer than data.max_length=30" in log
