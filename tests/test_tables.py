import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import datasets
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from rnnsearch import arrowcache
from rnnsearch.cli.sources import test_sources as sources_of_test
from rnnsearch.cli.sources import training_sources
from rnnsearch.columns import PairColumns
from rnnsearch.config import DataConfig, ScoredSplitConfig, SplitConfig
from rnnsearch.corpus import PairFiles
from rnnsearch.errors import UserError
from rnnsearch.tables import TableFiles, table_files

CASES = Path(__file__).parent / "cases"
EN_FR = PairColumns(("en", "fr"))
PAIRS = [("a dog", "un chien"), ("null", "NA"), ("007", ' "x" ')]


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


def pairs_of(*paths: Path, chosen=None) -> list[tuple[str, str]]:
    pairs = table_files(paths, PairColumns(("en", "fr"), chosen)).read()
    return list(zip(pairs["source"], pairs["target"], strict=True))


def refused(path: Path, match: str, *, chosen=None) -> None:
    with pytest.raises(UserError, match=match) as caught:
        pairs_of(path, chosen=chosen)
    assert caught.value.status == 2


# Tab-separated values.


def test_cells_of_a_tsv_are_text_as_written():
    assert pairs_of(CASES / "words.tsv") == [
        ("null", "nul"),
        ("NA", "NA"),
        ("None", "Aucun"),
        ("nan", "pain"),
        ("True", "Vrai"),
        ("007", "007"),
    ]


@pytest.mark.parametrize(
    ("content", "chosen"),
    [
        ("en\tfr\na\tb\n", None),
        ("fr\ten\nb\ta\n", None),
        ("a\tb\n", None),
        ("\ufeffen\tfr\r\na\tb\r\n", None),
        ("1\ta\tb\n", [2, 3]),
        ("b\t-\ta\n", [3, 1]),
        ("id\ten\tfr\n1\ta\tb\n", [2, 3]),
        ("id\ten\tfr\n1\ta\tb\n", ["en", "fr"]),
        ("note\tdeutsch\tenglish\n1\tb\ta\n", ["english", "deutsch"]),
        ("en\tfr\nb\ta\n", ["fr", "en"]),
    ],
)
def test_which_columns_of_a_tsv_are_read(tmp_path, content, chosen):
    assert pairs_of(write(tmp_path / "x.tsv", content), chosen=chosen) == [("a", "b")]
    zipped = write(tmp_path / "x.tsv.gz", gzip.compress(content.encode()))
    assert pairs_of(zipped, chosen=chosen) == [("a", "b")]


def test_a_line_of_a_tsv_ends_at_lf_alone_and_nothing_is_quoted(tmp_path):
    path = write(tmp_path / "x.tsv", 'en\tfr\n"a\t\u2028b"\n\t\n a \t\x0c\n')
    assert pairs_of(path) == [('"a', '\u2028b"'), ("", ""), (" a ", "\x0c")]


@pytest.mark.parametrize(
    ("content", "match", "chosen"),
    [
        ("a\n", r"x\.tsv:1: 1 column, but a table has two; put one tab", None),
        ("a\tb\tc\n", r"x\.tsv:1: 3 columns, but .*'data\.columns=\[1,2\]'", None),
        ("id\ten\tfr\n", r"x\.tsv:1: 3 columns, but .*'data\.columns=\[en,fr\]'", None),
        ("en\tfr\ten\n", r"x\.tsv:1: 3 columns, but .*'data\.columns=\[1,2\]'", None),
        ("a\tb\nc\td\te\n", r"x\.tsv:2: 3 columns, but line 1 has 2", None),
        ("a\tb\nc\n", r"x\.tsv:2: 1 column, but line 1 has 2", None),
        ("a\tb\n\n", r"x\.tsv:2: 1 column, but line 1 has 2", None),
        ("", r"x\.tsv: the table has no rows", None),
        ("en\tfr\n", r"x\.tsv: the table has no rows", None),
        ("a\tb\n", r"x\.tsv:1: 2 columns, but data\.columns asks for number 3", [1, 3]),
        ("a\tb\n", r"column 'x' is not there; the first line must name .*found a, b", ["x", "b"]),
        ("src\ttrg\n", r"'tgt' is not there \(did you mean 'trg'\?\)", ["src", "tgt"]),
        ("a\ta\tb\n", r"x\.tsv:1: column 'a' is there twice", ["a", "b"]),
        (b"a\tb\n\xe9\tb\n", r"x\.tsv:2: not UTF-8", None),
    ],
)
def test_a_tsv_that_is_refused(tmp_path, content, match, chosen):
    refused(write(tmp_path / "x.tsv", content), match, chosen=chosen)


@pytest.mark.parametrize(
    ("first", "languages"),
    [
        ("EN\tFR", ("en", "fr")),
        (" en\tfr ", ("en", "fr")),
        ('"en"\t"fr"', ("en", "fr")),
        ("# fr\ten", ("en", "fr")),
        ("en_US\tfr_FR", ("en", "fr")),
        ("en-GB\tfr", ("en", "fr")),
        ("en\tfr", ("en_XX", "fr_XX")),
        ("en\tde", ("en", "fr")),
        ("EN\tDE", ("en", "fr")),
        ("en\tthe dog", ("en", "fr")),
        ("en\tfr", ("en", "de")),
        ("de\tes", ("en", "fr")),
        ("Source\tTarget", ("en", "fr")),
        ("tgt\tsrc", ("en", "fr")),
    ],
)
def test_a_first_line_of_other_names_is_no_pair(tmp_path, first, languages):
    for content in (f"{first}\na\tb\n", f"{first}\n"):
        path = write(tmp_path / "x.tsv", content)
        for chosen in (None, [1, 2], [2, 1]):
            columns = PairColumns(languages, chosen)
            match = rf"x\.tsv:1: .* looks like a header, and not of {' and '.join(languages)}; set"
            with pytest.raises(UserError, match=match):
                table_files((path,), columns).read()
    # What is a pair all the same only needs the names above it.
    path = write(tmp_path / "x.tsv", "\t".join(languages) + f"\n{first}\n")
    assert len(table_files((path,), PairColumns(languages)).read()) == 1


@pytest.mark.parametrize("pair", [("No", "Non"), ("OK", "ok"), ("hi", "hi"), ("us", "nous")])
def test_short_pairs_in_a_first_line_are_pairs(tmp_path, pair):
    assert pairs_of(write(tmp_path / "x.tsv", "\t".join(pair) + "\n")) == [pair]


def test_numbers_must_choose_both_names_or_none(tmp_path):
    path = write(tmp_path / "x.tsv", "id\ten\tfr\tnote\n1\ta\tb\tc\n")
    assert pairs_of(path, chosen=[2, 3]) == [("a", "b")]
    for chosen in ([1, 2], [3, 4], [1, 4]):
        refused(path, r"x\.tsv:1: .* but id, en, fr, note looks like a header", chosen=chosen)
    # A column of codes is none of names.
    path = write(tmp_path / "x.tsv", "en\ta\tfr\tb\nen\tc\tfr\td\n")
    assert pairs_of(path, chosen=[2, 4]) == [("a", "b"), ("c", "d")]


def test_columns_that_do_not_fit_all_tables_say_that_they_count_for_all(tmp_path):
    told = "data.columns counts for every table and set"
    path = write(tmp_path / "x.tsv", "a\tb\n")
    refused(path, f"column 'en' is not there.*{told}", chosen=["en", "fr"])
    refused(path, f"asks for number 3; .*{told}", chosen=[2, 3])
    path = write(tmp_path / "x.jsonl", '{"en": "a", "fr": "b"}\n')
    refused(path, f"there is no 'src', but en, fr; .*{told}", chosen=["src", "tgt"])
    path = parquet_file(tmp_path / "x.parquet", text_table(en=["a"], fr=["b"]))
    refused(path, f"there is no 'src', but en, fr; .*{told}", chosen=["src", "tgt"])
    refused(path, f"asks for number 3; .*{told}", chosen=[2, 3])


@pytest.mark.parametrize("chosen", [None, [1, 2], ["en", "fr"]])
def test_lines_that_end_at_cr_are_told(tmp_path, chosen):
    path = write(tmp_path / "x.tsv", "en\tfr\r" + "a\tb\r" * 300)
    refused(path, r"x\.tsv:1: lines end at LF, .* CR line ends; .* tr '\\r'", chosen=chosen)
    path = write(tmp_path / "x.tsv", "a\rb\tc\r\td\n")
    assert pairs_of(path, chosen=[1, 2]) == [("a\rb", "c\r")]


def test_a_tsv_in_utf16_is_told(tmp_path):
    for encoding in ("utf-16", "utf-16-be"):
        path = write(tmp_path / "x.tsv", "\ufeffa\tb\n".encode(encoding))
        refused(path, r"x\.tsv:1: not UTF-8: .* iconv -f UTF-16 -t UTF-8")


def test_a_message_about_many_columns_stays_short(tmp_path):
    path = write(tmp_path / "x.tsv", "\t".join(["x" * 90] * 50) + "\n")
    with pytest.raises(UserError) as caught:
        pairs_of(path, chosen=["a", "b"])
    assert len(str(caught.value)) < 1_500


CELL = st.text(st.characters(exclude_characters="\t\n\r", codec="utf-8"), max_size=8)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5))
def test_cells_come_back_as_written(tmp_path, pairs):
    text = "".join(f"{source}\t{target}\n" for source, target in [("en", "fr"), *pairs])
    assert pairs_of(write(tmp_path / "x.tsv", text)) == pairs


# JSON lines.


@pytest.mark.parametrize(
    ("row", "chosen"),
    [
        ({"en": "a\n\tb", "fr": "b\u2028"}, None),
        ({"fr": "b\u2028", "id": 7, "en": "a\n\tb"}, None),
        ({"translation": {"fr": "b\u2028", "en": "a\n\tb"}}, None),
        ({"en": "a\n\tb", "fr": "b\u2028", "translation": {}}, None),
        ({"x": "a\n\tb", "y": "b\u2028", "en": 1}, ["x", "y"]),
        ({"translation": {"x": "a\n\tb", "y": "b\u2028"}}, ["x", "y"]),
        (
            {"en": "", "translation": {"en": "a\n\tb", "fr": "b\u2028"}},
            ["translation.en", "translation.fr"],
        ),
        ({"x": "a\n\tb", "translation": {"fr": "b\u2028"}}, ["x", "translation.fr"]),
        ({"translation.en": "a\n\tb", "fr": "b\u2028"}, ["translation.en", "fr"]),
    ],
)
@pytest.mark.parametrize("ascii_only", [True, False])
def test_which_values_of_an_object_are_read(tmp_path, row, chosen, ascii_only):
    line = json.dumps(row, ensure_ascii=ascii_only) + "\n"
    for path, content in (("x.jsonl", line.encode()), ("x.jsonl.gz", gzip.compress(line.encode()))):
        found = pairs_of(write(tmp_path / path, content), chosen=chosen)
        assert found == [("a\n\tb", "b\u2028")]


@pytest.mark.parametrize(
    ("line", "match"),
    [
        ("", r"not JSON \(Expecting value"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"en": ' + "1" * 5_000 + "}", "not JSON"),
        ("[1]", ": a list; an object by language was expected"),
        ("null", ": null; an object"),
        ('{"en": "a"}', r"there is no 'fr', but en; set data\.source_lang"),
        ("{}", "there is no 'en', but nothing"),
        ('"en"', ": a string; an object"),
        ('{"translation": {"en": "a"}}', "there is no 'fr', but en"),
        ('{"en": "a", "fr": null}', "'fr' is null; text was expected"),
        ('{"en": "a", "fr": 7}', "'fr' is a number"),
        ('{"en": ["a"], "fr": "b"}', "'en' is a list"),
        ('{"en": {}, "fr": "b"}', "'en' is an object"),
        ('{"en": true, "fr": "b"}', "'en' is true"),
        ('{"en": "a", "fr": "\\ud83d b"}', "half a surrogate pair"),
        ('{"en": "a", "en": "b", "fr": "c"}', "key 'en' is there twice; remove or rename one"),
        ('{"en": "a", "fr": "c", "\\u0066r": "c"}', "key 'fr' is there twice"),
        ('{"translation": {"en": "a", "fr": "b", "fr": "c"}}', "key 'fr' is there twice"),
        ('{"translation": {"en": "a", "fr": "b"}, "translation": {}}', "key 'translation' is"),
    ],
)
def test_a_line_of_json_that_is_refused(tmp_path, line, match):
    content = '{"en": "a", "fr": "\\ud83d\\ude00"}\n' + line + "\n"
    refused(write(tmp_path / "x.jsonl", content), rf"x\.jsonl:2.*{match}")


def test_a_key_that_is_not_looked_for_may_stand_twice(tmp_path):
    path = write(tmp_path / "x.jsonl", '{"id": 1, "id": 2, "en": "a", "fr": "b"}\n')
    assert pairs_of(path) == [("a", "b")]
    nested = '{"translation": {"x": "a", "x": "b", "y": "c"}}\n'
    chosen = ["translation.x", "translation.y"]
    refused(write(path, nested), "key 'x' is there twice", chosen=chosen)
    refused(write(path, '{"translation": {"x": "a"}}\n'), "no 'translation.y'", chosen=chosen)


def test_objects_have_no_numbered_columns(tmp_path):
    path = write(tmp_path / "x.jsonl", "{}\n")
    refused(path, r"data\.columns=\[1, 2\] counts columns, but objects have keys", chosen=[1, 2])


# Parquet.


def parquet_file(path: Path, table: pa.Table, **options) -> Path:
    parquet.write_table(table, path, **options)
    return path


def text_table(kind=None, **columns) -> pa.Table:
    return pa.table({name: pa.array(cells, kind or pa.string()) for name, cells in columns.items()})


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_columns_of_parquet_are_text_of_any_kind(tmp_path, kind):
    sources, targets = zip(*PAIRS, strict=True)
    table = text_table(kind, fr=targets, id=sources, en=sources)
    assert pairs_of(parquet_file(tmp_path / "x.parquet", table)) == PAIRS
    assert pairs_of(tmp_path / "x.parquet", chosen=[3, 1]) == PAIRS
    assert pairs_of(tmp_path / "x.parquet", chosen=["id", "fr"]) == PAIRS


def test_translation_of_parquet_is_looked_into(tmp_path):
    rows = [{"id": 1, "translation": {"fr": fr, "en": en}} for en, fr in PAIRS]
    path = parquet_file(tmp_path / "x.parquet", pa.Table.from_pylist(rows))
    assert pairs_of(path) == PAIRS
    assert pairs_of(path, chosen=["fr", "en"]) == [(fr, en) for en, fr in PAIRS]
    assert pairs_of(path, chosen=["translation.en", "translation.fr"]) == PAIRS
    refused(path, "no 'translation.x'", chosen=["translation.en", "translation.x"])
    flat = [{"src": row["translation"]["en"], **row} for row in rows]
    path = parquet_file(tmp_path / "x.parquet", pa.Table.from_pylist(flat))
    assert pairs_of(path, chosen=["src", "translation.fr"]) == PAIRS


def test_parquet_is_read_in_small_parts(tmp_path, monkeypatch):
    monkeypatch.setattr("rnnsearch.tables._BATCH_ROWS", 7)
    sources = [f"s\n{i}" for i in range(100)]
    table = text_table(en=sources, fr=sources)
    path = parquet_file(tmp_path / "x.parquet", table, row_group_size=33)
    assert [source for source, _ in pairs_of(path)] == sources
    broken = text_table(en=sources, fr=[*sources[:44], None, *sources[45:]])
    refused(parquet_file(path, broken, row_group_size=33), r"x\.parquet: row 45: 'fr' is null")


@pytest.mark.parametrize(
    ("table", "match", "chosen"),
    [
        (text_table(en=["a"]), r"there is no 'fr', but en; set data\.source_lang", None),
        (text_table(en=["a"], fr=[None]), r"row 1: 'fr' is null", None),
        (text_table(pa.null(), en=[None], fr=[None]), r"row 1: 'en' is null", None),
        (text_table(pa.int64(), en=[1], fr=[2]), "column 'en' holds int64; text was", None),
        (text_table(pa.binary(), en=[b"a"], fr=[b"b"]), "column 'en' holds binary", None),
        (text_table(en=[], fr=[]), "the table has no rows", None),
        (text_table(en=["a"], fr=["b"]), "2 columns, but data.columns asks for number 3", [1, 3]),
        (pa.table([["a"], ["b"], ["c"]], ["en", "fr", "en"]), "column 'en' is there twice", None),
        (
            pa.Table.from_pylist([{"id": 1, "translation": {"en": "a", "de": "b"}}]),
            "there is no 'fr', but id, translation.(en, translation.de|de, translation.en)",
            None,
        ),
        (pa.Table.from_pylist([{"translation": None}, {"translation": {"en": "a", "fr": "b"}}]),
         r"row 1: 'en' is null", None),
        (pa.table({"en": pa.array([b"a", b"\xe9"]).cast(pa.string(), safe=False), "fr": ["", ""]}),
         "row 2: 'en' is not UTF-8", None),
    ],
)  # fmt: skip
def test_parquet_that_is_refused(tmp_path, table, match, chosen):
    path = parquet_file(tmp_path / "x.parquet", table)
    refused(path, rf"x\.parquet: .*{match}", chosen=chosen)


def test_what_is_no_parquet_is_refused(tmp_path):
    refused(write(tmp_path / "x.parquet", b"en\tfr\n" * 9), r"x\.parquet: no parquet table")
    refused(write(tmp_path / "y.parquet", b""), r"y\.parquet: no parquet table")


def test_parquet_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch):
    path = parquet_file(tmp_path / "x.parquet", text_table(en=["a"], fr=["b"]))
    real = parquet.ParquetFile.iter_batches

    def touched(table, *args, **options):
        yield from real(table, *args, **options)
        with path.open("ab") as file:
            file.write(b"x")

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", touched)
    with pytest.raises(UserError, match="changed while it was read; start again"):
        pairs_of(path)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_table(tmp_path):
    """Read 250 MB in one row group with an address space that could not hold it."""
    text = [f"{i} " + "word " * 100 for i in range(250_000)]
    table = text_table(en=text, fr=text)
    parquet_file(tmp_path / "x.parquet", table, row_group_size=len(text), use_dictionary=False)
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from rnnsearch.tables import PairColumns, table_files\n"
        "import datasets, pyarrow.parquet\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "table_files((Path(sys.argv[1]),), PairColumns(('en', 'fr'))).read()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "x.parquet")]
    environment = {**os.environ, "HF_DATASETS_CACHE": str(tmp_path / "c")}
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    assert int(done.stdout) < 150_000, "kilobytes"


# What all forms share.


def test_an_unknown_ending_is_refused(tmp_path):
    for name in ("x.csv", "x", "x.parquet.gz", "x.gz", "tsv"):
        with pytest.raises(UserError, match=r"ends in \.tsv, \.jsonl .* or \.parquet"):
            table_files((tmp_path / name,), EN_FR)


def test_tables_are_read_one_after_the_other(tmp_path):
    first = write(tmp_path / "a.TSV", "en\tfr\na\tb\n")
    second = write(tmp_path / "b.tsv", "c\td\n")
    third = write(tmp_path / "c.jsonl", '{"en": "e", "fr": "f \\u00a0"}\n')
    tables = table_files((first, second, third), EN_FR)
    assert list(tables.read()["source"]) == ["a", "c", "e"]
    assert tables.references() == ["b", "d", "f"]
    assert tables.label == f"{first} and 2 more"
    assert tables.describe() == {"table": [str(first), str(second), str(third)]}
    with pytest.raises(UserError, match=r"e\.tsv: the table has no rows"):
        pairs_of(first, write(tmp_path / "e.tsv", ""))


def test_a_table_that_is_missing_is_named(tmp_path):
    write(tmp_path / "words.tsv", "a\tb\n")
    for name in ("word.tsv", "word.jsonl", "word.parquet"):
        refused(tmp_path / name, rf"{name}: no such file")


def test_an_edited_table_is_noticed(tmp_path, cache):
    path = write(tmp_path / "x.tsv", "en\tfr\na\tb\n")
    assert pairs_of(path) == [("a", "b")]
    stamp = path.stat()
    write(path, "en\tfr\nc\td\n")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert pairs_of(path) == [("c", "d")]
    files = sorted((cache / "rnnsearch").iterdir())
    pairs_of(path)
    assert sorted((cache / "rnnsearch").iterdir()) == files


def test_the_same_table_with_other_columns_or_languages_is_another(tmp_path):
    path = write(tmp_path / "x.tsv", "en\tfr\na\tb\n")
    assert pairs_of(path) == [("a", "b")]
    assert pairs_of(path, chosen=["fr", "en"]) == [("b", "a")]
    turned = table_files((path,), PairColumns(("fr", "en"))).read()
    assert turned[0] == {"source": "b", "target": "a"}
    with pytest.raises(UserError, match=r"x\.tsv:1: .* looks like a header"):
        table_files((path,), PairColumns(("de", "fr"))).read()


def test_a_table_gives_what_files_give(tmp_path):
    """The same pairs have the same text, whatever they come from; blank lines stay pairs."""
    sources, targets = ["a  b", "", "\u2028"], [" é", "x\u3000", ""]
    for side, lines in (("en", sources), ("fr", targets)):
        write(tmp_path / side, "".join(f"{line}\n" for line in lines))
    rows = zip(sources, targets, strict=True)
    table = write(tmp_path / "x.tsv", "en\tfr\n" + "".join(f"{s}\t{t}\n" for s, t in rows))
    files = PairFiles((tmp_path / "en",), (tmp_path / "fr",))
    tables = table_files((table,), EN_FR)
    assert files.read()[:] == tables.read()[:]
    assert files.references() == tables.references() == [" é", "x", ""]


def data_config(**changes) -> DataConfig:
    empty = {"source": None, "target": None, "table": None, "split": None}
    splits = {name: SplitConfig(**empty | changes.pop(name, {})) for name in ("train", "valid")}
    splits["test"] = ScoredSplitConfig(**empty | changes.pop("test", {}), alignments=None)
    values = {
        "kind": "files", "dir": None, "path": None, "name": None, "streaming": False,
        "source_lang": "en", "target_lang": "fr", "columns": None, "max_length": None,
        "max_ratio": None,
    }  # fmt: skip
    return DataConfig(**values | changes, **splits)


def test_a_split_given_as_a_table_comes_before_the_folder(tmp_path):
    table = write(tmp_path / "some.words.tsv.gz", gzip.compress(b"a\tb\n"))
    data = data_config(kind="demo", valid={"table": str(table)}, test={"table": [str(table)]})
    train, valid = training_sources(data, seed=1)
    assert isinstance(train, PairFiles)
    assert isinstance(valid, TableFiles)
    assert list(sources_of_test(data)) == ["some.words"]
    assert valid.read()[0] == {"source": "a", "target": "b"}


def test_columns_reach_the_table(tmp_path):
    table = write(tmp_path / "x.tsv", "1\tb\ta\n")
    data = data_config(train={"table": str(table)}, valid={"table": str(table)}, columns=[3, 2])
    for source in training_sources(data, seed=1):
        assert source.read()[0] == {"source": "a", "target": "b"}


def test_a_split_that_is_not_given_is_refused(tmp_path):
    table = write(tmp_path / "x.tsv", "a\tb\n")
    with pytest.raises(UserError, match=r"data\.valid: data=files needs it; .*data\.valid\.table"):
        training_sources(data_config(train={"table": str(table)}), seed=1)
    with pytest.raises(UserError, match=r"names no test set; .*data\.test\.table=FILE"):
        sources_of_test(data_config())
