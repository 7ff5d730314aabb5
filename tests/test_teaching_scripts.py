"""The scripts of positions and of a sentence's trace: what they draw and print, and refuse."""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from cases_common import TINY, succeed
from matplotlib.image import imread

from rnnsearch.translator import Translator

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
NAMES = ("codes", "codes-small", "hands", "likeness")
LINE = "the dog runs"


@pytest.fixture(scope="module")
def script() -> Iterator[Callable[[str], Any]]:
    """Return what loads a script."""
    sys.path.insert(0, str(SCRIPTS))

    def load(name: str) -> Any:
        spec = importlib.util.spec_from_file_location(f"script_{name}", SCRIPTS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    yield load
    sys.path.remove(str(SCRIPTS))


@pytest.fixture(scope="module")
def pictures(
    script: Callable[[str], Any], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, Path]:
    """Return the script of pictures and a folder of them at small sizes."""
    module = script("position_pictures")
    folder = tmp_path_factory.mktemp("pictures") / "new" / "folder"
    assert module.main([str(folder), "--size", "64", "--length", "40", "--row", "10"]) == 0
    return module, folder


@pytest.fixture(scope="module")
def input_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of one update whose encoder has no recurrence."""
    folder = tmp_path_factory.mktemp("runs") / "input"
    words = [word for word in TINY if word != "model=rnnsearch"]
    succeed("train", *words, "model=transformer_input", "trainer.max_updates=1",
            f"run_dir={folder}")  # fmt: skip
    return folder


def one_line(capsys: pytest.CaptureFixture[str], *words: str) -> None:
    """Hold that there is one line on standard error, with these words, and nothing else."""
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    for word in words:
        assert word in captured.err


def pixels(path: Path) -> np.ndarray:
    return imread(path)[:, :, :3].astype(float)


# Pictures of codes


def test_four_pictures_are_written_twice_each(pictures: tuple[Any, Path]) -> None:
    _, folder = pictures
    expected = sorted(f"{name}.{suffix}" for name in NAMES for suffix in ("png", "svg"))
    assert sorted(path.name for path in folder.iterdir()) == expected
    for name in NAMES:
        picture = pixels(folder / f"{name}.png")
        assert min(picture.shape[:2]) > 300, name
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50, name
        root = ElementTree.parse(folder / f"{name}.svg").getroot()
        assert root.tag.endswith("svg")
        assert len(list(root.iter())) > 50, name


def test_a_cell_of_the_map_has_the_colour_of_its_number(pictures: tuple[Any, Path]) -> None:
    """Red is 1, white 0, blue -1; a column of 64 has 24 pixels, a row of 40 has 16."""
    module, folder = pictures
    picture = pixels(folder / "codes.png")
    left, _, _, above = module.MARGINS

    def cell(position: int, dimension: int) -> np.ndarray:
        return picture[above + 16 * position + 8, left + 24 * dimension + 12]

    white, red, blue = (0.97, 0.97, 0.97), (0.40, 0.0, 0.12), (0.02, 0.19, 0.38)
    np.testing.assert_allclose(cell(0, 0), white, atol=0.02)  # sin 0
    np.testing.assert_allclose(cell(0, 1), red, atol=0.02)  # cos 0
    np.testing.assert_allclose(cell(22, 1), blue, atol=0.02)  # cos 22 = -1.0000
    np.testing.assert_allclose(cell(11, 0), blue, atol=0.02)  # sin 11 = -1.0000
    np.testing.assert_allclose(cell(39, 63), red, atol=0.02)  # the slowest has hardly moved
    np.testing.assert_allclose(cell(39, 62), white, atol=0.03)


def test_hands_slow_down_from_row_to_row(pictures: tuple[Any, Path]) -> None:
    module, _ = pictures
    pairs = module.clock_pairs(512)
    turns = [module.turn(r, 512) for r in pairs]
    assert pairs[0] == 0
    assert pairs[-1] == 255
    assert turns[0] == pytest.approx(6.2832, abs=1e-4)
    assert turns[-1] == pytest.approx(60_611.5, abs=1)  # 2π · 9646.6
    for slower, faster in zip(turns[1:5], turns, strict=False):
        assert slower / faster == pytest.approx(2, rel=0.05)
    assert module.clock_pairs(2) == [0]


def test_a_hand_is_drawn_from_the_middle_to_its_cosine_and_sine(
    pictures: tuple[Any, Path],
) -> None:
    module, _ = pictures
    (axes,) = module.hands_figure(64).axes
    # A clock is two lines, hand and tip; the third line is the hand of position 1 in row 0.
    (x, tip_x), (y, tip_y) = axes.lines[2].get_data()
    assert (x, y) == (1, 0)
    assert (tip_x - 1) / tip_y == pytest.approx(0.6420926)  # cot 1
    assert math.hypot(tip_x - 1, tip_y) == pytest.approx(0.42)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels[0] == "dimensions 0 and 1\none turn in 6.28 positions"


def test_the_curve_is_the_marked_row_and_peaks_there(pictures: tuple[Any, Path]) -> None:
    module, _ = pictures
    left, right = module.likeness_figure(40, 64, 10).axes[:2]
    curve = right.lines[0].get_ydata()
    assert curve[10] == pytest.approx(32)
    assert int(np.argmax(curve)) == 10
    np.testing.assert_allclose(curve[5:10], curve[15:10:-1])  # as far before as after
    np.testing.assert_allclose(left.images[0].get_array()[10], curve)
    assert set(left.lines[0].get_ydata()) == {10}


def test_the_same_command_writes_the_same_bytes(
    pictures: tuple[Any, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module, folder = pictures
    assert module.main([str(tmp_path), "--size", "64", "--length", "40", "--row", "10"]) == 0
    printed = capsys.readouterr().out.split("\n")
    assert [Path(line) for line in printed[:-1]] == [
        tmp_path / f"{name}.{suffix}" for name in NAMES for suffix in ("png", "svg")
    ]
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (folder / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "0"], ("--size", "0 is too small, the least is 2")),
        (["--size", "7"], ("--size", "7 is odd")),
        (["--size", "x"], ("--size", "whole number", "'x'")),
        (["--length", "1"], ("--length", "1 is too small, the least is 2")),
        (["--length", "9", "--row", "9"], ("--row", "9 is not below --length 9")),
        (["--colour", "red"], ("--colour",)),
    ],
)
def test_pictures_that_cannot_be_are_refused(
    arguments: list[str], words: tuple[str, ...], pictures: tuple[Any, Path], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    module, _ = pictures
    assert module.main([str(tmp_path / "a"), *arguments]) == 2
    one_line(capsys, "position_pictures: ", *words)
    assert not (tmp_path / "a").exists()


def test_a_folder_that_cannot_be_made_is_refused(
    pictures: tuple[Any, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    module, _ = pictures
    assert module.main([str(tmp_path / "file" / "folder")]) == 2
    one_line(capsys, "position_pictures: ", str(tmp_path / "file"), "cannot be written")


# The trace


def stages(text: str) -> dict[str, list[str]]:
    """Return the lines of each stage of a trace by its title."""
    blocks = [block.split("\n") for block in text.removesuffix("\n").split("\n\n")]
    return {title.partition(". ")[2]: lines for title, *lines in blocks}


def numbers(line: str) -> list[float]:
    """Return the numbers of a row, whose name has two words."""
    return [float(word) for word in line.split()[2:] if word != "…"]


def test_the_stages_of_a_model_that_reads_in_order(
    one_run: Path, script: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert script("trace_sentence").main([str(one_run), LINE]) == 0
    found = stages(capsys.readouterr().out)
    translator = Translator.load(one_run, device="cpu")
    ids = [*translator.source_tokenizer.encode(LINE), 2]
    pieces = [*translator.source_tokenizer.split(LINE), "</s>"]
    n = len(ids)
    titles = list(found)
    assert titles[:8] == [
        "text", f"pieces, {n}", f"ids (1, {n})", f"X = T E (1, {n}, 16)", "no P and no Z",
        f"annotations h (1, {n}, 64)", "first decoder state s_0 (1, 32)",
        "greedy steps, the first 6",
    ]  # fmt: skip
    assert found["text"][-1].strip() == LINE
    assert found[f"pieces, {n}"][-1].split() == pieces
    assert [int(word) for word in found[f"ids (1, {n})"][-1].split()] == ids
    assert any("There is no P" in line for line in found["no P and no Z"])

    row = translator.model.encoder.embedding.weight[ids[0]]
    shown = found[f"X = T E (1, {n}, 16)"]
    assert len(shown) == 1 + 8 + 1  # what it is, eight rows, and that there are more
    assert shown[1].split()[:2] == ["0", pieces[0]]
    np.testing.assert_allclose(numbers(shown[1]), row[:6].tolist(), atol=5.1e-5)
    assert shown[1].endswith("…")
    assert shown[9].strip() == "…"


def test_the_steps_are_those_of_greedy_search(
    one_run: Path, script: Callable[[str], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """TINY decodes with a beam of 1."""
    module = script("trace_sentence")
    translator = Translator.load(one_run, device="cpu")
    (translation,) = translator.translate([LINE])
    found = module.trace(translator, LINE)
    assert [step.piece for step in found.steps] == translation.target_pieces[: module.STEPS]
    assert translation.alignment is not None
    for step, weights in zip(found.steps, translation.alignment, strict=False):
        np.testing.assert_allclose(step.alpha, weights, atol=1e-5)
        assert 0 < step.probability < 1
    assert module.main([str(one_run), LINE]) == 0
    title, lines = list(stages(capsys.readouterr().out).items())[-1]
    assert title == f"attention weights alpha (6, {len(found.ids)})"
    assert len(lines) == 7


def test_the_input_of_a_model_with_positions(
    input_run: Path, script: Callable[[str], Any], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    output, plots = tmp_path / "trace.md", tmp_path / "plots"
    arguments = [str(input_run), LINE, "--output", str(output), "--plots", str(plots)]
    assert script("trace_sentence").main(arguments) == 0
    captured = capsys.readouterr()
    found = stages(captured.out)
    n = len(Translator.load(input_run, device="cpu").source_tokenizer.encode(LINE)) + 1
    assert list(found)[3:6] == [
        f"X = T E (1, {n}, 16)",
        f"P ({n}, 16)",
        f"Z = c X + P (1, {n}, 16)",
    ]
    X, P, Z = ([numbers(line) for line in found[title][1:9]] for title in list(found)[3:6])
    assert "c = 4:" in found[f"Z = c X + P (1, {n}, 16)"][0]  # √16
    np.testing.assert_allclose(Z, 4 * np.array(X) + P, atol=3e-4)
    assert P[0] == [0, 1, 0, 1, 0, 1]
    assert P[1][:2] == [0.8415, 0.5403]
    assert "no P" not in captured.out

    written = output.read_text(encoding="utf-8")
    for title, lines in found.items():
        assert f". {title}\n" in written
        assert all(line in written for line in lines)
    assert written.startswith("# ")
    picture = pixels(plots / "input.png")
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
    ElementTree.parse(plots / "input.svg")
    assert captured.err.split("\n")[:-1] == [
        f"written: {plots / 'input.png'}", f"written: {plots / 'input.svg'}",
    ]  # fmt: skip


def test_the_picture_has_three_maps_whose_third_is_the_sum_of_the_others(
    input_run: Path, script: Callable[[str], Any]
) -> None:
    module = script("trace_sentence")
    found = module.trace(Translator.load(input_run, device="cpu"), LINE)
    maps = [axes.images[0] for axes in module.input_figure(found).axes[:3]]
    scaled, codes, total = (np.asarray(image.get_array()) for image in maps)
    np.testing.assert_allclose(scaled + codes, total, atol=1e-6)
    np.testing.assert_allclose(scaled, 4 * found.X[0], atol=1e-6)
    assert len({image.get_clim() for image in maps}) == 1


def test_a_model_without_positions_has_a_picture_of_its_embeddings(
    one_run: Path, script: Callable[[str], Any], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert (
        script("trace_sentence").main([str(one_run), "$x$ 猫 \\a", "--plots", str(tmp_path)]) == 0
    )
    assert "written" in capsys.readouterr().err
    assert min(pixels(tmp_path / "input.png").shape[:2]) > 300


@pytest.fixture
def telling(script: Callable[[str], Any]) -> Any:
    """Return the module that tells a trace; the scripts' folder is on the path."""
    return importlib.import_module("teaching.stages")


def test_names_of_any_letters_take_one_width(telling: Any) -> None:
    assert telling.aligned(["猫", "abc", "\t"]) == ["猫 ", "abc", "\\t "]


def test_an_excerpt_says_where_it_was_cut(telling: Any) -> None:
    excerpt = telling.excerpt
    whole = torch.tensor([[0.12345, -1.0], [2.0, 0.0]])
    assert excerpt(whole, ["a", "bc"]) == ["a    0.1235  -1.0000", "bc   2.0000   0.0000"]
    wide = torch.zeros(9, 7)
    lines = excerpt(wide, ["x"] * 9)
    assert lines[0] == "x" + "   0.0000" * 6 + "  …"
    assert lines[-1] == "…"
    assert len(lines) == 9


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["  "], ("SENTENCE", "blank")),
        (["a\nb"], ("SENTENCE", "one line")),
        ([LINE, "--checkpoint", "step-99"], ("checkpoint=step-99",)),
        ([LINE, "--output", "/dev/null/trace.md"], ("--output /dev/null/trace.md",)),
        ([LINE, "--steps"], ("--steps",)),
    ],
)
def test_what_cannot_be_traced_is_refused(
    arguments: list[str], words: tuple[str, ...], one_run: Path, script: Callable[[str], Any],
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    assert script("trace_sentence").main([str(one_run), *arguments]) == 2
    one_line(capsys, "trace: ", *words)


def test_a_folder_without_a_run_is_refused(
    script: Callable[[str], Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script("trace_sentence").main([str(tmp_path)]) == 2
    one_line(capsys, "trace: ", str(tmp_path), "holds no run")
