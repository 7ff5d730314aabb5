"""One override of a command line, read and checked before Hydra sees it."""

import os
import re
from collections.abc import Iterable
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, Override, QuotedString
from hydra.errors import HydraException

from rnnsearch.cli.quoting import list_quoted_twice, quoted_twice
from rnnsearch.config import KINDS, TrainConfig
from rnnsearch.errors import UserError, nearest
from rnnsearch.plain import MISSING, fields_of, known_keys, split_optional

# Hydra's own settings would do nothing here; what does it instead.
_REFUSED = {
    "hydra.mode": "add -m to run a sweep",
    "hydra.run": "set run_dir=PATH",
    "hydra.sweep.dir": "set run_dir=PATH",
    "hydra.sweep.subdir": "the swept keys name the folders in run_dir",
    "hydra.output_subdir": "everything is kept in run_dir",
    "hydra.searchpath": "add a folder of your own with --config-dir DIR",
    "hydra.sweeper": "a sweep is written -m KEY=VALUE,VALUE",
    "hydra/launcher": "the jobs of a sweep run one after the other",
    "hydra/sweeper": "a sweep runs every combination of the values",
}
# Accepted, since paths stay relative to where the user stands whatever it says.
_CHDIR = "hydra.job.chdir"
_OWN_FOLDER = ("run_dir", "name")


def read_override(word: str, root: type) -> Override:
    """Parse one override; what Hydra's grammar cannot read is told with a way to quote it.

    Raises:
        UserError: the word is no override, or its key or value needs another spelling.
    """
    key, equal, value = word.partition("=")
    parsed = _parsed(word)
    if parsed is not None:
        return parsed
    if not equal or not key.strip():
        run = not equal and os.path.isfile(f"{word}/config.yaml")  # noqa: PTH113 - takes any word
        hint = f"; for this run write run_dir={word}" if run else ""
        raise UserError(f"{word}: expected KEY=VALUE{hint}")
    if key != key.strip():
        raise UserError(f"{word}: expected KEY=VALUE without blanks around the key")
    if _parsed(f"{key}=1") is None:
        hint = nearest(key, [name for name, _ in known_keys(root)])
        raise UserError(f"{key}: there is no such key{hint}")
    message = f"{key}: its value has a character with a meaning of its own; quote it twice"
    several = type_of(key, root) is Any and re.fullmatch(r"\[.*\]", value, re.DOTALL)
    spelt = list_quoted_twice(key, value[1:-1].split(",")) if several else quoted_twice(key, value)
    raise UserError(f"{message}: {spelt}")


def _parsed(word: str) -> Override | None:
    try:
        return OverridesParser.create().parse_overrides([word])[0]
    except HydraException:
        return None


def type_of(key: str, root: type) -> Any:
    """Return the type of a key's values without null; of a group or an unknown key `object`."""
    return split_optional(dict(known_keys(root)).get(key, object))[0]


def check_override(override: Override, *, root: type, sweep: bool) -> None:
    """Hold that an override can mean what it says.

    Args:
        override: as `read_override` returned it.
        root: the command's schema.
        sweep: whether several values are runs of their own (``-m``).

    Raises:
        UserError: it names the key and what to write instead.
    """
    key, word = override.key_or_group, override.input_line or ""
    if not key:
        raise UserError(f"{word}: expected KEY=VALUE")
    if re.match(r"hydra([./]|$)", key):
        _check_hydra(override)
        return
    groups = groups_of(root)
    _check_key(override, groups, root=root)
    if override.is_sweep_override():
        _check_sweep(override, groups, root=root, sweep=sweep)
    elif key in groups:
        _check_choices(override, [override.value()], groups[key])
    elif type_of(key, root) is bool and type(override.value()) in (int, float):
        raise UserError(f"{word}: expected true or false")
    elif key in _nodes(root) and not isinstance(override.value(), dict):
        raise UserError(f"{word}: expected a group of keys; its keys are written {key}.NAME=VALUE")


def groups_of(root: type) -> dict[str, list[str]]:
    """Return the groups of a command and the kinds in each; an experiment has none."""
    groups = {name: list(KINDS[hint]) for name, hint in fields_of(root).items() if hint in KINDS}
    return groups | ({"experiment": []} if root is TrainConfig else {})


def _nodes(root: type) -> set[str]:
    """Return the names that have keys below them."""
    names = [name.split(".") for name, _ in known_keys(root)]
    return {".".join(parts[:count]) for parts in names for count in range(1, len(parts))}


def _check_hydra(override: Override) -> None:
    key, value = override.key_or_group, override.value()
    if key == _CHDIR:
        if value is not None and not isinstance(value, bool):
            raise UserError(f"{override.input_line}: expected true or false")
        return
    remedy = "leave it out"
    for name, other in _REFUSED.items():
        if key == name or key.startswith(f"{name}."):
            remedy = other
    raise UserError(f"{key}: this setting of Hydra is not used here; {remedy}")


def _check_key(override: Override, groups: dict[str, list[str]], *, root: type) -> None:
    key, word = override.key_or_group, override.input_line or ""
    keys = dict(known_keys(root))
    if override.is_delete():
        nullable = key in keys and split_optional(keys[key])[1]
        remedy = f"write {key}=null for no value" if nullable else "leave it out for its default"
        raise UserError(f"{word}: a key cannot be taken away; {remedy}")
    if override.package is not None and key in groups:
        raise UserError(f"{word}: a choice goes where its group is; write {key}=NAME")
    known = key in keys or key in groups or key in fields_of(root)
    if known and (override.is_add() or (override.is_force_add() and key in groups)):
        raise UserError(f"{word}: this key is there already; write it without +")
    if key in (*fields_of(TrainConfig), "experiment") and not known:
        raise elsewhere(key)
    group, _, leaf = key.partition(".")
    if leaf and group == "experiment":
        raise UserError(f"{key}: there is no such key; an experiment is chosen, experiment=NAME")
    if leaf == "kind" and groups.get(group):
        raise UserError(f"{key}: choose with {group}=NAME, of {', '.join(groups[group])}")
    above = [name for name in keys if key.startswith(f"{name}.")]
    if above:
        raise UserError(f"{key}: there is no such key; {above[0]} has a value, and no keys below")


def elsewhere(key: str) -> UserError:
    """Return the error for a key of `train` that the command does not have."""
    return UserError(
        f"{key}: there is no such key; it belongs to `rnnsearch train`, and what the run was "
        "trained with counts"
    )


def _check_choices(override: Override, values: Iterable[Any], kinds: list[str]) -> None:
    """Hold that a group gets a name."""
    for value in values:
        # Other parts of the configuration go by the choice, before an interpolation is resolved.
        named = isinstance(value, str | QuotedString) and "${" not in str(value)
        if (not named and not (kinds and isinstance(value, dict))) or value == MISSING:
            wanted = f"one of {', '.join(kinds)}" if kinds else "a name"
            raise UserError(f"{override.input_line}: expected {wanted}")


def _check_sweep(
    override: Override, groups: dict[str, list[str]], *, root: type, sweep: bool
) -> None:
    key, word = override.key_or_group, override.input_line or ""
    if not sweep:
        raise _unexpected_sweep(override, root)
    if key in _OWN_FOLDER:
        raise UserError(f"{key}: it cannot take several values; each job has a folder in it")
    if isinstance(override.value(), Glob):
        if key not in groups:
            raise UserError(f"{word}: glob picks choices of a group, but {key} is a key")
    elif not override.is_discrete_sweep():
        raise UserError(f"{word}: give the values one by one, or as range(START,STOP,STEP)")
    elif key in groups:
        _check_choices(override, override.sweep_iterator(), groups[key])


def _unexpected_sweep(override: Override, root: type) -> UserError:
    key, _, value = (override.input_line or "").partition("=")
    base = type_of(key, root)
    wishes = [f"for a list write '{key}=[{value}]'"] if base is Any else []
    wishes += [f"for one text write {quoted_twice(key, value)}"] if base in (Any, str) else []
    wishes += ["to run each value add -m"] if root is TrainConfig else []
    return UserError(f"{key}={value}: several values; {', '.join(wishes) or 'give one'}")
