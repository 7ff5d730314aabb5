"""A user's own configuration files, looked at before Hydra reads them.

Hydra takes some of their mistakes for something else, and its errors do not always name the file.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from hydra.core.override_parser.types import Override

from rnnsearch.errors import UserError
from rnnsearch.lines import read_lines
from rnnsearch.plain import YAML_ERRORS

# Hydra reads it in the first lines alone, which must all be of this form.
_PACKAGE = re.compile(r"(\s*#\s*@\w+ +\S+\s*\n|\s*\n)*\s*#\s*@package +\S+\s*(\n|$)")


def check_own_files(folder: str, overrides: Iterable[Override]) -> None:
    """Check the files of a ``--config-dir`` that the command line chooses.

    Raises:
        UserError: there is no such folder, or a file of it cannot be one of this program's.
    """
    if not folder or not Path(folder).is_dir():
        raise UserError(f"--config-dir={folder}: there is no such folder")
    for override in overrides:
        for name in _names(override):
            path = Path(folder, override.key_or_group, f"{name}.yaml")
            if path.is_file():
                _check_file(path, group=override.key_or_group)


def _names(override: Override) -> list[str]:
    """Return the choices that an override names."""
    value: Any = override.value()
    if override.is_choice_sweep():
        value = getattr(value, "list", [])
    return [
        str(getattr(name, "text", name)) for name in (value if isinstance(value, list) else [value])
    ]


def _check_file(path: Path, *, group: str) -> None:
    text = "".join(f"{line}\n" for line in read_lines(path))
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError:
        return  # Hydra's error names the file and the line
    except YAML_ERRORS as error:
        raise UserError(f"{path}: cannot be read ({' '.join(str(error).split())})") from error
    content = {} if content is None else content
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        raise UserError(f"{path}: expected lines of KEY: VALUE, not a list or a single value")
    defaults = content.get("defaults", [])
    if not isinstance(defaults, list) or not all(isinstance(item, str | dict) for item in defaults):
        raise UserError(f"{path}: defaults: expected a list, as in '- override /optimizer: adam'")
    if "hydra" in content or "hydra/" in str(defaults):
        raise UserError(f"{path}: hydra: settings of Hydra are not used here; take them out")
    if group == "experiment" and not _PACKAGE.match(text):
        raise UserError(f"{path}: its first line must be '# @package _global_'")
