"""The alignment error rate: the formula, the gold file, words of pieces, and `evaluate`."""

import gzip
import math
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from cases_common import IN, QUICK, evaluation, lines_of, refuse, rnnsearch, succeed

from rnnsearch import Translator
from rnnsearch.alignment_error import (
    GoldLinks,
    LinkScorer,
    piece_counts,
    read_gold,
    score_links,
)
from rnnsearch.cli.scoretable import notes, score_table
from rnnsearch.corpus import PairFiles, folder_files
from rnnsearch.errors import UserError
from rnnsearch.evaluation import link_scorer, read_set
from rnnsearch.scoring import score_pairs
from rnnsearch.text import Tokenizers, train_tokenizers

KEYS = ("alignment_error_rate", "alignment_precision", "alignment_recall")


def write(path: Path, *lines: str) -> Path:
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def gold_of(line: str) -> GoldLinks:
    """Return the links of a line by other means than the program's."""
    marks = [(link.replace("p", "-").split("-"), "-" in link) for link in line.split()]
    every = {(int(i), int(j)) for (i, j), _ in marks}
    return GoldLinks(
        frozenset((int(i), int(j)) for (i, j), sure in marks if sure), frozenset(every)
    )


# --- the formula


@pytest.mark.parametrize(
    ("found", "gold", "rate", "precision", "recall"),
    [
        (["0-0 1-1"], ["0-0 1-1"], 0, 1, 1),
        (["0-1 1-0"], ["0-0 1-1"], 1, 0, 0),
        # A possible link costs nothing, and earns no recall.
        (["0-0 1-1"], ["0-0 1p1"], 0, 1, 1),
        (["0-0 1-1"], ["0-0 2-1 1p1"], 1 - (1 + 2) / (2 + 2), 1, 1 / 2),
        # 3 links found, 1 of them sure and 1 possible; 2 sure ones to be found.
        (["0-0 2-1 1-2"], ["0-0 1-1 2p1"], 1 - (1 + 2) / (3 + 2), 2 / 3, 1 / 2),
        # Summed over pairs, not the mean of their rates.
        (["0-0", "0-0 1-1 2-2"], ["0-0", "1-0 0-1 2-2"], 1 - (2 + 2) / (4 + 4), 1 / 2, 1 / 2),
        (["", "0-0"], ["", "0-0"], 0, 1, 1),
    ],
)
def test_the_formula(
    found: list[str], gold: list[str], rate: float, precision: float, recall: float
) -> None:
    links = [sorted(gold_of(line).sure) for line in found]
    score = score_links(links, [gold_of(line) for line in gold])
    assert score == pytest.approx((rate, precision, recall))


def test_without_links_there_is_no_precision() -> None:
    score = score_links([[]], [gold_of("0-0")])
    assert (score.error_rate, score.recall) == (1, 0)
    assert math.isnan(score.precision)


def test_attention_is_merged_and_its_end_is_no_word() -> None:
    # Source words of 2 and 1 pieces, target words of 1 and 2; the last column is the end.
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0, 0.5, 0.1, 0.4], [0.2, 0.1, 0.4, 0.3]], np.float32)
    scorer = LinkScorer([gold_of("1-0 0-1")], source_counts=[[2, 1]], target_counts=[[1, 2]])
    assert scorer.score().error_rate == 1
    scorer.add(0, weights)
    assert scorer.score() == (0, 1, 1)


# --- the gold file


def gold(*paths: Path, sources: tuple[str, ...], targets: tuple[str, ...]) -> list[GoldLinks]:
    return read_gold(paths, sources=sources, targets=targets, label="x.en | x.fr")


def test_a_file_is_read(tmp_path: Path) -> None:
    path, other = tmp_path / "a.align", tmp_path / "b.align"
    path.write_bytes(b"\xef\xbb\xbf0-0 1p2 \t1-1\r\n\n")
    other.write_bytes(gzip.compress(b"0p0"))
    found = gold(path, other, sources=("a b", "c", "d"), targets=("A B C", "", "D"))
    assert found == [gold_of("0-0 1p2 1-1"), gold_of(""), gold_of("0p0")]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["0-0"], r"a.align has 1 line but x.en \| x.fr has 2 pairs; .* a line for each pair"),
        (["0-0", "", "9-9"], "a.align has 3 lines but"),
        ([], "a.align has 0 lines but"),
        (["0-0", "0-0 1_0"], r"a.align:2: '1_0' is no link; write i-j for a sure and ipj"),
        (["0-0,1-1", ""], "a.align:1: '0-0,1-1' is no link"),
        (["-1-0", ""], "a.align:1: '-1-0' is no link"),
        (["0-0 ²-1", ""], "a.align:1: '²-1' is no link"),
        (["9" * 5000 + "-0", ""], r"a.align:1: '9{40}\.\.\.' is no link"),
        (["", "0-1"], r"a.align:2: 0-1 is out of range, .* 2 source words and 1 target word, .* 0"),
        (["1p0", ""], "a.align:1: 1p0 is out of range, for the pair has 1 source word and"),
        (["0-0", "0-0 1-0 0-0"], "a.align:2: 0-0 links words that another link of the line does"),
        (["0-0 0p0", ""], "a.align:1: 0p0 links words that another"),
        (["0p0", ""], "a.align: no link is sure .* leave the file out"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, lines: list[str], message: str) -> None:
    path = write(tmp_path / "a.align", *lines)
    with pytest.raises(UserError, match=message) as caught:
        gold(path, sources=("a", "b c"), targets=("A", "B"))
    assert caught.value.status == 2
    assert "\n" not in str(caught.value)


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a\.align: no such file"):
        gold(tmp_path / "a.align", sources=("a",), targets=("A",))
    (tmp_path / "a.align").write_bytes(b"\xff")
    with pytest.raises(UserError, match=r"a\.align:1: not UTF-8"):
        gold(tmp_path / "a.align", sources=("a",), targets=("A",))


def test_a_folder_gives_those_of_its_test_sets(tmp_path: Path) -> None:
    for name in ("train", "valid", "test", "test_b", "test_c"):
        for ending in ("en", "fr", "align"):
            write(tmp_path / f"{name}.{ending}", "a")
    (tmp_path / "test_b.align").rename(tmp_path / "test_b.align.gz")
    (tmp_path / "test_c.align").unlink()
    write(tmp_path / "test_d.align", "0-0")  # of no test set
    found = folder_files(tmp_path, source_lang="en", target_lang="fr").alignments
    assert found == {"test": tmp_path / "test.align", "test_b": tmp_path / "test_b.align.gz"}
    write(tmp_path / "test.align.gz", "a")
    with pytest.raises(UserError, match=r"holds both test\.align and test\.align\.gz"):
        folder_files(tmp_path, source_lang="en", target_lang="fr")


# --- words of pieces

TEXT = ("The cat's well-known, isn't it?", "L'eau qu'on boit\u00a0: oui !", "  a ¨b\tc  ", "")


@pytest.fixture(scope="module", params=["unigram", "bpe", "word"])
def tokenizers(request: pytest.FixtureRequest) -> Tokenizers:
    lines = lines_of(IN / "base.train.en"), lines_of(IN / "base.train.fr")
    size = 24 if request.param == "word" else 60
    return train_tokenizers(
        *lines, kind=request.param, vocab_size=size, joint=False, warn=lambda _: None
    )


def test_every_word_has_the_pieces_that_spell_it(tokenizers: Tokenizers) -> None:
    for tokenizer in tokenizers:
        for line in TEXT:
            (counts,) = piece_counts([line], tokenizer, name="x.en", gold="x.align")
            assert len(counts) == len(line.split())
            assert sum(counts) == len(tokenizer.encode(line))
            assert all(counts)


def test_words_that_pieces_do_not_spell_are_refused(tokenizers: Tokenizers) -> None:
    message = (
        r"x.en:2: the pieces of tokenizer=\w+ do not spell the words .* x.align .* without align"
    )
    # Each has a word of which normalisation leaves nothing.
    for line in ("a \u200b b", "\x01", "a \ufeff"):
        with pytest.raises(UserError, match=message):
            piece_counts(["a", line], tokenizers.source, name="x.en", gold="x.align")


class Fake:
    """A tokenizer whose pieces are given."""

    kind = "fake"

    def __init__(self, *pieces: str) -> None:
        self.pieces = list(pieces)

    def split(self, line: str) -> list[str]:
        return self.pieces

    def words(self, pieces: list[str]) -> list[tuple[str, int]]:
        return [(piece, 1) for piece in pieces]


@pytest.mark.parametrize(
    ("pieces", "counts"),
    [
        (["ab", "c"], [1, 1]),
        (["a", "b", "c"], [2, 1]),
        (["abc"], None),  # over the end of a word
        (["a", "bc"], None),
        (["ab"], None),
        (["ab", "c", "d"], None),
        (["ab", "d"], None),
        ([], None),
    ],
)
def test_pieces_are_told_from_words_exactly(pieces: list[str], counts: list[int] | None) -> None:
    fake: Any = Fake(*pieces)
    if counts is not None:
        assert piece_counts(["ab c"], fake, name="x", gold="g") == [counts]
        return
    with pytest.raises(UserError, match="x:1: the pieces of tokenizer=fake"):
        piece_counts(["ab c"], fake, name="x", gold="g")


# --- evaluate

FILES = (f"data.test.source={IN}/tiny.en", f"data.test.target={IN}/tiny.fr", "bootstrap=0")


def random_gold(folder: Path, *, sources: list[str], targets: list[str]) -> Path:
    """Write links of every kind for pairs of lines."""
    chance = random.Random(1)
    rows = []
    for source, target in zip(sources, targets, strict=True):
        links = [
            (chance.randrange(len(source.split())), chance.choice("--ppp"), j)
            for j in range(len(target.split()))
        ]
        rows.append(" ".join(f"{i}{mark}{j}" for i, mark, j in links))
    return write(folder / "gold.align", *rows)


def straightforward(translator: Translator, sources: list[str], targets: list[str]) -> list[str]:
    """Return the links of forced references, from single sentences and by loops."""
    rows = []
    for source, target in zip(sources, targets, strict=True):
        sides = (translator.source_tokenizer, source), (translator.target_tokenizer, target)
        owners = []
        for tokenizer, line in sides:
            text, words = "", line.split()
            ends = np.cumsum([len(word) for word in words])
            owners.append([])
            for piece in tokenizer.split(line):
                owners[-1].append(int(np.searchsorted(ends, len(text), side="right")))
                text += piece.replace("\u2581", "")
            assert text == "".join(words)
        weights = translator.align(*(tokenizer.encode(line) for tokenizer, line in sides))
        best: dict[int, tuple[float, int]] = {}
        for row, j in enumerate(owners[1]):
            for column, i in enumerate(owners[0]):
                best[j] = max(best.get(j, (-1.0, 0)), (float(weights[row, column]), -i))
        rows.append(" ".join(f"{-i}-{j}" for j, (_, i) in sorted(best.items())))
    return rows


def check_rate(run: Path, translator: Translator, path: Path) -> None:
    """Hold that the record of `evaluate` on the tiny pairs is what a plain computation gives."""
    sources, targets = lines_of(IN / "tiny.en"), lines_of(IN / "tiny.fr")
    made = [gold_of(row).sure for row in straightforward(translator, sources, targets)]
    known = [gold_of(row) for row in lines_of(path)]
    a, s = sum(map(len, made)), sum(len(pair.sure) for pair in known)
    both = [(len(x & y.sure), len(x & y.possible)) for x, y in zip(made, known, strict=True)]
    sure, possible = (sum(column) for column in zip(*both, strict=True))
    expected = (1 - (sure + possible) / (a + s), possible / a, sure / s)
    record = evaluation(run)
    assert tuple(record[key] for key in KEYS) == pytest.approx(expected)
    assert record["alignments"] == [str(path)]
    assert 0 < sure < possible < a


@pytest.fixture(scope="module")
def gold_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gold")
    return random_gold(folder, sources=lines_of(IN / "tiny.en"), targets=lines_of(IN / "tiny.fr"))


@pytest.mark.parametrize("kind", ["pieces", "words"])
def test_the_rate_is_that_of_a_plain_computation(
    kind: str, quick_run: Path, word_run: Path, gold_file: Path
) -> None:
    run = quick_run if kind == "pieces" else word_run
    base = ("evaluate", f"run_dir={run}", *FILES)
    result = succeed(*base, f"data.test.alignments={gold_file}")
    check_rate(run, Translator.load(run), gold_file)
    rate = evaluation(run)["alignment_error_rate"]
    assert result.out.split("\n")[0].split()[-1] in ("AER", "unknown")
    assert f"  {100 * rate:.2f}" in result.out.split("\n")[1]
    assert "\nAER: alignment error rate" in result.out
    succeed(*base, f"data.test.alignments={gold_file}", "decode.batch_sentences=1")
    assert evaluation(run)["alignment_error_rate"] == rate
    result = succeed(*base)
    assert [evaluation(run)[key] for key in KEYS] == [None] * 3
    assert evaluation(run)["alignments"] == []
    assert "AER" not in result.out


def test_an_ensemble_is_linked_by_its_mean(quick_run: Path, gold_file: Path) -> None:
    names = sorted(path.name for path in (quick_run / "checkpoints").glob("step-*"))[:2]
    words = (f"checkpoint=[{','.join(names)}]", f"data.test.alignments={gold_file}")
    succeed("evaluate", f"run_dir={quick_run}", *FILES, *words)
    check_rate(quick_run, Translator.load(quick_run, names), gold_file)


def test_links_of_translate_are_those_of_the_forced_reference(
    base_run: Path, tmp_path: Path
) -> None:
    output, links = tmp_path / "out.fr", tmp_path / "out.align"
    lines = [line for line in lines_of(IN / "base.train.en") if len(line.split()) < 12][:40]
    source = write(tmp_path / "in.en", *lines)
    files = (f"input={source}", f"output={output}", f"alignments={links}")
    greedy = "decode.beam_size=1"
    succeed("translate", f"run_dir={base_run}", *files, greedy)
    # A text need not have the pieces that spelled it.
    translator = Translator.load(base_run)
    split = translator.target_tokenizer.split
    kept = [
        number
        for number, found in enumerate(translator.translate(lines))
        if found.text and split(found.text) == found.target_pieces
    ]
    assert kept
    for path in (source, output, links):
        write(path, *(lines_of(path)[number] for number in kept))
    test = (f"data.test.source={source}", f"data.test.target={output}")
    words = (*test, f"data.test.alignments={links}", "bootstrap=0", greedy)
    succeed("evaluate", f"run_dir={base_run}", *words)
    assert [evaluation(base_run)[key] for key in KEYS] == [0, 1, 1]


def test_batches_change_nothing(quick_run: Path, gold_file: Path) -> None:
    translator = Translator.load(quick_run)
    files = PairFiles((IN / "tiny.en",), (IN / "tiny.fr",))
    test = read_set("tiny", files, alignments=[gold_file])
    ids = [
        tokenizer.encode_batch(lines)
        for tokenizer, lines in zip(
            translator.tokenizers, (test.sources, test.targets), strict=True
        )
    ]
    found = []
    for size in (1, 5, 64):
        scorer = link_scorer(test, translator.tokenizers)
        assert scorer is not None
        score_pairs(translator.models, *ids, batch_sentences=size, attention=scorer.add)
        found.append(scorer.score())
    assert found[0] == found[1] == found[2]


def test_several_runs_have_a_rate_each(quick_run: Path, word_run: Path, gold_file: Path) -> None:
    words = (*FILES, f"data.test.alignments={gold_file}", "ter=false")
    result = succeed("evaluate", f"run_dir=[{quick_run},{word_run}]", *words)
    rates = [evaluation(run)["alignment_error_rate"] for run in (quick_run, word_run)]
    for rate in rates:
        assert f"  {100 * rate:.2f}" in result.out
    path = quick_run / "evaluations/tiny/comparison.json"
    record = yaml.safe_load(path.read_text())
    assert [run["alignment_error_rate"] for run in record["runs"]] == pytest.approx(rates)
    assert record["alignments"] == [str(gold_file)]


def test_tables_and_lists_of_files_have_gold_links_too(
    quick_run: Path, gold_file: Path, tmp_path: Path
) -> None:
    rows = zip(lines_of(IN / "tiny.en"), lines_of(IN / "tiny.fr"), strict=True)
    table = write(tmp_path / "x.tsv", *("\t".join(row) for row in rows))
    rows_of_links = lines_of(gold_file)
    halves = [
        write(tmp_path / "1.align", *rows_of_links[:7]),
        write(tmp_path / "2.align", *rows_of_links[7:]),
    ]
    base = ("evaluate", f"run_dir={quick_run}", "bootstrap=0")
    succeed(*base, f"data.test.table={table}", f"data.test.alignments=[{halves[0]},{halves[1]}]")
    record = evaluation(quick_run)
    assert record["alignments"] == [*map(str, halves)]
    succeed(*base, *FILES, f"data.test.alignments={gold_file}")
    assert evaluation(quick_run)["alignment_error_rate"] == record["alignment_error_rate"]


def with_test(run: Path, copy: Path, *, schema: int = 4, **test: str | None) -> Path:
    """Return a copy of a run whose configuration has this test set."""
    shutil.copytree(run, copy, symlinks=True)
    shutil.rmtree(copy / "evaluations", ignore_errors=True)
    given = yaml.safe_load((copy / "config.yaml").read_bytes())
    given["schema"] = schema
    given["data"]["test"] |= test
    if schema < 3:
        del given["data"]["test"]["alignments"]
    (copy / "config.yaml").write_text(yaml.safe_dump(given))
    return copy


def test_what_is_typed_of_the_test_set_replaces_its_links_too(
    quick_run: Path, gold_file: Path, tmp_path: Path
) -> None:
    files = {"source": f"{IN}/tiny.en", "target": f"{IN}/tiny.fr"}
    run = with_test(quick_run, tmp_path / "a", **files, alignments=str(gold_file))
    base = ("evaluate", f"run_dir={run}", "bootstrap=0")
    succeed(*base)
    rate = evaluation(run)["alignment_error_rate"]
    assert rate is not None
    succeed(*base, *FILES)
    assert evaluation(run)["alignment_error_rate"] is None
    # Links alone belong to the test set of the run, an older one, too.
    old = with_test(quick_run, tmp_path / "b", schema=2, **files)
    succeed("evaluate", f"run_dir={old}", "bootstrap=0")
    assert evaluation(old)["alignment_error_rate"] is None
    succeed("evaluate", f"run_dir={old}", "bootstrap=0", f"data.test.alignments={gold_file}")
    assert evaluation(old)["alignment_error_rate"] == rate
    assert evaluation(old)["source"] == [files["source"]]


def demo(folder: Path) -> Path:
    """Return a folder like that of the demo's corpus."""
    folder.mkdir()
    for name in ("test", "test_length"):
        shutil.copy(IN / "tiny.en", folder / f"{name}.en")
        shutil.copy(IN / "tiny.fr", folder / f"{name}.fr")
        sides = [lines_of(IN / f"tiny.{language}") for language in ("en", "fr")]
        random_gold(folder, sources=sides[0], targets=sides[1]).rename(folder / f"{name}.align")
    return folder


def test_the_demo_has_a_rate_without_being_asked(
    quick_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = demo(tmp_path / "demo")
    monkeypatch.setattr("rnnsearch.cli.sources.data_folder", lambda _: folder)
    base = ("evaluate", f"run_dir={quick_run}", "data=demo", "bootstrap=0")
    result = succeed(*base)
    assert [line.split()[0] for line in result.out.split("\n")[:2]] == ["test", "test"]
    assert evaluation(quick_run)["alignments"] == [f"{folder}/test.align"]
    assert evaluation(quick_run)["alignment_error_rate"] is not None
    for words, name in (("test_set=test_length", "test_length"), ("test_set=greedy", "greedy")):
        succeed(*base, words)
        assert evaluation(quick_run)["test_set"] == name
        source = "test_length" if name == "test_length" else "test"
        assert evaluation(quick_run)["source"] == [f"{folder}/{source}.en"]
        assert evaluation(quick_run)["alignments"] == [f"{folder}/{source}.align"]
    told = ("test_set=tests", "but test, test_length;", "must not begin")
    refuse(*base, "test_set=tests", words=told, status=(2,))
    # All of a folder, each with its own; none where there is no file.
    (folder / "test_length.align").unlink()
    result = succeed(*base[:2], "data=folder", f"data.dir={folder}", "bootstrap=0")
    rows = [line.split() for line in result.out.split("\n")[1:3]]
    assert [(row[0], row[-1] == "-") for row in rows] == [("test", False), ("test_length", True)]


def test_the_corpus_of_the_package_has_gold_links(base_run: Path) -> None:
    succeed("evaluate", f"run_dir={base_run}", "data=demo", "bootstrap=0", "ter=false")
    assert 0 < evaluation(base_run)["alignment_error_rate"] < 1


def test_what_cannot_work_is_refused_before_any_work(
    quick_run: Path, word_run: Path, tmp_path: Path, gold_file: Path
) -> None:
    run = with_test(quick_run, tmp_path / "run")
    base = ("evaluate", f"run_dir={run}", *FILES)
    path = write(tmp_path / "bad.align", "0-0 7_7", *[""] * 11)
    key = "data.test.alignments"
    refuse(*base, f"{key}={path}", words=(f"{path}:1", "'7_7'", "i-j"), status=(2,))
    refuse(*base, f"{key}=no.align", words=(key, "no.align", "no such file"), status=(2,))
    refuse(*base, f"{key}={IN}", words=(key, "this is a folder"), status=(2,))
    refuse(*base, f"{key}={IN}/seven.en", words=("seven.en has 7 lines", "12 pairs"), status=(2,))
    refuse(*base[:2], f"{key}={path}", words=(key,), status=(2,))
    for split in ("train", "valid"):
        words = (f"data.{split}.alignments", "it belongs to data.test")
        refuse(*base, f"data.{split}.alignments={path}", words=words, status=(2,))
        refuse("train", *QUICK, f"data.{split}.alignments={path}", words=words, status=(2,))
    refuse("train", *QUICK, f"{key}={path}", words=(f"{key} is set",), status=(2,))
    refuse(*base, f"{key}={gold_file}", f"scores={gold_file}", words=("scores=", "gold"))
    # A word that no piece spells, in one of two runs.
    write(tmp_path / "s.en", "a \u200b b"), write(tmp_path / "s.fr", "x")
    write(tmp_path / "s.align", "0-0")
    files = (f"data.test.source={tmp_path}/s.en", f"data.test.target={tmp_path}/s.fr")
    two = ("evaluate", f"run_dir=[{run},{word_run}]", *files, f"{key}={tmp_path}/s.align")
    refuse_last(*two, words=(f"{tmp_path}/s.en:1", "do not spell", "s.align", "without align"))
    assert not (run / "evaluations").exists()


def refuse_last(*words: str, **told: Any) -> None:
    """Hold that a comparison is refused, in the line after the one that says it is one."""
    result = rnnsearch(*words)
    assert result.status == 2
    assert all(word in result.err.split("\n")[-2] for word in told["words"])


# --- the table


def record(rate: float | None) -> dict[str, Any]:
    score = {"score": 50.0, "low": None, "high": None, "signature": "s"}
    bins = [{"from": 1, "to": 10, "sentences": 5, "bleu": 50.0}]
    plain = {"loss": 1.0, "perplexity": 2.0, "sentences": 5, "length_ratio": 1.0}
    return {
        **{"bleu": score, "chrf": score, "ter": score}, **plain, "unknown_rate": 0.0,
        "by_length": bins, "alignment_error_rate": rate,
    }  # fmt: skip


def test_the_column_is_there_where_a_row_has_it() -> None:
    rows = [("a", record(0.08314)), ("b", record(None))]
    head, first, second = (line.split() for line in score_table("run", rows).split("\n")[:3])
    assert (head[-1], first[-1], second[-1]) == ("AER", "8.31", "-")
    assert "AER: alignment error rate in percent" in notes(rows, search="beam 5")
    assert "AER" not in score_table("run", rows[1:]) + notes(rows[1:], search="beam 5")
