"""A new run that starts from another: its network and its tokenizers count, not the defaults."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

from rnnsearch.config import TrainConfig
from rnnsearch.errors import UserError
from rnnsearch.modelchecks import check_model
from rnnsearch.plain import load_run_config
from rnnsearch.validation import shown

# They may differ from the run that is started from: no weight has another shape or meaning.
_DROPOUT = ("dropout", "annotation_dropout")
_FREE = frozenset({*_DROPOUT, "init", "path"})


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
    differences = _differences("tokenizer", config.tokenizer, source.tokenizer)
    path = config.tokenizer.path
    config.tokenizer = source.tokenizer
    config.tokenizer.path = path
    if config.start_from is not None:
        differences += _differences("model", config.model, source.model)
        for key_of_dropout in _DROPOUT:
            if f"model.{key_of_dropout}" in given or experiment is not None:
                setattr(source.model, key_of_dropout, getattr(config.model, key_of_dropout))
        config.model = source.model
    for typed, came, has in differences:
        if typed in given:
            raise UserError(f"{typed}={came}: {key} has {has}; leave {typed} out")
    if experiment is not None and differences:
        told = ", ".join(f"{typed} is {has}, not {came}" for typed, came, has in differences)
        _warn(f"{key} counts, not experiment={experiment}: {told}")


def _warn(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr)


def _differences(group: str, asked: Any, there: Any) -> list[tuple[str, str, str]]:
    """Return the key of each setting that differs, as it is typed, what was asked for and is."""
    found = []
    for name in (field.name for field in fields(asked)):
        # A kind has settings of its own; what another has none of, only the kind can tell.
        has = getattr(there, name, f"{group}={there.kind}")
        came = getattr(asked, name)
        if name not in _FREE and came != has:
            typed = group if name == "kind" else f"{group}.{name}"
            found.append((typed, shown(came), shown(has)))
    return found


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
    try:
        check_model(config.model)
    except UserError as error:
        raise UserError(f"{key}={run_dir}: {error}") from None
    if key == "start_from" and not (run_dir / "checkpoints").is_dir():
        raise UserError(f"{key}={run_dir}: the run has no checkpoint yet; let it save one first")
    return config


def starting_weights(run_dir: Path) -> Path:
    """Return the checkpoint that a run starts from: the best of the other one, else its last.

    Raises:
        UserError: it has none.
    """
    from rnnsearch import checkpoint as files  # loads torch, which the checks go without

    best = run_dir / "checkpoints" / "best"
    return files.locate(run_dir, "best" if best.is_dir() else "last")
