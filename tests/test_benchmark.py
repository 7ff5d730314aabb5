"""scripts/benchmark.py on a small run: every row of its table, and its refusals."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "benchmark.py"
QUICKLY = ("--rounds", "1", "--updates", "1", "--sentences", "8")


def benchmark(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *words], capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_table_has_a_figure_in_every_row(quick_run: Path, tmp_path: Path) -> None:
    result = benchmark(str(quick_run), *QUICKLY, "--work", str(tmp_path))
    assert result.returncode == 0, result.stderr
    rows = [line.strip("|").split("|") for line in result.stdout.splitlines() if "|" in line]
    figures = {row[0].strip(): float(row[1]) for row in rows[2:]}
    assert [name for name in figures if "target tokens/s" in name] == [
        "training, target tokens/s", "two cores: training, target tokens/s",
    ]  # fmt: skip
    for beam in ("greedy", "beam 5"):
        for batch in (64, 1):
            assert figures[f"{beam}, {batch} at once, sentences/s"] > 0
            assert 0 < figures[f"{beam}, {batch} at once, % of the ceiling"] < 100
    assert 0 < figures["training, % of the ceiling"] < 100
    assert figures["start-up: one line translated, s"] > 0
    assert re.search(r"[\d,]+ parameters; [\d,]+ pairs read and encoded in", result.stdout)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    result = benchmark(str(tmp_path), *QUICKLY, "--work", str(tmp_path / "work"))
    assert result.returncode != 0
    assert result.stderr.startswith("benchmark: ")
    assert result.stderr.count("\n") == 1
    assert str(tmp_path) in result.stderr


def test_an_unknown_peer_is_refused(tmp_path: Path) -> None:
    result = benchmark(str(tmp_path), "--peer", "fairseq")
    assert result.returncode == 2
    assert "joeynmt" in result.stderr


def test_no_rounds_are_refused(tmp_path: Path) -> None:
    result = benchmark(str(tmp_path), "--rounds", "0")
    assert result.returncode == 2
    assert "the least is 1" in result.stderr
