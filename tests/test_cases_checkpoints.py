"""Cases K and O2: checkpoints are whole or not there, and hold plain data."""

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from cases_common import (
    IN,
    QUICK,
    TEST,
    TINY,
    command,
    environment,
    lines_of,
    records,
    refuse,
    rnnsearch,
    same_weights,
    state,
    succeed,
    validations,
)
from safetensors.torch import load_file

from rnnsearch import checkpoint as files
from rnnsearch.plain import SCHEMA_VERSION

KEEP = ("trainer.keep_last=3", "trainer.metric=loss")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of 12 updates that has kept three checkpoints: 8, 10 and 12."""
    folder = tmp_path_factory.mktemp("quick") / "kept"
    succeed("train", *QUICK, *KEEP, "trainer.max_updates=12", f"run_dir={folder}")
    assert files.steps(folder) == [8, 10, 12]
    return folder


@pytest.fixture(scope="module")
def longer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the same run, going on to 16 updates without a stop."""
    folder = tmp_path_factory.mktemp("quick") / "longer"
    succeed("train", *QUICK, *KEEP, "trainer.max_updates=16", f"run_dir={folder}")
    return folder


def copy_of(run_dir: Path, folder: Path) -> Path:
    return shutil.copytree(run_dir, folder / "copy", symlinks=True)


def cut(path: Path, size: int) -> None:
    """Leave the first bytes of a file, in a new one of that name."""
    kept = path.read_bytes()[:size]
    path.unlink()
    path.write_bytes(kept)


def sums(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def limited(blocks: int, *argv: str) -> subprocess.CompletedProcess[str]:
    """Run a command that may write no file of more than `blocks` KiB."""
    words = ["bash", "-c", f'ulimit -f {blocks}; exec "$@"', "bash", *command(*argv)]
    return subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=600)


@pytest.mark.slow
def test_k1_no_room_while_saving(tmp_path: Path) -> None:
    big = (*TINY, "model.hidden_size=128", "model.embedding_size=64")
    run = tmp_path / "k"
    succeed("train", *big, "trainer.max_updates=10", f"run_dir={run}")
    size = (run / "checkpoints/last/model.safetensors").stat().st_size
    before = sums(run / "checkpoints")
    done = limited(size // 2048, "train", *big, "trainer.max_updates=30", f"run_dir={run}")
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    told = [line for line in done.stderr.split("\n") if line.startswith("rnnsearch: ")]
    assert len(told) == 1
    assert f"{run}/checkpoints/step-20" in told[0]
    assert "File too large" in told[0]
    assert sums(run / "checkpoints") == before
    succeed("train", *big, "trainer.max_updates=30", f"run_dir={run}")
    assert "going on from step-10" in (run / "train.log").read_text("utf-8")
    assert validations(run) == [10, 20, 30]
    succeed("train", *big, "trainer.max_updates=30", f"run_dir={tmp_path}/straight")
    assert same_weights(run, tmp_path / "straight")
    best = state(run)["best_update"]
    names = {path.name for path in (run / "checkpoints").iterdir()}
    assert names == {"last", "best", "step-30", f"step-{best}"}


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1, 30, 130])
def test_no_room_for_any_file(blocks: int, tmp_path: Path) -> None:
    """Whatever file is the first that does not fit, the next run goes on as if nothing was."""
    run = tmp_path / "r"
    words = ("train", *QUICK, "trainer.average=2", f"run_dir={run}")
    succeed(*words, "trainer.max_updates=2")
    before = sums(run / "checkpoints")
    done = limited(blocks, *words)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "File too large" in done.stderr
    assert sums(run / "checkpoints").items() >= before.items()
    succeed(*words)
    succeed("train", *QUICK, "trainer.average=2", f"run_dir={tmp_path}/straight")
    assert same_weights(run, tmp_path / "straight")
    assert [record["update"] for record in records(run, "train")] == list(range(1, 15))
    # The stop at update 2 has added its own validation.
    assert validations(run) == [2, 4, 8, 12, 14]


@pytest.mark.parametrize("size", [2000, 0, -1])
def test_k2_a_cut_weight_file(size: int, base_run: Path, tmp_path: Path) -> None:
    copy = copy_of(base_run, tmp_path)
    path = copy / "checkpoints/last/model.safetensors"
    cut(path, size)
    words = (f"run_dir={copy}", "checkpoint=last")
    told = ("checkpoints/last/model.safetensors", "incomplete or damaged")
    source = (f"input={IN}/base.test.en", f"output={tmp_path}/o")
    refuse("translate", *words, *source, words=told, status=(1,))
    assert not (tmp_path / "o").exists()
    refuse("evaluate", *words, *TEST, words=told, status=(1,))


@pytest.mark.slow
@pytest.mark.parametrize("size", [2000, 0])
def test_k2_a_resume_goes_on_from_an_earlier_one(size: int, base_run: Path, tmp_path: Path) -> None:
    copy = copy_of(base_run, tmp_path)
    best, earlier = state(copy)["best"], state(copy)["best_update"]
    cut(copy / "checkpoints/last/model.safetensors", size)
    words = ("train", *TINY, "trainer.max_updates=60", f"run_dir={copy}")
    told = "step-40/model.safetensors: incomplete or damaged"
    if earlier == 40:  # the best is the last one, and no other was kept
        refuse(*words, words=(told,), status=(1,))
        return
    result = succeed(*words)
    assert told in result.err
    assert f"going on from step-{earlier}" in result.err
    assert validations(copy) == [10, 20, 30, 40, 50, 60]
    assert state(copy)["best"] >= best
    assert state(copy, "best")["best"] == state(copy)["best"]
    succeed("train", *TINY, "trainer.max_updates=60", f"run_dir={tmp_path}/straight")
    assert same_weights(copy, tmp_path / "straight")


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_any_damaged_file_of_the_last_checkpoint(
    name: str, kept: Path, longer: Path, tmp_path: Path
) -> None:
    copy = copy_of(kept, tmp_path)
    path = copy / "checkpoints/last" / name
    cut(path, path.stat().st_size // 2)
    result = succeed("train", *QUICK, *KEEP, "trainer.max_updates=16", f"run_dir={copy}")
    assert f"warning: {copy}/checkpoints/step-12/{name}: incomplete or damaged" in result.err
    assert "going on from step-10" in result.err
    assert same_weights(copy, longer)
    assert validations(copy) == validations(longer)
    assert state(copy, "best")["best"] == state(longer, "best")["best"]
    assert [r["update"] for r in records(copy, "train")] == list(range(1, 17))


def test_a_damaged_last_in_a_copy_that_followed_the_links(
    kept: Path, longer: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(kept, tmp_path / "copy", symlinks=False)
    cut(copy / "checkpoints/last/model.safetensors", 2000)
    result = succeed("train", *QUICK, *KEEP, "trainer.max_updates=16", f"run_dir={copy}")
    assert "last/model.safetensors: incomplete or damaged" in result.err
    assert "going on from step-12" in result.err
    assert same_weights(copy, longer)


def test_two_damaged_checkpoints_and_a_missing_file(
    kept: Path, longer: Path, tmp_path: Path
) -> None:
    copy = copy_of(kept, tmp_path)
    cut(copy / "checkpoints/step-12/optimizer.safetensors", 100)
    (copy / "checkpoints/step-10/model.safetensors").unlink()
    result = succeed("train", *QUICK, *KEEP, "trainer.max_updates=16", f"run_dir={copy}")
    assert "step-12/optimizer.safetensors: incomplete or damaged" in result.err
    assert "step-10/model.safetensors: missing" in result.err
    assert "going on from step-8" in result.err
    assert same_weights(copy, longer)


def test_a_damaged_best_is_told_and_replaced(kept: Path, tmp_path: Path) -> None:
    copy = copy_of(kept, tmp_path)
    assert (copy / "checkpoints/best").resolve().name == "step-12"
    succeed("train", *QUICK, *KEEP, "optimizer.lr=10", "trainer.max_updates=16", f"run_dir={copy}")
    assert (
        copy / "checkpoints/best"
    ).resolve().name == "step-12"  # the high rate has made it worse
    cut(copy / "checkpoints/step-12/model.safetensors", 100)
    refuse(
        *("translate", f"run_dir={copy}", f"input={IN}/tiny.en"),
        words=("best/model.safetensors", "incomplete or damaged"),
        status=(1,),
    )
    result = succeed("train", *QUICK, *KEEP, "trainer.max_updates=18", f"run_dir={copy}")
    assert "warning: best: " in result.err
    assert "going on from step-16" in result.err
    assert load_file(copy / "checkpoints/best/model.safetensors")


def test_nothing_whole_is_left(kept: Path, tmp_path: Path) -> None:
    copy = copy_of(kept, tmp_path)
    for path in copy.glob("checkpoints/step-*/model.safetensors"):
        cut(path, 2000)
    before = sums(copy)
    words = (*QUICK, *KEEP, "trainer.max_updates=16", f"run_dir={copy}")
    told = ("step-12/model.safetensors", "incomplete or damaged")
    refuse("train", *words, words=told, status=(1,))
    assert sums(copy) == before


def test_a_damaged_tokenizer_or_configuration_is_named(kept: Path, tmp_path: Path) -> None:
    copy = copy_of(kept, tmp_path)
    for name, size in (("tokenizer/target.model", 500), ("config.yaml", 400)):
        cut(copy / name, size)
        for words in (("translate", f"input={IN}/tiny.en"), ("train", *QUICK, *KEEP)):
            more = ("trainer.max_updates=16", "resume=must") if words[0] == "train" else ()
            result = rnnsearch(*words, *more, f"run_dir={copy}")
            assert result.status == 1, result.err
            assert f"{copy}/{name}" in result.err.split("\n")[-2]


def test_weights_of_another_run_are_refused(kept: Path, one_run: Path, tmp_path: Path) -> None:
    copy = copy_of(kept, tmp_path)
    shutil.copy(one_run / "checkpoints/last/model.safetensors", copy / "checkpoints/step-12")
    told = ("model.safetensors", "does not belong")
    source = (f"input={IN}/tiny.en", "checkpoint=last")
    refuse("translate", f"run_dir={copy}", *source, words=told, status=(1,))


@pytest.mark.slow
def test_o2_plain_data_only(base_run: Path, tmp_path: Path) -> None:
    copy = copy_of(base_run, tmp_path)
    words = (f"run_dir={copy}", "checkpoint=last")
    succeed("train", *TINY, "trainer.max_updates=50", "trainer.average=2", f"run_dir={copy}")
    succeed("evaluate", *words, *TEST)
    succeed("translate", *words, f"input={IN}/base.test.en", f"output={tmp_path}/o")
    assert len(lines_of(tmp_path / "o")) == 24
    check_plain(copy)


def test_a_run_folder_holds_plain_data_under_any_optimizer(tmp_path: Path) -> None:
    words = ("optimizer=adadelta", "optimizer.lr=1", "trainer.average=2", "tokenizer.joint=true")
    succeed("train", *QUICK, *words, "trainer.max_updates=5", f"run_dir={tmp_path}/r")
    check_plain(tmp_path / "r")


def check_plain(run_dir: Path) -> None:
    """Hold that no file of a run folder can run code when it is loaded."""
    paths = [path for path in run_dir.rglob("*") if path.is_file()]
    assert len(paths) > 8
    for path in paths:
        assert path.suffix not in (".pt", ".pth", ".pkl", ".bin", ".npy")
        assert path.read_bytes()[:2] not in (
            b"PK",
            b"\x80\x02",
            b"\x80\x03",
            b"\x80\x04",
            b"\x80\x05",
        )
        if path.suffix == ".safetensors":
            assert load_file(path)
        if path.suffix == ".json":
            json.loads(path.read_bytes())
        if path.suffix == ".jsonl":
            assert all(json.loads(line) for line in lines_of(path))
    config = (run_dir / "config.yaml").read_text("utf-8")
    assert "!!python" not in config
    assert "_target_" not in config
    assert yaml.safe_load(config)["schema"] == SCHEMA_VERSION
