"""What a small corpus gains by: tied tables, dropout of annotations, a warm-up of dropout."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import yaml
from cases_common import (
    QUICK,
    TEST,
    check_equal,
    evaluation,
    records,
    refuse,
    succeed,
    translate,
    weights,
)
from test_family import FAMILY
from test_starting import BARE, FEW
from torch import nn

from rnnsearch.batches import collate
from rnnsearch.dropouts import Dropouts
from rnnsearch.loss import token_loss
from rnnsearch.model import TranslationModel, build_model
from rnnsearch.modelconfig import ModelConfig, TransformerInputConfig
from rnnsearch.optim import build_optimizer
from rnnsearch.plain import load_run_config
from rnnsearch.text import Tokenizers
from rnnsearch.validation import load_config

# One vocabulary, and all of it at once.
JOINT = ("tokenizer=bpe", "tokenizer.joint=true", "model.tied=all")
ALL = (*JOINT, "model.annotation_dropout=0.2", "trainer.dropout_warmup=5")
LINES = ["a man rides a horse", "two men ride two horses", "the horse eats", "", "a horse rides"]


def tied_model(config: ModelConfig, tied: str) -> TranslationModel:
    config = replace(config, tied=tied, maxout_size=config.embedding_size)
    return build_model(config, source_vocab=11, target_vocab=11)


@pytest.mark.parametrize("name", list(FAMILY))
@pytest.mark.parametrize("init", ["paper", "xavier"])
def test_tied_tables_are_one_parameter(name: str, init: str) -> None:
    config = replace(FAMILY[name], init=init)
    free, output, every = (tied_model(config, tied) for tied in ("none", "output", "all"))
    table = free.W_o.weight.numel()
    sizes = [sum(w.numel() for w in model.parameters()) for model in (free, output, every)]
    assert sizes == [sizes[0], sizes[0] - table, sizes[0] - 2 * table]
    assert output.W_o.weight is output.decoder.embedding.weight
    assert output.encoder.embedding.weight is not output.W_o.weight
    assert every.W_o.weight is every.decoder.embedding.weight is every.encoder.embedding.weight
    symbols = every.paper_symbols()
    assert symbols["E"].data_ptr() == symbols["W_o"].data_ptr() == symbols["E_bar"].data_ptr()
    wanted = 0.01 if init == "paper" else config.embedding_size**-0.5
    if not isinstance(config, TransformerInputConfig):  # its sources start from N(0, 1/d) always
        assert float(every.W_o.weight.detach().std()) == pytest.approx(wanted, rel=0.35)


def test_the_gradient_of_a_tied_table_is_the_sum_of_its_uses() -> None:
    torch.manual_seed(3)
    every = tied_model(replace(FAMILY["rnnsearch"], dropout=0.0), "all").double()
    free = tied_model(replace(FAMILY["rnnsearch"], dropout=0.0), "none").double()
    values = dict(every.named_parameters())
    for name, weight in free.named_parameters():
        weight.data.copy_(values.get(name, every.W_o.weight))
    batch = collate([[4, 5, 6], [7]], [[8, 9], [10, 4]])
    for model in (every, free):
        forced = model(batch)
        token_loss(forced.readouts, forced.targets, output=model.W_o).loss.backward()
    tables = (free.W_o.weight, free.decoder.embedding.weight, free.encoder.embedding.weight)
    added = torch.stack([table.grad for table in tables if table.grad is not None]).sum(0)
    assert every.W_o.weight.grad is not None
    torch.testing.assert_close(every.W_o.weight.grad, added)


@pytest.mark.parametrize(("tied", "sparse"), [("none", 2), ("output", 1), ("all", 0)])
def test_a_table_that_is_the_output_has_a_dense_gradient(tied: str, sparse: int) -> None:
    model = tied_model(FAMILY["rnnsearch"], tied)
    from test_config import compose

    build_optimizer(compose("optimizer=adadelta").optimizer, model)
    tables = [module for module in model.modules() if isinstance(module, nn.Embedding)]
    assert sum(table.sparse for table in tables) == sparse


def test_annotations_are_dropped_in_training_alone() -> None:
    config = replace(FAMILY["rnnsearch"], dropout=0.0, annotation_dropout=0.5)
    model = build_model(config, source_vocab=11, target_vocab=11)
    batch = collate([[4, 5, 6, 7, 8, 9]] * 4, [[8, 9]] * 4)
    seen = model.encode(batch.source, batch.source_mask).annotations
    whole = model.eval().encode(batch.source, batch.source_mask).annotations
    kept = seen != 0
    assert 0.3 < float(kept.float().mean()) < 0.7
    torch.testing.assert_close(seen[kept], 2 * whole[kept])


@pytest.mark.parametrize("name", list(FAMILY))
def test_all_dropout_is_turned_up_together(name: str) -> None:
    config = replace(FAMILY[name], dropout=0.4, annotation_dropout=0.2)
    model = build_model(config, source_vocab=11, target_vocab=11)

    def found() -> list[float]:
        places = [m.p for m in model.modules() if isinstance(m, nn.Dropout)]
        return places + [m.dropout for m in model.modules() if isinstance(m, nn.MultiheadAttention)]

    whole, dropouts = found(), Dropouts(model)
    assert set(whole) == {0.4, 0.2}
    for share in (0.25, 0.0, 1.0):
        dropouts.scale(share)
        assert found() == [share * probability for probability in whole]


def test_dropout_rises_over_the_first_updates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares, scale = [], Dropouts.scale

    def scaled(self: Dropouts, share: float) -> None:
        shares.append(share)
        scale(self, share)

    monkeypatch.setattr(Dropouts, "scale", scaled)
    run = f"run_dir={tmp_path / 'run'}"
    succeed("train", *QUICK, *ALL, "trainer.max_updates=4", run)
    succeed("train", *QUICK, *ALL, "trainer.max_updates=7", run)
    assert shares == pytest.approx([0.2, 0.4, 0.6, 0.8, 1, 1, 1])


@pytest.mark.parametrize("optimizer", ["adam", "adadelta"])
def test_such_a_run_goes_on_bit_for_bit_and_translates(tmp_path: Path, optimizer: str) -> None:
    straight, stopped = tmp_path / "straight", tmp_path / "stopped"
    words = ("train", *QUICK, *ALL, f"optimizer={optimizer}", "optimizer.lr=0.01")
    succeed(*words, f"run_dir={straight}")
    for limit in (3, 7, 14):
        succeed(*words, f"trainer.max_updates={limit}", f"run_dir={stopped}")
    check_equal(stopped, straight)
    names = weights(straight).keys()
    assert "encoder.embedding.weight" in names
    assert not {"W_o.weight", "decoder.embedding.weight"} & names
    assert len(translate(straight, LINES, tmp_path)) == len(LINES)
    succeed("evaluate", f"run_dir={straight}", *TEST, "report=false", "ter=false", "bootstrap=0")
    assert evaluation(straight)["sentences"] > 0


def test_what_a_run_learnt_is_what_is_loaded(tmp_path: Path) -> None:
    """The last validation, of the model in memory, is what `evaluate` finds in the folder."""
    run = tmp_path / "run"
    succeed("train", *QUICK, *ALL, f"run_dir={run}")
    config = load_config(run)
    files = [
        f"data.test.{side}={getattr(config.data.valid, side)}" for side in ("source", "target")
    ]
    words = ("checkpoint=last", "report=false", "ter=false", "bootstrap=0", *files)
    succeed("evaluate", f"run_dir={run}", *words)
    *_, last = records(run, "validation")
    assert evaluation(run)["loss"] == pytest.approx(last["loss"], abs=1e-6)
    assert evaluation(run)["bleu"]["score"] == pytest.approx(last["bleu"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("model.tied=all",), ("model.tied=all", "tokenizer.joint=true", "model.tied=output")),
        (
            ("model.tied=output", "model.maxout_size=8"),
            ("model.maxout_size=8", "model.embedding_size=16"),
        ),
        (("model.tied=both",), ("model.tied=both", "none, output or all")),
        (("model.annotation_dropout=1",), ("model.annotation_dropout=1.0", "below 1")),
    ],
)
def test_what_does_not_fit_is_refused(
    words: tuple[str, ...], told: tuple[str, ...], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    refuse("train", *QUICK, *words, f"run_dir={run}", words=told, status=(2,))
    assert not run.exists()


def test_a_start_gives_its_tables(tmp_path: Path) -> None:
    """A run that starts from another has its network; dropout may be chosen anew."""
    start, run = tmp_path / "start", tmp_path / "run"
    succeed("train", *QUICK, *ALL, "trainer.max_updates=4", f"run_dir={start}")
    words = ("train", *BARE, *FEW, f"start_from={start}", "model.annotation_dropout=0.4")
    succeed(*words, f"run_dir={run}")
    model = load_run_config(run).model
    assert (model.tied, model.annotation_dropout, model.dropout) == ("all", 0.4, 0.2)


def damaged(edit: Callable[[dict[str, dict[str, object]]], object], run: Path) -> None:
    path = run / "config.yaml"
    plain = yaml.safe_load(path.read_text("utf-8"))
    edit(plain)
    path.write_text(yaml.safe_dump(plain), "utf-8")


def test_one_table_for_two_vocabularies_is_told(tmp_path: Path) -> None:
    """A folder that anybody may have written."""
    run = tmp_path / "run"
    words = [word for word in QUICK if not word.startswith("tokenizer.vocab_size")]
    succeed("train", *words, "tokenizer.vocab_size=60", "trainer.max_updates=4", f"run_dir={run}")
    tokenizers = Tokenizers.load(run / "tokenizer")
    assert tokenizers.source.vocab_size != tokenizers.target.vocab_size
    damaged(lambda plain: plain["model"].update(tied="all"), run)
    source = tmp_path / "in"
    source.write_bytes(gzip.compress(b"a\n"))
    told = (f"{run}/config.yaml", "model.tied=all", "one vocabulary")
    refuse("translate", f"run_dir={run}", f"input={source}", words=told, status=(1,))


def test_folders_of_the_schema_before_are_read(quick_run: Path, tmp_path: Path) -> None:
    import shutil

    run = shutil.copytree(quick_run, tmp_path / "run", symlinks=True)

    def earlier(plain: dict[str, dict[str, object]]) -> None:
        plain["schema"] = 6  # type: ignore[assignment]
        del plain["model"]["tied"], plain["model"]["annotation_dropout"]
        del plain["trainer"]["dropout_warmup"]

    damaged(earlier, run)
    config = load_config(run)
    assert (config.model.tied, config.trainer.dropout_warmup) == ("none", 0)
    assert len(translate(run, LINES, tmp_path)) == len(LINES)
