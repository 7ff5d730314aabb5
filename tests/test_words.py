import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rnnsearch import moses
from rnnsearch.errors import UserError
from rnnsearch.moses import Workers, behaviour, join_words, split_words
from rnnsearch.subwords import is_blank
from rnnsearch.text import BOS, EOS, PAD, UNK, Tokenizers, WordTokenizer, train_tokenizers
from rnnsearch.words import pack_words, unpack_words

CASES = Path(__file__).parent / "cases"
WORDS = ("null", "NA", "None", "nan", "True", "007")


def lines(name: str) -> list[str]:
    return (CASES / name).read_bytes().decode().split("\n")[:-1]


def train(source, target=None, *, vocab_size=1000, joint=False):
    warnings: list[str] = []
    tokenizers = train_tokenizers(
        source,
        source if target is None else target,
        kind="word",
        vocab_size=vocab_size,
        joint=joint,
        languages=("en", "fr"),
        warn=warnings.append,
    )
    return tokenizers, warnings


@pytest.fixture(scope="module")
def pair():
    return train(lines("base.train.en"), lines("base.train.fr"))[0]


def test_words_stand_by_falling_frequency_and_then_by_code_point():
    tokenizers, warnings = train(["b a c", "b Z c é", "d"], vocab_size=9)
    assert tokenizers.source.vocabulary == ("b", "c", "Z", "a", "d")
    assert not warnings
    assert tokenizers.source.encode("a é b") == [7, UNK, 4]
    assert tokenizers.source.vocab_size == 9
    assert tokenizers.source.kind == "word"


def test_words_are_kept_as_written():
    tokenizer = train(list(WORDS))[0].source
    assert set(tokenizer.vocabulary) == set(WORDS)
    assert tokenizer.encode("NULL na none NAN true 7") == [UNK] * 6
    for word in WORDS:
        assert tokenizer.decode(tokenizer.encode(word)) == word


@pytest.mark.parametrize("joint", [False, True])
def test_too_large_a_list_holds_all_words_and_says_so(joint):
    _, warnings = train(["a b c"], ["b d"], vocab_size=30000, joint=joint)
    sizes = [("both sides", 8)] if joint else [("the source side", 7), ("the target side", 6)]
    assert warnings == [
        f"tokenizer.vocab_size=30000 is too large for {side}: using {size}" for side, size in sizes
    ]


def test_a_list_needs_room_for_a_word_and_a_text():
    assert train(["a a b"], vocab_size=5)[0].source.vocabulary == ("a",)
    message = r"vocab_size=4 is too small for the source side: .* need 5 or more"
    with pytest.raises(UserError, match=message):
        train(["a"], vocab_size=4)
    for text in ([], ["", "\u200b"], ["\0", "\x85 \0"]):
        with pytest.raises(UserError, match="no text to train a tokenizer on for the target side"):
            train(["a"], text)


def test_each_side_is_split_by_its_own_language_also_with_one_list():
    tokenizers, _ = train(["l'eau", "don't"], ["l'eau", "don't"], joint=True)
    source, target = tokenizers
    assert source.split("don't l'eau") == ["don", "'t", "l", "'eau"]
    assert target.split("don't l'eau") == ["don'", "t", "l'", "eau"]
    assert source.vocabulary is target.vocabulary
    assert not {UNK} & {*source.encode("don't l'eau"), *target.encode("don't l'eau")}
    assert source.fingerprint != target.fingerprint
    assert target.decode(target.encode("l'eau")) == "l'eau"


def test_marks_are_words_or_unknown_and_never_ids(pair):
    for line in lines("special.src"):
        ids = pair.source.encode(line)
        assert ids
        assert not {BOS, EOS, PAD} & set(ids)
    known = train(lines("special.src"))[0].source
    ids = known.encode("The cat </s> sees <unk> .")
    assert min(ids) > PAD
    assert known.pieces(ids)[2:5] == ["<", "/", "s"]
    assert known.pieces([UNK, BOS, EOS, PAD]) == ["<unk>", "<s>", "</s>", "<pad>"]
    assert known.decode([BOS, *known.encode("The cat"), UNK, EOS, PAD]) == "The cat"


def test_text_survives(pair):
    for tokenizer, name in zip(pair, ("base.train.en", "base.train.fr"), strict=True):
        for line, ids in zip(lines(name), tokenizer.encode_batch(lines(name)), strict=True):
            assert UNK not in ids
            assert tokenizer.decode(ids) == line
            assert tokenizer.encode(line) == ids


def test_blank_lines_have_no_words(pair):
    assert [not words for words in map(pair.source.split, lines("blank.src"))] == [
        is_blank(line) for line in lines("blank.src")
    ]
    # Moses itself leaves nothing of these two, which are pieces to SentencePiece.
    assert pair.source.split("\0 \x85") == ["\0", "\x85"]
    assert pair.source.encode("\0") == [UNK]


def test_entities_are_text():
    assert split_words("A &amp; b &#91;", "en") == ["A", "&", "amp", ";", "b", "&", "#", "91", ";"]
    assert join_words(["&amp;", "&#91;"], "en") == "&amp; &#91;"


@pytest.mark.parametrize(
    ("words", "language", "text"),
    [
        (["Hello", ",", "New York", "!"], "en", "Hello, New York!"),
        (["l'", "eau", "\u2581x\n", "\u2047", "\ud800", "y"], "fr", "l'eau x y"),
        (["je", "l'", "-", "li"], "cs", "je l' - li"),
        (["``", "''", "'", '"', "("], "en", "``'''\"("),
        ([], "en", ""),
    ],
)
def test_any_words_join_to_a_line(words, language, text):
    assert join_words(words, language) == text


def test_each_word_is_one_piece(pair):
    pieces = pair.source.split("A cat, zebra")
    assert pair.source.words(pieces) == [("A", 1), ("cat", 1), (",", 1), ("zebra", 1)]


@pytest.mark.parametrize(
    "line",
    [
        *lines("long.src"),
        *lines("nospace.src"),
        *(w * 20_000 for w in ("a.b. ", "a. B ", "l'x-, ")),
    ],
    ids=lambda line: f"{line[:5]}{len(line)}",
)
def test_long_lines_take_no_longer_than_their_length_asks_for(pair, line):
    begin = time.process_time()
    for tokenizer in pair:
        ids = tokenizer.encode(line)
        assert tokenizer.join(tokenizer.split(line)).replace(" ", "") == line.replace(" ", "")
        tokenizer.decode(ids)
    assert time.process_time() - begin < 10


@pytest.mark.parametrize("language", ["en", "fr", "de", "xx"])
def test_the_shortcuts_change_no_word(language):
    from sacremoses import MosesTokenizer

    plain = MosesTokenizer(lang=language)
    for line in [*moses._PROBE, *lines("special.src"), *lines("odd.test.fr"), "a.b. x. 3.B. é.à."]:
        assert split_words(line, language) == plain.tokenize(moses.normalize(line), escape=False)


def test_the_fingerprint_tells_lists_and_languages_apart():
    one = WordTokenizer(("a", "b"), language="en")
    others = [(("b", "a"), "en"), (("a",), "en"), (("ab",), "en"), (("a", "b"), "fr")]
    prints = {WordTokenizer(words, language=language).fingerprint for words, language in others}
    assert len({one.fingerprint, *prints}) == 5
    assert WordTokenizer(("a", "b"), language="en").fingerprint == one.fingerprint


def test_the_fingerprint_notices_another_way_of_splitting(monkeypatch):
    before = WordTokenizer(("a",), language="en").fingerprint
    behaviour.cache_clear()
    monkeypatch.setattr(moses, "split_words", lambda line, language: line.split())
    assert WordTokenizer(("a",), language="en").fingerprint != before
    behaviour.cache_clear()


@pytest.mark.parametrize("joint", [False, True])
def test_lists_come_back_from_a_folder(tmp_path, joint):
    source, target = lines("base.train.en"), lines("base.train.fr")
    for kind, other in (("unigram", False), ("unigram", True), ("word", not joint)):
        train_tokenizers(
            source, target, kind=kind, vocab_size=60, joint=other, warn=lambda _: None
        ).save(tmp_path)
    saved, _ = train(source, target, joint=joint)
    saved.save(tmp_path)
    loaded = Tokenizers.load(tmp_path)
    assert [one.fingerprint for one in loaded] == [one.fingerprint for one in saved]
    assert [one.language for one in loaded] == ["en", "fr"]
    assert (loaded.source.vocabulary is loaded.target.vocabulary) == joint
    names = {"joint.words"} if joint else {"source.words", "target.words"}
    assert {path.name for path in tmp_path.iterdir()} == names
    for old, new, side in zip(saved, loaded, (source, target), strict=True):
        assert new.encode_batch(side) == old.encode_batch(side)
    # And the other way: models in the place of lists.
    train_tokenizers(
        source, target, kind="unigram", vocab_size=60, joint=False, warn=lambda _: None
    ).save(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"source.model", "target.model"}


def test_a_list_is_plain_text(tmp_path):
    train(["b é", "b"])[0].save(tmp_path)
    content = (tmp_path / "source.words").read_bytes().decode()
    header, rest = content.split("\n", 1)
    assert json.loads(header) == {"format": "words-1", "languages": ["en"], "words": 2}
    assert rest == "b\né\n"


def test_a_missing_list_is_named(tmp_path):
    for name in ("target.words", "source.words"):
        train(["a b"])[0].save(tmp_path)
        (tmp_path / name).unlink()
        with pytest.raises(UserError, match=rf"{name}: no such file") as caught:
            Tokenizers.load(tmp_path)
        assert caught.value.status == 1
    train(["a b"])[0].save(tmp_path)
    (tmp_path / "target.words").unlink()
    (tmp_path / "target.words").mkdir()
    with pytest.raises(UserError, match=r"target\.words: cannot be read"):
        Tokenizers.load(tmp_path)


WHOLE = pack_words([WordTokenizer(("the", "dog", "é"), language="en")])
HEADER = WHOLE.split(b"\n")[0]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        *((WHOLE[:cut], "") for cut in range(len(WHOLE))),
        (WHOLE + b"x", "3 words were expected"),
        (WHOLE + b"x\n", "3 words were expected"),
        (HEADER + b"\nthe\nthe\ndog\n", "a word is repeated"),
        (HEADER + b"\nthe\na b\ndog\n", "a word is repeated, or is none"),
        (HEADER + b"\nthe\n\ndog\n", "a word is repeated, or is none"),
        (HEADER + b"\nthe\ndog\n\xe9\n", "can't decode"),
        (WHOLE.replace(b"words-1", b"words-9"), "not a list of words in the format words-1"),
        (WHOLE.replace(b'["en"]', b"[]"), "not a list of words"),
        (WHOLE.replace(b'["en"]', b"5"), "the first line does not say what it is"),
        (WHOLE.replace(b'["en"]', b'["en", "fr"]'), "a list for 2 languages, not for 1"),
        (b"[]\n", "the first line"),
        (b"null\n", "the first line"),
    ],
)
def test_a_damaged_list_is_refused(tmp_path, data, reason):
    Tokenizers(*(WordTokenizer((w,), language="en") for w in "ab")).save(tmp_path)
    (tmp_path / "source.words").write_bytes(data)
    message = rf"source\.words: incomplete or damaged \(.*{reason}"
    with pytest.raises(UserError, match=message) as caught:
        Tokenizers.load(tmp_path)
    assert caught.value.status == 1


def test_the_list_of_one_side_is_no_joint_one(tmp_path):
    (tmp_path / "joint.words").write_bytes(WHOLE)
    with pytest.raises(UserError, match="a list for 1 languages, not for 2"):
        Tokenizers.load(tmp_path)
    assert unpack_words(WHOLE)[0].vocabulary == ("the", "dog", "é")


@pytest.fixture
def two_cores(monkeypatch):
    """Let two processes share the work from the second hundred of lines on."""
    monkeypatch.setattr(moses, "_ALONE", 100)
    monkeypatch.setattr(moses, "_cores", lambda: 2)


TEXT = [
    line for _ in range(2) for line in [*lines("base.train.fr"), *lines("special.src"), "\ud800"]
]


def test_words_are_the_same_from_any_number_of_processes(two_cores):
    alone = [split_words(line, "fr") for line in TEXT]
    with Workers() as workers:
        assert list(workers.split(TEXT, "fr")) == alone
        processes = list(workers._processes)
        assert len(processes) == 2
        assert list(workers.split(TEXT, "en")) == [split_words(line, "en") for line in TEXT]
        assert workers._processes == processes
    assert all(process.poll() is not None for process in processes)
    tokenizers, _ = train(TEXT, joint=True)
    plain = tokenizers.source.encode_batch(TEXT)
    with tokenizers.many_lines():
        assert tokenizers.source.encode_batch(TEXT) == plain
        assert tokenizers.source.workers._processes
        assert tokenizers.source.workers is tokenizers.target.workers
    assert not tokenizers.source.workers._processes


def test_processes_that_die_are_not_missed(two_cores):
    alone = [split_words(line, "fr") for line in TEXT]
    with Workers() as workers:
        answers = workers.split(TEXT, "fr")
        got = [next(answers) for _ in range(150)]
        workers._processes[0].kill()
        assert [*got, *answers] == alone
        assert not workers._processes
        assert list(workers.split(TEXT, "fr")) == alone


def test_processes_that_cannot_start_are_not_missed(two_cores, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with Workers() as workers:
        assert list(workers.split(TEXT, "fr")) == [split_words(line, "fr") for line in TEXT]


def test_an_answer_nobody_waits_for_is_not_taken_for_another(two_cores):
    with Workers() as workers:
        answers = workers.split(TEXT, "fr")
        for _ in range(150):
            next(answers)
        answers.close()
        assert list(workers.split(TEXT[:5], "fr")) == [split_words(line, "fr") for line in TEXT[:5]]


def test_an_error_in_the_lines_stays_itself(two_cores):
    def failing():
        yield from TEXT
        raise UserError("a.en:3: not UTF-8")

    with pytest.raises(UserError, match=r"a\.en:3: not UTF-8"):
        train(failing())


def test_commands_start_without_moses():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, rnnsearch.text; print('sacremoses' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
