"""Case R again: signals and kills at any moment."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cases_common import (
    QUICK,
    STRAIGHT,
    TINY,
    check_equal,
    check_links,
    command,
    environment,
    records,
    rnnsearch,
    same_weights,
    state,
    succeed,
    validations,
)


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
    quick_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    check_equal(run, quick_run)
    assert validations(run) == STRAIGHT


def test_a_signal_in_the_middle_of_a_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wide beam over one batch may take half a minute; a stop does not wait for its end."""
    from rnnsearch import search

    real, run, steps = search._Beams.extend, tmp_path / "r", []

    def extend(beams: search._Beams) -> object:
        steps.append(beams.step)
        if len(steps) == 2:
            signal.raise_signal(signal.SIGTERM)
        return real(beams)

    monkeypatch.setattr(search._Beams, "extend", extend)
    result = rnnsearch("train", *QUICK, f"run_dir={run}")
    assert result.status == 143
    assert (steps, state(run)["update"], validations(run)) == ([0, 1], 4, [])


def test_a_signal_in_a_sweep(
    quick_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command leaves what is finished, and goes on in the middle of the next."""
    from rnnsearch import training

    real, runs, updates = training.train_one, tmp_path / "runs", []
    sweep = ("train", "-m", *QUICK, "seed=2,1", f"run_dir={runs}")

    def train_one(run: training.Run, plan: object) -> object:
        updates.append(run.progress.update)
        if len(updates) == 14 + 7:
            signal.raise_signal(signal.SIGTERM)
        return real(run, plan)

    monkeypatch.setattr(training, "train_one", train_one)
    assert rnnsearch(*sweep).status == 143
    assert (state(runs / "seed=2")["update"], state(runs / "seed=1")["update"]) == (14, 7)
    again = succeed(*sweep)
    assert updates == [*range(14), *range(7), *range(7, 14)]
    assert "finished at update 14" in again.err
    check_equal(runs / "seed=1", quick_run)


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
        process.communicate()
        if process.returncode == 0:
            break
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
def test_killed_at_any_change_of_a_name(quick_run: Path, tmp_path: Path) -> None:
    run, chance, kills = tmp_path / "r", random.Random(3), 0
    words = ("train", *QUICK, "trainer.average=2", f"run_dir={run}")
    while True:
        count = str(chance.randint(10, 35))
        python = [sys.executable, "-c", KILLED_AT_A_MOVE, count, *words]
        done = subprocess.run(python, capture_output=True, env=environment(), timeout=300)
        assert done.returncode in (0, 9), done.stderr
        if done.returncode == 0:
            break
        kills += 1
        check_links(run)
    assert kills >= 2  # how many there are depends on what the cache of prepared data spares
    check_equal(run, quick_run)
    assert validations(run) == STRAIGHT
    assert state(run, "averaged")["averaged"] == [12, 14]
