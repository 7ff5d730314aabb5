"""The page about one run on one test set."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rnnsearch.evaluation import Evaluation, EvaluationSet, Stages
from rnnsearch.report.charts import bar_chart
from rnnsearch.report.examples import best_worst_random, sentence_chrf
from rnnsearch.report.explorer import WITHOUT
from rnnsearch.report.page import document, escaped, facts, more, number, share, table
from rnnsearch.report.sentences import EXPLORING, LEGEND, Output, sentence_groups
from rnnsearch.report.training import training_curves
from rnnsearch.translator import Translator
from rnnsearch.validation import load_config

METRICS = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
BIN_LABEL = "words of the source; below them, sentences"
_ORIGIN = {
    "source": "source file", "target": "reference file", "table": "table",
    "path": "data set", "name": "its configuration", "split": "split",
}  # fmt: skip


def evaluation_page(
    run_dir: Path, translator: Translator, test: EvaluationSet, result: Evaluation,
    *, stages: Stages,
) -> str:  # fmt: skip
    """Return the page about a scored test set.

    Args:
        run_dir: the run's folder, for its settings and the records of its training.
        translator: what made the translations; it translates those that are shown once more.
        test: the test set.
        result: its record is that of `evaluation.json`, without NaN and infinity.
        stages: shows the progress.

    Raises:
        OSError: a file of the run cannot be read.
    """
    config = load_config(run_dir)
    record = result.record
    scores = sentence_chrf(result.hypotheses, test.references)
    best, worst, drawn = best_worst_random(scores, test.sources)
    groups = (("Best", best), ("Worst", worst), ("Random", drawn))
    languages = (config.data.source_lang, config.data.target_lang)
    output = Output("", result.hypotheses, scores, translator)
    sentences, data = sentence_groups(groups, test, [output], languages=languages, stages=stages)
    about = _chosen(len(best), len(worst), len(drawn)) + LEGEND
    about += EXPLORING if translator.attends else WITHOUT
    name = run_dir.resolve().name
    lead = (
        f'<p class="lead"><b>{escaped(test.name)}</b>, {record["sentences"]:,} '
        f"sentences, {escaped(languages[0])} to {escaped(languages[1])}, "
        f"checkpoint {checkpoints(record['checkpoint'])}, {search(record)}</p>"
    )
    return document(
        f"{name}: scores on {test.name}",
        lead=lead,
        sections=(
            (
                "scores",
                "Scores",
                _scores(record) + settings(record, test.origin, config.model.kind),
            ),
            ("length", "BLEU by length of the source", _by_length(record["by_length"])),
            ("training", "Training", training_curves(run_dir)),
            ("sentences", "Translations", about + sentences),
        ),
        data=data,
    )


def _chosen(best: int, worst: int, drawn: int) -> str:
    return (
        f"<p>{best} best, {worst} worst and {drawn} random sentences. Best and worst are by chrF, "
        "of equal ones the earlier; the random ones are drawn alike for every model.</p>\n"
    )


def _scores(record: Mapping[str, Any]) -> str:
    """Return the three scores large, all other figures below, and the signatures."""
    tiles = "".join(_tile(key, record[key]) for key in METRICS if record[key] is not None)
    rows = [
        ("Loss", f"{number(record['loss'], 4)} nats a token"),
        ("Perplexity", number(record["perplexity"])),
        ("Length ratio", f"{number(record['length_ratio'], 3)} of the reference"),
        ("Unknown words, output", share(record["unknown_rate"])),
        ("Unknown words, source", share(record["unknown_rate_source"])),
        ("Unknown words, reference", share(record["unknown_rate_reference"])),
    ]
    if record.get("alignment_error_rate") is not None:
        rows.append(("Alignment error rate", share(record["alignment_error_rate"])))
        rows.append(("Alignment precision", share(record["alignment_precision"])))
        rows.append(("Alignment recall", share(record["alignment_recall"])))
    parts = [f'<div class="tiles">{tiles}</div>\n', facts(rows)]
    if "no_unk" in record:
        parts.append(_no_unk(record))
    signatures = [(METRICS[key], record[key]["signature"]) for key in METRICS if record[key]]
    parts.append(signature_list(signatures))
    return "".join(parts)


def _tile(key: str, score: Mapping[str, Any]) -> str:
    interval = "no interval asked for"
    if score["low"] is not None:
        interval = f"95% interval {number(score['low'])} to {number(score['high'])}"
    better = "less is better" if key == "ter" else "more is better"
    return (
        f'<div class="tile"><h3>{METRICS[key]}</h3><p class="big">{number(score["score"])}</p>'
        f'<p class="note">{interval}<br>{better}</p></div>'
    )


def _no_unk(record: Mapping[str, Any]) -> str:
    known = record["no_unk"]
    rows = [
        ("All", interval(record["bleu"]), f"{record['sentences']:,}"),
        ("No UNK", interval(known["bleu"]), f"{known['sentences']:,}"),
    ]
    return (
        "<p>BLEU of all pairs, and of those without an unknown word on either side, translated "
        "with the unknown word barred:</p>\n"
    ) + table("BLEU with and without unknown words", ("pairs", "BLEU", "sentences"), rows)


def interval(score: Mapping[str, Any] | None) -> str:
    """Return a score with half the width of its interval, as the command prints it."""
    if score is None or score["low"] is None:
        return number(None if score is None else score["score"])
    return f"{number(score['score'])} ± {number((score['high'] - score['low']) / 2)}"


def signature_list(signatures: Sequence[tuple[str, str]]) -> str:
    """Return sacreBLEU's signatures, to be copied."""
    rows = [(name, f"<code>{escaped(text)}</code>") for name, text in signatures]
    return '<h3>Signatures of sacreBLEU</h3>\n<div class="long">' + facts(rows) + "</div>\n"


def settings(record: Mapping[str, Any], origin: Mapping[str, Any], model: str | None) -> str:
    """Return how the translations were found and what they were compared with."""
    rows = [(key.replace("_", " "), _value(value)) for key, value in record["decode"].items()]
    if "replace_unk" in record:
        rows.append(("replace unk", _value(record["replace_unk"])))
    files = [(_ORIGIN.get(key, escaped(key)), _value(value)) for key, value in origin.items()]
    files += [
        (name, _value(record[key]))
        for key, name in (("references", "further references"), ("alignments", "gold links"))
        if record[key]
    ]
    if model is not None:
        files.insert(0, ("model", escaped(model)))
        files.insert(1, ("checkpoint", checkpoints(record["checkpoint"])))
    return more(
        "Search settings and files",
        f'<h4>Search</h4>\n{facts(rows)}<h4>Files</h4>\n<div class="long">{facts(files)}</div>\n',
    )


def search(record: Mapping[str, Any]) -> str:
    """Return how translations were found, in two words."""
    beam = int(record["decode"]["beam_size"])
    return f"beam {beam}" if beam > 1 else "greedy search"


def checkpoints(names: str | Sequence[str]) -> str:
    """Return the names of the checkpoints of a model or an ensemble."""
    return escaped(names if isinstance(names, str) else " + ".join(names))


def _value(value: object) -> str:
    if isinstance(value, list | tuple):
        return "<br>".join(escaped(item) for item in value) or "none"
    plain = {None: "default", True: "yes", False: "no"}
    return plain[value] if value is None or isinstance(value, bool) else escaped(value)


def bin_name(one: Mapping[str, Any]) -> str:
    """Return the words of a source that a bin holds, such as `11–20`."""
    return f"{one['from']}–{one['to']}" if one["to"] else "blank"


def bin_label(one: Mapping[str, Any]) -> str:
    """Return what stands below a bin in a chart: its words, and how many sentences it has."""
    return f"{bin_name(one)}\n{one['sentences']:,}"


def _by_length(bins: Sequence[Mapping[str, Any]]) -> str:
    names = [bin_name(one) for one in bins]
    chart = bar_chart("BLEU", [(bin_label(one), one["bleu"]) for one in bins], x_label=BIN_LABEL)
    rows = [
        (name, f"{one['sentences']:,}", number(one["bleu"]))
        for name, one in zip(names, bins, strict=True)
    ]
    numbers = table("BLEU by words of the source", ("words", "sentences", "BLEU"), rows)
    return f'<div class="charts">\n{chart}</div>\n' + more("The same as a table", numbers)
