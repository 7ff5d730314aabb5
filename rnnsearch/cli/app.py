"""The sub-commands as Hydra applications.

Hydra composes and shows; the work is done after it has returned. So every job of a sweep is
checked before the first one starts, an error keeps its own traceback, and neither Hydra's
folders nor its change of the working directory touch the work.
"""

import contextlib
import importlib
import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, cast

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig, ListConfig, OmegaConf

from rnnsearch.cli.jobs import ROOTS, Job, configure
from rnnsearch.cli.messages import COMPOSITION_ERRORS, as_user_error, configs_missing
from rnnsearch.cli.options import Options, read_options
from rnnsearch.config import KINDS
from rnnsearch.errors import UserError
from rnnsearch.launch import check_launch
from rnnsearch.plain import MISSING, fields_of, system_path
from rnnsearch.validation import load_config


def run_command(command: str, argv: list[str]) -> int:
    """Run a sub-command and return its exit status.

    Args:
        command: `train`, `evaluate` or `translate`.
        argv: the words after it.

    Raises:
        UserError: the command line is at fault, or the work failed.
    """
    root = ROOTS[command]
    options = read_options(argv, root=root)
    check_launch(command, sweep=options.sweep)
    if importlib.util.find_spec("rnnsearch.configs") is None:
        raise configs_missing()
    _store_schemas()
    if command != "train":
        _store_run(command, options)
    try:
        jobs = compose(command, options)
    except COMPOSITION_ERRORS as error:
        raise as_user_error(error, root=root) from error
    configs = [configure(root, job) for job in jobs]
    if not configs:
        return 0
    body = importlib.import_module(f"rnnsearch.cli.{command}")
    if not options.sweep:
        body.run(configs[0])
        return 0
    return _run_each(body, configs)


def _run_each(body: Any, configs: list[Any]) -> int:
    """Run the jobs of a sweep; one that fails does not stop the others."""
    status = 0
    for config in configs:
        try:
            body.run(config)
        except UserError as error:
            print(f"rnnsearch: {config.run_dir}: {error}", file=sys.stderr)
            status = status or error.status
    return status


def _store_schemas() -> None:
    """Give Hydra the schemas, under the names of their classes."""
    store = ConfigStore.instance()
    for cls in (*ROOTS.values(), *(cls for kinds in KINDS.values() for cls in kinds.values())):
        store.store(name=cls.__name__, node=cls)


def _store_run(command: str, options: Options) -> None:
    """Give Hydra, as the node `run`, the settings that the command takes over from the run."""
    groups = ("data", "decode") if command == "evaluate" else ("decode",)
    hints = fields_of(ROOTS[command])
    node = {name: _unset(hints[name]) for name in groups}
    if options.run_dirs or options.runs:
        # Of several runs that are compared, the first says what they are compared on.
        config, *_ = [load_config(path) for path in _run_folders(command, options.run_dirs)]
        node = {name: _literal(asdict(getattr(config, name))) for name in groups}
        if "data" in groups:
            node["data"]["test"] |= dict.fromkeys(_replaced(options.typed))
    ConfigStore.instance().store(name="run", node=node)


def _replaced(typed: frozenset[str]) -> tuple[str, ...]:
    """Return the keys of the run's test set that do not count beside those that were typed.

    What is typed names a test set as a whole, so nothing of another one may be left in it; gold
    alignments alone name none, and belong to the run's.
    """
    named = typed - {"data.test.alignments"}
    if any(key == "data.test" or key.startswith("data.test.") for key in named):
        return ("source", "target", "table", "split", "alignments")
    # Files would come before the folder or the set.
    files = ("source", "target", "table", "alignments")
    return files if typed & {"data.dir", "data.path", "data.name"} else ()


def _unset(hint: Any) -> Any:
    """Return a group without values, for `--cfg job` before a run is named."""
    if not is_dataclass(hint):
        return MISSING
    return {name: _unset(inner) for name, inner in fields_of(hint).items()}


def _run_folders(command: str, run_dirs: tuple[str, ...]) -> list[Path]:
    if not run_dirs:
        raise UserError(f"run_dir is missing: rnnsearch {command} run_dir=runs/NAME")
    for run_dir in run_dirs:
        if run_dir in ("None", ""):
            raise UserError(f"run_dir={run_dir}: expected the folder of a run, not null")
    return [Path(system_path(run_dir)) for run_dir in run_dirs]


def _literal(value: Any) -> Any:
    """Return plain values in which OmegaConf finds no interpolation: a path may hold ``${``."""
    if isinstance(value, dict):
        return {key: _literal(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_literal(item) for item in value]
    if isinstance(value, str):
        return re.sub(r"(\\*)\$\{", r"\1\1\\${", value)
    return value


def compose(command: str, options: Options) -> list[Job]:
    """Return the composed jobs; none if Hydra only shows something."""
    jobs: list[Job] = []
    failures: list[Exception] = []

    @hydra.main(version_base="1.3", config_path="pkg://rnnsearch.configs", config_name=command)
    def collect(config: DictConfig) -> None:
        # Hydra would report an error of the task with a line of its own.
        try:
            jobs.append(_job(config, options))
        except COMPOSITION_ERRORS as error:
            failures.append(error)

    with contextlib.ExitStack() as stack:
        overrides = list(options.overrides)
        if options.sweep:
            # Hydra writes a record of the sweep; the jobs' own config.yaml say the same.
            scratch = stack.enter_context(tempfile.TemporaryDirectory())
            overrides.append(f'hydra.sweep.dir="{scratch}"')
        stack.enter_context(_process(["rnnsearch", *options.flags, *overrides]))
        try:
            collect()
        except SystemExit as end:
            if end.code not in (0, None):
                raise
    if failures:
        raise failures[0]
    return jobs


def _job(config: DictConfig, options: Options) -> Job:
    values = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    chosen = HydraConfig.get()
    experiment = chosen.runtime.choices.get("experiment")
    name = "+".join(experiment) if isinstance(experiment, ListConfig) else experiment
    words = [word.lstrip("+").partition("=") for word in chosen.overrides.task]
    pairs = [
        f"{key}={value.strip(chr(34) + chr(39))}" for key, _, value in words if key in options.swept
    ]
    return Job(values=values, experiment=name, swept=tuple(pairs), given=options.typed)


@contextlib.contextmanager
def _process(argv: list[str]) -> Iterator[None]:
    """Lend Hydra the command line that it is to see, and have it raise its errors."""
    before, full = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv = argv
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        yield
    finally:
        sys.argv = before
        if full is None:
            del os.environ["HYDRA_FULL_ERROR"]
        else:
            os.environ["HYDRA_FULL_ERROR"] = full
