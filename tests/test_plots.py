import itertools
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.image import imread

from rnnsearch import figures, plots
from rnnsearch.plots import draw_alignment, draw_by_length, draw_curves, draw_sheet
from rnnsearch.translation import Translation

CASES = Path(__file__).parent / "cases"


def draw(path: Path, source, target, weights=None, title="") -> np.ndarray:
    """Draw and return the pixels: rows from the top, red, green and blue of 0 to 1."""
    if weights is None:
        weights = np.full((len(target), len(source)), 1 / max(1, len(source)), dtype=np.float32)
    draw_alignment(path, source_pieces=source, target_pieces=target, weights=weights, title=title)
    return imread(path)[:, :, :3]


def cell(picture: np.ndarray, row: int, column: int, rows: int, columns: int) -> list[float]:
    """Return the colour in the middle of a cell; the grid ends at the lower right corner."""
    y = picture.shape[0] - figures.GAP - (rows - row) * figures.CELL + figures.CELL // 2
    x = picture.shape[1] - figures.GAP - (columns - column) * figures.CELL + figures.CELL // 2
    return [round(float(value), 2) for value in picture[y, x]]


def test_weights_are_shades_of_gray_with_the_target_down_the_side(tmp_path):
    weights = np.array([[0.0, 0.2, 0.8], [1.0, 0.0, 0.0]])
    picture = draw(tmp_path / "new" / "folder" / "1.png", ["a", "b", "c"], ["x", "y"], weights)
    shades = [[cell(picture, row, column, 2, 3) for column in range(3)] for row in range(2)]
    assert shades == [[[w] * 3 for w in row] for row in [[0.0, 0.2, 0.8], [1.0, 0.0, 0.0]]]


@pytest.mark.parametrize(
    "line", [line for line in (CASES / "plot.src").read_bytes().decode().split("\n") if line]
)
def test_any_text_is_drawn_without_a_word(line, tmp_path, capfd):
    pieces = [f"▁{word}" for word in line.split(" ")]
    picture = draw(tmp_path / "1.png", pieces, pieces, title=line)
    assert picture.shape[0] > figures.CELL * len(pieces)
    assert capfd.readouterr() == ("", "")
    assert [entry.name for entry in tmp_path.iterdir()] == ["1.png"]


@pytest.mark.parametrize("text", ["$aaaa$", "$\\frac{1}{2}$", "\\$aaaa", "aaaa$$"])
def test_dollars_and_backslashes_take_the_room_of_letters(text, tmp_path):
    literal = draw(tmp_path / "1.png", ["a"], [text])
    plain = draw(tmp_path / "2.png", ["a"], [text.replace("$", "").replace("\\", "")])
    assert literal.shape[1] > plain.shape[1]


def test_a_user_setting_for_latex_changes_nothing(tmp_path):
    with matplotlib.rc_context({"text.usetex": True}):
        draw(tmp_path / "1.png", ["$x"], ["50 %"], title="a_b")
    draw(tmp_path / "2.png", ["$x"], ["50 %"], title="a_b")
    assert (tmp_path / "1.png").read_bytes() == (tmp_path / "2.png").read_bytes()


@pytest.mark.parametrize("text", ["\n", "\t", "\x00", "\u2028", "\ud800", "\u202e"])
def test_what_cannot_be_printed_is_escaped(text, tmp_path):
    draw(tmp_path / "1.png", [text], ["x"])
    draw(tmp_path / "2.png", [text.encode("unicode_escape").decode()], ["x"])
    assert (tmp_path / "1.png").read_bytes() == (tmp_path / "2.png").read_bytes()


def test_right_to_left_text_and_a_lone_word_mark_are_drawn(tmp_path, capfd):
    draw(tmp_path / "1.png", ["אב", "▁", ""], ["مرحبا", "</s>"])
    assert capfd.readouterr() == ("", "")


def test_one_cell_is_small_and_size_grows_by_the_cell(tmp_path):
    one = draw(tmp_path / "1.png", ["a"], ["a"])
    many = draw(tmp_path / "2.png", ["a"] * 30, ["a"] * 20)
    assert max(one.shape) < 100
    assert many.shape[0] - one.shape[0] == pytest.approx(19 * figures.CELL, abs=1)
    assert many.shape[1] - one.shape[1] == pytest.approx(29 * figures.CELL, abs=1)


def test_labels_titles_and_pictures_have_a_largest_size(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "MAX_CELLS", 10)
    full = draw(tmp_path / "1.png", ["a"] * 10, ["b"] * 10)
    wide = draw(tmp_path / "2.png", ["a"] * 5000, ["b"] * 11)
    assert wide.shape == full.shape
    long = draw(tmp_path / "3.png", ["a" * 20_000], ["b" * 20_000], title="c" * 20_000)
    assert max(long.shape) < 2000


def test_a_peak_survives_the_largest_size(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "MAX_CELLS", 4)
    weights = np.zeros((4, 4000))
    weights[1, 1999] = 1
    picture = draw(tmp_path / "1.png", ["a"] * 4000, ["b"] * 4, weights)
    height, width = picture.shape[:2]
    row = picture[
        height - figures.GAP - 2 * figures.CELL - figures.CELL // 2, width - 4 * figures.CELL :
    ]
    assert row[: 3 * figures.CELL].max() == 1


def test_a_translation_without_pieces_is_drawn(tmp_path):
    assert draw(tmp_path / "1.png", ["a", "</s>"], []).size


def test_what_is_not_a_number_shows(tmp_path):
    picture = draw(tmp_path / "1.png", ["a", "b"], ["x"], np.array([[np.nan, 1.0]]))
    red, green, blue = cell(picture, 0, 0, 1, 2)
    assert red > 0.8 > 0.3 > max(green, blue)


def test_weights_of_another_shape_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"weights of shape \(1, 2\) .* \(2, 1\)"):
        draw(tmp_path / "1.png", ["a"], ["x", "y"], np.zeros((1, 2)))


def test_no_window_system_is_touched(tmp_path):
    code = (
        "import sys, numpy, pathlib, rnnsearch.plots as p;"
        "p.draw_alignment(pathlib.Path(sys.argv[1]), source_pieces=['a'], target_pieces=['b'],"
        " weights=numpy.ones((1, 1)));"
        "print('matplotlib.pyplot' in sys.modules, 'torch' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "1.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def write_records(run_dir: Path, *records: object, end: bytes = b"") -> Path:
    run_dir.mkdir(parents=True)
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (run_dir / "metrics.jsonl").write_bytes(lines.encode() + end)
    return run_dir


def train(update: int, loss: float = 5.0) -> dict[str, object]:
    return {
        "kind": "train",
        "update": update,
        "loss": loss,
        "learning_rate": 0.01,
        "tokens_per_second": 900.0,
    }


def validation(update: int, bleu: float) -> dict[str, object]:
    return {"kind": "validation", "update": update, "loss": 4.0, "bleu": bleu, "best": True}


def test_curves_are_drawn_into_the_run_folder(tmp_path):
    run = write_records(tmp_path / "a", *map(train, range(10, 900, 10)), validation(50, 12.5))
    path = draw_curves(run)
    assert path == run / "plots" / "training.png"
    shape = imread(path).shape
    assert shape[0] > 500
    assert shape[1] > 500


def test_records_that_a_kill_left_behind_change_nothing(tmp_path):
    clean = write_records(tmp_path / "a", train(10), train(20, 4.0), validation(20, 3.0))
    odd = write_records(
        tmp_path / "b",
        train(10),
        train(20, 9.9),  # lost by a kill, then done again
        train(20, 4.0),
        {"kind": "train", "update": 30, "loss": None},
        {"kind": "train", "update": 40, "loss": float("nan"), "learning_rate": "fast"},
        {"kind": "train", "loss": 1.0},
        {"kind": "other", "update": 50},
        {"update": 60, "loss": 1.0},
        [1, 2],
        validation(20, 3.0),
        end='{"kind": "train", "update": 70, "loss": 1, "é'.encode()[:-1],
    )
    pictures = [draw_curves(run) for run in (clean, odd)]
    assert pictures[0].read_bytes() == pictures[1].read_bytes()


@pytest.mark.parametrize("records", [[train(10)], [validation(10, 0.0)], [train(0), train(1)]])
def test_a_run_without_one_kind_of_record_is_drawn(records, tmp_path, capfd):
    assert draw_curves(write_records(tmp_path / "a", *records)).exists()
    assert capfd.readouterr() == ("", "")


def test_nothing_to_draw_gives_no_picture(tmp_path):
    assert draw_curves(tmp_path) is None
    assert draw_curves(write_records(tmp_path / "a")) is None
    assert draw_curves(write_records(tmp_path / "b", {"kind": "train"}, end=b"\xff")) is None
    assert not (tmp_path / "b" / "plots").exists()


def test_bleu_by_length_is_drawn_a_line_a_run(tmp_path):
    bins = [{"from": 1, "to": 10, "sentences": 5, "bleu": 30.0},
            {"from": 11, "to": 20, "sentences": 2, "bleu": 10.0},
            {"from": 21, "to": 30, "sentences": 0, "bleu": None}]  # fmt: skip
    one, two = tmp_path / "a" / "1.png", tmp_path / "2.png"
    draw_by_length(one, [("runs/$x_1", bins)])
    draw_by_length(two, [("runs/$x_1", bins), ("other", bins[:1]), ("b", [])])
    pictures = [imread(path) for path in (one, two)]
    assert pictures[0].shape == pictures[1].shape
    assert not np.array_equal(*pictures)
    # The line falls: its dots on the left stand higher than those on the right.
    blue = (pictures[0][..., 2] > 0.6) & (pictures[0][..., 0] < 0.3)
    rows, columns = blue.nonzero()
    middle = columns.mean()
    assert rows[columns < middle].mean() < rows[columns > middle].mean()


# --- SVG


def texts(path: Path) -> list[str]:
    """Return what an SVG says, once it has been read as XML."""
    root = ElementTree.fromstring(path.read_bytes())
    return [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def draw_svg(path: Path, source, target, title="") -> list[str]:
    weights = np.full((len(target), len(source)), 1 / max(1, len(source)), dtype=np.float32)
    draw_alignment(path, source_pieces=source, target_pieces=target, weights=weights, title=title)
    return texts(path)


def test_an_svg_says_its_labels_as_text(tmp_path, capfd):
    source = ["▁The", "$5$", r"\frac{1}{2}", "%s", "<b>&amp;", '"', "'", "-->", "]]>", "</s>"]
    target = ["▁Le", "猫", "😀", "แมว", "שלום", "مرحبا", "${HOME}"]
    labels = ["␣The", *source[1:], "␣Le", *target[1:], "a & b"]  # the sign of a blank, not a bar
    assert draw_svg(tmp_path / "new" / "1.svg", source, target, "a & b") == labels
    assert capfd.readouterr() == ("", "")
    assert [entry.name for entry in (tmp_path / "new").iterdir()] == ["1.svg"]


@pytest.mark.parametrize(
    "text", ["\x00", "\x1b[31m", "\x0b", "\x85", "\ud800", "\ufffe", "\uffff", "\u202e", "\n", "\t"]
)
def test_what_xml_cannot_hold_is_escaped(text, tmp_path):
    escaped = "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode() for c in f"a{text}b"
    )
    assert draw_svg(tmp_path / "1.svg", [f"a{text}b"], [text]) == [escaped, escaped[1:-1]]


@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
def test_any_text_makes_a_valid_svg(tmp_path, pieces):
    assert len(draw_svg(tmp_path / "1.svg", pieces, ["y"])) >= 1


def test_labels_of_an_svg_are_cut_like_those_of_a_png(tmp_path):
    (label, other) = draw_svg(tmp_path / "1.svg", ["a" * 500], ["y"])
    assert label == "a" * (figures.MAX_LABEL - 1) + "…"
    assert other == "y"


def test_an_svg_is_the_same_each_time_whatever_the_user_has_set(tmp_path):
    draw_svg(tmp_path / "1.svg", ["$x", "b"], ["50 %"], "a_b")
    rules = {
        "svg.fonttype": "path", "svg.hashsalt": None, "text.usetex": True, "font.size": 30,
        "font.sans-serif": ["Arial"], "svg.image_inline": False,
    }  # fmt: skip
    with matplotlib.rc_context(rules):
        draw_svg(tmp_path / "2.svg", ["$x", "b"], ["50 %"], "a_b")
    content = (tmp_path / "1.svg").read_bytes()
    assert content == (tmp_path / "2.svg").read_bytes()
    assert b"date" not in content.lower()
    assert b"sans-serif" in content
    assert str(tmp_path).encode() not in content


def test_an_svg_has_the_size_of_the_png(tmp_path):
    picture = draw(tmp_path / "1.png", ["a"] * 30, ["b"] * 20)
    draw_svg(tmp_path / "1.svg", ["a"] * 30, ["b"] * 20)
    root = ElementTree.fromstring((tmp_path / "1.svg").read_bytes())
    inches = [float(root.get(side).removesuffix("pt")) / 72 for side in ("height", "width")]
    assert [inch * figures.DPI for inch in inches] == pytest.approx(picture.shape[:2], abs=1)


# --- several sentences on one page


def translation(rows: int, columns: int, label: str = "a") -> Translation:
    weights = np.eye(rows, columns, dtype=np.float32)
    return Translation("", 0.0, [label] * columns, [label] * rows, weights)


@pytest.mark.parametrize("suffix", [".png", ".svg"])
@pytest.mark.parametrize("count", [1, 8])
def test_a_sheet_shows_every_sentence_with_its_number(count, suffix, tmp_path, capfd):
    sizes = [(3, 5), (20, 4), (1, 1), (6, 6), (2, 30), (12, 12), (4, 3), (5, 5)]
    numbers = [7 * i + 2 for i in range(count)]
    path = tmp_path / "new" / f"sheet{suffix}"
    made = {n: translation(*size) for n, size in zip(numbers, sizes, strict=False)}
    draw_sheet(path, made)
    draw_sheet(tmp_path / f"again{suffix}", made)
    assert path.read_bytes() == (tmp_path / f"again{suffix}").read_bytes()
    assert capfd.readouterr() == ("", "")
    if suffix == ".svg":
        said = texts(path)
        assert [text for text in said if text.isdecimal()] == [str(number) for number in numbers]
        assert said.count("a") == sum(sum(size) for size in sizes[:count])
        content = path.read_text()
        assert content.count("<image") == count
    else:
        # Each square of n cells has n white ones.
        pixels = figures.CELL**2 * sum(min(size) for size in sizes[:count])
        dark = imread(path)[:, :, :3].max(axis=2) < 0.05
        cells = figures.CELL**2 * sum(a * b for a, b in sizes[:count])
        assert dark.sum() == pytest.approx(cells - pixels, rel=0.1)


def test_the_sentences_of_a_sheet_do_not_overlap(tmp_path):
    sizes = [(3, 5), (20, 4), (1, 1), (6, 6), (2, 30), (12, 12), (4, 3), (5, 5), (9, 1)]
    draw_sheet(tmp_path / "1.svg", {i: translation(*size) for i, size in enumerate(sizes)})
    root = ElementTree.fromstring((tmp_path / "1.svg").read_bytes())
    places = []
    for image in root.iter("{http://www.w3.org/2000/svg}image"):
        a, _, _, d, x, y = map(float, image.get("transform")[7:-1].split())
        places.append((x, y, x + a * int(image.get("width")), y + d * int(image.get("height"))))
    assert len(places) == len(sizes)
    width, height = (float(root.get(side).removesuffix("pt")) for side in ("width", "height"))
    for one in places:
        assert 0 <= one[0] < one[2] <= width
        assert 0 <= one[1] < one[3] <= height
    for one, other in itertools.combinations(places, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1]
        assert apart or other[3] <= one[1]


def test_a_sheet_has_a_largest_size(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "SHEET_CELLS", 20)
    draw_sheet(tmp_path / "1.png", {i: translation(400, 300, "b" * 900) for i in range(4)})
    assert max(imread(tmp_path / "1.png").shape) < 2000
