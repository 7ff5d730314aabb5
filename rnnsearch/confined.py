"""A run folder may come from anybody: what is read and written in it must not lie elsewhere."""

import os
from collections.abc import Iterator
from pathlib import Path

from rnnsearch.errors import UserError

# Whatever else somebody keeps in a run folder is neither read nor written.
_FOLDERS = ("tokenizer", "checkpoints", "plots", "evaluations", "tensorboard")
_RESULTS = ("evaluation.json", "hypotheses.txt", "report.html")
_FILES = ("config.yaml", "metrics.jsonl", "train.log", *_RESULTS)


def check_confined(run_dir: Path) -> None:
    """Hold that no part of a run folder is a link that leaves it, a pipe or a device.

    Nor may there be a folder where a file belongs, or a file where a folder does.

    The folder itself may be a link.

    Raises:
        UserError: one is; it names it (status 1).
    """
    root = os.path.realpath(run_dir)
    for path in _parts(run_dir):
        if path.is_symlink():
            target = os.path.realpath(path)
            if os.path.commonpath([root, target]) != root:
                raise UserError(
                    f"{path}: a link to {target}, outside of the run folder, is not followed; put "
                    "the file itself in its place",
                    status=1,
                )
        elif path.exists() and not (path.is_file() or path.is_dir()):
            raise UserError(f"{path}: neither a file nor a folder; remove it", status=1)
    for name in (*_FOLDERS, *_FILES):
        path = run_dir / name
        if path.exists() and path.is_dir() is not (name in _FOLDERS):
            wanted, came = ("folder", "file")[:: 1 if name in _FOLDERS else -1]
            raise UserError(f"{path}: a {came} where a {wanted} belongs; move it away", status=1)


def _parts(run_dir: Path) -> Iterator[Path]:
    for name in (*_FOLDERS, *_FILES):
        yield run_dir / name
        if (run_dir / name).is_symlink():
            continue
        for folder, folders, names in os.walk(run_dir / name):
            yield from (Path(folder, inner) for inner in [*folders, *names])
