"""What a SentencePiece model file holds, as far as SentencePiece itself does not look."""

from __future__ import annotations

from collections.abc import Iterator

# Fields of SentencePiece's ModelProto, one of its TrainerSpec, and the values of that one.
_TRAINER_SPEC, _NORMALIZER_SPEC, _MODEL_TYPE = 2, 3, 3
_KINDS = {1: "unigram", 2: "bpe"}


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
