"""Case P1: any path that the file system allows works, or the command says how to quote it.

Case P2, started from another folder, stands with the data.
"""

import shlex
import shutil
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from cases_common import (
    IN,
    QUICK,
    TINY,
    check_refused,
    lines_of,
    refuse,
    rnnsearch,
    same_weights,
    succeed,
    translate,
    weights,
)

from rnnsearch.cli import runfolder
from rnnsearch.cli.main import main
from rnnsearch.cli.places import check_place
from rnnsearch.cli.quoting import quoted as quoted_for_hydra
from rnnsearch.cli.quoting import quoted_twice
from rnnsearch.errors import UserError

# Of every kind that Hydra, a shell or YAML reads as something else.
NAMES = (
    *(
        "été 1=2, (3) [x].en",
        "a=b.en",
        "é.en",
        "a,b.en",
        "[a].en",
        "{a}.en",
        "(a).en",
        "a b.en",
        " a.en ",
        "a:b.en",
    ),
    *("a'b.en", 'a"b.en', '"a".en', "back\\slash", "back\\", 'a\\"b', "${x}.en", "\\${x}.en"),
    *("$HOME.en", "~a.en", "-a.en", "#a;b&c.en", "*?.en", "a|b.en", "a%20b.en", "tab\t.en"),
    *("line\nend.en", "\u2028.en", "😀.en", "null", "true", "1e3", "007", "nan", "None.en", "-"),
)

ODD_NAMES = [
    "été 1=2, (3) [x].en",
    "a b.en",
    "a,b.en",
    "a=b=c.en",
    "{x}.en",
    "${oc.env:HOME}.en",
    "#hash.en",
    "a'b.en",
    'a"b.en',
    "-dash.en",
    "~tilde.en",
    "null.en",
    "1.5.en",
    "日本語 نص.en",
    "percent%20.en",
    "semi;colon&and.en",
    "back\\slash.en",
]


def quoted(key: str, path: str | Path) -> str:
    """Return the word that a shell makes of the override as it is advised."""
    (word,) = shlex.split(quoted_twice(key, str(path)))
    return word


def value(path: Path) -> str:
    """Return a path as Hydra is to see it."""
    return quoted_for_hydra(str(path))


@pytest.mark.slow
def test_p1_a_path_with_signs_of_its_own(base_run: Path, tmp_path: Path) -> None:
    path = tmp_path / "été 1=2, (3) [x].en"
    shutil.copy(IN / "base.train.en", path)
    run = tmp_path / "q"
    told = succeed("train", *TINY, f'data.train.source="{path}"', f"run_dir={run}").err
    assert "168 pairs read, 168 kept" in told
    assert same_weights(run, base_run)


@pytest.mark.parametrize("name", ["a=b.en", "é.en", "été 1=2, (3) [x].en", "a,b.en", "a b.en"])
def test_p1_unquoted_works_or_says_how_to_quote(tmp_path: Path, name: str) -> None:
    path, run = tmp_path / name, tmp_path / "q"
    shutil.copy(IN / "tiny.en", path)
    words = ("train", *QUICK, "trainer.max_updates=1", f"run_dir={run}")
    result = rnnsearch(*words, f"data.train.source={path}")
    if result.status == 0:
        assert f"{path} | tiny.fr: 12 pairs read, 12 kept" in result.err
        return
    told = check_refused(result, words=("data.train.source", "quote"), status=(2,))
    # What the message says to type does work.
    shown = told.rpartition("'data.train.source=")[2].rpartition("'")[0]
    assert "12 pairs read, 12 kept" in succeed(*words, f"data.train.source={shown}").err


@pytest.mark.parametrize(
    "name",
    [*ODD_NAMES[:5], *(pytest.param(name, marks=pytest.mark.slow) for name in ODD_NAMES[5:])],
)
def test_any_name_works_value(one_run: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    source, output, aligned = (folder / f"{part}{name}" for part in ("in ", "out ", "aligned "))
    shutil.copy(IN / "seven.en", source)
    named = (f"input={value(source)}", f"output={value(output)}", f"alignments={value(aligned)}")
    words = (*named, f"plots={value(folder / 'p')}", "decode.max_length=3", "decode.beam_size=1")
    succeed("translate", f"run_dir={one_run}", *words)
    assert len(lines_of(output)) == len(lines_of(aligned)) == 7
    assert {path.name for path in (folder / "p").iterdir()} == {f"{n}.png" for n in range(1, 8)}
    test = (f"data.test.source={value(source)}", f"data.test.target={value(source)}")
    copy = folder / f"run {name}"
    shutil.copytree(one_run, copy, symlinks=True)
    few = ("decode.max_length=3", "decode.beam_size=1", "bootstrap=0", "test_set=odd", "ter=false")
    succeed("evaluate", f"run_dir={value(copy)}", *test, *few)
    assert len(lines_of(copy / "evaluations" / "odd" / "hypotheses.txt")) == 7


def test_a_run_in_an_odd_folder_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "été 1=2, (3) [x]" / "${y}"
    words = ("train", *QUICK, f"run_dir={value(run)}")
    succeed(*words, "trainer.max_updates=2")
    succeed(*words, "trainer.max_updates=4")
    other = tmp_path / "again, [2]"
    bare = [word for word in QUICK if not word.startswith(("model", "tokenizer"))]
    start = (f"start_from={value(run)}", f"run_dir={value(other)}", "optimizer.lr=1e-30")
    succeed("train", *bare, *start, "trainer.max_updates=1")
    assert weights(other).keys() == weights(run).keys()


@pytest.fixture
def bodies(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what the commands would have worked on."""
    seen: list[Any] = []
    for command in ("train", "translate"):
        body = types.SimpleNamespace(run=seen.append)
        monkeypatch.setitem(sys.modules, f"rnnsearch.cli.{command}", body)
    return seen


def test_p1_every_name_arrives_as_it_is_when_quoted(
    bodies: list[Any], base_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in NAMES[:-1]:
        path = Path(name)
        path.write_text("a\n")
        words = [quoted("input", name), quoted("output", f"./{name}.fr"), quoted("plots", name)]
        assert main(["translate", f"run_dir={base_run}", *words]) == 0, name
        config = bodies.pop()
        assert (config.input, config.output, config.plots) == (name, f"./{name}.fr", name)


def test_p1_every_name_unquoted_works_or_is_refused_by_its_key(
    bodies: list[Any], base_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        if "\\${" in name:  # the way to write `${`
            continue
        Path(name).write_text("a\n")
        result = rnnsearch("translate", f"run_dir={base_run}", f"input={name}")
        if result.status == 0:
            assert bodies.pop().input == name
        else:
            assert (result.status, result.out, bodies) == (2, "", [])
            assert result.err.count("\n") == 1
            assert result.err.startswith("rnnsearch: input"), name


def test_p1_in_a_list_and_in_every_key_that_takes_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for language in ("en", "fr"):
        lines = (IN / f"tiny.{language}").read_bytes().split(b"\n")
        Path(f"(1) é, a=b.{language}").write_bytes(b"\n".join(lines[:6]) + b"\n")
        Path(f"[2] ü.{language}").write_bytes(b"\n".join(lines[6:]))
    lists = [
        f'data.train.{side}=["(1) é, a=b.{language}","[2] ü.{language}"]'
        for side, language in (("source", "en"), ("target", "fr"))
    ]
    run = "rüns/a=1, (b) [c]"
    settings = (*lists, "trainer.max_updates=2", quoted("run_dir", run))
    assert "12 pairs read, 12 kept" in succeed("train", *QUICK, *settings).err
    test = (quoted("data.test.source", "[2] ü.en"), quoted("data.test.target", "[2] ü.fr"))
    scores = quoted("scores", "scöres, 1=2")
    succeed("evaluate", quoted("run_dir", run), *test, scores, 'test_set="tést, 1=2"')
    assert len(lines_of(Path("scöres, 1=2"))) == 6
    assert len(lines_of(Path(run, "evaluations", "tést, 1=2", "hypotheses.txt"))) == 6
    outputs = [quoted(key, f"{key} é=1") for key in ("output", "alignments", "plots")]
    succeed("translate", quoted("run_dir", run), quoted("input", "[2] ü.en"), *outputs)
    assert len(lines_of(Path("output é=1"))) == len(lines_of(Path("alignments é=1"))) == 6
    assert Path("plots é=1").is_dir()
    assert "going on from step-2" in succeed("train", *QUICK, *settings[:-2], settings[-1]).err


def test_a_name_in_no_encoding_at_all(base_run: Path, tmp_path: Path) -> None:
    odd = f"{tmp_path}/b\udcff.en"
    shutil.copy(IN / "tiny.en", odd)
    words = (quoted("input", odd), quoted("output", f"{odd}.out"), "decode.beam_size=1")
    succeed("translate", f"run_dir={base_run}", *words)
    assert len(lines_of(Path(f"{odd}.out"))) == 12


# --- places that cannot be written


@pytest.mark.parametrize("name", ["file", "file/x", "file/x/y"])
def test_a_run_folder_that_cannot_be_made_is_told_before_any_work(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("kept")
    told = (f"run_dir={tmp_path}/{name}: ", "file")
    refuse("train", *QUICK, f"run_dir={tmp_path}/{name}", words=told, status=(2,))
    assert (tmp_path / "file").read_text() == "kept"


def test_a_name_that_is_too_long_is_told(base_run: Path, tmp_path: Path) -> None:
    long = "z" * 300
    refuse("train", *QUICK, f"run_dir={tmp_path}/{long}", words=("run_dir=", "too long"))
    told = (long, "too long")
    refuse("train", f"start_from={tmp_path}/{long}", words=told, status=(2,))
    refuse("translate", f"run_dir={base_run}", f"input={long}", words=told, status=(2,))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "folder", "message"),
    [
        ("file", True, "plots=file: is a file; name a folder"),
        ("folder", False, "plots=folder: is a folder; name a file"),
        ("file/x", True, "plots=file/x: file is a file, and no folder"),
        ("file/x", False, "plots=file/x: file is a file, and no folder"),
        ("file/x/y", True, "file is a file, and no folder"),
        ("none/x", False, "plots=none/x: there is no folder none; make it first"),
        ("folder/" + 300 * "z", False, "File name too long"),
    ],
)
def test_a_place_is_refused(
    path: str, folder: bool, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    with pytest.raises(UserError, match=message):
        check_place("plots", Path(path), folder=folder)


def test_a_place_where_nothing_may_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("folder").mkdir()
    for path, folder in (("file", False), ("new", False), ("folder", True), ("new/er", True)):
        check_place("output", Path(path), folder=folder)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    for path, folder, message in (
        ("file", False, "output=file: may not be written to"),
        ("new", False, r"output=new: nothing may be written in \."),
        ("folder", True, "output=folder: may not be written to"),
        ("new/er", True, r"output=new/er: nothing may be written in \."),
    ):
        with pytest.raises(UserError, match=message):
            check_place("output", Path(path), folder=folder)


# --- nothing is left behind by a command that is refused


def test_a_refused_training_takes_its_folder_away(tmp_path: Path) -> None:
    words = (f"data.train.target={IN}/uneven.train.fr", f"run_dir={tmp_path}/a/b")
    refuse("train", *TINY, *words, words=("uneven.train.fr",))
    assert list(tmp_path.iterdir()) == []
    # What was there stays, and so does a folder with something in it.
    (tmp_path / "a").mkdir()
    refuse("train", *TINY, *words, words=("uneven.train.fr",))
    assert list(tmp_path.rglob("*")) == [tmp_path / "a"]


def test_what_a_failed_training_made_is_only_removed_while_it_holds_no_run(tmp_path: Path) -> None:
    run = tmp_path / "a" / "b"

    def fail_after(*names: str) -> None:
        with runfolder.run_folder(run):
            for name in names:
                (run / name).touch()
            raise UserError("no")

    with pytest.raises(UserError, match="no"):
        fail_after("train.log", "config.yaml")
    assert {path.name for path in run.iterdir()} == {"train.log", "config.yaml"}
    shutil.rmtree(tmp_path / "a")
    with pytest.raises(UserError, match="no"):
        fail_after("train.log")
    assert list(tmp_path.iterdir()) == []
    run.mkdir(parents=True)
    with pytest.raises(UserError, match="no"):
        fail_after("train.log")
    assert (run / "train.log").exists()


def test_translating_does_not_depend_on_where_the_run_is(base_run: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a=1, (b) [é]"
    shutil.copytree(base_run, odd, symlinks=True)
    words = (f"input={IN}/tiny.en", f"output={tmp_path}/o", "decode.beam_size=1")
    succeed("translate", quoted("run_dir", odd), *words)
    assert lines_of(tmp_path / "o") == translate(base_run, lines_of(IN / "tiny.en"), tmp_path)
