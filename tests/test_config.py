"""The schema, its values, their checks and their way to a run's config.yaml and back."""

import copy
import os
import sys
import types
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from rnnsearch.cli.main import main
from rnnsearch.config import (
    KINDS,
    AdamConfig,
    AdamWConfig,
    CosineConfig,
    EvaluateConfig,
    PlateauConfig,
    SchedulerConfig,
    ScoredSplitConfig,
    SgdConfig,
    SplitConfig,
    TrainConfig,
    TranslateConfig,
    data_folder,
    paths_of,
)
from rnnsearch.devices import pick_device
from rnnsearch.errors import UserError
from rnnsearch.modelconfig import ModelConfig, RnnsearchConfig
from rnnsearch.plain import (
    _BROUGHT,
    SCHEMA_VERSION,
    build,
    from_plain,
    known_keys,
    load_run_config,
    split_optional,
    to_plain,
    to_yaml,
    unknown_key,
)
from rnnsearch.resuming import compare_for_resume
from rnnsearch.rules import RULES
from rnnsearch.validation import validate


def compose(*argv: str) -> TrainConfig:
    """Return what `rnnsearch train` would train with."""
    seen: list[TrainConfig] = []
    with pytest.MonkeyPatch.context() as patch:
        body = types.SimpleNamespace(run=seen.append)
        patch.setitem(sys.modules, "rnnsearch.cli.train", body)
        assert main(["train", *argv]) == 0
    return seen[0]


@pytest.fixture(scope="module")
def default() -> TrainConfig:
    return compose()


@pytest.fixture
def config(default: TrainConfig) -> TrainConfig:
    return copy.deepcopy(default)


def change(config: Any, key: str, value: Any) -> None:
    *groups, name = key.split(".")
    for group in groups:
        config = getattr(config, group)
    assert hasattr(config, name)
    setattr(config, name, value)


def files_split(source: Any, target: Any) -> ScoredSplitConfig:
    return ScoredSplitConfig(source, target, table=None, split=None, alignments=None)


def evaluating(config: TrainConfig) -> EvaluateConfig:
    return EvaluateConfig(
        run_dir="runs/x", checkpoint="best", device="cpu", test_set=None, references=None,
        bootstrap=1000, tokenize="13a", lowercase=False, ter=True, replace_unk=False, scores=None,
        report=True, data=config.data, decode=config.decode,
    )  # fmt: skip


def translating(config: TrainConfig) -> TranslateConfig:
    return TranslateConfig(
        run_dir="runs/x", checkpoint="best", device="cpu", input="-", output="-", n_best=1,
        alignments=None, alignment_format="pharaoh", plots=None, plot_format="png", plot_sheet=0,
        replace_unk=False, decode=config.decode,
    )  # fmt: skip


# --- composition


def test_defaults_train_the_demo_corpus(default: TrainConfig) -> None:
    assert default.folder == Path("runs/demo")
    assert isinstance(default.model, RnnsearchConfig)
    assert (default.model.init, default.model.wiring) == ("xavier", "appendix")
    assert (default.trainer.batch_sentences, default.trainer.sort_window) == (32, 20)
    validate(default)


FILES = [
    f"data.{split}.{side}={__file__}"
    for split in ("train", "valid")
    for side in ("source", "target")
]


def test_every_choice_of_every_group_composes(tmp_path: Path) -> None:
    given: dict[str, list[str]] = {
        "data=folder": [f"data.dir={tmp_path}"],
        "data=files": FILES,
        "data=hub": ["data.path=somebody/set"],
    }
    base_of = {"model": "ModelConfig", "data": "DataConfig", "tokenizer": "TokenizerConfig"}
    base_of |= {"optimizer": "OptimizerConfig", "scheduler": "SchedulerConfig"}
    kinds = {
        group: list(choices.items())
        for group, name in base_of.items()
        for base, choices in KINDS.items()
        if base.__name__ == name
    }
    for i in range(max(map(len, kinds.values()))):
        picked = {group: choices[i % len(choices)] for group, choices in kinds.items()}
        words = [f"{group}={kind}" for group, (kind, _) in picked.items()]
        config = compose(*words, *(word for key in words for word in given.get(key, [])))
        for group, (kind, cls) in picked.items():
            assert getattr(config, group).kind == kind
            assert type(getattr(config, group)) is cls


def test_every_choice_has_a_file() -> None:
    folder = Path(sys.modules["rnnsearch.configs"].__file__ or "").parent
    for base, choices in KINDS.items():
        group = base.__name__.removesuffix("Config").lower()
        kinds = {load(path)["kind"] for path in (folder / group).glob("*.yaml")}
        assert kinds == set(choices)
        assert {path.stem for path in (folder / group).glob("*.yaml")} >= set(choices)


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_bytes())


def experiments() -> list[str]:
    import rnnsearch.configs

    folder = Path(rnnsearch.configs.__file__ or "").parent / "experiment"
    return sorted(path.stem for path in folder.glob("*.yaml"))


@pytest.mark.parametrize("experiment", experiments())
@pytest.mark.parametrize("model", [*KINDS[ModelConfig]])
def test_every_experiment_composes_with_every_model(
    experiment: str, model: str, tmp_path: Path
) -> None:
    config = compose(
        f"experiment={experiment}", f"model={model}", f"data.dir={tmp_path}", "data=folder"
    )
    assert config.folder == Path("runs", experiment)
    assert config.model.kind == model


def test_paper_has_the_sizes_of_the_paper(tmp_path: Path) -> None:
    config = compose("experiment=paper")
    model = config.model
    assert (model.hidden_size, model.embedding_size, model.maxout_size) == (1000, 620, 500)
    assert model.encoder_size is None
    assert (config.optimizer.kind, config.trainer.loss_reduction) == ("adadelta", "sum")
    assert (model.init, config.trainer.clip_norm) == ("paper", 1.0)


def test_a_run_is_named_by_its_folder_or_experiment_or_data(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    assert compose("data=folder", f"data.dir={corpus}").folder == Path("runs/corpus")
    assert compose("data=files", *FILES, "name=a/b").folder == Path("runs/a/b")


# --- plain values and YAML


def test_plain_values_come_back_equal_through_yaml(config: TrainConfig) -> None:
    config.optimizer.lr = 1e-30
    sides = (["/a/é=1, (2) [3].en", "/b"], "/c: #d ${x}\n")
    config.data.test = ScoredSplitConfig(*sides, None, None, ["/é.align"])
    plain = to_plain(config)
    assert next(iter(plain)) == "schema"
    text = to_yaml(plain)
    assert "!!" not in text
    assert "_target_" not in text
    assert from_plain(yaml.safe_load(text), name="config.yaml") == config


def test_a_path_in_bytes_that_the_locale_cannot_read_is_kept(config: TrainConfig) -> None:
    config.data.test = ScoredSplitConfig(os.fsdecode(b"/a/\xe9.en"), "/b", None, None, None)
    plain = yaml.safe_load(to_yaml(to_plain(config)))
    again = from_plain(plain, name="config.yaml").data.test
    assert os.fsencode(again.source) == b"/a/\xe9.en"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda plain: plain.pop("schema"), "config.yaml: not a run's configuration"),
        (lambda plain: plain.update(schema=99), "schema 99, but this program reads schema 7"),
        (lambda plain: plain["model"].update(kind="other"), "model.kind=other"),
        (lambda plain: plain["model"].update(hiden_size=3), "hiden_size.*model.hidden_size"),
        (lambda plain: plain["model"].pop("bias"), "model.bias: a value is missing"),
        (lambda plain: plain.pop("model"), "model: choose one with model=NAME, of rnnsearch"),
        (
            lambda plain: plain["decode"].update(beam_size="5"),
            "decode.beam_size=5: expected a whole",
        ),
        (lambda plain: plain["model"].update(bias=None), "model.bias=null: expected true or false"),
        (lambda plain: plain.update(trainer=3), "trainer=3: expected a group of keys"),
    ],
)
def test_a_damaged_configuration_is_named(config: TrainConfig, damage: Any, message: str) -> None:
    plain = to_plain(config)
    damage(plain)
    with pytest.raises(UserError, match=message) as caught:
        from_plain(plain, name="config.yaml")
    assert caught.value.status == 1
    assert str(caught.value).startswith("config.yaml: ")


def test_what_is_no_mapping_is_no_configuration() -> None:
    with pytest.raises(UserError, match="not a run's configuration"):
        from_plain(["schema"], name="config.yaml")


def test_a_run_folder_is_read(config: TrainConfig, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder") as caught:
        load_run_config(tmp_path / "none")
    assert caught.value.status == 2
    with pytest.raises(UserError, match=r"holds no run, it has no config\.yaml") as caught:
        load_run_config(tmp_path)
    assert caught.value.status == 2
    path = tmp_path / "config.yaml"
    for content in (b"model: [", b"\xff\xfe"):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"config\.yaml: incomplete or damaged") as caught:
            load_run_config(tmp_path)
        assert caught.value.status == 1
    path.write_text(to_yaml(to_plain(config)), encoding="utf-8")
    assert load_run_config(tmp_path) == config


def test_whole_numbers_serve_as_numbers_but_not_the_reverse(config: TrainConfig) -> None:
    values = to_plain(config)
    del values["schema"]
    values["trainer"]["max_minutes"] = 3
    minutes = build(TrainConfig, values, root=TrainConfig).trainer.max_minutes
    assert isinstance(minutes, float)
    values["trainer"]["max_updates"] = 3.0
    with pytest.raises(
        UserError, match=r"trainer\.max_updates=3\.0: expected a whole number or null"
    ):
        build(TrainConfig, values, root=TrainConfig)


@pytest.mark.parametrize(
    ("key", "root", "message"),
    [
        ("trainer.max_update", TrainConfig, "did you mean 'trainer.max_updates'"),
        ("decode.beam_sise", EvaluateConfig, "did you mean 'decode.beam_size'"),
        ("lr", TrainConfig, "did you mean 'optimizer.lr'"),
        ("scheduler.factor", TrainConfig, "it belongs to scheduler=plateau"),
        ("optimizer.eps", TrainConfig, "optimizer=adam and optimizer=adamw and optimizer=adadelta"),
        ("model.hidden_size", TranslateConfig, "it belongs to `rnnsearch train`"),
        ("tokenizer.zzz", TrainConfig, "the keys are tokenizer.vocab_size"),
        ("zzz", TrainConfig, "the keys are run_dir, name"),
        ("max_update", TrainConfig, "did you mean 'trainer.max_updates'"),
        ("modle", TrainConfig, "did you mean 'model'"),
        ("experimnt", TrainConfig, "did you mean 'experiment'"),
        ("optimizer.learnig_rate", TrainConfig, "the keys are optimizer.lr"),
        ("data.tran", TrainConfig, "did you mean 'data.train'"),
        ("hydra.zzz", TrainConfig, "Hydra has no such setting"),
    ],
)
def test_an_unknown_key_names_the_real_one(key: str, root: type, message: str) -> None:
    error = str(unknown_key(key, root))
    assert error.startswith(f"{key}: ")
    assert message in error


# --- values


def test_every_number_has_a_rule_and_every_rule_a_key() -> None:
    roots = (TrainConfig, EvaluateConfig, TranslateConfig)
    keys = {k: hint for root in roots for k, hint in known_keys(root)}
    numbers = {key for key, hint in keys.items() if split_optional(hint)[0] in (int, float)}
    assert numbers <= RULES.keys() <= keys.keys()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("seed", -1, "seed=-1: expected a whole number of at least 0 and at most 4294967295"),
        ("model.hidden_size", 0, "expected a whole number of at least 1 and at most 1000000$"),
        ("model.hidden_size", 10**20, "expected a whole number .* and at most 1000000$"),
        ("data.max_length", 2**31, "expected a whole number of at most 2147483647 or null"),
        ("tokenizer.vocab_size", 10**19, "at least 5 and at most 10000000"),
        ("decode.length_penalty", 400.0, "expected a number of at least 0 and at most 50"),
        ("decode.max_length_ratio", 1e300, "expected a number above 0 and at most 1000 or null"),
        ("model.encoder_size", -3, "expected a whole number of at least 1 and .* or null"),
        ("model.dropout", 1.0, "expected a number of at least 0 and below 1"),
        ("model.init", "papr", "expected paper or xavier .did you mean 'paper'"),
        ("model.wiring", "other", "expected appendix, equation4 or original"),
        (
            "model.attention",
            "dott",
            "model.attention=dott: expected additive, dot, scaled_dot or general",
        ),
        ("data.max_ratio", 0.5, "expected a number of at least 1 or null"),
        ("data.source_lang", "", "data.source_lang= is empty"),
        ("tokenizer.vocab_size", 4, "expected a whole number of at least 5"),
        ("optimizer.lr", 0.0, "optimizer.lr=0.0: expected a number above 0"),
        ("optimizer.lr", float("nan"), "optimizer.lr=nan: expected a finite number"),
        ("optimizer.lr", float("inf"), "optimizer.lr=inf: expected a finite number"),
        ("optimizer.beta2", 1.0, "below 1"),
        ("trainer.max_minutes", float("-inf"), "expected a finite number"),
        ("trainer.max_minutes", -1.0, "expected a number above 0 or null"),
        ("trainer.metric", "blue", "expected bleu, chrf or loss .did you mean 'bleu'"),
        ("trainer.precision", "fp16", "trainer.precision=fp16: expected fp32, bf16 or auto"),
        ("trainer.loss_reduction", "mean", "expected token, sentence or sum"),
        ("trainer.clip_norm", 0.0, "expected a number above 0 or null"),
        ("trainer.keep_last", 0, "at least 1"),
        ("trainer.label_smoothing", -0.1, "at least 0 and below 1"),
        ("decode.length_penalty", -1.0, "at least 0"),
        ("resume", "None", "resume=None: expected auto, never or must"),
        ("run_dir", "None", "run_dir=None: None is not a value here; write run_dir=null"),
        ("name", "None", "write name=null"),
        ("name", "", "name= is empty; write name=null"),
        ("name", "/x", "name=/x: expected a plain name"),
        ("name", "a/../../b", "expected a plain name"),
        ("data.dir", "None", "write data.dir=null"),
        ("data.test.source", "None", "write data.test.source=null"),
        ("data.test.source", "", "data.test.source= is empty; write data.test.source=null"),
        ("data.test.source", [], "is an empty list"),
        ("data.test.source", ["a", None], "data.test.source=null: expected a path, a list"),
        ("data.test.source", 3, "data.test.source=3: expected a path, a list"),
        ("device", "gpu", "device=gpu: expected auto, cpu, cuda or cuda:N"),
        ("device", "cuda:x", "expected auto, cpu, cuda or cuda:N"),
        ("data.dir", "/x", "data.dir is set, but data=demo reads no folder; add data=folder"),
        ("data.path", "a/b", "data.path is set, but data=demo reads no set of the hub; add data=h"),
        ("data.name", "en-fr", "data.name is set, but data=demo reads no set of the hub"),
        ("data.streaming", True, "data.streaming is set, but data=demo reads no set of the hub"),
        ("data.kind", "hub", "data.path is null, but data=hub needs a set: data.path=OWNER/NAME"),
        ("data.columns", [1, 2], "data.columns is set, but no table is read"),
        ("data.columns", ["en"], r"data.columns=\[en\]: expected the columns of source and target"),
        ("data.columns", [0, 1], r"data.columns=\[0,1\]: expected the columns"),
        ("data.columns", ["en", 2], r"data.columns=\[en,2\]: expected the columns"),
        ("data.columns", [2, 2], "source and target are the same column"),
        ("data.columns", "None", "data.columns=None: expected the columns"),
        (
            "data.train",
            SplitConfig(None, None, "t.tsv", None),
            "data.train.table is set, but data=demo has files of its own",
        ),
        (
            "data.test",
            ScoredSplitConfig("a", "b", "t.tsv", None, None),
            "data.test.table is set, and so is data.test.source",
        ),
        (
            "data.valid",
            SplitConfig(None, None, None, "validation"),
            "data.valid.split is set, but data=demo reads no set; add data=hub",
        ),
        (
            "data.test.alignments",
            "a.align",
            "data.test.alignments is set, but data.test.source and",
        ),
        ("data.test.alignments", [], "data.test.alignments=.* is an empty list"),
        ("data.train", files_split("a", "b"), "data=demo has files of its own; add data=files"),
        ("data.valid", files_split("a", None), "data.valid.target is null, but data.valid.source"),
        ("data.test", files_split(None, "b"), "data.test.source is null, but data.test.target"),
        ("data.kind", "folder", "data.dir is null, but data=folder needs the folder"),
        ("data.kind", "files", "data.train.source and data.train.target are null"),
        (
            "trainer.max_minutes",
            None,
            "trainer.max_updates, trainer.max_epochs and trainer.max_min",
        ),
        ("trainer.batch_sentences", None, "trainer.batch_sentences and trainer.batch_tokens are"),
        ("trainer.accumulate", 33, "trainer.accumulate=33 cuts .* trainer.batch_sentences=32"),
        ("decode.max_length_ratio", None, "decode.max_length and decode.max_length_ratio are both"),
        ("decode.min_length_ratio", 4.0, "decode.min_length_ratio=4.0 is more than decode.max_len"),
    ],
)
def test_a_wrong_value_is_refused(config: TrainConfig, key: str, value: Any, message: str) -> None:
    change(config, key, value)
    with pytest.raises(UserError, match=message) as caught:
        validate(config)
    assert caught.value.status == 2


@pytest.mark.parametrize(
    ("group", "key", "value"),
    [
        (SgdConfig("sgd", 0.1, momentum=1.0), "optimizer", "momentum=1.0"),
        (AdamConfig("adam", 0.1, 0.9, 0.999, eps=0.0), "optimizer", "eps=0.0"),
        (AdamWConfig("adamw", 0.1, 0.9, 0.999, 1e-8, -1.0), "optimizer", "weight_decay=-1.0"),
        (PlateauConfig("plateau", 0, factor=1.0, patience=2), "scheduler", "factor=1.0"),
        (PlateauConfig("plateau", 0, factor=0.5, patience=-1), "scheduler", "patience=-1"),
        (CosineConfig("cosine", 0, min_lr_ratio=2.0), "scheduler", "min_lr_ratio=2.0"),
    ],
)
def test_a_wrong_value_of_another_choice_is_refused(
    config: TrainConfig, group: Any, key: str, value: str
) -> None:
    setattr(config, key, group)
    with pytest.raises(UserError, match=rf"{key}\.{value}: expected"):
        validate(config)


@pytest.mark.parametrize(
    "key", [key for key, hint in known_keys(TrainConfig) if hint == str | None]
)
def test_none_typed_for_null_is_refused(config: TrainConfig, key: str) -> None:
    change(config, key, "None")
    with pytest.raises(UserError, match=rf"{key}=None.*{key}=null"):
        validate(config)


def test_extremes_are_accepted(config: TrainConfig) -> None:
    config.optimizer.lr = 1e30
    config.seed = 0
    config.trainer.batch_sentences, config.trainer.batch_tokens = None, 1
    config.trainer.max_minutes, config.trainer.max_epochs = None, 1
    config.model.dropout = 0.0
    config.decode.max_length_ratio, config.decode.max_length = None, 1
    validate(config)


def test_evaluate_needs_a_test_set(config: TrainConfig) -> None:
    validate(evaluating(config))
    config.data.kind = "files"
    with pytest.raises(UserError, match=r"no test set: data.test.source and data.test.target"):
        validate(evaluating(config))
    config.data.test = files_split("a", None)
    with pytest.raises(UserError, match=r"data.test.target is null"):
        validate(evaluating(config))
    config.data.test = files_split("a", "b")
    validate(evaluating(config))
    config.data.kind, config.data.test = "folder", files_split(None, None)
    with pytest.raises(UserError, match=r"data\.dir is null"):
        validate(evaluating(config))
    config.data.kind, config.data.dir = "demo", "/x"
    with pytest.raises(UserError, match="data=demo reads no folder; add data=folder"):
        validate(evaluating(config))


def test_n_best_fits_in_the_beam(config: TrainConfig) -> None:
    translate = translating(config)
    translate.n_best = 6
    with pytest.raises(UserError, match=r"n_best=6 is more than decode.beam_size=5"):
        validate(translate)
    translate.n_best = 5
    validate(translate)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("alignment_format", "giza", "alignment_format=giza: expected pharaoh or json"),
        ("plot_format", "pdf", "plot_format=pdf: expected png, svg or both"),
        ("plot_format", "svg", "plot_format=svg, but plots names no folder; give plots=FOLDER"),
        ("plot_sheet", -1, "plot_sheet=-1: expected a whole number of at least 0 and at most 32"),
        ("plot_sheet", 8, "plot_sheet=8, but plots names no folder; give plots=FOLDER"),
        ("replace_unk", None, "replace_unk=null: expected true, false or a dictionary file"),
        ("replace_unk", 3, "replace_unk=3: expected true, false or a dictionary file"),
        ("replace_unk", "None", "replace_unk=None: None is not a value here"),
        ("checkpoint", None, "checkpoint=null: expected a name or path, or a list of them"),
        ("checkpoint", [], r"checkpoint=\[\] is an empty list; name one or more"),
        ("checkpoint", ["best", None], "checkpoint=null: expected a name or path"),
        ("checkpoint", ["best", "best"], "checkpoint: best is named twice"),
    ],
)
def test_a_wrong_value_of_translate_is_refused(
    config: TrainConfig, key: str, value: Any, message: str
) -> None:
    translate = translating(config)
    setattr(translate, key, value)
    with pytest.raises(UserError, match=message):
        validate(translate)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("bootstrap", -1, "bootstrap=-1: expected a whole number of at least 0"),
        ("bootstrap", 10**20, "bootstrap=10+: expected a whole number of at least 0 and at most 1"),
        ("run_dir", ["a", "a"], "run_dir: a is named twice"),
        ("run_dir", None, "run_dir=null: expected a name or path"),
        ("references", [], r"references=\[\] is an empty list; write references=null"),
        ("references", "None", "references=None: None is not a value here"),
    ],
)
def test_a_wrong_value_of_evaluate_is_refused(
    config: TrainConfig, key: str, value: Any, message: str
) -> None:
    evaluate = evaluating(config)
    setattr(evaluate, key, value)
    with pytest.raises(UserError, match=message):
        validate(evaluate)


def test_tokenizers_come_from_one_run(config: TrainConfig) -> None:
    config.start_from, config.tokenizer.path = "runs/a", "runs/b"
    with pytest.raises(UserError, match=r"tokenizer.path is set, but start_from brings"):
        validate(config)


def without(values: dict[str, Any], later: dict[str, Any]) -> None:
    """Delete nested keys."""
    for key, inner in later.items():
        if isinstance(inner, dict):
            without(values[key], inner)
        else:
            del values[key]


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION))
def test_a_run_of_an_older_schema_is_read(version: int, config: TrainConfig) -> None:
    """Its later keys are at the values that mean what there was before."""
    plain = to_plain(config)
    plain["schema"] = version
    for since, brought in _BROUGHT.items():
        if version < since:
            without(plain, brought)
    assert from_plain(plain, name="config.yaml") == config


@pytest.mark.parametrize("key", ["output", "input", "checkpoint"])
def test_names_of_translate_are_not_none(config: TrainConfig, key: str) -> None:
    for value in ("None", ""):
        translate = translating(config)
        setattr(translate, key, value)
        with pytest.raises(UserError, match=rf"{key}=.*null"):
            validate(translate)


# --- devices


def fake_torch(monkeypatch: pytest.MonkeyPatch, *, devices: int) -> None:
    cuda = types.SimpleNamespace(is_available=lambda: devices > 0, device_count=lambda: devices)
    torch = types.SimpleNamespace(cuda=cuda, device=lambda *words: words)
    monkeypatch.setitem(sys.modules, "torch", torch)


def test_cuda_without_one_is_refused(monkeypatch: pytest.MonkeyPatch, config: TrainConfig) -> None:
    fake_torch(monkeypatch, devices=0)
    config.device = "cuda"
    with pytest.raises(UserError, match="device=cuda: no CUDA device was found; use device=auto"):
        validate(config)
    assert pick_device("auto") == ("cpu",)


def test_a_device_beyond_the_last_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_torch(monkeypatch, devices=2)
    with pytest.raises(UserError, match="device=cuda:2: the devices here are cuda:0 to cuda:1"):
        pick_device("cuda:2")
    assert pick_device("cuda:1") == ("cuda", 1)
    assert pick_device("auto") == ("cuda", 0)
    assert pick_device("cpu") == ("cpu",)


# --- resume


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("trainer.max_updates", 60, "trainer.max_updates: null -> 60"),
        ("trainer.patience", 3, "trainer.patience: null -> 3"),
        ("optimizer.lr", 0.005, "optimizer.lr: 0.008 -> 0.005"),
        ("decode.beam_size", 1, "decode.beam_size: 5 -> 1"),
        ("device", "cpu", "device: auto -> cpu"),
        ("decode.ban_unk", True, "decode.ban_unk: null -> true"),
    ],
)
def test_a_change_that_resume_takes_over_is_told(
    config: TrainConfig, key: str, value: Any, line: str
) -> None:
    before = to_plain(config)
    change(config, key, value)
    assert compare_for_resume(before, to_plain(config)) == [line]


def test_another_schedule_is_taken_over(config: TrainConfig) -> None:
    config.scheduler = SchedulerConfig("constant", 0)
    before = to_plain(config)
    config.scheduler = PlateauConfig("plateau", 0, 0.5, 2)
    assert compare_for_resume(before, to_plain(config)) == [
        "scheduler.kind: constant -> plateau",
        "scheduler.factor: unset -> 0.5",
        "scheduler.patience: unset -> 2",
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [("run_dir", "moved"), ("name", "x"), ("resume", "must"), ("data.test", files_split("a", "b"))],
)
def test_what_is_no_part_of_the_training_may_differ(
    config: TrainConfig, key: str, value: Any
) -> None:
    before = to_plain(config)
    change(config, key, value)
    assert compare_for_resume(before, to_plain(config)) == []


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("model.hidden_size", 64, "model.hidden_size: the run in this folder has 128, not 64"),
        ("tokenizer.joint", True, "tokenizer.joint: .* has false, not true"),
        ("data.max_length", None, "data.max_length: .* has 50, not null"),
        ("seed", 2, "seed: .* has 1, not 2"),
        ("data.train", files_split("a", "b"), "data.train.source: .* has null, not a"),
        ("optimizer", SgdConfig("sgd", 0.1, 0.0), "optimizer.kind: .* has adam, not sgd"),
        ("trainer.batch_sentences", 40, "trainer.batch_sentences: .* has 32, not 40"),
        ("trainer.metric", "loss", "trainer.metric: .* has bleu, not loss"),
    ],
)
def test_a_change_of_what_is_trained_is_refused(
    config: TrainConfig, key: str, value: Any, message: str
) -> None:
    before = to_plain(config)
    change(config, key, value)
    with pytest.raises(UserError, match=message) as caught:
        compare_for_resume(before, to_plain(config))
    assert caught.value.status == 2


# --- accessors


def test_the_folder_and_the_files_of_the_data(config: TrainConfig) -> None:
    demo = data_folder(config.data)
    assert demo is not None
    assert demo.is_dir()
    config.data.kind = "files"
    assert data_folder(config.data) is None
    config.data.dir = "/x"
    assert data_folder(config.data) == Path("/x")
    assert paths_of(None) == ()
    assert paths_of("a") == (Path("a"),)
    assert paths_of(["a", "b"]) == (Path("a"), Path("b"))


def test_the_folder_is_known_once_it_is_chosen(config: TrainConfig) -> None:
    config.run_dir = None
    with pytest.raises(ValueError, match="has not been chosen"):
        _ = config.folder


def test_schemas_hold_no_values() -> None:
    from dataclasses import MISSING, fields

    classes = {cls for choices in KINDS.values() for cls in choices.values()}
    for cls in (TrainConfig, EvaluateConfig, TranslateConfig, *classes):
        assert is_dataclass(cls)
        assert all(field.default is MISSING for field in fields(cls))
