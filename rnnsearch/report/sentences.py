"""Sentences of a test set: source, references and outputs, with an explorer of the attention."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rnnsearch.evaluation import EvaluationSet, Stages
from rnnsearch.report.differences import marked, plain
from rnnsearch.report.explorer import TOO_LONG, explored, too_long
from rnnsearch.report.page import escaped, number, unseen
from rnnsearch.translator import Translator

_NOTE = "chrF is of the single sentence; lines count from 1.</p>\n"
LEGEND = (
    '<p class="legend-text">Marked: <del>words of the reference that the output misses</del>, '
    "<ins>words of the output that the reference has not</ins>. "
) + _NOTE
LEGEND_OF_SEVERAL = (
    '<p class="legend-text">Marked: <ins>words of an output that the reference has not</ins>. '
) + _NOTE
EXPLORING = """<p>Under each output, <b>where the model looked</b>: point at a word of the output,
or tap it, and the words of the source show how much the attention weighed them while it was
written; a word of the source shows the words of the output that looked at it. Pieces are what the
model reads and writes, and their weights sum to 1; a word has the largest weight of its pieces.</p>
<p>With the keyboard: Tab goes to a row, left and right along it, up and down to the strongest
partner in the other row, and Escape clears.</p>
<noscript><p class="note">The explorer needs JavaScript, which is off; all else on this page is
there without it.</p></noscript>
"""


class Output(NamedTuple):
    """What one model made of the test set.

    Attributes:
        name: of the model, where there are several; blank for a single one.
        hypotheses: N lines.
        scores: chrF of each.
        translator: the model.
    """

    name: str
    hypotheses: Sequence[str]
    scores: Sequence[float]
    translator: Translator


def sentence_groups(
    groups: Sequence[tuple[str, Sequence[int]]], test: EvaluationSet, outputs: Sequence[Output],
    *, languages: tuple[str, str], stages: Stages,
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    """Return groups of sentences as HTML, and the data of their explorers.

    Args:
        groups: the title of each, and the numbers of its sentences, from 0.
        test: the test set.
        outputs: of each model.
        languages: of source and target, such as `en`.
        stages: shows the progress of translating the sentences once more, for their attention.
    """
    chosen = [i for _, group in groups for i in group]
    attention = [_attention(one, test, chosen, stages) for one in outputs]
    weights: dict[str, Any] = {}
    parts = []
    for title, group in groups:
        if not group:
            continue
        parts.append(f"<h3>{title}</h3>\n")
        for i in group:
            known = [found.get(i) for found in attention]
            parts.append(_sentence(i, test, outputs, known, languages))
            keys = (f"{i + 1}-{model}" for model in range(len(outputs)))
            found = zip(keys, known, strict=True)
            weights |= {key: one for key, one in found if isinstance(one, dict)}
    data = {"source_lang": languages[0], "target_lang": languages[1], "sentences": weights}
    return "".join(parts), data


def _attention(
    output: Output, test: EvaluationSet, chosen: Sequence[int], stages: Stages
) -> dict[int, dict[str, Any] | str]:
    """Return what can be explored of each chosen sentence, by its number; see `explored`.

    They are translated again, because an evaluation keeps no weights; a translation does not depend
    on its neighbours, so these are the same.
    """
    translator = output.translator
    if not translator.attends:
        return {}
    sources = translator.source_tokenizer.encode_batch([test.sources[i] for i in chosen])
    targets = translator.target_tokenizer.encode_batch([output.hypotheses[i] for i in chosen])
    lengths = zip(chosen, sources, targets, strict=True)
    # Very long ones take minutes, and would not be explored.
    usual = [i for i, source, target in lengths if not too_long(len(source) + 1, len(target))]
    with stages("attention for the report", len(usual)) as bar:
        found = translator.translate([test.sources[i] for i in usual], progress=bar.update)
    return dict.fromkeys(chosen, TOO_LONG) | {
        i: explored(translator, translation) for i, translation in zip(usual, found, strict=True)
    }


def _sentence(
    i: int, test: EvaluationSet, outputs: Sequence[Output],
    known: Sequence[dict[str, Any] | str | None], languages: tuple[str, str],
) -> str:  # fmt: skip
    source, target = (escaped(language) for language in languages)
    first, *others = (lines[i] for lines in test.references)
    compared = [marked(first, one.hypotheses[i]) for one in outputs]
    # Beside several outputs the reference stays plain: each output misses other words of it.
    shown = compared[0][0] if len(outputs) == 1 else plain(first)
    single = f' <span class="chrf">chrF {number(outputs[0].scores[i], 1)}</span>'
    several = ' class="several"' if len(outputs) > 1 else ""
    rows = [
        _row("Source", source, plain(test.sources[i])),
        _row("Reference", target, shown),
        *(_row(f"Reference {n}", target, plain(line)) for n, line in enumerate(others, 2)),
    ]
    parts = [
        f'<article{several} aria-labelledby="line-{i + 1}">\n<h4 id="line-{i + 1}">Line {i + 1:,}'
        f"{single if len(outputs) == 1 else ''}</h4>\n",
        _list(rows),
    ]
    for model, (one, (_, text), weights) in enumerate(zip(outputs, compared, known, strict=True)):
        name = "Output"
        if one.name:
            score = number(one.scores[i], 1)
            name = f'{escaped(one.name)} <span class="chrf">chrF {score}</span>'
        parts.append(_list([_row(name, target, text)]))
        parts.append(_explorer(f"{i + 1}-{model}", weights, of=one.name))
    return "".join([*parts, "</article>\n"])


def _list(rows: Sequence[str]) -> str:
    return f'<dl class="texts">\n{"".join(rows)}</dl>\n'


def _row(name: str, language: str, text: str) -> str:
    return f'<div><dt>{name}</dt><dd lang="{language}" dir="auto">{text}</dd></div>\n'


def _explorer(key: str, weights: dict[str, Any] | str | None, *, of: str) -> str:
    """Return the place of an explorer, which the script fills and shows, or why there is none."""
    if weights is None:
        return ""
    if isinstance(weights, str):
        return f'<p class="note">{weights}</p>\n'
    # There are many of them on a page, and a screen reader may list them by themselves.
    told = unseen(", ".join([f": line {key.partition('-')[0]}", *([escaped(of)] if of else [])]))
    return (
        f'<details class="explorer" data-key="{key}" hidden>'
        f"<summary>Where the model looked{told}</summary></details>\n"
    )
