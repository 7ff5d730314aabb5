"""Cases L, E, S and D: lines, blank lines, marks and bytes."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest
from cases_common import (
    IN,
    MARKS,
    QUICK,
    TEST,
    TINY,
    evaluation,
    in_process,
    lines_of,
    refuse,
    rnnsearch,
    sacrebleu,
    same_weights,
    succeed,
    translate,
)

from rnnsearch import Translator

ONE_UPDATE = "trainer.max_updates=1"

# A small model may find the empty line the best translation of words that it has never seen.
SOME = "decode.min_length_ratio=0.3"


@pytest.mark.slow
def test_l1_a_line_separator_inside_a_line_shifts_no_pair(base_run: Path, tmp_path: Path) -> None:
    shifted = (f"data.train.source={IN}/shift.ls.en", f"data.train.target={IN}/shift.ls.fr")
    result = succeed("train", *TINY, *shifted, f"run_dir={tmp_path}/ls")
    assert "168 pairs read, 168 kept" in result.err
    assert "168 pairs read, 168 kept" in (tmp_path / "ls" / "train.log").read_text("utf-8")
    assert same_weights(tmp_path / "ls", base_run)


def test_l1_a_line_separator_shifts_no_score(base_run: Path) -> None:
    shifted = (
        f"data.test.source={IN}/testshift.ls.en",
        f"data.test.target={IN}/testshift.ls.fr",
    )
    succeed("evaluate", f"run_dir={base_run}", *shifted)
    assert len(lines_of(base_run / "hypotheses.txt")) == 24
    score = sacrebleu(IN / "testshift.ls.fr", base_run / "hypotheses.txt")
    assert score == f"{evaluation(base_run)['bleu']['score']:.2f}"


@pytest.mark.parametrize("mark", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029", "\r"])
def test_what_other_readers_take_for_a_line_end_stays_inside_its_line(
    mark: str, one_run: Path, tmp_path: Path
) -> None:
    lines = [f"The cat sees{mark} a dog.", "A dog has some water.", f"{mark}The cat"]
    found = translate(one_run, lines, tmp_path)
    assert len(found) == 3
    assert found[1] == translate(one_run, lines[1:2], tmp_path)[0]


@pytest.mark.slow
def test_a_stream_splits_lines_as_a_file_does(one_run: Path, tmp_path: Path) -> None:
    lines = [f"The cat{mark}sees a dog." for mark in "\x0b\x0c\x85\u2028\r"]
    stream = "".join(line + "\n" for line in lines).encode()
    result = in_process("translate", f"run_dir={one_run}", "decode.beam_size=1", stdin=stream)
    assert result.out.split("\n") == [*translate(one_run, lines, tmp_path), ""]


def test_the_last_line_may_lack_its_end_and_others_may_end_with_cr(
    one_run: Path, tmp_path: Path
) -> None:
    plain = translate(one_run, ["The cat sees a dog.", "A dog has some water."], tmp_path)
    odd = tmp_path / "odd.src"
    odd.write_bytes(b"\xef\xbb\xbfThe cat sees a dog.\r\nA dog has some water.")
    words = (f"run_dir={one_run}", f"output={tmp_path}/o", "decode.beam_size=1")
    succeed("translate", *words, f"input={odd}")
    assert lines_of(tmp_path / "o") == plain
    zipped = tmp_path / "odd.gz"
    zipped.write_bytes(gzip.compress(odd.read_bytes()))
    succeed("translate", *words, f"input={zipped}")
    assert lines_of(tmp_path / "o") == plain


def test_an_empty_input_gives_an_empty_output(one_run: Path, tmp_path: Path) -> None:
    assert translate(one_run, [], tmp_path) == []


def test_l2_a_lost_line_is_told_before_any_work(tmp_path: Path) -> None:
    uneven = (f"data.train.source={IN}/uneven.train.en", f"data.train.target={IN}/uneven.train.fr")
    refuse(
        *("train", *TINY, *uneven, f"run_dir={tmp_path}/u"),
        words=("uneven.train.en", "uneven.train.fr", "168", "167"),
    )
    assert not (tmp_path / "u" / "tokenizer").exists()


def test_l2_a_lost_validation_line_is_told_before_any_work(tmp_path: Path) -> None:
    short = tmp_path / "short.fr"
    short.write_bytes(b"".join((IN / "base.valid.fr").read_bytes().splitlines(True)[:23]))
    refuse(
        *("train", *TINY, f"data.valid.target={short}", f"run_dir={tmp_path}/u"),
        words=("base.valid.en", "short.fr", "24", "23"),
    )
    assert not (tmp_path / "u" / "tokenizer").exists()


def test_l2_a_lost_reference_is_told(one_run: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.fr"
    short.write_bytes(b"".join((IN / "base.test.fr").read_bytes().splitlines(True)[:23]))
    files = (f"data.test.source={IN}/base.test.en", f"data.test.target={short}")
    refuse(
        *("evaluate", f"run_dir={one_run}", *files),
        words=("base.test.en", "short.fr", "24", "23"),
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["long.src", "nospace.src"])
def test_l3_a_very_long_line_changes_no_neighbour(
    name: str, base_run: Path, tmp_path: Path
) -> None:
    search = ("decode.beam_size=5", "decode.batch_sentences=64", "decode.max_length=200", SOME)
    lines = lines_of(IN / name)
    first, long, last = translate(base_run, lines, tmp_path, *search)
    assert long
    assert [first, last] == translate(base_run, [lines[0], lines[2]], tmp_path, *search)


@pytest.mark.parametrize(
    "search",
    [(), ("decode.beam_size=5",), ("decode.beam_size=5", "decode.batch_sentences=1")],
    ids=["greedy", "beam", "one at a time"],
)
def test_e1_blank_lines_give_blank_lines(
    search: tuple[str, ...], base_run: Path, tmp_path: Path
) -> None:
    lines, search = lines_of(IN / "blank.src"), (*search, SOME)
    found = translate(base_run, lines, tmp_path, *search)
    assert len(found) == 10
    blank = (1, 3, 4, 5, 6, 7, 8)
    assert [found[i] for i in blank] == [""] * len(blank)
    full = [found[i] for i in (0, 2, 9)]
    assert all(full)
    assert full == translate(base_run, [lines[i] for i in (0, 2, 9)], tmp_path, *search)


def test_blank_lines_alone_and_at_both_ends(one_run: Path, tmp_path: Path) -> None:
    assert translate(one_run, ["", "\u200b", " "], tmp_path) == ["", "", ""]
    found = translate(one_run, ["\ufeff", "The cat sees a dog.", "\u3000"], tmp_path)
    assert found[0] == found[2] == ""
    assert found[1]


def test_blank_lines_in_a_test_set_count(one_run: Path, tmp_path: Path) -> None:
    (tmp_path / "t.en").write_bytes("The cat sees a dog.\n\nA dog.\n\u200b\n".encode())
    (tmp_path / "t.fr").write_bytes("Le chat voit un chien.\nx\n\n\u3000\n".encode())
    files = (f"data.test.source={tmp_path}/t.en", f"data.test.target={tmp_path}/t.fr")
    succeed("evaluate", f"run_dir={one_run}", *files)
    hypotheses = lines_of(one_run / "hypotheses.txt")
    assert len(hypotheses) == 4
    assert hypotheses[1] == hypotheses[3] == ""
    assert evaluation(one_run)["sentences"] == 4


def test_blank_pairs_train_no_one_and_are_counted(tmp_path: Path) -> None:
    source, target = lines_of(IN / "tiny.en"), lines_of(IN / "tiny.fr")
    source[3], target[5], source[7], target[7] = "\u200b", "\u3000 ", "", ""
    for name, lines in (("b.en", source), ("b.fr", target)):
        (tmp_path / name).write_bytes("".join(line + "\n" for line in lines).encode())
    files = (f"data.train.source={tmp_path}/b.en", f"data.train.target={tmp_path}/b.fr")
    result = succeed("train", *QUICK, *files, ONE_UPDATE, f"run_dir={tmp_path}/r")
    assert "12 pairs read, 9 kept, dropped: 3 blank" in result.err


@pytest.mark.parametrize("beam", [1, 5])
def test_s1_a_hardly_trained_model_prints_no_mark(beam: int, one_run: Path, tmp_path: Path) -> None:
    found = translate(one_run, lines_of(IN / "base.test.en"), tmp_path, f"decode.beam_size={beam}")
    assert len(found) == 24
    assert not any(MARKS.search(line) for line in found)


def test_no_mark_even_where_the_unknown_may_be_chosen(one_run: Path, tmp_path: Path) -> None:
    search = ("decode.ban_unk=false", "decode.beam_size=4", "n_best=4")
    rows = translate(one_run, lines_of(IN / "special.src"), tmp_path, *search)
    texts = [row.split(" ||| ", 1)[1].rpartition(" ||| ")[0] for row in rows]
    assert len(texts) >= 12
    assert not any(MARKS.search(text) for text in texts)


def test_byte_pieces_print_no_line_end_and_no_mark(tmp_path: Path) -> None:
    words = ("tokenizer.byte_fallback=true", "tokenizer.vocab_size=300", ONE_UPDATE)
    succeed("train", *QUICK, *words, f"run_dir={tmp_path}/bytes")
    for beam in (1, 5):
        found = translate(
            tmp_path / "bytes", lines_of(IN / "special.src"), tmp_path, f"decode.beam_size={beam}"
        )
        assert len(found) == 12
        assert not any(MARKS.search(line) or "\ufffd" in line for line in found)


def test_s2_text_that_looks_like_a_mark_is_text(base_run: Path, tmp_path: Path) -> None:
    lines = lines_of(IN / "special.src")
    pictures = tmp_path / "p"
    assert len(translate(base_run, lines, tmp_path, f"plots={pictures}")) == 12
    translator = Translator.load(base_run)
    found = translator.translate(lines)
    assert len(found) == 12
    drawn = {f"{i}.png" for i, translation in enumerate(found, 1) if translation.target_pieces}
    assert {path.name for path in pictures.iterdir()} == drawn
    row = found[1]
    assert row.source_pieces[-1] == "</s>"
    assert "</s>" not in row.source_pieces[:-1]
    text = "".join(row.source_pieces[:-1]).replace("\u2581", " ").strip()
    assert text.startswith("The cat ")
    assert text.endswith("sees a dog.")
    assert row.alignment is not None
    assert row.alignment.shape == (len(row.target_pieces), len(row.source_pieces))
    after = len(row.source_pieces) - 1 - len(translator.source_tokenizer.encode("sees a dog."))
    assert (row.alignment[:, after:-1].sum(1) > 0).all()
    np.testing.assert_allclose(row.alignment.sum(1), 1, atol=1e-5)


def test_s2_marks_in_the_training_text_are_text(tmp_path: Path) -> None:
    ended = tmp_path / "ended.fr"
    lines = lines_of(IN / "base.train.fr")
    ended.write_bytes("".join(f"{line} </s> end\n" for line in lines).encode())
    words = (f"data.train.target={ended}", ONE_UPDATE, f"run_dir={tmp_path}/ended")
    result = succeed("train", *TINY, *words)
    assert "168 pairs read, 168 kept" in result.err
    tokenizer = Translator.load(tmp_path / "ended").target_tokenizer
    ids = tokenizer.encode("Le chat </s> end")
    assert 2 not in ids
    assert tokenizer.decode(ids).endswith("end")


def test_every_mark_in_every_line_of_both_sides(tmp_path: Path) -> None:
    marks = "<s> </s> <unk> <pad> \u2581 \u2047 \u2585"
    for name, language in (("m.en", "en"), ("m.fr", "fr")):
        lines = [f"{marks} {line}" for line in lines_of(IN / f"tiny.{language}")]
        (tmp_path / name).write_bytes("".join(line + "\n" for line in lines).encode())
    files = (f"data.train.source={tmp_path}/m.en", f"data.train.target={tmp_path}/m.fr")
    result = succeed("train", *QUICK, *files, "trainer.max_updates=6", f"run_dir={tmp_path}/m")
    assert "12 pairs read, 12 kept" in result.err
    found = translate(tmp_path / "m", lines_of(IN / "special.src"), tmp_path)
    assert len(found) == 12
    assert not any(MARKS.search(line) for line in found)


def test_d1_a_line_of_another_encoding_is_named_before_training(tmp_path: Path) -> None:
    refuse(
        *("train", *TINY, f"data.train.target={IN}/latin1.train.fr", f"run_dir={tmp_path}/l"),
        words=("latin1.train.fr", "77"),
    )
    assert not (tmp_path / "l" / "tokenizer").exists()


def test_d1_an_input_of_another_encoding_leaves_the_earlier_output(
    one_run: Path, tmp_path: Path
) -> None:
    output = tmp_path / "o"
    words = (f"run_dir={one_run}", f"input={IN}/cp1252.src", "decode.beam_size=1")
    refuse("translate", *words, f"output={output}", words=("cp1252.src", "1"))
    assert not output.exists()
    output.write_text("of yesterday\n")
    refuse("translate", *words, f"output={output}", words=("cp1252.src", "1"))
    assert output.read_text() == "of yesterday\n"


def test_a_reference_of_another_encoding_is_named(one_run: Path, tmp_path: Path) -> None:
    lines = (IN / "base.test.fr").read_bytes().split(b"\n")
    lines[4] = "été".encode("latin-1")
    (tmp_path / "t.fr").write_bytes(b"\n".join(lines))
    words = (f"run_dir={one_run}", *TEST, f"data.test.target={tmp_path}/t.fr")
    refuse("evaluate", *words, words=("t.fr", ":5"))


@pytest.mark.parametrize("bad", [b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"caf\xc3"])
def test_what_is_nearly_utf8_is_refused(bad: bytes, one_run: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.src").write_bytes(b"The cat sees a dog.\n" + bad + b"\n")
    words = (f"run_dir={one_run}", f"input={tmp_path}/bad.src", f"output={tmp_path}/o")
    refuse("translate", *words, words=("bad.src", ":2"))


def test_a_bad_line_in_a_stream_comes_after_the_good_ones(one_run: Path) -> None:
    stream = b"The cat sees a dog.\nA dog.\ncaf\xe9\nThe cat\n"
    result = in_process("translate", f"run_dir={one_run}", "decode.beam_size=1", stdin=stream)
    assert result.status == 2
    assert len(result.out.split("\n")) == 3  # two lines, each with its end
    assert result.err.count("\n") == 1
    assert "standard input:3" in result.err


def test_the_output_may_not_be_the_input(one_run: Path, tmp_path: Path) -> None:
    shutil.copy(IN / "base.test.en", tmp_path / "x")
    words = (f"run_dir={one_run}", f"input={tmp_path}/x", f"output={tmp_path}/../{tmp_path.name}/x")
    refuse("translate", *words, words=("output", "input"))
    assert (tmp_path / "x").read_bytes() == (IN / "base.test.en").read_bytes()


def test_a_full_disk_is_told_with_the_name_of_the_output(one_run: Path) -> None:
    words = (f"run_dir={one_run}", f"input={IN}/base.test.en", "output=/dev/full")
    result = rnnsearch("translate", *words, "decode.beam_size=1")
    assert result.status == 1
    assert "/dev/full" in result.err
    assert "No space left" in result.err
    assert result.err.count("\n") == 1
