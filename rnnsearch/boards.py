"""`logger=tensorboard`: the figures of a run as TensorBoard shows them."""

import importlib.util
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from rnnsearch.errors import UserError
from rnnsearch.wholefiles import writing

FOLDER = "tensorboard"


class Board(Protocol):
    """What takes the figures of a run, beside `metrics.jsonl`."""

    def add(self, fields: Mapping[str, Any]) -> None:
        """Take a record of `metrics.jsonl`, whose `kind` groups its figures."""

    def show(self, text: str, update: int) -> None:
        """Take a sample translation."""

    def close(self) -> None:
        """Write what has been taken."""


def check_logger(logger: str) -> None:
    """Hold that what `logger` asks for is installed.

    Raises:
        UserError: it is not.
    """
    if logger == "tensorboard" and importlib.util.find_spec("tensorboard") is None:
        raise UserError(
            "logger=tensorboard: the package tensorboard is not installed; pip install tensorboard"
        )


def board_for(logger: str, run_dir: Path, *, update: int) -> Board | None:
    """Return what takes the figures of a run.

    Args:
        logger: of the configuration.
        run_dir: the run folder.
        update: that the run goes on from; later figures, which a kill has lost, are dropped.

    Raises:
        UserError: the folder cannot be written (status 1).
    """
    return None if logger == "none" else _TensorBoard(run_dir / FOLDER, update)


class _TensorBoard:
    """Scalars `train/loss`, `validation/bleu` and so on, and the samples as text."""

    def __init__(self, folder: Path, update: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._folder = folder
        with writing(folder):
            # Of several files TensorBoard shows the later one from `purge_step` on.
            self._writer: Any = SummaryWriter(
                str(folder), purge_step=update + 1 if update else None, flush_secs=10
            )

    def add(self, fields: Mapping[str, Any]) -> None:
        kind, update = fields["kind"], fields["update"]
        with writing(self._folder):
            for name, value in fields.items():
                if isinstance(value, float) and math.isfinite(value):
                    self._writer.add_scalar(f"{kind}/{name}", value, update)

    def show(self, text: str, update: int) -> None:
        with writing(self._folder):
            self._writer.add_text("validation/sample", f"    {text}", update)  # 4 blanks: as it is

    def close(self) -> None:
        with writing(self._folder):
            self._writer.close()
