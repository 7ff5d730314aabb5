"""Scores of any text: never a crash, never a number that sacreBLEU would not give."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from rnnsearch import metrics

# Any line that UTF-8 can hold, and lines of few different words, which have something in common.
LINES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=30),
    st.lists(st.sampled_from(["le", "chat", "a", ",", "été", "\u00a0", "«"]), max_size=8).map(
        " ".join
    ),
)
FEW = settings(max_examples=40, deadline=None)


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Draw hypotheses and one to three lists of references, of the same number of lines."""
    count = draw(st.integers(1, 6))
    several = st.lists(LINES, min_size=count, max_size=count)
    return draw(several), draw(st.lists(several, min_size=1, max_size=3))


@FEW
@given(texts(), st.booleans(), st.sampled_from(["13a", "none", "intl", "char", "zh"]))
def test_scores_are_those_of_sacrebleu(drawn, lowercase, tokenize):
    hypotheses, references = drawn
    pairs = [
        (
            metrics.bleu(hypotheses, references, tokenize=tokenize, lowercase=lowercase),
            BLEU(tokenize=tokenize, lowercase=lowercase, force=True),
        ),
        (metrics.chrf(hypotheses, references, lowercase=lowercase), CHRF(lowercase=lowercase)),
        (metrics.ter(hypotheses, references), TER()),
    ]
    for ours, theirs in pairs:
        assert ours.score == theirs.corpus_score(hypotheses, references).score
        assert ours.signature == str(theirs.get_signature())
        assert math.isfinite(ours.score)
        assert ours.score >= 0
        assert ours.low is ours.high is None
    assert all(ours.score <= 100 + 1e-9 for ours, _ in pairs[:2])


@FEW
@given(texts())
def test_an_interval_holds_the_mean_of_the_resamples(drawn):
    hypotheses, references = drawn
    for score, metric in ((metrics.bleu, BLEU()), (metrics.chrf, CHRF()), (metrics.ter, TER())):
        ours = score(hypotheses, references, bootstrap=20)
        low, high = ours.low, ours.high
        assert low is not None
        assert high is not None
        assert math.isfinite(low + high)
        try:
            told = metric.corpus_score(hypotheses, references, n_bootstrap=20)
        except TypeError:  # sacreBLEU 2.6, where a resample has no match or no reference word
            continue
        assert math.isclose((low + high) / 2, told._mean, abs_tol=1e-9)
        assert math.isclose((high - low) / 2, told._ci, abs_tol=1e-9)


@FEW
@given(texts(), st.data())
def test_the_bins_by_length_share_out_the_lines(drawn, data):
    hypotheses, references = drawn
    count = len(hypotheses)
    sources = data.draw(st.lists(LINES.map(lambda line: line * 3), min_size=count, max_size=count))
    bins = metrics.by_length(sources, hypotheses, references)
    assert sum(b["sentences"] for b in bins) == count
    for b in bins:
        lengths = [len(s.split()) for s in sources if b["from"] <= len(s.split()) <= b["to"]]
        assert len(lengths) == b["sentences"] > 0
        assert 0 <= b["bleu"] <= 100 + 1e-9
    ratio = metrics.length_ratio(hypotheses, references)
    assert math.isnan(ratio) or ratio >= 0


@settings(max_examples=10, deadline=None)
@given(texts(), st.data())
def test_a_system_does_not_differ_from_itself(drawn, data):
    hypotheses, references = drawn
    other = data.draw(st.permutations(hypotheses))
    differences, signatures = metrics.compare(
        [hypotheses, hypotheses, other], references, bootstrap=10
    )
    assert set(signatures) == {"bleu", "chrf", "ter"}
    assert all(difference == 0 and p == 1 for difference, p in differences[0].values())
    for key, score in (("bleu", metrics.bleu), ("chrf", metrics.chrf), ("ter", metrics.ter)):
        found = score(other, references).score - score(hypotheses, references).score
        assert math.isclose(differences[1][key].difference, found, abs_tol=1e-9)
        assert 0 < differences[1][key].p_value <= 1
