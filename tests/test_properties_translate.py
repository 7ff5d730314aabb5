"""Any lines of Unicode text: as many translations out, in order, and never a mark among them."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cases_common import IN, MARKS, TINY, lines_of, succeed
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rnnsearch import Translator
from rnnsearch.config import DecodeConfig
from rnnsearch.plain import load_run_config

# What a file can hold in a line: no LF, and no half surrogates. A CR at the end is taken off.
LINE = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=30).map(
    lambda line: line.rstrip("\r")
)
ODD = st.sampled_from(
    [
        *(
            "",
            " ",
            "\u200b",
            "\ufeff",
            "\u3000",
            "\x00",
            "a\x00b",
            "\u2028",
            "\x85",
            "\x1c",
            "\r x",
        ),
        *(
            "</s>",
            "<unk>",
            "<s> <pad>",
            "\u2581",
            "\u2047",
            "\u2585",
            "a\u0301",
            "\U0001f469\u200d",
        ),
        *(
            "\u202e\u05d0\u05d1",
            "x" * 300,
            "the " * 90,
            "\ufffd",
            "&lt;unk&gt;",
            "@-@",
            "$5 \\frac",
        ),
    ]
)
LINES = st.lists(LINE | ODD, max_size=6)
FEW = settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def hardly_trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return runs of one update, whose best guess may be any id."""
    made: dict[str, Path] = {}

    def run(kind: str) -> Path:
        if kind not in made:
            folder = tmp_path_factory.mktemp("runs") / kind
            bytes_too = [f"tokenizer.byte_fallback={str(kind == 'bpe').lower()}"]
            size = {"unigram": 50, "bpe": 400, "word": 30}[kind]
            words = [word for word in TINY if "byte_fallback" not in word]
            words += [f"tokenizer={kind}", f"tokenizer.vocab_size={size}"]
            words += bytes_too if kind != "word" else []
            succeed("train", *words, "trainer.max_updates=1", f"run_dir={folder}")
            made[kind] = folder
        return made[kind]

    return run


def quick(run: Path, beam: int) -> DecodeConfig:
    decode = load_run_config(run).decode
    decode.beam_size, decode.max_length = beam, 6
    return decode


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word"])
@pytest.mark.parametrize("beam", [1, 3])
def test_lines_out_are_lines_in(
    hardly_trained: Callable[[str], Path], kind: str, beam: int
) -> None:
    run = hardly_trained(kind)
    translator = Translator.load(run, "last", decode=quick(run, beam))
    replacing = None
    if kind == "word":
        replacing = Translator.load(run, "last", decode=quick(run, beam), replace_unk=True)

    @FEW
    @given(LINES)
    def check(lines: list[str]) -> None:
        found = translator.translate(lines)
        assert len(found) == len(lines)
        for line, translation in zip(lines, found, strict=True):
            assert not MARKS.search(translation.text)
            assert not {"\n", "\r"} & set(translation.text)
            translation.text.encode()
            assert np.isfinite(translation.score)
            blank = not translator.source_tokenizer.encode(line)
            assert blank == (translation.source_pieces == [])
            assert not blank or translation.text == ""
            if translation.alignment is not None:
                shape = (len(translation.target_pieces), len(translation.source_pieces))
                assert translation.alignment.shape == shape
                assert translation.alignment.sum(1) == pytest.approx(1, abs=1e-4)
        backwards = translator.translate(lines[::-1], alignments=False)[::-1]
        assert [t.text for t in backwards] == [t.text for t in found]
        if replacing is not None:
            replaced = replacing.translate(lines)
            assert [t.unknown for t in replaced] == [t.unknown for t in found]
            assert not any({"\n", "\r"} & set(t.text) for t in replaced)

    check()


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word"])
def test_files_of_any_lines(
    hardly_trained: Callable[[str], Path], tmp_path: Path, kind: str
) -> None:
    run = hardly_trained(kind)
    source, output, aligned = tmp_path / "in", tmp_path / "out", tmp_path / "a.json"
    words = (f"run_dir={run}", "checkpoint=last", "decode.beam_size=2", "decode.max_length=5")

    @settings(FEW, max_examples=4)
    @given(LINES, st.booleans())
    def check(lines: list[str], ended: bool) -> None:
        text = "\n".join(lines) + "\n" * (ended and bool(lines))
        source.write_bytes(text.encode())
        count = text.count("\n") + (not text.endswith("\n") and text != "")
        to = (f"input={source}", f"output={output}", f"alignments={aligned}")
        succeed("translate", *words, *to, "alignment_format=json")
        assert len(lines_of(output)) == count
        assert [json.loads(row)["line"] for row in lines_of(aligned)] == list(range(1, count + 1))

    check()


def test_the_cases_inputs_too(hardly_trained: Callable[[str], Path]) -> None:
    """Every input of the cases goes through every kind of tokenizer."""
    for kind in ("unigram", "bpe", "word"):
        run = hardly_trained(kind)
        translator = Translator.load(run, "last", decode=quick(run, 2))
        for name in ("blank.src", "special.src", "plot.src", "odd.test.en"):
            lines = lines_of(IN / name)
            found = translator.translate(lines)
            assert len(found) == len(lines)
            assert not any(MARKS.search(translation.text) for translation in found)
