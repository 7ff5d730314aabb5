"""A run folder from anybody: loading it reads and writes nothing elsewhere, and always ends."""

import dataclasses
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from cases_common import IN, QUICK, TEST, change, refuse, rnnsearch, state, succeed
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from rnnsearch import Translator
from rnnsearch.errors import UserError
from rnnsearch.runlog import RunLog

SOURCE = f"input={IN}/tiny.en"


# --- links


@pytest.mark.parametrize(
    "name",
    [
        "config.yaml",
        "tokenizer",
        "tokenizer/source.model",
        "checkpoints",
        "checkpoints/last",
        "checkpoints/step-14",
        "checkpoints/step-14/model.safetensors",
        "checkpoints/step-14/state.json",
        "metrics.jsonl",
        "train.log",
        "plots",
        "evaluations",
        "evaluation.json",
        "hypotheses.txt",
        "report.html",
    ],
)
def test_a_link_that_leaves_the_folder_is_not_followed(
    name: str, copy: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    part = copy / name
    if part.is_symlink():
        part.unlink()
        outside.mkdir()
    elif part.exists():
        part.rename(outside)
    else:
        outside.mkdir()
    part.symlink_to(outside)
    before = sorted(tmp_path.rglob("*"))
    told = (f": a link to {outside}", "outside of the run folder", "put the file itself")
    for words in (
        ("translate", f"run_dir={copy}", "checkpoint=step-14", SOURCE),
        ("evaluate", f"run_dir={copy}", "checkpoint=step-14", *TEST),
        ("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}"),
    ):
        refuse(*words, words=told, status=(1,))
    with pytest.raises(UserError, match="a link to"):
        Translator.load(copy, checkpoint="step-14")
    assert [path for path in sorted(tmp_path.rglob("*")) if path.name != "train.log"] == [
        path for path in before if path.name != "train.log"
    ]


def test_links_inside_the_folder_and_to_the_folder_are_followed(copy: Path, tmp_path: Path) -> None:
    model = copy / "checkpoints/step-14/model.safetensors"
    model.rename(copy / "checkpoints/kept.safetensors")
    model.symlink_to("../kept.safetensors")
    (tmp_path / "link").symlink_to(copy)
    succeed("translate", f"run_dir={tmp_path}/link", "checkpoint=step-14", SOURCE)


def test_a_link_in_a_circle_and_a_pipe(copy: Path) -> None:
    part = copy / "checkpoints/last"
    part.unlink()
    part.symlink_to("last")
    refuse("translate", f"run_dir={copy}", "checkpoint=last", SOURCE, words=("checkpoint=last",))
    part.unlink()
    os.mkfifo(copy / "train.log.pipe")  # not ours, so nobody looks at it
    succeed("translate", f"run_dir={copy}", "checkpoint=step-14", SOURCE)
    (copy / "tokenizer/source.model").unlink()
    os.mkfifo(copy / "tokenizer/source.model")
    told = ("tokenizer/source.model: neither a file nor a folder",)
    refuse("translate", f"run_dir={copy}", "checkpoint=step-14", SOURCE, words=told, status=(1,))


def test_leftovers_are_not_removed_behind_a_link(copy: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / ".precious.tmp").write_text("mine")
    shutil.rmtree(copy / "plots", ignore_errors=True)
    (copy / "checkpoints/averaged").symlink_to(mine)
    refuse("train", *QUICK, f"run_dir={copy}", words=("a link to",), status=(1,))
    assert (mine / ".precious.tmp").read_text() == "mine"


# --- config.yaml


BOMB = "\n".join(
    ["schema: 5", "a0: &a0 [x, x]", *(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, 40))]
)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (BOMB, "an alias"),
        ("a: " + "[" * 100_000, "incomplete or damaged"),
        ("schema: 5\nrun_dir: !!python/object/apply:os.system ['touch hacked']\n", "python"),
        ("schema: 5\n? [1, 2]\n: 3\n", "incomplete or damaged"),
        ("schema: 5\n1: 2\n", "1: there is no such key"),
        ("schema: 5\n" + "# padding\n" * 200_000, "larger than"),
        ("\x00", "incomplete or damaged"),
        ("", "no key 'schema'"),
        ("schema: 5\nseed: !!bool abc\n", "incomplete or damaged"),
        ("schema: true\n", "schema True, expected a whole number"),
    ],
    ids=["bomb", "deep", "python", "key", "number", "large", "zero", "empty", "tag", "schema"],
)
def test_a_configuration_from_anybody(
    content: str, told: str, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy)
    (copy / "config.yaml").write_text(content)
    for words in (
        ("translate", f"run_dir={copy}", SOURCE),
        ("evaluate", f"run_dir={copy}", *TEST),
        ("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}"),
    ):
        refuse(*words, words=("config.yaml", told), status=(1,))
    assert not (copy / "hacked").exists()


@pytest.mark.parametrize(
    ("pattern", "new", "told"),
    [
        ("hidden_size: .*", "hidden_size: 900000", "does not belong"),
        ("hidden_size: .*", "hidden_size: 1000000000", "model.hidden_size=1000000000: expected"),
        ("hidden_size: .*", "hidden_size: -1", "model.hidden_size=-1: expected"),
        ("wiring: .*", "wiring: equation4", "its model.wiring is another"),
        ("wiring: .*", "wiring: nosuch", "model.wiring=nosuch: expected"),
        ("attention: .*", "attention: os.system", "model.attention=os.system: expected"),
        ("beam_size: .*", "beam_size: 0", "decode.beam_size=0: expected"),
        ("beam_size: .*", "beam_size: 1000000", "decode.beam_size=1000000: expected"),
        ("kind: rnnsearch", "kind: os.system", "kind=os.system"),
        ("beam_size: .*", "beam_size: 2\n  beam_size: 3", "the key beam_size comes twice"),
        (
            "kind: rnnsearch",
            "kind: rnnsearch\n  _target_: os.system",
            "model._target_: there is no",
        ),
    ],
)
def test_settings_that_are_not_those_of_the_weights(
    pattern: str, new: str, told: str, copy: Path
) -> None:
    path = copy / "config.yaml"
    text, count = re.subn(f"(?m)^  {pattern}$", f"  {new}", path.read_text())
    assert count == 1
    path.write_text(text)
    line = refuse("translate", f"run_dir={copy}", SOURCE, words=(told,), status=(1,))
    assert "config.yaml" in line or "model.safetensors" in line
    with pytest.raises(UserError, match=re.escape(told)):
        Translator.load(copy)


# --- what belongs together


def test_tokenizers_of_another_run_are_refused(copy: Path, tmp_path: Path) -> None:
    """They have as many pieces, so no shape tells."""
    other = tmp_path / "other"
    reverse = (f"data.train.source={IN}/tiny.fr", f"data.train.target={IN}/tiny.en")
    succeed("train", *QUICK, *reverse, "trainer.max_updates=1", f"run_dir={other}")
    for side in ("source", "target"):
        mine, its = (run / f"tokenizer/{side}.model" for run in (copy, other))
        kept = mine.read_bytes()
        mine.write_bytes(its.read_bytes())
        told = ("model.safetensors: does not belong", f"its tokenizer of the {side} is another")
        refuse("translate", f"run_dir={copy}", SOURCE, words=told, status=(1,))
        refuse("evaluate", f"run_dir={copy}", *TEST, words=told, status=(1,))
        mine.write_bytes(kept)
    succeed("translate", f"run_dir={copy}", SOURCE)


def test_averaged_weights_and_copies_know_where_they_belong(copy: Path) -> None:
    succeed("train", *QUICK, "trainer.max_updates=20", "trainer.average=2", f"run_dir={copy}")
    for name in ("last", "averaged"):
        path = copy / "checkpoints" / name / "model.safetensors"
        with safe_open(path, framework="pt") as file:
            about = json.loads(file.metadata()["about"])
        assert about["model.wiring"] == "appendix"
        assert {"tokenizer of the source", "tokenizer of the target"} <= about.keys()
        assert not {"model.dropout", "model.init"} & about.keys()


def test_weights_that_say_nothing_are_read(copy: Path) -> None:
    """Folders written before weights said what they belong to, and weights made elsewhere."""
    for path in copy.glob("checkpoints/step-*/model.safetensors"):
        save_file(load_file(path), path)
    succeed("translate", f"run_dir={copy}", SOURCE)
    succeed("train", *QUICK, "trainer.max_updates=16", f"run_dir={copy}")


# --- checkpoints


@pytest.mark.parametrize(
    "edit",
    [
        lambda state: state.pop("update"),
        lambda state: state.update(update="x"),
        lambda state: state.update(update=-1),
        lambda state: state.update(update=True),
        lambda state: state.update(best_update="../../../outside"),
        lambda state: state.update(ranking=[["x", 4]]),
        lambda state: state.update(ranking=[[1.0]]),
        lambda state: state.update(recent={"a": 1}),
        lambda state: state.update(elapsed_seconds=None),
        lambda state: state.update(meter={"nll": "x", "tokens": 1, "seconds": 1}),
        lambda state: state.update(meter={"nll": 1, "tokens": float("inf"), "seconds": 1}),
        lambda state: state.update(meter=[]),
        lambda state: state.clear(),
    ],
)
def test_a_state_from_anybody(edit: Callable[[dict[str, Any]], object], copy: Path) -> None:
    """It is refused in one line, or an earlier checkpoint is used and said."""
    change(copy / "checkpoints/last/state.json", edit)
    words = ("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}")
    result = rnnsearch(*words)
    if result.status == 0:
        assert "state.json" in result.err
        assert state(copy)["update"] == 20
    else:
        assert result.status == 1
        assert "state.json" in result.err.rstrip("\n").rpartition("\n")[2]


@pytest.mark.parametrize("data", [[], {"train": 1}, None, "x"])
def test_other_data_in_a_state(data: object, copy: Path) -> None:
    change(copy / "checkpoints/last/state.json", lambda state: state.update(data=data))
    words = ("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}")
    assert rnnsearch(*words).status == 2


def test_a_deep_state(copy: Path) -> None:
    (copy / "checkpoints/last/state.json").write_text("[" * 100_000)
    result = succeed("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}")
    assert "state.json: incomplete or damaged" in result.err


@pytest.mark.parametrize(
    "edit",
    [
        lambda tensors: tensors.update({"nosuch/exp_avg": torch.zeros(1)}),
        lambda tensors: tensors.update({"W_o.weight/exp_avg": torch.zeros(3, 3)}),
        lambda tensors: tensors.update({"W_o.weight/exp_avg": tensors["W_o.weight/exp_avg"].int()}),
        lambda tensors: tensors.pop("W_o.weight/exp_avg"),
        lambda tensors: tensors.update({"W_o.weight/more": torch.zeros(1)}),
        lambda tensors: tensors.update({"nokey": torch.zeros(1)}),
    ],
)
def test_an_optimizer_from_anybody(edit: Callable[[dict[str, Any]], object], copy: Path) -> None:
    path = copy / "checkpoints/last/optimizer.safetensors"
    tensors = load_file(path)
    edit(tensors)
    save_file(tensors, path)
    words = ("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}")
    result = rnnsearch(*words)
    assert result.status == 1
    assert "optimizer.safetensors" in result.err.rstrip("\n").rpartition("\n")[2]


@pytest.mark.parametrize(
    "edit",
    [
        lambda weight: weight.fill_(float("nan")),
        lambda weight: weight.clone().index_fill_(0, torch.tensor([3]), float("inf")),
        lambda weight: weight.int(),
        lambda weight: weight.double(),
    ],
)
def test_weights_that_are_no_numbers(edit: Callable[[torch.Tensor], Any], copy: Path) -> None:
    path = (copy / "checkpoints/best").resolve() / "model.safetensors"
    weights = load_file(path)
    weights["W_o.weight"] = edit(weights["W_o.weight"])
    save_file(weights, path)
    told = ("model.safetensors: W_o.weight",)
    refuse("translate", f"run_dir={copy}", SOURCE, words=told, status=(1,))


def test_enormous_weights_end(copy: Path) -> None:
    path = (copy / "checkpoints/best").resolve() / "model.safetensors"
    weights = load_file(path)
    weights["W_o.weight"].fill_(3e38)
    save_file(weights, path)
    succeed("translate", f"run_dir={copy}", SOURCE, "decode.beam_size=3")


@pytest.mark.parametrize("name", ["checkpoints", "tokenizer", "evaluations", "plots"])
def test_a_file_where_a_folder_belongs(name: str, copy: Path) -> None:
    """Found before anything is written: a training would else end at its first save."""
    shutil.rmtree(copy / name, ignore_errors=True)
    (copy / name).write_text("x")
    before = (copy / "metrics.jsonl").read_bytes()
    words = ("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}")
    refuse(*words, words=(f"{name}: a file where a folder belongs",), status=(1,))
    assert (copy / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize("name", ["metrics.jsonl", "config.yaml", "hypotheses.txt"])
def test_a_folder_where_a_file_belongs(name: str, copy: Path) -> None:
    (copy / name).unlink(missing_ok=True)
    (copy / name).mkdir()
    words = ("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}")
    refuse(*words, words=(f"{name}: a folder where a file belongs",), status=(1,))


def test_a_device_is_no_test_set(copy: Path) -> None:
    words = ("data.test.source=/dev/zero", "data.test.target=/dev/zero")
    refuse("evaluate", f"run_dir={copy}", *words, words=("/dev/zero: a device",))


def test_a_wide_beam_searches_few_sentences_at_once(copy: Path) -> None:
    translator = Translator.load(copy)
    translator.options = dataclasses.replace(translator.options, beam_size=1000)
    assert max(map(len, translator._plan([[5, 6]] * 100))) == 16


@pytest.mark.parametrize(
    "records",
    ['{"update": "x", "kind": "train"}\n', '{"update": 3, "kind": [], "loss": {}}\n', "[]\n\x00\n"],
)
def test_records_from_anybody(records: str, copy: Path) -> None:
    (copy / "metrics.jsonl").write_text(records)
    succeed("train", *QUICK, "trainer.max_updates=20", f"run_dir={copy}")


def test_what_is_told_moves_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A validation shows a line of the data, which may hold anything."""
    RunLog(tmp_path).say("un\xa0été \x1b[2J\x9b1m\r\u2028x\u200d")
    told = "un\xa0été \\x1b[2J\\x9b1m\\r\\u2028x\u200d\n"
    assert capsys.readouterr().err == told
    assert (tmp_path / "train.log").read_text("utf-8").endswith(told)
