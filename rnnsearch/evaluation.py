"""From a translator and a test set to translations and the record of their scores.

read_set ──> EvaluationSet ──evaluate──> Evaluation (hypotheses, log-probabilities, record)
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rnnsearch import metrics
from rnnsearch.alignment_error import GoldLinks, LinkScorer, piece_counts, read_gold
from rnnsearch.corpus import PairSource, read_references
from rnnsearch.errors import UserError
from rnnsearch.lines import counted
from rnnsearch.scoring import score_pairs
from rnnsearch.text import UNK, Tokenizers
from rnnsearch.translator import Translator


class EvaluationSet(NamedTuple):
    """A test set of N pairs, read and checked.

    Attributes:
        name: of its results.
        sources: N lines to translate.
        targets: N lines whose log-probability is asked for, read as training text is.
        references: one list of N lines or more, as the `sacrebleu` command reads them; the
            target's comes first.
        further: the files of the other ones.
        origin: where the pairs came from, plain values.
        gold: links of each pair; None where there is no file of them.
        alignments: the files of the gold links.
    """

    name: str
    sources: list[str]
    targets: list[str]
    references: list[list[str]]
    further: list[str]
    origin: dict[str, Any]
    gold: list[GoldLinks] | None
    alignments: list[str]


class Scoring(NamedTuple):
    """sacreBLEU's options; see `metrics.bleu`.

    As in the command, `tokenize` and `lowercase` are BLEU's; chrF and TER have settings of their
    own, which stay at sacreBLEU's defaults.
    """

    tokenize: str = "13a"
    lowercase: bool = False
    bootstrap: int = 0
    ter: bool = True


class Evaluation(NamedTuple):
    """A scored test set.

    Attributes:
        hypotheses: N lines, detokenised.
        log_p: (N) log p(target, EOS | source), natural logarithm.
        tokens: target pieces and EOS of each pair.
        unknown: unknown words that the hypotheses were to have.
        record: the figures of `evaluation.json`; NaN and infinity are still in it.
    """

    hypotheses: list[str]
    log_p: NDArray[np.float64]
    tokens: list[int]
    unknown: int
    record: dict[str, Any]


class Bar(Protocol):
    """What a stage of the work tells its progress to."""

    def update(self, n: int = 1) -> object:
        """Count `n` more units as done."""


Stages = Callable[[str, int], AbstractContextManager[Bar]]
"""Starts the bar of a stage: what is done, and of how many lines or scores."""


def read_set(
    name: str, source: PairSource,
    *, references: Sequence[Path] = (), alignments: Sequence[Path] = (),
) -> EvaluationSet:  # fmt: skip
    """Read a test set, and refuse it before any work if its parts do not belong together.

    Args:
        name: of its results.
        source: where its pairs come from.
        references: files of further references; the target's own file and one named twice count
            once.
        alignments: files of gold links between words, see `alignment_error.read_gold`.

    Raises:
        UserError: something cannot be read, the numbers of lines differ, or links do not fit.
    """
    pairs = source.read()
    sources, targets = list(pairs["source"]), list(pairs["target"])
    origin = source.describe()
    lists = [source.references()]
    seen = {Path(path).resolve() for path in origin.get("target", ())}
    if len(seen) > 1:  # one reference in several files; none of them is the whole
        seen = set()
    further = []
    for path in references:
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        lines = read_references(path)
        if len(lines) != len(sources):
            raise UserError(
                f"references={path}: has {counted(len(lines), 'line')}, "
                f"but {source.label} has "
                f"{len(sources)}; a reference needs a line for each pair of the test set"
            )
        lists.append(lines)
        further.append(str(path))
    gold = None
    if alignments:
        gold = read_gold(alignments, sources=sources, targets=targets, label=source.label)
    return EvaluationSet(
        name, sources, targets, lists, further, origin, gold, [*map(str, alignments)]
    )


def link_scorer(test: EvaluationSet, tokenizers: Tokenizers) -> LinkScorer | None:
    """Return what compares attention with the gold links of a test set; None without any.

    Raises:
        UserError: the pieces of a line do not spell the words that the links are of.
    """
    if test.gold is None:
        return None
    counts = [
        piece_counts(
            lines, tokenizer, gold=test.alignments[0],
            name=files[0] if len(files) == 1 else f"the {side} of {test.name}",
        )
        for side, lines, tokenizer in zip(
            ("source", "target"), (test.sources, test.targets), tokenizers, strict=True
        )
        for files in [test.origin.get(side, ())]
    ]  # fmt: skip
    return LinkScorer(test.gold, source_counts=counts[0], target_counts=counts[1])


def evaluate(
    translator: Translator, test: EvaluationSet,
    *, scoring: Scoring, stages: Stages, links: LinkScorer | None = None,
) -> Evaluation:  # fmt: skip
    """Translate and score a test set, whose sources learned positions have to reach.

    Args:
        translator: a model or an ensemble.
        test: what it is tried on.
        scoring: how BLEU looks at the text, the resamples behind the intervals, and
            whether there is to be TER.
        stages: shows the progress.
        links: of this set and these tokenizers, from `link_scorer`; takes the attention.
    """
    tokenizers = translator.tokenizers
    source_ids = tokenizers.source.encode_batch(test.sources)
    target_ids = tokenizers.target.encode_batch(test.targets)
    with stages("loss", len(source_ids)) as bar:
        attention = links.add if links else None
        log_p = score_pairs(
            translator.models, source_ids, target_ids, progress=bar.update, attention=attention
        )
    with stages("translating", len(source_ids)) as bar:
        found = translator.translate(test.sources, alignments=False, progress=bar.update)
    hypotheses = [translation.text for translation in found]
    tokens = [len(ids) + 1 for ids in target_ids]
    unknown = sum(translation.unknown for translation in found)
    record = {
        **_scores(test, hypotheses, scoring=scoring, stages=stages),
        **_loss(log_p, tokens),
        **_alignment(links),
        "sentences": len(hypotheses),
        "length_ratio": metrics.length_ratio(
            hypotheses, test.references, tokenize=scoring.tokenize, lowercase=scoring.lowercase
        ),
        "unknown_rate": _share(unknown, sum(len(t.target_pieces) for t in found)),
        "unknown_rate_source": _unknown_rate(source_ids),
        "unknown_rate_reference": _unknown_rate(target_ids),
        "by_length": metrics.by_length(
            test.sources, hypotheses, test.references,
            tokenize=scoring.tokenize, lowercase=scoring.lowercase,
        ),
    }  # fmt: skip
    if tokenizers.target.kind == "word":
        known = _without_unknown(source_ids, target_ids)
        record["no_unk"] = _no_unk(
            translator, test, hypotheses, known=known, scoring=scoring, stages=stages
        )
    record |= {
        "test_set": test.name,
        **test.origin,
        "alignments": test.alignments,
        "references": test.further,
        "tokenize": scoring.tokenize,
        "lowercase": scoring.lowercase,
    }
    return Evaluation(hypotheses, log_p, tokens, unknown, record)


def score_rows(evaluation: Evaluation) -> str:
    """Return a JSON line a pair: log p of the reference with its end mark, and their number."""
    return "".join(
        json.dumps(finite({"log_probability": float(log_p), "tokens": tokens})) + "\n"
        for log_p, tokens in zip(evaluation.log_p, evaluation.tokens, strict=True)
    )


def finite(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record for JSON, which has no NaN and no infinity: None stands for them."""
    return {key: _finite(value) for key, value in record.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return finite(value)
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _scores(
    test: EvaluationSet, hypotheses: list[str], *, scoring: Scoring, stages: Stages
) -> dict[str, Any]:
    tokenize, lowercase, bootstrap, with_ter = scoring
    with stages("scores", 2 + with_ter) as bar:
        bleu = metrics.bleu(
            hypotheses, test.references,
            tokenize=tokenize, lowercase=lowercase, bootstrap=bootstrap,
        )  # fmt: skip
        bar.update()
        chrf = metrics.chrf(hypotheses, test.references, bootstrap=bootstrap)
        bar.update()
        if not with_ter:
            return {"bleu": bleu._asdict(), "chrf": chrf._asdict(), "ter": None}
        ter = metrics.ter(hypotheses, test.references, bootstrap=bootstrap)
        bar.update()
    return {"bleu": bleu._asdict(), "chrf": chrf._asdict(), "ter": ter._asdict()}


def _loss(log_p: NDArray[np.float64], tokens: Sequence[int]) -> dict[str, float]:
    """Return loss, in nats a piece, and perplexity of pairs with their log-probabilities."""
    loss = -float(log_p.sum()) / sum(tokens)
    return {"loss": loss, "perplexity": metrics.perplexity(loss)}


def _alignment(scorer: LinkScorer | None) -> dict[str, float | None]:
    names = ("alignment_error_rate", "alignment_precision", "alignment_recall")
    return dict(zip(names, scorer.score() if scorer else (None, None, None), strict=True))


def _unknown_rate(ids: Sequence[Sequence[int]]) -> float:
    return _share(sum(list(line).count(UNK) for line in ids), sum(map(len, ids)))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _without_unknown(
    source_ids: Sequence[Sequence[int]], target_ids: Sequence[Sequence[int]]
) -> list[int]:
    """Return the pairs that have words on both sides and no unknown one."""
    return [
        number
        for number, (source, target) in enumerate(zip(source_ids, target_ids, strict=True))
        if len(source) and len(target) and UNK not in source and UNK not in target
    ]


def _no_unk(
    translator: Translator, test: EvaluationSet, hypotheses: list[str],
    *, known: list[int], scoring: Scoring, stages: Stages,
) -> dict[str, Any]:  # fmt: skip
    """Return the paper's second column: BLEU of the pairs `known`, the unknown word barred.

    BLEU is None where there is no such pair.
    """
    if not known:
        return {"bleu": None, "sentences": 0}
    if translator.options.ban_unk:  # a translation does not depend on what is translated beside it
        chosen = [hypotheses[number] for number in known]
    else:
        with stages("translating without unknown words", len(known)) as bar:
            found = translator.barring_unknown().translate(
                [test.sources[number] for number in known], alignments=False, progress=bar.update
            )
        chosen = [translation.text for translation in found]
    bleu = metrics.bleu(
        chosen, [[lines[number] for number in known] for lines in test.references],
        tokenize=scoring.tokenize, lowercase=scoring.lowercase, bootstrap=scoring.bootstrap,
    )  # fmt: skip
    return {"bleu": bleu._asdict(), "sentences": len(known)}
