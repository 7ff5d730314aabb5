"""What every test shares."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
import torch
from cases_common import QUICK, TINY, succeed

# Prepared data go where they are removed afterwards, also those of commands in processes of their
# own. `datasets` reads the variable when it is first imported, which is in a test.
CACHE = tempfile.TemporaryDirectory(prefix="rnnsearch-tests-")
os.environ["HF_DATASETS_CACHE"] = CACHE.name

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Start every test with one thread: sums round alike everywhere, and tiny products do not
    wait for other threads to wake up.
    """
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Return the folder of the real corpora, for tests marked `corpus`; skip where it is absent.

    `RNNSEARCH_CORPORA` names it; a relative path counts from the root of the repository.
    """
    folder = ROOT / os.environ.get("RNNSEARCH_CORPORA", "../shared/data")
    if not folder.is_dir():
        pytest.skip(f"no corpora at {folder}; set RNNSEARCH_CORPORA to their folder")
    return folder


@pytest.fixture(scope="session")
def base_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the run that the cases share; whoever changes something in it takes a copy."""
    folder = tmp_path_factory.mktemp("runs") / "base"
    succeed("train", *TINY, f"run_dir={folder}")
    return folder


@pytest.fixture(scope="session")
def one_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of one update, which has hardly learned anything."""
    folder = tmp_path_factory.mktemp("runs") / "one"
    succeed("train", *TINY, "trainer.max_updates=1", f"run_dir={folder}")
    return folder


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the run of QUICK that was never stopped."""
    folder = tmp_path_factory.mktemp("runs") / "quick"
    succeed("train", *QUICK, f"run_dir={folder}")
    return folder


@pytest.fixture(scope="session")
def word_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of words, some of which are unknown."""
    folder = tmp_path_factory.mktemp("runs") / "words"
    words = [word for word in QUICK if not word.startswith("tokenizer")]
    succeed("train", *words, "tokenizer=word", "tokenizer.vocab_size=24", f"run_dir={folder}")
    return folder


@pytest.fixture
def copy(quick_run: Path, tmp_path: Path) -> Path:
    """Return a copy of `quick_run` to be spoiled."""
    return shutil.copytree(quick_run, tmp_path / "copy", symlinks=True)
