"""Changes that keep the outer form of weights and tokenizers, so that they reach further in."""

from __future__ import annotations

import json
import random
import struct
from typing import Any

from fuzzing.mutations import change_tree, mutate, odd_value, to_json
from rnnsearch.subwords import protobuf_fields

TYPES = ("F64", "F32", "F16", "BF16", "I64", "I32", "U8", "BOOL", "F8_E4M3", "F4", "C64", "X", "")
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES = {_FIXED64: 8, _FIXED32: 4}


def change_tensors(data: bytes, chance: random.Random) -> bytes:
    """Return a `.safetensors` file with a change in its head, its numbers or its length."""
    size = int.from_bytes(data[:8], "little")
    head, body = json.loads(data[8 : 8 + size]), data[8 + size :]
    claimed: int | None = None
    match chance.randrange(9):
        case 0:
            claimed = chance.choice((0, 1, size - 1, size + 1, len(data), 2**31, 2**62, 2**64 - 1))
        case 1:
            head = change_tree(head, chance)
        case 2:
            head["__metadata__"] = chance.choice(({"about": "[" * 9999}, {"about": "{}"}, {}))
        case 3:
            about = json.loads(head.get("__metadata__", {}).get("about", "{}"))
            changed = change_tree(about, chance)
            head["__metadata__"] = {"about": to_json(changed).decode()}
        case 4:
            odd = chance.choice((float("nan"), float("inf"), -1e38, 1e-45, 3.0))
            place = 4 * chance.randrange(max(len(body) // 4, 1))
            body = body[:place] + struct.pack("<f", odd) + body[place + 4 :]
        case 5:
            body = mutate(body, chance)
        case _:
            _change_tensor(head, chance)
    text = json.dumps(head, indent=chance.choice((None, 1))).encode()
    return (len(text) if claimed is None else claimed).to_bytes(8, "little") + text + body


def _change_tensor(head: dict[str, Any], chance: random.Random) -> None:
    names = [name for name in head if name != "__metadata__"]
    name, other = chance.choice(names), chance.choice(names)
    tensor = head[name]
    match chance.randrange(7):
        case 0:
            tensor["dtype"] = chance.choice(TYPES)
        case 1:
            tensor["shape"] = chance.choice(
                (tensor["shape"][::-1], [], [0], [1, *tensor["shape"]], [2**32, 2**32], [-1])
            )
        case 2:
            tensor["data_offsets"] = chance.choice(
                (
                    [0, 0],
                    [1, 5],
                    tensor["data_offsets"][::-1],
                    [0, 2**63],
                    head[other]["data_offsets"],
                )
            )
        case 3:
            head[name], head[other] = head[other], head[name]
        case 4:
            head[chance.choice(("x", "", f"{name} ", "a/b", "\ud800"))] = head.pop(name)
        case 5:
            tensor["dtype"], tensor["shape"] = "F16", [*tensor["shape"], 2]
        case 6:
            tensor[chance.choice(("dtype", "shape", "data_offsets"))] = odd_value(chance)


Field = tuple[int, int, int | bytes]


def message(parts: list[Field]) -> bytes:
    """Return the protocol buffer of some fields."""
    out = bytearray()
    for number, kind, value in parts:
        out += _varint(number << 3 | kind)
        if isinstance(value, int):
            out += _varint(value)
        else:
            out += (_varint(len(value)) if kind == _BYTES else b"") + value
    return bytes(out)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def change_model(data: bytes, chance: random.Random) -> bytes:
    """Return a SentencePiece model with a piece, a setting or its normaliser changed."""
    parts = list(protobuf_fields(data))
    for _ in range(chance.choice((1, 1, 3))):
        number = chance.randrange(len(parts))
        if chance.random() < 0.4:  # settings and normaliser stand at the end
            number = len(parts) - 1 - chance.randrange(min(3, len(parts)))
        _change_field(parts, number, chance, depth=0)
        if not parts:
            break
    return message(parts)


def _change_field(parts: list[Field], number: int, chance: random.Random, *, depth: int) -> None:
    name, kind, value = parts[number]
    if isinstance(value, bytes) and kind == _BYTES and depth == 0 and chance.random() < 0.75:
        try:
            inner = list(protobuf_fields(value))
        except ValueError:  # an earlier change has made nonsense of it
            inner = []
        if inner:
            _change_field(inner, chance.randrange(len(inner)), chance, depth=1)
            parts[number] = (name, kind, message(inner))
            return
    match chance.randrange(5):
        case 0:
            del parts[number]
        case 1:
            parts.insert(chance.randrange(len(parts) + 1), parts[number])
        case 2:
            other = chance.randrange(len(parts))
            parts[number], parts[other] = parts[other], parts[number]
        case _ if isinstance(value, int):
            odd = (
                0,
                1,
                2,
                3,
                4,
                5,
                6,
                7,
                value + 1,
                value - 1 & 2**64 - 1,
                2**31,
                2**63,
                2**64 - 1,
            )
            parts[number] = (name, kind, chance.choice(odd))
        case _ if kind == _FIXED32:
            odd32 = (
                b"\0\0\xc0\x7f",
                b"\0\0\x80\x7f",
                b"\0\0\x80\xff",
                bytes(4),
                b"\xff\xff\x7f\x7f",
            )
            parts[number] = (name, kind, chance.choice(odd32))
        case _:
            parts[number] = (name, kind, mutate(value, chance) if kind == _BYTES else value)
