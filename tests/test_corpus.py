import gzip
import io
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import datasets
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch import arrowcache
from rnnsearch.corpus import (
    Counts,
    PairFiles,
    encode_pairs,
    folder_files,
    lines_of,
    nonblank,
    read_lines,
    read_pairs,
)
from rnnsearch.errors import UserError
from rnnsearch.lines import MOST_BYTES
from rnnsearch.text import EOS, train_tokenizers

CASES = Path(__file__).parent / "cases"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Keep prepared data of a test to itself."""
    folder = tmp_path / "datasets-cache"
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder)
    arrowcache._temporary_folder.cache_clear()
    return folder


def write(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def case(source: str, target: str) -> PairFiles:
    return PairFiles((CASES / source,), (CASES / target,))


def small_tokenizers(pairs):
    source, target = nonblank(pairs)
    return train_tokenizers(
        source, target, kind="unigram", vocab_size=50, joint=False, byte_fallback=False, warn=print
    )


def encode(pairs, tokenizers, *, max_length=None, max_ratio=None, drop=True):
    return encode_pairs(pairs, tokenizers, max_length=max_length, max_ratio=max_ratio, drop=drop)


# Lines.


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\nb", ["a", "b"]),
        (b"a\r\nb\r\n\r\n", ["a", "b", ""]),
        (b"a\rb\r\r\n", ["a\rb\r"]),
        (
            "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\n".encode(),
            ["a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"],
        ),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", ["a", "\ufeffb"]),
        (b"\xef\xbb\xbf\r\n", [""]),
        (b" a\t\0\n", [" a\t\0"]),
        (b"x" * 3_000_000 + b"\ny\n", ["x" * 3_000_000, "y"]),
    ],
)
def test_a_line_ends_at_lf_alone(tmp_path, content, expected):
    assert list(read_lines(write(tmp_path / "plain", content))) == expected
    # The name decides nothing: compressed is what begins like it.
    assert list(read_lines(write(tmp_path / "zipped", gzip.compress(content)))) == expected
    assert list(read_lines(write(tmp_path / "plain.gz", content))) == expected
    assert list(lines_of(io.BytesIO(content), "input")) == expected


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=8)))
def test_lines_come_back_as_written(lines):
    content = "".join(f"{line}\n" for line in lines).encode()
    expected = [line.removesuffix("\r") for line in lines]
    assert list(lines_of(io.BytesIO(content), "input", drop_bom=False)) == expected


def test_a_bom_is_kept_where_asked(tmp_path):
    path = write(tmp_path / "a", b"\xef\xbb\xbfa\n")
    assert list(read_lines(path, drop_bom=False)) == ["\ufeffa"]


def test_aligned_files_are_a_source_of_pairs(tmp_path):
    first, second = write(tmp_path / "a.en", "a\n"), write(tmp_path / "b.en", "b\n")
    target = write(tmp_path / "x.fr", "\ufeff é \u00a0\n\u2028\r\n")
    files = PairFiles((first, second), (target,))
    assert files.label == f"{first} | x.fr and 1 more"
    assert PairFiles((first,), (target,)).label == f"{first} | x.fr"
    assert files.describe() == {"source": [str(first), str(second)], "target": [str(target)]}
    # The reference is scored as it stands in the file, the BOM included.
    assert files.references() == ["\ufeff é", ""]
    assert list(files.read()["target"]) == [" é \u00a0", "\u2028"]


def test_text_that_is_not_utf8_is_refused_with_file_and_line():
    message = r"latin1\.train\.fr:77: not UTF-8: byte 0xe9 at position 1 of the line.*iconv"
    with pytest.raises(UserError, match=message):
        list(read_lines(CASES / "latin1.train.fr"))
    with pytest.raises(UserError, match=r"cp1252\.src:1: not UTF-8"):
        list(read_lines(CASES / "cp1252.src"))
    for content in (b"a\n\xed\xa0\x80\n", b"a\n\xc0\x80\n", b"a\n\xe2\x82\n"):
        with pytest.raises(UserError, match=r"^input:2: not UTF-8"):
            list(lines_of(io.BytesIO(content), "input"))
    for bom, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        with pytest.raises(UserError, match=r"^input:1: not UTF-8: .*iconv -f UTF-16 -t UTF-8"):
            list(lines_of(io.BytesIO(bom + "a\n".encode(encoding)), "input"))


def test_a_stream_gives_each_line_as_it_comes():
    read, send = os.pipe()
    with os.fdopen(read, "rb") as stream:
        lines = lines_of(stream, "standard input")
        os.write(send, b"one\n")
        assert next(lines) == "one"
        os.write(send, b"two")
        os.close(send)
        assert list(lines) == ["two"]


def test_files_that_cannot_be_read_are_named(tmp_path):
    write(tmp_path / "train.en", "a\n")
    for name, message in [
        ("trian.en", r"trian\.en: no such file \(did you mean 'train\.en'\?\)"),
        ("nowhere/train.en", r"train\.en: no such file; there is no folder .*nowhere either"),
        ("", "is a folder; a text file was expected"),
        ("train.en/b", r"train\.en/b: cannot be read \(Not a directory\)"),
    ]:
        with pytest.raises(UserError, match=message) as caught:
            list(read_lines(tmp_path / name))
        assert caught.value.status == 2


def test_a_file_without_permission_is_named(tmp_path, monkeypatch):
    path = write(tmp_path / "secret.en", "a\n")

    def refuse(self, mode):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UserError, match=r"secret\.en: cannot be read \(Permission denied\)"):
        list(read_lines(path))


def test_damaged_gzip_data_are_told_in_one_line(tmp_path):
    whole = gzip.compress(os.urandom(20_000).hex().encode())
    broken = bytearray(whole)
    broken[9_000] ^= 255
    for data in (whole[:9_000], whole[:5], whole[:-2], bytes(broken), whole + b"rest"):
        path = write(tmp_path / "a.gz", data)
        with pytest.raises(UserError, match=r"a\.gz: damaged or incomplete gzip file"):
            list(read_lines(path))
    two = write(tmp_path / "two.gz", gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert list(read_lines(two)) == ["a", "b"]


def test_a_small_file_that_unpacks_to_an_endless_line_is_refused(tmp_path):
    path = write(tmp_path / "bomb.gz", gzip.compress(b"a\n" + b"x" * (MOST_BYTES + 1)))
    assert path.stat().st_size < 100_000
    with pytest.raises(UserError, match=r"bomb\.gz:2: a line of more than 16 MiB"):
        list(read_lines(path))
    path = write(tmp_path / "long", b"x" * (MOST_BYTES - 1) + b"\n")
    assert [len(line) for line in read_lines(path)] == [MOST_BYTES - 1]


# Pairs.


def test_pairs_stay_pairs(capfd):
    pairs = read_pairs(case("shift.ls.en", "shift.ls.fr"))
    base = read_pairs(case("base.train.en", "base.train.fr"))
    assert pairs.column_names == ["source", "target"]
    assert len(pairs) == len(base) == 168
    assert pairs[19]["source"].replace("\u2028", "") == base[19]["source"]
    assert pairs[60] == base[60]
    # The default normalisation makes a blank of the separator: the same pieces, the same ids.
    first, second = (small_tokenizers(one) for one in (pairs, base))
    assert first.source.fingerprint == second.source.fingerprint
    numbers = np.arange(168)
    assert encode(pairs, first).pairs(numbers) == encode(base, first).pairs(numbers)
    assert capfd.readouterr().out == ""


def test_one_line_is_told_in_the_singular(tmp_path):
    files = PairFiles((write(tmp_path / "a", "a\n"),), (write(tmp_path / "b", "a\nb\n"),))
    with pytest.raises(UserError, match=r"a has 1 line but .*b has 2; line by line"):
        read_pairs(files)


def test_sides_of_different_length_are_refused_before_anything_is_kept(cache):
    message = r"uneven\.train\.en has 168 lines but .*uneven\.train\.fr has 167;"
    with pytest.raises(UserError, match=message):
        read_pairs(case("uneven.train.en", "uneven.train.fr"))
    with pytest.raises(UserError, match=r"tiny\.en has 12 lines but .*base\.train\.fr has 168;"):
        read_pairs(case("tiny.en", "base.train.fr"))
    assert list(cache.rglob("*.*")) == []


def test_an_empty_file_is_named(tmp_path):
    with pytest.raises(UserError, match=r"empty\.src: the file is empty"):
        read_pairs(case("empty.src", "empty.src"))
    empty = write(tmp_path / "empty.fr.gz", gzip.compress(b""))
    with pytest.raises(UserError, match=r"empty\.fr\.gz: the file is empty"):
        read_pairs(PairFiles((CASES / "tiny.en",), (empty,)))


def test_a_missing_side_is_named():
    with pytest.raises(UserError, match=r"nix\.fr: no such file"):
        read_pairs(case("tiny.en", "nix.fr"))
    with pytest.raises(UserError, match=r"latin1\.train\.fr:77: not UTF-8"):
        read_pairs(case("base.train.en", "latin1.train.fr"))


def test_lists_of_files_follow_one_another(tmp_path):
    # The last line has no LF, and still is a line of its own.
    a = write(tmp_path / "a.en", "1\n2")
    b = write(tmp_path / "b.en.gz", gzip.compress(b"\xef\xbb\xbf3\n"))
    c = write(tmp_path / "c.fr", "un\ndeux\ntrois\n")
    pairs = read_pairs(PairFiles((a, b), (c,)))
    assert pairs["source"][:] == ["1", "2", "3"]
    assert pairs["target"][:] == ["un", "deux", "trois"]
    assert read_pairs(PairFiles((b, a), (c,)))["source"][:] == ["3", "1", "2"]
    with pytest.raises(
        UserError, match=r"a\.en \+ .*b\.en\.gz \+ .*b\.en\.gz has 4 lines but .*c\.fr has 3"
    ):
        read_pairs(PairFiles((a, b, b), (c,)))
    # The same files in the same order, cut elsewhere into sides, are other pairs.
    d = write(tmp_path / "d", "x\n")
    assert len(read_pairs(PairFiles((d,), (d,)))) == 1
    with pytest.raises(UserError, match="has 2 lines but"):
        read_pairs(PairFiles((d, d), (d,)))


def test_an_edited_file_is_read_anew_at_equal_size_and_time(tmp_path, cache):
    files = PairFiles((write(tmp_path / "a.en", "cat\n"),), (write(tmp_path / "a.fr", "chat\n"),))
    assert read_pairs(files)["source"][:] == ["cat"]
    before = files.source[0].stat()
    write(files.source[0], "cqx\n")
    os.utime(files.source[0], ns=(before.st_atime_ns, before.st_mtime_ns))
    assert files.source[0].stat().st_mtime_ns == before.st_mtime_ns
    assert read_pairs(files)["source"][:] == ["cqx"]
    # The same content elsewhere needs no second preparation.
    kept = sorted(cache.rglob("*.arrow"))
    copy = Path(shutil.copy(files.source[0], tmp_path / "copy.en"))
    assert read_pairs(PairFiles((copy,), files.target))["source"][:] == ["cqx"]
    assert sorted(cache.rglob("*.arrow")) == kept
    assert len(kept) == 2


def test_a_damaged_cache_is_made_anew(cache):
    files = case("tiny.en", "tiny.fr")
    text = read_pairs(files)["source"][:]
    (path,) = cache.rglob("*.arrow")
    for size in (0, 100, path.stat().st_size - 1):
        os.truncate(path, size)
        assert read_pairs(files)["source"][:] == text


def test_a_cache_that_cannot_be_written_does_not_end_a_run(tmp_path, monkeypatch):
    write(tmp_path / "file", "")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "file" / "cache")
    pairs = read_pairs(case("tiny.en", "tiny.fr"))
    assert len(pairs) == 12
    assert len(read_pairs(case("tiny.en", "tiny.fr"))) == 12
    assert len(encode(pairs, small_tokenizers(pairs))) == 12
    assert list(arrowcache._temporary_folder().glob("*.tmp")) == []
    arrowcache._temporary_folder.cache_clear()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "file" / "tmp"))
    with pytest.raises(UserError, match=r"fit neither into .*file.*; make room") as caught:
        read_pairs(case("base.train.en", "base.train.fr"))
    assert caught.value.status == 1


def test_leftovers_of_killed_runs_are_removed(cache):
    folder = cache / "rnnsearch"
    folder.mkdir(parents=True)
    old, new = write(folder / "old.tmp", "x"), write(folder / "new.tmp", "x")
    os.utime(old, (0, 0))
    read_pairs(case("tiny.en", "tiny.fr"))
    assert not old.exists()
    assert new.exists()


def test_pipes_are_read_once(tmp_path):
    paths = [tmp_path / "a.en", tmp_path / "a.fr"]
    for path in paths:
        os.mkfifo(path)

    def feed():
        for path, content in zip(paths, [b"1\n2\n", b"un\ndeux\n"], strict=True):
            path.write_bytes(content)

    thread = threading.Thread(target=feed)
    thread.start()
    pairs = read_pairs(PairFiles((paths[0],), (paths[1],)))
    thread.join()
    assert pairs["target"][:] == ["un", "deux"]


# Folders.


def corpus_folder(folder: Path, *names: str) -> Path:
    for name in names:
        write(folder / name, "a\n")
    return folder


def find(folder: Path):
    return folder_files(folder, source_lang="en", target_lang="fr")


def test_a_folder_is_read_by_names(tmp_path):
    names = ["train.en.gz", "train.fr", "val.en", "val.fr", "test.en", "test.fr"]
    corpus_folder(
        tmp_path, *names, "test_2016_flickr.en", "test_2016_flickr.fr.gz", "README.md", "train.de"
    )
    found = find(tmp_path)
    assert found.train == PairFiles((tmp_path / "train.en.gz",), (tmp_path / "train.fr",))
    assert found.valid == PairFiles((tmp_path / "val.en",), (tmp_path / "val.fr",))
    assert list(found.tests) == ["test", "test_2016_flickr"]
    assert found.tests["test_2016_flickr"].target == (tmp_path / "test_2016_flickr.fr.gz",)


def test_a_folder_may_hold_test_sets_alone_or_call_it_valid(tmp_path):
    corpus_folder(tmp_path, "test.en", "test.fr")
    assert find(tmp_path).train is find(tmp_path).valid is None
    corpus_folder(tmp_path, "valid.en", "valid.fr")
    assert find(tmp_path).valid == PairFiles((tmp_path / "valid.en",), (tmp_path / "valid.fr",))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], r"holds no train\.en, val\.en or test\*\.en .*data\.source_lang"),
        (["train.en"], r"train\.fr: no such file, nor train\.fr\.gz"),
        (["test_b.fr.gz"], r"test_b\.en: no such file, nor test_b\.en\.gz"),
        (["train.en", "train.en.gz", "train.fr"], r"holds both train\.en and train\.en\.gz"),
        (["val.en", "val.fr", "valid.en", "valid.fr"], "holds both val and valid"),
    ],
)
def test_what_a_folder_lacks_is_named(tmp_path, names, message):
    folder = tmp_path / "corpus"
    folder.mkdir()
    with pytest.raises(UserError, match=message):
        find(corpus_folder(folder, *names))


def test_a_folder_that_is_none_is_named(tmp_path):
    with pytest.raises(UserError, match=r"nix: no such folder; data\.dir"):
        find(tmp_path / "nix")
    with pytest.raises(UserError, match="a file, not a folder"):
        find(write(tmp_path / "file", ""))


# Ids and counts.


@pytest.fixture
def base():
    return read_pairs(case("base.train.en", "base.train.fr"))


def test_ids_are_those_of_the_tokenizers(base, capfd):
    tokenizers = small_tokenizers(base)
    corpus = encode(base, tokenizers)
    assert len(corpus) == 168
    assert corpus.counts.describe() == "168 pairs read, 168 kept"
    sources, targets = corpus.pairs(np.array([167, 0, 5, 5]))
    assert sources == [tokenizers.source.encode(base[i]["source"]) for i in (167, 0, 5, 5)]
    assert targets == [tokenizers.target.encode(base[i]["target"]) for i in (167, 0, 5, 5)]
    every = corpus.pairs(np.arange(168))
    assert corpus.source_lengths.tolist() == list(map(len, every[0]))
    assert corpus.target_lengths.tolist() == list(map(len, every[1]))
    assert corpus.source_lengths.dtype == corpus.target_lengths.dtype == np.int32
    assert corpus.pairs(np.empty(0, np.int64)) == ([], [])
    with pytest.raises(IndexError, match=r"outside 0 \.\. 167"):
        corpus.pairs(np.array([168]))
    assert capfd.readouterr().out == ""


def test_many_batches_of_rows_keep_their_order(base, monkeypatch):
    tokenizers = small_tokenizers(base)
    whole = encode(base, tokenizers).pairs(np.arange(168))
    monkeypatch.setattr("rnnsearch.encoded._BATCH_ROWS", 7)
    monkeypatch.setattr("rnnsearch.arrowcache._BATCH_BYTES", 2_000)
    monkeypatch.setattr("rnnsearch.encoded._FILTER_ROWS", 5)
    monkeypatch.setattr("rnnsearch.encoded._FORMAT", "other")
    corpus = encode(base, tokenizers, max_length=40)
    kept = [i for i in range(168) if max(len(whole[0][i]), len(whole[1][i])) <= 40]
    order = np.random.default_rng(0).permutation(len(corpus))
    assert corpus.counts == Counts(168, len(kept), 0, 168 - len(kept), 0, 40, None)
    assert corpus.pairs(order) == (
        [whole[0][kept[i]] for i in order],
        [whole[1][kept[i]] for i in order],
    )


def test_pairs_are_dropped_by_reason_and_counted(tmp_path, base):
    rows = [
        ("The cat sees a dog.", "Le chat voit un chien."),
        ("\u200b", "Le chat voit un chien."),
        ("The cat", "\ufeff "),
        ("", ""),
        ("The cat sees a dog. " * 20, "Le chat"),
        ("The cat sees a dog.", "u"),
        ("A dog", "Un chien"),
    ]
    source = write(tmp_path / "a.en", "".join(f"{row[0]}\n" for row in rows))
    target = write(tmp_path / "a.fr", "".join(f"{row[1]}\n" for row in rows))
    pairs = read_pairs(PairFiles((source,), (target,)))
    tokenizers = small_tokenizers(base)
    corpus = encode(pairs, tokenizers, max_length=50, max_ratio=5)
    assert corpus.counts == Counts(7, 2, 3, 1, 1, 50, 5)
    assert corpus.counts.describe() == (
        "7 pairs read, 2 kept, dropped: 3 blank, 1 longer than data.max_length=50, "
        "1 more uneven than data.max_ratio=5"
    )
    assert corpus.pairs(np.arange(2))[0] == [
        tokenizers.source.encode(line) for line in (rows[0][0], rows[6][0])
    ]
    assert encode(pairs, tokenizers).counts == Counts(7, 4, 3)
    # Validation and test pairs are never dropped.
    every = encode(pairs, tokenizers, max_length=2, max_ratio=1, drop=False)
    assert every.counts == Counts(7, 7)
    assert every.source_lengths.tolist()[1:4] == [0, every.source_lengths[2], 0]
    source_lines, target_lines = nonblank(pairs)
    for _ in "12":
        assert list(source_lines) == [rows[i][0] for i in (0, 4, 5, 6)]
        assert list(target_lines) == [rows[i][1] for i in (0, 4, 5, 6)]


def test_nothing_left_to_train_on_is_refused(base):
    tokenizers = small_tokenizers(base)
    message = r"^0 of 168 pairs are left .*168 longer than data\.max_length=2"
    with pytest.raises(UserError, match=message):
        encode(base, tokenizers, max_length=2)
    with pytest.raises(
        UserError, match=r"^0 of 168 pairs .* more uneven than data\.max_ratio=0\.5"
    ):
        encode(base, tokenizers, max_ratio=0.5)


def test_the_fingerprint_tells_text_and_tokenizers_apart(tmp_path, base):
    tokenizers = small_tokenizers(base)
    first = encode(base, tokenizers)
    assert encode(base, tokenizers, max_length=40).fingerprint == first.fingerprint
    rows = datasets.Dataset.from_dict({"source": base["source"][:], "target": base["target"][:]})
    assert encode(rows, tokenizers).fingerprint == first.fingerprint
    swapped = tokenizers._replace(source=tokenizers.target, target=tokenizers.source)
    assert encode(base, swapped).fingerprint != first.fingerprint
    moved = datasets.Dataset.from_dict({"source": ["ab", "c"], "target": ["d", "e"]})
    other = datasets.Dataset.from_dict({"source": ["a", "bc"], "target": ["d", "e"]})
    assert encode(moved, tokenizers).fingerprint != encode(other, tokenizers).fingerprint
    assert EOS not in first.pairs(np.array([0]))[0][0]


def test_lines_are_read_without_the_datasets_library():
    code = (
        "import sys; from rnnsearch.corpus import read_lines; "
        "assert not {'datasets', 'pyarrow', 'torch'} & set(sys.modules), 'heavy imports'"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
