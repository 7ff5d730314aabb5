import gzip
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import datasets
import huggingface_hub.constants
import numpy as np
import pyarrow as pa
import pytest
from fake_hub import SET, fake_hub
from pyarrow import parquet
from test_tables import data_config

from rnnsearch import arrowcache, hub, hubaccess
from rnnsearch.cli.sources import test_sources as sources_of_test
from rnnsearch.cli.sources import training_sources
from rnnsearch.columns import PairColumns
from rnnsearch.corpus import PairFiles, encode_pairs, nonblank
from rnnsearch.errors import UserError
from rnnsearch.hub import open_hub_set, result_name
from rnnsearch.text import train_tokenizers

EN_FR = PairColumns(("en", "fr"))
ROWS = [{"en": f"the {i}", "fr": f"le {i}"} for i in range(100)]
CARD = """---
configs:
- config_name: en-fr
  data_files:
  - split: train
    path: en-fr/train-*
- config_name: de-fr
  data_files:
  - split: train
    path: de-fr/train-*
---
A set.
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Keep prepared data of a test to itself, and let no test ask the real hub."""
    folder = tmp_path / "datasets-cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub-cache"))
    arrowcache._temporary_folder.cache_clear()
    use_hub(monkeypatch, "http://127.0.0.1:9")
    return folder


def use_hub(monkeypatch, endpoint):
    """Do what HF_ENDPOINT does in a new process."""
    template = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", endpoint)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)


def saved(folder: Path, **splits) -> Path:
    parts = {name: datasets.Dataset.from_list(rows) for name, rows in splits.items()}
    datasets.DatasetDict(parts).save_to_disk(str(folder))
    return folder


def layout(folder: Path, rows=ROWS) -> Path:
    """Write parquet files as sets on the hub have them, with two configurations."""
    for name, code in (("en-fr", "en"), ("de-fr", "de")):
        (folder / name).mkdir(parents=True)
        nested = [
            {"id": str(i), "translation": {"fr": row["fr"], code: row["en"]}}
            for i, row in enumerate(rows)
        ]
        path = folder / name / "train-00000-of-00001.parquet"
        parquet.write_table(pa.Table.from_pylist(nested), path, row_group_size=30)
    (folder / "README.md").write_text(CARD)
    return folder


def jsonl(folder: Path, **splits) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in splits.items():
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines)
    return folder


def split_of(path, spec="train", *, name=None, columns=EN_FR, streaming=False):
    found = open_hub_set(str(path), name=name, columns=columns, streaming=streaming)
    return found.split("data.train.split", spec, usual=("train",))


def numbers(split) -> list[int]:
    """Return which of ROWS a split holds."""
    pairs = split.read()
    rows = [int(source.removeprefix("the ")) for source in pairs["source"]]
    assert list(pairs["target"]) == [f"le {row}" for row in rows]
    return rows


def refused(match, path, spec="train", **options) -> None:
    with pytest.raises(UserError, match=match) as caught:
        split_of(path, spec, **options).read()
    assert "\n" not in str(caught.value)


# Layouts.


def test_a_saved_folder_is_mapped_not_copied(tmp_path, cache):
    split = split_of(saved(tmp_path / "disk", train=ROWS, validation=ROWS[:5]))
    assert numbers(split) == list(range(100))
    assert split.label == f"{tmp_path / 'disk'} train"
    assert split.describe() == {"path": str(tmp_path / "disk"), "name": None, "split": "train"}
    assert split.references()[:2] == ["le 0", "le 1"]
    assert not cache.exists()


def test_a_single_saved_set_is_the_split_it_says_it_is(tmp_path):
    rows = datasets.Dataset.from_list(ROWS[:3])
    rows.save_to_disk(str(tmp_path / "none"))
    datasets.Dataset.from_list(ROWS[:3], split="test").save_to_disk(str(tmp_path / "test"))
    assert numbers(split_of(tmp_path / "none", "train")) == [0, 1, 2]
    assert numbers(split_of(tmp_path / "test", "test")) == [0, 1, 2]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (EN_FR, ("a", "b")),
        (PairColumns(("fr", "en")), ("b", "a")),
        (PairColumns(("x", "y"), ("fr", "id")), ("b", "i")),
        (PairColumns(("en", "fr"), (3, 1)), ("a", "b")),
        (PairColumns(("x", "y"), ("translation.en", "translation.fr")), ("c", "d")),
        (PairColumns(("x", "y"), ("en", "translation.fr")), ("a", "d")),
    ],
)
def test_languages_and_columns_of_a_set(tmp_path, columns, expected):
    row = {"fr": "b", "id": "i", "en": "a", "translation": {"en": "c", "fr": "d"}}
    for path in (
        saved(tmp_path / "disk", train=[row]),
        jsonl(tmp_path / "lines", train=[row]),
    ):
        pair = split_of(path, columns=columns).read()[0]
        assert (pair["source"], pair["target"]) == expected


def test_the_layout_of_the_hub_in_a_folder(tmp_path):
    folder = layout(tmp_path / "set")
    assert numbers(split_of(folder, name="en-fr")) == list(range(100))
    assert numbers(split_of(folder, name="de-fr", columns=PairColumns(("de", "fr"))))[:1] == [0]
    refused(r"data\.name=fr-en: .* has the configurations en-fr, de-fr", folder, name="fr-en")
    refused(r"data\.name=null: .* has the configurations en-fr, de-fr; choose one", folder)
    # Releases of datasets differ in the order of what is in a column.
    inside = r"(translation\.fr, translation\.en|translation\.en, translation\.fr)"
    message = f"there is no 'de', but id, {inside}; set data.source_lang"
    refused(message, folder, name="en-fr", columns=PairColumns(("de", "fr")))


def test_text_of_any_kind_is_read(tmp_path):
    features = datasets.Features(
        {"en": datasets.Value("large_string"), "fr": datasets.Value("string")}
    )
    rows = datasets.Dataset.from_list(ROWS, features=features)
    datasets.DatasetDict(train=rows).save_to_disk(str(tmp_path / "disk"))
    assert numbers(split_of(tmp_path / "disk", "train[:2]+train[4:5]")) == [0, 1, 4]


def test_cells_that_are_no_text_are_refused(tmp_path):
    broken = [*ROWS[:7], {"en": "a", "fr": None}, *ROWS[8:]]
    path = saved(tmp_path / "disk", train=broken, validation=[{"en": 1, "fr": 2}])
    refused(r"disk train: row 8: 'fr' is null", path)
    refused(r"disk train: row 8: 'fr' is null", path, "train[5:9]")
    assert numbers(split_of(path, "train[:7]")) == list(range(7))
    refused(r"column 'en' holds int64; text was expected", path, "validation")
    lines = jsonl(tmp_path / "lines", train=broken)
    refused(r"lines train: row 8: 'fr' is null", lines)
    refused(r"lines train: row 8: 'fr' is null", lines, "train[5:9]", streaming=True)


def test_a_set_gives_the_same_fingerprint_as_files(tmp_path):
    """Prepared ids and a resume go by the text, wherever it came from."""
    for side in ("en", "fr"):
        (tmp_path / side).write_text("".join(row[side] + "\n" for row in ROWS))
    sources = (
        PairFiles((tmp_path / "en",), (tmp_path / "fr",)),
        split_of(saved(tmp_path / "disk", train=ROWS)),
        split_of(layout(tmp_path / "set"), name="en-fr"),
    )
    prints = set()
    for source in sources:
        pairs = source.read()
        tokenizers = train_tokenizers(
            *nonblank(pairs), kind="unigram", vocab_size=30, joint=True, byte_fallback=False,
            languages=("en", "fr"), warn=print,
        )  # fmt: skip
        limits = {"max_length": None, "max_ratio": None, "drop": True}
        prints.add(encode_pairs(pairs, tokenizers, **limits).fingerprint)
    assert len(prints) == 1


# Splits.


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("train[:3]", range(3)),
        ("train[97:]", range(97, 100)),
        ("train[-2:]", range(98, 100)),
        ("train[10:-80]", range(10, 20)),
        ("train[:5%]", range(5)),
        ("train[95%:]", range(95, 100)),
        ("train[98:200]", range(98, 100)),
        ("train[:2]+train[50:52]", (0, 1, 50, 51)),
        ("train[:1] + test", (0, 7)),
    ],
)
def test_slices(tmp_path, spec, expected):
    for path in (
        saved(tmp_path / "disk", train=ROWS, test=ROWS[7:8]),
        jsonl(tmp_path / "lines", train=ROWS, test=ROWS[7:8]),
    ):
        assert numbers(split_of(path, spec)) == list(expected)


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ("trian", r"has no split 'trian' \(did you mean 'train'\?\); it has train, test"),
        ("train[:2]+dev", "has no split 'dev'; it has train, test"),
        ("train[200:]", "no pairs there .*; train has 100 rows"),
        ("train[20:10]", "no pairs there"),
        ("test+train[5:5]", "no pairs there .*; test has 1 row, train has 100 rows"),
        ("train[", r"Unrecognized instruction format: train\[; write a split like"),
        ("", "write a split like"),
        ("train[:500%]", "write a split like"),
        ("train[:x]", "write a split like"),
        ("train[:1%](never)", "write a split like"),
        ("test[:1%](pct1_dropremainder)", "less than 100"),
    ],
)
def test_splits_that_are_refused(tmp_path, spec, match):
    for path in (
        saved(tmp_path / "disk", train=ROWS, test=ROWS[7:8]),
        jsonl(tmp_path / "lines", train=ROWS, test=ROWS[7:8]),
    ):
        refused(match, path, spec)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_validation_split_is_cut_where_there_is_none(tmp_path, seed):
    path = saved(tmp_path / "disk", train=ROWS)
    data = data_config(kind="hub", path=str(path))
    train, valid = training_sources(data, seed=seed)
    cut = numbers(valid)
    assert len(cut) == 5
    assert cut == sorted(cut)
    assert numbers(train) == [row for row in range(100) if row not in cut]
    assert valid.label == f"{path} train (5 pairs cut from train by seed {seed})"
    assert train.label == f"{path} train (but 5 pairs by seed {seed})"
    again = training_sources(data, seed=seed)
    assert [numbers(source) for source in again] == [numbers(train), cut]
    assert numbers(training_sources(data, seed=3)[1]) != cut


def test_a_cut_is_made_of_the_slice_and_the_same_in_all_forms(tmp_path):
    cuts = set()
    for path in (saved(tmp_path / "disk", train=ROWS), jsonl(tmp_path / "lines", train=ROWS)):
        for streaming in (False, True):
            data = data_config(
                kind="hub", path=str(path), train={"split": "train[:40]"}, streaming=streaming
            )
            train, valid = training_sources(data, seed=1)
            assert sorted(numbers(train) + numbers(valid)) == list(range(40))
            cuts.add(tuple(numbers(valid)))
    assert len(cuts) == 1
    assert len(cuts.pop()) == 2


def test_the_size_of_a_cut(tmp_path):
    one = saved(tmp_path / "one", train=ROWS[:1])
    for source in training_sources(data_config(kind="hub", path=str(one)), seed=1):
        with pytest.raises(UserError, match="1 pair is too little to cut a validation split"):
            source.read()
    two = saved(tmp_path / "two", train=ROWS[:2])
    sizes = [
        len(s.read()) for s in training_sources(data_config(kind="hub", path=str(two)), seed=1)
    ]
    assert sizes == [1, 1]
    train, valid = training_sources(data_config(kind="hub", path=str(two)), seed=1)
    assert valid.label.endswith("train (1 pair cut from train by seed 1)")
    assert train.label.endswith("train (but 1 pair by seed 1)")
    many = saved(tmp_path / "many", train=ROWS * 300)
    sizes = [
        len(s.read()) for s in training_sources(data_config(kind="hub", path=str(many)), seed=1)
    ]
    assert sizes == [29_000, 1_000]


@pytest.mark.parametrize("name", ["validation", "valid", "val", "dev"])
def test_the_validation_split_has_many_names(tmp_path, name):
    path = saved(tmp_path / "disk", train=ROWS, **{name: ROWS[:3]})
    train, valid = training_sources(data_config(kind="hub", path=str(path)), seed=1)
    assert (numbers(train), numbers(valid)) == (list(range(100)), [0, 1, 2])
    chosen = data_config(kind="hub", path=str(path), valid={"split": "train[:4]"})
    assert numbers(training_sources(chosen, seed=1)[1]) == [0, 1, 2, 3]


def test_files_come_before_the_set(tmp_path):
    for side in ("en", "fr"):
        (tmp_path / side).write_text("".join(row[side] + "\n" for row in ROWS[50:52]))
    (tmp_path / "x.tsv").write_text("the 70\tle 70\n")
    files = {"source": str(tmp_path / "en"), "target": str(tmp_path / "fr")}
    table = {"table": str(tmp_path / "x.tsv")}
    path = str(saved(tmp_path / "disk", train=ROWS))
    for given, expected in ((files, [50, 51]), (table, [70])):
        data = data_config(kind="hub", path=path, valid=given, test=given)
        train, valid = training_sources(data, seed=1)
        assert (len(numbers(train)), numbers(valid)) == (100, expected)
    assert list(sources_of_test(data)) == ["x"]
    with pytest.raises(
        UserError, match=r"data\.valid\.split is null, and .* 'validation', but train"
    ):
        training_sources(data_config(kind="hub", path=path, train=files), seed=1)
    # With both splits at hand the set is not even looked for.
    training_sources(data_config(kind="hub", path="no/set", train=files, valid=table), seed=1)


def test_test_sets_of_a_set(tmp_path):
    path = str(saved(tmp_path / "disk", train=ROWS, test=ROWS[:3]))
    ((name, source),) = sources_of_test(data_config(kind="hub", path=path)).items()
    assert (name, numbers(source)) == ("test", [0, 1, 2])
    data = data_config(kind="hub", path=path, test={"split": "train[:2]+test"})
    assert list(sources_of_test(data)) == ["train-to2+test"]
    only = str(saved(tmp_path / "only", valid=ROWS))
    with pytest.raises(
        UserError, match=r"data\.test\.split is null, .* no split 'test', but valid"
    ):
        sources_of_test(data_config(kind="hub", path=only))
    with pytest.raises(UserError, match=r"data\.train\.split is null, .* no split 'train'"):
        training_sources(data_config(kind="hub", path=only), seed=1)
    with pytest.raises(UserError, match=r"data\.path is null"):
        sources_of_test(data_config(kind="hub"))


def test_names_of_results_are_plain_and_differ():
    specs = ("test", "train[:2]", "train[2:]", "train[-2:]", "train[2:3]", "train[:2%]", "a + b")
    names = [result_name(spec) for spec in specs]
    assert names[:3] == ["test", "train-to2", "train-2to"]
    assert len(set(names)) == len(names)
    assert not set("".join(names)) & set("[]:%/ ()")


# Content and streaming.


@pytest.mark.parametrize("streaming", [False, True])
def test_an_edited_file_of_a_folder_is_noticed(tmp_path, streaming):
    path = jsonl(tmp_path / "lines", train=ROWS[:2])
    assert numbers(split_of(path, streaming=streaming)) == [0, 1]
    stamp = (path / "train.jsonl").stat()
    jsonl(path, train=ROWS[3:5])
    os.utime(path / "train.jsonl", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert numbers(split_of(path, streaming=streaming)) == [3, 4]


def test_a_file_of_a_folder_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = jsonl(tmp_path / "lines", train=ROWS[:2])
    real = hub.pair_batches

    def touched(*args, **options):
        jsonl(path, train=ROWS[3:5])
        return real(*args, **options)

    monkeypatch.setattr(hub, "pair_batches", touched)
    refused("its files changed while they were read; start again", path)


@pytest.mark.parametrize("batch", [7, 2_000])
def test_streaming_takes_the_rows_asked_for(tmp_path, monkeypatch, batch):
    monkeypatch.setattr("rnnsearch.hub._BATCH_ROWS", batch)
    path = layout(tmp_path / "set")
    options = {"name": "en-fr", "streaming": True}
    for spec, expected in (
        ("train", range(100)),
        ("train[:3]", range(3)),
        ("train[28:33]", range(28, 33)),
        ("train[95:]", range(95, 100)),
        ("train[95:200]+train[:1]", (*range(95, 100), 0)),
    ):
        assert numbers(split_of(path, spec, **options)) == list(expected)
    for spec in ("train[:5%]", "train[-3:]", "train[:-3]"):
        refused("with data.streaming the number of rows is not known", path, spec, **options)
    refused(r"train\[200:\]: no pairs there in", path, "train[200:]", **options)


def test_streaming_a_saved_folder_maps_it(tmp_path, cache):
    path = saved(tmp_path / "disk", train=ROWS)
    assert numbers(split_of(path, "train[-3:]", streaming=True)) == [97, 98, 99]
    assert not cache.exists()


# What cannot be opened.


def test_a_set_that_needs_a_script_is_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.py").write_text("raise SystemExit('it ran')")
    refused(
        r"mine: the set needs a loading script, and scripts are not run; .*parquet",
        tmp_path / "mine",
    )


def test_places_without_a_set_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file.tsv").write_text("a\tb\n")
    refused(r"data\.path=.*empty: no data files that can be read", tmp_path / "empty")
    refused(r"data\.path=.*nothing: there is no such folder", tmp_path / "nothing")
    refused(r"data\.path=.*file\.tsv: is a file, .*data\.train\.table=FILE", tmp_path / "file.tsv")
    for path in ("a/b/c", "../set", "a b", "Ünder/set"):
        refused("there is no such folder, and a set of the hub is OWNER/NAME", path)
    path = saved(tmp_path / "disk", train=ROWS)
    refused(r"data\.name=x: .*made by save_to_disk and has no configurations", path, name="x")


def test_damaged_sets_are_refused(tmp_path):
    path = saved(tmp_path / "disk", train=ROWS)
    (path / "train" / "data-00000-of-00001.arrow").write_bytes(b"no arrow")
    refused(r"^.*disk/train/data-.*\.arrow: no Arrow file .*write it anew with save_to_disk", path)
    (path / "train" / "data-00000-of-00001.arrow").unlink()
    refused(r"^.*disk/train/data-.*\.arrow: no such file, but .*state\.json names it; copy", path)
    (path / "train" / "state.json").unlink()
    refused(r"data\.path=.*disk: ", path)
    datasets.Dataset.from_list(ROWS).save_to_disk(str(tmp_path / "one"))
    (tmp_path / "one" / "data-00000-of-00001.arrow").unlink()
    refused(r"^.*one/data-.*\.arrow: no such file, but .*state\.json names it", tmp_path / "one")


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("train.jsonl", b'{"en": "a"}\n\xff\xff{{\n', r"train\.jsonl:2: not UTF-8"),
        ("train.jsonl", b'\n{"en": "a", "fr\n', r"train\.jsonl:2: not JSON \(Unterminated"),
        ("train.jsonl", b'{"en": "a", "en": "a", "fr": "b"}', r"jsonl:1: key 'en' is there twice"),
        ("train.parquet", b"PAR1", r"train\.parquet: no parquet table"),
        ("train.json", b'{"en":', r"data\.path=.*set: the set cannot be read"),
    ],
)
@pytest.mark.parametrize("rows", [0, 20_000])
def test_a_broken_file_is_named_in_one_line(tmp_path, capfd, name, content, match, rows):
    folder = tmp_path / "set"
    folder.mkdir()
    lines = json.dumps({"en": "a", "fr": "b"}).encode() + b"\n"
    if rows and name.endswith("jsonl"):
        match = match.replace("jsonl:2", f"jsonl:{rows + 2}").replace(":1", f":{rows + 1}")
        content = lines * rows + content
    (folder / name).write_bytes(content)
    refused(rf"^.*{match}", folder)
    assert capfd.readouterr() == ("", "")  # the library logs what it raises


@pytest.mark.parametrize(
    ("name", "match"),
    [
        (
            "train.tsv",
            r"train\.tsv: data\.path reads no \.tsv, .* data\.train\.table=.*train\.tsv ",
        ),
        ("train.tsv.gz", r"train\.tsv\.gz: data\.path reads no \.tsv, .* data\.train\.table="),
        ("train.csv", r"train\.csv: data\.path reads no \.csv, .* convert it to \.tsv, \.jsonl or"),
        ("train.txt", r"train\.txt: data\.path reads no \.txt, .* data\.train\.source=FILE"),
    ],
)
def test_text_files_of_a_folder_are_refused(tmp_path, name, match):
    """The library would read quotes, take NA for nothing and lose lines."""
    (tmp_path / "set").mkdir()
    content = b"en\tfr\nNA\tb\n"
    (tmp_path / "set" / name).write_bytes(gzip.compress(content) if "gz" in name else content)
    refused(rf"^.*{match}", tmp_path / "set")


@pytest.mark.parametrize(("end", "kind"), [("csv", "csv"), ("tsv", "csv"), ("txt", "text")])
@pytest.mark.parametrize("streaming", [False, True])
def test_text_files_of_the_hub_are_refused(tmp_path, monkeypatch, end, kind, streaming):
    folder = tmp_path / "set"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / f"train.{end}").write_text("en\tfr\nNA\tb\n")
    card = f"configs:\n- config_name: all\n  data_files: data/train.{end}"
    (folder / "README.md").write_text(f"---\n{card}\n---\n")
    with fake_hub(folder) as server:
        use_hub(monkeypatch, f"http://127.0.0.1:{server.server_port}")
        match = rf"data\.path=owner/books: the set's files are {kind}, .* convert them to \.tsv"
        refused(match, SET, streaming=streaming)


def test_a_folder_beside_us_needs_no_slash(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "json", train=ROWS)
    assert numbers(split_of("json"))[:2] == [0, 1]


# The hub.


def test_a_set_of_the_hub_is_downloaded_and_then_needs_no_hub(tmp_path, monkeypatch, capfd):
    """Real loading from an imitation of the hub, which then goes away."""
    with fake_hub(layout(tmp_path / "set")) as server:
        use_hub(monkeypatch, f"http://127.0.0.1:{server.server_port}")
        split = split_of(SET, "train[:9]", name="en-fr")
        assert numbers(split) == list(range(9))
        assert split.label == f"{SET} en-fr train[:9]"
        old = split_of("old", "train[:9]", name="en-fr")  # a name of before leads to the new one
        assert numbers(old) == list(range(9))
        assert old.describe()["path"] == "old"
        refused(r"data\.name=fr: owner/books has the configurations en-fr, de-fr", SET, name="fr")
    split = split_of(SET, "train[:9]", name="en-fr")
    assert numbers(split) == list(range(9))
    assert "from the cache: the hub cannot be reached" in split.label
    refused(r"data\.path=owner/books: the hub cannot be reached", SET, name="xx")
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_streaming_from_the_hub_keeps_what_it_has_read(tmp_path, monkeypatch):
    with fake_hub(layout(tmp_path / "set")) as server:
        use_hub(monkeypatch, f"http://127.0.0.1:{server.server_port}")
        options = {"name": "en-fr", "streaming": True}
        assert numbers(split_of(SET, "train[10:20]", **options)) == list(range(10, 20))
        with monkeypatch.context() as patch:
            patch.setattr(arrowcache, "store_pairs", None)  # nothing is read a second time
            assert numbers(split_of(SET, "train[10:20]", **options)) == list(range(10, 20))
        assert not list((tmp_path / "hub-cache").rglob("*.parquet"))
    split = split_of(SET, "train[10:20]", **options)
    assert numbers(split) == list(range(10, 20))
    assert "from the cache: the hub cannot be reached" in split.label
    refused(UNREACHED, SET, "train[10:21]", **options)


@pytest.mark.parametrize(
    ("status", "code", "match"),
    [
        (404, "RepoNotFound", "the hub has no such set, or it is private, .*hf auth login"),
        (401, "RepoNotFound", "the hub has no such set, or it is private"),
        (403, "GatedRepo", "the set is gated; ask for access on its page, then log in: hf auth"),
        (401, "GatedRepo", "the set is gated"),
        (403, "Other", r"the hub refuses access \(403"),
        (403, "", r"the hub cannot be reached \(it answers 403\)"),
        (404, "", r"the hub cannot be reached \(it answers 404\)"),
        (200, "", r"the hub cannot be reached \("),
        (503, "", r"the hub cannot be reached \(it answers 503\).*local files work"),
        (429, "", r"the hub cannot be reached \(it answers 429\)"),
    ],
)
def test_a_set_that_the_hub_does_not_give(tmp_path, monkeypatch, status, code, match):
    with fake_hub(tmp_path, refusal=(status, code)) as server:
        use_hub(monkeypatch, f"http://127.0.0.1:{server.server_port}")
        refused(rf"data\.path=owner/books: {match}", SET)
        assert len([path for path in server.asked if SET in path]) == 1


def test_a_set_of_the_hub_with_a_script_is_refused(tmp_path, monkeypatch):
    folder = layout(tmp_path / "set")
    (folder / "books.py").write_text("raise SystemExit('it ran')")
    with fake_hub(folder) as server:
        use_hub(monkeypatch, f"http://127.0.0.1:{server.server_port}")
        refused("data.path=owner/books: the set needs a loading script", SET, name="en-fr")


UNREACHED = (
    r"data\.path=(owner/books|json): the hub cannot be reached .*local files work: data=files, "
    r"data=folder, or data\.path=FOLDER"
)


@pytest.mark.parametrize("path", [SET, "json"])
def test_a_closed_port_and_an_unknown_host(monkeypatch, path):
    refused(UNREACHED, path)
    use_hub(monkeypatch, "http://no-such-host.invalid")
    refused(UNREACHED, path)


def test_a_hub_that_takes_the_call_and_never_answers(monkeypatch):
    monkeypatch.setattr(hubaccess, "_ANSWER_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        use_hub(monkeypatch, f"http://127.0.0.1:{silent.getsockname()[1]}")
        refused(UNREACHED, SET)


def test_a_name_server_that_never_answers(monkeypatch):
    """No time limit of a client covers looking up a name, so ours counts from outside."""
    monkeypatch.setattr(hubaccess, "_PATIENCE_SECONDS", 0.3)
    use_hub(monkeypatch, "http://slow.invalid")
    real = socket.getaddrinfo

    def slow(host, *args, **options):
        time.sleep(3 if host in ("slow.invalid", b"slow.invalid") else 0)
        return real(host, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    start = time.monotonic()
    refused(r"the hub cannot be reached \(no answer in 0.3 seconds\)", SET)
    assert time.monotonic() - start < 2.5


def test_time_limits_leave_room_below_half_a_minute():
    assert hubaccess._ANSWER_SECONDS < hubaccess._PATIENCE_SECONDS <= 15


def test_offline_mode_asks_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    with fake_hub(tmp_path) as server:
        use_hub(monkeypatch, f"http://127.0.0.1:{server.server_port}")
        refused(r"the hub cannot be reached \(HF_HUB_OFFLINE is set\)", SET)
        assert server.asked == []
    assert huggingface_hub.constants.HF_HUB_OFFLINE is False


def test_a_long_set_stays_on_disk(tmp_path):
    """Neither mapping a set nor cutting it takes its text into memory."""
    text = [f"{i} " + "word " * 60 for i in range(50_000)]
    rows = datasets.Dataset.from_dict({"en": text, "fr": text})
    datasets.DatasetDict(train=rows).save_to_disk(str(tmp_path / "disk"))
    code = (
        "import sys; import pyarrow as pa, datasets\n"
        "from rnnsearch.hub import open_hub_set; from rnnsearch.columns import PairColumns\n"
        "columns = PairColumns(('en', 'fr'))\n"
        "hub = open_hub_set(sys.argv[1], name=None, columns=columns, streaming=False)\n"
        "parts = hub.split('k', 'train', usual=()).cut(seed=1)\n"
        "pairs = [part.read() for part in parts]\n"
        "print(*map(len, pairs), pa.total_allocated_bytes())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "disk")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    train, valid, allocated = map(int, done.stdout.split())
    assert (train, valid) == (49_000, 1_000)
    assert allocated < 5_000_000 < np.sum([len(line) for line in text])
