"""Scores of translations, those of the `sacrebleu` command on the same files; no torch."""

from __future__ import annotations

import logging
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from rnnsearch.errors import UserError, nearest
from rnnsearch.lines import counted

# sacreBLEU is imported inside the functions: a command that scores nothing must not wait for it.

References = Sequence[str] | Sequence[Sequence[str]]
"""The references of all lines: one list of lines, or several lists, one a reference file."""

LENGTH_BIN = 10  # source words that a bin of `by_length` spans
RESAMPLES = 1000
"""Resamples of the paired bootstrap test where none are asked for; sacreBLEU's own number."""


class Score(NamedTuple):
    """A corpus score, its interval and the choices behind it.

    The interval is sacreBLEU's: of the scores of the resamples, the mean less and plus half the
    distance between the quantiles 0.025 and 0.975. `sacrebleu --confidence` prints it as
    `μ = MEAN ± HALF`, where MEAN is (low + high) / 2, which need not be `score`, and HALF is
    (high - low) / 2. On few lines it may reach below 0.

    Attributes:
        score: BLEU and chrF are 0 to 100, more is better; TER is 0 or more, less is better.
        low: lower end of the 95% bootstrap interval; None without resamples.
        high: upper end.
        signature: sacreBLEU's own, `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0`.
    """

    score: float
    low: float | None
    high: float | None
    signature: str


def bleu(
    hypotheses: Sequence[str], references: References,
    *, tokenize: str = "13a", lowercase: bool = False, bootstrap: int = 0,
) -> Score:  # fmt: skip
    """Corpus BLEU (Papineni et al., 2002) of raw text.

    Args:
        hypotheses: raw detokenised text, a line each.
        references: likewise, as `corpus.read_references` gives them; one list or several.
        tokenize: sacreBLEU's tokenisation of both sides: `13a`, `none` for text that is already
            tokenised, `intl`, `char`, ...
        lowercase: score without regard to case.
        bootstrap: resamples behind the interval; fewer than 2 give none, as in the command.

    Raises:
        UserError: the counts differ or are 0, or the tokenisation is unknown or not installed.
    """
    metric = _bleu_metric(tokenize=tokenize, lowercase=lowercase)
    return _score(metric, hypotheses, references, bootstrap=bootstrap)


def chrf(
    hypotheses: Sequence[str], references: References,
    *, lowercase: bool = False, bootstrap: int = 0,
) -> Score:  # fmt: skip
    """Corpus chrF (Popović, 2015; 6-grams of characters, beta 2), as `bleu` takes its arguments.

    `lowercase` is `--chrf-lowercase` of the command, which `-lc` does not imply.

    Raises:
        UserError: the counts differ or are 0.
    """
    from sacrebleu.metrics.chrf import CHRF

    return _score(CHRF(lowercase=lowercase), hypotheses, references, bootstrap=bootstrap)


def ter(hypotheses: Sequence[str], references: References, *, bootstrap: int = 0) -> Score:
    """Translation edit rate (Snover et al., 2006) as TERCOM has it: without regard to case.

    It takes time: of 1,000 lines with half of the words wrong about 1 s for lines of 15 words, 10 s
    for 30 and 7 minutes for 100.

    Raises:
        UserError: the counts differ or are 0.
    """
    from sacrebleu.metrics.ter import TER

    return _score(TER(), hypotheses, references, bootstrap=bootstrap)


def length_ratio(
    hypotheses: Sequence[str], references: References,
    *, tokenize: str = "13a", lowercase: bool = False,
) -> float:  # fmt: skip
    """Tokens of the hypotheses over those of the references, as BLEU counts them.

    Of several references the one nearest in length counts. NaN where there is no reference token.

    Raises:
        UserError: as `bleu`.
    """
    metric = _bleu_metric(tokenize=tokenize, lowercase=lowercase)
    result = metric.corpus_score(list(hypotheses), _lists(hypotheses, references))
    return result.sys_len / result.ref_len if result.ref_len else math.nan


def by_length(
    sources: Sequence[str], hypotheses: Sequence[str], references: References,
    *, tokenize: str = "13a", lowercase: bool = False,
) -> list[dict[str, Any]]:  # fmt: skip
    """BLEU of the lines by the length of their source.

    Args:
        sources: their words are what white space separates. Bins hold 1 to 10 words, 11 to 20 and
            so on; blank sources are a bin of their own, 0 to 0.
        hypotheses: as `bleu` takes them, and so are the others.
        references: one list or several.
        tokenize: of sacreBLEU.
        lowercase: score without regard to case.

    Returns:
        A record a bin, `{"from", "to", "sentences", "bleu"}`, without the empty ones.

    Raises:
        UserError: as `bleu`.
    """
    lists = _lists(hypotheses, references)
    bins: dict[int, list[int]] = {}
    for line, source in enumerate(sources):
        bins.setdefault(math.ceil(len(source.split()) / LENGTH_BIN), []).append(line)
    records = []
    for number, lines in sorted(bins.items()):
        scored = bleu(
            [hypotheses[line] for line in lines],
            [[reference[line] for line in lines] for reference in lists],
            tokenize=tokenize, lowercase=lowercase,
        )  # fmt: skip
        last = number * LENGTH_BIN
        first = last - LENGTH_BIN + 1 if number else 0
        records.append({"from": first, "to": last, "sentences": len(lines), "bleu": scored.score})
    return records


class Difference(NamedTuple):
    """How a system compares with the first one by one metric.

    Attributes:
        difference: its score less that of the first.
        p_value: how likely so large a difference is if the two are equally good; two-sided. 1 for
            no difference at all, which sacreBLEU, with > for ≥, calls the surest of all.
    """

    difference: float
    p_value: float


def compare(
    systems: Sequence[Sequence[str]], references: References,
    *, tokenize: str = "13a", lowercase: bool = False, bootstrap: int = RESAMPLES,
    with_ter: bool = True,
) -> tuple[list[dict[str, Difference]], dict[str, str]]:  # fmt: skip
    """Paired bootstrap test (Koehn, 2004) of systems against the first, that of `--paired-bs`.

    Args:
        systems: the hypotheses of each, two or more.
        references: as `bleu` takes them, and so are the others.
        tokenize: of BLEU.
        lowercase: BLEU without regard to case, as `-lc` of the command; chrF sees the case.
        bootstrap: resamples.
        with_ter: whether to test TER too.

    Returns:
        For each system after the first its differences by `bleu`, `chrf` and `ter`; and the
        signatures of the tests by the same names.

    Raises:
        UserError: as `bleu`.
    """
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER
    from sacrebleu.significance import PairedTest

    for hypotheses in systems:
        lists = _lists(hypotheses, references)
        check_bootstrap(bootstrap, lines=len(hypotheses))
    metrics = {"bleu": _bleu_metric(tokenize=tokenize, lowercase=lowercase), "chrf": CHRF()}
    if with_ter:
        metrics["ter"] = TER()
    with _resampling(bootstrap, len(lists[0])):
        signatures, results = PairedTest(
            [(str(number), list(hypotheses)) for number, hypotheses in enumerate(systems)],
            metrics, references=lists, test_type="bs", n_samples=bootstrap,
        )()  # fmt: skip
    # sacreBLEU names the results after the metrics' variants (chrF2), in the order they came in.
    names = dict(zip(metrics, signatures, strict=True))
    differences = [
        {key: _difference(results[name][0], results[name][number]) for key, name in names.items()}
        for number in range(1, len(systems))
    ]
    return differences, {key: str(signatures[name]) for key, name in names.items()}


def _difference(first: Any, other: Any) -> Difference:
    difference = float(other.score - first.score)
    return Difference(difference, float(other.p_value) if difference else 1.0)


def perplexity(loss: float) -> float:
    """exp(loss) for a loss in nats a token; infinite where a float cannot hold it."""
    try:
        return math.exp(loss)
    except OverflowError:
        return math.inf


def check_tokenize(tokenize: str) -> None:
    """Hold that sacreBLEU has a tokenisation of that name and that it works here.

    Raises:
        UserError: it is unknown, with the nearest name, or lacks a package or a file.
    """
    _bleu_metric(tokenize=tokenize, lowercase=False)


def check_bootstrap(bootstrap: int, *, lines: int) -> None:
    """Hold that there is memory for resamples of so many lines.

    Raises:
        UserError: there is not (status 1).
    """
    import numpy as np

    with _resampling(bootstrap, lines):
        if bootstrap > 1:
            # All are drawn at once: a line's number in 8 bytes, chrF's 18 statistics in 4 each.
            np.empty(min(bootstrap * lines * (8 + 18 * 4), sys.maxsize), np.uint8)


@contextmanager
def _resampling(bootstrap: int, lines: int) -> Iterator[None]:
    try:
        yield
    except MemoryError as error:
        told = f"bootstrap={bootstrap}: not enough memory for so many resamples of"
        raise UserError(f"{told} {counted(lines, 'line')}; lower it", status=1) from error


def _bleu_metric(*, tokenize: str, lowercase: bool) -> Any:
    from sacrebleu.metrics.bleu import BLEU

    if tokenize not in BLEU.TOKENIZERS:
        known = sorted(BLEU.TOKENIZERS)
        raise UserError(
            f"tokenize={tokenize} is no tokenisation of sacreBLEU{nearest(tokenize, known)}; "
            f"use one of {', '.join(known)}"
        )
    try:
        # force: sacreBLEU would repeat its advice on tokenised text at every validation.
        with _silent():
            return BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    except (ImportError, RuntimeError, OSError, AssertionError, SystemExit) as error:
        reason = " ".join(str(error).split()) or "it did not start"
        raise UserError(f"tokenize={tokenize} does not work here ({reason}); use 13a") from error


@contextmanager
def _silent() -> Iterator[None]:
    """Keep sacreBLEU from logging: what went wrong is told in one line."""
    logger = logging.getLogger("sacrebleu")
    before, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = before


def _score(
    metric: Any, hypotheses: Sequence[str], references: References, *, bootstrap: int
) -> Score:
    lists = _lists(hypotheses, references)
    check_bootstrap(bootstrap, lines=len(hypotheses))
    try:
        with _resampling(bootstrap, len(hypotheses)):
            result = metric.corpus_score(list(hypotheses), lists, n_bootstrap=max(bootstrap, 1))
    except TypeError:
        # A resample without a match (chrF) or a reference word (TER) scores a Python float, the
        # others a NumPy one, and sacreBLEU 2.6 cannot take the mean of both.
        compute = metric._compute_score_from_stats
        metric._compute_score_from_stats = lambda statistics: compute([*map(float, statistics)])
        result = metric.corpus_score(list(hypotheses), lists, n_bootstrap=bootstrap)
    low = high = None
    if bootstrap > 1:
        # The mean and the half width are public in what the command prints alone.
        mean, half = float(result._mean), float(result._ci)
        low, high = mean - half, mean + half
    return Score(float(result.score), low, high, str(metric.get_signature()))


def _lists(hypotheses: Sequence[str], references: References) -> list[list[str]]:
    """Return the references as lists, each as long as the hypotheses."""
    one = [line for line in references if isinstance(line, str)]
    lists = [one] if len(one) == len(references) else [list(lines) for lines in references]
    for lines in lists:
        if len(hypotheses) != len(lines):
            raise UserError(
                f"{len(hypotheses)} {'hypothesis' if len(hypotheses) == 1 else 'hypotheses'} but "
                f"{counted(len(lines), 'reference')}: a score needs one reference for each "
                "hypothesis, so give the files of one test set"
            )
    if not hypotheses:
        raise UserError("0 hypotheses and 0 references: a score needs at least one pair of lines")
    return lists
