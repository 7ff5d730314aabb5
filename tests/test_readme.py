"""The README says what is so: its commands, keys, files, symbols and programs."""

import re
import shlex
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from cases_common import BASE, QUICK, TEST, environment, refuse
from hydra.core.override_parser.overrides_parser import OverridesParser
from safetensors.torch import load_file

from rnnsearch.cli.main import main
from rnnsearch.config import KINDS, EvaluateConfig, TrainConfig, TranslateConfig
from rnnsearch.model import build_model
from rnnsearch.plain import fields_of, known_keys, split_optional, to_plain, to_yaml
from rnnsearch.rules import RULES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROSE = FENCE.sub("", README)
FILE = re.compile(r"# (\S+\.py)\n")
CODE = re.findall(r"`([^`\n]+)`", PROSE)
WORDS = sorted({word for code in CODE for word in code.split()})
KEYS = {
    key: hint
    for root in (TrainConfig, EvaluateConfig, TranslateConfig)
    for key, hint in known_keys(root)
}
GROUPS = {
    name: [path.stem for path in (ROOT / "configs" / name).glob("*.yaml")]
    for name, base in fields_of(TrainConfig).items()
    if base in KINDS
}


def blocks(language: str) -> list[str]:
    return [body for name, body in FENCE.findall(README) if name == language]


def commands() -> list[str]:
    """Return the command lines of the README, each on one line and without what goes into it."""
    text = "\n".join(blocks("sh")).replace("\\\n", " ")
    lines = [
        re.sub("^.* -m (?=rnnsearch )| &$", "", line.rpartition("| ")[2])
        for line in text.split("\n")
    ]
    return [line for line in lines if line.startswith("rnnsearch ")]


# --- commands


def named_files(override: str) -> Iterator[Path]:
    """Yield the files that an override names as data."""
    parsed = OverridesParser.create().parse_overrides([override])[0]
    value: Any = parsed.value()
    named = r"data\.\w+\.(source|target|table|alignments)|input|references|replace_unk"
    if re.fullmatch(named, parsed.key_or_group) and not isinstance(value, bool):
        yield from map(Path, value if isinstance(value, list) else [value])


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Stand in an empty folder; return the checked settings of every command that follows.

    The commands end there and do no work.
    """
    configs: list[Any] = []
    monkeypatch.chdir(tmp_path)
    for command in ("train", "evaluate", "translate"):
        body = types.SimpleNamespace(run=configs.append)
        monkeypatch.setitem(sys.modules, f"rnnsearch.cli.{command}", body)
    return configs


@pytest.fixture(scope="module")
def defaults() -> TrainConfig:
    """Return the settings of `rnnsearch train`."""
    configs: list[TrainConfig] = []
    with pytest.MonkeyPatch.context() as patch:
        body = types.SimpleNamespace(run=configs.append)
        patch.setitem(sys.modules, "rnnsearch.cli.train", body)
        assert main(["train"]) == 0
    return configs[0]


def test_there_are_commands_of_all_kinds() -> None:
    assert len(commands()) > 15
    kinds = {shlex.split(line)[1] for line in commands()}
    assert kinds >= {"train", "evaluate", "translate", "--help"}


@pytest.mark.parametrize("line", [line for line in commands() if " -m " not in line])
def test_a_command_is_accepted(
    line: str, seen: list[Any], defaults: TrainConfig, capsys: Any
) -> None:
    words = shlex.split(line.replace("PATH", "corpus"), comments=True)[1:]
    for sign in ("<", ">"):
        if sign in words:
            at = words.index(sign)
            del words[at : at + 2]
    Path("corpus").mkdir()
    for path in [path for word in words if "=" in word for path in named_files(word)]:
        path.write_bytes(b"")
    if "--config-dir" in words:
        write_own_configs()
    names = ["demo", "multi30k", "word", "tatoeba", "wirings/model.wiring=original,seed=2"]
    names += ["family/model=rnnsearch", "family/model=rnnencdec", "captions/layers3"]
    names += [f"captions/model={kind}" for kind in ("rnnsearch", "rnnencdec", "transformer_input")]
    for run in names:
        write_run(Path("runs", run), defaults)
    status = main(words)
    told = capsys.readouterr().err
    assert status == 0, told
    assert all(line.startswith("warning: start_from") for line in told.split("\n")[:-1])
    assert bool(seen) != bool({"--help", "--cfg"} & set(words))


def write_run(folder: Path, config: TrainConfig) -> None:
    """Write what of a run the other commands read before they work."""
    (folder / "tokenizer").mkdir(parents=True)
    (folder / "checkpoints").mkdir()
    (folder / "config.yaml").write_text(to_yaml(to_plain(config)), encoding="utf-8")


def write_own_configs() -> None:
    """Write the YAML of the README to the places that its first lines name."""
    for block in blocks("yaml"):
        name = re.match(r"# (\S+\.yaml)\n", block)
        assert name is not None
        path = Path(name[1])
        path.parent.mkdir(parents=True)
        path.write_text(block, encoding="utf-8")
        Path(yaml.safe_load(block)["dir"]).mkdir(parents=True)


def test_a_sweep_makes_the_folder_that_is_evaluated(seen: list[Any]) -> None:
    sweeps = [line.replace("PATH", "corpus") for line in commands() if " -m " in line]
    evaluated = [word for line in commands() if re.search("wirings|family|captions", line)
                 for word in shlex.split(line) if word.startswith("run_dir=")]  # fmt: skip
    Path("corpus").mkdir()
    for sweep in sweeps:
        assert main(shlex.split(sweep)[1:]) == 0
    folders = {str(config.run_dir) for config in seen}
    assert len(folders) == 6 + 3 + 3
    named = {folder for word in evaluated for folder in re.findall(r'"([^"]+)"', word)}
    assert len(named) == 3 + 3
    assert named <= folders


# --- keys and choices in the text


def settings() -> list[str]:
    """Return the words that look like a key, or like a key with its value."""
    key = re.compile(rf"({'|'.join(fields_of(TrainConfig))})(\.\w+)+(=.*)?")
    files = ("safetensors", "model", "json", "jsonl", "yaml", "py", "log")
    names = [word for word in WORDS if key.fullmatch(word)]
    return [word for word in names if word.partition("=")[0].rpartition(".")[2] not in files]


def test_there_are_settings_in_the_text() -> None:
    assert len(settings()) > 40


@pytest.mark.parametrize("word", settings())
def test_a_key_exists_and_takes_the_value(word: str) -> None:
    key, equal, text = word.partition("=")
    assert key in KEYS or any(name.startswith(f"{key}.") for name in KEYS)
    # As Hydra reads numbers, where YAML wants a point before the exponent.
    value = float(text) if re.fullmatch(r"\d+e-?\d+", text) else yaml.safe_load(text or "null")
    if not equal or text in ("N", "PATH") or value is None:
        return
    base = split_optional(KEYS[key])[0]
    assert type(value) is base or (base is float and type(value) is int)
    assert key not in RULES or RULES[key].holds(value)  # type: ignore[arg-type]


def test_other_keys_and_choices_exist() -> None:
    checked = 0
    for word in WORDS:
        key, equal, value = word.partition("=")
        if equal and key in GROUPS:
            assert value in GROUPS[key], word
        elif equal and key == "experiment":
            assert (ROOT / f"configs/experiment/{value}.yaml").is_file(), word
        elif re.fullmatch(r"[a-z_]+=[\w.,/-]+", word):
            assert key in KEYS, word
        else:
            continue
        checked += 1
    assert checked > 10


def test_defaults_are_those_of_the_configs(defaults: TrainConfig) -> None:
    plain = to_plain(defaults)
    rows = [row for row in PROSE.split("\n") if row.startswith("| `")]
    checked = 0
    for row in rows:
        keys, default = row.strip("| ").split(" | ")[:2]
        names = re.findall(r"`(\w+)\.(\w+)`", keys)
        values = re.fullmatch(r"[\d, ]+", default)
        if names and values:
            found = [plain[group][name] for group, name in names]
            assert found == list(map(int, default.split(", "))), row
            checked += 1
    assert checked >= 4


def test_the_paper_experiment_sets_what_the_table_says(seen: list[Any]) -> None:
    assert main(["train", "experiment=paper"]) == 0
    plain = to_plain(seen[0])
    table = PROSE.partition("## Training as in the paper")[2].partition("\n## ")[0]
    words = [w for code in re.findall(r"\| `([^`]+)` \|\n", table) for w in code.split()]
    assert len(words) > 12
    for word in words:
        key, _, text = word.partition("=")
        if key in GROUPS:
            assert plain[key]["kind"] == text
            continue
        group, _, name = key.partition(".")
        value = plain[group][name]
        assert value == (text if isinstance(value, str) else float(text)), word


# --- files, symbols, programs


def test_named_files_exist() -> None:
    tops = ("rnnsearch/", "configs/", "scripts/", "tests/", "data/", "./scripts/")
    paths = {word for word in WORDS if word.startswith(tops) and "task1" not in word}
    paths |= {word for word in WORDS if re.fullmatch(r"[A-Z]{4,}|\w+\.toml", word)} & {"LICENSE"}
    assert len(paths) > 15
    for path in paths:
        parent = ROOT / path.replace("GROUP/", "model/")
        assert parent.exists(), path


def symbol_rows() -> list[list[str]]:
    table = PROSE.partition("## Where the equations are")[2].partition("\nThe paper gives")[0]
    rows = [row.strip().strip("|").split("|") for row in table.split("\n") if row.startswith("| ")]
    return [
        [cell.strip() for cell in row] for row in rows if len(row) == 4 and "what" not in row[0]
    ]


def test_the_symbols_are_those_of_the_model(defaults: TrainConfig) -> None:
    with torch.device("meta"):
        names = build_model(defaults.model, source_vocab=5, target_vocab=5).paper_symbols()
    told = [name for row in symbol_rows() for name in re.findall(r"`(\w+)`", row[2])]
    assert sorted(told) == sorted(names)


def test_the_places_of_the_equations_exist() -> None:
    rows = [row for row in symbol_rows() if row[3]]
    assert len(rows) > 10
    for row in rows:
        path, name = re.fullmatch(r"`([^`]+)`: `(\w+)`", row[3]).groups()  # type: ignore[union-attr]
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(class|def) {name}\b", text, re.MULTILINE), row[3]


def test_the_number_of_parameters(seen: list[Any]) -> None:
    assert main(["train", "experiment=paper", "model.bias=false"]) == 0
    with torch.device("meta"):
        model = build_model(seen[0].model, source_vocab=30000, target_vocab=30000)
    count = sum(parameter.numel() for parameter in model.parameters())
    assert f"{count:,} parameters" in " ".join(README.split())


def test_nothing_is_left_to_fill_in() -> None:
    assert not re.findall(r"\b(RESULT_\d+|SIGNATURE|PARAMETERS|MINUTES)\b", README)


@pytest.mark.slow
def test_the_python_programs_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base_run: Path, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").mkdir()
    Path("runs/demo").symlink_to(base_run)
    programs = [program for program in blocks("python") if not FILE.match(program)]
    assert programs
    for program in programs:
        exec(compile(program, "README.md", "exec"), {})
    assert "(32, 32)" in capsys.readouterr().out.replace("torch.Size([32, 32])", "(32, 32)")


def test_the_page_on_a_new_score_is_a_program(tmp_path: Path) -> None:
    """Fifteen lines that train with a score of one's own and translate with it."""
    (program,) = [program for program in blocks("python") if FILE.match(program)]
    assert len([line for line in program.split("\n") if line.strip()]) <= 15
    name = FILE.match(program)
    assert name is not None
    path = tmp_path / name[1]
    path.write_text(program, encoding="utf-8")
    run = f"run_dir={tmp_path / 'run'}"
    words = (*QUICK, *TEST)
    small = [word for word in words if not word.startswith(("data.test", "trainer.max_updates"))]

    def call(*argv: str, stdin: str = "") -> str:
        command = [sys.executable, str(path), *argv]
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, env=environment()
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    call("train", *small, "model.attention=cosine", "trainer.max_updates=2", run)
    assert "BLEU" in call("evaluate", run, *TEST, "bootstrap=0", "ter=false")
    assert call("translate", run, stdin="A dog.\n").count("\n") == 1
    weights = load_file(tmp_path / "run/checkpoints/best/model.safetensors")
    assert {"decoder.score.W_a", "decoder.score.U_a"} <= set(weights)
    # Without the class there is no such score, and that is said in one line.
    line = tmp_path / "line.en"
    line.write_text("A dog.\n")
    words = ("model.attention=cosine", "config.yaml")
    told = refuse("translate", run, f"input={line}", words=words)
    assert "one of your own" in told
    other = tmp_path / "other"
    start = (f"start_from={tmp_path / 'run'}", f"run_dir={other}", *BASE, "trainer.max_updates=1")
    refuse("train", *start, words=("start_from=", "model.attention=cosine"))
    assert not other.exists()
    small.append("trainer.max_updates=2")
    refuse("train", *small, "model.attention=cosine", run, words=("model.attention=cosine",))
