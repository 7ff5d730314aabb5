"""Copies of a run folder with changes: to translate with, to score, to go on training in."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import datasets
import torch
import yaml
from safetensors.torch import load_file

from fuzzing.formats import change_model, change_tensors
from fuzzing.mutations import change_tree, mutate, to_json
from fuzzing.outcomes import Case, command, command_refused, hold, refused
from fuzzing.preparing import DONE, UPDATES, settings
from rnnsearch import Translator
from rnnsearch.errors import UserError

LINES = ["The cat sees a green apple today.", "The dog sees the cat in the garden."]
RUNS = ("bpe", "bpe", "silent", "word", "learned", "bytes")


class Copy(NamedTuple):
    """The copy of a run, the run's name, and the names of the parts that were changed."""

    path: Path
    name: str
    changed: list[str]


class RunFolder:
    """Copies of the small runs with one or more files changed.

    Args:
        folder: of the whole work.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs = folder / "runs"
        self.expected = {
            (name, point): _texts(Translator.load(self.runs / name, point, device="cpu"))
            for name in {*RUNS}
            for point in ("best", "last", "averaged")
        }
        self.straight = load_file(self.runs / "straight/checkpoints/last/model.safetensors")
        self.kinds: tuple[Callable[[Case, Copy], bool], ...] = (
            *(self.load,) * 8, self.translate, self.evaluate, self.resume, self.resume,
        )  # fmt: skip

    def run(self, case: Case) -> bool:
        """Change a copy, use it, and look whether anything beside it was touched."""
        datasets.config.HF_DATASETS_CACHE = case.place / "cache"
        chance = case.chance
        kind = chance.choice(self.kinds)
        name = "bpe" if kind == self.resume else chance.choice(RUNS)
        copy, beside = case.place / "copy", case.place / "beside"
        shutil.copytree(self.runs / name, copy, symlinks=True)
        (copy / DONE).unlink()
        beside.mkdir()
        (beside / "kept.tmp").write_text("kept")
        os.chdir(beside)
        case.note(f"{kind.__name__} {name}")
        changed = [_change(copy, beside, case) for _ in range(chance.choice((1, 1, 1, 2)))]
        try:
            return kind(case, Copy(copy, name, changed))
        finally:
            left = {str(path.relative_to(beside)) for path in beside.rglob("*")}
            hold(left == {"kept.tmp"}, f"files beside the run: {left}")
            hold((beside / "kept.tmp").read_text() == "kept", "a file beside the run was changed")
            hold(
                {path.name for path in case.place.iterdir()} <= {"copy", "beside", "cache", "out"},
                "more files",
            )

    def load(self, case: Case, copy: Copy) -> bool:
        """Load a translator from Python."""
        point = case.chance.choice(("best", "last", "averaged"))
        case.note(point)
        try:
            translator = Translator.load(copy.path, point, device="cpu")
            texts = _texts(translator)
        except UserError as error:
            return refused(error, case, [copy.path, *_keys(copy.changed), "line "])
        for model in translator.models:
            finite = all(bool(tensor.isfinite().all()) for tensor in model.state_dict().values())
            hold(finite, "weights that are not finite")
        self._check_texts(copy, point=point, texts=texts)
        return True

    def _check_texts(self, copy: Copy, *, point: str, texts: list[str]) -> None:
        """Hold that what does not belong to the weights of a checkpoint changes no translation."""
        mine = os.path.realpath(copy.path / "checkpoints" / point)
        free = {
            "config.yaml",
            str(Path(mine, "model.safetensors").relative_to(copy.path)),
            "tokenizer",
        }
        free |= {f"checkpoints/{point}", str(Path(mine).relative_to(os.path.realpath(copy.path)))}
        silent = not _tells(Path(mine, "model.safetensors"))
        if any(part in free or (silent and part.startswith("tokenizer/")) for part in copy.changed):
            return
        before = self.expected[copy.name, point]
        hold(
            texts == before,
            f"other translations after a change in {', '.join(copy.changed)}: {texts}",
        )

    def translate(self, case: Case, copy: Copy) -> bool:
        """Translate by the command."""
        source = self.folder / "corpus" / "test.en"
        output = case.place / "out"
        ended = command(
            case, "translate", f"run_dir={copy.path}", f"input={source}", f"output={output}",
            "device=cpu", f"checkpoint={case.chance.choice(('best', 'last', '[best,last]'))}",
        )  # fmt: skip
        if ended.status:
            return command_refused(ended, case, [copy.path, *_keys(copy.changed), "line "])
        hold(output.read_bytes().count(b"\n") == 5, "another number of lines")
        return True

    def evaluate(self, case: Case, copy: Copy) -> bool:
        """Score by the command."""
        ended = command(
            case, "evaluate", f"run_dir={copy.path}", "bootstrap=10", "device=cpu", "ter=false",
        )  # fmt: skip
        if ended.status:
            return command_refused(ended, case, [copy.path, *_keys(copy.changed), "line "])
        hold(b"BLEU" in ended.out, f"no table: {ended.out[:200]!r}")
        json.loads((copy.path / "evaluation.json").read_bytes())
        return True

    def resume(self, case: Case, copy: Copy) -> bool:
        """Go on with the training."""
        words = [*settings(self.folder, "bpe"), f"trainer.max_updates={UPDATES + 2}"]
        ended = command(case, "train", *words, f"run_dir={copy.path}")
        if ended.status:
            return command_refused(ended, case, [copy.path, *_keys(copy.changed)])
        told = ended.err.decode()
        case.note(told[-1500:])
        hold("Traceback" not in told, "a traceback")
        last = copy.path / "checkpoints/last"
        weights = load_file(last / "model.safetensors")
        finite = all(bool(tensor.isfinite().all()) for tensor in weights.values())
        hold(finite, "weights that are not finite")
        Translator.load(copy.path, "last", device="cpu")
        matters = ("checkpoints", "checkpoints/last", "checkpoints/step-14")
        if not any(
            part in matters or part.startswith("checkpoints/step-14/") for part in copy.changed
        ):
            equal = all(torch.equal(weights[key], self.straight[key]) for key in self.straight)
            hold(
                equal or "config.yaml" in copy.changed,
                f"other weights after a change in {copy.changed}",
            )
        return True


def _texts(translator: Translator) -> list[str]:
    return [one.text for one in translator.translate(LINES, alignments=False)]


def _tells(path: Path) -> bool:
    """Tell whether weights say what they belong to."""
    from rnnsearch.checkpoint import load_about

    return bool(load_about(path))


def _keys(changed: list[str]) -> list[str]:
    """Return what else a message may name: keys of what was changed."""
    keys = ["checkpoint=", "run_dir="]
    if "config.yaml" in changed:
        keys += [
            "decode.",
            "data.",
            "test set",
            "trainer.",
            "model.",
            "tokenizer",
            "seed",
            "resume",
        ]
        keys += ["optimizer", "scheduler", "start_from", "device", "name", "schema"]
    if any("state.json" in name for name in changed):
        keys += ["data.", "update ", "trainer."]
    return keys


def _change(copy: Path, beside: Path, case: Case) -> str:
    """Change one file or folder of a run; return its name in the run."""
    chance = case.chance
    every = [path for path in sorted(copy.rglob("*")) if path.exists() or path.is_symlink()]
    files = [path for path in every if path.is_file() and not _through_link(path, copy)]
    wanted = ("config.yaml", ".model", ".words", "state.json", "model.safetensors")
    wanted = [path for path in files if path.name.endswith(chance.choice(wanted))]
    path = chance.choice(wanted or files) if chance.random() < 0.7 else chance.choice(files)
    if chance.random() < 0.12:
        path = chance.choice([path for path in every if not _through_link(path, copy)])
        _replace(path, copy, beside, chance)
        what = "replaced"
    elif chance.random() < 0.12:
        other = chance.choice([one for one in files if one.name == path.name])
        path.write_bytes(other.read_bytes())
        what = f"that of {other.relative_to(copy)}"
    else:
        path.write_bytes(_content(path, chance))
        what = "changed"
    name = str(path.relative_to(copy))
    case.note(f"{name}: {what}")
    return name


def _through_link(path: Path, copy: Path) -> bool:
    return any(folder.is_symlink() for folder in path.parents if folder.is_relative_to(copy))


def _replace(path: Path, copy: Path, beside: Path, chance: random.Random) -> None:
    """Put something else in the place of a file, a folder or a link."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()
    match chance.randrange(7):
        case 0:
            path.mkdir()
        case 1:
            os.mkfifo(path)
        case 2:
            path.write_bytes(b"")
        case 3:
            path.symlink_to(
                chance.choice((beside, beside / "kept.tmp", "/dev/zero", "/etc/passwd"))
            )
        case 4:
            path.symlink_to(
                chance.choice((path.name, "nowhere", ".", "..", "step-4", "config.yaml"))
            )
        case 5:
            path.symlink_to(os.path.relpath(chance.choice(sorted(copy.rglob("*"))), path.parent))


def _content(path: Path, chance: random.Random) -> bytes:
    """Return the changed content of a file."""
    content = path.read_bytes()
    if chance.random() < 0.4:
        return mutate(content, chance)
    try:
        match path.suffix:
            case ".safetensors":
                return change_tensors(content, chance)
            case ".model":
                return change_model(content, chance)
            case ".json":
                return to_json(change_tree(json.loads(content), chance))
            case ".yaml":
                return to_json(change_tree(yaml.safe_load(content), chance))
            case ".jsonl":
                rows = [json.loads(line) for line in content.split(b"\n") if line]
                rows[chance.randrange(len(rows))] = change_tree(chance.choice(rows), chance)
                return b"".join(to_json(row).replace(b"\n", b"") + b"\n" for row in rows)
    except (ValueError, LookupError):  # changed before
        pass
    return mutate(content, chance)
