"""Devices by the names that `device` takes."""

import re
from typing import TYPE_CHECKING

from rnnsearch.errors import UserError, nearest

if TYPE_CHECKING:
    import torch


def check_device(device: str) -> None:
    """Hold that `device` names a device that there is.

    Raises:
        UserError: it does not.
    """
    _check_name(device)
    if device.startswith("cuda"):
        pick_device(device)


def _check_name(device: str) -> None:
    if re.fullmatch(r"auto|cpu|cuda(:\d+)?", device) is None:
        near = nearest(device, ("auto", "cpu", "cuda"))
        raise UserError(f"device={device}: expected auto, cpu, cuda or cuda:N{near}")


def pick_device(device: str, *, process: int | None = None) -> "torch.device":
    """Return the device that `device` names; `auto` is a GPU where there is one.

    Args:
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        process: the number of this process on its machine, where several train together and each
            has a GPU of its own.

    Raises:
        UserError: another name; `cuda` without one, or `cuda:N` beyond their number; more
            processes than GPUs, or one GPU for several.
    """
    _check_name(device)
    import torch  # slow to load; whoever needs only the check of `cpu` goes without it

    found = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device == "cpu" or (device == "auto" and not found):
        return torch.device("cpu")
    if not found:
        raise UserError(f"device={device}: no CUDA device was found; use device=auto or device=cpu")
    number = int(device.partition(":")[2] or 0)
    if process is not None:
        if ":" in device:
            raise UserError(f"device={device}: several processes would share it; give device=cuda")
        if process >= found:
            raise UserError(
                f"device={device}: this machine has GPUs for {found} processes, and more were "
                f"started; give torchrun --nproc-per-node={found}, or device=cpu",
                own=True,
            )
        number = process
    if number >= found:
        raise UserError(f"device={device}: the devices here are cuda:0 to cuda:{found - 1}")
    return torch.device("cuda", number)
