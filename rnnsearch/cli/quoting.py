"""How a value is typed so that neither the shell nor Hydra's grammar reads more into it."""

import re
import shlex

# What stands for itself without quotes.
_PLAIN = re.compile(r"[\w./+@%-]+", re.ASCII)


def quoted(value: str) -> str:
    """Return a value for Hydra, in double quotes.

    In them a backslash counts only before a quote, at the end, and before ``${``, which would
    otherwise stand for another key.
    """
    value = re.sub(r'(\\*)("|\Z)', lambda m: 2 * m[1] + (r"\"" if m[2] else ""), value)
    value = re.sub(r"(\\*)\$\{", r"\1\1\\${", value)
    return f'"{value}"'


def quoted_twice(key: str, value: str) -> str:
    """Return an override as to be typed, quoted for the shell and for Hydra."""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    return shlex.quote(f"{key}={quoted(value)}")


def list_quoted_twice(key: str, values: list[str]) -> str:
    """Return an override with a list as to be typed, each value quoted for Hydra."""
    bare = [value.strip().strip("\"'") for value in values]
    return shlex.quote(f"{key}=[{','.join(map(quoted, bare))}]")


def quoted_value(value: str) -> str:
    """Return what is to be typed after ``KEY=``, quoted twice where that is needed."""
    return value if _PLAIN.fullmatch(value) else shlex.quote(quoted(value))
