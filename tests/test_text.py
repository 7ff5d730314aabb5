from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.errors import UserError
from rnnsearch.subwords import Feed, is_blank
from rnnsearch.text import (
    BOS,
    EOS,
    PAD,
    SentencePieceTokenizer,
    Tokenizers,
    train_tokenizers,
)

CASES = Path(__file__).parent / "cases"
MARKS = "\u2581\u2047\ufffd\n\r"
NORMALIZE = sentencepiece.SentencePieceNormalizer(
    rule_name="nmt_nfkc",
    add_dummy_prefix=False,
    escape_whitespaces=False,
    remove_extra_whitespaces=True,
)


def lines(name: str) -> list[str]:
    return (CASES / name).read_bytes().decode().split("\n")[:-1]


def train(source, target=None, *, kind="unigram", vocab_size=50, joint=False, byte_fallback=False):
    warnings: list[str] = []
    tokenizers = train_tokenizers(
        source,
        source if target is None else target,
        kind=kind,
        vocab_size=vocab_size,
        joint=joint,
        byte_fallback=byte_fallback,
        warn=warnings.append,
    )
    return tokenizers, warnings


@pytest.fixture(scope="module")
def tokenizer():
    return train(lines("base.train.en"))[0].source


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def byte_tokenizer(request):
    return train(lines("base.train.en"), kind=request.param, vocab_size=300, byte_fallback=True)[
        0
    ].source


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("joint", [False, True])
def test_too_large_a_vocabulary_uses_the_largest_that_works_and_says_so(kind, joint):
    """How large that is depends on the release of SentencePiece."""
    source, target = lines("tiny.en"), lines("tiny.fr")
    tokenizers, warnings = train(source, target, kind=kind, joint=joint, vocab_size=8000)
    sizes = (tokenizers.source.vocab_size, tokenizers.target.vocab_size)
    assert 28 < sizes[0] <= sizes[1] < 8000
    assert tokenizers.source.kind == kind
    sides = ["both sides"] if joint else ["the source side", "the target side"]
    assert warnings == [
        f"tokenizer.vocab_size=8000 is too large for {side}: using {size}"
        for side, size in zip(sides, sizes, strict=False)
    ]
    texts = (source, target) if joint else (source,)
    named, warnings = train(*texts, kind=kind, joint=joint, vocab_size=sizes[0])
    assert not [text for text in warnings if sides[0] in text]
    assert named.source.vocab_size == sizes[0]
    more, warnings = train(*texts, kind=kind, joint=joint, vocab_size=sizes[0] + 1)
    assert [text for text in warnings if f"is too large for {sides[0]}" in text]
    assert more.source.vocab_size == sizes[0]


@pytest.mark.parametrize(("byte_fallback", "needed"), [(False, 28), (True, 284)])
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_too_small_a_vocabulary_names_the_smallest_that_works(kind, byte_fallback, needed):
    text = lines("tiny.en")
    for size in (1, needed - 1):
        message = f"tokenizer.vocab_size={size} is too small for the source side.* {needed} or"
        with pytest.raises(UserError, match=message):
            train(text, kind=kind, vocab_size=size, byte_fallback=byte_fallback)
    tokenizers, _ = train(text, kind=kind, vocab_size=needed, byte_fallback=byte_fallback)
    assert tokenizers.source.vocab_size == needed


@pytest.mark.parametrize("text", [[], ["", " "], ["\u200b"]])
def test_blank_text_trains_no_tokenizer(text):
    with pytest.raises(UserError, match="no text to train a tokenizer on for the target side"):
        train(["a b"], text)


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_the_same_text_gives_the_same_model_bit_for_bit(kind):
    first, second = (
        train(iter(lines("base.train.fr")), [], kind=kind, joint=True)[0] for _ in "12"
    )
    assert isinstance(first.source, SentencePieceTokenizer)
    assert first.source.model == second.source.model
    assert first.source.fingerprint == second.source.fingerprint
    assert first.source is first.target


def test_a_line_separator_normalises_to_a_blank():
    assert train(lines("shift.ls.en"))[0].source.fingerprint == (
        train(lines("base.train.en"))[0].source.fingerprint
    )


@pytest.mark.parametrize("line", lines("special.src"))
def test_text_that_looks_like_a_mark_is_text(tokenizer, byte_tokenizer, line):
    for one in (tokenizer, byte_tokenizer):
        ids = one.encode(line)
        assert ids
        assert not {BOS, EOS, PAD} & set(ids)
        assert not set(MARKS) & set(one.decode(ids))
        assert len(one.pieces(ids)) == len(one.split(line)) == len(ids)
    assert byte_tokenizer.decode(ids) == NORMALIZE.normalize(line)


def test_split_shows_unknown_text_as_written(tokenizer):
    line = "The cat </s> sees"
    assert "".join(tokenizer.split(line)).replace("\u2581", " ") == f" {line}"
    assert "<unk>" in tokenizer.pieces(tokenizer.encode(line))


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_marks_in_the_training_text_stay_text(byte_fallback):
    text = [f"{line} </s> <unk> \u2581 <0x0A> end" for line in lines("base.train.fr")]
    tokenizer = train(text, vocab_size=320, byte_fallback=byte_fallback)[0].source
    ids = tokenizer.encode("Le chat </s> <0x0A> end")
    assert not {BOS, EOS, PAD} & set(ids)
    assert tokenizer.decode(ids).endswith("end")
    assert not byte_fallback or tokenizer.decode(ids) == "Le chat </s> <0x0A> end"


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_odd_training_lines_are_used(kind):
    odd = ["q\0" * 20, "\x01\x02\x85\u2028", "\u2585j" * 20, "\ud800", "x " * 2500, "y" * 5000]
    text = [*odd, "", "ab\n\rcd", *lines("base.train.en")]
    tokenizer = train(text, kind=kind, vocab_size=60)[0].source
    for letter in "qjxy":
        assert tokenizer.pieces(tokenizer.encode(letter))[-1].endswith(letter)


@pytest.mark.parametrize("error", [UserError("a.en:3: not UTF-8"), KeyboardInterrupt()])
def test_an_error_in_the_lines_stays_itself(error):
    def failing():
        yield from lines("tiny.en")
        raise error

    with pytest.raises(type(error)) as caught:
        train(failing())
    assert caught.value is error


def test_special_ids_add_nothing_to_the_text(tokenizer):
    ids = tokenizer.encode("A dog has some water.")
    assert tokenizer.decode([BOS, *ids[:3], 0, *ids[3:], EOS, PAD]) == "A dog has some water."
    assert tokenizer.decode([]) == ""


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=30))
def test_any_text_survives_as_bytes(byte_tokenizer_pair, line):
    for tokenizer in byte_tokenizer_pair:
        ids = tokenizer.encode(line)
        assert all(PAD < i < tokenizer.vocab_size for i in ids)
        expected = NORMALIZE.normalize(line.encode("utf-8", "replace").decode())
        assert tokenizer.decode(ids) == expected


@pytest.fixture(scope="module")
def byte_tokenizer_pair():
    text = lines("base.train.en")
    return [
        train(text, kind=kind, vocab_size=300, byte_fallback=True)[0].source
        for kind in ("unigram", "bpe")
    ]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 299), max_size=20))
def test_no_ids_decode_to_a_mark_or_a_line_end(byte_tokenizer_pair, ids):
    for tokenizer in byte_tokenizer_pair:
        text = tokenizer.decode(ids)
        assert not set(MARKS) & set(text)
        text.encode()


def test_bytes_that_spell_a_mark_are_no_mark(byte_tokenizer):
    for mark, shown in [("\n", " "), ("\u2581", " "), ("\u2047", ""), ("\ufffd", "")]:
        spelt = [byte_tokenizer.pieces([i])[0] for i in range(300)]
        ids = [spelt.index(f"<0x{byte:02X}>") for byte in mark.encode()]
        x = byte_tokenizer.encode("a")
        assert byte_tokenizer.decode([*x, *ids, *x]) == f"a{shown} a"


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=6))
def test_blank_means_no_pieces(tokenizer, line):
    assert is_blank(line) == (tokenizer.encode(line) == [])


def test_blank_lines_of_every_kind(tokenizer):
    blank = [number for number, line in enumerate(lines("blank.src"), 1) if is_blank(line)]
    assert blank == [2, 4, 5, 6, 7, 8, 9]
    assert [not ids for ids in tokenizer.encode_batch(lines("blank.src"))] == [
        number in blank for number in range(1, 11)
    ]


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ("", []),
        ("▁The ▁c at", [("The", 1), ("cat", 2)]),
        ("at ▁c at", [("at", 1), ("cat", 2)]),
        ("▁ quokka s ▁The", [("quokkas", 3), ("The", 1)]),
        ("▁ ▁The", [("The", 2)]),
        ("▁The ▁", [("The", 2)]),
        ("▁ ▁", [("", 2)]),
        ("▁The <unk> ▁c <unk>", [("The<unk>", 2), ("c<unk>", 2)]),
    ],
)
def test_pieces_spell_words(tokenizer, pieces, words):
    assert tokenizer.words(pieces.split()) == words


def test_bytes_spell_words(byte_tokenizer):
    pieces = byte_tokenizer.split("A caté zoé")
    assert "<0xC3>" in pieces
    words = byte_tokenizer.words(pieces)
    assert [text for text, _ in words] == ["A", "caté", "zoé"]
    assert sum(count for _, count in words) == len(pieces)
    broken = byte_tokenizer.words(["▁A", "<0xC3>", "▁A", "<0x0A>"])
    assert broken == [("A", 2), ("A", 2)]


def test_words_of_lines_are_those_between_blanks(tokenizer):
    for line in [*lines("base.test.en"), *lines("plot.src"), *lines("odd.test.en")]:
        pieces = tokenizer.split(line)
        words = tokenizer.words(pieces)
        assert [text for text, _ in words] == NORMALIZE.normalize(line).split()
        assert sum(count for _, count in words) == len(pieces)


def test_words_join_to_a_line(tokenizer):
    assert tokenizer.join(["The", "cat\n", "\u2581\ud800sees"]) == "The cat   sees"


@pytest.mark.parametrize("joint", [False, True])
def test_tokenizers_come_back_from_a_folder(tmp_path, joint):
    source, target = lines("base.train.en"), lines("base.train.fr")
    # A first try may have left the other form in the folder.
    train(source, target, joint=not joint, kind="bpe", vocab_size=60)[0].save(tmp_path)
    saved, _ = train(source, target, joint=joint)
    saved.save(tmp_path)
    loaded = Tokenizers.load(tmp_path)
    assert [one.fingerprint for one in loaded] == [one.fingerprint for one in saved]
    assert [one.kind for one in loaded] == ["unigram", "unigram"]
    assert (loaded.source is loaded.target) == joint
    names = {"joint.model"} if joint else {"source.model", "target.model"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_missing_model_file_is_named(tmp_path):
    train(lines("tiny.en"))[0].save(tmp_path)
    (tmp_path / "target.model").unlink()
    with pytest.raises(UserError, match=r"target\.model: no such file") as caught:
        Tokenizers.load(tmp_path)
    assert caught.value.status == 1
    (tmp_path / "target.model").mkdir()
    with pytest.raises(UserError, match=r"target\.model: cannot be read"):
        Tokenizers.load(tmp_path)


def test_a_cut_or_foreign_model_file_is_refused(tmp_path):
    tokenizers, _ = train(lines("tiny.en"))
    tokenizers.save(tmp_path)
    path = tmp_path / "source.model"
    whole = path.read_bytes()
    # SentencePiece itself takes a model that ends after any piece, or before its normaliser.
    cuts = [*range(470, 560), *range(0, len(whole), 20_011), len(whole) - 1]
    for data in [*(whole[:cut] for cut in cuts), b"\xff" * 50, b"text\n" * 50, b"PK\3\4" * 9]:
        path.write_bytes(data)
        with pytest.raises(UserError, match=r"source\.model: incomplete or damaged") as caught:
            Tokenizers.load(tmp_path)
        assert caught.value.status == 1


def test_a_model_with_other_special_ids_is_refused(tmp_path):
    prefix = tmp_path / "other"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines("tiny.en")),
        model_prefix=str(prefix),
        vocab_size=40,
        minloglevel=2,
    )
    (tmp_path / "other.model").rename(tmp_path / "joint.model")
    with pytest.raises(UserError, match=r"joint\.model: .*the special ids are not UNK 0"):
        Tokenizers.load(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file.*: cannot be written") as caught:
        train(lines("tiny.en"))[0].save(tmp_path / "file" / "tokenizer")
    assert caught.value.status == 1


@pytest.mark.parametrize("line", ["ha " * 30_000, "-" * 90_000, "a\u3000b\x85c " * 9_000 + "end"])
def test_a_long_line_trains_in_parts_of_the_same_words(line):
    """A line that repeats itself takes the unigram trainer time with the square of its length."""
    parts = list(Feed(["before", line, "after"]))
    assert (parts[0], parts[-1]) == ("before", "after")
    assert max(map(len, parts)) <= 10_001
    words = " ".join(parts[1:-1]).split()
    assert "".join(words) == "".join(line.split())
    if "-" not in line:
        assert words == line.split()
