"""Several processes make the updates that one makes, and end together."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from cases_common import (
    IN,
    QUICK,
    check_links,
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

from rnnsearch import distributed
from rnnsearch.devices import pick_device
from rnnsearch.distributed import World
from rnnsearch.errors import UserError
from rnnsearch.launch import launched

distributed_test = pytest.mark.distributed

# Case G1: seven pairs, two processes, batches of 2, the last of which holds one pair.
SEVEN = (
    *(*QUICK, "model.dropout=0", "optimizer=sgd", "optimizer.lr=0.1"),
    *("trainer.batch_sentences=2", "trainer.max_updates=11", "trainer.log_every=1"),
)
SECONDS = 600


def torchrun(*words: str | Path, processes: int = 2) -> list[str]:
    """Return the words that start a program in several processes."""
    launcher = ["torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    return [sys.executable, "-m", *launcher, *map(str, words)]


def launch(*words: str | Path, processes: int = 2) -> subprocess.CompletedProcess[str]:
    """Run a program in several processes."""
    return subprocess.run(
        torchrun(*words, processes=processes),
        capture_output=True, text=True, env=environment(), timeout=SECONDS,
    )  # fmt: skip


def together(*argv: str | Path, processes: int = 2) -> subprocess.CompletedProcess[str]:
    """Run a command in several processes."""
    return launch("-m", "rnnsearch", *argv, processes=processes)


def own_lines(err: str) -> list[str]:
    """Return the lines of standard error that are not the launcher's."""
    return [line for line in err.split("\n") if line.startswith("rnnsearch: ")]


def check_near(one: Path, other: Path, most: float) -> None:
    """Hold that two runs have made the same updates, but for rounding: weights differ by `most`."""
    a, b = weights(one), weights(other)
    assert a.keys() == b.keys()
    assert max(float((a[name] - b[name]).abs().max()) for name in a) < most
    mine, its = losses(one), losses(other)
    assert mine.keys() <= its.keys()  # a run that was stopped has validated then as well
    assert mine == pytest.approx({key: its[key] for key in mine}, abs=max(most, 1e-6))
    for kind, fields in FIELDS.items():
        found = {r["update"]: r for r in records(other, kind)}
        for record in records(one, kind):
            values, same = ([r[f] for f in fields] for r in (record, found[record["update"]]))
            assert values == pytest.approx(same, abs=10 * most)


FIELDS = {"train": ("learning_rate", "gradient_norm"), "validation": ("bleu", "chrf")}


@pytest.fixture(scope="module")
def seven(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the settings of a training on seven pairs."""
    folder = tmp_path_factory.mktemp("seven")
    for side in ("en", "fr"):
        lines = (IN / f"tiny.{side}").read_bytes().split(b"\n")[:7]
        (folder / f"train.{side}").write_bytes(b"\n".join(lines) + b"\n")
    files = (f"data.train.source={folder}/train.en", f"data.train.target={folder}/train.fr")
    return (*SEVEN, *files)


# What is trained by one process and by two, and the largest difference of a weight: Adam divides
# by the size of a gradient, so where that is hardly more than rounding, rounding shows.
SETTINGS: dict[str, tuple[tuple[str, ...], float]] = {
    "sgd": ((), 1e-6),
    "accumulate": (("trainer.accumulate=2",), 1e-6),
    "adadelta": (("trainer.loss_reduction=sum", "optimizer=adadelta"), 1e-6),
    "tokens": (("trainer.batch_tokens=40",), 1e-6),
    "adam": (("optimizer=adam", "optimizer.lr=0.001"), 1e-4),
    "input": (("model=transformer_input",), 1e-6),
}

# Several trainings in the same processes, which saves starting them.
DRIVER = """
import json, sys
import torch
from rnnsearch.cli.main import main
torch.set_num_threads(1)
for words in json.load(open(sys.argv[1])):
    status = main(words)
    if status:
        sys.exit(status)
"""


@pytest.fixture(scope="module")
def both(seven: tuple[str, ...], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of all runs that two processes make; `resumed` was begun by one."""
    folder = tmp_path_factory.mktemp("both")
    words = [
        ["train", *seven, *settings, f"run_dir={folder}/{name}"]
        for name, (settings, _) in SETTINGS.items()
    ]
    resumed = ["train", *seven, f"run_dir={folder}/resumed"]
    succeed(*resumed, "trainer.max_updates=3")
    words.append([*resumed, "trainer.max_updates=7"])
    dropout = ["train", *seven, "model.dropout=0.3"]
    words += [
        [*dropout, f"trainer.max_updates={limit}", f"run_dir={folder}/{name}"]
        for name, limit in (("straight", 11), ("stopped", 5), ("stopped", 11), ("stopped", 11))
    ]
    (folder / "driver.py").write_text(DRIVER)
    (folder / "words.json").write_text(json.dumps(words))
    done = launch(f"{folder}/driver.py", f"{folder}/words.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    (folder / "err").write_text(done.stderr)
    return folder


@distributed_test
@pytest.mark.parametrize("name", SETTINGS)
def test_g1_two_processes_make_the_updates_of_one(
    name: str, seven: tuple[str, ...], both: Path, tmp_path: Path
) -> None:
    """Nobody waits for ever and nothing is counted twice, though the pairs do not divide evenly."""
    one, two = tmp_path / "one", both / name
    settings, most = SETTINGS[name]
    succeed("train", *seven, *settings, f"run_dir={one}")
    check_near(one, two, most)
    assert validations(two) == validations(one)
    assert [r["update"] for r in records(two, "train")] == list(range(1, 12))
    assert state(two)["processes"] == 2
    log = (two / "train.log").read_text("utf-8")
    assert log.count("pairs read,") == 2  # one line for each split, from one process
    check_links(two)


@distributed_test
def test_going_on_with_another_number_of_processes(
    seven: tuple[str, ...], both: Path, tmp_path: Path
) -> None:
    assert "changed since: processes: 1 -> 2" in (both / "err").read_text()
    result = succeed("train", *seven, f"run_dir={both}/resumed")
    assert "changed since: processes: 2 -> 1" in result.err
    succeed("train", *seven, f"run_dir={tmp_path}/one")
    check_near(tmp_path / "one", both / "resumed", 1e-6)


@distributed_test
def test_dropout_goes_on_as_if_there_had_been_no_stop(both: Path) -> None:
    """Bit for bit: what each process draws depends on the seed, the update and its number."""
    assert same_weights(both / "stopped", both / "straight")
    assert "stopped: finished at update 11" in (both / "err").read_text()


@distributed_test
@pytest.mark.slow
def test_more_processes_than_pairs_of_a_batch(seven: tuple[str, ...], tmp_path: Path) -> None:
    done = together("train", *seven, f"run_dir={tmp_path}/three", processes=3)
    assert done.returncode == 0, done.stderr
    succeed("train", *seven, f"run_dir={tmp_path}/one")
    check_near(tmp_path / "one", tmp_path / "three", 1e-6)


LONG = ("trainer.max_updates=100000", "trainer.valid_every=50000", "trainer.save_every=5")


@pytest.fixture
def running(seven: tuple[str, ...], tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Yield two processes in the middle of a long training, and their folder."""
    run = tmp_path / "r"
    process = subprocess.Popen(
        torchrun("-m", "rnnsearch", "train", *seven, *LONG, f"run_dir={run}"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    end = time.monotonic() + SECONDS
    while not (run / "checkpoints/last").exists() and process.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.1)
    started = [process.pid, *workers(process.pid)]
    yield process, run
    for pid in started:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate()


def workers(launcher: int) -> list[int]:
    """Return the processes that a launcher has started, in the order of their ranks."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = status.read_text().split(" (", 1)
            words = (status.parent / "environ").read_bytes()
        except OSError:
            continue
        if rest.rpartition(") ")[2].split()[1] == str(launcher) and b"\0RANK=" in words:
            rank = words.split(b"\0RANK=")[1].split(b"\0")[0]
            found.append((int(rank), int(pid)))
    return [pid for _, pid in sorted(found)]


@distributed_test
@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "rank"),
    [(signal.SIGTERM, None), (signal.SIGINT, None), (signal.SIGTERM, 1)],
    ids=["term", "int", "term to one"],
)
def test_a_signal_saves_and_the_same_command_goes_on(
    number: int, rank: int | None, running: tuple[subprocess.Popen[str], Path],
    seven: tuple[str, ...],
) -> None:  # fmt: skip
    process, run = running
    if rank is None:
        process.send_signal(number)  # the launcher passes it on
    else:
        os.kill(workers(process.pid)[rank], number)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "the same command goes on from here" in err
    update = state(run)["update"]
    assert f"stopped at update {update};" in err
    check_links(run)
    done = together("train", *seven, f"trainer.max_updates={update + 2}", f"run_dir={run}")
    assert done.returncode == 0, done.stderr
    assert f"going on from step-{update}" in done.stderr


@distributed_test
@pytest.mark.slow
def test_without_their_launcher_they_save_and_end(
    running: tuple[subprocess.Popen[str], Path],
) -> None:
    process, run = running
    process.kill()
    _, err = process.communicate(timeout=60)  # to the end of all that hold the pipe
    assert f"stopped at update {state(run)['update']};" in err
    check_links(run)


@distributed_test
@pytest.mark.slow
@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_dies_ends_the_others(
    rank: int, running: tuple[subprocess.Popen[str], Path]
) -> None:
    process, run = running
    os.kill(workers(process.pid)[rank], signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode != 0
    (line,) = own_lines(err)
    assert "another process of this training has ended" in line
    assert line.startswith("rnnsearch: process 1: ") is (rank == 0)
    check_links(run)


@distributed_test
@pytest.mark.slow
def test_two_launchers_do_not_train_in_one_folder(
    running: tuple[subprocess.Popen[str], Path], seven: tuple[str, ...]
) -> None:
    _, run = running
    done = together("train", *seven, *LONG, f"run_dir={run}")
    assert done.returncode != 0
    (line,) = own_lines(done.stderr)
    assert "another process is training in this folder" in line


@distributed_test
@pytest.mark.slow
def test_what_the_first_process_refuses_is_told_once(
    seven: tuple[str, ...], quick_run: Path, tmp_path: Path
) -> None:
    done = together("train", *seven, "resume=never", f"run_dir={quick_run}")
    assert done.returncode != 0
    (line,) = own_lines(done.stderr)
    assert "resume=never" in line
    missing = together("train", *seven, "data.valid.source=nosuch.en", f"run_dir={tmp_path}/r")
    (line,) = own_lines(missing.stderr)
    assert "nosuch.en" in line
    assert not (tmp_path / "r").exists()


# --- what they tell one another

TELLING = """
import json, sys
import torch
from torch import nn
from rnnsearch.distributed import SharedGradients, joined
from rnnsearch.errors import Ended, UserError
from rnnsearch.launch import launched

def told(work):
    try:
        return work()
    except (UserError, Ended) as error:
        return [str(error), error.status]

def fail():
    raise UserError("mine", status=2)

rank, size, _ = launched()
waited = []
with joined(rank, size, gpu=False) as world:
    assert (world.rank, world.size, world.leads) == (rank, size, rank == 0)
    found = {}
    found["led"] = world.led("one", lambda: {"rank": rank}, waiting=lambda: waited.append(1))
    found["turn"] = world.in_turn("two", lambda: rank, waiting=lambda: None)
    found["numbers"] = world.numbers([rank, 0.1])
    found["gather"] = world.gather(["été" * 1000] * rank)
    found["share"] = list(world.share([0, 1, 2, 3, 4]))
    facts = {"data.train": "same", "data.valid": f"content {rank}"}
    found["same"] = told(lambda: world.check_same(facts, remedy="copy it"))
    layer = nn.Linear(2, 1)
    with torch.no_grad():
        layer.weight.fill_(rank + 1.0)
    world.copy_from_first(layer.parameters())
    found["copied"] = layer.weight.tolist()
    gradients = SharedGradients(layer.parameters())
    layer(torch.ones(rank, 2)).sum().backward()  # the first has no rows at all
    found["nll"] = gradients.sum(torch.tensor(0.5)).item()
    found["gradient"] = layer.weight.grad.tolist()
    gradients.clear()
    found["cleared"] = layer.weight.grad.tolist()
    found["failed"] = told(lambda: world.led("three", fail, waiting=lambda: None))
    found["turn failed"] = told(
        lambda: world.in_turn("four", fail if rank == 1 else lambda: 7, waiting=lambda: None)
    )
    with open(f"{sys.argv[1]}/{rank}.json", "w") as file:
        json.dump(found, file)
"""


@distributed_test
def test_what_processes_tell_one_another(tmp_path: Path) -> None:
    (tmp_path / "telling.py").write_text(TELLING)
    launcher = ["torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    words = [sys.executable, "-m", *launcher, f"{tmp_path}/telling.py", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    first, second = (json.loads((tmp_path / f"{rank}.json").read_bytes()) for rank in (0, 1))
    for rank, found in enumerate((first, second)):
        assert found["led"] == {"rank": 0}
        assert found["turn"] == rank
        assert found["numbers"] == [[0, 0.1], [1, 0.1]]
        assert found["gather"] == [[], ["été" * 1000]]
        assert found["copied"] == [[1, 1]]
        assert found["nll"] == 1
        assert found["gradient"] == [[1, 1]]
        assert found["cleared"] == [[0, 0]]
        line, status = found["same"]
        assert line.startswith("data.valid: process 1 has other content than process 0")
        assert line.endswith("copy it")
        assert status == 1
    assert (first["share"], second["share"]) == ([0, 2, 4], [1, 3])
    assert first["failed"] == second["turn failed"] == ["mine", 2]
    assert second["failed"] == first["turn failed"] == ["", 1]


def test_one_process_needs_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed.dist, "all_gather", None)
    with distributed.joined(0, 1, gpu=False) as world:
        assert world == World()
        assert world.leads
        assert world.numbers([1.5]) == [[1.5]]
        assert world.gather("x") == ["x"]
        assert world.share([1, 2, 3]) == [1, 2, 3]
        assert world.led("a", lambda: 1, waiting=lambda: None) == 1
        assert world.in_turn("a", lambda: 2, waiting=lambda: None) == 2


# --- the environment

SEVERAL = {
    "WORLD_SIZE": "2",
    "RANK": "1",
    "LOCAL_RANK": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "1",
}


def surround(monkeypatch: pytest.MonkeyPatch, **changes: str | None) -> None:
    for name, value in {**SEVERAL, **changes}.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)


def test_the_environment_of_a_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    surround(monkeypatch, LOCAL_RANK="0")
    assert launched() == (1, 2, 0)
    surround(monkeypatch, WORLD_SIZE="1", RANK="0")
    assert launched() == (0, 1, 0)
    surround(monkeypatch, **dict.fromkeys(SEVERAL))
    assert launched() == (0, 1, 0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"RANK": None}, "RANK is not set, but WORLD_SIZE=2"),
        ({"MASTER_PORT": None}, "MASTER_PORT is not set"),
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE=two"),
        ({"WORLD_SIZE": "0"}, "WORLD_SIZE=0"),
        ({"WORLD_SIZE": "²"}, "WORLD_SIZE=²"),
        ({"LOCAL_RANK": "-1"}, "LOCAL_RANK=-1"),
        ({"RANK": "2"}, "RANK=2: expected 0 to 1"),
        ({"MASTER_PORT": "0"}, "MASTER_PORT=0: expected 1 to 65535"),
        ({"MASTER_PORT": "abc"}, "MASTER_PORT=abc"),
    ],
)
def test_an_environment_that_is_broken(
    changes: dict[str, str | None], told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    surround(monkeypatch, **{"LOCAL_RANK": "0", **changes})
    refuse("train", *QUICK, f"run_dir={tmp_path}/r", words=(told,), status=(2,))


@pytest.mark.parametrize(
    "words", [("evaluate",), ("translate",), ("train", "-m", *QUICK)], ids=lambda words: words[0]
)
def test_what_one_process_does_is_refused_in_several(
    words: tuple[str, ...], quick_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    surround(monkeypatch, LOCAL_RANK="0")  # the first of the second machine
    told = ("process 1: rnnsearch", "WORLD_SIZE=2", "unset WORLD_SIZE")
    refuse(*words, f"run_dir={quick_run}", words=told, status=(2,))
    surround(monkeypatch)
    assert rnnsearch(*words, f"run_dir={quick_run}") == (2, "", "")  # the first has told it


def test_each_process_of_a_machine_has_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert pick_device("auto", process=1) == torch.device("cuda", 1)
    assert pick_device("cuda", process=0) == torch.device("cuda", 0)
    assert pick_device("cpu", process=5) == torch.device("cpu")
    with pytest.raises(UserError, match="several processes would share it; give device=cuda"):
        pick_device("cuda:1", process=0)
    with pytest.raises(UserError, match="--nproc-per-node=2, or device=cpu"):
        pick_device("auto", process=2)
