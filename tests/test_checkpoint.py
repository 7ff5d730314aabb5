"""The files of a run folder: whole or not there, links that hold, errors that name the file."""

import json

import pytest
import torch

from rnnsearch import checkpoint as files
from rnnsearch.errors import UserError

ABOUT = {"model.wiring": "original"}
WEIGHTS = {"w": torch.arange(6.0).reshape(2, 3)}


def save(folder, update, value=1.0):
    model = {"w": torch.full((2, 3), value)}
    files.save_step(
        folder, update, model=model, optimizer=WEIGHTS, state={"update": update}, about=ABOUT
    )


def test_a_step_holds_plain_files_and_last_points_at_it(tmp_path):
    save(tmp_path, 10)
    save(tmp_path, 20, 2.0)
    folder = tmp_path / "checkpoints"
    assert sorted(p.name for p in folder.iterdir()) == ["last", "step-10", "step-20"]
    assert str((folder / "last").readlink()) == "step-20"
    assert float(files.load_tensors(folder / "last" / files.MODEL)["w"][0, 0]) == 2.0
    assert files.load_state(folder / "step-10")["update"] == 10


def test_saving_a_step_again_replaces_it(tmp_path):
    save(tmp_path, 10)
    save(tmp_path, 20)
    files.point(tmp_path / "checkpoints" / "last", "step-10")
    save(tmp_path, 20, 5.0)
    assert float(files.load_tensors(tmp_path / "checkpoints/step-20" / files.MODEL)["w"][0, 0]) == 5
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == [
        "last", "step-10", "step-20",
    ]  # fmt: skip


def test_prune_keeps_what_is_linked_and_what_is_asked_for(tmp_path):
    for update in (10, 20, 30, 40):
        save(tmp_path, update)
    files.point(tmp_path / "checkpoints" / "best", "step-10")
    files.prune(tmp_path, {20})
    assert files.steps(tmp_path) == [10, 20, 40]


def test_clean_removes_leftovers_alone(tmp_path):
    save(tmp_path, 10)
    (tmp_path / "checkpoints" / ".step-20.tmp").mkdir()
    (tmp_path / "checkpoints" / ".step-20.tmp" / "model.safetensors").write_bytes(b"half")
    (tmp_path / ".config.yaml.tmp").write_bytes(b"half")
    (tmp_path / "checkpoints" / ".last.tmp").symlink_to("step-99")
    files.clean(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoints"]
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == ["last", "step-10"]


def test_average_is_the_mean(tmp_path):
    save(tmp_path, 10, 1.0)
    save(tmp_path, 20, 4.0)
    files.save_average(tmp_path, [10, 20])
    averaged = tmp_path / "checkpoints" / "averaged"
    assert files.load_tensors(averaged / files.MODEL)["w"].unique().tolist() == [2.5]
    assert files.load_state(averaged)["averaged"] == [10, 20]
    assert files.load_about(averaged / files.MODEL) == ABOUT


@pytest.mark.parametrize("size", [0, 5, 60])
def test_a_cut_file_is_named(tmp_path, size):
    save(tmp_path, 10)
    path = tmp_path / "checkpoints/step-10" / files.MODEL
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(UserError, match=r"step-10/model\.safetensors: incomplete or damaged") as e:
        files.load_tensors(path)
    assert e.value.status == 1


def test_damaged_missing_and_foreign_state(tmp_path):
    save(tmp_path, 10)
    step = tmp_path / "checkpoints/step-10"
    (step / files.STATE).write_bytes(b'{"format": 1,')
    with pytest.raises(UserError, match=r"state\.json: incomplete or damaged"):
        files.load_state(step)
    (step / files.STATE).write_text(json.dumps({"format": 99}))
    with pytest.raises(UserError, match=r"state\.json: not written by this version"):
        files.load_state(step)
    (step / files.STATE).unlink()
    with pytest.raises(UserError, match=r"state\.json: missing"):
        files.load_state(step)


def test_locate_lists_what_there_is(tmp_path):
    save(tmp_path, 10)
    assert files.locate(tmp_path, "last").name == "last"
    assert files.locate(tmp_path, "step-10").name == "step-10"
    step = tmp_path / "checkpoints" / "step-10"
    assert files.locate(tmp_path, str(step)) == step
    with pytest.raises(UserError, match=r"checkpoint=best: .* which holds last, step-10"):
        files.locate(tmp_path, "best")
    with pytest.raises(UserError, match="checkpoint=bset: expected best, last, averaged"):
        files.locate(tmp_path, "bset")


def test_a_second_process_is_refused(tmp_path):
    refused = pytest.raises(UserError, match="another process is training")
    with files.lock(tmp_path), refused, files.lock(tmp_path):
        pass
    with files.lock(tmp_path):
        pass


def test_a_disk_that_refuses_is_named_and_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    save(tmp_path, 10)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.safetensors.torch, "save_file", refuse)
    with pytest.raises(UserError, match=r"checkpoints/step-20: .* No space left on device") as e:
        save(tmp_path, 20)
    assert e.value.status == 1
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == ["last", "step-10"]
