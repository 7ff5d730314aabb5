"""What a newcomer or an attacker tries in the first hour: one line each, nothing lost."""

import shutil
import sys

import pytest
from cases_common import IN, TEST, TINY, refuse, succeed

from rnnsearch.cli import train as train_command
from rnnsearch.cli.main import main


@pytest.mark.parametrize("name", ["../../zz", "a/b", "..", "/tmp/zz"])
def test_names_stay_in_their_folder(base_run, tmp_path, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refuse("evaluate", f"run_dir={base_run}", *TEST, f"test_set={name}",
           words=("test_set", "plain name"), status=(2,))  # fmt: skip
    if name != "a/b":  # runs/a/b is a place of its own
        refuse("train", *TINY, f"name={name}", words=("name", "plain name"), status=(2,))
    assert list(tmp_path.iterdir()) == []


def test_closed_standard_input(base_run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    refuse("translate", f"run_dir={base_run}", words=("input=-", "input=FILE"), status=(2,))


def test_out_of_memory_names_what_to_lower(tmp_path, capsys, monkeypatch):
    def no_memory(*_, **__):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate")

    monkeypatch.setattr(train_command, "build_model", no_memory)
    assert main(["train", *TINY, f"run_dir={tmp_path / 'run'}"]) == 1
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "trainer.batch_sentences" in captured.err


def test_a_missing_checkpoint_is_told_and_not_trained_over(base_run, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(base_run, run, symlinks=True)
    for step in (run / "checkpoints").glob("step-*"):
        shutil.rmtree(step)
    before = (run / "metrics.jsonl").read_bytes()
    refuse("train", *TINY, f"run_dir={run}", words=("last: leads to step-40", "missing"))
    assert (run / "metrics.jsonl").read_bytes() == before


def test_places_that_cannot_be_written_are_told_at_once(base_run, tmp_path):
    common = ("translate", f"run_dir={base_run}", f"input={IN}/base.test.en")
    (tmp_path / "file").write_text("kept")
    refuse(*common, f"output={tmp_path}/missing/o.fr", words=("output=", "no folder"), status=(2,))
    refuse(*common, f"plots={tmp_path}/file", words=("plots=", "is a file"), status=(2,))
    assert (tmp_path / "file").read_text() == "kept"


def test_a_file_for_a_run_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    refuse("translate", f"run_dir={tmp_path}/file", words=("run_dir=", "is a file"), status=(2,))


def test_no_best_yet_names_last(base_run, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(base_run, run, symlinks=True)
    (run / "checkpoints" / "best").unlink()
    refuse("translate", f"run_dir={run}", f"input={IN}/base.test.en",
           words=("checkpoint=best", "checkpoint=last"))  # fmt: skip


def test_the_next_command_can_be_pasted(tmp_path):
    result = succeed("train", *TINY, "trainer.max_updates=1", "decode.max_length=2",
                     f'run_dir="{tmp_path}/a=1"')  # fmt: skip
    assert f"rnnsearch evaluate 'run_dir=\"{tmp_path}/a=1\"'" in result.err
