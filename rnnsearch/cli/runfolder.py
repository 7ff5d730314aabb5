"""The folder of a training: made, held, and taken away again if nothing came of it."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from rnnsearch.checkpoint import lock
from rnnsearch.cli.places import check_place
from rnnsearch.errors import Interrupted, UserError
from rnnsearch.wholefiles import writing


@contextlib.contextmanager
def run_folder(run_dir: Path) -> Iterator[None]:
    """Make a run's folder, and hold it as `checkpoint.lock` does.

    A command that is refused takes away again what it made, as long as no run is in it.

    Raises:
        UserError: the folder cannot be made, or another process holds it.
    """
    check_place("run_dir", run_dir, folder=True)
    missing = [folder for folder in (run_dir, *run_dir.parents) if not folder.exists()]
    with writing(run_dir):
        run_dir.mkdir(parents=True, exist_ok=True)
    try:
        with lock(run_dir):
            yield
    except (UserError, Interrupted, KeyboardInterrupt):
        with contextlib.suppress(OSError):
            if missing and [path.name for path in run_dir.iterdir()] == ["train.log"]:
                (run_dir / "train.log").unlink()
            for folder in missing:
                folder.rmdir()  # fails where there is something in it
        raise
