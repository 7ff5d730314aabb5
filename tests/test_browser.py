"""The HTML pages in a real browser: pointing, touching, keys, what is read out, light and dark.

The figures that the page has to show are taken from the data in it, which `test_report.py` compares
with the translator.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cases_common import IN, QUICK, lines_of, succeed
from chromium import INSTALL, Browser, Page, browser, executable

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(executable() is None, reason=INSTALL),
]

SIDES = ("source", "target")
TOKEN = ".explorer[open] [data-side={side}] .token:nth-child({number})"

# Of an explorer that is open: tokens, their weights and shades, the live text, what has the focus.
STATE = """(() => {
  const place = document.querySelector(".explorer[open]");
  const row = (side) => [...place.querySelectorAll(`[data-side=${side}] .token`)].map((one) => ({
    text: one.firstChild.textContent, weight: one.querySelector(".weight").textContent,
    pressed: one.getAttribute("aria-pressed"), stop: one.tabIndex,
    shade: (([, , , alpha = 1]) => Number(alpha))(
      getComputedStyle(one).backgroundColor.match(/[\\d.]+/g)),
    focus: one === document.activeElement,
  }));
  return {key: place.dataset.key, source: row("source"), target: row("target"),
    told: place.querySelector(".looks").textContent,
    views: [...place.querySelectorAll(".views button")].map(
      (one) => [one.textContent, one.getAttribute("aria-pressed")])};
})()"""

# Every text that can be seen, with its contrast: the colours of all that lies behind are mixed.
CONTRAST = """(() => {
  const probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const parse = (color) => {
    probe.clearRect(0, 0, 1, 1); probe.fillStyle = color; probe.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((c, i) => c * top[3] + below[i] * (1 - top[3]));
  const light = (c) => {
    const [r, g, b] = c.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92
      : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (one) => {
    if (!one) return [255, 255, 255];
    const color = parse(getComputedStyle(one).backgroundColor);
    return color[3] === 1 ? color.slice(0, 3) : over(color, behind(one.parentElement));
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const one = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !one.checkVisibility()) continue;
    if (one.closest("script, noscript, title, .unseen")) continue;
    const style = getComputedStyle(one);
    const below = behind(one);
    const color = over(parse(one.closest("svg") ? style.fill : style.color), below);
    const [dark, bright] = [light(color), light(below)].sort((a, b) => a - b);
    found.push([(bright + 0.05) / (dark + 0.05), walker.currentNode.data.trim().slice(0, 40)]);
  }
  return found;
})()"""

TARGETS = """[...document.querySelectorAll("button, summary, a:not(.skip), [tabindex='0']")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one.getBoundingClientRect(), one.textContent])
  .map(([box, text]) => [box.width, box.height, box.right, text])"""


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two runs that were compared on a few sentences."""
    folder = tmp_path_factory.mktemp("compared")
    for name in ("first", "second"):
        words = (*QUICK, f"seed={len(name)}", "trainer.max_updates=30", "trainer.valid_every=15")
        succeed("train", *words, f"run_dir={folder / name}")
    (folder / "few.en").write_text("".join(f"{line}\n" for line in lines_of(IN / "tiny.en")))
    (folder / "few.fr").write_text("".join(f"{line}\n" for line in lines_of(IN / "tiny.fr")))
    files = (f"data.test.source={folder}/few.en", f"data.test.target={folder}/few.fr")
    both = f"run_dir=[{folder / 'first'},{folder / 'second'}]"
    succeed("evaluate", both, *files, "bootstrap=20", "ter=false")
    return folder / "first", folder / "second"


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Run a browser for all tests."""
    with browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def page(chromium: Browser, runs: tuple[Path, Path]) -> Iterator[Page]:
    """Open the page of the first run; hold in the end that nothing went wrong or out."""
    opened = chromium.page()
    opened.resize(1200, 900)
    opened.scheme("light")
    opened.open(runs[0] / "report.html")
    yield opened
    assert opened.problems == []
    assert opened.requests
    assert all(url.startswith("file://") and url.endswith(".html") for url in opened.requests)


def state(page: Page) -> dict[str, Any]:
    """Return what the open explorer shows."""
    found: dict[str, Any] = page.run(STATE)
    return found


def sentence(page: Page) -> dict[str, Any]:
    """Return the data of the open explorer."""
    data: dict[str, Any] = json.loads(page.run("document.getElementById('data').textContent"))
    found: dict[str, Any] = data["sentences"][state(page)["key"]]
    return found


def check(page: Page, side: str, number: int, *, view: str = "words") -> None:
    """Hold that the explorer shows the weights of a token, in numbers, shades and words."""
    now, data = state(page), sentence(page)[view]
    other = SIDES[1 - SIDES.index(side)]
    weights = data["weights"]
    row = weights[number] if side == "target" else [line[number] for line in weights]
    assert [one["pressed"] for one in now[side]] == [
        str(i == number).lower() for i in range(len(now[side]))
    ]
    assert all(one["weight"] == "" for one in now[side])
    assert len(now[other]) == len(row)
    for one, weight in zip(now[other], row, strict=True):
        if weight < 5:
            assert one["weight"] == ""
        else:
            assert float(one["weight"]) == pytest.approx(weight / 1000, abs=0.0051)
        assert one["shade"] == pytest.approx(weight / 1000, abs=0.006)  # 255 steps
    verb = " looks at: " if side == "target" else " is looked at by: "
    name, told = now["told"].split(verb)
    assert name == data[side][number].lstrip("▁") or view == "pieces"
    if (most := max(row)) >= 5:
        strongest = data[other][row.index(most)].lstrip("▁")
        strongest = {"</s>": "end of the sentence", "": "word boundary"}.get(strongest, strongest)
        assert told.startswith(f"{strongest} ")
        assert float(told.removeprefix(strongest).split(",")[0]) == pytest.approx(
            most / 1000, abs=0.0051
        )


def tokens(page: Page, side: str) -> int:
    return len(state(page)[side])


# --- the explorer


def test_pointing_shows_the_weights_in_both_directions(page: Page) -> None:
    assert page.run("document.querySelectorAll('.explorer[open]').length") == 1
    for side in ("target", "source"):
        for number in range(tokens(page, side)):
            page.hover(TOKEN.format(side=side, number=number + 1))
            check(page, side, number)


def test_a_click_and_a_touch_choose(page: Page) -> None:
    page.click(TOKEN.format(side="target", number=1))
    check(page, "target", 0)
    page.resize(390, 844, phone=True)
    page.tap(TOKEN.format(side="source", number=1))
    check(page, "source", 0)


def test_keys_alone_are_enough(page: Page) -> None:
    for _ in range(200):
        page.press("Tab")
        if page.run("document.activeElement.matches('.token')"):
            break
    now = state(page)
    assert now["source"][0]["focus"]
    check(page, "source", 0)
    outline = page.run("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.press("Tab")  # one stop a row
    assert state(page)["target"][0]["focus"]
    check(page, "target", 0)
    page.press("End")
    last = tokens(page, "target") - 1
    check(page, "target", last)
    page.press("ArrowRight")
    check(page, "target", last)
    for number in reversed(range(last)):
        page.press("ArrowLeft")
        check(page, "target", number)
    page.press("ArrowUp")  # to the source token with the largest weight
    row = sentence(page)["words"]["weights"][0]
    partner = row.index(max(row))
    assert state(page)["source"][partner]["focus"]
    check(page, "source", partner)
    page.press("Home")
    check(page, "source", 0)
    page.press("Escape")
    now = state(page)
    assert "Choose a word" in now["told"]
    assert all(one["weight"] == "" and one["shade"] == 0 for side in SIDES for one in now[side])


def test_the_arrows_follow_the_direction_of_the_text(page: Page) -> None:
    page.run("document.querySelector('.explorer[open] [data-side=source]').dir = 'rtl'")
    page.click(TOKEN.format(side="source", number=1))
    page.press("ArrowLeft")
    check(page, "source", 1)
    page.press("ArrowRight")
    check(page, "source", 0)


def test_the_switch_changes_all_explorers(page: Page) -> None:
    page.run("document.querySelectorAll('.explorer')[1].open = true")
    page.run("new Promise((done) => setTimeout(done, 50))")
    assert state(page)["views"] == [["Words", "true"], ["Pieces", "false"]]
    page.click(".explorer[open] .views button:nth-child(2)")
    assert state(page)["views"] == [["Words", "false"], ["Pieces", "true"]]
    pieces = sentence(page)["pieces"]
    for side in SIDES:
        assert tokens(page, side) == len(pieces[side])
        for number in (0, tokens(page, side) - 1):
            page.hover(TOKEN.format(side=side, number=number + 1))
            check(page, side, number, view="pieces")
    toolbars = page.run(
        "[...document.querySelectorAll('[role=toolbar]')].map((e) => e.getAttribute('aria-label'))"
    )
    assert toolbars == ["Source pieces", "Output pieces"] * 2
    page.click(".explorer[open] .views button:nth-child(1)")
    page.click(TOKEN.format(side="target", number=1))
    check(page, "target", 0)


def test_every_explorer_opens(page: Page) -> None:
    count = page.run("document.querySelectorAll('.explorer').length")
    assert count >= 6
    page.run("document.querySelectorAll('.explorer').forEach((one) => { one.open = true; })")
    page.run("new Promise((done) => setTimeout(done, 100))")
    assert page.run("document.querySelectorAll('.explorer .looks').length") == count


# --- how it looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast(scheme: str, chromium: Browser, runs: tuple[Path, Path]) -> None:
    page = chromium.page()
    page.resize(1200, 900)
    page.scheme(scheme)
    for name in ("report.html", "evaluations/few/comparison.html"):
        page.open(runs[0] / name)
        page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.run("new Promise((done) => setTimeout(done, 100))")
        page.hover(TOKEN.format(side="target", number=1))
        # Shades of every strength, whatever the weights of this model are.
        page.run(
            "document.querySelectorAll('.explorer[open] .token').forEach((one, i) => {"
            "one.style.setProperty('--weight', (i % 11) / 10);"
            "one.lastChild.textContent = '0.50'; })"
        )
        found = page.run(CONTRAST)
        assert len(found) > 100
        poor = [(round(contrast, 2), text) for contrast, text in found if contrast < 4.5]
        assert poor == []
    ground = page.run("getComputedStyle(document.body).backgroundColor")
    dark = sum(map(int, ground.removeprefix("rgb(").removesuffix(")").split(","))) < 380
    assert dark is (scheme == "dark")
    assert page.problems == []


@pytest.mark.parametrize("name", ["report.html", "evaluations/few/comparison.html"])
def test_a_phone_shows_it_without_sideways_scrolling(
    name: str, chromium: Browser, runs: tuple[Path, Path]
) -> None:
    page = chromium.page()
    page.resize(390, 844, phone=True)
    page.open(runs[0] / name)
    page.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.run("new Promise((done) => setTimeout(done, 100))")
    assert page.run("[document.documentElement.scrollWidth, innerWidth]") == [390, 390]
    found = page.run(TARGETS)
    assert len(found) > 20
    small = [one for one in found if min(one[:2]) < 32]
    assert small == []
    assert all(right <= 390 for _, _, right, _ in found)
    assert page.problems == []


def test_a_very_long_word_breaks(
    chromium: Browser, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    long = "x" * 3000
    source = (runs[0] / "report.html").read_text(encoding="utf-8")
    first = lines_of(IN / "tiny.en")[0]
    assert f">{first}<" in source
    (tmp_path / "long.html").write_text(source.replace(f">{first}<", f">{long}<"), encoding="utf-8")
    page = chromium.page()
    page.resize(390, 844, phone=True)
    page.open(tmp_path / "long.html")
    assert page.run("document.documentElement.scrollWidth") == 390


# --- without eyes, without scripts


def names_of(page: Page, role: str) -> list[str]:
    """Return the names that a screen reader has for the elements of a role."""
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    return [
        node.get("name", {}).get("value", "")
        for node in nodes
        if node.get("role", {}).get("value") == role and not node.get("ignored")
    ]


def test_a_screen_reader_has_names_for_everything(page: Page) -> None:
    page.click(".explorer[open] .views button:nth-child(2)")
    page.click(TOKEN.format(side="target", number=1))
    buttons = names_of(page, "button")
    assert len(buttons) >= 2 + sum(tokens(page, side) for side in SIDES)
    assert all(name.strip() for name in buttons)
    assert not any("▁" in name or "</s>" in name for name in buttons)
    assert any(name.startswith("end of the sentence") for name in buttons)
    assert names_of(page, "toolbar") == ["Source pieces", "Output pieces"]
    pictures = [name for role in ("image", "img") for name in names_of(page, role)]
    assert len(pictures) == 5
    assert all("from" in name or "BLEU" in name for name in pictures)
    assert {"Scores", "Training", "Translations"} <= {*names_of(page, "heading")}
    assert len(names_of(page, "navigation")) == len(names_of(page, "main")) == 1
    live = page.run("document.querySelector('.looks').getAttribute('aria-live')")
    assert live == "polite"
    languages = page.run(
        "[...document.querySelectorAll('.tokens')].map((one) => [one.lang, one.dir])"
    )
    assert languages == [["en", "auto"], ["fr", "auto"]]


def test_without_scripts_all_but_the_explorer_is_there(
    chromium: Browser, runs: tuple[Path, Path]
) -> None:
    page = chromium.page()
    page.resize(1200, 900)
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    page.open(runs[0] / "report.html")
    text = " ".join(names_of(page, "StaticText"))
    assert "The explorer needs JavaScript" in text
    assert "Where the model looked" not in text
    hypotheses = [line for line in lines_of(runs[0] / "hypotheses.txt") if line]
    assert hypotheses
    for line in (*lines_of(IN / "tiny.en"), *hypotheses):
        assert all(word in text for word in line.split())
    assert page.problems == []


def test_with_scripts_nothing_is_said_of_them(page: Page) -> None:
    assert "needs JavaScript" not in " ".join(names_of(page, "StaticText"))


# --- several runs


def test_each_run_of_a_comparison_has_its_explorers(
    chromium: Browser, runs: tuple[Path, Path]
) -> None:
    page = chromium.page()
    page.resize(1200, 900)
    page.open(runs[0] / "evaluations/few/comparison.html")
    keys = page.run("[...document.querySelectorAll('.explorer')].map((one) => one.dataset.key)")
    assert {key[-1] for key in keys} == {"0", "1"}
    for key in keys[:2]:
        page.run(
            "document.querySelectorAll('.explorer').forEach((one) => {"
            f"one.open = one.dataset.key === {json.dumps(key)}; }})"
        )
        page.run("new Promise((done) => setTimeout(done, 100))")
        assert state(page)["key"] == key
        page.click(TOKEN.format(side="target", number=1))
        check(page, "target", 0)
    assert page.problems == []
