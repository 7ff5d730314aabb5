"""The words of a command line: flags for Hydra, and overrides that are checked before it runs."""

import argparse
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

from hydra.core.override_parser.types import Glob, Override

from rnnsearch.cli.completion import choices_of
from rnnsearch.cli.overrides import check_override, groups_of, read_override, type_of
from rnnsearch.cli.ownfiles import check_own_files
from rnnsearch.config import TrainConfig
from rnnsearch.errors import UserError, nearest
from rnnsearch.plain import known_keys

_INFO = ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath")


class Options(NamedTuple):
    """A command line that has been read."""

    flags: list[str]  # for Hydra, with their values
    overrides: list[str]
    typed: frozenset[str]  # keys and groups that are set, also those inside a dictionary
    run_dirs: tuple[str, ...]  # as typed
    sweep: bool
    swept: frozenset[str]  # keys and groups that take several values
    runs: bool  # whether a command runs; otherwise something is only shown


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(message.removeprefix("argument "))


def read_options(argv: list[str], *, root: type) -> Options:
    """Read the words after the command's name.

    Args:
        argv: flags and overrides in any order.
        root: the command's schema.

    Raises:
        UserError: an unknown flag, or an override that cannot mean what it says.
    """
    for word in argv:
        if re.fullmatch(r"(-cn|-cp|--config-name|--config-path)(=.*)?", word, re.DOTALL):
            raise _unknown_flag(word, root)
    parsed, rest = _parser().parse_known_args(argv)
    if "=" in (parsed.info or ""):  # `--info` takes a word only where there is one for it
        rest.append(parsed.info)
        parsed.info = "all"
    for word in rest:
        if word.startswith("-"):
            raise _unknown_flag(word, root)
    _check_flags(parsed, root=root)
    overrides = _without_null_experiment([read_override(word, root) for word in rest])
    for override in overrides:
        check_override(override, root=root, sweep=parsed.multirun)
        _check_glob(override, argv, root=root)
    if parsed.config_dir is not None:
        check_own_files(parsed.config_dir, overrides)
    return Options(
        flags=_flags(parsed),
        overrides=[_as_text(override, root) for override in overrides],
        typed=frozenset(key for o in overrides for key in _keys_of(o.key_or_group, o.value())),
        run_dirs=_folders(overrides, several=type_of("run_dir", root) is Any),
        sweep=parsed.multirun,
        swept=frozenset(o.key_or_group for o in overrides if o.is_sweep_override()),
        runs=not _shown(parsed),
    )


def _keys_of(key: str, value: Any) -> Iterator[str]:
    """Yield a key and, where its value is a dictionary, the keys that this sets."""
    yield key
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _keys_of(f"{key}.{name}", inner)


def _shown(parsed: argparse.Namespace) -> list[str]:
    """Return the flags that show something instead of running the command."""
    return [f"--{name.replace('_', '-')}" for name in ("hydra_help", "cfg", "info")
            if getattr(parsed, name)]  # fmt: skip


def _check_flags(parsed: argparse.Namespace, *, root: type) -> None:
    """Hold that the flags go together."""
    if parsed.multirun and root is not TrainConfig:
        raise UserError("-m: this command runs once; only `rnnsearch train` takes several values")
    shown = [*_shown(parsed), *["-m"] * parsed.multirun]
    if len(shown) > 1:
        remedy = "leave -m out and give each key one value" if parsed.multirun else "give one"
        raise UserError(f"{' and '.join(shown)} do not go together; {remedy}")
    if parsed.info not in (None, *_INFO):
        raise UserError(f"--info={parsed.info}: expected one of {', '.join(_INFO)}")
    if parsed.cfg is None and (parsed.resolve or parsed.package is not None):
        flag = "--resolve" if parsed.resolve else "--package"
        raise UserError(f"{flag}: it goes with --cfg job")
    groups = sorted({name.partition(".")[0] for name, _ in known_keys(root) if "." in name})
    if parsed.package not in (None, *groups):
        raise UserError(f"--package={parsed.package}: expected one of {', '.join(groups)}")


def _check_glob(override: Override, argv: list[str], *, root: type) -> None:
    """Hold that a pattern fits a choice; a sweep of none would run nothing without a word."""
    group = override.key_or_group
    value: Any = override.value()
    if isinstance(value, Glob) and group in groups_of(root):
        names = sorted(set(choices_of(group, argv)))
        if not value.filter(names):
            raise UserError(f"{override.input_line}: fits none of {', '.join(names)}")


def _without_null_experiment(overrides: list[Override]) -> list[Override]:
    """Take ``experiment=null`` as no experiment; Hydra refuses null for a group."""
    named = [o for o in overrides if o.key_or_group == "experiment"]
    if not named or named[-1].is_sweep_override() or named[-1].value() is not None:
        return overrides
    return [o for o in overrides if o not in named]


def _parser() -> _Parser:
    """Return a parser of the flags of Hydra that make sense here; the overrides are left over."""
    parser = _Parser(prog="rnnsearch", add_help=False, allow_abbrev=False)
    parser.add_argument("--multirun", "-m", action="store_true")
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
    if flag in ("-cn", "-cp", "--config-name", "--config-path"):
        hint = ", and --config-dir DIR adds a folder with choices of your own"
    return UserError(f"{flag}: there is no such flag; settings are written KEY=VALUE{hint}")


def _as_text(override: Override, root: type) -> str:
    """Return the override for Hydra; a name or path that looks like a number stays as typed."""
    word = override.input_line or ""
    is_text = type_of(override.key_or_group, root) in (str, Any)
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
        return tuple(map(_literal, value))
    if isinstance(value, list | dict):
        raise UserError(f"{given[-1].input_line}: expected one folder")
    return (_literal(value),)


def _literal(value: Any) -> str:
    """Return a text in which the sign of an interpolation was escaped, as OmegaConf reads it."""
    return str(value).replace("\\${", "${")
