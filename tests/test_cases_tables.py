"""Cases T2 and T3: cells that look like missing values, and a hub that cannot be reached."""

import subprocess
import time
from pathlib import Path

import datasets
import pytest
from cases_common import (
    IN,
    SMALL,
    TINY,
    Result,
    check_equal,
    check_refused,
    command,
    environment,
    evaluation,
    lines_of,
    refuse,
    sacrebleu,
    same_weights,
    succeed,
)

WORDS = ("nul", "NA", "Aucun", "pain", "Vrai", "007")


def saved_corpus(folder: Path) -> Path:
    """Write the base corpus as `save_to_disk` does."""
    parts = {}
    for split, name in (("train", "train"), ("validation", "valid")):
        sides = {side: lines_of(IN / f"base.{name}.{side}") for side in ("en", "fr")}
        parts[split] = datasets.Dataset.from_dict(sides)
    datasets.DatasetDict(parts).save_to_disk(str(folder))
    return folder


def as_tables(folder: Path, ending: str) -> list[str]:
    """Write the base corpus as tables; return the overrides that train on it."""
    overrides = ["data=files"]
    for split in ("train", "valid"):
        rows = zip(*(lines_of(IN / f"base.{split}.{side}") for side in ("en", "fr")), strict=True)
        sides = dict(zip(("en", "fr"), map(list, zip(*rows, strict=True)), strict=True))
        table = datasets.Dataset.from_dict(sides)
        path = folder / f"{split}.{ending}"
        if ending == "parquet":
            table.to_parquet(path)
        elif ending == "jsonl":
            table.to_json(path)
        else:
            lines = ("\t".join(row.values()) + "\n" for row in table)
            path.write_bytes(("en\tfr\n" + "".join(lines)).encode())
        overrides.append(f"data.{split}.table={path}")
    return overrides


def test_t2_cells_that_look_like_missing_values(base_run, tmp_path):
    succeed("evaluate", f"run_dir={base_run}", f"data.test.table={IN}/words.tsv", "bootstrap=0")
    result = evaluation(base_run)
    assert result["sentences"] == len(lines_of(base_run / "hypotheses.txt")) == 6
    assert result["table"] == [str(IN / "words.tsv")]
    reference = tmp_path / "reference"
    reference.write_text("".join(word + "\n" for word in WORDS))
    found = sacrebleu(reference, base_run / "hypotheses.txt")
    assert f"{result['bleu']['score']:.2f}" == found
    assert (base_run / "evaluations" / "words" / "evaluation.json").is_file()


def test_t3_no_network(tmp_path, monkeypatch):
    words = [*SMALL, "data=hub", "data.path=Helsinki-NLP/opus_books", "data.name=en-fr"]
    words.append(f"run_dir={tmp_path / 'h'}")
    told = ("data.path=Helsinki-NLP/opus_books", "cannot be reached", "local files work")
    # In a process of its own, because the libraries read the variable when they are loaded.
    done = subprocess.run(
        command("train", *words),
        capture_output=True, text=True, check=False, env=environment() | {"HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    check_refused(Result(done.returncode, done.stdout, done.stderr), words=told, status=(2,))
    # In this one, where a busy machine does not count the time it takes to load them.
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", "http://127.0.0.1:9")
    start = time.monotonic()
    refuse("train", *words, words=told, status=(2,))
    assert time.monotonic() - start < 30


def test_t3_a_saved_folder_trains_as_the_files_do(base_run, tmp_path):
    disk = saved_corpus(tmp_path / "disk")
    result = succeed("train", *SMALL, "data=hub", f"data.path={disk}", f"run_dir={tmp_path / 's'}")
    assert "168 pairs read, 168 kept" in result.err
    assert f"{disk} train" in result.err
    assert same_weights(tmp_path / "s", base_run)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["tsv", "jsonl", "parquet"])
def test_tables_train_as_the_files_do(base_run, tmp_path, ending):
    run = tmp_path / "run"
    result = succeed("train", *SMALL, *as_tables(tmp_path, ending), f"run_dir={run}")
    assert "168 pairs read, 168 kept" in result.err
    assert same_weights(run, base_run)


@pytest.mark.slow
def test_a_run_with_a_cut_validation_split_resumes(tmp_path):
    """The cut is the same each time, so a resume finds its data unchanged."""
    train = datasets.Dataset.from_dict(
        {side: lines_of(IN / f"base.train.{side}") for side in ("en", "fr")}
    )
    train.save_to_disk(str(tmp_path / "disk"))
    words = (*SMALL, "data=hub", f"data.path={tmp_path / 'disk'}", "trainer.valid_every=3")
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    result = succeed("train", *words, "trainer.max_updates=6", f"run_dir={straight}")
    assert "160 pairs read" in result.err
    assert "8 pairs cut from train by seed 1" in result.err
    succeed("train", *words, "trainer.max_updates=3", f"run_dir={stopped}")
    succeed("train", *words, "trainer.max_updates=6", f"run_dir={stopped}")
    check_equal(stopped, straight)


def test_a_set_is_evaluated_by_its_splits(base_run, tmp_path):
    sides = {side: lines_of(IN / f"base.test.{side}") for side in ("en", "fr")}
    datasets.Dataset.from_dict(sides, split="test").save_to_disk(str(tmp_path / "disk"))
    words = (f"run_dir={base_run}", "bootstrap=0", "data=hub", f"data.path={tmp_path / 'disk'}")
    succeed("evaluate", *words, "data.test.split='test[:5]'")
    result = evaluation(base_run)
    assert (result["test_set"], result["sentences"]) == ("test-to5", 5)
    assert (result["path"], result["split"]) == (str(tmp_path / "disk"), "test[:5]")
    refuse("evaluate", *words, "data.test.split=dev", words=("data.test.split=dev", "it has test"))


@pytest.mark.parametrize("group", ["hub", "opus_books", "opus100", "wmt14", "files", "folder"])
def test_every_kind_of_data_composes(group):
    result = succeed("train", f"data={group}", "--cfg", "job")
    assert "source_lang: en" in result.out
    kind = group if group in ("files", "folder") else "hub"
    assert f"kind: {kind}" in result.out


def test_tables_are_refused_before_any_work(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n")
    table = f"data.train.table={tmp_path / 'x.csv'}"
    none = ("data.train.source=null", "data.train.target=null")
    words = ("x.csv", ".tsv, .jsonl", ".parquet")
    refuse("train", *TINY, *none, table, f"run_dir={tmp_path / 'r'}", words=words, status=(2,))
