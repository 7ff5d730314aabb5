"""The cases of the kinds V (vocabulary) and T (cells are text) that concern the tokenizers."""

import shutil
from pathlib import Path

import pytest
from cases_common import IN, SMALL, TINY, TWELVE, lines_of, rnnsearch, succeed, translate, weights

from rnnsearch.text import PAD, UNK, Tokenizers

KINDS = ("unigram", "bpe", "word")
# Of English, French, and both; the unigram ones of SentencePiece 0.2.3 and of 0.2.2.
TWELVE_SIZES = {"unigram": [(43, 48, 78), (52, 60, 91)], "bpe": [(197, 214, 342)]}


def of_kind(kind: str, *overrides: str) -> list[str]:
    """Return TINY for a tokenizer of a kind; the word list has no bytes to fall back to."""
    words = [word for word in TINY if kind != "word" or "byte_fallback" not in word]
    return [*words, f"tokenizer={kind}", *overrides]


def words_of(name: str) -> set[str]:
    """Return the words of a case's text, which has nothing but letters, blanks and full stops."""
    return set((IN / name).read_bytes().decode().replace(".", " . ").split())


# V1: a vocabulary too large for the corpus.


@pytest.mark.parametrize("joint", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_v1_a_vocabulary_too_large_is_used_at_the_size_that_works(tmp_path, kind, joint):
    run = tmp_path / "v"
    few = (
        "trainer.max_updates=1",
        "trainer.valid_every=1",
        f"tokenizer.joint={str(joint).lower()}",
    )
    argv = ["train", *of_kind(kind, *few), *TWELVE, f"run_dir={run}"]
    result = succeed(*argv, "tokenizer.vocab_size=8000")
    tokenizers = Tokenizers.load(run / "tokenizer")
    sizes = [tokenizers.source.vocab_size, tokenizers.target.vocab_size]
    if kind in TWELVE_SIZES:
        assert sizes in [
            [both, both] if joint else [english, french]
            for english, french, both in TWELVE_SIZES[kind]
        ]
    sides = ["both sides"] if joint else ["the source side", "the target side"]
    for side, size in zip(sides, sizes, strict=False):
        message = f"tokenizer.vocab_size=8000 is too large for {side}: using {size}"
        assert result.err.count(message) == 1
        assert message in (run / "train.log").read_text()
    tensors = {tuple(tensor.shape) for tensor in weights(run).values()}
    assert {(size, 16) for size in sizes} <= tensors


def test_v1_the_lists_hold_every_word_of_a_small_text(tmp_path):
    few = ("trainer.max_updates=1", "trainer.valid_every=1", "tokenizer.vocab_size=8000")
    succeed("train", *of_kind("word", *few), *TWELVE, f"run_dir={tmp_path}/v")
    for side, name in zip(Tokenizers.load(tmp_path / "v" / "tokenizer"), ("en", "fr"), strict=True):
        if name == "en":
            assert {*side.vocabulary} == words_of("tiny.en")
        for line in lines_of(IN / f"tiny.{name}"):
            assert UNK not in side.encode(line)
            assert side.decode(side.encode(line)) == line


@pytest.mark.parametrize(
    ("kind", "size", "needed"), [("unigram", 10, "28 or more"), ("word", 4, "tokenizer.vocab_size")]
)
def test_v1_a_vocabulary_too_small_is_refused_and_the_same_folder_used(
    tmp_path, kind, size, needed
):
    few = ("trainer.max_updates=1", "trainer.valid_every=1")
    argv = ["train", *of_kind(kind, *few), *TWELVE, f"run_dir={tmp_path}/v"]
    result = rnnsearch(*argv, f"tokenizer.vocab_size={size}")
    assert result.status == 2
    assert needed in result.err
    succeed(*argv, "tokenizer.vocab_size=43")


# V2: a second run beside the first, and a folder that moves.


@pytest.mark.parametrize("kind", KINDS)
def test_v2_a_run_owns_its_tokenizers(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    few = ("trainer.max_updates=2", "trainer.valid_every=2", "decode.max_length=12")
    size = {"unigram": 50, "bpe": 60, "word": 30}[kind]
    succeed("train", *of_kind(kind, *few), f"tokenizer.vocab_size={size}", "run_dir=runs/a")
    test = lines_of(IN / "base.test.en")
    first = translate(Path("runs/a"), test, tmp_path)
    swapped = (
        f"data.train.source={IN}/swap.train.en",
        f"data.train.target={IN}/swap.train.fr",
        f"tokenizer.vocab_size={size - 5}",
    )
    succeed("train", *of_kind(kind, *few), *swapped, "run_dir=runs/b")
    assert translate(Path("runs/a"), test, tmp_path) == first
    Path("runs/a").rename("moved")
    assert translate(Path("moved"), test, tmp_path) == first
    files = {path.name for path in Path("moved/tokenizer").iterdir()}
    suffix = "words" if kind == "word" else "model"
    assert files == {f"source.{suffix}", f"target.{suffix}"}


def test_v2_a_damaged_list_is_named(tmp_path):
    few = ("trainer.max_updates=1", "trainer.valid_every=1")
    succeed("train", *of_kind("word", *few), *TWELVE, f"run_dir={tmp_path}/a")
    shutil.copytree(tmp_path / "a", tmp_path / "b", symlinks=True)
    path = tmp_path / "b" / "tokenizer" / "target.words"
    path.write_bytes(path.read_bytes()[:-7])
    result = rnnsearch("translate", f"run_dir={tmp_path}/b", f"input={IN}/tiny.en")
    assert (result.status, result.out) == (1, "")
    assert f"{path}: incomplete or damaged" in result.err
    assert result.err.count("\n") == 1


# T2: cells that look like missing values.


def test_t2_word_lists_hold_the_cells_as_written(tmp_path):
    table = [f"data.{split}.table={IN}/words.tsv" for split in ("train", "valid")]
    null = [f"data.{s}.{side}=null" for s in ("train", "valid") for side in ("source", "target")]
    small = [word for word in SMALL if "byte_fallback" not in word and "joint" not in word]
    result = succeed(
        *("train", *small, "data=files", *null, *table, "tokenizer=word"),
        *("trainer.batch_sentences=2", "trainer.max_updates=3", f"run_dir={tmp_path}/w"),
    )
    assert "6 pairs read, 6 kept" in result.err
    assert "6 pairs read, 6 kept" in (tmp_path / "w" / "train.log").read_text()
    source, target = Tokenizers.load(tmp_path / "w" / "tokenizer")
    assert {*source.vocabulary} == {"null", "NA", "None", "nan", "True", "007"}
    assert {*target.vocabulary} == {"nul", "NA", "Aucun", "pain", "Vrai", "007"}
    assert min(source.encode("null NA None nan True 007")) > PAD
    header, *words = lines_of(tmp_path / "w" / "tokenizer" / "source.words")
    assert sorted(words) == ["007", "NA", "None", "True", "nan", "null"]
    assert '"en"' in header
    assert len(translate(tmp_path / "w", ["null", "", "zebra"], tmp_path)) == 3
