"""Scores of translations, those of the `sacrebleu` command on the same files; no torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rnnsearch.errors import UserError, nearest
from rnnsearch.lines import read_lines

# sacreBLEU is imported inside the functions: a command that scores nothing must not wait for it.


class Score(NamedTuple):
    """A corpus score and the choices behind it.

    Attributes:
        score: 0 to 100, more is better.
        signature: sacreBLEU's own, `nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0`.
    """

    score: float
    signature: str


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
) -> Score:
    """Corpus BLEU (Papineni et al., 2002) of raw text, one reference a hypothesis.

    Args:
        hypotheses: raw detokenised text, a line each.
        references: as `read_references` gives them.
        tokenize: sacreBLEU's tokenisation of both sides: `13a`, `none` for text that is already
            tokenised, `intl`, `char`, ...
        lowercase: score without regard to case.

    Raises:
        UserError: the counts differ or are 0, or the tokenisation is unknown or not installed.
    """
    from sacrebleu.metrics.bleu import BLEU

    _check_counts(hypotheses, references)
    if tokenize not in BLEU.TOKENIZERS:
        known = sorted(BLEU.TOKENIZERS)
        raise UserError(
            f"tokenize={tokenize} is no tokenisation of sacreBLEU{nearest(tokenize, known)}; "
            f"use one of {', '.join(known)}"
        )
    try:
        # force: sacreBLEU would repeat its advice on tokenised text at every validation.
        metric = BLEU(tokenize=tokenize, lowercase=lowercase, force=True)
    except (ImportError, RuntimeError, OSError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"tokenize={tokenize} does not work here ({reason}); use 13a") from error
    result = metric.corpus_score(list(hypotheses), [list(references)])
    return Score(float(result.score), str(metric.get_signature()))


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """Corpus chrF (Popović, 2015; 6-grams of characters, beta 2), one reference a hypothesis.

    Raises:
        UserError: the counts differ or are 0.
    """
    from sacrebleu.metrics.chrf import CHRF

    _check_counts(hypotheses, references)
    metric = CHRF()
    result = metric.corpus_score(list(hypotheses), [list(references)])
    return Score(float(result.score), str(metric.get_signature()))


def perplexity(loss: float) -> float:
    """exp(loss) for a loss in nats a token; infinite where a float cannot hold it."""
    try:
        return math.exp(loss)
    except OverflowError:
        return math.inf


def read_references(path: Path) -> list[str]:
    """Read the lines of a reference file, plain or gzip, as the `sacrebleu` command does.

    Lines end at LF alone and lose all white space at their end (also U+00A0 and U+2028); nothing
    else is touched: a BOM, other white space and every spelling stay as they are.

    Raises:
        UserError: the file is missing, unreadable or not UTF-8.
    """
    return [line.rstrip() for line in read_lines(path, drop_bom=False)]


def _check_counts(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} hypotheses but {len(references)} references: "
            "a score needs one reference for each hypothesis, so give the files of one test set"
        )
    if not hypotheses:
        raise UserError("0 hypotheses and 0 references: a score needs at least one pair of lines")
