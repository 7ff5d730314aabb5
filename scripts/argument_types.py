"""Types of arguments that the scripts share; the standard library alone."""

import argparse
from collections.abc import Callable


def whole(lowest: int) -> Callable[[str], int]:
    """Return an argument type: a whole number not below `lowest`."""

    def parse(text: str) -> int:
        value = int(text)
        if value < lowest:
            raise argparse.ArgumentTypeError(f"{value} is too small, the least is {lowest}")
        return value

    parse.__name__ = "whole number"
    return parse
