"""Case X: a translation depends on its line and the settings alone."""

from pathlib import Path

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
    rnnsearch,
    succeed,
    translate,
)

from rnnsearch import Translator

MIXED = [*lines_of(IN / "base.test.en"), *lines_of(IN / "seven.en")]


@pytest.mark.slow
def test_x1_a_beam_wider_than_the_vocabulary(tmp_path: Path) -> None:
    succeed("train", *TINY, "tokenizer.vocab_size=40", f"run_dir={tmp_path}/v40")
    found = translate(
        tmp_path / "v40", lines_of(IN / "base.test.en"), tmp_path, "decode.beam_size=200"
    )
    assert len(found) == 24
    assert not any(MARKS.search(line) for line in found)


def test_a_beam_wider_than_the_vocabulary_gives_distinct_rows_in_order(
    one_run: Path, tmp_path: Path
) -> None:
    search = ("decode.beam_size=60", "n_best=60", "decode.max_length=3")
    rows = [row.split(" ||| ") for row in translate(one_run, MIXED[:2], tmp_path, *search)]
    for number in ("1", "2"):
        texts = [text for line, text, _ in rows if line == number]
        scores = [float(score) for line, _, score in rows if line == number]
        assert 1 < len(texts) <= 60
        assert len(set(texts)) == len(texts)
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    "search",
    [
        ("decode.max_length=1",),
        ("decode.max_length=1", "decode.beam_size=100"),
        ("decode.min_length_ratio=3", "decode.max_length_ratio=3", "decode.beam_size=3"),
        ("decode.length_penalty=0", "decode.beam_size=4"),
        ("decode.length_penalty=50", "decode.beam_size=4"),
        ("decode.max_length_ratio=0.001", "decode.beam_size=2"),
        ("decode.max_length_ratio=null", "decode.max_length=5"),
        ("decode.batch_sentences=100000", "decode.max_length=5"),
    ],
    ids=lambda search: search[0],
)
def test_settings_at_their_extremes(search: tuple[str, ...], one_run: Path, tmp_path: Path) -> None:
    found = translate(one_run, MIXED[:4], tmp_path, *search)
    assert len(found) == 4
    assert not any(MARKS.search(line) for line in found)


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 5])
def test_x2_batch_size_and_neighbours(beam: int, base_run: Path, tmp_path: Path) -> None:
    search = f"decode.beam_size={beam}"
    one, three, many = (
        translate(base_run, MIXED, tmp_path, search, f"decode.batch_sentences={batch}")
        for batch in (1, 3, 64)
    )
    assert one == three == many
    assert len(one) == 31


@pytest.mark.slow
def test_x2_scores_do_not_depend_on_the_batch_size(base_run: Path) -> None:
    results = []
    for batch in (1, 64, 64):
        succeed("evaluate", f"run_dir={base_run}", *TEST, f"decode.batch_sentences={batch}")
        results.append((lines_of(base_run / "hypotheses.txt"), evaluation(base_run)["bleu"]))
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("beam", [1, 4])
def test_order_and_neighbours_of_all_lengths(beam: int, base_run: Path) -> None:
    """Each line alone, in reverse order, and beside a long one gives the same text and score."""
    translator = Translator.load(base_run)
    translator.options = type(translator.options)(beam_size=beam, max_length=12)
    lines = ["A", "", *MIXED[:5], "a dog " * 40, "The cat", "\u3000", "x" * 300]
    together = translator.translate(lines, alignments=False)
    backwards = translator.translate(lines[::-1], alignments=False)[::-1]
    alone = [translator.translate([line], alignments=False)[0] for line in lines]
    translator.batch_sentences = 2
    pairs = translator.translate(lines, alignments=False)
    for other in (backwards, alone, pairs):
        assert [t.text for t in other] == [t.text for t in together]
        assert [t.target_pieces for t in other] == [t.target_pieces for t in together]
        assert [t.score for t in other] == pytest.approx([t.score for t in together], abs=1e-5)


def test_a_stream_and_a_file_give_the_same(base_run: Path, tmp_path: Path) -> None:
    search = ("decode.max_length=12", "decode.beam_size=2")
    from_file = translate(base_run, MIXED[:9], tmp_path, *search)
    stdin = "".join(line + "\n" for line in MIXED[:9]).encode()
    result = in_process("translate", f"run_dir={base_run}", *search, stdin=stdin)
    assert result.status == 0
    assert result.err == ""
    assert result.out == "".join(line + "\n" for line in from_file)


def test_a_run_translates_as_its_validation_did(tmp_path: Path) -> None:
    """Training, `evaluate` and `translate` share one search."""
    run = tmp_path / "r"
    succeed("train", *QUICK, "trainer.max_updates=12", "decode.beam_size=3", f"run_dir={run}")
    test = (f"data.test.source={IN}/tiny.en", f"data.test.target={IN}/tiny.fr")
    succeed("evaluate", f"run_dir={run}", *test, "checkpoint=last")
    last = [
        line for line in (run / "metrics.jsonl").read_text().split("\n") if '"validation"' in line
    ]
    assert f'"bleu": {evaluation(run)["bleu"]["score"]}' in last[-1]
    words = ("checkpoint=last", "decode.beam_size=3")
    assert lines_of(run / "hypotheses.txt") == translate(
        run, lines_of(IN / "tiny.en"), tmp_path, *words
    )


def test_more_rows_than_the_beam_are_refused(one_run: Path) -> None:
    result = rnnsearch("translate", f"run_dir={one_run}", "n_best=6", "decode.beam_size=5")
    assert result.status == 2
    assert "n_best=6" in result.err
    assert "decode.beam_size" in result.err
