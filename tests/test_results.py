"""The rows of the README's results are commands that work."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cases_common import TEST, TWELVE, environment, evaluation
from test_config import compose

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "results.py"
KINDS = {"input": "transformer_input", "input3": "transformer_input"}
SMALL = (
    *("data=files", *TWELVE, *TEST, "model.hidden_size=8", "model.encoder_size=8"),
    *("model.embedding_size=8", "model.maxout_size=8", "tokenizer.vocab_size=60"),
    *("trainer.max_updates=2", "decode.max_length=4"),
)


def rows() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("script_results", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: dict[str, Any] = module.rows()
    return found


def run(*words: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment(), timeout=600
    )


@pytest.mark.parametrize("name", [name for name, row in rows().items() if row.train])
def test_a_row_is_what_its_name_says(name: str, tmp_path: Path) -> None:
    config = compose(*rows()[name].train, f"data.dir={tmp_path}")
    assert config.data.dir == str(tmp_path)
    assert config.trainer.max_minutes is not None
    corpus, model, *rest = name.split("-")
    if corpus == "europarl":
        length, units = rest
        assert config.model.kind == KINDS.get(model, model)
        assert config.data.max_length == int(length)
        assert (config.tokenizer.kind == "word") == (units == "words")
    else:
        assert config.seed == int(rest[0])


@pytest.mark.slow
def test_rows_train_and_are_scored(tmp_path: Path) -> None:
    names = [f"multi30k-tok-{seed}" for seed in (1, 2, 3)]
    for name in names:
        done = run(name, *SMALL, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "+ rnnsearch train experiment=multi30k_best" in done.stderr
        assert evaluation(tmp_path / "runs" / name)["bleu"]["signature"].count("tok:none") == 1
    shown = run("--table", folder=tmp_path).stdout
    assert all(f"| `{name}` | " in shown for name in names)
    assert "| 2 | 0 |" in shown  # updates, minutes
    assert "`multi30k-tok`: mean 0.00 of 3 seeds, standard deviation 0.00" in shown
    assert "tok:none" in shown
    done = run("multi30k-tok-ensemble", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = evaluation(tmp_path / "runs" / names[0])
    assert len(found["checkpoint"]) == 3
    assert "| 3 models |" in run("--table", folder=tmp_path).stdout


def test_what_a_row_cannot_do_is_told(tmp_path: Path) -> None:
    listed = run(folder=tmp_path)
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.split("\n")[:-1]] == list(rows())
    done = run("nosuch", folder=tmp_path)
    assert done.returncode == 2
    assert "nosuch: there is no such row" in done.stderr
    done = run("--table", folder=tmp_path)
    assert done.returncode == 2
    assert "runs: no row was scored there yet" in done.stderr
    done = run("multi30k-tok-1", "data.dir=nowhere", folder=tmp_path)
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_pictures_of_the_readme_are_there_and_made_by_the_script() -> None:
    root = SCRIPT.parent.parent
    shown = re.findall(r"\]\((data/pictures/[^)]+)\)", (root / "README.md").read_text("utf-8"))
    script = (root / "scripts" / "figures").read_text("utf-8")
    kept = {str(path.relative_to(root)) for path in (root / "data" / "pictures").iterdir()}
    assert kept == set(shown)
    assert all(f"$pictures/{Path(name).name}" in script for name in shown)
