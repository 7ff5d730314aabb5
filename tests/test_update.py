"""An update asks the device nothing, leaves out what is broken, and may be recorded and played."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cases_common import QUICK, rnnsearch, succeed
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from rnnsearch import graphs as recording
from rnnsearch.batches import plan_epoch
from rnnsearch.config import TrainConfig
from rnnsearch.corpus import encode_pairs
from rnnsearch.graphs import Graphs
from rnnsearch.interrupts import Interrupts
from rnnsearch.model import build_model
from rnnsearch.optim import build_optimizer
from rnnsearch.plain import build, load_run_config, to_plain
from rnnsearch.run import Run, ValidationSet
from rnnsearch.runlog import RunLog
from rnnsearch.search import search_options
from rnnsearch.text import Tokenizers
from rnnsearch.translator import Translator
from rnnsearch.update import add_gradients, finish, load, start_update

# What makes the host wait for a GPU: reading a number, or a shape that depends on numbers.
ASKING = ("_local_scalar_dense", "nonzero", "masked_select", "_unique2", "equal", "is_nonzero")
READING = ("tolist", "item", "cpu", "numpy", "__bool__", "__float__", "__int__", "__index__")


class NothingAsked(TorchDispatchMode):
    """Fails where an operation would make the host wait."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        assert name not in ASKING, name
        if name.startswith("index"):
            indices = [i for a in args if isinstance(a, list | tuple) for i in a]
            masks = [i for i in indices if isinstance(i, Tensor) and i.dtype == torch.bool]
            assert not masks, "an index by a mask"
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def nothing_asked() -> Iterator[None]:
    """Fail where the host reads what a device holds, or would have to wait for it."""

    def refuse(name: str) -> Any:
        def read(*_: object) -> None:
            raise AssertionError(name)

        return read

    with pytest.MonkeyPatch.context() as patch, NothingAsked():
        for name in READING:
            patch.setattr(Tensor, name, refuse(name))
        yield


MODELS = {
    "rnnsearch": "model=rnnsearch",
    "dot": "model.attention=dot",
    "rnnencdec": "model=rnnencdec",
    "lstm": "model=rnnencdec model.unit=lstm",
    "layers": "model=transformer_input model.layers=1 model.heads=2",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a run of one update of each model."""
    found = {}
    for name, words in MODELS.items():
        found[name] = tmp_path_factory.mktemp("runs") / name
        more = ("trainer.max_updates=1", "decode.max_length=2", f"run_dir={found[name]}")
        common = [word for word in QUICK if "rnnencdec" not in words or "alignment" not in word]
        succeed("train", *common, *words.split(" "), *more)
    return found


def training(run_dir: Path, folder: Path, **changes: Any) -> Run:
    """Return a training with the data of a run and new weights."""
    plain = to_plain(load_run_config(run_dir))
    plain.pop("schema")
    for key, value in changes.items():
        group, name = key.split("__")
        plain[group][name] = value
    config = build(TrainConfig, plain, root=TrainConfig)
    tokenizers = Tokenizers.load(run_dir / "tokenizer")
    from rnnsearch.cli.sources import training_sources

    pairs = training_sources(config.data, seed=1)[0].read()
    encoded = encode_pairs(pairs, tokenizers, max_length=None, max_ratio=None, drop=True)
    torch.manual_seed(1)
    model = build_model(
        config.model,
        source_vocab=tokenizers.source.vocab_size, target_vocab=tokenizers.target.vocab_size,
    )  # fmt: skip
    options = search_options(config.decode, kind=tokenizers.target.kind)
    return Run(
        folder, config, model, build_optimizer(config.optimizer, model),
        Translator([model], tokenizers, options=options), encoded,
        ValidationSet([], [], encoded), RunLog(folder), Interrupts(),
    )  # fmt: skip


def batches(run: Run, n: int) -> list[np.ndarray]:
    """Return the pairs of the first updates."""
    plan = plan_epoch(
        run.train.source_lengths, run.train.target_lengths, seed=1, epoch=0, batch_sentences=4,
        batch_tokens=None, sort_window=1,
    )  # fmt: skip
    return [plan[i] for i in range(n)]


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("optimizer", ["adam", "adadelta", "sgd"])
def test_an_update_asks_nothing(
    name: str, optimizer: str, runs: dict[str, Path], tmp_path: Path
) -> None:
    more = {"adam": {}, "adadelta": {"rho": 0.95, "eps": 1e-6}, "sgd": {"momentum": 0.9}}
    if name != "rnnsearch" and optimizer != "adam":
        pytest.skip("the optimizers do not know the model")
    run = training(runs[name], tmp_path)
    if optimizer != "adam":
        plain = {"kind": optimizer, "lr": 0.1, **more[optimizer]}
        run.config = dataclasses.replace(run.config, optimizer=_optimizer(plain))
        run.optimizer = build_optimizer(run.config.optimizer, run.model)
        for module in run.model.modules():  # as on a GPU
            if isinstance(module, torch.nn.Embedding):
                module.sparse = False
    loaded = [load(run, pairs) for pairs in batches(run, 2)]
    if optimizer == "adadelta":  # whose `step` reads where reading costs nothing
        run.optimizer.step = lambda: run.optimizer._move(run.optimizer.found_inf)  # type: ignore[attr-defined, method-assign, assignment]
    with nothing_asked():
        started = [start_update(run, one, batches=9) for one in loaded]
    with pytest.raises(AssertionError, match="tolist"), nothing_asked():
        finish(started[0])
    assert all(finish(one).nll > 0 for one in started)


def _optimizer(plain: dict[str, Any]) -> Any:
    from rnnsearch.config import OptimizerConfig

    return build(OptimizerConfig, plain, root=TrainConfig)


@pytest.mark.parametrize("optimizer", ["adam", "adamw", "adadelta", "sgd", "momentum"])
@pytest.mark.parametrize("first", [True, False])
def test_a_broken_update_changes_nothing(
    optimizer: str, first: bool, runs: dict[str, Path], tmp_path: Path
) -> None:
    """Neither weights nor the optimizer's state, in the first update or a later one."""
    extra: dict[str, dict[str, Any]] = {
        "adam": {"beta1": 0.9, "beta2": 0.99, "eps": 1e-8},
        "adadelta": {"rho": 0.95, "eps": 1e-6},
        "sgd": {"momentum": 0.0},
        "momentum": {"momentum": 0.9},
    }
    extra["adamw"] = {**extra["adam"], "weight_decay": 0.1}
    kind = "sgd" if optimizer == "momentum" else optimizer
    models = []
    for broken in (True, False):
        run = training(runs["rnnsearch"], tmp_path)
        run.config = dataclasses.replace(
            run.config, optimizer=_optimizer({"kind": kind, "lr": 0.1, **extra[optimizer]})
        )
        run.optimizer = build_optimizer(run.config.optimizer, run.model)
        torch.manual_seed(2)
        run.model.eval()  # without dropout
        for number, pairs in enumerate(batches(run, 2)):
            if broken and number == (not first):
                with torch.no_grad():
                    kept = run.model.W_o.weight[0, 0].clone()
                    run.model.W_o.weight[0, 0] = float("nan")
                assert finish(start_update(run, load(run, pairs), batches=9)).skipped
                with torch.no_grad():
                    run.model.W_o.weight[0, 0] = kept
            assert not finish(start_update(run, load(run, pairs), batches=9)).skipped
        models.append(run)
    for name, weight in models[0].model.state_dict().items():
        assert torch.equal(weight, models[1].model.state_dict()[name]), name
    states = [run.optimizer.state_dict()["state"] for run in models]
    for index, entry in states[0].items():
        for key, value in entry.items():
            assert torch.equal(value, states[1][index][key]), (index, key)


def fake_recorder(work: Any) -> Any:
    """Play by doing the work again, in the places where it was recorded."""
    outcome = work().clone()

    def play() -> None:
        outcome.copy_(work())

    return play, outcome


@pytest.mark.parametrize("most", [64, 1])
@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("name", ["rnnsearch", "rnnencdec", "dot", "layers"])
def test_recorded_passes_give_the_same_updates(
    name: str, accumulate: int, most: int, runs: dict[str, Path], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Fixed shapes and places; shapes beyond the most run as they are. No GPU is needed for it.

    A large eps, since Adam makes steps of the rounding where a gradient is 0, as that of the keys'
    bias in self-attention.
    """
    monkeypatch.setattr(recording, "MOST", most)
    found = []
    for graphs in (False, True):
        run = training(
            runs[name], tmp_path, trainer__cuda_graphs=graphs, trainer__accumulate=accumulate,
            model__dropout=0.0, optimizer__eps=1e-3,
        )  # fmt: skip
        if graphs:
            run.graphs = Graphs(
                lambda batch, norm, run=run: add_gradients(run, batch, norm),
                run.model.parameters(), record=fake_recorder,
            )  # fmt: skip
        done = [
            finish(start_update(run, load(run, pairs), batches=9)) for pairs in batches(run, 3) * 2
        ]
        found.append((done, run))
    (plain, expected), (played, run) = found
    assert [one.nll for one in played] == pytest.approx([one.nll for one in plain], rel=1e-5)
    for key, weight in expected.model.state_dict().items():
        torch.testing.assert_close(run.model.state_dict()[key], weight, rtol=1e-4, atol=1e-5)
    assert run.graphs is not None
    assert 1 <= len(run.graphs.recorded) <= most


def test_recording_leaves_the_generators_as_they_were(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    run = training(runs["rnnsearch"], tmp_path, trainer__cuda_graphs=True)
    run.graphs = Graphs(lambda *_: torch.rand(()), run.model.parameters(), record=fake_recorder)
    loaded = load(run, batches(run, 1)[0])
    torch.manual_seed(5)
    drawn = run.graphs(loaded.batches[0], torch.ones(()))
    torch.manual_seed(5)
    assert float(drawn) == float(torch.rand(()))


def test_graphs_need_a_gpu(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    found = rnnsearch("train", *QUICK, "trainer.cuda_graphs=true", f"run_dir={tmp_path / 'x'}")
    assert found.status == 2
    assert "trainer.cuda_graphs=true needs a GPU" in found.err
