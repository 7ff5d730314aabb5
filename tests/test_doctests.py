"""The examples in docstrings run; `run_dir` in them is a trained run."""

import doctest
import importlib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from cases_common import IN, lines_of

from rnnsearch import Translation, Translator
from rnnsearch.errors import UserError
from rnnsearch.translation import END_MARK

PACKAGE = Path(__file__).resolve().parent.parent / "rnnsearch"
WITH_EXAMPLES = sorted(
    ".".join(("rnnsearch", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


def test_there_are_examples() -> None:
    assert {"rnnsearch.translator", "rnnsearch.translation"} <= set(WITH_EXAMPLES)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_examples_run(name: str, base_run: Path) -> None:
    found = doctest.testmod(importlib.import_module(name), extraglobs={"run_dir": str(base_run)})
    assert found.attempted > 0
    assert found.failed == 0


def test_scores_are_those_of_evaluate(base_run: Path) -> None:
    translator = Translator.load(base_run, "last")
    sources, targets = (lines_of(IN / f"base.valid.{side}") for side in ("en", "fr"))
    log_p = translator.score(sources, targets)
    one_by_one = [translator.score([s], [t])[0] for s, t in zip(sources, targets, strict=True)]
    assert log_p == pytest.approx(one_by_one, abs=1e-4)
    assert translator.score([], []).shape == (0,)
    with pytest.raises(UserError, match="2 sources but 1 targets"):
        translator.score(sources[:2], targets[:1])
    with pytest.raises(UserError, match="came one text"):
        translator.score("A dog.", "Un chien.")
    with pytest.raises(UserError, match="number 2 is no text"):
        translator.translate(["A dog.", 3])  # type: ignore[list-item]


class Cells(HTMLParser):
    """The text of a table's cells, and the tags that are open at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_text_and_weights() -> None:
    weights = np.array([[0.9, 0.1, 0], [0.25, 0.5, 0.25]], np.float32)
    shown = Translation("<b> & c", -1.0, ["a<", "&", END_MARK], ["<b>", '"c'], weights)
    cells = Cells()
    cells.feed(shown._repr_html_())
    assert cells.open == []
    assert cells.texts == [
        *("<b> & c", "a<", "&", END_MARK),
        *("<b>", "0.90", "0.10", "0.00", '"c', "0.25", "0.50", "0.25"),
    ]
    turned = Translation("a\xa0b\u202e\x1b", -1.0, ["\u202e", END_MARK], ["c"], weights[:1, :2])
    assert "\u202e" not in turned._repr_html_()
    assert turned._repr_html_().startswith('<p dir="auto">a\xa0b\\u202e\\x1b</p>')
    long = Translation("x", -1.0, ["a"] * 200, ["b"] * 200, np.zeros((200, 200), np.float32))
    assert long._repr_html_() == '<p dir="auto">x</p>'
