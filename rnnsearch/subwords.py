"""SentencePiece tokenizers, and what it leaves to its callers: lines it can take, whole models."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise

import sentencepiece

from rnnsearch.errors import UserError
from rnnsearch.ids import BOS, EOS, PAD, SPECIAL_IDS, SPECIAL_PIECES, UNK

NORMALIZATION = "nmt_nfkc"
# Normalisation never takes these away, and nearly every line holds one.
_VISIBLE_ASCII = re.compile(r"[!-~]")
# SentencePiece passes over training lines that hold its own stand-in for the unknown (U+2585),
# and older versions over lines with a NUL; only that one character is lost here.
_TRAINABLE = str.maketrans({"\0": " ", "\u2585": " "})
# The unigram trainer overflows on words of tens of thousands of characters. A piece has 16 at
# most, so cutting such words takes next to nothing from it.
_WORD_CHARACTERS = 1000
_LONG_WORD = re.compile(rf"\S{{{_WORD_CHARACTERS}}}")
# Looking for repeated text takes the unigram trainer time that grows with the square of a line
# that repeats itself: 256 KiB of dashes take more than a minute. Pieces do not cross blanks, so a
# line in parts gives the same ones.
_PART = re.compile(r".{1,10000}(?:\s|\Z)", re.DOTALL)
# Fields of SentencePiece's ModelProto, one of its TrainerSpec, and the values of that one.
_TRAINER_SPEC, _NORMALIZER_SPEC, _MODEL_TYPE = 2, 3, 3
_KINDS = {1: "unigram", 2: "bpe"}

# The thread count decides the order of floating-point sums while pieces are scored, so it is
# fixed: the same text gives the same model on a machine with any number of cores.
_TRAINING_THREADS = 4
# The unigram trainer takes nearly 20 bytes of memory a character: a larger corpus is represented
# by a random sample of this many lines, always the same one, which keeps it near 3 GB.
_TRAINING_LINES = 1_000_000

# Begins a piece that begins a word.
_BOUNDARY = "\u2581"
# What SentencePiece writes for an unknown piece that is not shown as written.
_UNKNOWN = " \u2047 "
# Byte pieces can spell anything: line ends would split a line of output in two, and the
# word-boundary, unknown and replacement marks are no text.
_CLEAN = str.maketrans({"\n": " ", "\r": " ", _BOUNDARY: " ", "\u2047": None, "\ufffd": None})


def encodable(line: str) -> str:
    """Return the line, with half surrogate pairs (no file holds one) as the replacement mark."""
    try:
        line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return line


def clean(text: str) -> str:
    """Return text for a reader: without marks, and on one line."""
    return text.translate(_CLEAN)


@cache
def _normalizer() -> sentencepiece.SentencePieceNormalizer:
    return sentencepiece.SentencePieceNormalizer(
        rule_name=NORMALIZATION,
        add_dummy_prefix=False,
        escape_whitespaces=False,
        remove_extra_whitespaces=True,  # as the trainer does; the default differs by release
    )


def normalize(line: str) -> str:
    """Return the line as SentencePiece sees it; nothing is left of a blank one."""
    text: str = _normalizer().normalize(encodable(line))
    return text


def _trainable(line: str) -> list[str]:
    """Return the line as the trainer can take it, a very long one in parts."""
    line = encodable(line).translate(_TRAINABLE)
    if len(line) <= _WORD_CHARACTERS:
        return [line]
    return _PART.findall(_LONG_WORD.sub(r"\g<0> ", line))


class Feed:
    """Training lines, and what went wrong in reading them.

    SentencePiece wraps whatever is raised here, Ctrl-C included, in an error of its own.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.failure: BaseException | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            for line in self._lines:
                yield from _trainable(line)
        except GeneratorExit:
            raise
        except BaseException as error:
            self.failure = error
            raise


def is_blank(line: str) -> bool:
    """Return whether a line will have no pieces, whatever is trained: normalised it is nothing."""
    return not _VISIBLE_ASCII.search(line) and not normalize(line)


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
        special.id_to_piece(list(range(special.vocab_size())))  # a ValueError if one is no UTF-8
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
        return clean(text)

    def join(self, words: Sequence[str]) -> str:
        """Return the text of words, with a blank between them."""
        return " ".join(clean(encodable(word)) for word in words)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        """Return the piece of each id as SentencePiece writes it (`▁` begins a word)."""
        return [self._processor.id_to_piece(i) for i in ids]

    def split(self, line: str) -> list[str]:
        """Return the pieces of a line, one for each id of `encode`, unknowns as written."""
        pieces: list[str] = self._processor.encode(encodable(line), out_type=str)
        return pieces

    def words(self, pieces: Sequence[str]) -> list[tuple[str, int]]:
        """Return the words that pieces spell, each with its number of pieces.

        A piece that begins with U+2581 begins a word; one that is nothing else belongs to the
        word that follows. Unknown pieces stay as they are given.
        """
        starts = [i for i, piece in enumerate(pieces) if i == 0 or piece.startswith(_BOUNDARY)]
        words: list[tuple[str, int]] = []
        begin = 0
        for start, end in pairwise([*starts, len(pieces)]):
            if text := self._text(pieces[start:end]):
                words.append((text, end - begin))
                begin = end
        if begin < len(pieces):
            text, count = words.pop() if words else ("", 0)
            words.append((text, count + len(pieces) - begin))
        return words

    def _text(self, pieces: Sequence[str]) -> str:
        text: str = self._processor.decode_pieces(list(pieces))
        return clean(text.replace(_UNKNOWN, SPECIAL_PIECES[UNK])).strip()


def model_kind(model: bytes) -> str:
    """Return the kind of a serialized model after checking that all its parts are there.

    SentencePiece itself loads a model that was cut between two pieces, or before its normaliser.
    """
    parts = {number: value for number, _, value in protobuf_fields(model)}
    trainer, normalizer = parts.get(_TRAINER_SPEC), parts.get(_NORMALIZER_SPEC)
    if not isinstance(trainer, bytes) or not isinstance(normalizer, bytes):
        raise ValueError("the end of the model is missing")
    settings = {number: value for number, _, value in protobuf_fields(trainer)}
    model_type = settings.get(_MODEL_TYPE, 1)
    if not isinstance(model_type, int) or model_type not in _KINDS:
        raise ValueError("neither a unigram nor a BPE model")
    return _KINDS[model_type]


def protobuf_fields(message: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """Yield number, wire type and value of each field of a protocol buffer, up to its last byte.

    Raises:
        ValueError: it is none, or cut inside a field.
    """
    position = 0

    def varint() -> int:
        nonlocal position
        value = shift = 0
        while True:
            if position >= len(message) or shift > 63:
                raise ValueError("cut inside a field")
            byte = message[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while position < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, 0, varint()
            continue
        if key & 7 not in (1, 2, 5):
            raise ValueError("no protocol buffer")
        size = varint() if key & 7 == 2 else {1: 8, 5: 4}[key & 7]
        if position + size > len(message):
            raise ValueError("cut inside a field")
        position += size
        yield key >> 3, key & 7, message[position - size : position]


def train_subwords(
    lines: Iterable[str],
    side: str,
    *,
    kind: str,
    vocab_size: int,
    byte_fallback: bool,
    warn: Callable[[str], None],
) -> SentencePieceTokenizer:
    """Train a model on lines, read once, of a side as messages call it: see `text`."""
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
    warn_if_smaller(tokenizer.vocab_size, vocab_size, side, warn)
    return tokenizer


def warn_if_smaller(got: int, wanted: int, side: str, warn: Callable[[str], None]) -> None:
    """Warn of a vocabulary for which the text was too small."""
    if got < wanted:
        warn(f"tokenizer.vocab_size={wanted} is too large for {side}: using {got}")


def no_text(side: str) -> UserError:
    """Return the error that there is nothing to train a tokenizer on."""
    return UserError(f"no text to train a tokenizer on for {side}: every line is blank")


def _training_error(error: RuntimeError, side: str, vocab_size: int) -> UserError:
    """Say a failure of the trainer in terms of the configuration."""
    message = str(error)
    if needed := re.search(r"smaller than required_chars\. \d+ vs (\d+)", message):
        return UserError(
            f"tokenizer.vocab_size={vocab_size} is too small for {side}: its characters need "
            f"{needed[1]} or more"
        )
    # Which of its checks comes first depends on the release.
    checks = ("sentences_.empty()", "required_chars_.empty()", "(all_chars_count) > (0)")
    if any(check in message for check in checks):
        return no_text(side)
    reason = message.strip().split("\n")[-1]
    return UserError(f"tokenizer.vocab_size={vocab_size} does not work for {side}: {reason}")
