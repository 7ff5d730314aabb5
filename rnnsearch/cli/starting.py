"""A new run that starts from another: its network and its tokenizers count, not the defaults."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from rnnsearch.config import TrainConfig
from rnnsearch.errors import UserError
from rnnsearch.plain import load_run_config

# They may differ from the run that is started from: no weight has another shape or meaning.
_FREE = frozenset({"dropout", "init"})


def take_over(config: TrainConfig, *, given: frozenset[str], experiment: str | None) -> None:
    """Put the model and the tokenizer of `start_from` or `tokenizer.path` into a configuration.

    A run that has begun keeps its own: it holds copies, and the other run may be gone. What an
    experiment asks for in vain is told on standard error, and so are other languages.

    Args:
        config: changed in place.
        given: keys and groups of the command line; what they ask for must be what is there.
        experiment: the name of the experiment, if there is one.

    Raises:
        UserError: there is no such run, or the command line asks for something else.
    """
    key = "tokenizer.path" if config.start_from is None else "start_from"
    other = config.tokenizer.path if config.start_from is None else config.start_from
    if other is None:
        return
    source = _begun(config) or _load(key, Path(other))
    for side in ("source_lang", "target_lang"):
        has, asked = getattr(source.data, side), getattr(config.data, side)
        if has != asked:
            _warn(f"data.{side}={asked}, but {key} was trained with data.{side}={has}")
    path = config.tokenizer.path
    _refuse_others("tokenizer", config.tokenizer, source.tokenizer, key=key, given=given)
    others = _others("tokenizer", config.tokenizer, source.tokenizer)
    config.tokenizer = source.tokenizer
    config.tokenizer.path = path
    if config.start_from is not None:
        _refuse_others("model", config.model, source.model, key=key, given=given)
        others += _others("model", config.model, source.model)
        source.model.dropout = config.model.dropout
        config.model = source.model
    if experiment is not None and others:
        _warn(f"{key} counts, not experiment={experiment}: {', '.join(others)}")


def _warn(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr)


def _others(group: str, asked: Any, there: Any) -> list[str]:
    """Say which settings of the other run differ from what was asked for."""
    names = [field.name for field in fields(asked) if field.name not in (*_FREE, "path")]
    return [
        f"{group}.{name} is {getattr(there, name)}, not {getattr(asked, name)}"
        for name in names
        if getattr(there, name, None) != getattr(asked, name)
    ]


def _begun(config: TrainConfig) -> TrainConfig | None:
    """Return the configuration of the run in the folder, if it started from the same one."""
    if not (config.folder / "config.yaml").is_file():
        return None
    own = load_run_config(config.folder)
    same = (own.start_from, own.tokenizer.path) == (config.start_from, config.tokenizer.path)
    return own if same else None


def _load(key: str, run_dir: Path) -> TrainConfig:
    try:
        config = load_run_config(run_dir)
    except UserError as error:
        raise UserError(f"{key}: {error}", status=error.status) from None
    if not (run_dir / "tokenizer").is_dir():
        raise UserError(f"{key}={run_dir}: the run has no tokenizer/ yet; name one that has begun")
    if key == "start_from" and not (run_dir / "checkpoints").is_dir():
        raise UserError(f"{key}={run_dir}: the run has no checkpoint yet; let it save one first")
    return config


def _refuse_others(group: str, asked: Any, there: Any, *, key: str, given: frozenset[str]) -> None:
    """Refuse what the command line asks for by name and the other run does not have."""
    for name in ("kind", *(field.name for field in fields(asked))):
        typed = group if name == "kind" else f"{group}.{name}"
        if typed not in given or name in _FREE or typed == "tokenizer.path":
            continue
        came, has = getattr(asked, name), getattr(there, name, None)
        if came != has:
            raise UserError(f"{typed}={came}: {key} has {has}; leave {typed} out")


def starting_weights(run_dir: Path) -> Path:
    """Return the checkpoint that a run starts from: the best of the other one, else its last.

    Raises:
        UserError: it has none.
    """
    from rnnsearch import checkpoint as files  # loads torch, which the checks go without

    best = run_dir / "checkpoints" / "best"
    return files.locate(run_dir, "best" if best.is_dir() else "last")
