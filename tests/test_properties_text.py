"""Any line, any bytes, any pieces: what holds of all tokenizers and of reading."""

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from rnnsearch.errors import UserError
from rnnsearch.lines import lines_of, read_lines
from rnnsearch.subwords import is_blank
from rnnsearch.text import SPECIAL_IDS, UNK, Tokenizers, WordTokenizer, train_tokenizers

ENGLISH = [
    "The cat sees a dog.",
    "It's half past 10, isn't it?",
    'He said: "no (really)", and paid $5.50.',
    "Mr. Fox has 1,000 hens... or more!",
    "naïve café déjà-vu ½ ﬁn 猫が好き。",
    "a < b & c > d; x_y [z] {w} 100% #1 @me",
]
FRENCH = [
    "Le chat voit un chien.",
    "Il est dix heures et demie, n'est-ce pas ?",
    "L'eau qu'il a bue, c'est la mer !",
    "M. Renard a 1 000 poules : « oui » ; « non ».",
    "Où sont les cœurs d'été ? 猫",
    "a < b & c > d ; 100 % aujourd'hui",
]
KINDS = ("unigram", "bpe", "bytes", "word", "joint words")
MARKS = "\u2581\u2047\ufffd\n\r"
NAMED = re.compile(r"<unk>|</?s>|<pad>")
ODD = [
    *("\0", "\x01", "\t", "\x0b", "\x0c", "\r", "\x1c", "\x7f", "\x85", "\xa0", "\xad"),
    *("\u0301", "\u200b", "\u200d", "\u2028", "\u202e", "\u2047", "\u2060", "\u2581", "\u2585"),
    *("\u3000", "\ufe0f", "\ufeff", "\ufffd", "\ud800", "\udfff", "\U0001f642", "\U000e0041"),
    *("<unk>", "<s>", "</s>", "<pad>", "<0x0A>", "&amp;", "@-@", "@@", "|||", "DOTMULTI", "..."),
    *(
        "שלום",
        "مرحبا",
        "e\u0301",
        "हिन्दी",
        "한국어",
        "ﷺ",
        "'",
        '"',
        "`",
        "``",
        ".'",
        "a.b.",
        "l'",
        ",",
    ),
]
WORDS = st.sampled_from([word for line in ENGLISH + FRENCH for word in line.split()])
CHARACTERS = st.characters(exclude_categories=(), exclude_characters="\n")
FRAGMENTS = st.one_of(st.text(CHARACTERS, max_size=6), st.sampled_from(ODD), WORDS)
LINES = st.one_of(
    st.lists(FRAGMENTS, max_size=8).map("".join),
    st.lists(FRAGMENTS, max_size=8).map(" ".join),
    st.builds(lambda part, times: part * times, FRAGMENTS, st.integers(50, 400)),
)
MANY = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def train(kind: str) -> Tokenizers:
    return train_tokenizers(
        ENGLISH,
        FRENCH,
        kind={"bytes": "unigram", "joint words": "word"}.get(kind, kind),
        vocab_size=400 if kind == "bytes" else 80 if kind in ("unigram", "bpe") else 60,
        joint=kind == "joint words",
        byte_fallback=kind == "bytes",
        languages=("en", "fr"),
        warn=lambda _: None,
    )


@pytest.fixture(scope="module", params=KINDS)
def pair(request):
    return train(request.param)


def check_shown(text: str) -> None:
    """Hold that a text can be printed as one line without marks."""
    assert not set(MARKS) & set(text)
    text.encode()


@MANY
@given(LINES)
@example("\0")
@example("\x85 \0")
@example("\ufeff")
@example("'" * 3000)
def test_a_line_becomes_ids_and_text_again(pair, line):
    for tokenizer in pair:
        ids = tokenizer.encode(line)
        assert all(i == UNK or SPECIAL_IDS <= i < tokenizer.vocab_size for i in ids)
        assert tokenizer.encode_batch(["a", line]) == [tokenizer.encode("a"), ids]
        assert (ids == []) == is_blank(line)
        split, pieces = tokenizer.split(line), tokenizer.pieces(ids)
        assert len(split) == len(pieces) == len(ids)
        assert all(i == UNK or a == b for i, a, b in zip(ids, split, pieces, strict=True))
        text = tokenizer.decode(ids)
        check_shown(text)
        # Where an unknown word is left out, its neighbours may spell one.
        assert UNK in ids or set(NAMED.findall(text)) <= set(NAMED.findall(line))


@MANY
@given(st.data())
def test_any_ids_become_text(pair, data):
    for tokenizer in pair:
        ids = data.draw(st.lists(st.integers(0, tokenizer.vocab_size - 1), max_size=12))
        text = tokenizer.decode(ids)
        check_shown(text)
        assert text == tokenizer.decode([i for i in ids if i >= SPECIAL_IDS])
        if isinstance(tokenizer, WordTokenizer):
            assert bool(text) == any(i >= SPECIAL_IDS for i in ids)


@MANY
@given(st.data())
def test_every_piece_belongs_to_a_word(pair, data):
    for tokenizer in pair:
        ids = st.lists(st.integers(SPECIAL_IDS, tokenizer.vocab_size - 1), max_size=12)
        pieces = data.draw(
            st.one_of(ids.map(tokenizer.pieces), LINES.map(tokenizer.split)), label="pieces"
        )
        words = tokenizer.words(pieces)
        assert sum(count for _, count in words) == len(pieces)
        assert all(count > 0 for _, count in words)
        assert all(text for text, _ in words) or len(words) == 1
        if not isinstance(tokenizer, WordTokenizer):
            assert not any("\u2581" in text for text, _ in words)


@MANY
@given(st.lists(WORDS, max_size=10).map(" ".join))
def test_text_that_was_decoded_once_stays(pair, line):
    for tokenizer in pair:
        ids = tokenizer.encode(line)
        once = tokenizer.decode(ids)
        if UNK not in ids:
            assert tokenizer.decode(tokenizer.encode(once)) == once


@MANY
@given(st.lists(FRAGMENTS, max_size=8), st.sampled_from(["en", "fr", "cs", "fi", "ga", "ja", "ko"]))
@example(["a", "l'", "-", "li"], "cs")
@example(["12", ".", "5"], "cs")
@example(["EU", ":", "n"], "fi")
def test_any_words_join_to_a_line(words, language):
    text = WordTokenizer(("a",), language=language).join(words)
    check_shown(text)
    # Only marks and blanks come to nothing.
    kept = "".join(words).translate(dict.fromkeys(map(ord, MARKS)))
    kept = "".join(c for c in kept if not 0xD800 <= ord(c) < 0xE000)
    assert (text == "") == (not kept.split())


@settings(max_examples=30, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=6))
def test_a_saved_tokenizer_gives_the_same_ids(pair, lines):
    with TemporaryDirectory() as folder:
        pair.save(Path(folder))
        loaded = Tokenizers.load(Path(folder))
    for old, new in zip(pair, loaded, strict=True):
        assert new.encode_batch(lines) == old.encode_batch(lines)
        assert new.fingerprint == old.fingerprint
        assert (new.kind, new.vocab_size) == (old.kind, old.vocab_size)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(LINES.filter(lambda line: not is_blank(line)), min_size=1, max_size=8),
    st.integers(5, 30),
    st.booleans(),
)
def test_any_text_makes_lists_that_come_back(lines, vocab_size, joint):
    # NUL and U+0085 alone are neither blank nor words.
    lines = ["a", *lines]
    made = train_tokenizers(
        lines, lines, kind="word", vocab_size=vocab_size, joint=joint, warn=lambda _: None
    )
    with TemporaryDirectory() as folder:
        made.save(Path(folder))
        loaded = Tokenizers.load(Path(folder))
    for old, new in zip(made, loaded, strict=True):
        assert new.encode_batch(lines) == old.encode_batch(lines)
        assert SPECIAL_IDS < new.vocab_size <= vocab_size
        for number in range(SPECIAL_IDS, new.vocab_size):
            assert new.decode([number])


BYTES = st.lists(
    st.one_of(
        st.sampled_from(
            [b"\n", b"\r", b"\r\n", b"\0", b"\xef\xbb\xbf", b"\x0b\x0c\x1c", b"a b", b"\xff"]
        ),
        st.sampled_from(["é", "\u2028", "\x85", "\U0001f642"]).map(str.encode),
        st.binary(max_size=3),
    ),
    max_size=12,
).map(b"".join)


@settings(max_examples=300, deadline=None)
@given(BYTES, st.booleans())
def test_reading_splits_at_lf_alone_and_keeps_everything_else(data, drop_bom):
    expected = data.split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert len(expected) == data.count(b"\n") + (data != b"" and not data.endswith(b"\n"))
    if expected and drop_bom:
        expected[0] = expected[0].removeprefix(b"\xef\xbb\xbf")
    with TemporaryDirectory() as folder:
        path = Path(folder, "text")
        path.write_bytes(data)
        streamed = outcome(lambda: lines_of(io.BytesIO(data), "text", drop_bom=drop_bom))
        read = outcome(lambda: read_lines(path, drop_bom=drop_bom))
    bad = [number for number, line in enumerate(expected, 1) if not is_utf8(line)]
    if bad and expected[0].startswith(b"\x1f\x8b"):  # a file is unpacked, or told as damaged
        assert str(streamed).startswith("text:1: compressed with gzip")
    elif bad:
        assert str(streamed).startswith(f"text:{bad[0]}: not UTF-8")
        assert str(read).startswith(f"{path}:{bad[0]}: not UTF-8")
    else:
        assert streamed == read == [line.removesuffix(b"\r").decode() for line in expected]


def outcome(read: Callable[[], Iterator[str]]) -> list[str] | UserError:
    try:
        return list(read())
    except UserError as error:
        return error


def is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
