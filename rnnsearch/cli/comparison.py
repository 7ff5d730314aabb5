"""Several runs side by side: what they differ in, tested, tabled and drawn."""

import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rnnsearch import metrics
from rnnsearch.cli import scoretable
from rnnsearch.cli.pages import drop_page, write_page
from rnnsearch.config import EvaluateConfig
from rnnsearch.errors import printable
from rnnsearch.evaluation import Bar, Evaluation, EvaluationSet, Scoring, Stages, finite
from rnnsearch.lines import is_number, read_records
from rnnsearch.runlog import progress_bar
from rnnsearch.translator import Translator
from rnnsearch.wholefiles import write_text

# What `comparison.json` says of a run beside the scores that are tested.
_PLAIN = (
    *("loss", "perplexity", "length_ratio"),
    *("alignment_error_rate", "alignment_precision", "alignment_recall"),
)


class Run(NamedTuple):
    """A run to be scored.

    Attributes:
        name: as the user wrote it.
        folder: the run folder.
        translator: its model or ensemble.
        checkpoint: the step folder that was loaded, of an ensemble a list.
    """

    name: str
    folder: Path
    translator: Translator
    checkpoint: str | list[str]


def stages(title: str) -> Stages:
    """Return what shows the progress of the work on a test set, `title` before each bar."""

    def stage(what: str, total: int) -> AbstractContextManager[Bar]:
        unit = "score" if what == "scores" else "test" if total == 1 else "line"
        bar: AbstractContextManager[Bar] = progress_bar(
            total, description=f"{title}: {what}", unit=unit
        )
        return bar

    return stage


def to_json(record: Mapping[str, Any]) -> str:
    """Return a record as the text of a JSON file."""
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    # A file name that is no UTF-8 comes as lone surrogates; JSON has an escape for them.
    return text.encode("utf-8", "backslashreplace").decode()


def resamples_of(scoring: Scoring) -> int:
    """Return the resamples of the paired test."""
    return scoring.bootstrap if scoring.bootstrap > 1 else metrics.RESAMPLES


def compared(
    test: EvaluationSet, results: Sequence[tuple[Run, Evaluation]], config: EvaluateConfig,
    *, scoring: Scoring,
) -> str:  # fmt: skip
    """Test runs against the first one and return the tables.

    Writes `comparison.json`, `by_length.png` and `comparison.html` beside the first run's results.
    """
    resamples = resamples_of(scoring)
    with stages(test.name)("paired bootstrap test", 1) as bar:
        differences, signatures = metrics.compare(
            [result.hypotheses for _, result in results], test.references,
            tokenize=scoring.tokenize, lowercase=scoring.lowercase, bootstrap=resamples,
            with_ter=scoring.ter,
        )  # fmt: skip
        bar.update()
    (first, _), *others = results
    trained = [_training(one) for one, _ in results]
    entries = []
    for number, (one, result) in enumerate(results):
        entry: dict[str, Any] = {
            "run_dir": str(one.folder.resolve()),
            "checkpoint": one.checkpoint,
        }
        entry |= trained[number] | {key: result.record[key] for key in _PLAIN}
        for key in signatures:
            more = differences[number - 1][key]._asdict() if number else {}
            entry[key] = {**result.record[key], **more}
        entries.append(entry)
    record = {
        "test_set": test.name,
        **test.origin,
        "alignments": test.alignments,
        "references": test.further,
        "sentences": len(test.sources),
        "test": "paired bootstrap",
        "resamples": resamples,
        "signatures": signatures,
        "runs": entries,
        "decode": asdict(config.decode),
    }
    path = first.folder / "evaluations" / test.name / "comparison.json"
    record = finite(record)
    write_text(path, to_json(record))
    _report(path.with_name("comparison.html"), test, results, record, wanted=config.report)
    _draw([(one.name, result.record) for one, result in results], path.with_name("by_length.png"))
    table = scoretable.score_table("run", [(one.name, result.record) for one, result in results])
    against = scoretable.difference_table(
        first.name,
        [(one.name, found) for (one, _), found in zip(others, differences, strict=True)],
        resamples=resamples,
    )
    if len({one.translator.target_tokenizer.fingerprint for one, _ in results}) > 1:
        against += "\nloss and perplexity are of pieces, and these runs have different ones"
    names = [one.name for one, _ in results]
    trainings = scoretable.training_table(list(zip(names, trained, strict=True)))
    return f"test set {printable(test.name)}\n\n{table}\n\n{against}\n\n{trainings}"


def _training(one: Run) -> dict[str, float | int | None]:
    """Return the size of a run's network and how its training went, None where it is not told."""
    seen = list(read_records(one.folder / "metrics.jsonl"))
    figures: dict[str, list[float]] = {
        key: [r[key] for r in seen if is_number(r.get(key))]
        for key in ("update", "tokens_per_second", "elapsed_seconds")
    }
    speeds, seconds = figures["tokens_per_second"], figures["elapsed_seconds"]
    return {
        "parameters": sum(p.numel() for p in one.translator.model.parameters()),
        "updates": int(max(figures["update"])) if figures["update"] else None,
        "training_minutes": max(seconds) / 60 if seconds else None,
        "training_tokens_per_second": statistics.median(speeds) if speeds else None,
    }


def _report(
    path: Path, test: EvaluationSet, results: Sequence[tuple[Run, Evaluation]],
    record: Mapping[str, Any], *, wanted: bool,
) -> None:  # fmt: skip
    """Write the page that puts the runs side by side, or remove that of an earlier comparison."""
    from rnnsearch.report import Compared, comparison_page

    if not wanted:
        drop_page(path)
        return
    runs = [Compared(one.name, one.folder, one.translator, result) for one, result in results]
    write_page(path, partial(comparison_page, test, runs, record, stages=stages(test.name)))


def _draw(rows: Sequence[scoretable.Row], path: Path) -> None:
    """Draw BLEU by length; a picture that fails must not fail the evaluation."""
    from rnnsearch.plots import draw_by_length

    try:
        draw_by_length(path, [(name, record["by_length"]) for name, record in rows])
    except OSError as error:
        print(f"warning: {path}: could not be drawn: {error}", file=sys.stderr)
    else:
        print(f"BLEU by length: {path}", file=sys.stderr)
