"""Tab completion in bash: what may follow what has been typed.

Hydra has one, but it needs a second a key press, knows no sub-commands, and offers settings of its
own and default values where there are choices and files.
"""

import importlib.resources
import os
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from rnnsearch.cli.quoting import quoted_value
from rnnsearch.config import KINDS, EvaluateConfig, TrainConfig, TranslateConfig
from rnnsearch.plain import fields_of, known_keys, split_optional
from rnnsearch.rules import RULES, Choice

INSTALL = """\
_rnnsearch_completion() {
    local answer
    COMPREPLY=()
    while IFS= read -r answer; do
        COMPREPLY+=("$answer")
    done < <(COMP_LINE="$COMP_LINE" COMP_POINT="$COMP_POINT" COMP_WORDBREAKS="$COMP_WORDBREAKS" \\
        "${1/#\\~/$HOME}" -sc query=bash 2> /dev/null)
}
complete -o nospace -F _rnnsearch_completion rnnsearch
"""
UNINSTALL = "complete -r rnnsearch; unset -f _rnnsearch_completion\n"

_ROOTS: dict[str, type] = {
    "train": TrainConfig,
    "evaluate": EvaluateConfig,
    "translate": TranslateConfig,
}
_FLAGS = ("--help", "--version", "--cfg", "--resolve", "--config-dir", "--info")
_FOLDERS = ("run_dir", "start_from", "tokenizer.path", "data.dir", "data.path", "plots")
_FILES = (
    *("input", "output", "alignments", "scores", "references", "replace_unk", "checkpoint"),
    *(f"data.{split}.{part}" for split in ("train", "valid", "test")
      for part in ("source", "target", "table")),
    "data.test.alignments",
)  # fmt: skip


def answers(typed: str, *, breaks: str = "") -> list[str]:
    """Return what may stand in place of the last word, sorted; a blank ends what is complete.

    Args:
        typed: the line up to the cursor, from the name of the program on.
        breaks: the shell's COMP_WORDBREAKS; it replaces what comes after the last of these alone.
    """
    _, *words = re.split(r"(?<!\\)\s+", typed.lstrip())
    if not words:
        return []
    *given, current = words
    found = [
        answer
        for answer in _candidates(given, current)
        if answer.startswith(current) or "='" in answer  # a path that had to be quoted
    ]
    broken = max((current.rfind(mark) for mark in "=:" if mark in breaks), default=-1) + 1
    return sorted({answer[broken:] for answer in found})


def _candidates(given: list[str], current: str) -> Iterator[str]:
    if not given or given == ["help"]:
        names = [*_ROOTS, "help", "--help", "--version"] if not given else _ROOTS
        yield from (f"{name} " for name in names)
        return
    command, *words = given
    root = _ROOTS.get(command)
    if root is None:
        return
    if words[-1:] in (["--cfg"], ["-c"]):
        yield from ("job ", "hydra ", "all ")
    elif words[-1:] in (["--config-dir"], ["-cd"]):
        yield from _paths(current, folders=True)
    elif current.startswith("-"):
        yield from (f"{flag} " for flag in (*_FLAGS, *["--multirun"] * (root is TrainConfig)))
    elif "=" in current:
        key, _, value = current.partition("=")
        yield from (f"{key}={answer}" for answer in _values(key, value, words, root=root))
    else:
        yield from _keys(current, words, root=root)


def _keys(current: str, words: list[str], *, root: type) -> Iterator[str]:
    """Yield the groups and keys that begin with `current`, up to their next dot."""
    groups = [name for name, hint in fields_of(root).items() if hint in KINDS]
    yield from (f"{name}=" for name in (*groups, *["experiment"] * (root is TrainConfig)))
    chosen = {name: _class_of(name, words, root=root) for name in groups}
    for key, _ in known_keys(root):
        group, _, leaf = key.partition(".")
        cls = chosen.get(group)
        if leaf == "kind" or (cls is not None and leaf.partition(".")[0] not in fields_of(cls)):
            continue
        if key.startswith(current):
            following, dot, _ = key[len(current) :].partition(".")
            yield f"{current}{following}{dot or '='}"


def _class_of(group: str, words: list[str], *, root: type) -> type | None:
    """Return the class of a group's choice, the last one given or the default; None: unknown."""
    given = [word.partition("=")[2] for word in words if word.startswith(f"{group}=")]
    if not given and root is TrainConfig:
        text = importlib.resources.files("rnnsearch.configs").joinpath("train.yaml").read_text()
        defaults = yaml.safe_load(text)["defaults"]
        given = [item[group] for item in defaults if isinstance(item, dict) and group in item]
    return KINDS[fields_of(root)[group]].get(given[-1]) if given else None


def _values(key: str, value: str, words: list[str], *, root: type) -> Iterator[str]:
    """Yield the values of a key or group that go on from `value`."""
    if fields_of(root).get(key) in KINDS or (key == "experiment" and root is TrainConfig):
        yield from (f"{name} " for name in choices_of(key, words))
        return
    hint = dict(known_keys(root)).get(key)
    if hint is None:
        return
    base, nullable = split_optional(hint)
    rule = RULES.get(key)
    if isinstance(rule, Choice):
        yield from (f"{name} " for name in rule.names)
    elif base is bool or key == "replace_unk":
        yield from ("true ", "false ")
    elif key == "device":
        yield from ("auto ", "cpu ", "cuda ")
    elif key == "checkpoint":
        yield from _checkpoints(words)
    if nullable and base is not Any:
        yield "null "
    if key in (*_FOLDERS, *_FILES):
        listed = value.rfind(",") if value.startswith("[") else -1
        head = value[: max(listed, value.startswith("[") - 1) + 1]
        for path in _paths(value[len(head) :], folders=key in _FOLDERS):
            yield head + (path.rstrip() if head else path)


def choices_of(group: str, words: list[str]) -> Iterator[str]:
    """Yield the names of a group's files, those of a ``--config-dir`` included."""
    folders: list[Any] = [importlib.resources.files("rnnsearch.configs")]
    for word, following in pairwise([*words, ""]):
        if word in ("--config-dir", "-cd") or word.startswith("--config-dir="):
            folders.append(Path(word.partition("=")[2] or following))
    for folder in folders:
        path = folder.joinpath(group)
        names = [entry.name for entry in path.iterdir()] if path.is_dir() else []
        yield from (name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def _checkpoints(words: list[str]) -> Iterator[str]:
    """Yield the checkpoints of the run that is named."""
    runs = [word.partition("=")[2].strip("\"'") for word in words if word.startswith("run_dir=")]
    folder = Path(runs[-1] if runs else "", "checkpoints")
    if runs and folder.is_dir():
        yield from (f"{entry.name} " for entry in folder.glob("[!.]*"))


def _paths(begun: str, *, folders: bool) -> Iterator[str]:
    """Yield the files, or just the folders, whose path begins with `begun`."""
    folder, slash, name = begun.rpartition("/")
    try:
        entries: Iterable[os.DirEntry[str]] = list(os.scandir(folder + slash or "."))
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(name) or (entry.name.startswith(".") and not name):
            continue
        path = folder + slash + entry.name
        if entry.is_dir():
            yield quoted_value(f"{path}/")
        elif not folders:
            yield f"{quoted_value(path)} "
