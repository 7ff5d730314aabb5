"""How this process was started: alone, or by `torchrun` as one of several. No torch is needed."""

import os
from typing import NamedTuple

from rnnsearch.errors import UserError


class Launch(NamedTuple):
    """The number of this process, how many there are, and its number on its machine."""

    rank: int
    size: int
    local_rank: int


def launched() -> Launch:
    """Return what the variables say that `torchrun` sets.

    Raises:
        UserError: there are to be several processes, and a variable is missing or no number.
    """
    size = _number("WORLD_SIZE", 1)
    if size == 1:
        return Launch(0, 1, 0)
    for name in ("RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"):
        if name not in os.environ:
            raise UserError(
                f"{name} is not set, but WORLD_SIZE={size} asks for several processes; start them "
                f"with torchrun --nproc-per-node={size} -m rnnsearch train ..., or unset WORLD_SIZE"
            )
    return Launch(_number("RANK", 0), size, _number("LOCAL_RANK", 0))


def check_launch(command: str, *, sweep: bool) -> None:
    """Refuse several processes for what one process does.

    Raises:
        UserError: the command is not a single training.
    """
    if (command == "train" and not sweep) or launched().size == 1:
        return
    what = "train -m" if sweep else command
    raise UserError(
        f"rnnsearch {what} is one process, but WORLD_SIZE={launched().size} asks for several; "
        "leave torchrun out, or unset WORLD_SIZE"
    )


def label() -> str:
    """Return what an error message of this process begins with, where it is not the first."""
    rank = os.environ.get("RANK", "0")
    several = os.environ.get("WORLD_SIZE", "1") != "1"
    return f"process {rank}: " if several and rank != "0" else ""


def _number(name: str, usual: int) -> int:
    value = os.environ.get(name, str(usual))
    if not (value.isascii() and value.isdecimal()) or (name == "WORLD_SIZE" and int(value) < 1):
        raise UserError(f"{name}={value}: the environment has no such number there; unset it")
    return int(value)
