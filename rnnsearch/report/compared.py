"""The page that puts several runs side by side."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rnnsearch.evaluation import Evaluation, EvaluationSet, Stages
from rnnsearch.report.charts import Curve, line_chart
from rnnsearch.report.evaluated import (
    BIN_LABEL,
    METRICS,
    bin_label,
    bin_name,
    checkpoints,
    interval,
    search,
    settings,
    signature_list,
)
from rnnsearch.report.examples import furthest_apart, sentence_chrf
from rnnsearch.report.explorer import WITHOUT
from rnnsearch.report.page import document, escaped, facts, more, number, share, table
from rnnsearch.report.sentences import EXPLORING, LEGEND_OF_SEVERAL, Output, sentence_groups
from rnnsearch.report.training import curves_of_runs
from rnnsearch.translator import Translator
from rnnsearch.validation import load_config


class Compared(NamedTuple):
    """A run of a comparison.

    Attributes:
        name: as the user wrote it.
        folder: the run folder.
        translator: its model or ensemble.
        result: of the test set that all share, its record as in `evaluation.json`.
    """

    name: str
    folder: Path
    translator: Translator
    result: Evaluation


def comparison_page(
    test: EvaluationSet, runs: Sequence[Compared], record: Mapping[str, Any], *, stages: Stages
) -> str:
    """Return the page that compares runs with the first one.

    Args:
        test: the test set.
        runs: two or more.
        record: that of `comparison.json`.
        stages: shows the progress.

    Raises:
        OSError: a file of a run cannot be read.
    """
    names = _labels(runs)
    config = load_config(runs[0].folder)
    languages = (config.data.source_lang, config.data.target_lang)
    outputs = [
        Output(
            name, one.result.hypotheses, sentence_chrf(one.result.hypotheses, test.references),
            one.translator,
        )
        for name, one in zip(names, runs, strict=True)
    ]  # fmt: skip
    groups = furthest_apart([one.scores for one in outputs], test.sources)
    first = escaped(names[0])
    others = escaped(names[1]) if len(runs) == 2 else "The others"
    titles = (f"{others} ahead of {first}", f"{first} ahead", "Random")
    sentences, data = sentence_groups(
        [*zip(titles, groups, strict=True)], test, outputs, languages=languages, stages=stages
    )
    lead = (
        f'<p class="lead"><b>{escaped(test.name)}</b>, {len(test.sources):,} sentences, '
        f"{escaped(languages[0])} to {escaped(languages[1])}, {search(record)}</p>"
    )
    return document(
        f"{len(runs)} runs on {test.name}",
        lead=lead,
        sections=(
            ("scores", "Scores", _scores(names, runs, record, origin=test.origin)),
            ("length", "BLEU by length of the source", _by_length(names, runs)),
            ("training", "Training", _training(names, runs, record)),
            ("sentences", "Translations", _about(len(runs), outputs) + sentences),
        ),
        data=data,
    )


def _labels(runs: Sequence[Compared]) -> list[str]:
    """Return the names of the folders, or what the user wrote if two of them are alike."""
    short = [one.folder.resolve().name for one in runs]
    return short if len({*short}) == len(short) else [one.name for one in runs]


def _scores(
    names: Sequence[str], runs: Sequence[Compared], record: Mapping[str, Any],
    *, origin: Mapping[str, Any],
) -> str:  # fmt: skip
    keys = [key for key in METRICS if key in record["signatures"]]
    head = ("run", *(METRICS[key] for key in keys), "loss", "perplexity", "length ratio", "unknown")
    rows = []
    for name, one in zip(names, runs, strict=True):
        found = one.result.record
        rows.append(
            [
                escaped(name), *(interval(found[key]) for key in keys), number(found["loss"], 4),
                number(found["perplexity"]), number(found["length_ratio"], 3),
                share(found["unknown_rate"]),
            ]
        )  # fmt: skip
    if any(one.result.record.get("alignment_error_rate") is not None for one in runs):
        head = (*head, "AER")
        for row, one in zip(rows, runs, strict=True):
            row.append(share(one.result.record.get("alignment_error_rate")))
    parts = [table("Scores of the runs", head, rows), _tested(names, keys, record)]
    if len({one.translator.target_tokenizer.fingerprint for one in runs}) > 1:
        parts.append(
            "<p>Loss and perplexity are of tokens, and these runs have different ones.</p>\n"
        )
    parts.append(signature_list([(METRICS[key], record["signatures"][key]) for key in keys]))
    parts.append(settings(record, origin, None))
    folders = [
        (escaped(name), f"{escaped(entry['run_dir'])}<br>{checkpoints(entry['checkpoint'])}")
        for name, entry in zip(names, record["runs"], strict=True)
    ]
    parts.append(more("Folders and checkpoints", f'<div class="long">{facts(folders)}</div>\n'))
    return "".join(parts)


def _tested(names: Sequence[str], keys: Sequence[str], record: Mapping[str, Any]) -> str:
    """Return the paired bootstrap test against the first run."""
    rows = [
        (escaped(name), *(_difference(entry[key]) for key in keys))
        for name, entry in zip(names[1:], record["runs"][1:], strict=True)
    ]
    title = f"Difference from {escaped(names[0])}"
    head = ("run", *(METRICS[key] for key in keys))
    return (
        f"<h3>{title}</h3>\n"
        + table(title, head, rows)
        + f'<p class="note">Paired bootstrap test, {record["resamples"]:,} resamples; p is how '
        "likely so large a difference is between systems that are equally good; ∗ marks "
        "p &lt; 0.05.</p>\n"
    )


def _difference(found: Mapping[str, Any]) -> str:
    mark = " ∗" if found["p_value"] < 0.05 else ""
    signed = f"{found['difference']:+.2f}".replace("-", "−")  # as wide as a plus
    return f"{signed} (p = {found['p_value']:.4f}){mark}"


def _by_length(names: Sequence[str], runs: Sequence[Compared]) -> str:
    """Return BLEU by length of all runs in one figure; they share the test set and its bins."""
    bins = runs[0].result.record["by_length"]
    labels = [bin_name(one) for one in bins]
    values = [[one["bleu"] for one in run.result.record["by_length"]] for run in runs]
    curves = [
        Curve(name, [(i + 0.5, bleu) for i, bleu in enumerate(row) if bleu is not None])
        for name, row in zip(names, values, strict=True)
    ]
    chart = ""
    if any(curve.points for curve in curves):
        chart = line_chart("BLEU", curves, x_label=BIN_LABEL, labels=[*map(bin_label, bins)])
    rows = [
        (label, f"{one['sentences']:,}", *(number(row[i]) for row in values))
        for i, (label, one) in enumerate(zip(labels, bins, strict=True))
    ]
    head = ("words", "sentences", *map(escaped, names))
    numbers = table("BLEU by words of the source", head, rows)
    return f'<div class="charts">\n{chart}</div>\n' + more("The same as a table", numbers)


def _training(names: Sequence[str], runs: Sequence[Compared], record: Mapping[str, Any]) -> str:
    rows = [
        (
            escaped(name), number(entry["parameters"], 0), number(entry["updates"], 0),
            number(entry["training_minutes"], 1), number(entry["training_tokens_per_second"], 0),
        )
        for name, entry in zip(names, record["runs"], strict=True)
    ]  # fmt: skip
    head = ("run", "parameters", "updates", "minutes", "target tokens/s")
    curves = curves_of_runs([*zip(names, (one.folder for one in runs), strict=True)])
    return table("Sizes of the runs and how they were trained", head, rows) + curves


def _about(count: int, outputs: Sequence[Output]) -> str:
    """Return what the sentences are and how to read them."""
    mean = "" if count == 2 else ", the mean of the others against the first,"
    parts = [
        f"<p>Sentences whose chrF differs most{mean} in either direction, and random ones, drawn "
        "alike for every model.</p>\n",
        LEGEND_OF_SEVERAL,
    ]
    without = [one.name for one in outputs if not one.translator.attends]
    if len(without) < count:
        parts.append(EXPLORING)
    parts += [f"<h3>{escaped(name)}</h3>\n{WITHOUT}" for name in without]
    return "".join(parts)
