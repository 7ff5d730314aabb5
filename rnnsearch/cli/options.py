"""The words of a command line: flags for Hydra, and overrides that are checked before it runs."""

import argparse
import shlex
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException

from rnnsearch import __version__
from rnnsearch.config import KINDS, TrainConfig
from rnnsearch.errors import UserError, nearest
from rnnsearch.plain import fields_of, known_keys, split_optional

# Hydra's own settings that would do nothing here, and what does it instead.
_REFUSED = {
    "hydra.mode": "add -m to run a sweep",
    "hydra.run.dir": "set run_dir=PATH",
    "hydra.sweep.dir": "set run_dir=PATH",
    "hydra.sweep.subdir": "the swept keys name the folders in run_dir",
    "hydra.output_subdir": "everything is kept in run_dir",
    "hydra/launcher": "the jobs of a sweep run one after the other",
    "hydra/sweeper": "a sweep runs every combination of the values",
}
_OWN_FOLDER = ("run_dir", "name")


class Options(NamedTuple):
    """A command line that has been read."""

    flags: list[str]  # for Hydra, with their values
    overrides: list[str]
    run_dirs: tuple[str, ...]  # as typed
    sweep: bool
    swept: frozenset[str]  # keys and groups that take several values
    runs: bool  # whether a command runs; otherwise something is only shown


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(message)


def read_options(argv: list[str], *, root: type) -> Options:
    """Read the words after the command's name.

    Args:
        argv: flags and overrides in any order.
        root: the command's schema.

    Raises:
        UserError: an unknown flag, or an override that cannot mean what it says.
    """
    parsed, rest = _parser().parse_known_args(argv)
    for word in rest:
        if word.startswith("-"):
            raise _unknown_flag(word, root)
    shown = ("hydra_help", "cfg", "info", "shell_completion")
    runs = not any(getattr(parsed, name) for name in shown)
    if parsed.multirun and root is not TrainConfig:
        raise UserError("-m: this command runs once; only `rnnsearch train` takes several values")
    overrides = _without_null_experiment([_read_override(word) for word in rest])
    for override in overrides:
        _check_override(override, root=root, sweep=parsed.multirun)
    return Options(
        flags=_flags(parsed),
        overrides=[_as_text(override, root) for override in overrides],
        run_dirs=_folders(overrides, several=_type_of("run_dir", root) is Any),
        sweep=parsed.multirun,
        swept=frozenset(o.key_or_group for o in overrides if o.is_sweep_override()),
        runs=runs,
    )


def _without_null_experiment(overrides: list[Override]) -> list[Override]:
    """Take ``experiment=null`` as no experiment; Hydra refuses null for a group."""
    named = [o for o in overrides if o.key_or_group == "experiment"]
    if not named or named[-1].is_sweep_override() or named[-1].value() is not None:
        return overrides
    return [o for o in overrides if o not in named]


def _parser() -> _Parser:
    """Return a parser of the flags of Hydra that make sense here; the overrides are left over."""
    parser = _Parser(prog="rnnsearch", add_help=False, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"rnnsearch {__version__}")
    parser.add_argument("--multirun", "-m", action="store_true")
    parser.add_argument("--shell-completion", "-sc", action="store_true")
    parser.add_argument("--resolve", action="store_true")
    parser.add_argument("--hydra-help", action="store_true")
    parser.add_argument("--cfg", "-c", choices=("job", "hydra", "all"))
    parser.add_argument("--package", "-p")
    parser.add_argument("--config-dir", "-cd")
    parser.add_argument("--info", "-i", nargs="?", const="all")
    return parser


def _flags(parsed: argparse.Namespace) -> list[str]:
    flags = []
    for name, value in vars(parsed).items():
        if value is None or value is False:
            continue
        flags.append("--" + name.replace("_", "-"))
        flags += [] if value is True else [str(value)]
    return flags


def _unknown_flag(word: str, root: type) -> UserError:
    key = word.lstrip("-").partition("=")[0].replace("-", "_")
    keys = [name for name, _ in known_keys(root)]
    same = [name for name in keys if name.rpartition(".")[2] == key]
    hint = f" (did you mean '{same[0]}=...'?)" if same else nearest(key, keys)
    flag = word.partition("=")[0]
    return UserError(f"{flag}: there is no such flag; settings are written KEY=VALUE{hint}")


def _read_override(word: str) -> Override:
    """Parse one override; what Hydra's grammar cannot read is told with a way to quote it."""
    try:
        return OverridesParser.create().parse_overrides([word])[0]
    except HydraException:
        key, equal, value = word.partition("=")
        if not equal or not key:
            raise UserError(f"{word}: expected KEY=VALUE") from None
        message = f"{key}: its value has a character with a meaning of its own; quote it twice"
        raise UserError(f"{message}: {quoted_twice(key, value)}") from None


def quoted_twice(key: str, value: str) -> str:
    """Return an override as to be typed, quoted for the shell and for Hydra."""
    inner = value.strip("\"'").replace('"', '\\"')
    return shlex.quote(f'{key}="{inner}"')


def _check_override(override: Override, *, root: type, sweep: bool) -> None:
    key, word = override.key_or_group, override.input_line or ""
    if not key:
        raise UserError(f"{word}: expected KEY=VALUE")
    names = (*dict(known_keys(root)), *fields_of(root), "experiment")
    if override.is_delete():
        raise UserError(f"{word}: a key cannot be taken away; write {key}=null for no value")
    if override.is_add() and key in names:
        raise UserError(f"{word}: this key is there already; write it without +")
    if key in _REFUSED:
        raise UserError(f"{key}: this setting of Hydra is not used here; {_REFUSED[key]}")
    group = key.removesuffix(".kind")
    choices = KINDS.get(fields_of(root).get(group, object), {})
    if choices and key != group:
        raise UserError(f"{key}: choose with {group}=NAME, of {', '.join(choices)}")
    if override.is_sweep_override():
        if not sweep:
            raise _unexpected_sweep(override, root)
        if key in _OWN_FOLDER:
            raise UserError(f"{key}: it cannot take several values; each job has a folder in it")
    elif choices and not isinstance(override.value(), str | dict):
        raise UserError(f"{word}: expected one of {', '.join(choices)}")


def _unexpected_sweep(override: Override, root: type) -> UserError:
    key, _, value = (override.input_line or "").partition("=")
    base = _type_of(key, root)
    wishes = [f"for a list write '{key}=[{value}]'"] if base is Any else []
    wishes += [f"for one text write {quoted_twice(key, value)}"] if base in (Any, str) else []
    wishes += ["to run each value add -m"] if root is TrainConfig else []
    return UserError(f"{key}={value}: several values; {', '.join(wishes) or 'give one'}")


def _type_of(key: str, root: type) -> Any:
    """Return the type of a key's values without null; of a group or an unknown key `object`."""
    return split_optional(dict(known_keys(root)).get(key, object))[0]


def _as_text(override: Override, root: type) -> str:
    """Return the override for Hydra; a name or path that looks like a number stays as typed."""
    word = override.input_line or ""
    is_text = _type_of(override.key_or_group, root) in (str, Any)
    if not is_text or override.is_sweep_override() or not isinstance(override.value(), int | float):
        return word
    if override.key_or_group == "replace_unk" and isinstance(override.value(), bool):
        return word
    key, _, value = word.partition("=")
    return f'{key}="{value.strip()}"'


def _folders(overrides: Iterable[Override], *, several: bool) -> tuple[str, ...]:
    """Return the run folders that the command line names."""
    given = [o for o in overrides if o.key_or_group == "run_dir" and not o.is_sweep_override()]
    if not given:
        return ()
    value = given[-1].value()
    if isinstance(value, list) and several:
        return tuple(map(str, value))
    if isinstance(value, list | dict):
        raise UserError(f"{given[-1].input_line}: expected one folder")
    return (str(value),)
