"""`rnnsearch evaluate`: scores of a run on test sets, as a table and as files."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rnnsearch import checkpoint as files
from rnnsearch import metrics
from rnnsearch.cli.sources import test_files
from rnnsearch.config import EvaluateConfig
from rnnsearch.corpus import PairFiles, read_pairs
from rnnsearch.errors import UserError
from rnnsearch.runlog import progress_bar
from rnnsearch.scoring import score_pairs
from rnnsearch.translator import Translator


class Result(NamedTuple):
    """A scored test set."""

    name: str
    hypotheses: list[str]
    record: dict[str, Any]


def run(config: EvaluateConfig) -> None:
    """Translate and score every test set; print the table and write `evaluations/NAME/`.

    Raises:
        UserError: what the user can mend.
    """
    sets = test_files(config.data)
    if config.test_set is not None:
        sets = _choose(sets, config.test_set)
    if config.scores is not None and len(sets) > 1:
        raise UserError(
            f"scores={config.scores}: one file cannot hold {len(sets)} test sets; choose one with "
            f"test_set=NAME, of {', '.join(sets)}"
        )
    # Told now: in a run that is still training, `best` may lead elsewhere by the end.
    step = files.locate(Path(config.run_dir), config.checkpoint).resolve().name
    translator = Translator.load(
        config.run_dir, config.checkpoint, device=config.device, decode=config.decode
    )
    results = []
    for name, pair_files in sets.items():
        result, rows = evaluate_set(translator, config, name=name, pair_files=pair_files)
        result.record["checkpoint"] = step
        write_result(Path(config.run_dir), result)
        if config.scores is not None:
            files.write_text(Path(config.scores), rows)
        results.append(result)
    print(table(results))


def _choose(sets: dict[str, PairFiles], name: str) -> dict[str, PairFiles]:
    """Return one of several test sets, or the only one under another name."""
    if len(sets) == 1:
        return {name: next(iter(sets.values()))}
    if name not in sets:
        raise UserError(f"test_set={name}: this run's test sets are {', '.join(sets)}")
    return {name: sets[name]}


def evaluate_set(
    translator: Translator, config: EvaluateConfig, *, name: str, pair_files: PairFiles
) -> tuple[Result, str]:
    """Return the scores of one test set, and a JSON line a pair for `scores`."""
    pairs = read_pairs(pair_files)  # refuses sides that do not match, before any work
    sources: list[str] = list(pairs["source"])
    references = [line for path in pair_files.target for line in metrics.read_references(path)]
    tokenizers = translator.tokenizers
    source_ids = tokenizers.source.encode_batch(sources)
    target_ids = tokenizers.target.encode_batch(list(pairs["target"]))
    with progress_bar(2 * len(sources), description=name, unit="line") as bar:
        log_p = score_pairs(translator.model, source_ids, target_ids, progress=bar.update)
        found = translator.translate(sources, alignments=False, progress=bar.update)
    hypotheses = [translation.text for translation in found]
    tokens = [len(ids) + 1 for ids in target_ids]
    record = scores_record(hypotheses, references, log_p=log_p, tokens=tokens)
    record |= {
        "test_set": name,
        "source": [str(path) for path in pair_files.source],
        "target": [str(path) for path in pair_files.target],
        "decode": asdict(config.decode),
    }
    rows = "".join(
        json.dumps({"log_probability": float(p), "tokens": n}) + "\n"
        for p, n in zip(log_p, tokens, strict=True)
    )
    return Result(name, hypotheses, record), rows


def scores_record(
    hypotheses: Sequence[str], references: Sequence[str],
    *, log_p: NDArray[np.float64], tokens: Sequence[int],
) -> dict[str, Any]:  # fmt: skip
    """Return the figures of `evaluation.json`.

    Args:
        hypotheses: detokenised text, N lines.
        references: likewise, as `metrics.read_references` gives them.
        log_p: log p(reference, EOS | source) of each pair, natural.
        tokens: target pieces and EOS of each pair.
    """
    loss = -float(log_p.sum()) / sum(tokens)
    return {
        "bleu": metrics.bleu(hypotheses, references)._asdict(),
        "chrf": metrics.chrf(hypotheses, references)._asdict(),
        "loss": loss,
        "perplexity": metrics.perplexity(loss),
        "sentences": len(hypotheses),
    }


def write_result(run_dir: Path, result: Result) -> None:
    """Write `evaluations/NAME/` and point the links in the run folder at it."""
    folder = run_dir / "evaluations" / result.name
    with files.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    hypotheses = "".join(line + "\n" for line in result.hypotheses)
    files.write_text(folder / "hypotheses.txt", hypotheses)
    text = json.dumps(result.record, indent=1, ensure_ascii=False) + "\n"
    files.write_text(folder / "evaluation.json", text)
    for name in ("evaluation.json", "hypotheses.txt"):
        files.point(run_dir / name, f"evaluations/{result.name}/{name}")


def table(results: Sequence[Result]) -> str:
    """Return the scores as a table, the signatures under it."""
    head = ("test set", "BLEU", "chrF", "loss", "perplexity", "sentences")
    rows = [
        (
            result.name,
            f"{result.record['bleu']['score']:.2f}",
            f"{result.record['chrf']['score']:.2f}",
            f"{result.record['loss']:.4f}",
            f"{result.record['perplexity']:.2f}",
            str(result.record["sentences"]),
        )
        for result in results
    ]
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (head, *rows)
    ]
    first = results[0].record
    lines += [f"BLEU {first['bleu']['signature']}", f"chrF {first['chrf']['signature']}"]
    return "\n".join(lines)
