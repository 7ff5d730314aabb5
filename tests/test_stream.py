"""Lines from a stream: handed on as they come, by the rules of files."""

import io
import os
import threading

import pytest

from rnnsearch.errors import UserError
from rnnsearch.stream import waiting_lines


def batches(data: bytes, limit: int = 100) -> list[list[str]]:
    return list(waiting_lines(io.BytesIO(data), "input", limit=limit, characters=1 << 20))


def test_lines_end_at_lf_alone():
    text = "a\u2028b\x0bc\x0cd\x85e\rf"
    assert batches(f"{text}\r\n\nlast".encode()) == [[text, "", "last"]]


def test_the_limit_cuts_and_nothing_is_lost():
    data = "".join(f"{i}\n" for i in range(10)).encode()
    assert [len(batch) for batch in batches(data, 4)] == [4, 4, 2]
    assert [line for batch in batches(data, 4) for line in batch] == [str(i) for i in range(10)]


def test_empty_stream_and_byte_order_mark():
    assert batches(b"") == []
    assert batches("\ufeffa\n\ufeffb\n".encode()) == [["a", "\ufeffb"]]


def test_a_bad_line_is_named_and_the_lines_before_it_come_through():
    lines = waiting_lines(io.BytesIO(b"a\nb\n\xe9\nc\n"), "input", limit=10, characters=1000)
    assert next(lines) == ["a", "b"]
    with pytest.raises(UserError, match=r"input:3: not UTF-8"):
        next(lines)


def test_long_lines_are_not_gathered():
    line = b"x" * 600 + b"\n"
    lines = waiting_lines(io.BytesIO(line * 5), "input", limit=10, characters=1000)
    assert [len(batch) for batch in lines] == [2, 2, 1]


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr("rnnsearch.lines.MOST_BYTES", 1 << 20)
    monkeypatch.setattr("rnnsearch.stream.MOST_BYTES", 1 << 20)

    class Endless(io.RawIOBase):
        taken = 0

        def readable(self):
            return True

        def read(self, size=-1):
            self.taken += size
            return b"x" * size

    endless = Endless()
    lines = waiting_lines(endless, "input", limit=10, characters=1000)
    with pytest.raises(UserError, match=r"input:1: a line of more than 1 MiB"):
        next(lines)
    assert endless.taken < 2 << 20


def test_a_long_line_comes_whole():
    line = "x" * 300_000
    assert batches(f"{line}\nshort\n".encode()) == [[line, "short"]]


def test_a_waiting_line_is_handed_on_before_the_writer_goes_on():
    """Nobody waits to fill a batch: the second line is written only after the first was seen."""
    read_end, write_end = os.pipe()
    seen = threading.Event()

    def write() -> None:
        with os.fdopen(write_end, "wb", buffering=0) as sink:
            sink.write(b"one\n")
            assert seen.wait(10)
            sink.write(b"two\nthree\n")

    writer = threading.Thread(target=write)
    writer.start()
    found = []
    with os.fdopen(read_end, "rb") as stream:
        for batch in waiting_lines(stream, "input", limit=100, characters=1000):
            found.append(batch)
            seen.set()
    writer.join()
    assert found[0] == ["one"]
    assert [line for batch in found for line in batch] == ["one", "two", "three"]
