"""`data=wmt14`, the paper's task, on a small copy with the layout that the set has on the hub."""

from pathlib import Path

import pyarrow as pa
import pytest
from cases_common import SMALL, evaluation, refuse, same_weights, succeed
from fake_hub import fake_hub
from pyarrow import parquet
from test_hub import cache, use_hub  # noqa: F401 - the fixture keeps the caches apart

NAME = "wmt/wmt14"
DEMO = Path(__file__).resolve().parent.parent / "data"
SPLITS = {"train": ("train", 300, 3), "validation": ("valid", 20, 1), "test": ("test", 30, 1)}
SETTINGS = (
    *SMALL, "data=wmt14", "trainer.max_updates=2", "trainer.valid_every=2", "trainer.save_every=2",
    "tokenizer.vocab_size=150", "decode.max_length=4",
)  # fmt: skip


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Write the set: French first, one pair of languages a folder, the training split in parts."""
    folder = tmp_path / "copy"
    card = ["---", "dataset_info:"]
    for name in ("de-en", "fr-en"):
        languages = name.split("-")
        card += [f"- config_name: {name}", "  features:", "  - name: translation", "    dtype:"]
        card += ["      translation:", "        languages:"]
        card += [f"        - {language}" for language in languages] + ["  splits:"]
        (folder / name).mkdir(parents=True)
        for split, (stem, pairs, parts) in SPLITS.items():
            sides = [
                (DEMO / f"{stem}.{side}").read_text().split("\n")[:pairs] for side in ("fr", "en")
            ]
            rows = [
                {"translation": dict(zip(languages, pair, strict=True))}
                for pair in zip(*sides, strict=True)
            ]
            for part in range(parts):
                some = pa.Table.from_pylist(
                    rows[part * pairs // parts : (part + 1) * pairs // parts]
                )
                path = folder / name / f"{split}-{part:05}-of-{parts:05}.parquet"
                parquet.write_table(some, path, row_group_size=40)
            card += [f"  - name: {split}", f"    num_examples: {pairs}"]
    card += ["configs:"]
    for name in ("de-en", "fr-en"):
        card += [f"- config_name: {name}", "  data_files:"]
        for split in SPLITS:
            card += [f"  - split: {split}", f"    path: {name}/{split}-*"]
    (folder / "README.md").write_text("\n".join([*card, "---", ""]))
    return folder


def test_streamed_downloaded_and_copied_give_the_same_model(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slices = ('data.train.split="train[:150]"', 'data.valid.split="validation[:10]"')
    runs = [tmp_path / name for name in ("streamed", "downloaded", "copied")]
    monkeypatch.setattr("rnnsearch.hub._BATCH_ROWS", 50)
    streamed = ("train", *SETTINGS, *slices, "data.streaming=true")
    with fake_hub(copy, name=NAME) as server:
        use_hub(monkeypatch, f"http://127.0.0.1:{server.server_port}")
        succeed(*streamed, f"run_dir={runs[0]}")
        assert not list((tmp_path / "hub-cache").rglob("*.parquet"))
        # 150 rows are in the first two parts, so the third is not asked for
        assert not [path for path in server.asked if path.endswith("train-00002-of-00003.parquet")]
    # without the hub, what was read before is at hand, and the rest is refused
    succeed(*streamed, f"run_dir={tmp_path / 'again'}", "trainer.max_updates=1")
    more = ('data.train.split="train[:151]"', f"run_dir={tmp_path / 'more'}")
    refuse(*streamed, *more, words=("data.path=wmt/wmt14", "the hub cannot be reached"))
    with fake_hub(copy, name=NAME) as server:
        use_hub(monkeypatch, f"http://127.0.0.1:{server.server_port}")
        succeed("train", *SETTINGS, *slices, f"run_dir={runs[1]}")
    succeed("train", *SETTINGS, *slices, f"data.path={copy}", f"run_dir={runs[2]}")
    assert same_weights(runs[0], runs[1])
    assert same_weights(runs[0], runs[2])


def test_the_whole_set_with_its_own_test(copy: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    succeed("train", *SETTINGS, f"data.path={copy}", "data.streaming=true", f"run_dir={run}")
    succeed("evaluate", f"run_dir={run}")
    assert evaluation(run)["sentences"] == 30
