"""`rnnsearch translate` at a terminal."""

import contextlib
import dataclasses
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cases_common import IN, command, environment, lines_of, succeed

from rnnsearch.cli import translate as command_module
from rnnsearch.cli.interactive import HELP, PROMPT, converse
from rnnsearch.cli.rows import Words
from rnnsearch.reach import LONGEST
from rnnsearch.text import Tokenizers
from rnnsearch.translator import Translator

LINE = "The cat sees a dog."
SEARCH = ("decode.beam_size=1", "decode.max_length=20")

Typed = str | type[BaseException] | BaseException


@pytest.fixture
def translator(base_run: Path) -> Translator:
    return Translator.load(base_run, device="cpu")


@pytest.fixture
def talk(
    base_run: Path, translator: Translator, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[list[str], list[str]]]:  # fmt: skip
    """Return what types lines and returns those of both streams, without the greeting."""
    monkeypatch.setenv("COLUMNS", "200")

    def typing(
        *typed: Typed, n_best: int = 1, encoding: str = "utf-8"
    ) -> tuple[list[str], list[str]]:
        left = list(typed)

        def read(prompt: str) -> str:
            assert prompt == PROMPT
            one = left.pop(0) if left else EOFError
            if isinstance(one, str):
                return one
            raise one

        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(encoding=encoding))
        decode = types.SimpleNamespace(beam_size=1)
        config: Any = types.SimpleNamespace(run_dir=str(base_run), n_best=n_best, decode=decode)
        converse(config, translator, checkpoints=["step-40"], read=read)
        out, err = capsys.readouterr()
        greeting, *lines = out.split("\n")
        assert greeting.startswith(f"{base_run} (step-40), en to fr, beam 1. Type a sentence; ")
        assert lines.pop() == ""
        return lines, err.split("\n")[:-1]

    return typing


def test_a_line_is_translated_and_its_attention_drawn(talk: Any, translator: Translator) -> None:
    lines, told = talk(LINE, "", "  ", "\u3000", ":q")
    best = translator.translate([LINE])[0]
    assert lines[:3] == [best.text, "", lines[2]]
    assert lines[2].split() == LINE.split()
    assert [line.split()[0] for line in lines[3:-1]] == best.text.split()
    assert set("".join(lines[3:-1])) & set("░▒▓█")
    assert lines[-1] == ""
    assert told == []


def test_both_ways_to_leave(talk: Any) -> None:
    assert talk(":q", LINE) == ([], [])
    assert talk(":quit", LINE) == ([], [])
    assert talk(EOFError, LINE) == ([""], [])


def test_ctrl_c_gives_up_a_line_and_no_more(talk: Any, translator: Translator) -> None:
    lines, told = talk(":attention off", KeyboardInterrupt, LINE, ":q")
    assert lines == ["", translator.translate([LINE])[0].text]
    assert told == []


def test_ctrl_c_stops_a_translation_and_no_more(
    talk: Any, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = translator.translate([LINE])[0].text
    usual = translator.translate_n_best

    def once(*words: Any, **named: Any) -> Any:
        monkeypatch.setattr(translator, "translate_n_best", usual)
        raise KeyboardInterrupt

    monkeypatch.setattr(translator, "translate_n_best", once)
    assert talk(":attention off", LINE, LINE, ":q") == (["", text], [])


def test_commands(talk: Any, translator: Translator) -> None:
    text = translator.translate([LINE])[0].text
    lines, told = talk(":help", ":attention off", LINE, ":attention  on ", LINE, ":q ")
    shown = HELP.removesuffix("\n").split("\n")
    assert lines[: len(shown)] == shown
    assert lines[len(shown) : len(shown) + 3] == [text, text, ""]
    assert told == []
    assert max(map(len, shown)) < 100


@pytest.mark.parametrize("line", [":nono", ":attention", ":attention maybe", ":q now", ":help me"])
def test_what_is_no_command_is_told(talk: Any, line: str) -> None:
    expected = f"rnnsearch: {line}: expected :attention on, :attention off, :help or :q"
    assert talk(line, ":q") == ([], [expected])


def test_a_sentence_may_begin_like_a_command(talk: Any, translator: Translator) -> None:
    typed = [" :q", ":) a dog.", ": a dog."]
    texts = [found.text for found in translator.translate(typed)]
    assert talk(":attention off", *typed) == ([*texts, ""], [])


def test_what_is_pasted_at_once_is_taken_line_by_line(talk: Any, translator: Translator) -> None:
    texts = [found.text for found in translator.translate([LINE, "A dog."])]
    pasted = f"{LINE}\r\n\nA dog.\n:q\n{LINE}"
    assert talk(":attention off", pasted, LINE) == (texts, [])


def test_rows_of_several_translations(
    talk: Any, translator: Translator, base_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text(f"{LINE}\nA dog.\n")
    words = ("n_best=3", "decode.beam_size=5", f"input={tmp_path}/in", f"output={tmp_path}/o")
    succeed("translate", f"run_dir={base_run}", *words)
    translator.options = dataclasses.replace(translator.options, beam_size=5)
    lines, told = talk(":attention off", LINE, "", "A dog.", ":q", n_best=3)
    assert lines == lines_of(tmp_path / "o")
    assert told == []


def test_an_error_is_told_and_the_next_line_asked_for(talk: Any, translator: Translator) -> None:
    text = translator.translate([LINE])[0].text
    long = "a " * (LONGEST + 1)
    lines, told = talk(":attention off", long, "a\udcff", LINE, ":q")
    assert lines == [text]
    assert told[0].startswith("rnnsearch: the line has ")
    assert told[0].endswith("split it into sentences")
    assert told[1:] == ["rnnsearch: the line is not valid utf-8; set terminal and locale to UTF-8"]


def test_a_byte_that_is_no_text_is_told(talk: Any) -> None:
    bad = UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")
    assert talk(bad, ":q")[1] == [
        "rnnsearch: the line is not valid utf-8; set terminal and locale to UTF-8"
    ]


def test_nothing_that_is_printed_moves_the_cursor(
    talk: Any, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = translator.translate_n_best

    def hostile(*words: Any, **named: Any) -> Any:
        found = usual(*words, **named)
        return [[one._replace(text="\x1b[2J" + one.text + "\x07") for one in row] for row in found]

    monkeypatch.setattr(translator, "translate_n_best", hostile)
    monkeypatch.setattr(
        "rnnsearch.cli.interactive.words_of",
        lambda _, best: Words(
            [("\x1b[31m\u2028", len(best.source_pieces) - 1)],
            [("\x9b1A", len(best.target_pieces))],
        ),
    )
    lines, told = talk("A dog \x9b.", ":a\x1b[2J", ":q")
    assert lines[0].startswith("\\x1b[2J")
    assert lines[0].endswith("\\x07")
    assert lines[2].strip() == r"\x1b[31m\u2028"
    assert lines[3].split()[0] == r"\x9b1A"
    assert told[0].startswith(r"rnnsearch: :a\x1b[2J: expected")
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in "".join([*lines, *told]))


def test_a_terminal_of_another_encoding_gets_numbers_and_escapes(
    talk: Any, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = translator.translate_n_best

    def accented(*words: Any, **named: Any) -> Any:
        found = usual(*words, **named)
        return [[one._replace(text="é猫") for one in row] for row in found]

    monkeypatch.setattr(translator, "translate_n_best", accented)
    lines, _ = talk(LINE, ":q", encoding="ascii")
    assert lines[0] == r"\xe9\u732b"
    assert "".join(lines).isascii()
    assert any(character.isdecimal() for line in lines[3:] for character in line)


def test_the_picture_fits_the_terminal(talk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    lines, _ = talk("The cat sees a dog and a man and a dog.", ":q")
    assert max(map(len, lines[2:])) <= 24


def test_unknown_words_are_told(
    word_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    translator = Translator.load(word_run, device="cpu")
    lines = lines_of(IN / "base.test.en")
    found = [one for one in translator.translate(lines) if one.unknown]
    line = lines[[one.unknown > 0 for one in translator.translate(lines)].index(True)]
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(encoding="utf-8"))
    config: Any = types.SimpleNamespace(
        run_dir=str(word_run), n_best=1, decode=types.SimpleNamespace(beam_size=1)
    )
    typed = iter([line, ":q"])
    converse(config, translator, checkpoints=[], read=lambda _: next(typed))
    out, err = capsys.readouterr()
    assert out.split("\n")[1] == found[0].text
    assert err == (
        "rnnsearch: unknown words left out (replace_unk=true puts source words there): "
        f"{found[0].unknown}\n"
    )


def test_a_model_without_attention_shows_none(
    talk: Any, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = translator.translate([LINE])[0].text
    monkeypatch.setattr(Translator, "attends", False)
    lines, told = talk(LINE, ":attention on", ":attention off", LINE, ":q")
    assert lines == [text, text]
    assert told == ["rnnsearch: :attention on: model=rnnencdec has no attention"]


def test_attention_of_too_many_weights_is_told(
    talk: Any, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = translator.translate([LINE])[0].text
    monkeypatch.setattr("rnnsearch.translation.MAX_WEIGHTS", 3)
    lines, told = talk(LINE, ":q")
    assert lines == [text]
    assert told == ["rnnsearch: no attention is kept of so long a line; split it into sentences"]


# --- when it is


@pytest.mark.parametrize(
    ("ends", "changed", "asked"),
    [
        ((True, True), {}, True),
        ((False, True), {}, False),
        ((True, False), {}, False),
        ((True, True), {"input": "a.en"}, False),
        ((True, True), {"output": "a.fr"}, False),
        ((True, True), {"alignments": "a.align"}, False),
        ((True, True), {"plots": "pictures"}, False),
        ((None, True), {}, False),
        ((True, None), {}, False),
    ],
)
def test_it_is_asked_for_by_a_terminal_at_both_ends(
    ends: tuple[bool | None, bool | None], changed: dict[str, str], asked: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name, terminal in zip(("stdin", "stdout"), ends, strict=True):
        stream = None if terminal is None else types.SimpleNamespace(isatty=lambda t=terminal: t)
        monkeypatch.setattr(sys, name, stream)
    usual = {"input": "-", "output": "-", "alignments": None, "plots": None}
    config: Any = types.SimpleNamespace(**{**usual, **changed})
    assert command_module._by_hand(config) is asked


# --- with a terminal


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, *words: str, environment_: dict[str, str]) -> None:
        self._end, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        # Ctrl-C reaches a process whose controlling terminal this is.
        attach = (
            "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
            "os.execv(sys.argv[1], sys.argv[1:])"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", attach, *command(*words)],
            stdin=inner, stdout=inner, stderr=inner, start_new_session=True, env=environment_,
        )  # fmt: skip
        os.close(inner)

    def type(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def wait_for(self, sign: str, *, seconds: float = 120) -> str:
        """Return what comes until a sign has come, or the end."""
        found = b""
        limit = time.monotonic() + seconds
        while sign.encode() not in found and time.monotonic() < limit:
            if select.select([self._end], [], [], 0.2)[0]:
                try:
                    found += os.read(self._end, 1 << 16)
                except OSError:  # the other side is closed
                    break
        return found.decode().replace("\r\n", "\n")

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        os.close(self._end)


@pytest.fixture
def terminal(quick_run: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def start(*words: str, **changed: str) -> Terminal:
        usual = {**environment(), "TERM": "dumb", "INPUTRC": os.devnull}
        usual.pop("COLUMNS", None)
        run = ("translate", f"run_dir={quick_run}", *SEARCH)
        opened.append(Terminal(*run, *words, environment_={**usual, **changed}))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def test_a_session_at_a_terminal(
    terminal: Callable[..., Terminal], quick_run: Path, tmp_path: Path
) -> None:
    session = terminal(HOME=str(tmp_path))
    assert session.wait_for(PROMPT).startswith(f"{quick_run} (step-")
    session.type(f"{LINE}\r")
    first = session.wait_for(f"\n{PROMPT}")
    text, *picture = first.removeprefix(f"{LINE}\n").removesuffix(f"\n{PROMPT}").split("\n")
    assert picture[1].split() == LINE.split()
    session.type("never\x03")  # Ctrl-C
    session.wait_for(f"\n{PROMPT}")
    session.type("\x1b[A\r")  # the arrow up brings the sentence back
    again = session.wait_for(f"\n{PROMPT}")
    assert f"{LINE}\n{text}\n" in again
    session.type("\x04")  # Ctrl-D
    assert session.process.wait(60) == 0
    assert list(tmp_path.iterdir()) == []  # no history is kept


@pytest.mark.slow
def test_accents_whatever_the_locale(terminal: Callable[..., Terminal], quick_run: Path) -> None:
    tokenizer = Tokenizers.load(quick_run / "tokenizer").source
    line = "Zoé sees a dog."
    assert tokenizer.encode(line)
    session = terminal(LC_ALL="C")
    session.wait_for(PROMPT)
    session.type(f"{line}\r")
    answer = session.wait_for(f"\n{PROMPT}")
    assert "not valid" not in answer
    assert "Zoé" in answer.split("\n", 1)[1]  # above its column
    session.type(":q\r")
    assert session.process.wait(60) == 0


@pytest.mark.slow
@pytest.mark.parametrize("typed", [True, False])
def test_one_end_that_is_no_terminal_makes_a_filter(quick_run: Path, typed: bool) -> None:
    """The bytes are those of a pipe at both ends."""
    words = command("translate", f"run_dir={quick_run}", *SEARCH)
    usual = subprocess.run(
        words, input=f"{LINE}\n".encode(), capture_output=True, env=environment(), check=True
    ).stdout
    end, inner = pty.openpty()
    given = inner if typed else subprocess.PIPE
    taken = subprocess.PIPE if typed else inner
    process = subprocess.Popen(
        words, stdin=given, stdout=taken, stderr=subprocess.DEVNULL, env=environment()
    )
    os.close(inner)
    if typed:
        os.write(end, f"{LINE}\n\x04".encode())
        out = process.communicate(timeout=120)[0]
    else:
        process.communicate(f"{LINE}\n".encode(), timeout=120)
        out = os.read(end, 1 << 16).replace(b"\r\n", b"\n")
    os.close(end)
    assert (process.returncode, out) == (0, usual)
