"""Hydra's and OmegaConf's errors as one line that names the key and the remedy."""

from pathlib import Path
from typing import Any

import yaml
from hydra.errors import HydraException, MissingConfigException
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    InterpolationResolutionError,
    OmegaConfBaseException,
    ValidationError,
)

from rnnsearch.errors import UserError, nearest
from rnnsearch.plain import expected, known_keys, unknown_key

# What composing a configuration raises when the command line or a user's file is at fault.
COMPOSITION_ERRORS = (HydraException, OmegaConfBaseException, yaml.YAMLError, ValueError)


def as_user_error(error: Exception, *, root: type) -> UserError:
    """Return the one line for an error of `COMPOSITION_ERRORS`.

    Args:
        error: as Hydra raised it.
        root: the schema of the command.
    """
    if isinstance(error, MissingConfigException):
        return _missing_choice(error)
    if isinstance(error, yaml.YAMLError):
        return _invalid_yaml(error)
    cause = _omegaconf_error(error)
    place = _place(error)
    if isinstance(cause, ConfigKeyError | ConfigAttributeError) and cause.full_key:
        return UserError(f"{place}{unknown_key(cause.full_key, root)}")
    if isinstance(cause, ValidationError) and cause.full_key:
        return UserError(f"{place}{_wrong_value(cause, root)}")
    if isinstance(cause, InterpolationResolutionError):
        reason = str(cause).partition("\n")[0]
        return UserError(f"{place}{cause.full_key}: {reason}; where a text holds ${{ write \\${{")
    if type(error) is ValueError and "group" in str(error):
        return UserError(f"{_one_line(error)}; expected the name of one of the group's choices")
    return UserError(_one_line(error if cause is None else cause))


def _omegaconf_error(error: BaseException | None) -> OmegaConfBaseException | None:
    """Return the first error of OmegaConf on the way to the root cause; it knows the key."""
    while error is not None and not isinstance(error, OmegaConfBaseException):
        error = error.__cause__ or error.__context__
    return error


def _place(error: Exception) -> str:
    """Return which configuration file Hydra was reading, if it says so."""
    text = str(error)
    return f"in {text[4 : text.index(chr(39), 4)]}: " if text.startswith("In '") else ""


def _wrong_value(error: ValidationError, root: type) -> str:
    key = str(error.full_key)
    value = "null" if error.value is None else error.value
    hint: Any = dict(known_keys(root)).get(key)
    what = "a group of keys" if hint is None else expected(hint)
    remedy = f"; write {key}=null for no value" if value in ("None", "") and "null" in what else ""
    if hint is None and not key.startswith("hydra"):
        remedy = f"; its keys are written {key}.NAME=VALUE"
    return f"{key}={value}: expected {what}{remedy}"


def _missing_choice(error: MissingConfigException) -> UserError:
    group, _, name = str(error.missing_cfg_file).rpartition("/")
    if not group or error.options is None:
        return UserError(_one_line(error))
    names = ", ".join(error.options) or "none"
    hint = nearest(name, error.options)
    return UserError(f"{group}={name}: there is no such choice{hint}; there are {names}")


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
