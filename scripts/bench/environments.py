"""An environment of its own for each program that we are measured against."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class Install(NamedTuple):
    """What pip is asked for, and whether it may follow the packages' own lists of dependencies."""

    requirements: tuple[str, ...]
    dependencies: bool


PEERS = {
    # It imports importlib_metadata without asking for it; its own choice of SentencePiece has no
    # wheel for today's Python.
    "joeynmt": Install(
        (
            "joeynmt==2.3.0",
            "torch==2.13.0",
            "sentencepiece==0.2.1",
            "importlib_metadata",
            "safetensors==0.8.0",
        ),
        True,
    ),
    # It asks for an older PyTorch and for packages that training and translating never touch.
    "opennmt": Install(
        (
            "OpenNMT-py==3.5.1",
            "torch==2.13.0",
            "ConfigArgParse==1.9.0",
            "numpy==2.4.6",
            "pyonmttok==1.38.1",
            "PyYAML==6.0.4",
            "regex==2026.11.19",
            "safetensors==0.8.0",
            # What PyTorch itself needs.
            "filelock==4.3.1",
            "fsspec==2026.9.0",
            "Jinja2==3.1.6",
            "MarkupSafe==3.0.4",
            "mpmath==1.3.0",
            "networkx==3.6.1",
            "sympy==1.14.0",
            "typing_extensions==4.16.0",
        ),
        False,
    ),
}


def interpreter(name: str, folder: Path) -> str:
    """Return the interpreter of a peer; its environment in `folder` is made if it is not there."""
    home = folder / name
    python, done = home / "bin" / "python", home / "installed"
    if not done.exists():
        print(f"installing {name} into {home}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        install = PEERS[name]
        options = [] if install.dependencies else ["--no-deps"]
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *options, *install.requirements], check=True)
        done.touch()
    return str(python)
