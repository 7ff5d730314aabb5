"""The HTML pages of `evaluate`: what is in them, text of any kind, and sets of any size."""

import base64
import dataclasses
import hashlib
import json
import re
import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases_common import IN, QUICK, TEST, evaluation, lines_of, records, succeed
from hypothesis import given
from hypothesis import strategies as st
from pages import Node, read_page

from rnnsearch import Translator
from rnnsearch.alignment import merge_pieces
from rnnsearch.errors import UserError
from rnnsearch.evaluation import Bar, Evaluation, EvaluationSet
from rnnsearch.report import evaluation_page
from rnnsearch.report.charts import Curve, bar_chart, line_chart, ticks
from rnnsearch.report.differences import marked
from rnnsearch.report.examples import best_worst_random, furthest_apart, sentence_chrf
from rnnsearch.report.page import MOST_CHARACTERS, embedded, escaped, visible
from rnnsearch.report.training import training_curves
from rnnsearch.validation import load_config

SEVEN = (f"data.test.source={IN}/seven.en", f"data.test.target={IN}/seven.fr")
HOSTILE = (
    "<script>alert(1)</script>", "</script><!-- $x$ & &amp; &lt;", "\"quotes\" 'and' `others`",
    "שלום עולם", "\u202eturned around\u2066", "bell \x07 and \x1b[31m and \x7f",
    "half \udce9 \ud800", "\U000f1234 \ue000 \ufffe", "   ", "", "]]> <![CDATA[ <?php ?> <b>",
    "a\u2028b\u0085c", "<img src=x onerror=alert(1)> {{7*7}} ${x}", "dog " * 3000,
)  # fmt: skip


class NoBar:
    """A bar that nobody sees."""

    def update(self, n: int = 1) -> object:
        return None


def silent(what: str, total: int) -> Any:
    """Show no progress."""
    bar: Bar = NoBar()
    return nullcontext(bar)


def page_of(run: Path, *words: str) -> Node:
    """Evaluate a run and return its page."""
    result = succeed("evaluate", f"run_dir={run}", "bootstrap=0", *words)
    path = (run / "report.html").resolve()
    assert f"report: {path}" in result.err.replace(str(run), str(run.resolve()))
    return read_page(path.read_text(encoding="utf-8"))


def shown(article: Node) -> dict[str, str]:
    """Return the texts of a sentence by their names, without what is for screen readers alone."""
    rows = [row for part in article.all("dl") for row in part.all("div")]
    return {row.all("dt")[0].text: seen(row.all("dd")[0]) for row in rows}


def seen(node: Node) -> str:
    """Return the text of an element that can be seen."""
    if node.attributes.get("class") == "unseen":
        return ""
    return "".join(c if isinstance(c, str) else seen(c) for c in node.children)


def data_of(page: Node) -> dict[str, Any]:
    """Return what the script finds in the page."""
    found: dict[str, Any] = json.loads(page.all("script", type="application/json")[0].text)
    return found


# --- one run


def test_the_page_holds_every_figure(base_run: Path) -> None:
    result = succeed("evaluate", f"run_dir={base_run}", *SEVEN, "bootstrap=50")
    assert (base_run / "report.html").readlink() == Path("evaluations/seven/report.html")
    assert f"report: {base_run / 'evaluations/seven/report.html'}\n" in result.err
    page = read_page((base_run / "report.html").read_text(encoding="utf-8"))
    record = evaluation(base_run)
    text = page.text
    for key, name in (("bleu", "BLEU"), ("chrf", "chrF"), ("ter", "TER")):
        found = record[key]
        assert f"{name}{found['score']:.2f}95% interval {found['low']:.2f} to" in text
        assert found["signature"] in text
    assert f"{record['loss']:.4f} nats" in text
    assert f"{record['length_ratio']:.3f}" in text
    assert record["checkpoint"] in text
    assert str(IN / "seven.en") in text
    assert f"{base_run.name}: scores on seven" in page.all("h1")[0].text
    for one in record["by_length"]:
        assert f"{one['from']}–{one['to']}{one['sentences']}{one['bleu']:.2f}" in text
    titles = [node.text for node in page.all("figcaption")]
    assert [title.split(",")[0] for title in titles] == [
        *("BLEU", "Loss", "BLEU on the validation set", "Learning rate", "Speed"),
    ]
    last = [*records(base_run, "validation")][-1]
    assert f"{last['update']}{last['loss']:.4f}" in text


def test_the_page_needs_nothing_and_runs_nothing_else(base_run: Path) -> None:
    page = page_of(base_run, *SEVEN)
    policy = page.all("meta", http_equiv="Content-Security-Policy")[0].attributes["content"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    script = page.all("script")[-1].text
    for text, key in ((page.all("style")[0].text, "style-src"), (script, "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{key} 'sha256-{digest}'" in policy
    for tag in ("link", "img", "iframe", "object", "base", "form"):
        assert page.all(tag) == []
    assert len(page.all("script")) == 2
    source = (base_run / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"\s(src|style|on\w+)=", source)
    assert not re.search(r"https?:|//\w|url\(|@import", source.replace(script, ""))
    for link in page.all("a"):
        name = str(link.attributes["href"])
        assert name.startswith("#")
        assert f'id="{name[1:]}"' in source


def test_every_pair_of_a_small_set_is_shown_once_and_its_texts_are_whole(base_run: Path) -> None:
    page = page_of(base_run, *SEVEN)
    assert [node.text for node in page.all("h3")][-3:] == ["Best", "Worst", "Random"]
    hypotheses = lines_of(base_run / "hypotheses.txt")
    articles = page.all("article")
    lines = [int(node.all("h4")[0].text.split()[1]) for node in articles]
    assert sorted(lines) == [*range(1, 8)]
    for line, article in zip(lines, articles, strict=True):
        texts = shown(article)
        assert texts["Source"] == lines_of(IN / "seven.en")[line - 1]
        assert texts["Reference"] == lines_of(IN / "seven.fr")[line - 1]
        assert texts["Output"] == (hypotheses[line - 1] or "(blank)")
        source, reference, _ = (node.attributes for node in article.all("dd"))
        assert (source["lang"], reference["lang"]) == ("en", "fr")
        assert source["dir"] == "auto"


def test_further_references_are_shown(base_run: Path, tmp_path: Path) -> None:
    (tmp_path / "other.fr").write_text("autre\n" * 7)
    page = page_of(base_run, *SEVEN, f"references={tmp_path}/other.fr")
    assert all(shown(article)["Reference 2"] == "autre" for article in page.all("article"))


def test_the_weights_are_those_of_the_translator(base_run: Path) -> None:
    data = data_of(page_of(base_run, *SEVEN, "decode.max_length=30"))
    decode = dataclasses.replace(load_config(base_run).decode, max_length=30)
    translator = Translator.load(base_run, decode=decode)
    assert (data["source_lang"], data["target_lang"]) == ("en", "fr")
    found = translator.translate(lines_of(IN / "seven.en"))
    for number, one in enumerate(found, 1):
        if not one.target_pieces:
            continue
        sentence = data["sentences"][f"{number}-0"]
        pieces, words = sentence["pieces"], sentence["words"]
        assert (pieces["source"], pieces["target"]) == (one.source_pieces, one.target_pieces)
        assert one.alignment is not None
        assert np.array(pieces["weights"]) / 1000 == pytest.approx(one.alignment, abs=6e-4)
        sides = (
            translator.source_tokenizer.words(one.source_pieces[:-1]),
            translator.target_tokenizer.words(one.target_pieces),
        )
        assert [words["source"], words["target"]] == [[w for w, _ in side] for side in sides]
        source, target = ([count for _, count in side] for side in sides)
        merged = merge_pieces(one.alignment, source_counts=source, target_counts=target)
        assert np.array(words["weights"]) / 1000 == pytest.approx(merged, abs=6e-4)
    assert any(one.target_pieces for one in found)


def test_words_have_the_two_columns_and_no_pieces(word_run: Path) -> None:
    page = page_of(word_run, *SEVEN)
    assert "No UNK" in page.text
    assert "Unknown words, output" in page.text
    sentences = data_of(page)["sentences"].values()
    assert sentences
    assert all([*sentence] == ["pieces"] for sentence in sentences)


def test_without_attention_the_page_says_why_nothing_is_explored(tmp_path: Path) -> None:
    run = tmp_path / "encdec"
    words = [word for word in QUICK if "alignment_size" not in word and word != "model=rnnsearch"]
    succeed("train", *words, "model=rnnencdec", "trainer.max_updates=1", f"run_dir={run}")
    page = page_of(run, *SEVEN)
    assert data_of(page)["sentences"] == {}
    assert page.all("details", class_="explorer") == []
    assert "model=rnnencdec has no attention" in page.text
    assert len(page.all("article")) == 7


def test_without_records_there_are_no_curves(one_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(one_run, run, symlinks=True)
    (run / "metrics.jsonl").unlink()
    page = page_of(run, *SEVEN)
    assert "no records of its training" in page.text
    (run / "metrics.jsonl").write_text(
        '{"kind": "train", "update": 5, "loss": NaN}\n{"kind": "train", "update": 6, "loss": 2'
    )
    assert "no records of its training" in page_of(run, *SEVEN).text
    (run / "metrics.jsonl").write_text('{"kind": "train", "update": 5, "loss": 2}\n[1]\nx')
    titles = [node.text for node in page_of(run, *SEVEN).all("figcaption")]
    assert titles == ["BLEU", "Loss, nats a token"]


@pytest.mark.parametrize("pair", [("A dog.", ""), ("", "Un chien."), ("", ""), ("The cat.", "Le")])
def test_one_pair(pair: tuple[str, str], base_run: Path, tmp_path: Path) -> None:
    for language, text in zip(("en", "fr"), pair, strict=True):
        (tmp_path / f"one.{language}").write_bytes(f"{text}\n".encode())
    files = (f"data.test.source={tmp_path}/one.en", f"data.test.target={tmp_path}/one.fr")
    page = page_of(base_run, *files, "decode.max_length=20")
    (article,) = page.all("article")
    texts = shown(article)
    assert texts["Source"] == (pair[0] or "(blank)")
    assert texts["Reference"] == (pair[1] or "(blank)")
    if not pair[0]:
        assert texts["Output"] == "(blank)"
        assert "nothing to explore" in article.text


def test_text_of_any_kind_is_shown_as_it_stands(quick_run: Path) -> None:
    """Sources, references and outputs that would be code, or nothing, in a careless page."""
    translator = Translator.load(quick_run)
    name = "na\udce9me <b>&</b> \x07"
    count = len(HOSTILE)
    figures = {"score": 1.0, "low": None, "high": None, "signature": "<i>"}
    record: dict[str, Any] = {
        **dict.fromkeys(("bleu", "chrf", "ter"), figures),
        **dict.fromkeys(("loss", "perplexity", "length_ratio"), None),
        **dict.fromkeys(("unknown_rate", "unknown_rate_source", "unknown_rate_reference"), 0.0),
        "sentences": count, "by_length": [{"from": 1, "to": 10, "sentences": 1, "bleu": None}],
        "checkpoint": ["<a>", "b"], "decode": {"beam_size": 1, "max_length": None},
        "replace_unk": name, "references": [name], "alignments": [],
    }  # fmt: skip
    reverse = [*reversed(HOSTILE)]
    test = EvaluationSet(
        name, [*HOSTILE], reverse, [reverse], [name], {"source": [name], "target": [name]}, None, []
    )
    result = Evaluation([*HOSTILE], np.zeros(count), [1] * count, 0, record)
    text = evaluation_page(quick_run, translator, test, result, stages=silent)
    text.encode()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066\ud800-\udfff]", text)
    page = read_page(text)
    assert len(page.all("script")) == 2
    assert page.all("b")[0].text == "na\\xe9me <b>&</b> \\x07".replace("\\xe9", "\\udce9")
    for article in page.all("article"):
        line = int(article.all("h4")[0].text.split()[1]) - 1
        texts = shown(article)
        for key, raw in (("Source", HOSTILE[line]), ("Reference", reverse[line])):
            wanted = " ".join(visible(raw).split()) or "(blank)"
            if len(wanted) <= MOST_CHARACTERS:
                assert " ".join(texts[key].split()) == wanted
            else:
                assert re.search(r"dog +… \((6,999|7,000) more characters\)$", texts[key].strip())
    assert {int(a.all("h4")[0].text.split()[1]) for a in page.all("article")} == {
        number for number, source in enumerate(HOSTILE, 1) if source.strip()
    }
    weights = data_of(page)["sentences"]
    assert str(len(HOSTILE)) + "-0" not in weights  # 3,000 words are too many to explore
    assert "too long for the explorer" in page.text


def test_a_page_that_cannot_be_written_fails_nothing(
    one_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    shutil.copytree(one_run, run, symlinks=True)
    page_of(run, *SEVEN)

    def full(path: Path, text: str) -> None:
        raise UserError(f"{path}: could not be written: No space left on device", status=1)

    monkeypatch.setattr("rnnsearch.cli.pages.write_text", full)
    result = succeed("evaluate", f"run_dir={run}", "bootstrap=0", *SEVEN)
    assert "warning: " in result.err
    assert "No space left" in result.err
    assert not (run / "report.html").is_symlink()  # that of the earlier evaluation would mislead
    assert not (run / "evaluations/seven/report.html").exists()


def test_no_page_is_written_where_none_is_wanted(one_run: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(one_run, run, symlinks=True)
    page_of(run, *SEVEN)
    result = succeed("evaluate", f"run_dir={run}", "bootstrap=0", *SEVEN, "report=false")
    assert "report" not in result.err
    assert not (run / "report.html").is_symlink()
    assert not (run / "evaluations/seven/report.html").exists()


# --- several runs


def test_runs_stand_side_by_side(base_run: Path, one_run: Path) -> None:
    succeed("evaluate", f"run_dir=[{base_run},{one_run}]", *TEST, "bootstrap=20")
    folder = base_run / "evaluations/base.test"
    page = read_page((folder / "comparison.html").read_text(encoding="utf-8"))
    record = json.loads((folder / "comparison.json").read_bytes())
    for entry in record["runs"]:
        assert f"{entry['bleu']['score']:.2f} ±" in page.text
        assert f"{entry['parameters']:,}" in page.text
    other = record["runs"][1]["bleu"]
    signed = f"{other['difference']:+.2f}".replace("-", "−")
    assert f"{signed} (p = {other['p_value']:.4f})" in page.text
    figures = [node.text for node in page.all("figcaption")]
    assert figures == ["BLEU", "Validation loss, nats a token", "BLEU on the validation set"]
    assert [node.text for node in page.all("li")][-2:] == [base_run.name, one_run.name]
    hypotheses = [lines_of(run / "hypotheses.txt") for run in (base_run, one_run)]
    articles = page.all("article")
    assert articles
    for article in articles:
        line = int(article.all("h4")[0].text.split()[1]) - 1
        _, _, *outputs = shown(article).values()
        assert outputs == [lines[line] or "(blank)" for lines in hypotheses]
        assert [node.text.split(" chrF")[0] for node in article.all("dt")[2:]] == [
            base_run.name,
            one_run.name,
        ]
    keys = data_of(page)["sentences"]
    assert {key[-1] for key in keys} <= {"0", "1"}
    for run in (base_run, one_run):
        assert (run / "report.html").exists()
    drop = ("bootstrap=20", "report=false")
    succeed("evaluate", f"run_dir=[{base_run},{one_run}]", *TEST, *drop)
    assert not (folder / "comparison.html").exists()


def test_runs_of_one_name_are_told_apart(base_run: Path, one_run: Path, tmp_path: Path) -> None:
    twin = tmp_path / base_run.name
    shutil.copytree(one_run, twin, symlinks=True)
    succeed("evaluate", f"run_dir=[{base_run},{twin}]", *SEVEN, "bootstrap=20", "ter=false")
    text = (base_run / "evaluations/seven/comparison.html").read_text(encoding="utf-8")
    assert {str(base_run), str(twin)} <= {node.text for node in read_page(text).all("th")}


# --- parts


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("dog", "dog"), ("a\tb", "a\\tb"), ("\x00", "\\x00"), ("\ud800", "\\ud800"),
        ("caf\udcc3\udca9", "café"), ("\u202e", "\\u202e"), ("שלום", "שלום"), ("\u200d", "\u200d"),
        ("a\u00a0b", "a\u00a0b"), ("\U0001f600", "\U0001f600"),
    ],
)  # fmt: skip
def test_what_cannot_be_seen_is_written_out(text: str, wanted: str) -> None:
    assert visible(text) == wanted


@given(st.text(st.characters(exclude_categories=())))
def test_escaped_text_is_one_text_and_embedded_text_ends_no_script(text: str) -> None:
    page = read_page(f"<i>{escaped(text)}</i>")
    assert [node.text for node in page.all("i")] == [visible(text)]
    found = embedded([visible(text)])
    assert "<" not in found
    assert json.loads(found) == [visible(text)]


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_differences_leave_the_texts_whole(reference: list[str], output: list[str]) -> None:
    for words, text, tag in zip(
        (reference, output), marked(" ".join(reference), " ".join(output)), ("del", "ins"),
        strict=True,
    ):  # fmt: skip
        page = read_page(text)
        assert seen(page) == (" ".join(words) or "(blank)")
        assert {node.tag for node in page.within()} <= {tag, "span"}
        assert all("(missing: " in n.text or "(added: " in n.text for n in page.all(tag))


def test_differences_are_marked_by_words() -> None:
    left, right = (read_page(text) for text in marked("le chien noir court", "le chat court vite"))
    assert [node.text for node in left.all("del")] == ["(missing: chien noir)"]
    assert [node.text for node in right.all("ins")] == ["(added: chat)", "(added: vite)"]
    long = " ".join(map(str, range(2000)))
    assert marked(long, long + " more") == (escaped(long)[:5000] + left_out(long), escaped(
        long + " more")[:5000] + left_out(long + " more"))  # fmt: skip


def left_out(text: str) -> str:
    """Return what stands in place of the rest of a long text."""
    return f" … ({len(text) - MOST_CHARACTERS:,} more characters)"


@given(st.lists(st.sampled_from([0.0, 10.0, 50.0, 100.0]), max_size=80), st.booleans())
def test_sentences_are_the_best_the_worst_and_others(scores: list[float], blank: bool) -> None:
    sources = [f"line {i}" if i % 5 or not blank else "" for i in range(len(scores))]
    best, worst, drawn = best_worst_random(scores, sources)
    everything = [*best, *worst, *drawn]
    assert len(everything) == len({*everything})
    candidates = [i for i, s in enumerate(sources) if s] or [*range(len(scores))]
    assert len(everything) == min(30, len(candidates))
    assert {*everything} <= {*candidates}
    if best and worst:
        assert len(best) >= len(worst) >= len(drawn)
        assert min(scores[i] for i in best) >= max(scores[i] for i in [*worst, *drawn])
        assert max(scores[i] for i in worst) <= min([scores[i] for i in drawn], default=100)
        assert [scores[i] for i in best] == sorted((scores[i] for i in best), reverse=True)


def test_random_sentences_are_those_of_the_test_set() -> None:
    sources = [f"line {i}" for i in range(2000)]
    one = best_worst_random([float(i) for i in range(2000)], sources)[2]
    other = best_worst_random([float(-i) for i in range(2000)], sources)[2]
    assert one == other == best_worst_random([float(i) for i in range(2000)], sources)[2]
    assert one != best_worst_random([0.0] * 2000, [f"{source}!" for source in sources])[2]


def test_sentences_on_which_runs_differ_most() -> None:
    first = [50.0, 50, 50, 50, 0]
    other = [90.0, 10, 60, 50, 0]
    sources = [*"abcde"]
    assert furthest_apart([first, other], sources, each=1) == [[0], [1], [*_rest(sources)]]
    ahead, behind, _ = furthest_apart([first, other, first], sources)
    assert (ahead, behind) == ([0, 2], [1])
    assert furthest_apart([first, first], sources, each=9) == [[], [], [0, 1, 2, 3, 4]]


def _rest(sources: list[str]) -> list[int]:
    return furthest_apart([[1.0, 0, 0, 0, 0], [2.0, -1, 0, 0, 0]], sources, each=1)[2]


def test_sentence_scores() -> None:
    scores = sentence_chrf(["a dog", "", "", "cat"], [["a dog", "", "x", "a"], ["", "", "", "cat"]])
    assert scores == [100.0, 100.0, 0.0, 100.0]


@pytest.mark.parametrize("most", [1e-9, 0.004, 0.7, 1, 3, 9.99, 42, 99.7, 1e5, 123456789])
def test_ticks_are_round_and_few(most: float) -> None:
    found = ticks(most)
    assert found[0] == 0
    assert 3 <= len(found) <= 6
    assert found[-2] < most <= found[-1] * 1.001


@pytest.mark.parametrize("points", [[(0, 0)], [(5, 0.1)], [(i, i * 1e6) for i in range(500)]])
def test_charts_of_few_and_many_points(points: list[tuple[float, float]]) -> None:
    page = read_page(line_chart("<x>", [Curve("a & b", points), Curve("c", [])], x_label="u"))
    path = page.all("path", class_="curve")[-2].attributes["d"]
    assert path is not None
    for x, y in re.findall(r"([\d.]+) ([\d.]+)", path):
        assert 0 <= float(x) <= 420
        assert 0 <= float(y) <= 250
    assert "a & b" in page.text


def test_bars_that_have_no_value_are_left_out() -> None:
    page = read_page(bar_chart("BLEU", [("0\n1", None), ("1–10\n5", 30.0)], x_label="words"))
    assert len(page.all("rect")) == 1
    assert "30.0" in page.text
    read_page(bar_chart("BLEU", [("0", None)], x_label="words"))


def test_the_charts_of_a_training_share_their_axis(tmp_path: Path) -> None:
    """A curve that ends before the others is not drawn as long as they are."""
    records = [{"kind": "train", "update": u, "loss": 1.0} for u in range(100, 1001, 100)]
    records += [{"kind": "validation", "update": 500, "bleu": 5.0, "loss": 2.0}]
    text = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "metrics.jsonl").write_text(text)
    page = training_curves(tmp_path)
    _, loss, bleu = page.split('<figure class="chart">')
    assert ">1,000</text>" in loss
    assert ">1,000</text>" in bleu
