"""Case P: any path that the file system allows works."""

import shutil
from pathlib import Path

import pytest
from cases_common import (
    IN,
    QUICK,
    TINY,
    check_refused,
    lines_of,
    rnnsearch,
    same_weights,
    succeed,
    weights,
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


def quoted(path: Path) -> str:
    """Return a path between double quotes, as Hydra reads it."""
    return '"{}"'.format(str(path).replace('"', r"\"").replace("${", r"\${"))


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
def test_any_name_works_quoted(one_run: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    source, output, aligned = (folder / f"{part}{name}" for part in ("in ", "out ", "aligned "))
    shutil.copy(IN / "seven.en", source)
    named = (f"input={quoted(source)}", f"output={quoted(output)}", f"alignments={quoted(aligned)}")
    words = (*named, f"plots={quoted(folder / 'p')}", "decode.max_length=3", "decode.beam_size=1")
    succeed("translate", f"run_dir={one_run}", *words)
    assert len(lines_of(output)) == len(lines_of(aligned)) == 7
    assert {path.name for path in (folder / "p").iterdir()} == {f"{n}.png" for n in range(1, 8)}
    test = (f"data.test.source={quoted(source)}", f"data.test.target={quoted(source)}")
    copy = folder / f"run {name}"
    shutil.copytree(one_run, copy, symlinks=True)
    few = ("decode.max_length=3", "decode.beam_size=1", "bootstrap=0", "test_set=odd", "ter=false")
    succeed("evaluate", f"run_dir={quoted(copy)}", *test, *few)
    assert len(lines_of(copy / "evaluations" / "odd" / "hypotheses.txt")) == 7


def test_a_run_in_an_odd_folder_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "été 1=2, (3) [x]" / "${y}"
    words = ("train", *QUICK, f"run_dir={quoted(run)}")
    succeed(*words, "trainer.max_updates=2")
    succeed(*words, "trainer.max_updates=4")
    other = tmp_path / "again, [2]"
    bare = [word for word in QUICK if not word.startswith(("model", "tokenizer"))]
    start = (f"start_from={quoted(run)}", f"run_dir={quoted(other)}", "optimizer.lr=1e-30")
    succeed("train", *bare, *start, "trainer.max_updates=1")
    assert weights(other).keys() == weights(run).keys()
