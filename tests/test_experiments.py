"""The experiments: each has the setting that it is named for, composes, and trains at tiny size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cases_common import IN, records, succeed
from test_config import compose, experiments

PAPER = ("rnnsearch30", "rnnsearch50", "rnnencdec30", "rnnencdec50", "groundhog")
SIZES = ("model.hidden_size=12", "model.embedding_size=8", "model.maxout_size=8")
FILES = (
    "data=files",
    f"data.train.source={IN}/tiny.en",
    f"data.train.target={IN}/tiny.fr",
    f"data.valid.source={IN}/tiny.en",
    f"data.valid.target={IN}/tiny.fr",
)


def test_all_of_the_paper_are_there() -> None:
    assert set(PAPER) <= set(experiments())


@pytest.mark.parametrize("experiment", experiments())
def test_an_experiment_trains(experiment: str, tmp_path: Path) -> None:
    """Two updates of its own model, optimizer, loss and schedule, at tiny size."""
    plain = compose(f"experiment={experiment}", f"data.dir={tmp_path}", "data=folder")
    vocabulary = "tokenizer.vocab_size=24" if plain.tokenizer.kind == "word" else (
        "tokenizer.vocab_size=60"
    )  # fmt: skip
    run = tmp_path / "run"
    succeed(
        "train", f"experiment={experiment}", *FILES, *SIZES, vocabulary, "device=cpu",
        "model.encoder_size=null", "trainer.max_updates=2", "trainer.max_minutes=null",
        "trainer.log_every=1", "decode.max_length=4", f"run_dir={run}",
    )  # fmt: skip
    assert [record["update"] for record in records(run, "train")] == [1, 2]


@pytest.mark.parametrize("experiment", PAPER)
def test_the_setting_of_the_paper(experiment: str) -> None:
    """Section 4 and appendix B, table 2 for the updates."""
    config = compose(f"experiment={experiment}")
    model: Any = config.model
    assert (model.hidden_size, model.embedding_size, model.maxout_size) == (1000, 620, 500)
    assert model.encoder_size is None
    assert model.kind == ("rnnencdec" if "rnnencdec" in experiment else "rnnsearch")
    if model.kind == "rnnsearch":
        assert (model.attention, model.alignment_size) == ("additive", None)
        assert model.wiring == ("original" if experiment == "groundhog" else "appendix")
    else:
        assert (model.unit, model.wiring) == ("gated", "equation4")
    assert (model.init, model.dropout) == ("paper", 0)
    assert (config.tokenizer.kind, config.tokenizer.vocab_size) == ("word", 30000)
    assert (config.data.path, config.data.name) == ("wmt/wmt14", "fr-en")
    assert config.data.max_length == (30 if experiment.endswith("30") else 50)
    optimizer: Any = config.optimizer
    assert (optimizer.kind, optimizer.rho, optimizer.eps, optimizer.lr) == (
        "adadelta", 0.95, 1e-6, 1.0
    )  # fmt: skip
    trainer = config.trainer
    assert (trainer.batch_sentences, trainer.sort_window, trainer.clip_norm) == (80, 20, 1.0)
    assert (trainer.loss_reduction, trainer.label_smoothing) == ("sum", 0)
    updates = {"rnnsearch30": 471_000, "rnnencdec30": 846_000, "rnnencdec50": 600_000}
    assert trainer.max_updates == updates.get(experiment, 288_000)
    assert trainer.max_minutes is None
    decode = config.decode
    assert (decode.beam_size, decode.length_penalty, decode.ban_unk) == (10, 0, None)
    assert decode.min_length_ratio == (0.5 if experiment == "groundhog" else 0)
    assert config.folder == Path("runs", experiment)
