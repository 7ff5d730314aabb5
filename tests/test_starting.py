"""A run that starts from another: its weights, its tokenizers, new data."""

import shutil
from pathlib import Path

import pytest
from cases_common import (
    IN,
    SMALL,
    TINY,
    TWELVE,
    records,
    refuse,
    same_weights,
    succeed,
    validations,
    weights,
)

from rnnsearch.plain import load_run_config
from rnnsearch.text import Tokenizers

SWAP = (
    f"data.train.source={IN}/swap.train.en",
    f"data.train.target={IN}/swap.train.fr",
)
BARE = [word for word in TINY if not word.startswith(("tokenizer", "model"))]
FEW = ("trainer.max_updates=4", "trainer.valid_every=2", "decode.max_length=4", *TWELVE[2:])


def same_tokenizers(a: Path, b: Path) -> bool:
    one, other = (Tokenizers.load(run / "tokenizer") for run in (a, b))
    return [t.fingerprint for t in one] == [t.fingerprint for t in other]


def test_fine_tuning_goes_on_with_weights_and_tokenizers(base_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "fine"
    frozen = ("optimizer.lr=1e-30", *FEW)
    result = succeed("train", *BARE, *SWAP, *frozen, f"start_from={base_run}", f"run_dir={run}")
    assert f"starting from {base_run}" in result.err
    assert same_tokenizers(run, base_run)
    best = weights(base_run, "best")
    assert all((weights(run)[name] == tensor).all() for name, tensor in best.items())
    config = load_run_config(run)
    assert config.model == load_run_config(base_run).model
    assert (config.tokenizer.kind, config.tokenizer.vocab_size) == ("unigram", 50)
    assert config.start_from == str(base_run)
    # It is a run of its own: its updates count from 1, on its own data.
    assert validations(run) == [2, 4]
    assert "swap.train.en" in (run / "train.log").read_text()


def test_a_better_start_has_a_lower_first_loss(base_run: Path, tmp_path: Path) -> None:
    first = []
    for name, start in (("fine", [f"start_from={base_run}"]), ("new", [])):
        words = BARE if start else TINY
        every = ("trainer.log_every=1", "trainer.max_updates=1")
        succeed("train", *words, *every, *start, f"run_dir={tmp_path / name}")
        first.append(next(records(tmp_path / name, "train"))["loss"])
    assert first[0] < first[1]


def test_fine_tuning_resumes_without_the_run_it_started_from(
    base_run: Path, tmp_path: Path
) -> None:
    start = tmp_path / "start"
    shutil.copytree(base_run, start, symlinks=True)
    words = ("train", *BARE, *SWAP, *FEW, f"start_from={start}")
    succeed(*words, f"run_dir={tmp_path / 'straight'}")
    succeed(*words, "trainer.max_updates=3", f"run_dir={tmp_path / 'two'}")
    shutil.rmtree(start)
    succeed(*words, f"run_dir={tmp_path / 'two'}")
    assert same_weights(tmp_path / "two", tmp_path / "straight")


def test_another_start_is_refused_on_resume(base_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    succeed("train", *TINY, *FEW, f"run_dir={run}")
    words = ("train", *BARE, *FEW, "trainer.max_updates=6")
    refuse(*words, f"start_from={base_run}", f"run_dir={run}", words=("start_from", str(base_run)))


def test_tokenizers_of_another_run_are_used_again(base_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ("train", *BARE, *SWAP, *FEW, "model.hidden_size=24", "model.embedding_size=16")
    succeed(*words, f"tokenizer.path={base_run}", f"run_dir={run}")
    assert same_tokenizers(run, base_run)
    assert load_run_config(run).model.hidden_size == 24
    assert not same_weights(run, base_run)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("model.hidden_size=64", ("model.hidden_size=64", "start_from has 32")),
        ("tokenizer.vocab_size=60", ("tokenizer.vocab_size=60", "start_from has 50")),
        ("tokenizer=bpe", ("tokenizer=bpe", "start_from has unigram")),
        ("tokenizer.path=runs/x", ("tokenizer.path", "start_from")),
    ],
)
def test_what_the_start_does_not_have_is_refused(
    base_run: Path, tmp_path: Path, word: str, told: tuple[str, ...]
) -> None:
    words = ("train", *BARE, *FEW, f"start_from={base_run}", word)
    refuse(*words, f"run_dir={tmp_path / 'run'}", words=told, status=(2,))
    assert not (tmp_path / "run" / "config.yaml").exists()


def test_dropout_may_change(base_run: Path, tmp_path: Path) -> None:
    words = ("train", *BARE, *FEW, f"start_from={base_run}", "model.dropout=0.4")
    succeed(*words, f"run_dir={tmp_path / 'run'}")
    assert load_run_config(tmp_path / "run").model.dropout == 0.4


@pytest.mark.parametrize("key", ["start_from", "tokenizer.path"])
def test_a_start_that_is_no_run_is_named(tmp_path: Path, key: str) -> None:
    words = ("train", *SMALL, *TWELVE, "data=files", f"{key}={tmp_path / 'none'}")
    refuse(*words, f"run_dir={tmp_path / 'run'}", words=(key, str(tmp_path / "none")))
    words = (*words[:-1], f"{key}=None")
    refuse(*words, f"run_dir={tmp_path / 'run'}", words=(f"{key}=None", f"{key}=null"), status=(2,))


def test_other_languages_are_told(base_run: Path, tmp_path: Path) -> None:
    words = ("train", *BARE, *FEW, "data.target_lang=de", f"start_from={base_run}")
    told = succeed(*words, "trainer.max_updates=1", f"run_dir={tmp_path / 'run'}").err
    assert (
        "warning: data.target_lang=de, but start_from was trained with data.target_lang=fr" in told
    )


def test_what_an_experiment_asks_for_in_vain_is_told(base_run: Path, tmp_path: Path) -> None:
    words = ("train", "experiment=paper", *BARE, *FEW, f"start_from={base_run}")
    told = succeed(*words, "trainer.max_updates=1", f"run_dir={tmp_path / 'run'}").err
    assert "start_from counts, not experiment=paper: " in told
    assert "model.hidden_size is 32, not 1000" in told


def test_a_run_that_has_not_saved_is_no_start(base_run: Path, tmp_path: Path) -> None:
    start = tmp_path / "start"
    start.mkdir()
    shutil.copy(base_run / "config.yaml", start)
    words = ("train", *BARE, *FEW, f"run_dir={tmp_path / 'run'}")
    told = ("start_from=", "no tokenizer/ yet")
    refuse(*words, f"start_from={start}", words=told, status=(2,))
    shutil.copytree(base_run / "tokenizer", start / "tokenizer")
    told = ("start_from=", "no checkpoint yet")
    refuse(*words, f"start_from={start}", words=told, status=(2,))
    succeed(*words, f"tokenizer.path={start}", "trainer.max_updates=1")


def test_a_start_of_another_kind_counts_whole(tmp_path: Path) -> None:
    """The settings of words lack a key that those of subwords, the default, have."""
    start, run = tmp_path / "start", tmp_path / "run"
    bare = [word for word in TINY if "byte_fallback" not in word]
    few = ("trainer.max_updates=1", "trainer.valid_every=1", *FEW[2:])
    succeed("train", *bare, *few, "tokenizer=word", f"run_dir={start}")
    for key in ("start_from", "tokenizer.path"):
        succeed("train", *BARE, *few, f"{key}={start}", f"run_dir={run / key}")
        assert load_run_config(run / key).tokenizer.kind == "word"
        assert same_tokenizers(run / key, start)
    words = ("train", *BARE, *few, "tokenizer.byte_fallback=true", f"start_from={start}")
    told = ("tokenizer.byte_fallback=true", "start_from has tokenizer=word", "leave")
    refuse(*words, f"run_dir={run / 'no'}", words=told, status=(2,))
