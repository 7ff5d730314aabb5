"""The command line: what it makes of its words, and the one line and status when it cannot."""

import copy
import errno
import os
import signal
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from omegaconf import OmegaConf
from omegaconf.errors import ValidationError

from rnnsearch.cli.main import main
from rnnsearch.cli.messages import as_user_error
from rnnsearch.config import KINDS, DecodeConfig, TrainConfig, TrainerConfig
from rnnsearch.errors import Interrupted, UserError
from rnnsearch.plain import fields_of, split_optional, to_plain, to_yaml


class Outcome(NamedTuple):
    status: int
    out: str
    err: str
    configs: list[Any]


Run = Callable[..., Outcome]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Run:
    """Run a command line in an empty folder, with bodies that only take the configuration."""
    monkeypatch.chdir(tmp_path)
    configs: list[Any] = []
    for command in ("train", "evaluate", "translate"):
        body = types.SimpleNamespace(run=configs.append)
        monkeypatch.setitem(sys.modules, f"rnnsearch.cli.{command}", body)

    def call(*argv: str) -> Outcome:
        configs.clear()
        status = main(list(argv))
        out, err = capfd.readouterr()
        return Outcome(status, out, err, list(configs))

    return call


def set_body(monkeypatch: pytest.MonkeyPatch, body: Callable[[Any], None]) -> None:
    monkeypatch.setitem(sys.modules, "rnnsearch.cli.train", types.SimpleNamespace(run=body))


def files(folder: Path) -> list[str]:
    """Return the settings of a small corpus of files in `folder`."""
    words = ["data=files"]
    for split in ("train", "valid"):
        for side, language in (("source", "en"), ("target", "fr")):
            (folder / f"{split}.{language}").write_text("a b\n", encoding="utf-8")
            words.append(f"data.{split}.{side}={folder / split}.{language}")
    return words


@pytest.fixture(scope="module")
def plain() -> dict[str, Any]:
    """Return the configuration of a run on `files`, whose folder is still to be put in."""
    configs: list[TrainConfig] = []
    with pytest.MonkeyPatch.context() as patch:
        set_body(patch, configs.append)
        assert main(["train", "decode.beam_size=7"]) == 0
    return to_plain(configs[0])


@pytest.fixture
def trained(plain: dict[str, Any], tmp_path: Path) -> Path:
    """Return a run folder as far as the commands read it before their work."""
    run_dir = tmp_path / "base"
    run_dir.mkdir()
    config = copy.deepcopy(plain)
    config["data"]["kind"] = "files"
    for word in files(tmp_path)[1:]:
        key, _, path = word.partition("=")
        _, split, side = key.split(".")
        config["data"][split][side] = path
    (run_dir / "config.yaml").write_text(to_yaml(config), encoding="utf-8")
    return run_dir


def refused(outcome: Outcome, *words: str) -> None:
    """Check for one line on standard error that holds the words, exit 2 and no work done."""
    assert outcome.status == 2
    assert outcome.out == ""
    assert outcome.err.startswith("rnnsearch: ")
    assert outcome.err.count("\n") == 1
    assert outcome.err.endswith("\n")
    for word in words:
        assert word in outcome.err
    assert outcome.configs == []


# --- wrong use


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("", ["expected a command, train, evaluate or translate"]),
        ("trian", ["trian", "did you mean 'train'"]),
        ("run_dir=x", ["run_dir=x", "train, evaluate or translate"]),
        ("train --lr 3", ["--lr", "KEY=VALUE", "optimizer.lr"]),
        ("train seed=1 --max-updates=3", ["--max-updates", "trainer.max_updates"]),
        ("train --cfg=other", ["--cfg", "job"]),
        ("train --config-dir", ["--config-dir"]),
        ("train word", ["word: expected KEY=VALUE"]),
        ("train =3", ["=3: expected KEY=VALUE"]),
        ("train data.train.source=a=b.en", ["data.train.source", "'data.train.source=\"a=b.en\"'"]),
        ("train data.train.source=é.en", ["data.train.source", "quote it twice"]),
        ("train data.train.source=a[1].en", ["data.train.source", "quote it twice"]),
        ("train data.train.source=a,b", ["[a,b]", "'data.train.source=\"a,b\"'", "add -m"]),
        ("train run_dir=a,b", ["'run_dir=\"a,b\"'"]),
        ("train seed=1,2", ["seed=1,2: several values; to run each value add -m"]),
        ("train seed=range(1,3)", ["seed", "add -m"]),
        ("evaluate seed=1,2", ["seed: there is no such key", "`rnnsearch train`"]),
        ("evaluate bootstrap=1,2", ["bootstrap=1,2: several values; give one"]),
        ("train -m run_dir=a,b", ["run_dir: it cannot take several values"]),
        ("evaluate -m run_dir=a", ["-m", "runs once"]),
        ("translate -m run_dir=a", ["-m", "runs once"]),
        ("train model.kind=x", ["model.kind: choose with model=NAME, of rnnsearch"]),
        ("train model=null", ["model=null: expected one of rnnsearch"]),
        ("train ~seed", ["~seed: a key cannot be taken away; leave it out for its default"]),
        ("train ~trainer.patience", ["write trainer.patience=null for no value"]),
        ("train ~model", ["~model: a key cannot be taken away; leave it out"]),
        ("train +seed=3", ["+seed=3", "write it without +"]),
        ("train +experiment=paper", ["write it without +"]),
        ("train hydra.run.dir=x", ["hydra.run.dir", "run_dir=PATH"]),
        ("train ++model=rnnsearch", ["write it without +"]),
        ("train model@x=rnnsearch", ["a choice goes where its group is; write model=NAME"]),
        ("train model=???", ["model=???: expected one of rnnsearch"]),
        ("train experiment=3", ["experiment=3: expected a name"]),
        ("train experiment=[multi30k,3]", ["expected a name"]),
        ("train experiment={a:1}", ["expected a name"]),
        ("train experiment.x=1", ["experiment.x: there is no such key", "experiment=NAME"]),
        ("train seed.x=1", ["seed.x: there is no such key; seed has a value"]),
        ("train data.train.source.0=a", ["data.train.source has a value, and no keys below"]),
        ("train data.train.source[0]=a", ["data.train.source[0]", "'data.train.source'"]),
        ("train trainer..max_updates=3", ["trainer..max_updates", "'trainer.max_updates'"]),
        ("train séed=3", ["séed: there is no such key (did you mean 'seed'?)"]),
        ("train trainer=3", ["trainer=3: expected a group of keys", "trainer.NAME=VALUE"]),
        ("train trainer=[]", ["trainer=[]: expected a group of keys"]),
        ("train data.train=null", ["data.train=null: expected a group of keys"]),
        ("train -m seed=interval(1,2)", ["seed=interval(1,2): give the values one by one"]),
        ("train -m seed=glob(*)", ["seed=glob(*): glob picks choices of a group"]),
        ("train -m optimizer=glob(z*)", ["fits none of adadelta, adam, adamw, sgd"]),
        ("train -m experiment=null,paper", ["expected a name"]),
        ("train -m model=rnnsearch,null", ["expected one of rnnsearch"]),
        ("train -m --cfg job", ["--cfg and -m do not go together; leave -m out"]),
        ("train --cfg job --info", ["--cfg and --info do not go together; give one"]),
        ("train --cfg job -p zzz", ["--package=zzz: expected one of data, decode"]),
        ("train --package model", ["--package: it goes with --cfg job"]),
        ("train --resolve", ["--resolve: it goes with --cfg job"]),
        ("train --info zzz", ["--info=zzz: expected one of all, config"]),
        ("train --config-name x", ["--config-name: there is no such flag", "--config-dir"]),
        ("train -cn x", ["-cn: there is no such flag", "--config-dir"]),
        ("train --config-path=x", ["--config-path: there is no such flag"]),
        ("train --config-dir nowhere", ["--config-dir=nowhere: there is no such folder"]),
        ("train --config-dir=", ["--config-dir=: there is no such folder"]),
        ("train -", ["-: there is no such flag"]),
        ("train hydra.mode=MULTIRUN", ["hydra.mode", "-m"]),
        ("train hydra.verbose=true", ["hydra.verbose: this setting of Hydra is not used here"]),
        ("train hydra/job_logging=default", ["hydra/job_logging", "leave it out"]),
        ("train hydra=x", ["hydra: this setting of Hydra"]),
        ("train hydra.searchpath=[x]", ["--config-dir"]),
        ("train hydra.sweeper.params.seed=1", ["-m KEY=VALUE,VALUE"]),
        ("train hydra.job.chdir=x", ["hydra.job.chdir=x: expected true or false"]),
        ("train +hydra.callbacks.x=1", ["hydra.callbacks.x"]),
        ("evaluate experiment=paper", ["experiment: there is no such key", "`rnnsearch train`"]),
        ("evaluate model=rnnsearch", ["model: there is no such key", "`rnnsearch train`"]),
        ("translate data=files", ["data: there is no such key"]),
        ("train hydra/launcher=joblib", ["hydra/launcher", "one after the other"]),
        ("evaluate", ["run_dir is missing: rnnsearch evaluate run_dir=runs/NAME"]),
        ("translate input=x", ["run_dir is missing: rnnsearch translate"]),
        ("translate run_dir=none", ["run_dir=none: there is no such folder"]),
        ("translate run_dir=.", ["holds no run, it has no config.yaml"]),
        ("translate run_dir=None", ["run_dir=None", "null"]),
        ("evaluate run_dir=null", ["run_dir=None", "null"]),
        ("translate run_dir=[a,b]", ["run_dir=[a,b]: expected one folder"]),
        ("help zzz", ["zzz: there is no such command"]),
    ],
)
def test_a_wrong_command_line_is_refused_before_anything_is_composed(
    run: Run, argv: str, words: list[str], tmp_path: Path
) -> None:
    refused(run(*argv.split()), *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("trainer.max_update=3", ["trainer.max_update:", "'trainer.max_updates'"]),
        ("+trainer.max_update=3", ["trainer.max_update:", "'trainer.max_updates'"]),
        ("optimizer.learnig_rate=3", ["optimizer.learnig_rate", "optimizer.lr"]),
        ("scheduler.patience=3", ["scheduler.patience", "scheduler=plateau"]),
        ("modle=rnnsearch", ["modle", "'model'"]),
        ("model=rnnserch", ["model=rnnserch", "'rnnsearch'"]),
        ("experiment=multi", ["experiment=multi", "'multi30k'", "paper"]),
        ("hydra.zzz=1", ["hydra.zzz"]),
        ("mygroup=x", ["mygroup: there is no such key"]),
        ("experiment=[multi30k,paper]", ["experiment=[multi30k,paper]: expected a name"]),
        ("model=${oc.env:NO_SUCH}", ["model=${oc.env:NO_SUCH}: expected one of rnnsearch, "]),
        ("data.max_length=", ["data.max_length=:", "data.max_length=null"]),
        ("seed=null", ["seed=null: expected a whole number"]),
        ("model.bias=maybe", ["model.bias=maybe: expected true or false"]),
        ("name=${zzz}", ["name: ", "zzz", "\\${"]),
        ("data=files", ["data.train.source", "data.train.target"]),
        ("-m seed=1,-2", ["seed=-2: expected a whole number of at least 0"]),
    ],
)
def test_a_wrong_setting_is_refused(run: Run, argv: str, words: list[str], tmp_path: Path) -> None:
    refused(run("train", *argv.split()), *words)
    assert list(tmp_path.iterdir()) == []


def nullable_numbers() -> list[tuple[str, type, str]]:
    classes = {"trainer": TrainerConfig, "decode": DecodeConfig}
    classes |= {"data": next(iter(KINDS[fields_of(TrainConfig)["data"]].values()))}
    classes |= {"model": KINDS[fields_of(TrainConfig)["model"]]["rnnsearch"]}
    return [
        (group, cls, name)
        for group, cls in classes.items()
        for name, hint in fields_of(cls).items()
        if split_optional(hint)[1] and split_optional(hint)[0] in (int, float, bool)
    ]


@pytest.mark.parametrize(("group", "cls", "name"), nullable_numbers())
def test_none_typed_for_null_names_key_and_null(group: str, cls: type, name: str) -> None:
    config = OmegaConf.create({group: OmegaConf.structured(cls)})
    with pytest.raises(ValidationError) as caught:
        OmegaConf.update(config, f"{group}.{name}", "None")
    message = str(as_user_error(caught.value, root=TrainConfig))
    assert message.startswith(f"{group}.{name}=None: expected ")
    assert message.endswith(f"write {group}.{name}=null for no value")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "trainer:\n  max_update: 3\n",
            ["in experiment/mine", "trainer.max_update", "max_updates"],
        ),
        ("trainer:\n  patience: None\n", ["in experiment/mine", "trainer.patience=null"]),
        ("zzz: 3\n", ["in experiment/mine", "zzz"]),
        ("defaults:\n  - override /model: zzz\n", ["model=zzz", "rnnsearch"]),
        ("trainer:\n  patience: [3\n", ["mine.yaml:", "not valid YAML"]),
    ],
)
def test_a_mistake_in_the_users_own_file_is_refused(
    run: Run, tmp_path: Path, text: str, words: list[str]
) -> None:
    (tmp_path / "conf/experiment").mkdir(parents=True)
    path = tmp_path / "conf/experiment/mine.yaml"
    path.write_text(f"# @package _global_\n{text}", encoding="utf-8")
    # A flag may stand between the settings.
    refused(run("train", "seed=2", "--config-dir", "conf", "experiment=mine", "seed=3"), *words)


def test_missing_files_are_named_before_any_work(run: Run, tmp_path: Path) -> None:
    words = files(tmp_path)
    refused(run("train", *words, "data.valid.target=no.fr"), "data.valid.target=", "no.fr")
    refused(run("train", *words, f"data.train.source=[{words[1][18:]},.]"), "this is a folder")
    refused(run("train", "data=folder", "data.dir=no"), "data.dir=", "there is no such folder")


def test_configuration_files_that_are_not_installed_are_missed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    refused(run("train"), "pip install -e")


# --- settings that count


def test_paths_are_taken_literally_and_from_where_the_user_stands(run: Run, tmp_path: Path) -> None:
    words = files(tmp_path)
    odd = tmp_path / "été 1=2, (3) [x] ~#&.en"
    odd.write_text("a\n", encoding="utf-8")
    outcome = run("train", *words, f'data.train.source="{odd}"', "data.valid.source=[valid.en]")
    data = outcome.configs[0].data
    assert data.train.source == str(odd)
    assert data.valid.source == [str(tmp_path / "valid.en")]
    assert outcome.err == ""


def test_nothing_lands_elsewhere_even_with_chdir(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    folder.mkdir()
    files(folder)
    words = ["data=folder", "data.dir=corpus", "hydra.job.chdir=true"]
    config = run("train", *words).configs[0]
    assert (config.run_dir, config.data.dir) == ("runs/corpus", str(folder))
    configs = run("train", "-m", *words, "seed=1,2").configs
    assert [c.data.dir for c in configs] == [str(folder)] * 2
    assert list(tmp_path.iterdir()) == [folder]
    assert Path.cwd() == tmp_path


def test_names_that_look_like_numbers_stay_as_typed(run: Run) -> None:
    assert run("train", "name=1e3").configs[0].run_dir == "runs/1e3"
    assert run("train", "run_dir=1.10").configs[0].run_dir == "1.10"


def test_no_experiment_may_be_written_as_null(run: Run) -> None:
    outcome = run("train", "experiment=paper", "experiment=null", "++seed=3")
    assert (outcome.configs[0].run_dir, outcome.configs[0].seed) == ("runs/demo", 3)


def test_a_choice_of_the_users_own_counts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "conf/optimizer").mkdir(parents=True)
    text = "defaults: [adam, _self_]\nlr: 0.5\n"
    (tmp_path / "conf/optimizer/mine.yaml").write_text(text, encoding="utf-8")
    optimizer = run("train", "--config-dir=conf", "optimizer=mine").configs[0].optimizer
    assert (optimizer.kind, optimizer.lr, optimizer.beta1) == ("adam", 0.5, 0.9)


def test_a_group_of_the_users_own_counts(run: Run, tmp_path: Path) -> None:
    (tmp_path / "conf/mine").mkdir(parents=True)
    text = "# @package _global_\nseed: 7\ntrainer: {max_updates: 3}\n"
    (tmp_path / "conf/mine/small.yaml").write_text(text, encoding="utf-8")
    config = run("train", "--config-dir", "conf", "+mine=small").configs[0]
    assert (config.seed, config.trainer.max_updates) == (7, 3)


def test_groups_of_keys_may_be_set_at_once(run: Run) -> None:
    words = ("trainer={max_updates: 3, patience: 2}", "model={hidden_size: 8}", "++seed=5")
    config = run("train", *words).configs[0]
    assert (config.trainer.max_updates, config.trainer.patience, config.seed) == (3, 2, 5)
    assert (config.model.hidden_size, config.model.kind) == (8, "rnnsearch")


# --- sweeps


def test_a_sweep_names_folders_by_the_swept_keys(run: Run) -> None:
    outcome = run("train", "-m", "seed=range(2,3)", "optimizer=adam,sgd", "model.dropout=0.5")
    assert [config.run_dir for config in outcome.configs] == [
        "runs/demo/optimizer=adam,seed=2",
        "runs/demo/optimizer=sgd,seed=2",
    ]
    assert {config.model.dropout for config in outcome.configs} == {0.5}
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")


def test_a_job_that_fails_does_not_stop_the_sweep(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = []

    def body(config: TrainConfig) -> None:
        if config.seed == 1:
            raise UserError("it diverged", status=1)
        done.append(config.seed)

    set_body(monkeypatch, body)
    outcome = run("train", "run_dir=x", "--multirun", "seed=1,2")
    assert (outcome.status, done) == (1, [2])
    assert outcome.err == "rnnsearch: x/seed=1: it diverged\n"


# --- evaluate and translate


def test_data_and_search_come_from_the_run(run: Run, trained: Path, tmp_path: Path) -> None:
    outcome = run("translate", "run_dir=base", "decode.max_length=30", "n_best=3", "input=train.en")
    config = outcome.configs[0]
    assert (config.decode.beam_size, config.decode.max_length, config.n_best) == (7, 30, 3)
    words = ["data.test.source=train.en", "data.test.target=train.fr"]
    config = run("evaluate", "run_dir=base", *words, "decode.max_length=null").configs[0]
    assert config.data.test.source == str(tmp_path / "train.en")
    assert config.data.train.source == str(tmp_path / "train.en")
    config = run("evaluate", "run_dir=base", "data=demo").configs[0]
    assert (config.data.kind, config.decode.beam_size) == ("demo", 7)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("evaluate decode.beam_sise=4", ["decode.beam_sise", "beam_size"]),
        ("evaluate model.hidden_size=3", ["model", "`rnnsearch train`"]),
        ("evaluate", ["no test set", "data.test.source"]),
        ("evaluate data.test.source=no.en data.test.target=no.fr", ["data.test.source=", "no.en"]),
        ("translate output=None", ["output=None", "null"]),
        ("translate input=no.en", ["input=no.en: there is no such file"]),
        ("translate n_best=9", ["n_best=9", "decode.beam_size=7"]),
    ],
)
def test_a_wrong_setting_of_a_trained_run_is_refused(
    run: Run, trained: Path, argv: str, words: list[str]
) -> None:
    refused(run(*argv.split(), "run_dir=base"), *words)


def test_a_damaged_run_is_a_failure_at_work(run: Run, trained: Path) -> None:
    (trained / "config.yaml").write_text("schema: 1\nmodel: 3\n", encoding="utf-8")
    outcome = run("translate", "run_dir=base")
    assert outcome.status == 1
    assert outcome.err.startswith("rnnsearch: base/config.yaml: ")
    assert outcome.err.count("\n") == 1


def test_a_path_with_an_interpolation_in_it_is_kept(run: Run, trained: Path) -> None:
    path = trained / "config.yaml"
    plain = yaml.safe_load(path.read_text(encoding="utf-8"))
    plain["data"]["train"]["source"] = "/a/${b}/\\${c}"
    path.write_text(to_yaml(plain), encoding="utf-8")
    words = ["data.test.source=train.en", "data.test.target=train.fr"]
    config = run("evaluate", "run_dir=base", *words).configs[0]
    assert config.data.train.source == "/a/${b}/\\${c}"


# --- exit status


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (UserError("disk\nfull", status=1), 1, "rnnsearch: disk\\nfull\n"),
        (UserError("wrong"), 2, "rnnsearch: wrong\n"),
        (Interrupted(signal.SIGTERM), 143, ""),
        (Interrupted(signal.SIGINT), 130, ""),
        (KeyboardInterrupt(), 130, "rnnsearch: interrupted\n"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 141, ""),
        (OSError(errno.ENOSPC, "No space left on device", "/x"), 1, "rnnsearch: /x: No space left"),
    ],
)
def test_what_ends_a_command_gives_its_status(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    line: str,
) -> None:
    def body(config: TrainConfig) -> None:
        raise error

    set_body(monkeypatch, body)
    # The body's end is what counts here, so nothing is composed for it.
    monkeypatch.setattr("rnnsearch.cli.app.compose", lambda command, options: [object()])
    monkeypatch.setattr("rnnsearch.cli.app.configure", lambda root, job: None)
    monkeypatch.setattr("os.dup2", lambda *ends: None)  # keeps the test's own output
    outcome = run("train")
    assert outcome.status == status
    assert outcome.err.startswith(line)
    assert outcome.err.count("\n") == (1 if line else 0)


@pytest.mark.parametrize("error", [RuntimeError("a bug"), OSError("no number"), SystemExit(143)])
def test_what_is_unexpected_keeps_its_traceback(
    run: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    def body(config: TrainConfig) -> None:
        raise error

    set_body(monkeypatch, body)
    monkeypatch.setattr("rnnsearch.cli.app.compose", lambda command, options: [object()])
    monkeypatch.setattr("rnnsearch.cli.app.configure", lambda root, job: None)
    with pytest.raises(type(error)) as caught:
        run("train")
    assert caught.value is error


def test_the_process_is_left_as_it_was(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)
    argv = list(sys.argv)
    run("train", "seed=x")
    assert sys.argv == argv
    assert "HYDRA_FULL_ERROR" not in os.environ


# --- what is only shown


def test_help_and_configuration_are_shown(run: Run, tmp_path: Path) -> None:
    outcome = run("--help")
    assert outcome.status == 0
    assert "rnnsearch translate" in outcome.out
    assert run("--version").out.startswith("rnnsearch ")
    (tmp_path / "conf/optimizer").mkdir(parents=True)
    (tmp_path / "conf/optimizer/mine.yaml").touch()
    outcome = run("train", "--help", "--config-dir", "conf")
    assert "optimizer: adadelta, adam, adamw, mine, sgd" in outcome.out
    assert "trainer.max_updates" in outcome.out
    for command in ("evaluate", "translate"):
        outcome = run(command, "-h")
        assert f"rnnsearch {command} run_dir=" in outcome.out
    assert run("help").out == run("--help").out
    assert run("help", "train").out == run("train", "help").out == run("train", "--help").out
    assert run("translate", "--version").out == run("--version").out
    shown = run("train", "--cfg", "job", "-p", "model", "--resolve")
    assert yaml.safe_load(shown.out)["hidden_size"] == 128
    for words in (("train", "--info"), ("train", "--info", "seed=3"), ("train", "--hydra-help")):
        shown = run(*words)
        assert (shown.status, shown.err, shown.configs) == (0, "", [])
        assert "Hydra" in shown.out
    shown = run("train", "--cfg", "job", "model.hidden_size=3")
    assert yaml.safe_load(shown.out)["model"]["hidden_size"] == 3
    assert (shown.status, shown.err, shown.configs) == (0, "", [])


def test_help_loads_nothing_slow() -> None:
    code = """
import sys
from rnnsearch.cli.main import main
def loaded(): return {"torch", "datasets", "numpy", "matplotlib", "hydra"} & sys.modules.keys()
assert main(["--help"]) == main(["train", "--help"]) == 0
assert not loaded(), loaded()
assert main(["train", "--cfg", "job"]) == 0
assert loaded() == {"hydra"}, loaded()
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
