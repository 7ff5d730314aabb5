"""Checks of a configuration, all before any work."""

import math
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rnnsearch.config import (
    Command,
    DataConfig,
    DecodeConfig,
    EvaluateConfig,
    SplitConfig,
    TrainConfig,
    TrainerConfig,
    TranslateConfig,
    listed,
)
from rnnsearch.devices import check_device, pick_device
from rnnsearch.errors import UserError, nearest
from rnnsearch.modelchecks import check_model
from rnnsearch.modelconfig import RnnsearchConfig
from rnnsearch.plain import expected, fields_of, load_run_config, split_optional
from rnnsearch.rules import RULES, Choice, Range

if TYPE_CHECKING:
    pass


def validate(config: Command) -> None:
    """Check every value, then what must fit together, then the device.

    Raises:
        UserError: names the key, what came and what was expected.
    """
    check_values(config)
    match config:
        case TrainConfig():
            _check_train(config)
        case EvaluateConfig():
            _check_evaluate(config)
        case TranslateConfig():
            _check_translate(config)
    _check_decode(config.decode)
    check_device(config.device)


def check_values(node: Any, prefix: str = "") -> None:
    """Check each value below a group by itself.

    Args:
        node: a configuration or one of its groups.
        prefix: of its keys, such as `model.`.

    Raises:
        UserError: names the key, what came and what was expected.
    """
    for key, value, hint in _leaves(node, prefix):
        _check_value(key, value, hint)


def load_config(run_dir: Path) -> TrainConfig:
    """Return the configuration of a run folder, whose every value may be one.

    Raises:
        UserError: there is no run, or its `config.yaml` is damaged (status 1).
    """
    config = load_run_config(run_dir)
    try:
        check_values(config)
        check_model(config.model)
    except UserError as error:
        raise UserError(f"{run_dir / 'config.yaml'}: {error}", status=1) from None
    return config


def _leaves(node: Any, prefix: str = "") -> Iterator[tuple[str, Any, Any]]:
    for name, hint in fields_of(type(node)).items():
        value = getattr(node, name)
        if is_dataclass(value):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value, hint


def _check_value(key: str, value: Any, hint: Any) -> None:
    if split_optional(hint)[0] is Any:
        _check_open(key, value)
        return
    rule = RULES.get(key)
    if value is None:
        return
    if isinstance(value, str) and not isinstance(rule, Choice):
        _check_text(key, value, nullable=split_optional(hint)[1])
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{key}={value}: expected a finite number")
    if rule is not None and not rule.holds(value):
        _refuse(key, value, hint, rule)


def _refuse(key: str, value: Any, hint: Any, rule: Range | Choice) -> None:
    base, nullable = split_optional(hint)
    hint_null = " or null" if nullable else ""
    if isinstance(rule, Choice):
        near = nearest(value, rule.names)
        raise UserError(f"{key}={value}: expected {rule}{hint_null}{near}")
    raise UserError(f"{key}={value}: expected {expected(base)} {rule.told(value)}{hint_null}")


def _check_text(key: str, value: str, *, nullable: bool) -> None:
    remedy = f"write {key}=null for no value" if nullable else "a value is needed, not null"
    if not value:
        raise UserError(f"{key}= is empty; {remedy}")
    if value == "None":
        raise UserError(f"{key}=None: None is not a value here; {remedy}")


def _check_open(key: str, value: Any) -> None:
    """Check a value whose type the schema leaves open."""
    if key == "data.columns":
        _check_columns(key, value)
    elif key == "replace_unk":
        if not isinstance(value, bool | str):
            raise UserError(f"{key}={shown(value)}: expected true, false or a dictionary file")
        if isinstance(value, str):
            _check_text(key, value, nullable=False)
    else:
        nullable = key not in ("run_dir", "checkpoint")
        _check_paths(key, value, nullable=nullable)


def _check_columns(key: str, value: Any) -> None:
    """Hold that columns are two names, or two numbers from 1."""
    if value is None:
        return
    names = all(isinstance(column, str) and column for column in listed(value))
    numbers = all(type(column) is int and column > 0 for column in listed(value))
    if not (isinstance(value, list) and len(value) == 2 and (names or numbers)):
        raise UserError(
            f"{key}={shown(value)}: expected the columns of source and target, two names or two "
            f"numbers from 1, as in '{key}=[2,3]'"
        )
    if value[0] == value[1]:
        raise UserError(f"{key}={value}: source and target are the same column")


def _check_paths(key: str, value: Any, *, nullable: bool) -> None:
    what = "a path, a list of paths or null" if nullable else "a name or path, or a list of them"
    if isinstance(value, list) and not value:
        remedy = f"write {key}=null for no file" if nullable else "name one or more"
        raise UserError(f"{key}=[] is an empty list; {remedy}")
    if value is None and not nullable:
        raise UserError(f"{key}=null: expected {what}")
    for path in listed(value):
        if not isinstance(path, str):
            raise UserError(f"{key}={shown(path)}: expected {what}")
        _check_text(key, path, nullable=nullable)
    twice = [path for path in listed(value) if listed(value).count(path) > 1]
    if twice and not nullable:
        raise UserError(f"{key}: {twice[0]} is named twice")


def _check_train(config: TrainConfig) -> None:
    data, trainer = config.data, config.trainer
    _check_place(data, needed=True)
    for name, split in (("train", data.train), ("valid", data.valid)):
        _check_split(f"data.{name}", split, kind=data.kind, needed=data.kind == "files")
        given = [side for side in ("source", "table") if getattr(split, side) is not None]
        if data.kind == "demo" and given:
            message = f"data.{name}.{given[0]} is set, but data=demo has files of its own"
            raise UserError(f"{message}; add data=files")
    _check_test(data)
    splits = (data.train, data.valid, data.test)
    if data.columns is not None and data.kind != "hub" and not any(s.table for s in splits):
        raise UserError(
            "data.columns is set, but no table is read; give data.train.table=FILE or data=hub"
        )
    if config.start_from is not None and config.tokenizer.path is not None:
        raise UserError("tokenizer.path is set, but start_from brings the tokenizers; give one")
    if config.name is not None and _leads_elsewhere(config.name):
        raise UserError(f"name={config.name}: expected a plain name; a path goes to run_dir=PATH")
    _check_trainer(trainer)
    check_model(config.model)
    if trainer.cuda_graphs:
        _check_graphs(config)


def check_tables(config: TrainConfig) -> None:
    """Check what asks something of the tokenizers, which another run may have brought.

    Raises:
        UserError: names the key and the remedy.
    """
    if config.model.tied == "all" and not config.tokenizer.joint:
        raise UserError(
            "model.tied=all makes one table of the words of both sides, but tokenizer.joint is "
            "false; add tokenizer.joint=true, or take model.tied=output"
        )


def _leads_elsewhere(name: str) -> bool:
    return Path(name).is_absolute() or ".." in Path(name).parts


def _check_place(data: DataConfig, *, needed: bool) -> None:
    """Check the keys that say where a folder or a set is."""
    if data.kind == "folder" and data.dir is None and needed:
        raise UserError("data.dir is null, but data=folder needs the folder: data.dir=PATH")
    if data.kind == "hub" and data.path is None and needed:
        raise UserError(
            "data.path is null, but data=hub needs a set: data.path=OWNER/NAME, or a folder"
        )
    if data.kind != "folder" and data.dir is not None:
        raise UserError(f"data.dir is set, but data={data.kind} reads no folder; add data=folder")
    for key in ("path", "name", "streaming"):
        if data.kind != "hub" and getattr(data, key):
            message = f"data.{key} is set, but data={data.kind} reads no set of the hub"
            raise UserError(f"{message}; add data=hub")


def _check_split(key: str, split: SplitConfig, *, kind: str, needed: bool) -> None:
    """Hold that a split comes as two files, as a table or as a part of a set."""
    if needed and split.source is split.target is split.table is None:
        message = f"{key}.source and {key}.target are null, but data=files needs both"
        raise UserError(f"{message}, or {key}.table")
    if (split.source is None) != (split.target is None):
        given, lacking = ("target", "source") if split.source is None else ("source", "target")
        raise UserError(f"{key}.{lacking} is null, but {key}.{given} is set; give both")
    if split.source is not None and split.table is not None:
        raise UserError(f"{key}.table is set, and so is {key}.source; set one of them to null")
    if split.split is not None and kind != "hub":
        raise UserError(f"{key}.split is set, but data={kind} reads no set; add data=hub")


def _check_test(data: DataConfig) -> None:
    """Hold that the test split is whole, and that gold alignments have pairs to belong to."""
    test = data.test
    _check_split("data.test", test, kind=data.kind, needed=False)
    named = test.source is not None or test.table is not None or data.kind == "hub"
    if test.alignments is not None and not named:
        message = "data.test.alignments is set, but data.test.source and data.test.target are null"
        raise UserError(f"{message}; give the files that it belongs to, or data.test.table=FILE")


def _check_trainer(trainer: TrainerConfig) -> None:
    limits = (trainer.max_updates, trainer.max_epochs, trainer.max_minutes)
    if all(limit is None for limit in limits):
        message = "trainer.max_updates, trainer.max_epochs and trainer.max_minutes are all null"
        raise UserError(f"{message}; set one, or the training never ends")
    if trainer.batch_sentences is trainer.batch_tokens is None:
        message = "trainer.batch_sentences and trainer.batch_tokens are both null"
        raise UserError(f"{message}; set one")
    if trainer.batch_sentences is not None and trainer.accumulate > trainer.batch_sentences:
        message = f"trainer.accumulate={trainer.accumulate} cuts an update of"
        raise UserError(f"{message} trainer.batch_sentences={trainer.batch_sentences} too finely")


def _check_graphs(config: TrainConfig) -> None:
    if pick_device(config.device).type != "cuda":
        raise UserError("trainer.cuda_graphs=true needs a GPU, and there is none; leave it out")
    if config.trainer.dropout_warmup:
        raise UserError(
            f"trainer.dropout_warmup={config.trainer.dropout_warmup}: a recorded pass keeps its "
            "dropout; leave it or trainer.cuda_graphs=true out"
        )
    if isinstance(config.model, RnnsearchConfig) and config.model.reset_after:
        message = "trainer.cuda_graphs=true: the encoder of model.reset_after=true reads padding"
        raise UserError(f"{message}, which fixed shapes need; leave one of them out")


def _check_evaluate(config: EvaluateConfig) -> None:
    data = config.data
    if config.test_set is not None and (
        _leads_elsewhere(config.test_set) or len(Path(config.test_set).parts) != 1
    ):
        message = f"test_set={config.test_set}: expected a plain name"
        raise UserError(f"{message}; it names a folder in the run's evaluations/")
    _check_test(data)
    named = data.test.source is not None or data.test.table is not None
    if data.kind == "files" and not named:
        message = "no test set: data.test.source and data.test.target are null"
        raise UserError(f"{message}; give the two files, or data.test.table=FILE")
    _check_place(data, needed=not named)


def _check_translate(config: TranslateConfig) -> None:
    if config.n_best > config.decode.beam_size:
        message = f"n_best={config.n_best} is more than decode.beam_size={config.decode.beam_size}"
        raise UserError(f"{message}; set decode.beam_size={config.n_best} or more")
    if config.alignments is None and config.alignment_format != "pharaoh":
        message = f"alignment_format={config.alignment_format}, but alignments names no file"
        raise UserError(f"{message}; give alignments=FILE")
    for key, unset in (("plot_format", "png"), ("plot_sheet", 0)):
        value = getattr(config, key)
        if config.plots is None and value != unset:
            raise UserError(f"{key}={value}, but plots names no folder; give plots=FOLDER")


def _check_decode(decode: DecodeConfig) -> None:
    if decode.max_length is decode.max_length_ratio is None:
        message = "decode.max_length and decode.max_length_ratio are both null"
        raise UserError(f"{message}; set one, or a translation may never end")
    if decode.max_length_ratio is not None and decode.min_length_ratio > decode.max_length_ratio:
        message = f"decode.min_length_ratio={decode.min_length_ratio} is more than"
        raise UserError(f"{message} decode.max_length_ratio={decode.max_length_ratio}")


def shown(value: Any) -> str:
    """Return a value as it is typed."""
    if isinstance(value, list):
        return f"[{','.join(map(shown, value))}]"
    words = {None: "null", True: "true", False: "false"}
    return words[value] if value is None or isinstance(value, bool) else str(value)
