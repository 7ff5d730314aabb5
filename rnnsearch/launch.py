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
    found = Launch(_number("RANK", 0), size, _number("LOCAL_RANK", 0))
    if found.rank >= size:
        raise UserError(f"RANK={found.rank}: expected 0 to {size - 1}, since WORLD_SIZE={size}")
    if not 0 < _number("MASTER_PORT", 0) < 1 << 16:
        raise UserError(f"MASTER_PORT={os.environ['MASTER_PORT']}: expected 1 to 65535")
    return found


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
    rank = os.environ.get("RANK", "0") if _several() else "0"
    return "" if rank == "0" else f"process {rank}: "


def is_echo(error: UserError) -> bool:
    """Return whether the first process of this machine has the same to say."""
    first = os.environ.get("LOCAL_RANK", "0") == "0"
    return _several() and not first and not error.own


def _several() -> bool:
    return os.environ.get("WORLD_SIZE", "1") != "1"


def _number(name: str, usual: int) -> int:
    value = os.environ.get(name, str(usual))
    lowest = int(name == "WORLD_SIZE")
    if not (value.isascii() and value.isdecimal() and lowest <= int(value)):
        raise UserError(
            f"{name}={value}: in the environment; expected a whole number of at least {lowest}, "
            "set by torchrun; unset it",
            own=True,
        )
    return int(value)
