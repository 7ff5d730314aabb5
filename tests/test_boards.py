"""`logger=tensorboard`: the figures of `metrics.jsonl`, there as well."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from cases_common import QUICK, STRAIGHT, check_equal, records, refuse, succeed

from rnnsearch import boards


@pytest.fixture
def accumulator() -> Any:
    """Return what reads TensorBoard's files."""
    module = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator",
        reason="needs tensorboard: pip install tensorboard",
    )
    return module.EventAccumulator


def test_curves_and_samples_of_a_run_that_was_stopped(
    quick_run: Path, tmp_path: Path, accumulator: Any
) -> None:
    run = tmp_path / "r"
    told = succeed("train", *QUICK, "logger=tensorboard", "trainer.max_updates=7", f"run_dir={run}")
    assert f"tensorboard --logdir {run}" in told.err
    succeed("train", *QUICK, "logger=tensorboard", f"run_dir={run}")
    check_equal(run, quick_run)
    events = accumulator(str(run / "tensorboard"))
    events.Reload()
    for kind, names in (
        ("train", ("loss", "learning_rate", "gradient_norm", "tokens_per_second")),
        ("validation", ("loss", "perplexity", "bleu", "chrf")),
    ):
        logged = list(records(run, kind))
        for name in names:
            found = events.Scalars(f"{kind}/{name}")
            assert [scalar.step for scalar in found] == [record["update"] for record in logged]
            values = [scalar.value for scalar in found]
            assert values == pytest.approx([record[name] for record in logged], rel=1e-6)
    samples = [sample.step for sample in events.Tensors("validation/sample/text_summary")]
    assert set(STRAIGHT) <= set(samples)


def test_the_package_that_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == "tensorboard" else real(name, *more),
    )
    words = ("logger=tensorboard", "pip install tensorboard")
    refuse("train", *QUICK, "logger=tensorboard", f"run_dir={tmp_path}/r", words=words, status=(2,))
    assert not (tmp_path / "r").exists()


def test_figures_that_cannot_be_written_are_told(tmp_path: Path, accumulator: Any) -> None:
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "tensorboard").write_text("")
    refuse(
        "train", *QUICK, "logger=tensorboard", f"run_dir={tmp_path}/r",
        words=("tensorboard: a file where a folder belongs",),
    )  # fmt: skip


def test_without_a_logger_there_is_no_board(tmp_path: Path) -> None:
    assert boards.board_for("none", tmp_path, update=0) is None
    assert list(tmp_path.iterdir()) == []
