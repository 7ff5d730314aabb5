"""Bytes, trees of values and lines of text, changed by chance."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

Bytes = Callable[[bytearray, random.Random], None]

# What readers stumble over: marks, half characters, line ends, numbers, the beginnings of files.
ODD_BYTES = (
    *(b"\0", b"\xff", b"\n", b"\r", b"\r\n", b"\t", b"\x1a", b"\x1c", b"\x85", b"\xc2\x85"),
    *(b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90"),
    *(b"\x1f\x8b", b"\x1f\x8b\x08\0", b"PK\x03\x04", b"PAR1", b"ARROW1", b"BZh9", b"\xfd7zXZ\0"),
    *(b"NaN", b"-1", b"1e999", b"9" * 5000, b"null", b'"', b"'", b"{", b"[" * 2000, b"\\ud800"),
    *(b"\\", b"\\u0000", b"<s>", b"\xe2\x96\x81", b"!!python/name:os.system", b"&a", b"*a", b"? "),
    *(b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\x7f\xff\xff\xff\xff\xff\xff\xff"),
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 2**31 - 1, 2**31, 2**53, 2**63, 2**64, 10**400, 1.5, -0.0),
    *(1e308, 5e-324, float("nan"), float("inf"), float("-inf"), "", " ", "None", "0", "x", "ü"),
    *(
        "x" * 20_000,
        "a\nb",
        "\0",
        "\u2028",
        "\ud800",
        "../../outside",
        "/dev/zero",
        "${oc.env:HOME}",
    ),
    *(
        "<s>",
        "???",
        "!!python/name:os.system",
        [],
        {},
        [None],
        [[]],
        [1, "a"],
        {"a": 1},
        {"": None},
    ),
)


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with a change or a few."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        chance.choice(CHANGES)(changed, chance)
    return bytes(changed)


def span(size: int, chance: random.Random) -> slice:
    """Return a part of what has `size` parts, short ones more often."""
    start = chance.randrange(size + 1)
    return slice(start, min(size, start + chance.choice((1, 2, 4, 8, 64, 1024, size))))


def _flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 2, 8, 64)) if data else 0):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _set(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] = chance.choice((0, 1, 0x7F, 0x80, 0xFF, 0x0A, 0x22))


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.choice((0, len(data) - 1, chance.randrange(len(data) + 1))) :]


def _extend(data: bytearray, chance: random.Random) -> None:
    data += chance.choice((b"\0", b"\xff", b"\n", b"x", bytes(data[:16]))) * chance.choice(
        (1, 8, 4096)
    )


def _zero(data: bytearray, chance: random.Random) -> None:
    part = span(len(data), chance)
    data[part] = bytes(len(data[part]))


def _remove(data: bytearray, chance: random.Random) -> None:
    del data[span(len(data), chance)]


def _repeat(data: bytearray, chance: random.Random) -> None:
    part = span(len(data), chance)
    data[part.stop : part.stop] = data[part] * chance.choice((1, 1, 3))


def _move(data: bytearray, chance: random.Random) -> None:
    part = span(len(data), chance)
    taken = data[part]
    del data[part]
    place = chance.randrange(len(data) + 1)
    data[place:place] = taken


def _insert(data: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(data) + 1)
    data[place:place] = chance.choice(ODD_BYTES)


def _overwrite(data: bytearray, chance: random.Random) -> None:
    odd = chance.choice(ODD_BYTES)
    place = chance.randrange(len(data) + 1)
    data[place : place + len(odd)] = odd


def _lines(data: bytearray, chance: random.Random) -> None:
    """Repeat, remove or move whole lines."""
    lines = bytes(data).split(b"\n")
    number = chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            lines.insert(number, lines[number])
        case 1:
            del lines[number]
        case 2:
            lines.insert(chance.randrange(len(lines)), lines.pop(number))
    data[:] = b"\n".join(lines)


CHANGES: tuple[Bytes, ...] = (
    *(_flip, _flip, _set, _cut, _extend, _zero, _remove, _repeat, _move, _insert, _insert),
    *(_overwrite, _lines),
)


class Twice(dict[str, Any]):
    """An object that JSON and YAML show with one of its keys twice."""

    twice: Any = None

    def items(self) -> Any:
        """Return the pairs, the first one again at the end."""
        pairs = list(super().items())
        return [*pairs, (pairs[0][0], self.twice)] if pairs else pairs


def change_tree(value: Any, chance: random.Random) -> Any:
    """Return nested values with one of them changed, removed, added or renamed."""
    node = value
    while isinstance(node, dict | list) and node and chance.random() < 0.8:
        parent = node
        key = chance.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
        node = parent[key]
        if not isinstance(node, dict | list) or chance.random() < 0.2:
            return _changed(value, parent, key, chance)
    return odd_value(chance) if node is value else value


def _changed(value: Any, parent: Any, key: Any, chance: random.Random) -> Any:
    match chance.randrange(6):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, dict):
            names = ("", "x", "update", key.upper(), f"{key} ", "_target_")
            parent[chance.choice(names)] = parent[key]
        case 2 if isinstance(parent, dict) and parent is not value:
            return _twice(value, parent, chance)
        case 3 if isinstance(parent[key], int | float):
            parent[key] = chance.choice(
                (-parent[key], parent[key] + 1, parent[key] * 1000, str(key))
            )
        case _:
            parent[key] = odd_value(chance)
    return value


def _twice(node: Any, wanted: Any, chance: random.Random) -> Any:
    """Return the tree with one of its objects replaced by one that shows a key twice."""
    if node is wanted:
        copy = Twice(node)
        copy.twice = odd_value(chance)
        return copy
    if isinstance(node, dict):
        return {key: _twice(inner, wanted, chance) for key, inner in node.items()}
    return [_twice(inner, wanted, chance) for inner in node] if isinstance(node, list) else node


def odd_value(chance: random.Random) -> Any:
    """Return a value that is seldom the right one."""
    value = chance.choice(ODD_VALUES)
    for _ in range(chance.choice((0, 0, 0, 0, 1, 30, 600))):
        value = [value] if chance.random() < 0.5 else {"a": value}
    return value


def to_json(value: Any) -> bytes:
    """Return JSON; what Python's own encoder cannot write comes as it is spelt."""
    # With an indent the encoder is the one in Python, which asks `Twice` for its items.
    return json.dumps(value, indent=1).encode()
