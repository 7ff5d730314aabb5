"""Case S2 where it concerns alignments, and NUL, which is a character like others.

The rest of kinds S and D stands with the lines.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from cases_common import (
    IN,
    MARKS,
    QUICK,
    check_refused,
    evaluation,
    in_process,
    lines_of,
    succeed,
    translate,
)

from rnnsearch import Translator
from rnnsearch.text import EOS


def aligned(run: Path, folder: Path, lines: list[str], form: str) -> list[str]:
    """Translate lines; return the rows of their alignments."""
    words = (f"alignments={folder}/a", f"alignment_format={form}", f"plots={folder}/p")
    assert len(translate(run, lines, folder, *words)) == len(lines)
    return lines_of(folder / "a")


def test_s2_marks_as_text_in_alignments(base_run: Path, tmp_path: Path) -> None:
    lines = lines_of(IN / "special.src")
    rows = [json.loads(row) for row in aligned(base_run, tmp_path, lines, "json")]
    assert [row["line"] for row in rows] == list(range(1, 13))
    row = rows[1]
    *pieces, last = row["source_pieces"]
    assert last == "</s>"
    assert "</s>" not in pieces
    text = "".join(pieces).replace("\u2581", " ").strip()
    assert text.startswith("The cat </s>") or text.startswith("The cat ")
    assert text.endswith("sees a dog.")
    weights = np.array(row["weights"])
    assert weights.shape == (len(row["target_pieces"]), len(row["source_pieces"]))
    after = len(Translator.load(base_run).source_tokenizer.encode("sees a dog."))
    assert (weights[:, -1 - after : -1].sum(1) > 0).all()
    for row in rows:
        np.testing.assert_allclose(np.array(row["weights"]).sum(-1), 1, atol=1e-3)
        assert not any(MARKS.search(word) for word in row["target_words"])
    assert len(aligned(base_run, tmp_path, lines, "pharaoh")) == 12


@pytest.mark.parametrize("form", ["json", "pharaoh"])
def test_every_line_has_its_row_blank_ones_too(form: str, one_run: Path, tmp_path: Path) -> None:
    lines = [
        "",
        "The cat",
        "\u200b",
        "</s>",
        "\u2581",
        "<unk> <s>",
        "a\u2028b",
        "a\tb \\ \"c\" 'd'",
    ]
    rows = aligned(one_run, tmp_path, lines, form)
    assert len(rows) == len(lines)
    if form == "json":
        words = [json.loads(row)["source_words"] for row in rows]
        assert words[0] == words[2] == []
        assert "cat" in words[1][-1]


# --- NUL


NUL = "The cat\0 sees a dog."


def test_nul_is_an_unknown_character_and_the_text_after_it_stays(
    base_run: Path, tmp_path: Path
) -> None:
    translator = Translator.load(base_run)
    tokenizer = translator.source_tokenizer
    (with_nul,) = tokenizer.encode_batch([NUL])
    assert with_nul == tokenizer.encode(NUL)
    after = tokenizer.encode("sees a dog.")
    assert with_nul[-len(after) :] == after
    assert EOS not in with_nul
    (found,) = translator.translate([NUL])
    assert found.source_pieces.count("\0") == 1
    assert "".join(found.source_pieces[-1 - len(after) : -1]) == "\u2581sees\u2581a\u2581dog."
    # Between other lines, and through the picture and the alignment.
    alone = translate(base_run, ["The cat", "A dog."], tmp_path)
    rows = aligned(base_run, tmp_path, ["The cat", NUL, "\0", "A dog."], "json")
    assert len(rows) == 4
    assert json.loads(rows[1])["source_pieces"].count("\0") == 1
    mixed = translate(base_run, ["The cat", NUL, "\0", "A dog."], tmp_path)
    assert [mixed[0], mixed[3]] == alone
    assert mixed[1]


def test_nul_in_every_file_of_a_training(tmp_path: Path) -> None:
    for language in ("en", "fr"):
        lines = lines_of(IN / f"tiny.{language}")
        lines[3] = f"\0{lines[3]} x\0\0y"
        lines[5] = "\0"
        (tmp_path / f"n.{language}").write_bytes("".join(f"{line}\n" for line in lines).encode())
    words = [
        f"data.{split}.{side}={tmp_path}/n.{language}"
        for split in ("train", "valid", "test")
        for side, language in (("source", "en"), ("target", "fr"))
    ]
    for kind in ("unigram", "bpe"):
        run = f"run_dir={tmp_path}/{kind}"
        more = (f"tokenizer={kind}", "tokenizer.vocab_size=50", "trainer.max_updates=3")
        result = succeed("train", *QUICK, *words, *more, run)
        assert "12 pairs read, 12 kept" in result.err
        succeed("evaluate", run)
        assert evaluation(tmp_path / kind)["sentences"] == 12


def test_nul_in_a_byte_piece_is_printed_as_it_is(tmp_path: Path) -> None:
    more = ("tokenizer.byte_fallback=true", "tokenizer.vocab_size=300", "trainer.max_updates=1")
    succeed("train", *QUICK, *more, f"run_dir={tmp_path}/bytes")
    tokenizer = Translator.load(tmp_path / "bytes").target_tokenizer
    assert tokenizer.decode(tokenizer.encode("Le\0chat")) == "Le\0chat"


@pytest.mark.slow
def test_nul_through_pipes(one_run: Path) -> None:
    stdin = f"The cat\n{NUL}\n\0\nA dog.".encode()
    result = in_process("translate", f"run_dir={one_run}", "decode.beam_size=1", stdin=stdin)
    assert (result.status, result.out.count("\n")) == (0, 4)
    # What is not UTF-8 is still told by its line.
    stdin = f"{NUL}\n".encode() + b"\xff\0\n"
    result = in_process("translate", f"run_dir={one_run}", "decode.beam_size=1", stdin=stdin)
    check_refused(result._replace(out=""), words=("standard input:2",))
