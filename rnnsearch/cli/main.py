"""The command ``rnnsearch``: picks the sub-command and turns what went wrong into an exit status.

Nothing slow is imported before a sub-command is known.
"""

import codecs
import contextlib
import errno
import io
import os
import re
import signal
import sys
from pathlib import Path

from rnnsearch import __version__
from rnnsearch.errors import Ended, Interrupted, UserError, nearest
from rnnsearch.interrupts import ending_at_once
from rnnsearch.launch import is_echo, label

_REMEDY = (
    "lower trainer.batch_sentences, trainer.batch_tokens, decode.batch_sentences or "
    "decode.beam_size, raise trainer.accumulate, or make the model smaller (model.hidden_size, "
    "tokenizer.vocab_size)"
)
COMMANDS = ("train", "evaluate", "translate")

HELP = """\
rnnsearch: neural translation by learning to align and translate (Bahdanau, Cho and Bengio, 2015)

  rnnsearch train       train a model; without anything else, on the corpus that comes with it
  rnnsearch evaluate    translate a test set with a trained model and score it
  rnnsearch translate   translate line by line, from standard input or a file

Each command takes settings as KEY=VALUE and has its own --help.

  rnnsearch train experiment=multi30k data.dir=PATH
  rnnsearch evaluate run_dir=runs/multi30k
  rnnsearch translate run_dir=runs/multi30k < in.en > out.fr

  --help, --version
  eval "$(rnnsearch -sc install=bash)"   completes commands, groups and keys with the tab key

Exit status: 0; 2 for wrong use; 1 for a failure at work; 130 after Ctrl-C and 143 after SIGTERM.
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit status.

    Args:
        argv: the words after ``rnnsearch``; those of the process by default.
    """
    with ending_at_once(_work_has_begun):
        _speak_utf8()
        return _status(sys.argv[1:] if argv is None else list(argv))


def _work_has_begun() -> bool:
    """Return whether a sub-command, which is imported last, is there with all that it needs."""
    return any(hasattr(sys.modules.get(f"rnnsearch.cli.{name}"), "run") for name in COMMANDS)


def _speak_utf8() -> None:
    """Write UTF-8 whatever the locale; a file name of another encoding keeps its bytes."""
    if sys.stderr is None:  # closed; whoever writes a message or draws a bar needs not know
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
    codecs.register_error("bytes", _bytes_or_escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="bytes")


def _bytes_or_escape(error: UnicodeError) -> tuple[str | bytes, int]:
    """Encode what a file name brought along as it was, and any other half of a pair as text."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.lookup_error("backslashreplace")(error)


def _status(argv: list[str]) -> int:
    """Run the command line; return the exit status, having said why it is not 0."""
    try:
        status = _dispatch(argv)
        if sys.stdout is not None:
            sys.stdout.flush()  # here a closed pipe can still be caught
    except UserError as error:
        return error.status if is_echo(error) else _tell(str(error), error.status)
    except (Interrupted, Ended) as error:
        return error.status
    except KeyboardInterrupt:
        return _tell("interrupted", 130)
    except BrokenPipeError:
        # Whoever read the output has left. What is still buffered must not fail again at exit.
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return 128 + signal.SIGPIPE  # as `cat` and `sed` end
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not re.search(
            "allocate memory|out of memory", str(error)
        ):
            raise
        return _tell(f"out of memory: {_REMEDY}", 1)
    except OSError as error:
        if error.strerror is None:
            raise
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return _tell(f"{where}{error.strerror}", 2 if error.errno == errno.ENAMETOOLONG else 1)
    return status


def _tell(message: str, status: int) -> int:
    with contextlib.suppress(OSError):
        print(f"rnnsearch: {label()}{UserError(message)}", file=sys.stderr)
    return status


def _dispatch(argv: list[str]) -> int:
    if not argv:
        raise UserError(f"expected a command, {_listed()}; see rnnsearch --help")
    word, rest = argv[0], argv[1:]
    if word == "help" and rest:  # `rnnsearch help train`
        word, rest = rest[0], ["--help"]
    if word in ("--help", "-h", "help"):
        print(HELP, end="")
        return 0
    if word == "--version":
        print(f"rnnsearch {__version__}")
        return 0
    if word in ("--shell-completion", "-sc"):
        return _complete(argv)
    if word not in COMMANDS:
        hint = nearest(word, COMMANDS)
        raise UserError(f"{word}: there is no such command, expected {_listed()}{hint}")
    return _run(word, rest)


def _run(command: str, argv: list[str]) -> int:
    if argv[:1] == ["help"] or "--help" in argv or "-h" in argv:
        from rnnsearch.cli.help import command_help

        print(command_help(command, argv), end="")
        return 0
    if "--version" in argv:
        print(f"rnnsearch {__version__}")
        return 0
    from rnnsearch.cli.app import run_command

    return run_command(command, argv)


def _listed() -> str:
    return f"{', '.join(COMMANDS[:-1])} or {COMMANDS[-1]}"


def _complete(argv: list[str]) -> int:
    """Install completion, or answer the shell, which puts the line typed so far into COMP_LINE.

    Of the words after the flag, `install=SHELL` and `uninstall=SHELL` print what the shell is to
    run, and `query=bash` asks what may follow.
    """
    from rnnsearch.cli import completion

    asked = argv[1] if len(argv) == 2 else ""
    scripts = {"install=bash": completion.INSTALL, "uninstall=bash": completion.UNINSTALL}
    if asked == "query=bash":
        line, point = os.environ.get("COMP_LINE", ""), os.environ.get("COMP_POINT", "")
        typed = line[: int(point)] if point.isdecimal() else line
        with contextlib.suppress(OSError):  # nobody asked for an error message
            for answer in completion.answers(typed, breaks=os.environ.get("COMP_WORDBREAKS", "")):
                print(answer)
    elif asked in scripts:
        print(scripts[asked], end="")
    else:
        raise UserError(f"{argv[0]}: expected {argv[0]} install=bash or uninstall=bash")
    return 0
