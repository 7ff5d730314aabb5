"""The command as a process: Ctrl-C at any moment, pipes and closed streams."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cases_common import IN, QUICK, command, environment, refuse, rnnsearch, succeed

from rnnsearch import runlog
from rnnsearch.cli.main import main
from rnnsearch.errors import UserError
from rnnsearch.interrupts import Interrupts, ending_at_once

# Runs the command after Ctrl-C has been arranged for the moment a module is first asked for.
PRESSED_AT = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from rnnsearch.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rnnsearch.cli.app", ["translate", "run_dir=RUN"]),
        ("hydra", ["train"]),
        ("omegaconf._utils", ["train"]),
        ("hydra.core.override_parser.overrides_visitor", ["train"]),
        ("hydra._internal.hydra", ["translate", "run_dir=RUN"]),
        ("rnnsearch.cli.help", ["train", "--help"]),
        ("rnnsearch.cli.train", ["train"]),
        ("torch", ["translate", "run_dir=RUN"]),
        ("numpy", ["translate", "run_dir=RUN"]),
        *(
            pytest.param(name, ["translate", "run_dir=RUN"], marks=pytest.mark.slow)
            for name in ("torch.nn", "torch.fx", "sentencepiece", "safetensors", "rnnsearch.search")
        ),
    ],
)
def test_ctrl_c_while_the_command_starts(
    name: str, words: list[str], quick_run: Path, tmp_path: Path
) -> None:
    argv = [word.replace("RUN", str(quick_run)) for word in words]
    done = subprocess.run(
        [sys.executable, "-c", PRESSED_AT.format(name=name), *argv],
        capture_output=True, env=environment(), cwd=tmp_path, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr == b"rnnsearch: interrupted\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_ctrl_c_while_the_command_waits_for_a_line(quick_run: Path) -> None:
    process = subprocess.Popen(
        command("translate", f"run_dir={quick_run}", "decode.beam_size=1"), env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"The cat\n")
    process.stdin.flush()
    assert process.stdout.readline().endswith(b"\n")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert err.endswith(b"rnnsearch: interrupted\n")


def test_ctrl_c_ends_at_once_until_the_work_has_begun(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    class Ended(Exception):  # noqa: N818 - stands for the end of the process
        pass

    def end(status: int) -> None:
        raise Ended(status)

    monkeypatch.setattr(os, "_exit", end)
    begun = False
    with ending_at_once(lambda: begun):
        with pytest.raises(Ended, match="130"):
            signal.raise_signal(signal.SIGINT)
        assert capfd.readouterr().err == "rnnsearch: interrupted\n"
        begun = True
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        # A training asks for its own meaning meanwhile.
        interrupts = Interrupts()
        with interrupts.caught():
            signal.raise_signal(signal.SIGINT)
        assert interrupts.received == signal.SIGINT
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_keeps_another_meaning_that_it_has() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as of a job in the background
    try:
        with ending_at_once(lambda: False):
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_command_runs_in_a_thread() -> None:
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(main(["--version"])))
    thread.start()
    thread.join()
    assert found == [0]


# --- pipes and closed streams


def closed_pipe() -> int:
    """Return the end of a pipe that nobody reads."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    return write_end


@pytest.mark.parametrize("words", [["--help"], ["train", "--help"], ["train", "--cfg", "job"]])
def test_a_reader_who_has_left_ends_the_command_quietly(words: list[str]) -> None:
    sink = closed_pipe()
    done = subprocess.run(
        command(*words), stdout=sink, stderr=subprocess.PIPE, env=environment(), timeout=60
    )
    os.close(sink)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.slow
def test_a_reader_of_one_line(quick_run: Path) -> None:
    words = (f"run_dir={quick_run}", "decode.beam_size=1", "decode.batch_sentences=1")
    process = subprocess.Popen(
        command("translate", *words, f"input={IN}/base.train.en"), env=environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline().endswith(b"\n")
    process.stdout.close()
    with process.stderr as messages:
        assert b"Traceback" not in messages.read()
    assert process.wait(60) == 128 + signal.SIGPIPE


def test_messages_to_nobody_change_no_status() -> None:
    sink = closed_pipe()
    words = command("translate", "run_dir=/no/such/run")
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=sink, env=environment(), timeout=60)
    os.close(sink)
    assert (done.returncode, done.stdout) == (2, b"")


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_status(closed: str) -> None:
    words = ["sh", "-c", f'exec "$@" {closed}', "sh", *command("translate", "run_dir=/no/run")]
    done = subprocess.run(words, capture_output=True, env=environment(), timeout=60)
    assert (done.returncode, done.stdout) == (2, b"")


def test_a_translation_to_nowhere_is_refused(
    quick_run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["translate", f"run_dir={quick_run}", f"input={IN}/tiny.en"]) == 2
    message = "rnnsearch: output=-: standard output is closed; give output=FILE\n"
    assert capfd.readouterr().err == message


@pytest.mark.slow
def test_a_translation_with_standard_error_closed(quick_run: Path, tmp_path: Path) -> None:
    words = (f"run_dir={quick_run}", f"input={IN}/tiny.en", f"output={tmp_path}/o")
    run = command("translate", *words, f"plots={tmp_path}/p", "decode.beam_size=1")
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *run], capture_output=True, env=environment()
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert (tmp_path / "o").read_bytes().count(b"\n") == 12


def test_a_name_that_no_encoding_spells_is_escaped_on_standard_error() -> None:
    result = rnnsearch("translate", 'run_dir="/no/b\udcff"')
    assert result.status == 2
    assert result.err == "rnnsearch: run_dir=/no/b\\udcff: there is no such folder\n"
    # Under an ASCII locale the accents of a name come as bytes.
    assert UserError("\udcc3\udca9t\udcc3\udca9\n").args == ("été\\n",)
    # Half of a pair, which no file name gives, ends nothing either.
    assert UserError("\ud800").args == ("\\ud800",)


def test_results_keep_the_bytes_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rnnsearch.cli.main.HELP", "b\udcff \ud800 é\n")
    done: list[bytes] = []
    read_end, write_end = os.pipe()
    with open(write_end, "w", encoding="ascii") as stream:  # noqa: PTH123 - a pipe has no path
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["--help"]) == 0
    with open(read_end, "rb") as stream_read:  # noqa: PTH123
        done.append(stream_read.read())
    assert done == [b"b\xff \\ud800 " + "é\n".encode()]


def test_a_run_that_is_named_without_its_key(quick_run: Path) -> None:
    words = (str(quick_run), f"{quick_run}: expected KEY=VALUE", f"write run_dir={quick_run}")
    refuse("evaluate", words[0], words=words[1:], status=(2,))


def test_a_run_that_is_not_there_is_told_with_those_that_are(quick_run: Path) -> None:
    wrong = quick_run.with_name(quick_run.name + "s")
    refuse("translate", f"run_dir={wrong}", words=(f"did you mean '{quick_run.name}'?",))
    wrong = quick_run.with_name("0")
    refuse("translate", f"run_dir={wrong}", words=(f"{quick_run.parent} holds the runs ",))
    told = refuse("translate", f"run_dir={quick_run}", "checkpoint=bets", words=("'best'",))
    assert "did you mean" in told


def test_a_training_without_a_terminal_tells_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = succeed("train", *QUICK, f"run_dir={tmp_path / 'quiet'}").err
    assert "training: " not in quiet
    monkeypatch.setattr(runlog, "PLAIN_SECONDS", 0.0)
    words = ("train", *QUICK, f"run_dir={tmp_path / 'run'}")
    told = succeed(*words, "trainer.max_updates=4").err.split("\n")
    lines = [line for line in told if line.startswith("training: ")]
    assert len(lines) == 4
    assert re.fullmatch(
        r"training: 50%, update 2, epoch 0\.67, loss \d\.\d{3}, ppl [\d.]+, tokens/s \d+, "
        r"\d\d:\d\d left",
        lines[1],
    )
    told = succeed(*words, "trainer.max_updates=8").err.split("\n")
    assert [line.split(",")[0] for line in told if line.startswith("training: ")] == [
        "training: 62%", "training: 75%", "training: 88%", "training: 100%"
    ]  # fmt: skip
    assert "training: " not in (tmp_path / "run" / "train.log").read_text("utf-8")
