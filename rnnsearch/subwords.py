"""What SentencePiece leaves to its callers: lines it can take, blank lines, whole model files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import sentencepiece

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
# Fields of SentencePiece's ModelProto, one of its TrainerSpec, and the values of that one.
_TRAINER_SPEC, _NORMALIZER_SPEC, _MODEL_TYPE = 2, 3, 3
_KINDS = {1: "unigram", 2: "bpe"}


def encodable(line: str) -> str:
    """Return the line, with half surrogate pairs (no file holds one) as the replacement mark."""
    try:
        line.encode()
    except UnicodeEncodeError:
        return line.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return line


def _trainable(line: str) -> str:
    """Return the line as the trainer can take it."""
    line = encodable(line).translate(_TRAINABLE)
    return _LONG_WORD.sub(r"\g<0> ", line) if len(line) > _WORD_CHARACTERS else line


class Feed:
    """Training lines, and what went wrong in reading them.

    SentencePiece wraps whatever is raised here, Ctrl-C included, in an error of its own.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.failure: BaseException | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            yield from map(_trainable, self._lines)
        except GeneratorExit:
            raise
        except BaseException as error:
            self.failure = error
            raise


class BlankTest:
    """Tells blank lines before a tokenizer exists: those that normalisation maps to nothing."""

    def __init__(self) -> None:
        self._normalizer = sentencepiece.SentencePieceNormalizer(rule_name=NORMALIZATION)

    def __call__(self, line: str) -> bool:
        """Return whether the line will have no pieces, whatever is trained."""
        if _VISIBLE_ASCII.search(line):
            return False
        return not self._normalizer.normalize(encodable(line))


def model_kind(model: bytes) -> str:
    """Return the kind of a serialized model after checking that all its parts are there.

    SentencePiece itself loads a model that was cut between two pieces, or before its normaliser.
    """
    parts = dict(_protobuf_fields(model))
    trainer, normalizer = parts.get(_TRAINER_SPEC), parts.get(_NORMALIZER_SPEC)
    if not isinstance(trainer, bytes) or not isinstance(normalizer, bytes):
        raise ValueError("the end of the model is missing")
    model_type = dict(_protobuf_fields(trainer)).get(_MODEL_TYPE, 1)
    if not isinstance(model_type, int) or model_type not in _KINDS:
        raise ValueError("neither a unigram nor a BPE model")
    return _KINDS[model_type]


def _protobuf_fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field of a protocol buffer, up to its last byte."""
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
            yield key >> 3, varint()
            continue
        if key & 7 not in (1, 2, 5):
            raise ValueError("no protocol buffer")
        size = varint() if key & 7 == 2 else {1: 8, 5: 4}[key & 7]
        if position + size > len(message):
            raise ValueError("cut inside a field")
        position += size
        yield key >> 3, message[position - size : position]
