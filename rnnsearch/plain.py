"""Configurations as plain values: built from dictionaries with every key checked, kept as YAML."""

import difflib
import os
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from rnnsearch.config import KINDS, TrainConfig
from rnnsearch.confined import check_confined
from rnnsearch.errors import UserError, nearest

SCHEMA_VERSION = 7
_SPLIT = {"table": None, "split": None}
_HUB = {"path": None, "name": None, "streaming": False, "columns": None}
# The keys that each version of the schema brought, at the values that mean what there was before.
_BROUGHT: dict[int, dict[str, Any]] = {
    2: {
        "start_from": None,
        "tokenizer": {"path": None},
        "data": {**_HUB, "train": _SPLIT, "valid": _SPLIT, "test": _SPLIT},
    },
    3: {"data": {"test": {"alignments": None}}},
    4: {"decode": {"precision": "fp32"}},
    5: {"trainer": {"cuda_graphs": False}},
    6: {"logger": "none"},
    7: {
        "model": {"annotation_dropout": 0.0, "tied": "none"},
        "trainer": {"dropout_warmup": 0},
    },
}
_MOST_BYTES = 1 << 20  # of config.yaml; ours take two thousand
_MOST_DEPTH = 20
_SHOWN = 5  # runs in a message
MISSING = "???"  # how YAML marks a key that has no value yet
# PyYAML lets through what a value raises that is not of the type its tag claims.
YAML_ERRORS = (
    *(yaml.YAMLError, ValueError, LookupError, TypeError, ArithmeticError, AttributeError),
    RecursionError,
)

T = TypeVar("T")


def fields_of(cls: Any) -> dict[str, Any]:
    """Return the names and type hints of a schema's fields, in order."""
    return typing.get_type_hints(cls)


def split_optional(hint: Any) -> tuple[Any, bool]:
    """Return a field's type without null, and whether null is allowed."""
    if hint is Any:
        return Any, True
    if typing.get_origin(hint) is types.UnionType:
        (base,) = (part for part in typing.get_args(hint) if part is not type(None))
        return base, True
    return hint, False


def expected(hint: Any) -> str:
    """Say in words what values a field takes."""
    base, nullable = split_optional(hint)
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    what = "a path, a list of paths" if base is Any else words.get(base, "a group of keys")
    return f"{what} or null" if nullable else what


def known_keys(root: type, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the full name and type of every value below `root`, of all kinds of its groups."""
    for name, hint in fields_of(root).items():
        base, _ = split_optional(hint)
        if not (isinstance(base, type) and is_dataclass(base)):
            yield prefix + name, hint
            continue
        for choice in dict.fromkeys(KINDS.get(base, {"": base}).values()):
            yield from known_keys(choice, f"{prefix}{name}.")


def unknown_key(key: str, root: type) -> UserError:
    """Return the error for a key that the configuration `root` does not have."""
    group, _, leaf = key.partition(".")
    owners = _owners(group, leaf, root)
    if key.startswith("hydra"):
        return UserError(f"{key}: Hydra has no such setting")
    if owners:
        hint = f", it belongs to {' and '.join(owners)}"
    elif group in fields_of(TrainConfig) and group not in fields_of(root):
        hint = "; it belongs to `rnnsearch train`, and what the run was trained with counts"
    else:
        more = ["experiment"] if root is TrainConfig else []
        hint = _nearest_keys(key, [*(name for name, _ in known_keys(root)), *more])
    return UserError(f"{key}: there is no such key{hint}")


def _nearest_keys(key: str, keys: list[str]) -> str:
    """Return the known key that is most like `key`, or else the keys that stand beside it."""
    group, _, leaf = key.rpartition(".")
    prefix = f"{group}." if group else ""
    below = [
        name.removeprefix(prefix).partition(".")[0] for name in keys if name.startswith(prefix)
    ]
    beside = {name: prefix + name for name in below if name != "kind"}
    # At the root the group may have been left out.
    leaves = {} if group else {name.rpartition(".")[2]: name for name in keys}
    close = difflib.get_close_matches(leaf, names := leaves | beside, n=1)
    if close:
        return f" (did you mean '{names[close[0]]}'?)"
    # A key that only a part of a group has, such as data.test.alignments.
    top = group.partition(".")[0]
    sisters = [name for name in keys if name.startswith(f"{top}.") and name.endswith(f".{leaf}")]
    if len(sisters) == 1 and "." in group:
        return f", it belongs to {sisters[0].rpartition('.')[0]}"
    return f", the keys are {', '.join(beside.values())}"


def _owners(group: str, leaf: str, root: type) -> list[str]:
    """Return the choices of `group` that have a field `leaf`, as they are typed."""
    base = fields_of(root).get(group)
    choices = KINDS.get(base, {}) if isinstance(base, type) else {}
    return [f"{group}={kind}" for kind, cls in choices.items() if leaf in fields_of(cls)]


def build(cls: type[T], values: Mapping[str, Any], *, root: type, prefix: str = "") -> T:
    """Turn nested plain values into schema dataclasses; a group's class goes by its ``kind``.

    Raises:
        UserError: a key is unknown or missing, or a value has the wrong type; it names the key.
    """
    if cls in KINDS:
        cls = _class_of_kind(cls, values.get("kind", MISSING), prefix)
    hints = fields_of(cls)
    for name in values:
        if name not in hints:
            raise unknown_key(f"{prefix}{name}", root)
    converted: dict[str, Any] = {}
    for name, hint in hints.items():
        value = values.get(name, MISSING)
        if isinstance(value, str) and value == MISSING:
            raise _missing(f"{prefix}{name}", hint)
        if is_dataclass(hint) and isinstance(hint, type) and isinstance(value, Mapping):
            converted[name] = build(hint, value, root=root, prefix=f"{prefix}{name}.")
        else:
            converted[name] = _convert(value, hint, f"{prefix}{name}")
    return cls(**converted)


def _missing(key: str, hint: Any) -> UserError:
    if hint in KINDS:
        return UserError(f"{key}: choose one with {key}=NAME, of {', '.join(KINDS[hint])}")
    return UserError(f"{key}: a value is missing, expected {expected(hint)}")


def _class_of_kind(base: type[T], kind: Any, prefix: str) -> type[T]:
    choices = KINDS[base]
    if not isinstance(kind, str) or kind not in choices:
        group = prefix.rstrip(".")
        raise UserError(f"{prefix}kind={kind}: choose with {group}=NAME, of {', '.join(choices)}")
    return choices[kind]


def _convert(value: Any, hint: Any, key: str) -> Any:
    base, nullable = split_optional(hint)
    if base is Any or (value is None and nullable):
        return value
    if base is float and type(value) is int:
        return float(value)
    if type(value) is not base:
        shown = "null" if value is None else value
        raise UserError(f"{key}={shown}: expected {expected(hint)}")
    return value


def to_plain(config: TrainConfig) -> dict[str, Any]:
    """Return what ``config.yaml`` holds: plain values, the schema's version first."""
    return {"schema": SCHEMA_VERSION, **_map_text(asdict(config), _file_text)}


def to_yaml(plain: Mapping[str, Any]) -> str:
    """Return plain values as YAML text that `from_yaml` reads back to equal values."""
    text: str = yaml.safe_dump(dict(plain), sort_keys=False, allow_unicode=True, width=1_000_000)
    return text


def from_plain(plain: Any, *, name: str) -> TrainConfig:
    """Return the configuration that `to_plain` wrote.

    Args:
        plain: the values read.
        name: the file they come from, for messages.

    Raises:
        UserError: status 1; not a configuration, or of another version of the schema.
    """
    if not isinstance(plain, dict) or "schema" not in plain:
        raise UserError(f"{name}: not a run's configuration, it has no key 'schema'", status=1)
    values = dict(plain)
    version = values.pop("schema")
    if type(version) is not int:
        raise UserError(f"{name}: schema {version}, expected a whole number", status=1)
    if not 1 <= version <= SCHEMA_VERSION:
        message = f"{name}: schema {version}, but this program reads schema {SCHEMA_VERSION}"
        raise UserError(f"{message}; use the version of rnnsearch that trained it", status=1)
    for since, brought in _BROUGHT.items():
        if version < since:
            values = _over(brought, values)
    try:
        return build(TrainConfig, _map_text(values, system_path), root=TrainConfig)
    except UserError as error:
        raise UserError(f"{name}: {error}", status=1) from None


def _over(later: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return nested `values` with what `later` has and they have not."""
    merged = {**later, **values}
    for key, inner in later.items():
        if isinstance(inner, dict) and isinstance(values.get(key, {}), dict):
            merged[key] = _over(inner, values.get(key, {}))
    return merged


def load_run_config(run_dir: Path) -> TrainConfig:
    """Return the configuration of a run folder.

    Raises:
        UserError: status 2 where there is no run, status 1 where its ``config.yaml`` is damaged or
            the folder reaches outside itself.
    """
    path = run_dir / "config.yaml"
    if not run_dir.is_dir():
        if run_dir.exists():
            raise UserError(f"run_dir={run_dir}: is a file, expected the folder of a run")
        raise UserError(f"run_dir={run_dir}: there is no such folder{_runs_beside(run_dir)}")
    if not path.is_file():
        raise UserError(f"run_dir={run_dir}: this folder holds no run, it has no config.yaml")
    check_confined(run_dir)
    try:
        return from_plain(_read_yaml(path), name=str(path))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})", status=1) from None
    except YAML_ERRORS as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: incomplete or damaged ({reason})", status=1) from None


def _runs_beside(run_dir: Path) -> str:
    """Return which runs there are where another was looked for, as part of a message."""
    try:
        found = sorted(path.parent.name for path in run_dir.parent.glob("*/config.yaml"))
    except (OSError, ValueError):
        return ""
    if not found:
        return ""
    near = nearest(run_dir.name, found)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return near or f"; {run_dir.parent} holds the runs {', '.join(found[:_SHOWN])}{more}"


def _read_yaml(path: Path) -> Any:
    """Return the values of a file such as `to_yaml` writes, whoever has written it."""
    if path.stat().st_size > _MOST_BYTES:
        raise ValueError(f"larger than {_MOST_BYTES} bytes")
    text = path.read_text(encoding="utf-8")
    depth = 0  # deep nesting takes time that grows with its square, and the stack
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MOST_DEPTH:
            raise ValueError(f"nested more than {_MOST_DEPTH} deep")
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("it has an alias, by which few bytes can stand for many values")
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        _check_keys(node)
        return None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def _check_keys(node: yaml.Node | None) -> None:
    """Hold that no key comes twice; of two values a parser takes the last one without a word."""
    if not isinstance(node, yaml.MappingNode):
        return
    seen = set()
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):  # others are refused later
            if key.value in seen:
                raise ValueError(f"the key {key.value} comes twice")
            seen.add(key.value)
        _check_keys(value)


def system_path(text: str) -> str:
    """Return `text` as this process must spell it to the file system, whatever the locale."""
    return os.fsdecode(text.encode("utf-8", "surrogateescape"))


def _file_text(path: str) -> str:
    """Undo `system_path`: under an ASCII locale a path's accents arrive as escaped bytes."""
    return os.fsencode(system_path(path)).decode("utf-8", "surrogateescape")


def _map_text(value: Any, change: typing.Callable[[str], str]) -> Any:
    """Return nested plain values with `change` applied to every text."""
    if isinstance(value, dict):
        return {key: _map_text(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_map_text(item, change) for item in value]
    return change(value) if isinstance(value, str) else value
