"""`rnnsearch translate`: alignments in both forms, unknown words replaced, ensembles."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from cases_common import IN, TEST, TINY, in_process, lines_of, refuse, succeed, weights
from safetensors.torch import save_file

from rnnsearch import Translator
from rnnsearch.alignment import links, merge_pieces, pharaoh
from rnnsearch.errors import UserError
from rnnsearch.reach import LONGEST

SEARCH = ("decode.beam_size=4", "decode.max_length=20")


@pytest.fixture(scope="module")
def word_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run with so short word lists that most words are unknown."""
    folder = tmp_path_factory.mktemp("runs") / "word"
    words = [word for word in TINY if "byte_fallback" not in word]
    changed = ("tokenizer=word", "tokenizer.vocab_size=20", "trainer.max_updates=40")
    succeed("train", *words, *changed, f"run_dir={folder}")
    return folder


def rows_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in lines_of(path)]


@pytest.mark.parametrize("n_best", [1, 3])
def test_json_rows_hold_the_soft_matrix_of_the_best(
    base_run: Path, tmp_path: Path, n_best: int
) -> None:
    source = IN / "seven.en"
    out, aligned = tmp_path / "o", tmp_path / "a.json"
    words = (f"run_dir={base_run}", f"input={source}", f"output={out}", f"n_best={n_best}")
    form = (f"alignments={aligned}", "alignment_format=json")
    succeed("translate", *words, *form, *SEARCH)
    texts = lines_of(out)
    if n_best > 1:
        split = [line.split(" ||| ") for line in texts]
        texts = [next(text for n, text, _ in split if n == str(i)) for i in range(1, 8)]
    rows = rows_of(aligned)
    assert [row["line"] for row in rows] == list(range(1, 8))
    for row, text, line in zip(rows, texts, lines_of(source), strict=True):
        matrix = np.array(row["weights"])
        assert matrix.shape == (len(row["target_pieces"]), len(row["source_pieces"]))
        assert matrix.sum(1) == pytest.approx(1, abs=1e-4)
        assert row["source_words"] == line.split()
        assert row["target_words"] == text.split()
        assert row["source_pieces"][-1] == "</s>"
        assert row["score"] < 0


def test_pharaoh_has_a_link_for_each_target_word(base_run: Path, tmp_path: Path) -> None:
    source = IN / "seven.en"
    out, aligned, soft = tmp_path / "o", tmp_path / "a", tmp_path / "a.json"
    words = (f"run_dir={base_run}", f"input={source}", f"output={out}", *SEARCH)
    succeed("translate", *words, f"alignments={aligned}")
    succeed("translate", *words, f"alignments={soft}", "alignment_format=json")
    translator = Translator.load(base_run)
    for line, text, english, row in zip(
        lines_of(aligned), lines_of(out), lines_of(source), rows_of(soft), strict=True
    ):
        found = [tuple(map(int, link.split("-"))) for link in line.split()]
        assert sorted(j for _, j in found) == list(range(len(text.split())))
        assert all(i < len(english.split()) for i, _ in found)
        source_words = translator.source_tokenizer.words(row["source_pieces"][:-1])
        target_words = translator.target_tokenizer.words(row["target_pieces"])
        merged = merge_pieces(
            np.array(row["weights"], np.float32),
            source_counts=[count for _, count in source_words],
            target_counts=[count for _, count in target_words],
        )
        assert line == pharaoh(links(merged))


def test_a_blank_line_has_a_blank_row(base_run: Path, tmp_path: Path) -> None:
    source, out = tmp_path / "in", tmp_path / "o"
    source.write_text("\nThe cat sees a dog.\n\u3000\n")
    words = (f"run_dir={base_run}", f"input={source}", f"output={out}", *SEARCH)
    succeed("translate", *words, f"alignments={tmp_path / 'a'}")
    first, second, third = lines_of(tmp_path / "a")
    assert (first, third) == ("", "")
    assert second
    succeed("translate", *words, f"alignments={tmp_path / 'j'}", "alignment_format=json")
    rows = rows_of(tmp_path / "j")
    assert [len(row["weights"]) > 0 for row in rows] == [False, True, False]
    assert rows[0]["source_words"] == rows[0]["target_words"] == []


def test_alignments_change_no_translation(base_run: Path, tmp_path: Path) -> None:
    words = (f"run_dir={base_run}", f"input={IN}/base.test.en", *SEARCH)
    succeed("translate", *words, f"output={tmp_path}/o")
    succeed("translate", *words, f"output={tmp_path}/p", f"alignments={tmp_path}/a")
    assert (tmp_path / "o").read_bytes() == (tmp_path / "p").read_bytes()


def test_outputs_that_cannot_be_are_told_first(base_run: Path, tmp_path: Path) -> None:
    source = tmp_path / "in.en"
    shutil.copy(IN / "seven.en", source)
    run = ("translate", f"run_dir={base_run}", f"input={source}")
    refuse(*run, "alignments=-", words=("alignments=-", "name a file"), status=(2,))
    refuse(*run, f"alignments={tmp_path}", words=("alignments=", "is a folder"), status=(2,))
    refuse(*run, f"output={tmp_path}", words=("output=", "is a folder"), status=(2,))
    refuse(*run, f"alignments={tmp_path}/no/a", words=("alignments=", "make it first"))
    refuse(*run, f"alignments={source}", words=("alignments=", "is the input file"))
    words = (f"output={tmp_path}/o", f"alignments={tmp_path}/o")
    refuse(*run, *words, words=("alignments=", "is the output file"))
    assert source.read_bytes() == (IN / "seven.en").read_bytes()
    assert not (tmp_path / "o").exists()
    words = (f"alignments={tmp_path}/x", f"plots={tmp_path}/x")
    refuse(*run, *words, words=("plots=", "is the alignments file"), status=(2,))
    for name in ("config.yaml", "checkpoints/best/model.safetensors", "train.log"):
        taken = f"output={base_run}/{name}"
        refuse(*run, taken, words=(taken, "belongs to the run"), status=(2,))
    for key in ("output", "alignments"):
        (tmp_path / "d.tsv").write_text("a\tb\n")
        dictionary = f"replace_unk={tmp_path}/d.tsv"
        told = (f"{key}=", "is the dictionary")
        refuse(*run, dictionary, f"{key}={tmp_path}/d.tsv", words=told, status=(2,))


def test_output_through_a_link_or_a_device(base_run: Path, tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    run = ("translate", f"run_dir={base_run}", f"input={IN}/seven.en", *SEARCH)
    succeed(*run, f"output={tmp_path}/link", "alignments=/dev/null")
    assert (tmp_path / "link").is_symlink()
    assert len(lines_of(tmp_path / "real")) == 7
    assert not Path("/dev/null").is_file()


# --- long lines


@pytest.mark.parametrize("stream", [False, True])
def test_a_line_beyond_all_measure_is_told_before_anything_is_lost(
    base_run: Path, tmp_path: Path, stream: bool
) -> None:
    text = "A dog.\n" + "a " * (LONGEST + 1) + "\nA man.\n"
    (tmp_path / "in").write_text(text)
    output = tmp_path / "o"
    output.write_text("precious\n")
    words = ("translate", f"run_dir={base_run}", *SEARCH, f"output={output}")
    if stream:
        done = in_process(*words, stdin=text.encode())
        assert "Traceback" not in done.err
        assert done.err.splitlines()[-1].startswith("rnnsearch: standard input:2 has ")
    else:
        refuse(*words, f"input={tmp_path / 'in'}", words=("in:2 has", "split it"), status=(2,))
        assert output.read_text() == "precious\n"


def test_letters_that_are_written_out_count_as_they_are_read(
    base_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Normalisation makes four letters of U+33C2; the line is refused before its window."""
    monkeypatch.setattr("rnnsearch.reach.LONGEST", 1_000)
    text = "A dog.\n" * 40 + "\u33c2" * 600 + "\n"
    (tmp_path / "in").write_text(text)
    (tmp_path / "o").write_text("precious\n")
    words = ("translate", f"run_dir={base_run}", f"input={tmp_path / 'in'}")
    told = ("in:41 has", "split it")
    refuse(*words, f"output={tmp_path / 'o'}", "decode.batch_sentences=1", words=told)
    assert (tmp_path / "o").read_text() == "precious\n"


@pytest.mark.parametrize("key", ["output", "alignments"])
def test_no_picture_is_drawn_over_another_file(key: str, base_run: Path, tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    words = ("translate", f"run_dir={base_run}", f"input={IN}/seven.en", f"plots={tmp_path}/plots")
    for name in ("1.png", "sheet.svg"):
        other = f"{key}={tmp_path}/plots/{name}"
        refuse(*words, other, words=(other, "a picture"), status=(2,))
    refuse(*words[:3], f"plots={base_run}/checkpoints", words=("belongs to the run",), status=(2,))
    assert list((tmp_path / "plots").iterdir()) == []


def test_a_compressed_stream_is_told_as_such(base_run: Path) -> None:
    done = in_process("translate", f"run_dir={base_run}", stdin=gzip.compress(b"A dog.\n"))
    assert done.status == 2
    assert "standard input:1: compressed with gzip" in done.err
    assert "gzip -dc" in done.err


def test_targets_beyond_all_measure_are_not_scored(base_run: Path, tmp_path: Path) -> None:
    (tmp_path / "t.en").write_text("A dog.\n")
    (tmp_path / "t.fr").write_text("un " * (LONGEST + 1) + "\n")
    test = (f"data.test.source={tmp_path}/t.en", f"data.test.target={tmp_path}/t.fr")
    refuse("evaluate", f"run_dir={base_run}", *test, words=("t: the target of line 1 has",))


def test_attention_of_too_many_weights_is_left_out_and_told(
    base_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["A dog.", "A man and a dog and a woman and a man in a house.", "A man."]
    (tmp_path / "in").write_text("".join(line + "\n" for line in lines))
    words = ("translate", f"run_dir={base_run}", f"input={tmp_path / 'in'}", *SEARCH)
    form = ("alignment_format=json", "decode.min_length_ratio=1")
    usual = [tmp_path / "o", tmp_path / "a.json"]
    succeed(*words, *form, f"output={usual[0]}", f"alignments={usual[1]}")
    sizes = [np.size(row["weights"]) for row in rows_of(usual[1])]
    monkeypatch.setattr("rnnsearch.translation.MAX_WEIGHTS", sizes[1] - 1)
    assert max(sizes[0], sizes[2]) < sizes[1]
    told = succeed(*words, *form, f"output={tmp_path}/p", f"alignments={tmp_path}/b.json").err
    assert told.startswith("warning: line 2: no attention is kept of ")
    assert told.count("\n") == 1
    rows = rows_of(tmp_path / "b.json")
    assert [np.size(row["weights"]) for row in rows] == [sizes[0], 0, sizes[2]]
    assert (tmp_path / "p").read_bytes() == usual[0].read_bytes()


# --- unknown words


def test_unknown_words_are_left_out_and_counted(word_run: Path, tmp_path: Path) -> None:
    words = (f"run_dir={word_run}", f"input={IN}/base.test.en", f"output={tmp_path}/o")
    told = succeed("translate", *words, *SEARCH).err
    translator = Translator.load(word_run)
    found = translator.translate(lines_of(IN / "base.test.en"), alignments=False)
    assert any(translation.unknown for translation in found)
    assert "unknown words left out" in told
    assert "replace_unk=true" in told
    assert "<unk>" not in (tmp_path / "o").read_text()


def test_unknown_words_become_the_source_words_looked_at(word_run: Path, tmp_path: Path) -> None:
    lines = lines_of(IN / "base.test.en")
    plain = Translator.load(word_run).translate(lines)
    replaced = Translator.load(word_run, replace_unk=True).translate(lines)
    assert sum(translation.unknown for translation in plain) > 0
    for before, after in zip(plain, replaced, strict=True):
        assert len(after.target_pieces) == len(before.target_pieces)
        for i, (old, new) in enumerate(zip(before.target_pieces, after.target_pieces, strict=True)):
            if old == "<unk>":
                assert before.alignment is not None
                assert new == before.source_pieces[int(before.alignment[i, :-1].argmax())]
            else:
                assert new == old
        if not before.unknown:
            assert after.text == before.text
    words = (f"run_dir={word_run}", f"input={IN}/base.test.en", f"output={tmp_path}/o")
    told = succeed("translate", *words, "replace_unk=true").err
    assert "unknown words replaced" in told
    assert lines_of(tmp_path / "o") == [translation.text for translation in replaced]


def test_a_dictionary_translates_what_is_copied(word_run: Path, tmp_path: Path) -> None:
    lines = lines_of(IN / "base.test.en")
    copied = Translator.load(word_run, replace_unk=True).translate(lines)
    sources = {word for line in lines for word in line.replace(".", " .").split()}
    dictionary = tmp_path / "d.tsv"
    dictionary.write_text("".join(f"{word}\tx{i}y\n" for i, word in enumerate(sorted(sources))))
    words = (f"run_dir={word_run}", f"input={IN}/base.test.en", f"output={tmp_path}/o")
    succeed("translate", *words, f"replace_unk={dictionary}")
    for line, translation in zip(lines_of(tmp_path / "o"), copied, strict=True):
        assert (line != translation.text) == (translation.unknown > 0)
    dictionary.write_text("no tab\n")
    refuse("translate", *words, f"replace_unk={dictionary}", words=("d.tsv:1", "one tab"))
    refuse("translate", *words, "replace_unk=missing.tsv", words=("replace_unk=missing.tsv",))


def test_subwords_have_no_unknown_words_to_replace(base_run: Path) -> None:
    words = (f"run_dir={base_run}", f"input={IN}/seven.en", "replace_unk=true")
    refuse("translate", *words, words=("replace_unk=true", "tokenizer=unigram"), status=(2,))


def test_the_unknown_word_can_be_barred(word_run: Path, tmp_path: Path) -> None:
    lines = lines_of(IN / "base.test.en")
    barred = Translator.load(word_run).barring_unknown().translate(lines, alignments=False)
    assert not any(translation.unknown for translation in barred)
    words = (f"run_dir={word_run}", f"input={IN}/base.test.en", f"output={tmp_path}/o")
    assert "unknown" not in succeed("translate", *words, "decode.ban_unk=true").err
    assert lines_of(tmp_path / "o") == [translation.text for translation in barred]


# --- ensembles


def test_an_ensemble_averages_probabilities(base_run: Path, one_run: Path) -> None:
    del one_run
    last, first = "last", "best"
    lines = lines_of(IN / "seven.en")
    pair = Translator.load(base_run, [last, first])
    assert len(pair.models) == 2
    twice = Translator.load(base_run, [last, last])  # the mean of equals is the model itself
    single = Translator.load(base_run, last)
    for a, b in zip(twice.translate(lines), single.translate(lines), strict=True):
        assert a.text == b.text
        assert a.score == pytest.approx(b.score, abs=1e-4)
        assert a.alignment == pytest.approx(b.alignment, abs=1e-5)


def test_an_ensemble_may_span_runs_that_share_tokenizers(base_run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    words = [word for word in TINY if not word.startswith("tokenizer")]
    succeed(
        *("train", *words, f"tokenizer.path={base_run}", "seed=5", "trainer.max_updates=2"),
        f"run_dir={other}",
    )
    out = tmp_path / "o"
    names = f"checkpoint=[best,{other}]"
    command = ("translate", f"run_dir={base_run}", f"input={IN}/seven.en", f"output={out}")
    succeed(*command, names)
    both = Translator.load(base_run, ["best", str(other / "checkpoints" / "last")])
    assert lines_of(out) == [t.text for t in both.translate(lines_of(IN / "seven.en"))]


def test_an_ensemble_of_other_tokenizers_is_refused(base_run: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    words = ("tokenizer.vocab_size=45", "trainer.max_updates=1")
    succeed("train", *TINY, *words, f"run_dir={other}")
    command = ("translate", f"run_dir={base_run}", f"input={IN}/seven.en")
    told = (str(other), "another source tokenizer", "tokenizer.path")
    refuse(*command, f"checkpoint=[best,{other}]", words=told, status=(2,))


def test_a_checkpoint_copied_out_of_its_run_works(base_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "alone"
    path.mkdir()
    save_file(weights(base_run), path / "model.safetensors")
    line = ["The cat sees a dog."]
    alone, last = (Translator.load(base_run, name) for name in (str(path), "last"))
    assert alone.translate(line)[0].text == last.translate(line)[0].text
    assert torch.equal(alone.model.W_o.weight, last.model.W_o.weight)


def test_rows_of_a_pipe_come_as_their_lines_do(base_run: Path, tmp_path: Path) -> None:
    aligned = tmp_path / "a"
    stdin = (IN / "seven.en").read_bytes()
    words = (f"run_dir={base_run}", f"alignments={aligned}", *SEARCH)
    result = in_process("translate", *words, stdin=stdin)
    assert result.status == 0
    assert len(lines_of(aligned)) == len(result.out.split("\n")) - 1 == 7


def test_lines_in_python_are_a_list_of_lines(base_run: Path) -> None:
    translator = Translator.load(base_run)
    with pytest.raises(UserError, match=r"expected a list of lines, came one text"):
        translator.translate("The dog")
    with pytest.raises(UserError, match=r"lines: number 2 holds a line end"):
        translator.translate(["a", "b\nc"])
    with pytest.raises(UserError, match=r"n_best=0: expected 1 to decode.beam_size"):
        translator.translate_n_best(["a"], 0)
    with pytest.raises(UserError, match=r"checkpoint=\[\]: name one"):
        Translator.load(base_run, [])
    with pytest.raises(UserError, match=r"device=tpu: expected auto, cpu"):
        Translator.load(base_run, device="tpu")


def test_keys_that_would_do_nothing_are_refused(base_run: Path) -> None:
    run = (f"run_dir={base_run}", f"input={IN}/seven.en")
    told = ("alignment_format=json", "alignments=FILE")
    refuse("translate", *run, "alignment_format=json", words=told, status=(2,))
    refuse("translate", *run, "replace_unk=yes", words=("replace_unk=yes", "true, false"))
    for key in ("data.max_length=7", "data.train.table=x.tsv", "data.valid.source=x"):
        words = ("evaluate", f"run_dir={base_run}", *TEST, key)
        refuse(*words, words=(key.partition("=")[0], "leave it out"), status=(2,))
