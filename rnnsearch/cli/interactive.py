"""`rnnsearch translate` at a terminal: a line is typed, its translation and attention are shown."""

import codecs
import contextlib
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from rnnsearch.cli.rows import translation_rows, words_of
from rnnsearch.config import TranslateConfig
from rnnsearch.errors import UserError, without_controls
from rnnsearch.textplot import Style, draw_text
from rnnsearch.translation import Translation
from rnnsearch.translator import NO_ATTENTION, Translator
from rnnsearch.validation import load_config

PROMPT = "> "
HELP = """\
A line is translated as a sentence. Under it stands where each of its words looked: source words
along the top, translated words down the side, the fuller the block the larger the weight, or
numbers in percent. Where there is no room, source words go by numbers, or the links make a list.

:attention off, :attention on   leave that out, or show it again
:help                           this
:q                              leave, as Ctrl-D does

Ctrl-C drops the line, or stops a translation. The arrow keys bring back earlier lines. A sentence
that begins as a command does needs a blank before it.
"""
_COMMAND = re.compile(r":([A-Za-z]\w*)\s*(.*?)\s*")


def converse(
    config: TranslateConfig, translator: Translator,
    *, checkpoints: list[str], read: Callable[[str], str] = input,
) -> None:  # fmt: skip
    """Translate what is typed until the end of the input or `:q`.

    As in Python's own prompt, Ctrl-C gives up the line or the translation, and nothing else. What
    cannot be done with a line is told, and the next one is asked for.

    Args:
        config: the command's.
        translator: what it has loaded.
        checkpoints: the names of those, for the greeting.
        read: shows a prompt and returns a line; raises EOFError at the end of the input.
    """
    with contextlib.suppress(ImportError):  # not on every system
        import readline  # gives `input` line editing and a history, which ends with the command

        for setting in ("input-meta on", "output-meta on", "convert-meta off"):
            readline.parse_and_bind(f"set {setting}")  # accents, whatever the locale
    conversation = Conversation(translator, n_best=config.n_best, encoding=sys.stdin.encoding)
    conversation.write(_greeting(config, checkpoints))
    while True:
        try:
            # A terminal may hand over what is pasted as one piece.
            if not all(conversation.answer(line) for line in read(PROMPT).split("\n")):
                return
        except EOFError:
            conversation.write("")
            return
        except KeyboardInterrupt:
            conversation.write("")
        except UnicodeError:
            encoding = sys.stdin.encoding
            _tell(f"the line is not valid {encoding}; set terminal and locale to UTF-8")
        except UserError as error:
            _tell(str(error))


def _greeting(config: TranslateConfig, checkpoints: list[str]) -> str:
    data = load_config(Path(config.run_dir)).data
    what = f"{config.run_dir} ({', '.join(checkpoints)}), {data.source_lang} to {data.target_lang}"
    search = f"beam {config.decode.beam_size}"
    return f"{what}, {search}. Type a sentence; :help tells more, Ctrl-D or :q leaves."


def _tell(message: str) -> None:
    print(f"rnnsearch: {without_controls(message)}", file=sys.stderr)


class Conversation:
    """Answers lines.

    Args:
        translator: makes the translations.
        n_best: how many of a line are shown.
        encoding: the terminal's.
    """

    def __init__(self, translator: Translator, *, n_best: int, encoding: str) -> None:
        self._translator = translator
        self._n_best = n_best
        self._encoding = encoding
        self._attention = translator.attends
        self._lines = 0

    def answer(self, line: str) -> bool:
        """Do what a line asks for; return whether to go on.

        Raises:
            UserError: nothing can be done with it.
        """
        command = _COMMAND.fullmatch(line)
        if command is None:
            if line.strip():
                self._translate(line.removesuffix("\r"))
            return True
        name, value = command.groups()
        if name in ("q", "quit") and not value:
            return False
        if name == "help" and not value:
            self.write(HELP.removesuffix("\n"))
        elif name == "attention" and value in ("on", "off"):
            if value == "on" and not self._translator.attends:
                raise UserError(f":attention on: {NO_ATTENTION}")
            self._attention = value == "on"
        else:
            raise UserError(f"{line.strip()}: expected :attention on, :attention off, :help or :q")
        return True

    def _translate(self, line: str) -> None:
        line.encode()  # half of a pair stands for a byte that is not UTF-8
        translator = self._translator
        translator.check_reach([line], line="the line")
        found = translator.translate_n_best([line], self._n_best, alignments=self._attention)[0]
        self._lines += 1
        for row in translation_rows(found, self._lines, self._n_best):
            self.write(row)
        if self._attention and found[0].target_pieces:
            self._show_attention(found[0])
        if found[0].unknown:
            replaced = translator.dictionary is not None
            what = "replaced" if replaced else "left out (replace_unk=true puts source words there)"
            _tell(f"unknown words {what}: {found[0].unknown}")

    def _show_attention(self, best: Translation) -> None:
        if best.alignment is None:
            _tell("no attention is kept of so long a line; split it into sentences")
            return
        words = words_of(self._translator, best)
        picture = draw_text(
            [self._shown(word) for word, _ in words.source],
            [self._shown(word) for word, _ in words.target],
            words.merged(best.alignment),
            style=Style(shutil.get_terminal_size().columns, self._blocks),
        )
        for row in ["", *picture, ""]:
            self.write(row)

    @property
    def _blocks(self) -> bool:
        return codecs.lookup(self._encoding).name == "utf-8"

    def _shown(self, text: str) -> str:
        """Return a text as the terminal can show it; it moves no cursor."""
        shown = without_controls(text)
        return shown.encode(self._encoding, "backslashreplace").decode(self._encoding)

    def write(self, text: str) -> None:
        """Write a line, or a few."""
        shown = "\n".join(map(self._shown, text.split("\n")))
        sys.stdout.buffer.write(f"{shown}\n".encode(self._encoding))
        sys.stdout.buffer.flush()
