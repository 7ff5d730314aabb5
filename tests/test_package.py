"""The wheel, built, looked into and run from an empty folder."""

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.slow


def run(*command: object, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run a command and return its standard output; show all it said if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Build the wheel from a copy, so that no build folder of the checkout gets into it."""
    work = tmp_path_factory.mktemp("wheel")
    source = work / "source"
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ["rnnsearch", "configs", "data"]:
        shutil.copytree(ROOT / name, source / name, ignore=unwanted)
    for name in ["pyproject.toml", "README.md", "LICENSE"]:
        shutil.copy(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", work, source, cwd=work)
    (path,) = work.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> dict[str, str]:
    """Install the wheel into an empty folder; return an environment that sees it alone.

    The interpreter runs without `site` and thereby without the editable install of the checkout,
    which would stand in for what the wheel lacks; the dependencies are put on the path by hand.
    """
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "install", "--no-deps", "--no-index", "--target", target, wheel, cwd=target)
    paths = [target, sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}


def test_the_wheel_holds_all_that_is_not_code(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    configs = [path.relative_to(ROOT / "configs") for path in (ROOT / "configs").rglob("*.yaml")]
    kinds = {".en", ".fr", ".align", ".md"}
    data = [path.name for path in (ROOT / "data").iterdir() if path.suffix in kinds]
    assert configs
    assert data
    expected = {f"rnnsearch/configs/{path.as_posix()}" for path in configs}
    expected |= {f"rnnsearch/demo/{name}" for name in data}
    expected |= {path.relative_to(ROOT).as_posix() for path in (ROOT / "rnnsearch").rglob("*.py")}
    expected |= {f"rnnsearch/report/{name}" for name in ("style.css", "script.js")}
    assert expected | {"rnnsearch/py.typed"} <= names
    assert any(name.endswith("/LICENSE") for name in names)
    assert {name.split("/")[0].split("-")[0] for name in names} == {"rnnsearch"}


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["--help"], "translate"),
        (["train", "--help"], "run_dir"),
        (["train", "--cfg", "job"], "vocab_size"),
    ],
)
def test_the_wheel_runs_from_an_empty_folder(arguments, shown, installed, tmp_path):
    command = [sys.executable, "-S", "-m", "rnnsearch", *arguments]
    assert shown in run(*command, cwd=tmp_path, env=installed)
    assert list(tmp_path.iterdir()) == []


def test_the_package_comes_from_the_wheel(installed, tmp_path):
    code = "import rnnsearch.configs as c, rnnsearch.demo as d; print(c.__file__, d.__file__)"
    for place in run(sys.executable, "-S", "-c", code, cwd=tmp_path, env=installed).split():
        assert not Path(place).is_relative_to(ROOT)
