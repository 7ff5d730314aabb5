import gzip
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rnnsearch.corpus import read_references
from rnnsearch.errors import UserError
from rnnsearch.metrics import (
    Score,
    bleu,
    by_length,
    check_bootstrap,
    check_tokenize,
    chrf,
    compare,
    length_ratio,
    perplexity,
    ter,
)

CASES = Path(__file__).parent / "cases"
HYPOTHESES = ["Il y a  un chat.", "«Oui», dit-elle", "", "Le prix est de 5 €", "zéro", "un, deux"]


def sacrebleu(
    references: Path | list[Path], hypotheses: Path, *options: str
) -> dict[str, dict[str, Any]]:
    """Return what the real command says of files: {metric: its JSON}."""
    listed = references if isinstance(references, list) else [references]
    command = [sys.executable, "-m", "sacrebleu", *map(str, listed), "-i", str(hypotheses)]
    command += ["-m", "bleu", "chrf", "ter", "-w", "4", "-f", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    return {score["name"]: score for score in json.loads(done.stdout)}


def same(ours: Score, theirs: dict[str, Any]) -> bool:
    """Hold a score and its interval against what the command prints."""
    assert f"{ours.score:.4f}" == f"{theirs['score']:.4f}"
    if ours.low is not None and ours.high is not None:
        assert (ours.low + ours.high) / 2 == pytest.approx(theirs["confidence_mean"], abs=1e-4)
        assert (ours.high - ours.low) / 2 == pytest.approx(theirs["confidence_var"], abs=1e-4)
    return ours.signature == theirs["signature"]


def agree(reference: Path, hypotheses: list[str], folder: Path) -> float:
    """Hold our scores of a reference file against those of the command; return BLEU."""
    written = folder / "hypotheses.txt"
    written.write_bytes("".join(line + "\n" for line in hypotheses).encode())
    command = sacrebleu(reference, written)
    references = read_references(reference)
    for name, score in [("BLEU", bleu), ("chrF2", chrf), ("TER", ter)]:
        assert same(score(hypotheses, references), command[name])
    return bleu(hypotheses, references).score


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("", 100.0),
        ("nfd.", 74.82),
        ("ascii.", 78.51),
        ("nbsp0.", 100.0),
        ("nfkc.", 76.51),
        ("entity.", 46.60),
        ("lower.", 65.10),
        ("spacey.", 100.0),
    ],
)
def test_every_spelling_of_a_reference_scores_as_the_command_says(spelling, expected, tmp_path):
    hypotheses = (CASES / "odd.test.fr").read_bytes().decode().split("\n")[:-1]
    score = agree(CASES / f"odd.{spelling}test.fr", hypotheses, tmp_path)
    assert score == pytest.approx(expected, abs=0.005)


def test_odd_lines_and_ends_are_read_as_the_command_reads_them(tmp_path):
    start = "\ufeffIl y a\u2028un chat.\u00a0\n «Oui»,\x0bdit-elle\r\n\n"
    reference = tmp_path / "reference.fr"
    reference.write_bytes((start + "5\u0085€\rici \t\nzéro\u2029\nun").encode())
    agree(reference, HYPOTHESES, tmp_path)
    assert read_references(reference) == [
        "\ufeffIl y a\u2028un chat.",
        " «Oui»,\x0bdit-elle",
        "",
        "5\u0085€\rici",
        "zéro",
        "un",
    ]


def test_a_gzip_file_is_read_as_the_command_reads_it(tmp_path):
    reference = tmp_path / "reference.fr.gz"
    reference.write_bytes(gzip.compress((CASES / "odd.test.fr").read_bytes()))
    agree(reference, HYPOTHESES, tmp_path)
    assert read_references(reference) == read_references(CASES / "odd.test.fr")


def test_options_change_the_score_and_the_signature_alone(tmp_path):
    written = tmp_path / "hypotheses.txt"
    written.write_bytes((CASES / "odd.lower.test.fr").read_bytes())
    hypotheses = read_references(written)
    references = read_references(CASES / "odd.test.fr")
    ours = bleu(hypotheses, references, tokenize="none", lowercase=True)
    theirs = sacrebleu(CASES / "odd.test.fr", written, "-tok", "none", "-lc")
    assert same(ours, theirs["BLEU"])
    assert same(chrf(hypotheses, references), theirs["chrF2"])
    assert same(ter(hypotheses, references), theirs["TER"])
    assert "case:lc" in ours.signature
    assert "tok:none" in ours.signature


def test_several_references_and_intervals_are_those_of_the_command(tmp_path):
    written = tmp_path / "hypotheses.txt"
    written.write_bytes((CASES / "odd.entity.test.fr").read_bytes())
    paths = [CASES / f"odd.{spelling}test.fr" for spelling in ("", "nfd.", "ascii.")]
    hypotheses, references = read_references(written), [read_references(p) for p in paths]
    theirs = sacrebleu(paths, written, "--confidence", "--confidence-n", "200")
    for name, score in [("BLEU", bleu), ("chrF2", chrf), ("TER", ter)]:
        ours = score(hypotheses, references, bootstrap=200)
        assert same(ours, theirs[name])
        assert ours.signature.startswith("nrefs:3|bs:200|seed:12345|")
        assert score(hypotheses, references).score == ours.score


def test_no_resamples_no_interval():
    for bootstrap in (0, 1):
        score = bleu(["le chat"], ["le chat"], bootstrap=bootstrap)
        assert score.low is score.high is None
        assert "bs:" not in score.signature


@pytest.mark.parametrize("score", [bleu, chrf, ter])
@pytest.mark.parametrize(
    ("hypotheses", "references"),
    [
        (["le chat voit un chien"], ["le chat voit un chien"]),
        ([""], ["le chat"]),
        (["le chat"], [""]),
        (["", "le chat"], ["", "zéro"]),  # here sacreBLEU itself stops
        (["", "0"], ["0", "0"]),
    ],
)
def test_few_and_blank_lines_have_an_interval(score, hypotheses, references):
    ours = score(hypotheses, references, bootstrap=50)
    assert math.isfinite(ours.score)
    assert ours.low <= ours.high
    if len(hypotheses) == 1:
        assert ours.low == pytest.approx(ours.score) == pytest.approx(ours.high)


def test_resamples_that_do_not_fit_into_memory_are_refused(monkeypatch):
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("sacrebleu.significance._bootstrap_resample", full)
    with pytest.raises(UserError, match=r"bootstrap=1000: not enough memory .* of 2 lines"):
        bleu(["a", "b"], ["a", "b"], bootstrap=1000)

    with pytest.raises(UserError, match=r"bootstrap=1000: not enough memory .* of 1 line;"):
        bleu(["a"], ["a"], bootstrap=1000)
    with pytest.raises(UserError, match="bootstrap=10: not enough memory"):
        compare([["a"], ["b"]], ["a"], bootstrap=10)


@pytest.mark.parametrize("bootstrap", [10**13, 2 * 10**18, 2**63 - 1, 10**20])
def test_resamples_that_no_memory_holds_are_refused_without_trying(bootstrap):
    message = f"bootstrap={bootstrap}: not enough memory for so many resamples of 2 lines"
    for score in (bleu, chrf, ter):
        with pytest.raises(UserError, match=message):
            score(["a", "b"], ["a", "b"], bootstrap=bootstrap)
    with pytest.raises(UserError, match=message):
        compare([["a", "b"], ["b", "a"]], ["a", "b"], bootstrap=bootstrap)
    with pytest.raises(UserError, match=message):
        check_bootstrap(bootstrap, lines=2)
    check_bootstrap(1000, lines=2)


def test_lowercase_is_of_bleu_alone():
    lines, other = ["Le Chat"], ["le chat"]
    _, signatures = compare([lines, other], other, lowercase=True, bootstrap=10)
    assert "case:lc" in signatures["bleu"]
    assert "case:mixed" in signatures["chrf"]
    assert (
        by_length(["a"], ["Le Chat voit un"], ["le chat voit un"], lowercase=True)[0]["bleu"] > 99
    )


def test_ter_has_no_upper_end():
    assert ter(["a b c d e"], ["x"]).score == 500


def test_the_length_ratio_counts_the_tokens_of_bleu():
    assert length_ratio(["un, deux"], ["un deux"]) == 3 / 2
    assert length_ratio(["un, deux"], ["un deux"], tokenize="none") == 1
    assert length_ratio(["un deux"], [["un"], ["un deux trois quatre"]]) == 2  # the nearest
    assert length_ratio(["", ""], ["a", "b"]) == 0
    assert math.isnan(length_ratio(["a"], [""]))


def test_bleu_by_the_length_of_the_source():
    sources = ["", "w " * 10, "w\u00a0" * 11, "w " * 20, "w " * 31, " \u3000"]
    lines = [f"le chat voit un chien {i}" for i in range(6)]
    wrong = [*lines[:2], "zéro", *lines[3:]]
    bins = by_length(sources, wrong, lines)
    spans = [(b["from"], b["to"], b["sentences"]) for b in bins]
    assert spans == [(0, 0, 2), (1, 10, 1), (11, 20, 2), (31, 40, 1)]
    part = bleu(["zéro", lines[3]], lines[2:4]).score
    scores = [b["bleu"] for b in bins]
    assert scores == pytest.approx([100, 100, part, 100])
    assert by_length(sources, wrong, [lines, wrong])[2]["bleu"] == pytest.approx(100)


def test_the_paired_test_is_that_of_the_command(tmp_path):
    names = ["odd.test.fr", "odd.nfd.test.fr", "odd.nfkc.test.fr"]
    reference = CASES / "odd.ascii.test.fr"
    command = [sys.executable, "-m", "sacrebleu", str(reference), "--paired-bs", "-f", "latex"]
    command += ["-i", *(str(CASES / name) for name in names), "-m", "bleu", "chrf", "ter"]
    command += ["--paired-bs-n", "100", "-w", "4"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    told = [[float(p) for p in re.findall(r"p = ([\d.]+)", row)] for row in done.stdout.split("\n")]
    systems = [read_references(CASES / name) for name in names]
    differences, signatures = compare(systems, read_references(reference), bootstrap=100)
    assert all("bs:100|seed:12345" in signature for signature in signatures.values())
    ours = [[round(d[key].p_value, 4) for key in ("bleu", "chrf", "ter")] for d in differences]
    assert ours == [row for row in told if row]
    references = read_references(reference)
    for score, key in [(bleu, "bleu"), (chrf, "chrf"), (ter, "ter")]:
        first, *others = [score(system, references).score for system in systems]
        found = [difference[key].difference for difference in differences]
        assert found == pytest.approx([other - first for other in others])


def test_no_difference_is_no_significant_one():
    lines = read_references(CASES / "odd.test.fr")
    (differences,), _ = compare([lines, lines], lines, bootstrap=10)
    assert set(differences.values()) == {(0.0, 1.0)}


def test_the_default_signature_names_every_choice():
    signature = bleu(["a"], ["a"]).signature
    assert signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_nothing_in_common_scores_zero():
    assert bleu(["", "x"], ["a b c d", "e"]).score == 0.0
    assert chrf(["", "x"], ["a b c d", "e"]).score == 0.0


def test_text_that_looks_tokenised_is_scored_without_advice(capfd):
    bleu(["le chat ."] * 200, ["le chat ."] * 200)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("score", [bleu, chrf, ter, length_ratio])
def test_counts_must_match(score):
    with pytest.raises(UserError, match="3 hypotheses but 2 references"):
        score(["a", "b", "c"], ["a", "b"])
    with pytest.raises(UserError, match="2 hypotheses but 1 reference:"):
        score(["a", "b"], [["a", "b"], ["a"]])
    with pytest.raises(UserError, match="1 hypothesis but 2 references:"):
        score(["a"], ["a", "b"])
    for nothing in ([], [[]], [[], []]):
        with pytest.raises(UserError, match="0 hypotheses and 0 references"):
            score([], nothing)


def test_an_unknown_tokenisation_is_refused_with_the_nearest_one():
    with pytest.raises(UserError, match=r"tokenize=13b .*did you mean '13a'.*intl"):
        bleu(["a"], ["a"], tokenize="13b")
    with pytest.raises(UserError, match="did you mean 'char'"):
        check_tokenize("chars")
    for known in ("13a", "none", "intl", "char", "zh"):
        check_tokenize(known)


def test_a_tokenisation_that_lacks_its_library_is_refused_in_one_line(monkeypatch):
    module = pytest.importorskip("sacrebleu.tokenizers.tokenizer_ja_mecab")
    monkeypatch.setattr(module, "MeCab", None)
    with pytest.raises(UserError, match=r"tokenize=ja-mecab does not work here \(.*\); use 13a"):
        bleu(["a"], ["a"], tokenize="ja-mecab")


@pytest.mark.parametrize(
    ("loss", "expected"), [(0.0, 1.0), (2.0, math.e**2), (1e4, math.inf), (math.inf, math.inf)]
)
def test_perplexity(loss, expected):
    assert perplexity(loss) == pytest.approx(expected)


def test_perplexity_of_nan_is_nan():
    assert math.isnan(perplexity(math.nan))


def test_a_reference_that_is_not_utf8_or_missing_is_refused(tmp_path):
    latin = tmp_path / "latin1.fr"
    latin.write_bytes("un\nété\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"latin1\.fr:2"):
        read_references(latin)
    with pytest.raises(UserError, match=r"missing\.fr"):
        read_references(tmp_path / "missing.fr")


def test_scoring_loads_nothing_heavy_before_it_scores():
    code = "import sys, rnnsearch.metrics as m; print({'torch', 'sacrebleu'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
