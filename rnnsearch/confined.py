"""A run folder may come from anybody: what is read and written in it must not lie elsewhere."""

import os
from collections.abc import Iterator
from pathlib import Path

from rnnsearch.errors import UserError

# Whatever else somebody keeps in a run folder is neither read nor written.
_OWN = (
    "config.yaml",
    "tokenizer",
    "checkpoints",
    "metrics.jsonl",
    "train.log",
    "plots",
    "evaluations",
    "evaluation.json",
    "hypotheses.txt",
    "report.html",
)


def check_confined(run_dir: Path) -> None:
    """Hold that no part of a run folder is a link that leaves it, a pipe or a device.

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


def _parts(run_dir: Path) -> Iterator[Path]:
    for name in _OWN:
        yield run_dir / name
        if (run_dir / name).is_symlink():
            continue
        for folder, folders, names in os.walk(run_dir / name):
            yield from (Path(folder, inner) for inner in [*folders, *names])
