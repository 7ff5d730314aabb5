"""`rnnsearch evaluate`: the record, the files, the table, further references and several runs."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from cases_common import IN, evaluation, lines_of, refuse, rnnsearch, succeed

from rnnsearch import Translator, metrics
from rnnsearch.batches import collate
from rnnsearch.cli.places import check_not, check_outside_run
from rnnsearch.cli.scoretable import difference_table, notes, score_table
from rnnsearch.corpus import PairFiles
from rnnsearch.errors import UserError
from rnnsearch.evaluation import Bar, Scoring, evaluate, finite, read_set
from rnnsearch.scoring import score_pairs


def files_of(name: str) -> tuple[str, str]:
    """Return the overrides that name a test set of the cases."""
    return f"data.test.source={IN}/{name}.en", f"data.test.target={IN}/{name}.fr"


SEVEN = files_of("seven")
KEYS = {
    *("bleu", "chrf", "ter", "loss", "perplexity", "sentences", "length_ratio", "unknown_rate"),
    *("unknown_rate_source", "unknown_rate_reference", "by_length", "checkpoint", "decode"),
    *("test_set", "source", "target", "references", "tokenize", "lowercase", "replace_unk"),
    *("alignment_error_rate", "alignment_precision", "alignment_recall", "alignments"),
}


def command(references: list[Path], hypotheses: Path, *options: str) -> dict[str, dict[str, Any]]:
    """Return what `sacrebleu -w 2` says of the written files: {metric: its JSON}."""
    words = [sys.executable, "-m", "sacrebleu", *map(str, references), "-i", str(hypotheses)]
    words += ["-m", "bleu", "chrf", "ter", "-w", "2", "-f", "json", *options]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=True)
    return {score["name"]: score for score in json.loads(done.stdout)}


def row_of(out: str, name: str) -> list[str]:
    """Return the figures of the first row of that name."""
    rows = [re.split(r"  +", line) for line in out.split("\n")]
    return next(row[1:] for row in rows if row[0] == name)


def row_of_first(out: str) -> str:
    """Return the name in the first row of the first table."""
    return re.split(r"  +", out.split("\n")[1])[0]


# --- one run


def test_every_figure_is_that_of_the_command(base_run: Path) -> None:
    result = succeed("evaluate", f"run_dir={base_run}", *SEVEN)
    theirs = command([IN / "seven.fr"], base_run / "hypotheses.txt", "--confidence")
    record = evaluation(base_run)
    bleu, chrf, ter, loss, perplexity, ratio, sentences = row_of(result.out, "seven")
    assert bleu == f"{theirs['BLEU']['score']:.2f} ± {theirs['BLEU']['confidence_var']:.2f}"
    assert (chrf, ter) == tuple(f"{theirs[key]['score']:.2f}" for key in ("chrF2", "TER"))
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
        ours = record[key]
        assert set(ours) == {"score", "low", "high", "signature"}
        assert f"{ours['score']:.2f}" == f"{theirs[name]['score']:.2f}"
        middle, half = (ours["low"] + ours["high"]) / 2, (ours["high"] - ours["low"]) / 2
        assert middle == pytest.approx(theirs[name]["confidence_mean"], abs=0.0051)
        assert half == pytest.approx(theirs[name]["confidence_var"], abs=0.0051)
        assert f"{name} {theirs[name]['signature']}" in result.out.split("\n")
    told = f"ratio = {float(ratio):.3f}"
    assert told in theirs["BLEU"]["verbose_score"]
    assert (float(loss), int(sentences)) == (round(record["loss"], 4), 7)
    assert float(perplexity) == pytest.approx(math.exp(record["loss"]), abs=0.01)


def test_the_record_says_what_was_scored_and_how(base_run: Path) -> None:
    result = succeed("evaluate", f"run_dir={base_run}", *SEVEN, "bootstrap=0")
    record = evaluation(base_run)
    assert set(record) == KEYS
    assert record["checkpoint"] == (base_run / "checkpoints/best").resolve().name
    assert record["checkpoint"] in result.out
    assert record["test_set"] == "seven"
    assert (record["source"], record["target"]) == ([f"{IN}/seven.en"], [f"{IN}/seven.fr"])
    assert (record["references"], record["tokenize"], record["lowercase"]) == ([], "13a", False)
    assert record["replace_unk"] is False
    assert record["decode"]["beam_size"] == 1
    assert record["bleu"]["low"] is record["ter"]["high"] is None
    assert record["unknown_rate"] == 0
    assert "±" not in result.out
    assert sum(bin_["sentences"] for bin_ in record["by_length"]) == 7


def test_options_are_those_of_the_command(base_run: Path) -> None:
    words = ("tokenize=none", "lowercase=true", "bootstrap=50")
    result = succeed("evaluate", f"run_dir={base_run}", *SEVEN, *words)
    options = ("-tok", "none", "-lc", "--confidence", "--confidence-n", "50")
    theirs = command([IN / "seven.fr"], base_run / "hypotheses.txt", *options)
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
        assert evaluation(base_run)[key]["signature"] == theirs[name]["signature"]
        assert theirs[name]["signature"] in result.out
    assert evaluation(base_run)["lowercase"] is True
    assert "case:mixed" in evaluation(base_run)["chrf"]["signature"]


def test_further_references_count_once_each(base_run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.fr"
    other.write_bytes((IN / "seven.fr").read_bytes().lower())
    same = IN / ".." / "cases" / "seven.fr"
    words = f"references=[{other},{same},{other}]"
    result = succeed("evaluate", f"run_dir={base_run}", *SEVEN, words, "bootstrap=0")
    record = evaluation(base_run)
    theirs = command([IN / "seven.fr", other], base_run / "hypotheses.txt")
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF2"), ("ter", "TER")):
        assert f"{record[key]['score']:.2f}" == f"{theirs[name]['score']:.2f}"
        assert record[key]["signature"] == theirs[name]["signature"]
    assert record["references"] == [str(other)]
    assert "BLEU nrefs:2|" in result.out


def test_what_cannot_work_is_refused_before_any_work(
    base_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    shutil.copytree(base_run, run, symlinks=True)
    shutil.rmtree(run / "evaluations", ignore_errors=True)
    short = f"references={IN}/base.test.fr"
    both = (f"{IN}/base.test.fr has 24 lines", "seven.en | seven.fr has 7")
    base = ("evaluate", f"run_dir={run}", *SEVEN)
    refuse(*base, short, words=(both[0].replace(" has", ": has"), both[1]), status=(2,))
    refuse(*base, "references=no.fr", words=("references=no.fr",), status=(2,))
    refuse(*base, "tokenize=13b", words=("tokenize=13b", "did you mean '13a'"), status=(2,))
    refuse(*base, "tokenize=ja-mecab", words=("tokenize=ja-mecab", "use 13a"), status=(2,))
    refuse(*base, f"scores={tmp_path}/no/s", words=("scores=", f"no folder {tmp_path}/no"))
    refuse(*base, f"scores={tmp_path}", words=("scores=", "is a folder"), status=(2,))
    refuse(*base, "replace_unk=true", words=("replace_unk", "unigram"), status=(2,))
    refuse(*base, "checkpoint=[best,step-7]", words=("checkpoint=step-7",), status=(2,))
    monkeypatch.setattr("numpy.empty", no_memory)
    for bootstrap in ("bootstrap=1000000", "bootstrap=2"):
        refuse(*base, bootstrap, words=(f"{bootstrap}: not enough memory", "7 lines"), status=(1,))
    assert not (run / "evaluations").exists()


def no_memory(*_: object) -> None:
    """Stand for an allocation that fails."""
    raise MemoryError


def test_references_and_scores_belong_to_one_test_set(base_run: Path, tmp_path: Path) -> None:
    for name in ("test_a", "test_b"):
        for language in ("en", "fr"):
            shutil.copy(IN / f"seven.{language}", tmp_path / f"{name}.{language}")
    folder = ("data=folder", f"data.dir={tmp_path}")
    base = ("evaluate", f"run_dir={base_run}", *folder, "bootstrap=0")
    for word in (f"references={IN}/seven.fr", f"scores={tmp_path}/s"):
        refuse(*base, word, words=("test_set=NAME", "test_a, test_b"), status=(2,))
    refuse(*base, "test_set=c", words=("test_set=c", "test_a, test_b"), status=(2,))
    result = succeed(*base)
    assert row_of(result.out, "test_a") == row_of(result.out, "test_b")
    for name in ("test_a", "test_b"):
        assert len(lines_of(base_run / "evaluations" / name / "hypotheses.txt")) == 7
    assert (base_run / "evaluation.json").resolve().parent.name == "test_b"
    succeed(*base, "test_set=test_a", f"references={IN}/seven.fr", f"scores={tmp_path}/s")
    assert len(lines_of(tmp_path / "s")) == 7


def test_a_name_like_a_test_set_that_is_not_there_is_refused(
    base_run: Path, tmp_path: Path
) -> None:
    for language in ("en", "fr"):
        shutil.copy(IN / f"seven.{language}", tmp_path / f"test_2016.{language}")
    base = ("evaluate", f"run_dir={base_run}", "bootstrap=0")
    folder = (*base, "data=folder", f"data.dir={tmp_path}")
    told = ("test_set=test_2017", "test_2016", "must not begin with 'test'")
    refuse(*folder, "test_set=test_2017", words=told, status=(2,))
    refuse(*base, "data=demo", "test_set=tests", words=("test_set=tests", "but test, test_length;"))
    refuse(*base, "data=demo", "test_set=tset", words=("test_set=tset", "did you mean 'test'?"))
    for words in ((*folder, "test_set=test_2016"), (*folder, "test_set=greedy")):
        assert words[-1] == f"test_set={row_of_first(succeed(*words).out)}"
    succeed(*base, *SEVEN, "test_set=test_2017")
    assert evaluation(base_run)["test_set"] == "test_2017"


@pytest.mark.parametrize("line", [("A dog sees a cat.", ""), ("", "Un chien."), ("", "")])
def test_one_pair_and_blank_sides(line: tuple[str, str], base_run: Path, tmp_path: Path) -> None:
    for language, text in zip(("en", "fr"), line, strict=True):
        (tmp_path / f"one.{language}").write_bytes(f"{text}\n".encode())
    files = (f"data.test.source={tmp_path}/one.en", f"data.test.target={tmp_path}/one.fr")
    result = succeed("evaluate", f"run_dir={base_run}", *files, "decode.max_length=20")
    record = evaluation(base_run)
    assert record["sentences"] == 1
    assert record["bleu"]["score"] == record["bleu"]["low"] == record["bleu"]["high"] == 0
    assert (record["length_ratio"] is None) == (not line[1])
    bin_ = record["by_length"][0]
    assert (bin_["from"], bin_["to"]) == ((1, 10) if line[0] else (0, 0))
    assert row_of(result.out, "one")[5] == ("-" if not line[1] else "0.000")


# --- the test set that is typed


@pytest.mark.slow
def test_a_typed_test_set_replaces_that_of_the_run(base_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(base_run, run, symlinks=True)
    config, table = run / "config.yaml", tmp_path / "other.tsv"
    given = yaml.safe_load(config.read_bytes())
    table.write_bytes(b"A dog.\tUn chien.\n")
    base = ("evaluate", f"run_dir={run}", "bootstrap=0")

    given["data"]["test"] = split(table=str(table))
    config.write_text(yaml.safe_dump(given))
    succeed(*base)
    assert evaluation(run)["table"] == [str(table)]
    for words in (SEVEN, (f"data.test={{source:{IN}/seven.en,target:{IN}/seven.fr}}",)):
        succeed(*base, *words)
        assert evaluation(run)["source"] == [f"{IN}/seven.en"]
    refuse(*base, SEVEN[1], words=("data.test.source is null", "give both"), status=(2,))
    refuse(*base, *SEVEN, f"data.test.table={table}", words=("data.test.table is set, and so",))

    given["data"]["test"] = split(source=f"{IN}/tiny.en", target=f"{IN}/tiny.fr")
    config.write_text(yaml.safe_dump(given))
    succeed(*base, f"data.test.table={table}")
    assert evaluation(run)["table"] == [str(table)]
    refuse(*base, SEVEN[0], words=("data.test.target is null",), status=(2,))
    succeed(*base)
    assert evaluation(run)["source"] == [f"{IN}/tiny.en"]


def test_a_typed_folder_comes_before_the_files_of_the_run(base_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(base_run, run, symlinks=True)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        for language in ("en", "fr"):
            shutil.copy(IN / f"seven.{language}", tmp_path / name / f"test_{name}.{language}")
    config = run / "config.yaml"
    given = yaml.safe_load(config.read_bytes())
    given["data"] |= {"kind": "folder", "dir": str(tmp_path / "one")}
    given["data"]["test"] = split(source=f"{IN}/tiny.en", target=f"{IN}/tiny.fr")
    config.write_text(yaml.safe_dump(given))
    succeed("evaluate", f"run_dir={run}", "bootstrap=0", f"data.dir={tmp_path}/two")
    assert evaluation(run)["test_set"] == "test_two"


def test_columns_of_the_run_that_do_not_fit_are_told_with_the_way_out(
    base_run: Path, tmp_path: Path
) -> None:
    table = tmp_path / "other.jsonl"
    table.write_bytes(b'{"en": "A dog.", "fr": "Un chien."}\n')
    base = ("evaluate", f"run_dir={base_run}", f"data.test.table={table}", "bootstrap=0")
    columns = "data.columns=[src,tgt]"
    refuse(*base, columns, words=("other.jsonl:1", "'src'", "data.columns=null"), status=(2,))
    succeed(*base, "data.columns=null")


def split(**given: str) -> dict[str, str | None]:
    """Return the test split of a run's configuration."""
    keys = ("source", "target", "table", "split", "alignments")
    return dict.fromkeys(keys) | given


# --- the file of the scores


@pytest.mark.slow
def test_scores_never_go_over_a_file_that_is_needed(base_run: Path, tmp_path: Path) -> None:
    run, other = tmp_path / "run", tmp_path / "other"
    shutil.copytree(base_run, run, symlinks=True)
    shutil.copytree(base_run, other, symlinks=True)
    for name in ("a.en", "a.fr", "ref.fr"):
        shutil.copy(IN / f"seven.{name[-2:]}", tmp_path / name)
    (tmp_path / "words.tsv").write_bytes(b"dog\tchien\n")
    (tmp_path / "link").symlink_to(tmp_path / "a.fr")
    (tmp_path / "twin").hardlink_to(tmp_path / "a.en")
    (tmp_path / "config").symlink_to(run / "config.yaml")
    files = (f"data.test.source={tmp_path}/a.en", f"data.test.target={tmp_path}/a.fr")
    base = ("evaluate", f"run_dir={run}", *files, f"references={tmp_path}/ref.fr", "bootstrap=0")
    succeed(*base)
    before = contents(tmp_path)
    for name, told in (
        ("a.en", "is the test set's source"),
        ("twin", "is the test set's source"),
        ("./a.fr", "is the test set's target"),
        ("link", "is the test set's target"),
        ("ref.fr", "is one of references"),
        ("run/evaluation.json", "belongs to the run"),
        ("config", "belongs to the run"),
    ):
        refuse(*base, f"scores={tmp_path}/{name}", words=("scores=", told), status=(2,))
    ensemble = f"checkpoint=[best,{other}]"
    for name in ("config.yaml", "checkpoints/best/model.safetensors"):
        told = ("scores=", "belongs to the")
        refuse(*base, ensemble, f"scores={other}/{name}", words=told, status=(2,))
    train = f"scores={IN}/base.train.en"
    refuse(*base, train, words=("scores=", "is data.train.source"), status=(2,))
    assert contents(tmp_path) == before
    for _ in range(2):  # over a file of its own kind
        succeed(*base, f"scores={run}/evaluations/a/scores.jsonl")
    assert len(lines_of(run / "evaluations/a/scores.jsonl")) == 7


@pytest.mark.parametrize("there", [False, True])
def test_what_is_of_a_run_and_what_is_free(there: bool, base_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    if there:
        shutil.copytree(base_run, run, symlinks=True)
    (tmp_path / "link").symlink_to(run)
    for name in (*OF_RUN, "evaluations", "evaluations/a", "tokenizer"):
        for folder in (run, tmp_path / "link", run / ".." / "run"):
            with pytest.raises(UserError, match=f"output={folder}/{name}: belongs to the run"):
                check_outside_run("output", folder / name, run)
    for name in ("scores.jsonl", "evaluations/a/scores.jsonl", "plots/1.png", "../config.yaml"):
        check_outside_run("output", run / name, run)
    for name in ("a", "b"):
        (tmp_path / name).symlink_to(tmp_path / ("b" if name == "a" else "a"))
    check_outside_run("output", tmp_path / "a", run)  # links in a circle


def test_a_taken_file_is_known_under_every_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "twin").hardlink_to(tmp_path / "file")
    (tmp_path / "dangling").symlink_to(tmp_path / "new")
    taken = [("the input file", tmp_path / "file"), ("the output file", tmp_path / "new")]
    for name, what in (("file", "in"), ("link", "in"), ("twin", "in"), ("dangling", "out")):
        with pytest.raises(UserError, match=f"alignments=.*{name}: is the {what}put file; choose"):
            check_not("alignments", tmp_path / name, taken)
    check_not("alignments", tmp_path / "other", taken)


def test_scores_never_go_over_tables_corpora_and_dictionaries(
    word_run: Path, tmp_path: Path
) -> None:
    (tmp_path / "words.tsv").write_bytes(b"dog\tchien\n")
    for language in ("en", "fr"):
        shutil.copy(IN / f"seven.{language}", tmp_path / f"test.{language}")
        shutil.copy(IN / f"seven.{language}", tmp_path / f"train.{language}")
    scores = f"scores={tmp_path}"
    base = ("evaluate", f"run_dir={word_run}", "bootstrap=0")
    table = (f"data.test.table={tmp_path}/words.tsv", f"{scores}/words.tsv")
    refuse(*base, *table, words=("is the test set's table",), status=(2,))
    dictionary = (f"replace_unk={tmp_path}/words.tsv", f"{scores}/words.tsv")
    refuse(*base, *SEVEN, *dictionary, words=("is the dictionary of replace_unk",), status=(2,))
    folder = ("data=folder", f"data.dir={tmp_path}", f"{scores}/train.fr")
    refuse(*base, *folder, words=("is a file of the corpus",), status=(2,))
    hub = ("data=hub", f"data.path={tmp_path}", *SEVEN, f"{scores}/train.fr")
    refuse(*base, *hub, words=("is a file of data.path",), status=(2,))


OF_RUN = (
    *("config.yaml", "metrics.jsonl", "train.log", "evaluation.json", "hypotheses.txt"),
    *("evaluations/a/evaluation.json", "evaluations/a/comparison.json", "plots/training.png"),
    *("report.html", "evaluations/a/report.html", "evaluations/a/comparison.html"),
    *("tokenizer/new", "checkpoints/last/model.safetensors", "checkpoints/new"),
)


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the files in a folder and below."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_scores_go_through_links_and_pipes(base_run: Path, tmp_path: Path) -> None:
    real, link, pipe = tmp_path / "real", tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(real)
    base = ("evaluate", f"run_dir={base_run}", *SEVEN, "bootstrap=0")
    for _ in range(2):  # the link leads nowhere, then to a file
        succeed(*base, f"scores={link}")
        assert link.is_symlink()
        assert len(lines_of(real)) == 7
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        succeed(*base, f"scores={pipe}")
        assert read.result(60) == real.read_bytes()
    assert pipe.is_fifo()
    succeed(*base, "scores=/dev/null")
    assert Path("/dev/null").is_char_device()
    full = ("scores=/dev/full: could not be written", "No space left")
    assert full[0] in (told := rnnsearch(*base, "scores=/dev/full").err)
    assert full[1] in told


# --- words


def test_words_have_the_papers_second_column(word_run: Path) -> None:
    base = ("evaluate", f"run_dir={word_run}", *files_of("tiny"))
    result = succeed(*base)
    record = evaluation(word_run)
    translator = Translator.load(word_run)
    source, target = translator.source_tokenizer, translator.target_tokenizer
    pairs = list(zip(lines_of(IN / "tiny.en"), lines_of(IN / "tiny.fr"), strict=True))
    known = [i for i, (s, t) in enumerate(pairs) if 0 not in source.encode(s) + target.encode(t)]
    assert 0 < len(known) < len(pairs)
    lines = [pairs[i][0] for i in known]
    barred = [t.text for t in translator.barring_unknown().translate(lines)]
    expected = metrics.bleu(barred, [pairs[i][1] for i in known], bootstrap=1000)
    assert record["no_unk"]["sentences"] == len(known)
    assert record["no_unk"]["bleu"]["score"] == pytest.approx(expected.score)
    assert record["no_unk"]["bleu"]["low"] == pytest.approx(expected.low)
    assert row_of(result.out, "tiny")[0] == row_of(result.out.split("No UNK")[1], "tiny")[0]
    assert f"{len(known)} of {len(pairs)}" in result.out
    ids = [source.encode(s) for s, _ in pairs]
    assert record["unknown_rate_source"] == sum(x.count(0) for x in ids) / sum(map(len, ids))
    assert 0 < record["unknown_rate_reference"] < 1


def test_unknown_words_are_counted_and_told(word_run: Path) -> None:
    base = ("evaluate", f"run_dir={word_run}", *files_of("base.test"), "bootstrap=0")
    result = succeed(*base)
    found = Translator.load(word_run).translate(lines_of(IN / "base.test.en"))
    unknown = sum(t.unknown for t in found)
    rate = unknown / sum(len(t.target_pieces) for t in found)
    assert unknown
    assert evaluation(word_run)["unknown_rate"] == pytest.approx(rate)
    assert f"{100 * rate:.2f}%" == row_of(result.out, "base.test")[-1]
    assert f"warning: base.test: the hypotheses lack {unknown} unknown words" in result.err
    replaced = succeed(*base, "replace_unk=true")
    assert "warning" not in replaced.err
    assert evaluation(word_run)["unknown_rate"] == pytest.approx(rate)
    assert evaluation(word_run)["replace_unk"] is True
    barred = succeed(*base, "decode.ban_unk=true")
    assert evaluation(word_run)["unknown_rate"] == 0
    assert "%" not in barred.out


def test_no_pair_without_unknown_words(word_run: Path, tmp_path: Path) -> None:
    for language in ("en", "fr"):
        (tmp_path / f"x.{language}").write_bytes(b"zzz qqq\n")
    files = (f"data.test.source={tmp_path}/x.en", f"data.test.target={tmp_path}/x.fr")
    result = succeed("evaluate", f"run_dir={word_run}", *files)
    assert evaluation(word_run)["no_unk"] == {"bleu": None, "sentences": 0}
    assert "0 of 1" in result.out
    assert evaluation(word_run)["unknown_rate_reference"] == 1


def test_blank_pairs_are_no_pairs_without_unknown_words(word_run: Path, tmp_path: Path) -> None:
    known = Translator.load(word_run)
    source, target = next(
        pair
        for pair in zip(lines_of(IN / "tiny.en"), lines_of(IN / "tiny.fr"), strict=True)
        if 0
        not in [*known.source_tokenizer.encode(pair[0]), *known.target_tokenizer.encode(pair[1])]
    )
    (tmp_path / "x.en").write_bytes(f"{source}\n\n{source}\n\n".encode())
    (tmp_path / "x.fr").write_bytes(f"{target}\n{target}\n \n\n".encode())
    files = (f"data.test.source={tmp_path}/x.en", f"data.test.target={tmp_path}/x.fr")
    result = succeed("evaluate", f"run_dir={word_run}", *files, "bootstrap=0")
    assert evaluation(word_run)["no_unk"]["sentences"] == 1
    assert "1 of 4" in result.out


# --- several runs, several checkpoints


def test_runs_are_compared_with_the_first(base_run: Path, one_run: Path) -> None:
    runs = f"run_dir=[{base_run},{one_run}]"
    result = succeed("evaluate", runs, *SEVEN, "bootstrap=100", "test_set=pair")
    record = json.loads((base_run / "evaluations/pair/comparison.json").read_bytes())
    texts = [lines_of(run / "evaluations/pair/hypotheses.txt") for run in (base_run, one_run)]
    references = lines_of(IN / "seven.fr")
    (expected,), signatures = metrics.compare(texts, references, bootstrap=100)
    first, second = record["runs"]
    assert (record["resamples"], record["sentences"]) == (100, 7)
    assert record["signatures"] == signatures
    assert [first["run_dir"], second["run_dir"]] == [str(base_run), str(one_run)]
    for key in ("bleu", "chrf", "ter"):
        assert "p_value" not in first[key]
        assert second[key]["difference"] == pytest.approx(expected[key].difference)
        assert second[key]["p_value"] == pytest.approx(expected[key].p_value)
        assert f"{expected[key].difference:+.2f} (p = {expected[key].p_value:.4f})" in result.out
    for run in (base_run, one_run):
        assert evaluation(run)["test_set"] == "pair"
        assert f"{evaluation(run)['chrf']['score']:.2f}" in result.out
    assert "comparing 2 runs" in result.err
    assert not (one_run / "evaluations/pair/comparison.json").exists()


def test_a_comparison_without_intervals_takes_a_thousand_resamples(
    base_run: Path, one_run: Path
) -> None:
    runs = f"run_dir=[{one_run},{base_run}]"
    result = succeed("evaluate", runs, *SEVEN, "bootstrap=0", "test_set=thousand")
    assert "1000 resamples" in result.out
    assert "±" not in result.out
    record = json.loads((one_run / "evaluations/thousand/comparison.json").read_bytes())
    assert record["resamples"] == 1000
    assert record["runs"][1]["bleu"]["low"] is None


def test_ter_can_be_left_out(base_run: Path, one_run: Path) -> None:
    runs = f"run_dir=[{base_run},{one_run}]"
    result = succeed("evaluate", runs, *SEVEN, "ter=false", "bootstrap=10", "test_set=no_ter")
    assert result.out.count("(p = ") == 2
    assert "TER nrefs" not in result.out
    assert evaluation(base_run)["ter"] is None
    record = json.loads((base_run / "evaluations/no_ter/comparison.json").read_bytes())
    assert set(record["signatures"]) == {"bleu", "chrf"}


def test_runs_with_other_tokenizers_are_compared(base_run: Path, word_run: Path) -> None:
    runs = f"run_dir=[{base_run},{word_run}]"
    result = succeed("evaluate", runs, *SEVEN, "bootstrap=0", "test_set=mixed")
    assert "these runs have different ones" in result.out
    assert evaluation(word_run)["decode"] == evaluation(base_run)["decode"]


def test_a_comparison_needs_different_runs(base_run: Path, one_run: Path, tmp_path: Path) -> None:
    twice = f"run_dir=[{base_run},{base_run}/]"
    refuse("evaluate", twice, *SEVEN, words=("run_dir", "named twice"), status=(2,))
    runs = f"run_dir=[{base_run},{one_run}]"
    path = f"checkpoint={base_run}/checkpoints/last"
    refuse("evaluate", runs, *SEVEN, path, words=("checkpoint=", "belongs to one run"))
    scores = f"scores={tmp_path}/s"
    refuse("evaluate", runs, *SEVEN, scores, words=("scores=", "2 runs"), status=(2,))


def test_an_ensemble_is_scored_as_one_model(quick_run: Path, tmp_path: Path) -> None:
    best, last = "best", (quick_run / "checkpoints/last").resolve()
    words = (f"checkpoint=[{best},{last}]", f"scores={tmp_path}/s", "bootstrap=0")
    succeed("evaluate", f"run_dir={quick_run}", *files_of("tiny"), *words)
    step = (quick_run / "checkpoints/best").resolve().name
    assert evaluation(quick_run)["checkpoint"] == [step, last.name]
    translator = Translator.load(quick_run, ["best", str(last)])
    hypotheses = [t.text for t in translator.translate(lines_of(IN / "tiny.en"))]
    assert hypotheses == lines_of(quick_run / "hypotheses.txt")
    rows = [json.loads(line) for line in lines_of(tmp_path / "s")]
    total = -sum(row["log_probability"] for row in rows) / sum(row["tokens"] for row in rows)
    assert evaluation(quick_run)["loss"] == pytest.approx(total)


def test_a_model_that_is_named_twice_is_told(quick_run: Path) -> None:
    best = (quick_run / "checkpoints/best").resolve().name
    base = ("evaluate", f"run_dir={quick_run}", *files_of("tiny"), "bootstrap=0")
    for names in (f"best,{best}", f"best,{quick_run}", f"{best},best"):
        result = succeed(*base, f"checkpoint=[{names}]")
        told = [line for line in result.err.split("\n") if line.startswith("warning: checkpoint")]
        assert len(told) == 1
        assert f"are one model, {best}" in told[0]
    assert "warning" not in succeed(*base, "checkpoint=[best]").err


def test_an_ensemble_averages_probabilities(quick_run: Path) -> None:
    translator = Translator.load(quick_run, "last")
    one = translator.model
    other = Translator.load(quick_run, "best").model
    with torch.no_grad():
        other.W_o.weight += 0.1 * torch.randn_like(other.W_o.weight)
    sources, targets = [[5, 6, 7], [8]], [[9, 10], [5, 6, 7, 8]]
    same = score_pairs([one, one], sources, targets)
    assert same == pytest.approx(score_pairs(one, sources, targets))
    both = score_pairs([one, other], sources, targets)
    batch = collate(sources, targets)
    with torch.no_grad():
        p = [model.log_probabilities(batch)[0].double().exp() for model in (one, other)]
    expected = ((p[0] + p[1]) / 2).log().sum(1).numpy()
    assert both == pytest.approx(expected, abs=1e-5)
    one.train()
    score_pairs([one, other], sources, targets)
    assert one.training
    assert not other.training


# --- parts


def test_what_is_not_finite_is_null() -> None:
    record = {"a": math.nan, "b": {"c": [math.inf, 1.0, "x"]}, "d": None, "e": True}
    assert finite(record) == {"a": None, "b": {"c": [None, 1.0, "x"]}, "d": None, "e": True}


def test_stages_tell_how_far_the_work_is(base_run: Path) -> None:
    told: dict[str, list[int]] = {}

    class Counter:
        def __init__(self, what: str, total: int) -> None:
            self.what = what
            told[what] = [total, 0]

        def update(self, n: int = 1) -> None:
            told[self.what][1] += n

    def stage(what: str, total: int) -> nullcontext[Bar]:
        return nullcontext(Counter(what, total))

    files = PairFiles((IN / "seven.en",), (IN / "seven.fr",))
    test = read_set("seven", files, references=[IN / "seven.fr"])
    assert len(test.references) == 1
    found = evaluate(Translator.load(base_run), test, scoring=Scoring(), stages=stage)
    assert told == {"loss": [7, 7], "translating": [7, 7], "scores": [3, 3]}
    assert found.log_p.shape == (7,)
    assert np.isfinite(found.log_p).all()
    assert found.record["bleu"]["low"] is None


def record_of(**changes: Any) -> dict[str, Any]:
    score = {"score": 55.1234, "low": 53.5, "high": 56.7, "signature": "nrefs:1|tok:13a"}
    bins = [
        {"from": 10 * i + 1, "to": 10 * i + 10, "sentences": 1000 - i, "bleu": 50.0 - i}
        for i in range(12)
    ]
    plain = {"loss": 1.23456, "perplexity": 3.4368, "sentences": 1000, "length_ratio": 0.98765}
    scores = {"bleu": score, "chrf": score, "ter": score}
    return {**scores, **plain, "unknown_rate": 0.0, "by_length": bins, **changes}


def test_the_table_fits_a_terminal() -> None:
    long = "a_test_set_with_a_name_that_goes_on_and_on_and_on"
    rows = [("test_2016_flickr", record_of()), (long, record_of(unknown_rate=0.0123))]
    printed = score_table("test set", rows)
    lines = printed.split("\n")
    assert max(map(len, lines)) <= 100
    assert lines[2] == long
    assert "  1.23%" in lines[3]
    assert "55.12 ± 1.60" in lines[1]
    assert row_of(printed, "BLEU by words")[0] == "1-10"
    assert sum(line.startswith("BLEU by words") for line in lines) > 1
    assert "111-120" in printed


def test_counts_stand_under_the_rows_that_share_them() -> None:
    bins = [{"from": 0, "to": 0, "sentences": 5, "bleu": 0.0}]
    rows = [("a", record_of()), ("b", record_of()), ("c", record_of(by_length=bins))]
    printed = score_table("test set", rows).split("\n\n")[1].split("\n")
    assert [line.split()[0] for line in printed] == [
        "BLEU",
        "a",
        "b",
        "sentences",
        "c",
        "sentences",
    ]
    assert printed[4].split()[1:3] == ["0.00", "-"]


def test_odd_names_keep_to_one_line_and_to_the_columns() -> None:
    rows = [("a\nb", record_of()), ("猫の文", record_of()), ("e\u0301t", record_of())]
    lines = score_table("test set", rows).split("\n")[1:4]
    assert [line.split("  ")[0] for line in lines] == [r"a\nb", "猫の文", "e\u0301t"]
    places = [line.index("55.12") for line in lines]
    assert places == [places[0], places[0] - 3, places[0] + 1]


def test_figures_that_do_not_exist_are_dashes() -> None:
    none = {"score": 0.0, "low": None, "high": None, "signature": "s"}
    record = record_of(perplexity=None, loss=None, length_ratio=None, bleu=none)
    record["no_unk"] = {"bleu": None, "sentences": 0}
    printed = score_table("run", [("a", record)])
    assert row_of(printed, "a") == ["0.00", "55.12", "55.12", "-", "-", "-", "1000"]
    assert row_of(printed.split("\n\n")[1], "a") == ["0.00", "-", "0 of 1000"]


def test_signatures_are_told_once_each() -> None:
    other = {"score": 1.0, "low": None, "high": None, "signature": "nrefs:2|tok:13a"}
    rows = [("a", record_of()), ("b", record_of()), ("c", record_of(bleu=other))]
    printed = notes(rows, search="beam 5").split("\n")
    assert [line for line in printed if line.startswith("BLEU")] == [
        "BLEU nrefs:1|tok:13a",
        "BLEU nrefs:2|tok:13a",
    ]
    assert printed[0] == "search: beam 5"


def test_only_what_is_sure_has_a_star() -> None:
    sure, unsure = metrics.Difference(1.5, 0.0312), metrics.Difference(-0.4, 0.31)
    by_metric = {"bleu": sure, "chrf": unsure, "ter": unsure}
    printed = difference_table("a", [("b", by_metric)], resamples=1000)
    assert "+1.50 (p = 0.0312)*" in printed
    assert "-0.40 (p = 0.3100)" in printed
    assert printed.count(")*") == 1
    assert "less a" in printed


def test_results_that_make_room_for_others_of_the_same_name_are_told(
    quick_run: Path, tmp_path: Path
) -> None:
    """Evaluating the same set again is no loss; another set of that name is."""
    run = shutil.copytree(quick_run, tmp_path / "run", symlinks=True)
    fast = ("report=false", "ter=false", "bootstrap=0", "test_set=a", f"run_dir={run}")
    for _ in range(2):
        assert "held the scores" not in succeed("evaluate", *SEVEN, *fast).err
    told = succeed("evaluate", *files_of("base.test"), *fast).err
    assert f"warning: {run}/evaluations/a held the scores of " in told
    assert f" held the scores of {IN}/seven.en, {IN}/seven.fr; these" in told
    assert "test_set=NAME keeps both" in told
    (run / "evaluations/a/evaluation.json").write_text("{")
    assert "held the scores" not in succeed("evaluate", *SEVEN, *fast).err
