"""Cases T1, V and P2: edited files, vocabulary sizes, runs beside each other and paths."""

import os
import re
import shutil
from pathlib import Path

import pytest
import sentencepiece
from cases_common import (
    IN,
    SMALL,
    TINY,
    TWELVE,
    lines_of,
    rnnsearch,
    same_weights,
    succeed,
)

from rnnsearch import Translator

SHORT = ("trainer.max_updates=5", "decode.max_length=8")


def test_t1_a_corpus_that_is_edited_in_place(tmp_path: Path) -> None:
    for language in ("en", "fr"):
        shutil.copy(IN / f"base.train.{language}", tmp_path / f"d.{language}")
    english, french = tmp_path / "d.en", tmp_path / "d.fr"
    own = (f"data.train.source={english}", f"data.train.target={french}")

    def train(name: str, *words: str) -> str:
        return succeed("train", *TINY, *SHORT, *own, *words, f"run_dir={tmp_path}/{name}").err

    assert "168 pairs read, 168 kept" in train("r1")
    for path, language in ((english, "en"), (french, "fr")):
        path.write_bytes(path.read_bytes() + (IN / f"tiny.{language}").read_bytes())
    assert "180 pairs read, 180 kept" in train("r2")
    before = english.stat()
    english.write_bytes(english.read_bytes().replace(b"cat", b"cqx"))
    os.utime(english, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = english.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert "180 pairs read, 180 kept" in train("r3")
    model = str(tmp_path / "r3" / "tokenizer" / "source.model")
    pieces = sentencepiece.SentencePieceProcessor(model_file=model)
    assert any("q" in pieces.id_to_piece(i) for i in range(pieces.vocab_size()))
    shutil.copy(english, tmp_path / "e.en")
    assert "180 pairs read, 180 kept" in train("r4", f"data.train.source={tmp_path}/e.en")
    assert same_weights(tmp_path / "r3", tmp_path / "r4")


def test_t1_an_edited_test_set_is_scored_as_it_stands(one_run: Path, tmp_path: Path) -> None:
    shutil.copy(IN / "tiny.fr", tmp_path / "t.fr")
    test = (f"data.test.source={IN}/tiny.en", f"data.test.target={tmp_path}/t.fr")
    words = ("evaluate", f"run_dir={one_run}", *test, "decode.max_length=8")
    assert succeed(*words).out == succeed(*words).out
    first = succeed(*words).out
    text = (tmp_path / "t.fr").read_bytes()
    (tmp_path / "t.fr").write_bytes(text.replace(b"chat", b"chut"))
    assert succeed(*words).out != first


@pytest.mark.parametrize(
    ("settings", "sizes"),
    [
        ((), [(43, 48), (52, 60)]),  # SentencePiece 0.2.3, 0.2.2
        (("tokenizer.joint=true",), [(78, 78), (91, 91)]),
        (("tokenizer=bpe",), [(197, 214)]),
        (("tokenizer=bpe", "tokenizer.joint=true"), [(342, 342)]),
    ],
    ids=["unigram", "unigram joint", "bpe", "bpe joint"],
)
def test_v1_a_vocabulary_too_large_for_the_corpus(
    settings: tuple[str, ...], sizes: list[tuple[int, int]], tmp_path: Path
) -> None:
    words = (*TINY, *TWELVE, *SHORT, "tokenizer.vocab_size=8000", *settings)
    result = succeed("train", *words, f"run_dir={tmp_path}/v")
    warned = [line for line in result.err.split("\n") if line.startswith("warning: ")]
    assert all("tokenizer.vocab_size=8000" in line for line in warned)
    symbols = Translator.load(tmp_path / "v").model.paper_symbols()
    found = symbols["E_bar"].shape[0], symbols["E"].shape[0]
    assert found in sizes
    assert all(any(str(size) in line for line in warned) for size in found)


def test_v1_a_vocabulary_too_small_names_what_is_needed(tmp_path: Path) -> None:
    size, sizes = 10, []
    while True:  # until it works, each time in the same run folder
        words = (*TINY, *TWELVE, *SHORT, f"tokenizer.vocab_size={size}")
        result = rnnsearch("train", *words, f"run_dir={tmp_path}/v")
        if result.status == 0:
            break
        assert result.status == 2
        told = re.search(rf"tokenizer.vocab_size={size} is too small .* need (\d+)", result.err)
        assert told is not None
        size = int(told[1])
        sizes.append(size)
    assert len(sizes) in (1, 2)  # one for each side


def test_v2_a_second_run_beside_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def translated(run: str, output: str) -> bytes:
        words = (f"input={IN}/base.test.en", f"output={output}", "decode.beam_size=1")
        succeed("translate", f"run_dir={run}", *words)
        return Path(output).read_bytes()

    succeed("train", *TINY, *SHORT, "run_dir=runs/a")
    first = translated("runs/a", "o1")
    swapped = (f"data.train.source={IN}/swap.train.en", f"data.train.target={IN}/swap.train.fr")
    succeed("train", *TINY, *SHORT, *swapped, "tokenizer.vocab_size=45", "run_dir=runs/b")
    assert translated("runs/a", "o2") == first
    Path("runs/a").rename("moved")
    assert translated("moved", "o3") == first
    assert first.count(b"\n") == 24


@pytest.mark.slow
def test_p2_started_from_another_folder(
    base_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    data = Path("d")
    data.mkdir()
    for path in IN.glob("base.*"):
        shutil.copy(path, data)
    own = [
        f"data.{split}.{side}=d/base.{split}.{language}"
        for split in ("train", "valid", "test")
        for side, language in (("source", "en"), ("target", "fr"))
    ]
    succeed("train", *TINY, *own, "run_dir=r")
    succeed("train", *TINY, *own, "run_dir=r2", "hydra.job.chdir=true")
    assert same_weights(Path("r"), base_run)
    assert same_weights(Path("r2"), base_run)
    assert {path.name for path in tmp_path.iterdir()} == {"d", "r", "r2"}
    monkeypatch.chdir(data)
    test = ("data.test.source=base.test.en", "data.test.target=base.test.fr")
    succeed("evaluate", "run_dir=../r", *test)
    words = ("input=base.test.en", "output=o", "decode.beam_size=1")
    succeed("translate", "run_dir=../r", *words)
    assert len(lines_of(Path("o"))) == 24
    assert lines_of(Path("o")) == lines_of(Path("../r/hypotheses.txt"))
    Path("../r/hypotheses.txt").unlink()
    succeed("evaluate", "run_dir=../r")  # the test set named at training, from another folder
    assert lines_of(Path("o")) == lines_of(Path("../r/hypotheses.txt"))


def test_p2_a_run_goes_on_from_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d").mkdir()
    for name in ("tiny.en", "tiny.fr"):
        shutil.copy(IN / name, "d")

    def words(folder: str) -> list[str]:
        return [
            f"data.{split}.{side}={folder}tiny.{language}"
            for split in ("train", "valid")
            for side, language in (("source", "en"), ("target", "fr"))
        ]

    quick = (
        "data=files",
        "tokenizer.vocab_size=40",
        "decode.max_length=8",
        "trainer.valid_every=4",
    )
    succeed("train", *SMALL, *quick, *words("d/"), "trainer.max_updates=3", "run_dir=r")
    monkeypatch.chdir("d")
    result = succeed("train", *SMALL, *quick, *words(""), "trainer.max_updates=6", "run_dir=../r")
    assert "going on from step-3" in result.err
    assert "changed since: data" not in result.err
    assert {path.name for path in Path.cwd().iterdir()} == {"tiny.en", "tiny.fr"}
