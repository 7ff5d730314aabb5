"""`rnnsearch evaluate`: scores of runs on test sets, as a table and as files."""

import json
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path

from rnnsearch import checkpoint as files
from rnnsearch import metrics
from rnnsearch.alignment_error import LinkScorer
from rnnsearch.cli import scoretable
from rnnsearch.cli.checkpoints import step_names
from rnnsearch.cli.comparison import Run, compared, resamples_of, stages, to_json
from rnnsearch.cli.pages import drop_page, write_page
from rnnsearch.cli.scorefile import check_scores, write_scores
from rnnsearch.cli.sources import finds_tests, gold_alignments, test_sources
from rnnsearch.config import DecodeConfig, EvaluateConfig, listed, paths_of
from rnnsearch.errors import UserError, nearest, without_controls
from rnnsearch.evaluation import (
    Evaluation,
    EvaluationSet,
    Scoring,
    Stages,
    evaluate,
    finite,
    link_scorer,
    read_set,
    score_rows,
)
from rnnsearch.lines import counted
from rnnsearch.reach import check_longest, perhaps_too_long
from rnnsearch.translator import NO_ATTENTION, Translator
from rnnsearch.wholefiles import write_text, writing


def run(config: EvaluateConfig) -> None:
    """Translate and score every test set; print the table and write `evaluations/NAME/`.

    Several runs are scored on the same sets with the same search and compared with the first.

    Raises:
        UserError: what the user can mend.
    """
    names = [str(name) for name in listed(config.run_dir)]
    scoring = Scoring(config.tokenize, config.lowercase, config.bootstrap, config.ter)
    metrics.check_tokenize(scoring.tokenize)
    _check_runs(config, names)
    with _told_of_columns(config):
        found = test_sources(config.data)
        chosen = _chosen(config, found)
        gold = {name: gold_alignments(config.data, own) for name, own in chosen.items()}
        check_scores(config, sources={name: found[own] for name, own in chosen.items()}, gold=gold)
        tests = [
            read_set(
                name, found[own], references=paths_of(config.references), alignments=gold[name]
            )
            for name, own in chosen.items()
        ]
    resamples = resamples_of(scoring) if len(names) > 1 else scoring.bootstrap
    metrics.check_bootstrap(resamples, lines=max(len(test.sources) for test in tests))
    runs = [_load(name, config) for name in names]
    for test in tests:
        for one in runs:
            one.translator.check_reach(test.sources, line=f"{one.name}: {test.name}: line {{}}")
            pieces = one.translator.target_tokenizer.encode_batch(perhaps_too_long(test.targets))
            lengths = [len(ids) for ids in pieces]
            check_longest(lengths, line=f"{one.name}: {test.name}: the target of line {{}}")
    scorers = [[_link_scorer(test, one) for one in runs] for test in tests]
    if len(runs) > 1:
        told = "the settings of the search, and test sets that are not given, are those of"
        print(f"comparing {len(runs)} runs: {told} {names[0]}", file=sys.stderr)
    rows: list[scoretable.Row] = []
    tables = []
    for test, links in zip(tests, scorers, strict=True):
        results = [
            (one, _evaluate(one, test, config, scoring=scoring, links=scorer))
            for one, scorer in zip(runs, links, strict=True)
        ]
        if len(runs) > 1:
            tables += [compared(test, results, config, scoring=scoring)]
        rows += [(test.name, result.record) for _, result in results]
    if len(runs) == 1:
        tables = [scoretable.score_table("test set", rows)]
    tables.append(scoretable.notes(rows, search=_search(config.decode, runs)))
    print("\n\n".join(tables))


@contextmanager
def _told_of_columns(config: EvaluateConfig) -> Iterator[None]:
    """Say how to be rid of columns that may be those of the run's own table."""
    try:
        yield
    except UserError as error:
        if config.data.columns is None or "data.columns" not in (told := str(error)):
            raise
        remedy = "data.columns=null goes by the languages"
        raise UserError(f"{told}; {remedy}", status=error.status) from error


def _chosen(config: EvaluateConfig, found: Collection[str]) -> dict[str, str]:
    """Return the test sets that are asked for, of those found, by the names of their results."""
    name = config.test_set
    # The demo's further sets are there to be named.
    usual = [*found][:1] if config.data.kind == "demo" else [*found]
    chosen = {one: one for one in usual}
    if name is not None and name in found:
        chosen = {name: name}
    elif name is not None and len(usual) > 1:
        raise UserError(f"test_set={name}: the test sets are {', '.join(found)}")
    elif name is not None:
        # A name like those of the sets that are looked for would be taken for one of them.
        if name.startswith("test") and finds_tests(config.data):
            raise UserError(
                f"test_set={name}: there is no such test set, but {', '.join(found)}; another "
                "name for its results must not begin with 'test'"
            )
        if finds_tests(config.data) and (near := nearest(name, found)):
            raise UserError(f"test_set={name}: there is no such test set{near}")
        chosen = {name: usual[0]}
        print(f"test_set={name} names the results of {usual[0]}", file=sys.stderr)
    if config.references is not None and len(chosen) > 1:
        raise UserError(
            f"references: they belong to one test set, but there are {len(chosen)}; choose one "
            f"with test_set=NAME, of {', '.join(chosen)}"
        )
    return chosen


def _check_runs(config: EvaluateConfig, names: Sequence[str]) -> None:
    """Hold that runs which are compared are different ones, each with checkpoints of its own."""
    if len(names) == 1:
        return
    folders = [Path(name).resolve() for name in names]
    for number, folder in enumerate(folders):
        if folder in folders[:number]:
            raise UserError(f"run_dir: {names[number]} is named twice; compare different runs")
    for checkpoint in listed(config.checkpoint):
        if checkpoint not in ("best", "last", "averaged") and not files.STEP.fullmatch(checkpoint):
            raise UserError(
                f"checkpoint={checkpoint}: a path belongs to one run, but {len(names)} are "
                "compared; give best, last, averaged or step-N"
            )


def _load(name: str, config: EvaluateConfig) -> Run:
    folder = Path(name)
    # Told now: in a run that is still training, `best` may lead elsewhere by the end.
    steps = step_names(folder, listed(config.checkpoint))
    translator = Translator.load(
        folder, config.checkpoint, device=config.device, decode=config.decode,
        replace_unk=config.replace_unk,
    )  # fmt: skip
    return Run(name, folder, translator, steps if len(steps) > 1 else steps[0])


def _evaluate(
    one: Run, test: EvaluationSet, config: EvaluateConfig,
    *, scoring: Scoring, links: LinkScorer | None,
) -> Evaluation:  # fmt: skip
    """Score a run on a test set and write the results."""
    title = f"{test.name}, {one.name}" if len(listed(config.run_dir)) > 1 else test.name
    found = evaluate(one.translator, test, scoring=scoring, stages=stages(title), links=links)
    record = finite(found.record) | {
        "replace_unk": config.replace_unk,
        "checkpoint": one.checkpoint,
        "decode": asdict(config.decode),
    }
    if found.unknown and config.replace_unk is False:
        print(
            f"warning: {title}: the hypotheses lack {counted(found.unknown, 'unknown word')}, "
            f"{100 * record['unknown_rate']:.2f}% of their words; replace_unk=true puts words of "
            "the source in their place, decode.ban_unk=true bars them",
            file=sys.stderr,
        )
    found = found._replace(record=record)
    _tell_replaced(one.folder, test)
    write_result(one.folder, test.name, found)
    _report(one, test, found, wanted=config.report, stages=stages(title))
    if config.scores is not None:
        write_scores(Path(config.scores), score_rows(found))
    return found


def _link_scorer(test: EvaluationSet, one: Run) -> LinkScorer | None:
    """Return what compares attention with the gold links of a test set, if there are both."""
    if one.translator.attends:
        return link_scorer(test, one.translator.tokenizers)
    if test.gold is not None:
        print(f"{one.name}: {NO_ATTENTION}, so no alignment error rate", file=sys.stderr)
    return None


def _tell_replaced(run_dir: Path, test: EvaluationSet) -> None:
    """Say so where results of another test set of the same name make room for these."""
    path = run_dir / "evaluations" / test.name / "evaluation.json"
    try:
        before = json.loads(path.read_bytes())
        others = {key: before[key] for key in test.origin if before[key] != test.origin[key]}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return
    if others:
        told = ", ".join(
            without_controls(str(item)) for value in others.values() for item in listed(value)
        )
        print(
            f"warning: {path.parent} held the scores of {told}; these replace them; "
            "test_set=NAME keeps both",
            file=sys.stderr,
        )


def write_result(run_dir: Path, name: str, result: Evaluation) -> None:
    """Write `evaluations/NAME/` and point the links in the run folder at it."""
    folder = run_dir / "evaluations" / name
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    hypotheses = "".join(line + "\n" for line in result.hypotheses)
    write_text(folder / "hypotheses.txt", hypotheses)
    write_text(folder / "evaluation.json", to_json(result.record))
    for file in ("evaluation.json", "hypotheses.txt"):
        files.point(run_dir / file, f"evaluations/{name}/{file}")


def _report(
    one: Run, test: EvaluationSet, result: Evaluation, *, wanted: bool, stages: Stages
) -> None:
    """Write the page about a scored test set, or remove that of an earlier evaluation."""
    from rnnsearch.report import evaluation_page

    path = one.folder / "evaluations" / test.name / "report.html"
    link = one.folder / "report.html"
    if not wanted:
        drop_page(path, link=link)
        return
    page = partial(evaluation_page, one.folder, one.translator, test, result, stages=stages)
    write_page(path, page, link=link)


def _search(decode: DecodeConfig, runs: Sequence[Run]) -> str:
    """Return how translations were found, in a few words."""
    checkpoints = {
        " + ".join([one.checkpoint] if isinstance(one.checkpoint, str) else one.checkpoint)
        for one in runs
    }
    beam = f"beam {decode.beam_size}" if decode.beam_size > 1 else "greedy"
    words = [f"{beam}, length penalty {decode.length_penalty:g}"]
    return ", ".join([*words, *(f"checkpoint {name}" for name in checkpoints if len(runs) == 1)])
