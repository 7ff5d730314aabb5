"""Case M: the score is that of the `sacrebleu` command on the raw files."""

from pathlib import Path

import pytest
from cases_common import IN, evaluation, lines_of, refuse, sacrebleu, succeed

from rnnsearch import metrics
from rnnsearch.corpus import read_references

SPELLINGS = ["", "nfd.", "ascii.", "nbsp0.", "nfkc.", "entity.", "lower.", "spacey."]
# The raw odd.test.fr as hypothesis against each.
ITSELF = [100.00, 74.82, 78.51, 100.00, 76.51, 46.60, 65.10, 100.00]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_m1_a_reference_is_scored_as_it_is_spelt(spelling: str, base_run: Path) -> None:
    reference = IN / f"odd.{spelling}test.fr"
    files = (f"data.test.source={IN}/odd.test.en", f"data.test.target={reference}")
    result = succeed("evaluate", f"run_dir={base_run}", *files)
    assert "tok:13a" in result.out
    assert "case:mixed" in result.out
    score = evaluation(base_run)["bleu"]["score"]
    assert f"{score:.2f}" == sacrebleu(reference, base_run / "hypotheses.txt")
    assert f"{score:.2f}" in result.out


@pytest.mark.parametrize(("spelling", "score"), list(zip(SPELLINGS, ITSELF, strict=True)))
def test_m1_the_raw_reference_against_each_spelling(spelling: str, score: float) -> None:
    hypotheses = lines_of(IN / "odd.test.fr")
    references = read_references(IN / f"odd.{spelling}test.fr")
    assert round(metrics.bleu(hypotheses, references).score, 2) == score


def test_m1_marks_line_ends_and_a_bom_in_a_reference(base_run: Path, tmp_path: Path) -> None:
    """What the training text loses at its ends counts in a reference, as for the command."""
    odd = [
        "\ufeffLe chat voit un chien.",
        "</s> le\u2028chat ▁",
        "  Un chien.\u00a0",
        "",
        "É\u0301t\u0085é",
    ]
    (tmp_path / "t.fr").write_bytes("".join(line + "\r\n" for line in odd).encode())
    (tmp_path / "t.en").write_bytes(b"The cat sees a dog.\nA cat\nA dog.\n\nx\n")
    files = (f"data.test.source={tmp_path}/t.en", f"data.test.target={tmp_path}/t.fr")
    succeed("evaluate", f"run_dir={base_run}", *files)
    score = evaluation(base_run)["bleu"]["score"]
    assert f"{score:.2f}" == sacrebleu(tmp_path / "t.fr", base_run / "hypotheses.txt")


def test_several_reference_files_are_one_after_the_other(base_run: Path, tmp_path: Path) -> None:
    sources = f"data.test.source=[{IN}/base.test.en,{IN}/seven.en]"
    targets = f"data.test.target=[{IN}/base.test.fr,{IN}/seven.fr]"
    succeed("evaluate", f"run_dir={base_run}", sources, targets, "decode.max_length=20")
    both = tmp_path / "both.fr"
    both.write_bytes((IN / "base.test.fr").read_bytes() + (IN / "seven.fr").read_bytes())
    score = evaluation(base_run)["bleu"]["score"]
    assert f"{score:.2f}" == sacrebleu(both, base_run / "hypotheses.txt")
    assert evaluation(base_run)["sentences"] == 31


def test_no_reference_is_made_up(base_run: Path) -> None:
    files = (f"data.test.source={IN}/base.test.en", f"data.test.target={IN}/seven.fr")
    refuse("evaluate", f"run_dir={base_run}", *files, words=("base.test.en", "seven.fr", "24", "7"))
    missing = (f"data.test.source={IN}/base.test.en", f"data.test.target={IN}/none.fr")
    refuse("evaluate", f"run_dir={base_run}", *missing, words=("none.fr",))
