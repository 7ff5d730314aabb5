import gzip
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from rnnsearch.errors import UserError
from rnnsearch.metrics import bleu, chrf, perplexity, read_references

CASES = Path(__file__).parent / "cases"
HYPOTHESES = ["Il y a  un chat.", "«Oui», dit-elle", "", "Le prix est de 5 €", "zéro", "un, deux"]


def sacrebleu(reference: Path, hypotheses: Path, *options: str) -> dict[str, tuple[float, str]]:
    """Return what the real command says of two files: {metric: (score, signature)}."""
    command = [sys.executable, "-m", "sacrebleu", str(reference), "-i", str(hypotheses)]
    command += ["-m", "bleu", "chrf", "-w", "4", "-f", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    scores = json.loads(done.stdout)
    return {score["name"]: (score["score"], score["signature"]) for score in scores}


def agree(reference: Path, hypotheses: list[str], folder: Path) -> float:
    """Hold our scores of a reference file against those of the command; return BLEU."""
    written = folder / "hypotheses.txt"
    written.write_bytes("".join(line + "\n" for line in hypotheses).encode())
    command = sacrebleu(reference, written)
    references = read_references(reference)
    for name, score in [("BLEU", bleu), ("chrF2", chrf)]:
        ours = score(hypotheses, references)
        assert ours.score == pytest.approx(command[name][0], abs=1e-4)
        assert ours.signature == command[name][1]
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
    theirs = sacrebleu(CASES / "odd.test.fr", written, "-tok", "none", "-lc")["BLEU"]
    assert (round(ours.score, 4), ours.signature) == theirs
    assert "case:lc" in ours.signature
    assert "tok:none" in ours.signature


def test_the_default_signature_names_every_choice():
    signature = bleu(["a"], ["a"]).signature
    assert signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")


def test_nothing_in_common_scores_zero():
    assert bleu(["", "x"], ["a b c d", "e"]).score == 0.0
    assert chrf(["", "x"], ["a b c d", "e"]).score == 0.0


def test_text_that_looks_tokenised_is_scored_without_advice(capfd):
    bleu(["le chat ."] * 200, ["le chat ."] * 200)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("score", [bleu, chrf])
def test_counts_must_match(score):
    with pytest.raises(UserError, match="3 hypotheses but 2 references"):
        score(["a", "b", "c"], ["a", "b"])
    with pytest.raises(UserError, match="0 hypotheses and 0 references"):
        score([], [])


def test_an_unknown_tokenisation_is_refused_with_the_nearest_one():
    with pytest.raises(UserError, match=r"tokenize=13b .*did you mean '13a'.*intl"):
        bleu(["a"], ["a"], tokenize="13b")


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
