"""Cases C1 and C2: every override is used, or refused in one line before any work."""

import sys
import types
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import pytest
from cases_common import IN, TEST, TINY, Result, check_refused, refuse, rnnsearch
from omegaconf import OmegaConf

from rnnsearch.cli.messages import COMPOSITION_ERRORS, as_user_error
from rnnsearch.config import KINDS, EvaluateConfig, TrainConfig, TranslateConfig
from rnnsearch.plain import fields_of, known_keys, split_optional

ROOTS: dict[str, type] = {
    "train": TrainConfig,
    "evaluate": EvaluateConfig,
    "translate": TranslateConfig,
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def nothing_made(folder: Path) -> bool:
    return list(folder.iterdir()) == []


# --- C1


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("data.max_length", "None", ("data.max_length", "null")),
        ("trainer.patience", "None", ("trainer.patience", "null")),
        ("data.train.source", "None", ("data.train.source", "null")),
        ("resume", "None", ("resume", "auto", "never", "must")),
        ("data.max_length", '""', ("data.max_length",)),
        ("data.max_length", "", ("data.max_length",)),
        # Further keys of each type.
        ("seed", "None", ("seed", "whole number")),
        ("name", "None", ("name", "null")),
        ("run_dir", "None", ("run_dir", "null")),
        ("model.encoder_size", "None", ("model.encoder_size", "null")),
        ("data.max_ratio", "None", ("data.max_ratio", "null")),
        ("data.valid.source", "[None]", ("data.valid.source", "null")),
        ("decode.ban_unk", "None", ("decode.ban_unk", "null")),
        ("start_from", "None", ("start_from", "null")),
    ],
)
def test_c1_none_typed_for_null(
    key: str, value: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    refuse("train", *TINY, "run_dir=n", f"{key}={value}", words=words, status=(2,))
    assert nothing_made(tmp_path)


@pytest.mark.parametrize("value", ["None", '""', ""])
@pytest.mark.parametrize("key", ["output", "input", "plots", "alignments", "checkpoint"])
def test_c1_no_file_is_called_none(key: str, value: str, base_run: Path, tmp_path: Path) -> None:
    words = (f"run_dir={base_run}", f"input={IN}/base.test.en", f"{key}={value}")
    told = (key, "null") if value == "None" else (key,)
    refuse("translate", *words, words=told, status=(2,))
    assert nothing_made(tmp_path)


def test_c1_null_itself_is_no_name(base_run: Path, tmp_path: Path) -> None:
    for key in ("output", "input", "checkpoint"):
        refuse("translate", f"run_dir={base_run}", f"{key}=null", words=(key,), status=(2,))
    assert nothing_made(tmp_path)


# --- C2


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("trainer.max_update=3", ("trainer.max_update", "trainer.max_updates")),
        ("+trainer.max_update=3", ("trainer.max_update", "trainer.max_updates")),
        ("++trainer.max_update=3", ("trainer.max_update", "trainer.max_updates")),
        ("trainer={max_update: 3}", ("trainer.max_update", "trainer.max_updates")),
        ("optimizer.learnig_rate=3", ("optimizer.learnig_rate",)),
        ("--lr", ("--lr",)),
        ("--max-updates=3", ("--max-updates", "trainer.max_updates")),
        ("model.hiden_size=3", ("model.hiden_size", "model.hidden_size")),
        ("data.tran.source=x", ("data.tran", "data.train")),
        ("data.train.sorce=x", ("data.train.sorce", "data.train.source")),
        ("sed=3", ("sed", "seed")),
        ("SEED=3", ("SEED",)),
        ("max_updates=3", ("max_updates", "trainer.max_updates")),
        ("modl=rnnsearch", ("modl", "model")),
        ("optimizer=adm", ("optimizer=adm", "adam")),
        ("+x.y=1", ("x:",)),
    ],
)
def test_c2_misspelt_keys(word: str, words: tuple[str, ...], tmp_path: Path) -> None:
    refuse("train", *TINY, word, "run_dir=t", words=words, status=(2,))
    assert nothing_made(tmp_path)


def test_c2_a_misspelt_key_of_evaluate(base_run: Path) -> None:
    before = sorted(base_run.rglob("*"))
    told = ("decode.beam_sise", "beam_size")
    for sign in ("", "+"):
        word = f"{sign}decode.beam_sise=4"
        refuse("evaluate", f"run_dir={base_run}", *TEST, word, words=told, status=(2,))
    assert sorted(base_run.rglob("*")) == before


def own_file(group: str, content: str | bytes) -> str:
    """Write a choice `mine` of a group of one's own; return its path."""
    path = Path("conf", group, "mine.yaml")
    path.parent.mkdir(parents=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


GLOBAL = "# @package _global_\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (  # the case itself
            GLOBAL + "trainer:\n  max_update: 3\n",
            ("trainer.max_update", "trainer.max_updates", "experiment/mine"),
        ),
        (GLOBAL + "trainer: {patience: None}\n", ("trainer.patience=null", "experiment/mine")),
        (GLOBAL + "seed: x\n", ("experiment/mine", "seed=x: expected a whole number")),
        (GLOBAL + "seed: [1]\n", ("experiment/mine", "seed=[1]: expected a whole number")),
        (GLOBAL + "trainer: 3\n", ("experiment/mine", "trainer: 3 came, expected a group of keys")),
        (GLOBAL + "trainer: [3]\n", ("experiment/mine", "trainer: [3] came")),
        (GLOBAL + "trainer:\n", ("experiment/mine", "trainer=None: expected a group of keys")),
        (GLOBAL + "model: rnnsearch\n", ("experiment/mine", "model: rnnsearch came")),
        (GLOBAL + "model: {kind: x}\n", ("model.kind=x", "model=NAME")),
        (GLOBAL + "seed: -1\n", ("seed=-1",)),
        (GLOBAL + "seed: ${zzz}\n", ("seed: ", "zzz", "\\${")),
        (GLOBAL + "seed: ${\n", ("seed: ", "\\${")),
        (GLOBAL + "zzz: 3\n", ("experiment/mine", "zzz")),
        (GLOBAL + "_target_: os.system\n", ("experiment/mine", "_target_")),
        (GLOBAL + "seed: !!python/object/apply:os.system [ls]\n", ("mine.yaml:2", "python")),
        (GLOBAL + "seed: [\n", ("mine.yaml:3", "not valid YAML")),
        (GLOBAL + "trainer:\n\tmax_updates: 3\n", ("mine.yaml:3", "not valid YAML")),
        (GLOBAL + "seed: 1\nseed: 2\n", ("mine.yaml:3", "duplicate key seed")),
        (GLOBAL + "seed: 1\0\n", ("mine.yaml", "not valid YAML")),
        (GLOBAL.encode() + "name: été\n".encode("latin-1"), ("mine.yaml:2", "not UTF-8")),
        (GLOBAL + "- a\n", ("mine.yaml", "KEY: VALUE")),
        (GLOBAL + "3\n", ("mine.yaml", "KEY: VALUE")),
        (GLOBAL + "null: 3\n", ("mine.yaml", "KEY: VALUE")),
        # Without its first line the keys would be looked for below `experiment`.
        ("seed: 3\n", ("mine.yaml", "# @package _global_")),
        ("# mine\n# @package _global_\nseed: 3\n", ("mine.yaml", "# @package _global_")),
        ("# @package\nseed: 3\n", ("mine.yaml", "# @package _global_")),
        ("", ("mine.yaml", "# @package _global_")),
        ("# @package zzz\nseed: 3\n", ("experiment/mine", "zzz")),
        # Defaults lists.
        (GLOBAL + "defaults: x\n", ("mine.yaml", "defaults: expected a list")),
        (GLOBAL + "defaults: [3]\n", ("mine.yaml", "defaults: expected a list")),
        (GLOBAL + "defaults: [mine]\n", ("names itself",)),
        (GLOBAL + "defaults: [zzz]\n", ("experiment/mine", "experiment=zzz")),
        (GLOBAL + "defaults: [override /model: zzz]\n", ("model=zzz", "rnnsearch")),
        (GLOBAL + "defaults: [override model: rnnsearch]\n", ("experiment/mine", "with a slash")),
        # Settings of Hydra would write files of its own, or run what nobody checked.
        (GLOBAL + "hydra: {run: {dir: x}}\n", ("mine.yaml", "hydra", "take them out")),
        (GLOBAL + "hydra: {output_subdir: x}\n", ("mine.yaml", "hydra")),
        (GLOBAL + "defaults: [override /hydra/job_logging: default]\n", ("mine.yaml", "hydra")),
    ],
)
def test_c2_mistakes_in_a_users_own_experiment(
    content: str | bytes, words: tuple[str, ...], tmp_path: Path
) -> None:
    path = own_file("experiment", content)
    flags = ("--config-dir", "conf", "experiment=mine")
    told = tuple(word.replace("mine.yaml", path) for word in words)
    # TINY would set anew what the file says of the model or the seed.
    settings = TINY if "max_update" in str(content) else ()
    refuse("train", *settings, *flags, "run_dir=t", words=told, status=(2,))
    assert [entry.name for entry in tmp_path.iterdir()] == ["conf"]


@pytest.mark.parametrize(
    ("group", "content", "words"),
    [
        ("optimizer", "defaults: [adam]\nlrr: 3\n", ("optimizer/mine", "optimizer.lrr", "lr'")),
        ("optimizer", "lr: 3\n", ("optimizer.kind", "optimizer=NAME")),
        ("optimizer", "kind: adam\nlr: 3\n", ("optimizer.beta1: a value is missing",)),
        ("optimizer", "kind: zzz\nlr: 3\n", ("optimizer.kind=zzz", "adam")),
        ("mygroup", "seed: 3\n", ("mygroup: it is no group", "+mygroup=NAME")),
    ],
)
def test_c2_mistakes_in_a_choice_of_ones_own(
    group: str, content: str, words: tuple[str, ...]
) -> None:
    own_file(group, content)
    flags = ("--config-dir=conf", f"{group}=mine", "run_dir=t")
    refuse("train", *flags, words=words, status=(2,))


def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    path = own_file("experiment", GLOBAL)

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(OmegaConf, "load", refused)
    told = (f"{path}: could not be read: Permission denied",)
    refuse("train", "--config-dir", "conf", "experiment=mine", words=told, status=(2,))


# --- every key


def keys() -> list[tuple[str, str, Any]]:
    """Return command, name and type of every key but those that choose a group."""
    return [
        (command, key, hint)
        for command, root in ROOTS.items()
        for key, hint in dict(known_keys(root)).items()
        if not key.endswith(".kind")
    ]


WRONG: dict[Any, tuple[str, ...]] = {
    int: ("x", "1.5", "None", "[1]", "{a: 1}", "nan", "é"),
    float: ("x", "None", "[1]", "{a: 1}"),
    bool: ("maybe", "None", "[true]", "{a: 1}", "2.5"),
    str: ("[a]", "{a: 1}"),
    Any: ("{a: 1}",),
}
ODD: dict[Any, str] = {int: "1.5", float: "[1]", bool: "maybe", str: "{a: 1}", Any: "{a: 1}"}


@pytest.mark.parametrize(("command", "key", "hint"), keys())
def test_a_wrong_type_is_refused_by_the_schema_or_by_the_check(
    command: str, key: str, hint: Any
) -> None:
    """The same as below, without the time that Hydra takes to compose."""
    base, nullable = split_optional(hint)
    if base in (str, Any):
        return
    group, _, leaf = key.partition(".")
    field = fields_of(ROOTS[command]).get(group)
    owner = next((cls for cls in KINDS.get(field, {}).values() if leaf in fields_of(cls)), field)
    config = OmegaConf.structured(ROOTS[command])
    if leaf and is_dataclass(owner):
        config = OmegaConf.create({group: OmegaConf.structured(owner)})
    for value in (*WRONG[base], *(() if nullable else (None,))):
        plain = OmegaConf.create(f"v: {value}").v if value is not None else None
        with pytest.raises(COMPOSITION_ERRORS) as caught:
            OmegaConf.update(config, key, plain, merge=False)
        message = str(as_user_error(caught.value, root=ROOTS[command]))
        assert message.startswith(f"{key}="), value
        assert "expected" in message


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what the commands would have worked on."""
    seen: list[Any] = []
    for command in ROOTS:
        body = types.SimpleNamespace(run=seen.append)
        monkeypatch.setitem(sys.modules, f"rnnsearch.cli.{command}", body)
    return seen


def words_for(command: str, key: str, run_dir: Path) -> list[str]:
    """Return what a command line needs besides the key."""
    if command != "train":
        named = [f"run_dir={run_dir}", *([] if command == "translate" else TEST)]
        return [word for word in named if not word.startswith(f"{key}=")]
    group, _, leaf = key.partition(".")
    choices = KINDS.get(fields_of(TrainConfig).get(group, object), {})
    return [f"{group}={name}" for name, cls in choices.items() if leaf in fields_of(cls)][:1]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "key", "hint"), keys())
def test_a_wrong_type_is_refused_naming_the_key(
    command: str, key: str, hint: Any, base_run: Path, bodies: list[Any], tmp_path: Path
) -> None:
    value = ODD[split_optional(hint)[0]]
    words = [*words_for(command, key, base_run), f"{key}={value}"]
    result: Result = rnnsearch(command, *words)
    check_refused(result, words=(key,), status=(2,))
    assert bodies == []
    assert nothing_made(tmp_path)


@pytest.mark.parametrize("number", range(0, len(keys()), 12))
def test_a_wrong_type_of_some_keys_is_refused_naming_them(
    number: int, base_run: Path, bodies: list[Any], tmp_path: Path
) -> None:
    test_a_wrong_type_is_refused_naming_the_key(*keys()[number], base_run, bodies, tmp_path)
