"""Text to ids and back: the four special ids, and the SentencePiece tokenizers of a run."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import sentencepiece

from rnnsearch.errors import UserError
from rnnsearch.subwords import NORMALIZATION, Feed, encodable, model_kind

UNK, BOS, EOS, PAD = 0, 1, 2, 3
SPECIAL_IDS = 4

# The thread count decides the order of floating-point sums while pieces are scored, so it is
# fixed: the same text gives the same model on a machine with any number of cores.
_TRAINING_THREADS = 4
# The unigram trainer takes nearly 20 bytes of memory a character: a larger corpus is represented
# by a random sample of this many lines, always the same one, which keeps it near 3 GB.
_TRAINING_LINES = 1_000_000

# Byte pieces can spell anything: line ends would split a line of output in two, and the
# word-boundary, unknown and replacement marks are no text.
_CLEAN = str.maketrans({"\n": " ", "\r": " ", "\u2581": " ", "\u2047": None, "\ufffd": None})


class Tokenizer(Protocol):
    """Turns a line into ids and back, without BOS and EOS, which belong to `batches.collate`."""

    @property
    def kind(self) -> str:
        """The name of the method, as in `tokenizer=...`: `unigram` or `bpe`."""

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones included."""

    @property
    def fingerprint(self) -> str:
        """A hash of everything that decides the ids of a line."""

    def encode(self, line: str) -> list[int]:
        """Return the ids of a line; empty for a blank line, never BOS, EOS or PAD."""

    def encode_batch(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of each line."""

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids; the special ids add nothing to it."""

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the printable piece of each id."""

    def split(self, line: str) -> list[str]:
        """Return the printable piece of each id of a line, unknowns as they are written."""


class SentencePieceTokenizer:
    """A SentencePiece model, unigram or BPE, with UNK 0, BOS 1, EOS 2 and PAD 3.

    Args:
        model: the serialized model, as SentencePiece writes it to a `.model` file.

    Raises:
        ValueError: the bytes are no whole SentencePiece model, or its special ids are others.
    """

    def __init__(self, model: bytes) -> None:
        self.kind = model_kind(model)
        self.model = model
        self.fingerprint = hashlib.sha256(model).hexdigest()
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.LoadFromSerializedProto(model)
        except RuntimeError as error:
            raise ValueError("not a SentencePiece model") from error
        special = self._processor
        if (special.unk_id(), special.bos_id(), special.eos_id(), special.pad_id()) != (0, 1, 2, 3):
            raise ValueError("the special ids are not UNK 0, BOS 1, EOS 2, PAD 3")

    @property
    def vocab_size(self) -> int:
        """Number of ids, the four special ones included."""
        return int(self._processor.vocab_size())

    def encode(self, line: str) -> list[int]:
        """Return the ids of a line; text that looks like a mark gives ordinary ids or UNK."""
        # Without the threads that SentencePiece starts for a list.
        ids: list[int] = self._processor.encode(encodable(line))
        return ids

    def encode_batch(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of each line."""
        ids: list[list[int]] = self._processor.encode([encodable(line) for line in lines])
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, without special ids, marks, line ends and broken UTF-8."""
        text: str = self._processor.decode([i for i in ids if i >= SPECIAL_IDS])
        return text.translate(_CLEAN)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the piece of each id as SentencePiece writes it (`▁` begins a word)."""
        return [self._processor.id_to_piece(i) for i in ids]

    def split(self, line: str) -> list[str]:
        """Return the pieces of a line, one for each id of `encode`, unknowns as written."""
        pieces: list[str] = self._processor.encode(encodable(line), out_type=str)
        return pieces


class Tokenizers(NamedTuple):
    """The tokenizers of a run; a joint one is the same object twice."""

    source: Tokenizer
    target: Tokenizer

    def save(self, folder: Path) -> None:
        """Write `source.model` and `target.model`, or `joint.model`, and remove the other form.

        Raises:
            UserError: status 1, the folder cannot be written.
        """
        joint = self.source is self.target
        names = {"joint": self.source} if joint else {"source": self.source, "target": self.target}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for side, tokenizer in names.items():
                if not isinstance(tokenizer, SentencePieceTokenizer):
                    raise TypeError(f"{type(tokenizer).__name__} has no file format")
                (folder / f"{side}.model").write_bytes(tokenizer.model)
            for side in {"joint", "source", "target"} - names.keys():
                (folder / f"{side}.model").unlink(missing_ok=True)
        except OSError as error:
            path = error.filename or folder
            raise UserError(f"{path}: cannot be written ({error.strerror})", status=1) from error

    @classmethod
    def load(cls, folder: Path) -> Tokenizers:
        """Read what `save` wrote.

        Raises:
            UserError: status 1, a file is missing, unreadable or damaged; the line names it.
        """
        joint = folder / "joint.model"
        if joint.exists():
            tokenizer = _load_model(joint)
            return cls(tokenizer, tokenizer)
        return cls(_load_model(folder / "source.model"), _load_model(folder / "target.model"))


def _load_model(path: Path) -> SentencePieceTokenizer:
    try:
        return SentencePieceTokenizer(path.read_bytes())
    except FileNotFoundError as error:
        raise UserError(
            f"{path}: no such file; a run folder keeps its tokenizers in tokenizer/", status=1
        ) from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})", status=1) from error
    except ValueError as error:
        raise UserError(
            f"{path}: incomplete or damaged ({error}); copy it anew from the run it belongs to",
            status=1,
        ) from error


def train_tokenizers(
    source_lines: Iterable[str],
    target_lines: Iterable[str],
    *,
    kind: str,
    vocab_size: int,
    joint: bool,
    byte_fallback: bool,
    warn: Callable[[str], None],
) -> Tokenizers:
    """Train the tokenizers of a run, bit for bit the same for the same lines.

    Args:
        source_lines: sources of the training pairs that are not blank (`corpus.nonblank`).
        target_lines: their targets; each side is read once.
        kind: `unigram` or `bpe`.
        vocab_size: ids of each tokenizer, the four special ones included. More than the text
            allows gives the largest number that it does, with a warning.
        joint: one tokenizer for both sides, trained on both.
        byte_fallback: spell unknown characters as bytes (256 more ids).
        warn: called with each warning, one line.

    Raises:
        UserError: the text is blank, or `vocab_size` is too small for its characters.
    """
    train = partial(
        _train, kind=kind, vocab_size=vocab_size, byte_fallback=byte_fallback, warn=warn
    )
    if joint:
        lines = (line for side in (source_lines, target_lines) for line in side)
        tokenizer = train(lines, "both sides")
        return Tokenizers(tokenizer, tokenizer)
    return Tokenizers(
        train(source_lines, "the source side"), train(target_lines, "the target side")
    )


def _train(
    lines: Iterable[str],
    side: str,
    *,
    kind: str,
    vocab_size: int,
    byte_fallback: bool,
    warn: Callable[[str], None],
) -> SentencePieceTokenizer:
    model = io.BytesIO()
    feed = Feed(lines)
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(feed),
            model_writer=model,
            model_type=kind,
            # Below the special ids the trainer fails without telling the smallest size.
            vocab_size=max(vocab_size, SPECIAL_IDS + 1),
            hard_vocab_limit=False,
            byte_fallback=byte_fallback,
            normalization_rule_name=NORMALIZATION,
            unk_id=UNK,
            bos_id=BOS,
            eos_id=EOS,
            pad_id=PAD,
            num_threads=_TRAINING_THREADS,
            input_sentence_size=_TRAINING_LINES,
            shuffle_input_sentence=True,
            max_sentence_length=2**30,
            minloglevel=2,
        )
    except RuntimeError as error:
        if feed.failure is not None:
            raise feed.failure from None
        raise _training_error(error, side, vocab_size) from error
    tokenizer = SentencePieceTokenizer(model.getvalue())
    if tokenizer.vocab_size < vocab_size:
        warn(
            f"tokenizer.vocab_size={vocab_size} is too large for {side}: "
            f"using {tokenizer.vocab_size}"
        )
    return tokenizer


def _training_error(error: RuntimeError, side: str, vocab_size: int) -> UserError:
    """Say a failure of the trainer in terms of the configuration."""
    message = str(error)
    if needed := re.search(r"smaller than required_chars\. \d+ vs (\d+)", message):
        return UserError(
            f"tokenizer.vocab_size={vocab_size} is too small for {side}: its characters need "
            f"{needed[1]} or more"
        )
    if "sentences_.empty()" in message or "(all_chars_count) > (0)" in message:
        return UserError(f"no text to train a tokenizer on for {side}: every line is blank")
    reason = message.strip().split("\n")[-1]
    return UserError(f"tokenizer.vocab_size={vocab_size} does not work for {side}: {reason}")
