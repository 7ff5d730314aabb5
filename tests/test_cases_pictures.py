"""Case F: pictures show the text literally and never stop a translation."""

import errno
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from cases_common import IN, lines_of, succeed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from matplotlib.image import imread

from rnnsearch.plots import draw_alignment


def test_f1_text_that_a_plotting_library_would_parse(base_run: Path, tmp_path: Path) -> None:
    pictures, output = tmp_path / "p", tmp_path / "o"
    before = {path for path in tmp_path.parent.rglob("*") if base_run not in path.parents}
    words = (f"input={IN}/plot.src", f"output={output}", f"plots={pictures}")
    succeed("translate", f"run_dir={base_run}", *words, "decode.beam_size=1")
    assert len(lines_of(output)) == 7
    assert sorted(path.name for path in pictures.iterdir()) == [
        f"{number}.png" for number in (1, 2, 3, 4, 5, 7)
    ]
    after = {path for path in tmp_path.parent.rglob("*") if base_run not in path.parents}
    assert after - before == {output, pictures, *pictures.iterdir()}
    for path in pictures.iterdir():
        assert imread(path).shape[0] > 50


def test_f1_labels_are_literal(tmp_path: Path) -> None:
    """A picture of `$5` differs from that of `5`: the sign is drawn, not taken for mathematics."""
    drawn = []
    for label in ("$5$", "5", r"\frac", "frac", "%s", "{x}", "x"):
        path = tmp_path / f"{len(drawn)}.png"
        draw_alignment(
            path, source_pieces=[label], target_pieces=["y"], weights=np.ones((1, 1), np.float32)
        )
        drawn.append(imread(path).tobytes())
    assert len(set(drawn)) == len(drawn)


def test_a_picture_that_cannot_be_written_stops_no_translation(
    base_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("rnnsearch.plots.draw_alignment", full)
    words = (f"input={IN}/tiny.en", f"output={tmp_path}/o", f"plots={tmp_path}/p")
    result = succeed("translate", f"run_dir={base_run}", *words, "decode.beam_size=1")
    assert len(lines_of(tmp_path / "o")) == 12
    assert f"warning: {tmp_path}/p/1.png: could not be written: No space left" in result.err
    assert result.err.count("pictures") == 1


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["plot_format=svg"], ["1.svg", "3.svg"]),
        (["plot_format=both"], ["1.png", "1.svg", "3.png", "3.svg"]),
        (["plot_sheet=2"], ["1.png", "3.png", "sheet.png"]),
        (["plot_sheet=1", "plot_format=svg"], ["1.svg", "3.svg", "sheet.svg"]),
        (["plot_sheet=8", "plot_format=svg"], ["1.svg", "3.svg", "sheet.svg"]),
    ],
)
def test_formats_and_the_page_of_several_sentences(
    base_run: Path, tmp_path: Path, words: list[str], names: list[str]
) -> None:
    (tmp_path / "in").write_text("A dog costs $5 & <more>.\n\nThe cat.\n")
    where = (f"input={tmp_path}/in", f"output={tmp_path}/o", f"plots={tmp_path}/p")
    succeed("translate", f"run_dir={base_run}", *where, *words, "decode.beam_size=1")
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == names
    for path in (tmp_path / "p").glob("*.svg"):
        ElementTree.parse(path)
    if "plot_sheet=1" in words:  # the first sentence alone, with its number
        page, alone = ((tmp_path / "p" / name).read_text() for name in ("sheet.svg", "1.svg"))
        assert page.count("<text") == alone.count("<text") + 1


def test_blank_lines_alone_make_no_page(base_run: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("\n \n")
    where = (f"input={tmp_path}/in", f"output={tmp_path}/o", f"plots={tmp_path}/p")
    succeed("translate", f"run_dir={base_run}", *where, "plot_sheet=8")
    assert not (tmp_path / "p").exists()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.text(max_size=12), min_size=1, max_size=4))
def test_any_text_can_be_drawn(tmp_path: Path, pieces: list[str]) -> None:
    weights = np.full((1, len(pieces)), 1 / len(pieces), np.float32)
    draw_alignment(
        tmp_path / "p.png", source_pieces=pieces, target_pieces=["y"], weights=weights, title="$"
    )
    assert imread(tmp_path / "p.png").ndim == 3
