"""What `scripts/fuzz.py` has found, each kind by one small case."""

import dataclasses
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pyarrow as pa
import pytest
import torch
from cases_common import QUICK, change, rnnsearch
from pyarrow import parquet
from safetensors.torch import load_file, save_file

from rnnsearch import Translator
from rnnsearch import checkpoint as files
from rnnsearch.cli.comparison import Run, _training
from rnnsearch.cli.ownfiles import _check_file
from rnnsearch.columns import PairColumns
from rnnsearch.corpus import PairFiles, encode_pairs
from rnnsearch.errors import UserError
from rnnsearch.hub import open_hub_set
from rnnsearch.hubaccess import open_set
from rnnsearch.lines import by_update, is_number, read_records
from rnnsearch.plain import load_run_config
from rnnsearch.plots import draw_curves
from rnnsearch.progress import Progress
from rnnsearch.runlog import RunLog
from rnnsearch.saving import average, load_progress
from rnnsearch.tables import table_files
from rnnsearch.text import Tokenizers

ON = ("train", *QUICK, "trainer.max_updates=16")
DEEP = "[" * 100_000


# --- prepared data


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"source", b"sourcf"),
        (b"\xff\xff\xff\xff\x10\x01", b"\0\0\0\0\0\0"),
        (struct.pack("<3i", 0, 1, 2), struct.pack("<3i", 0, 2**30, 2)),
    ],
    ids=["name", "head", "offset"],
)
def test_damaged_prepared_data_are_made_anew(
    old: bytes, new: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for name in ("a.en", "a.fr"):
        (tmp_path / name).write_text("a\nb\nc\n")
    files = PairFiles((tmp_path / "a.en",), (tmp_path / "a.fr",))
    files.read()
    (kept,) = tmp_path.rglob("*.arrow")
    content = kept.read_bytes()
    if new == bytes(6):
        old, new = content[:6], bytes(6)
    assert old in content
    kept.unlink()  # it may still be mapped
    kept.write_bytes(content.replace(old, new))
    assert files.read()["source"][:] == ["a", "b", "c"]
    assert kept.read_bytes() == content


def test_damaged_ids_are_made_anew(
    quick_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    pairs = datasets.Dataset.from_dict({"source": ["a", "b"], "target": ["c", "d"]})
    tokenizers = Tokenizers.load(quick_run / "tokenizer")

    def ids() -> Any:
        found = encode_pairs(pairs, tokenizers, max_length=None, max_ratio=None, drop=False)
        return found.pairs(np.arange(2))

    before = ids()
    (kept,) = tmp_path.rglob("*.arrow")
    content = kept.read_bytes()
    kept.unlink()
    length = len(before[0][0])
    old = struct.pack("<2i", 0, length)
    assert old in content
    kept.write_bytes(content.replace(old, struct.pack("<2i", 0, 2**30)))
    assert ids() == before


# --- sets in folders


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("null", "train.jsonl:2: null; an object by language was expected"),
        ('{"en": ' + "[" * 20_000 + "]" * 20_000 + "}", "train.jsonl:2: not JSON"),
    ],
    ids=["null", "deep"],
)
def test_json_that_ends_the_process_in_arrow(line: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(f"\n{line}\n" + '{"en": "a", "fr": "b"}\n')
    with pytest.raises(UserError, match=told):
        open_set(str(tmp_path), None, streaming=False)


# --- tokenizers


def test_a_piece_that_is_no_text(copy: Path) -> None:
    path = copy / "tokenizer/source.model"
    path.write_bytes(path.read_bytes().replace("\u2581".encode(), b"\xe2\x96\xff", 1))
    with pytest.raises(UserError, match=r"source\.model: incomplete or damaged"):
        Tokenizers.load(copy / "tokenizer")


def test_a_deep_list_of_words(word_run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(word_run / "tokenizer", tmp_path / "tokenizer")
    (folder / "target.words").write_text(DEEP + "\n")
    with pytest.raises(UserError, match=r"target\.words: incomplete or damaged"):
        Tokenizers.load(folder)


# --- records


@pytest.mark.parametrize(
    "record",
    [
        DEEP,
        '{"kind": "train", "update": 1, "loss": 1' + "0" * 400 + "}",
        '{"kind": "train", "update": 1e308, "loss": 1e308}',
    ],
    ids=["deep", "long", "large"],
)
def test_records_that_nobody_writes(record: str, copy: Path) -> None:
    path = copy / "metrics.jsonl"
    path.write_bytes(path.read_bytes() + record.encode() + b"\n")
    assert len(list(read_records(path))) >= 14
    assert draw_curves(copy) is not None
    with RunLog(copy) as log:
        log.rewind(14, validated=14)
    assert len(path.read_bytes().split(b"\n")) >= 14


def test_a_comparison_passes_over_numbers_without_end(copy: Path, quick_run: Path) -> None:
    huge = "1" + "0" * 400
    with (copy / "metrics.jsonl").open("a") as file:
        file.write(f'{{"update": {huge}, "tokens_per_second": NaN, "elapsed_seconds": {huge}}}\n')
    told = _training(Run("copy", copy, Translator.load(copy), "best"))
    assert told["updates"] == 14


# --- counters


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (lambda state: state.update(elapsed_seconds=10**400), "elapsed_seconds is"),
        (lambda state: state.update(elapsed_seconds=float("nan")), "elapsed_seconds is"),
        (lambda state: state.update(ranking=[[10**400, 4]]), "ranking is"),
        (lambda state: state.update(epoch=10**30), "epoch is"),
        (lambda state: state.update(update=12), "belongs to another checkpoint, that of update 12"),
    ],
)
def test_counters_that_cannot_be(
    edit: Callable[[dict[str, Any]], object], told: str, copy: Path
) -> None:
    change(copy / "checkpoints/last/state.json", edit)
    with pytest.raises(UserError, match=told):
        load_progress(copy / "checkpoints/last")


def test_a_batch_that_no_pass_has(copy: Path) -> None:
    change(copy / "checkpoints/last/state.json", lambda state: state.update(batch=1000))
    result = rnnsearch(*ON, f"run_dir={copy}")
    assert result.status == 1
    told = "step-14/state.json: not of this run: batch 1000, but a pass over the data has 3"
    assert told in result.err.splitlines()[-1]


def test_nothing_is_left_to_average(copy: Path) -> None:
    """A run that is at its end, whose state names no checkpoint."""
    shutil.rmtree(copy / "checkpoints/averaged", ignore_errors=True)
    trainer = dataclasses.replace(load_run_config(copy).trainer, average=2)
    average(copy, Progress(update=14, validated=14, recent=[]), trainer)
    assert not (copy / "checkpoints/averaged").exists()


def test_checkpoints_of_several_models_have_no_average(copy: Path) -> None:
    first, last = files.steps(copy)[-2:]
    path = copy / f"checkpoints/step-{first}/model.safetensors"
    weights = load_file(path)
    weights["W_o.weight"] = torch.zeros(3, 3)
    save_file(weights, path)
    with pytest.raises(UserError, match=rf"step-{first}/model\.safetensors: not of the same model"):
        files.save_average(copy, [first, last])


def test_a_link_in_a_circle_is_no_checkpoint(copy: Path) -> None:
    best = copy / "checkpoints/best"
    best.unlink()
    best.symlink_to("best")
    assert files.update_of(best) == 0
    assert files.update_of(copy / "checkpoints/last") == 14


# --- YAML


@pytest.mark.parametrize("value", ["!!timestamp abc", "!!float ''", "!!int ''", "2001-99-99"])
def test_a_value_that_is_not_what_its_tag_claims(value: str, copy: Path, tmp_path: Path) -> None:
    with (copy / "config.yaml").open("a") as file:
        file.write(f"more: {value}\n")
    with pytest.raises(UserError, match=r"config\.yaml: "):
        load_run_config(copy)
    own = tmp_path / "mine.yaml"
    own.write_text(f"# @package _global_\nseed: {value}\n")
    with pytest.raises(UserError, match=r"mine\.yaml: cannot be read"):
        _check_file(own, group="experiment")


def test_a_column_whose_name_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"en": ["a"], "fr": ["b"], "notes": ["c"]}), path)
    path.write_bytes(path.read_bytes().replace(b"notes", b"not\xe9s"))
    with pytest.raises(UserError, match=r"t\.parquet: no parquet table, or a damaged one"):
        table_files((path,), PairColumns(("en", "fr"), chosen=("en", "fr"))).read()


@pytest.mark.parametrize("value", [5e-324, 1e-310, 1e300, -1e-320])
def test_numbers_at_the_end_of_what_there_is_are_no_figures(value: float) -> None:
    assert not is_number(value)
    assert by_update([{"update": 1, "loss": value}, {"update": 2, "loss": 0.0}], "loss") == {2: 0.0}


def test_no_message_is_a_page_long() -> None:
    told = str(UserError(f"config.yaml: optimizer.lr={'x' * 50_000}: expected a number"))
    assert told.startswith("config.yaml: optimizer.lr=xxx")
    assert told.endswith("xxx: expected a number")
    assert len(told) < 2_100


@pytest.mark.parametrize("key", ["_format_kwargs", "_format_columns", "_format_type"])
def test_a_saved_set_whose_state_is_nested_deep(key: str, tmp_path: Path) -> None:
    rows = datasets.Dataset.from_list([{"en": "a", "fr": "b"}])
    datasets.DatasetDict(train=rows).save_to_disk(str(tmp_path / "set"))
    deep: Any = "en"
    for _ in range(450):
        deep = {"x": [deep]}
    change(tmp_path / "set/train/state.json", lambda state: state.update({key: deep}))

    def read() -> None:
        columns = PairColumns(("en", "fr"))
        found = open_hub_set(str(tmp_path / "set"), name=None, columns=columns, streaming=False)
        split = found.split("data.train.split", "train", usual=())
        assert split is not None
        split.read()

    with pytest.raises(UserError, match=r"data\.path=.*set: the set cannot be read"):
        read()


def test_a_tokenizer_of_another_run_is_told_before_the_data(copy: Path, word_run: Path) -> None:
    shutil.rmtree(copy / "tokenizer")
    shutil.copytree(word_run / "tokenizer", copy / "tokenizer")
    result = rnnsearch(*ON, f"run_dir={copy}")
    assert result.status == 1
    assert "model.safetensors" in result.err.splitlines()[-1]
