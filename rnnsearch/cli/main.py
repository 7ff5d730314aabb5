"""The command ``rnnsearch``: picks the sub-command and turns what went wrong into an exit status.

Nothing slow is imported before a sub-command is known.
"""

import contextlib
import os
import re
import sys

from rnnsearch import __version__
from rnnsearch.errors import Interrupted, UserError, nearest

_REMEDY = (
    "lower trainer.batch_sentences, trainer.batch_tokens or decode.batch_sentences, raise "
    "trainer.accumulate, or make the model smaller (model.hidden_size, tokenizer.vocab_size)"
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
    try:
        status = _dispatch(sys.argv[1:] if argv is None else list(argv))
        if sys.stdout is not None:
            sys.stdout.flush()  # here a closed pipe can still be caught
    except UserError as error:
        return _tell(str(error), error.status)
    except Interrupted as error:
        return error.status
    except KeyboardInterrupt:
        return _tell("interrupted", 130)
    except BrokenPipeError:
        # Whoever read the output has left. What is still buffered must not fail again at exit.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
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
        return _tell(f"{where}{error.strerror}", 1)
    return status


def _tell(message: str, status: int) -> int:
    print(f"rnnsearch: {UserError(message)}", file=sys.stderr)
    return status


def _dispatch(argv: list[str]) -> int:
    if not argv:
        raise UserError(f"expected a command, {_listed()}; see rnnsearch --help")
    word, rest = argv[0], argv[1:]
    if word in ("--help", "-h"):
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
    if "--help" in argv or "-h" in argv:
        from rnnsearch.cli.help import command_help

        print(command_help(command, argv), end="")
        return 0
    from rnnsearch.cli.app import run_command

    return run_command(command, argv)


def _listed() -> str:
    return f"{', '.join(COMMANDS[:-1])} or {COMMANDS[-1]}"


def _complete(argv: list[str]) -> int:
    """Answer the shell's completion; Hydra's own part knows no sub-commands.

    The shell puts the line typed so far into COMP_LINE. Its first word is the program.
    """
    line = os.environ.get("COMP_LINE", "")
    if not any(word.startswith("query=") for word in argv):
        return _run(COMMANDS[0], argv)  # install and uninstall are the same for all
    typed = re.fullmatch(r"(\s*\S+)\s+(\S+)(\s.*)", line, re.DOTALL)
    if typed is None:
        begun = line.split()[1:2] or [""]
        print(" ".join(name for name in COMMANDS if name.startswith(begun[0])))
        return 0
    program, command, rest = typed.groups()
    if command not in COMMANDS:
        return 0
    os.environ["COMP_LINE"] = f"{program}{rest}"
    try:
        return _run(command, argv)
    finally:
        os.environ["COMP_LINE"] = line
