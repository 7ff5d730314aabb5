"""Training as a whole: it learns by heart, and an update is what it says it is."""

import json
from pathlib import Path

import pytest
import torch
from cases_common import QUICK, TEST, TINY, succeed
from safetensors.torch import load_file

PAIRS = {
    "A dog runs.": "Un chien court.",
    "A cat sleeps.": "Un chat dort.",
    "Two dogs run.": "Deux chiens courent.",
    "The red car is here.": "La voiture rouge est ici.",
    "The girl reads a book.": "La fille lit un livre.",
    "I see the black cat.": "Je vois le chat noir.",
    "She does not sleep.": "Elle ne dort pas.",
    "Where is the book?": "Où est le livre ?",
}


def weights(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "checkpoints/last/model.safetensors")


def records(run: Path, kind: str) -> list[dict]:
    lines = (run / "metrics.jsonl").read_text().split("\n")
    return [r for r in map(json.loads, filter(None, lines)) if r["kind"] == kind]


@pytest.mark.slow
@pytest.mark.parametrize("wiring", ["appendix", "equation4", "original"])
def test_eight_pairs_are_learnt_by_heart(tmp_path, wiring):
    """BLEU 100, and the text itself: what decodes is what was taught."""
    for side, lines in (("en", PAIRS.keys()), ("fr", PAIRS.values())):
        (tmp_path / f"train.{side}").write_text("".join(f"{line}\n" for line in lines))
        (tmp_path / f"val.{side}").write_text("".join(f"{line}\n" for line in lines))
    run = tmp_path / "run"
    succeed(
        "train", "data=folder", f"data.dir={tmp_path}", f"run_dir={run}", f"model.wiring={wiring}",
        "tokenizer.vocab_size=60", "model.hidden_size=64", "model.embedding_size=32",
        "model.maxout_size=32", "model.dropout=0", "trainer.batch_sentences=8",
        "trainer.max_updates=300", "trainer.valid_every=50", "trainer.max_minutes=null",
        "trainer.patience=3", "optimizer.lr=0.01", "device=cpu",
    )  # fmt: skip
    assert max(record["bleu"] for record in records(run, "validation")) == pytest.approx(100)

    from rnnsearch import Translator

    found = Translator.load(run, device="cpu").translate(list(PAIRS))
    assert [translation.text for translation in found] == list(PAIRS.values())
    # The decoder learns the eight apart by looking: weights are no longer uniform.
    assert max(float(t.alignment.max()) for t in found) > 0.5


@pytest.mark.parametrize("reduction", ["token", "sentence", "sum"])
def test_micro_batches_make_the_same_update(tmp_path, reduction):
    """`accumulate` saves memory and changes nothing but rounding."""
    common = (*QUICK, "model.dropout=0", "trainer.max_updates=2", "optimizer=sgd")
    common += ("optimizer.lr=0.1", f"trainer.loss_reduction={reduction}")
    succeed("train", *common, f"run_dir={tmp_path / 'one'}")
    succeed("train", *common, "trainer.accumulate=3", f"run_dir={tmp_path / 'three'}")
    three = weights(tmp_path / "three")
    for name, tensor in weights(tmp_path / "one").items():
        torch.testing.assert_close(three[name], tensor, rtol=1e-5, atol=1e-6)


def test_the_loss_that_is_logged_is_that_of_the_targets(tmp_path):
    """Label smoothing changes what is minimised, not what is reported: the first loss agrees."""
    for name, smoothing in (("plain", 0), ("smooth", 0.3)):
        succeed("train", *QUICK, f"trainer.label_smoothing={smoothing}", "trainer.max_updates=1",
                f"run_dir={tmp_path / name}")  # fmt: skip
    first = [records(tmp_path / name, "train")[0] for name in ("plain", "smooth")]
    assert first[0]["loss"] == first[1]["loss"]
    assert first[0]["gradient_norm"] != first[1]["gradient_norm"]


@pytest.mark.parametrize(
    "optimizer", ["adam", "adamw", "adadelta", "sgd", "sgd optimizer.momentum=0.9"]
)
def test_every_optimizer_moves_every_weight_and_resumes(tmp_path, optimizer):
    words = f"optimizer={optimizer} optimizer.lr=0.1".split(" ")
    # A start at zero scores would leave W_a and U_a without a gradient.
    common = (*QUICK, *words, "model.init=xavier", f"run_dir={tmp_path / 'run'}")
    succeed("train", *common, "trainer.max_updates=1")
    before = weights(tmp_path / "run")
    succeed("train", *common, "trainer.max_updates=3")
    for name, tensor in weights(tmp_path / "run").items():
        assert not torch.equal(tensor, before[name]), name
        assert tensor.isfinite().all()


@pytest.mark.parametrize("scheduler", ["constant", "inverse_sqrt", "plateau", "cosine"])
def test_every_schedule_warms_up_and_is_logged(tmp_path, scheduler):
    succeed("train", *QUICK, f"scheduler={scheduler}", "scheduler.warmup_updates=4",
            "trainer.max_updates=8", f"run_dir={tmp_path / 'run'}")  # fmt: skip
    rates = [record["learning_rate"] for record in records(tmp_path / "run", "train")]
    assert rates[:3] == pytest.approx([0.0025, 0.005, 0.0075])
    if scheduler in ("inverse_sqrt", "cosine"):
        assert rates[-1] < rates[4] <= 0.01


def test_token_budget_and_averaging(tmp_path):
    run = tmp_path / "run"
    succeed("train", *QUICK, "trainer.batch_sentences=null", "trainer.batch_tokens=60",
            "trainer.average=2", f"run_dir={run}")  # fmt: skip
    averaged = load_file(run / "checkpoints/averaged/model.safetensors")
    state = json.loads((run / "checkpoints/averaged/state.json").read_text())
    steps = [load_file(run / f"checkpoints/step-{u}/model.safetensors") for u in state["averaged"]]
    assert len(steps) == 2
    for name, tensor in averaged.items():
        torch.testing.assert_close(tensor, (steps[0][name] + steps[1][name]) / 2)
    succeed("evaluate", f"run_dir={run}", "checkpoint=averaged", *TEST, "decode.max_length=5")


def test_reset_after_trains_on_the_plain_path(tmp_path):
    succeed("train", *TINY, "model.reset_after=true", "trainer.max_updates=2",
            "decode.max_length=5", f"run_dir={tmp_path / 'run'}")  # fmt: skip
    assert any("gru" in name for name in weights(tmp_path / "run"))


def test_bfloat16_factors_train_near_full_precision(tmp_path):
    for precision in ("fp32", "bf16"):
        succeed("train", *QUICK, "model.dropout=0", f"trainer.precision={precision}",
                "trainer.max_updates=4", f"run_dir={tmp_path / precision}")  # fmt: skip
    losses = [[r["loss"] for r in records(tmp_path / p, "train")] for p in ("fp32", "bf16")]
    assert losses[0] != losses[1]
    assert losses[1] == pytest.approx(losses[0], rel=0.01)
    assert all(tensor.dtype == torch.float32 for tensor in weights(tmp_path / "bf16").values())
