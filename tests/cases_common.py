"""What the tests of the cases share: their command lines, and running one in this process."""

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file
from torch import Tensor

from rnnsearch import checkpoint as files
from rnnsearch.cli.main import main

IN = Path(__file__).resolve().parent / "cases"

BASE = (
    "data=files",
    f"data.train.source={IN}/base.train.en",
    f"data.train.target={IN}/base.train.fr",
    f"data.valid.source={IN}/base.valid.en",
    f"data.valid.target={IN}/base.valid.fr",
)
SMALL = (
    *("device=cpu", "seed=1", "data.max_length=200", "tokenizer=unigram"),
    *("tokenizer.vocab_size=50", "tokenizer.joint=false", "tokenizer.byte_fallback=false"),
    *("model=rnnsearch", "model.embedding_size=16", "model.hidden_size=32"),
    *("model.maxout_size=16", "model.alignment_size=null", "model.dropout=0.2"),
    "trainer.label_smoothing=0",
    *("optimizer=adam", "optimizer.lr=0.01", "scheduler=constant"),
    *("trainer.batch_sentences=4", "trainer.batch_tokens=null", "trainer.max_updates=40"),
    *("trainer.max_epochs=null", "trainer.max_minutes=null", "trainer.patience=null"),
    *("trainer.valid_every=10", "trainer.save_every=10", "trainer.precision=fp32"),
    "decode.beam_size=1",
)
TINY = (*SMALL, *BASE)
FROZEN = "optimizer.lr=1e-30"  # legal, yet no weight, loss or score moves
TEST = (f"data.test.source={IN}/base.test.en", f"data.test.target={IN}/base.test.fr")
TWELVE = (
    f"data.train.source={IN}/tiny.en",
    f"data.train.target={IN}/tiny.fr",
    f"data.valid.source={IN}/tiny.en",
    f"data.valid.target={IN}/tiny.fr",
)
# Twelve pairs in batches of 4 are epochs of 3 updates, and validations take no time: for what the
# cases want to hold anywhere, not only at their own numbers.
QUICK = (
    *(*TINY, *TWELVE, "tokenizer.vocab_size=40", "decode.max_length=8"),
    *("trainer.max_updates=14", "trainer.valid_every=4", "trainer.save_every=2"),
    "trainer.log_every=1",
)
STRAIGHT = [4, 8, 12, 14]  # where QUICK validates: every 4 updates, and at its end
MARKS = re.compile("</?s>|<unk>|<pad>|\u2581|\u2047")


class Result(NamedTuple):
    """How a command ended and what it wrote."""

    status: int
    out: str
    err: str


def rnnsearch(*argv: str | Path) -> Result:
    """Run a command line in this process, with one thread as in a process of the tests."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = main([str(word) for word in argv])
    finally:
        torch.set_num_threads(threads)
    texts = []
    for stream in (out, err):
        stream.seek(0)
        texts.append(stream.read())
    return Result(status, *texts)


def succeed(*argv: str | Path) -> Result:
    """Run a command line that has to end well."""
    result = rnnsearch(*argv)
    assert result.status == 0, result.err
    return result


def refuse(*argv: str | Path, words: tuple[Any, ...], status: tuple[int, ...] = (1, 2)) -> str:
    """Run a command line that has to be refused in one line; return the line."""
    return check_refused(rnnsearch(*argv), words=words, status=status)


def check_refused(
    result: Result, *, words: tuple[Any, ...], status: tuple[int, ...] = (1, 2)
) -> str:
    """Hold what the cases mean by refused: one line that holds `words`, and nothing else."""
    assert result.status in status, result
    assert result.out == ""
    lines = result.err.removesuffix("\n").split("\n")
    assert len(lines) == 1, result.err
    for word in words:
        assert str(word) in lines[0]
    return lines[0]


def command(*argv: str | Path) -> list[str]:
    """Return the words that start a command in a process of its own."""
    return [sys.executable, "-m", "rnnsearch", *map(str, argv)]


def environment() -> dict[str, str]:
    """Return the environment of such a process."""
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def in_process(*argv: str | Path, stdin: bytes = b"") -> Result:
    """Run a command line in a process of its own."""
    done = subprocess.run(
        command(*argv), input=stdin, capture_output=True, env=environment(), timeout=600
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def weights(run_dir: Path, checkpoint: str = "last", *, of: str = "model") -> dict[str, Tensor]:
    """Return the tensors of a checkpoint: of the model, or of the optimizer."""
    return load_file(run_dir / "checkpoints" / checkpoint / f"{of}.safetensors")


def same_weights(one: Path, other: Path, *, of: str = "model") -> bool:
    """Return whether the last checkpoints of two runs are bit-equal."""
    a, b = (weights(run, of=of) for run in (one, other))
    return a.keys() == b.keys() and all(
        torch.equal(*(t[name].flatten().view(torch.uint8) for t in (a, b))) for name in a
    )


def records(run_dir: Path, kind: str) -> Iterator[dict[str, Any]]:
    """Yield the records of `metrics.jsonl` of one kind."""
    for line in (run_dir / "metrics.jsonl").read_bytes().split(b"\n"):
        if line:
            record = json.loads(line)
            if record["kind"] == kind:
                yield record


def validations(run_dir: Path) -> list[int]:
    """Return the updates of the validations on record."""
    return [record["update"] for record in records(run_dir, "validation")]


def losses(run_dir: Path) -> dict[tuple[str, int], float]:
    """Return every loss on record."""
    return {
        (kind, record["update"]): record["loss"]
        for kind in ("train", "validation")
        for record in records(run_dir, kind)
    }


def state(run_dir: Path, checkpoint: str = "last") -> dict[str, Any]:
    """Return the `state.json` of a checkpoint."""
    found: dict[str, Any] = json.loads(
        (run_dir / "checkpoints" / checkpoint / "state.json").read_bytes()
    )
    return found


def lines_of(path: Path) -> list[str]:
    """Return the lines of a file, each of which has to end with LF."""
    *lines, rest = path.read_bytes().decode().split("\n")
    assert rest == ""
    return lines


def translate(run_dir: Path, lines: list[str], folder: Path, *overrides: str) -> list[str]:
    """Translate `lines` through files in `folder`."""
    source, output = folder / "lines.src", folder / "lines.out"
    source.write_bytes("".join(line + "\n" for line in lines).encode())
    words = ("decode.beam_size=1", *overrides, f"input={source}", f"output={output}")
    succeed("translate", f"run_dir={run_dir}", *words)
    return lines_of(output)


def evaluation(run_dir: Path) -> dict[str, Any]:
    """Return the latest `evaluation.json`."""
    found: dict[str, Any] = json.loads((run_dir / "evaluation.json").read_bytes())
    return found


def sacrebleu(reference: Path, hypotheses: Path) -> str:
    """Return what the `sacrebleu` command prints, BLEU with two decimals."""
    words = [sys.executable, "-m", "sacrebleu", str(reference), "-i", str(hypotheses)]
    done = subprocess.run([*words, "-b", "-w", "2"], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def check_equal(resumed: Path, straight: Path) -> None:
    """Hold that a run that was stopped equals the one that never was."""
    assert same_weights(resumed, straight)
    assert same_weights(resumed, straight, of="optimizer")
    a, b = losses(resumed), losses(straight)
    assert {key: a[key] for key in a.keys() & b.keys()} == {
        key: b[key] for key in a.keys() & b.keys()
    }
    assert len(validations(resumed)) == len(set(validations(resumed)))
    assert set(validations(straight)) <= set(validations(resumed))
    one, other = state(resumed), state(straight)
    for changing in ("elapsed_seconds", "meter", "recent"):  # `recent` is trainer.average's
        one.pop(changing), other.pop(changing)
    if validations(resumed) == validations(straight):
        assert one == other
    names = {path.name for path in (resumed / "checkpoints").iterdir()}
    assert {n for n in names if not files.STEP.fullmatch(n)} <= {"last", "best", "averaged"}
    assert (resumed / "checkpoints" / "last" / "model.safetensors").is_file()
    assert (resumed / "checkpoints" / "best" / "model.safetensors").is_file()


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit the values of a JSON file."""
    values = json.loads(path.read_bytes())
    edit(values)
    path.write_text(json.dumps(values))


def check_links(run: Path) -> None:
    """Hold that `last` and `best` lead to whole checkpoints, once there are any."""
    for name in ("last", "best"):
        link = run / "checkpoints" / name
        if link.is_symlink():
            assert load_file(link / "model.safetensors")
            assert state(run, name)["format"] == files.FORMAT
