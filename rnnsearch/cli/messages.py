"""Hydra's and OmegaConf's errors as one line that names the key and the remedy."""

import re
from pathlib import Path
from typing import Any

import yaml
from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    GrammarParseError,
    InterpolationResolutionError,
    OmegaConfBaseException,
    ValidationError,
)

from rnnsearch.config import KINDS
from rnnsearch.errors import UserError, nearest
from rnnsearch.plain import expected, fields_of, known_keys, unknown_key

# What composing a configuration raises when the command line or a user's file is at fault.
COMPOSITION_ERRORS = (
    *(HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError),
    *(OSError, RecursionError),  # a file that cannot be read, or that includes itself
)
_OTHER_CLASS = re.compile(r"Merge error: \w+ is not a subclass of (\w+)\. value: (.*)")
_NO_GROUP = re.compile(r"Could not override '([^'@]*)")
_NO_FILE = re.compile(r"Could not load '([^']*)'")


def as_user_error(error: Exception, *, root: type) -> UserError:
    """Return the one line for an error of `COMPOSITION_ERRORS`.

    Args:
        error: as Hydra raised it.
        root: the schema of the command.

    Raises:
        BrokenPipeError: that was it; whoever read the output has left.
    """
    if isinstance(error, BrokenPipeError):
        raise error
    if isinstance(error, yaml.YAMLError):
        return _invalid_yaml(error)
    if isinstance(error, OSError) and error.filename is not None:
        return UserError(f"{error.filename}: could not be read: {error.strerror}")
    if isinstance(error, RecursionError):
        return UserError("a configuration file names itself in its defaults; take that out")
    place = _place(error)
    if isinstance(error, MissingConfigException):
        return UserError(f"{place}{_missing_choice(error)}")
    cause = _omegaconf_error(error)
    if cause is not None:
        return UserError(f"{place}{_wrong_key(cause, root)}")
    if group := _NO_GROUP.search(str(error)):
        return UserError(f"{place}{_no_group(group[1], own=bool(place))}")
    return UserError(_one_line(error))


def _wrong_key(cause: OmegaConfBaseException, root: type) -> str:
    """Say what OmegaConf found at a key."""
    key, reason = str(cause.full_key or ""), str(cause).partition("\n")[0]
    if key == "experiment":
        return "its first line must be '# @package _global_'"
    if isinstance(cause, ConfigKeyError | ConfigAttributeError) and key:
        return str(unknown_key(key, root))
    if isinstance(cause, ValidationError) and key:
        return _wrong_value(cause, root)
    if isinstance(cause, InterpolationResolutionError | GrammarParseError):
        where = "a group's choice" if key == "_dummy_" else key
        return f"{where}: {reason}; where a text holds ${{ write \\${{"
    if other := _OTHER_CLASS.match(reason):
        return f"{_key_of_class(other[1], root)}: {other[2]} came, expected a group of keys"
    return f"{key}: {reason}" if key else reason


def _key_of_class(name: str, root: type) -> str:
    """Return the key that takes a schema's class."""
    for key, hint in fields_of(root).items():
        if name in (getattr(cls, "__name__", "") for cls in (hint, *KINDS.get(hint, {}).values())):
            return key
    return name


def _no_group(group: str, *, own: bool) -> str:
    """Say that there is nothing to override: in a file the name lacks its slash, or is wrong."""
    if own:
        return (
            f"override {group}: there is no such group; a group is written with a slash, as in "
            "'- override /optimizer: adam'"
        )
    return f"{group}: it is no group of this program; one of your own is added with +{group}=NAME"


def _omegaconf_error(error: BaseException | None) -> OmegaConfBaseException | None:
    """Return the first error of OmegaConf on the way to the root cause; it knows the key."""
    while error is not None and not isinstance(error, OmegaConfBaseException):
        error = error.__cause__ or error.__context__
    return error


def _place(error: Exception) -> str:
    """Return which of a user's configuration files Hydra was reading, if it says so."""
    found = re.match(r"In '([^']*/[^']*)'", str(error))
    return f"in {found[1]}: " if found else ""


def _wrong_value(error: ValidationError, root: type) -> str:
    key = str(error.full_key)
    value = "null" if error.value is None else error.value
    hint: Any = dict(known_keys(root)).get(key)
    what = "a group of keys" if hint is None else expected(hint)
    remedy = f"; write {key}=null for no value" if value in ("None", "") and "null" in what else ""
    if hint is None:
        remedy = f"; its keys are written {key}.NAME=VALUE"
    return f"{key}={value}: expected {what}{remedy}"


def _missing_choice(error: MissingConfigException) -> str:
    unknown = _NO_FILE.search(str(error))
    group, _, name = str(error.missing_cfg_file or (unknown and unknown[1])).rpartition("/")
    message = f"{group}={name}: there is no such choice"
    if not error.options:
        return message
    return f"{message}{nearest(name, error.options)}; there are {', '.join(error.options)}"


def _invalid_yaml(error: yaml.YAMLError) -> UserError:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    if mark is None:
        return UserError(f"not valid YAML: {_one_line(error)}")
    return UserError(f"{mark.name}:{mark.line + 1}: not valid YAML, {error.problem}")


def _one_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).split("\n")]
    return "; ".join(line for line in lines if line)


def configs_missing() -> UserError:
    """Return the error for a checkout that has not been installed."""
    folder = Path(__file__).parents[2]
    return UserError(f"the configuration files are not installed; run: pip install -e {folder}")
