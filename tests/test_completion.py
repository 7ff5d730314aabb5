"""Tab completion: what it offers, and a real bash that asks for it."""

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cases_common import environment

from rnnsearch.cli.completion import answers
from rnnsearch.cli.main import main

BREAKS = " \t\n\"'><=;|&(:"  # bash's own COMP_WORDBREAKS


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Stand in a folder with files, and a run as far as completion looks into it."""
    monkeypatch.chdir(tmp_path)
    for folder in ("runs/a/checkpoints/best", "runs/a/checkpoints/step-40", "corpus", ".hidden"):
        Path(folder).mkdir(parents=True)
    for name in ("a.en", "b.en", "k d.en", "été=1.en", "it's.en", "corpus/train.en"):
        Path(name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("rnnsearch ", "--help |--version |evaluate |help |train |translate "),
        ("rnnsearch tr", "train |translate "),
        ("/opt/bin/rnnsearch eval", "evaluate "),
        ("  rnnsearch help tr", "train |translate "),
        ("rnnsearch", ""),
        ("", ""),
        ("rnnsearch zzz ", ""),
        ("rnnsearch zzz mod", ""),
        ("rnnsearch train mod", "model.|model="),
        ("rnnsearch train tokenizer=", "bpe |unigram |word "),
        ("rnnsearch train data=h", "data=hub "),
        ("rnnsearch train experiment=g", "experiment=groundhog "),
        ("rnnsearch train experiment=m", "experiment=multi30k |experiment=multi30k_best "),
        ("rnnsearch train trainer.max_u", "trainer.max_updates="),
        ("rnnsearch train data.tr", "data.train."),
        (
            "rnnsearch train data.train.",
            "data.train.source=|data.train.split=|data.train.table=|data.train.target=",
        ),
        ("rnnsearch train trainer.metric=", "bleu |chrf |loss "),
        ("rnnsearch train seed=1 trainer.metric=b", "trainer.metric=bleu "),
        ("rnnsearch train resume=", "auto |must |never "),
        ("rnnsearch train model.bias=", "false |true "),
        ("rnnsearch train device=", "auto |cpu |cuda "),
        ("rnnsearch train trainer.patience=", "null "),
        ("rnnsearch train seed=", ""),
        ("rnnsearch train zzz=", ""),
        # The keys of a choice are those that it has.
        ("rnnsearch train optimizer=sgd optimizer.", "optimizer.lr=|optimizer.momentum="),
        ("rnnsearch train optimizer=sgd optimizer=adadelta optimizer.r", "optimizer.rho="),
        ("rnnsearch train scheduler.", "scheduler.min_lr_ratio=|scheduler.warmup_updates="),
        ("rnnsearch train optimizer=mine optimizer.m", "optimizer.momentum="),
        ("rnnsearch train optimizer.k", ""),
        # What a command does not have is not offered.
        ("rnnsearch evaluate mod", ""),
        ("rnnsearch evaluate exp", ""),
        ("rnnsearch evaluate d", "data.|data=|decode.|device="),
        ("rnnsearch translate d", "decode.|device="),
        ("rnnsearch translate data=", ""),
        ("rnnsearch translate run_dir=runs/a decode.beam", "decode.beam_size="),
        ("rnnsearch translate decode.beam", "decode.beam_size="),
        # Flags.
        ("rnnsearch train --m", "--multirun "),
        ("rnnsearch evaluate --m", ""),
        ("rnnsearch train --cfg ", "all |hydra |job "),
        ("rnnsearch train --config-dir ", "corpus/|runs/"),
        # Files and folders.
        ("rnnsearch translate run_dir=r", "run_dir=runs/"),
        ("rnnsearch translate run_dir=runs/", "run_dir=runs/a/"),
        ("rnnsearch translate input=a", "input=a.en "),
        ("rnnsearch translate input=corpus/", "input=corpus/train.en "),
        ("rnnsearch translate input=none/", ""),
        ("rnnsearch translate input=.", "input=.hidden/"),
        ("rnnsearch train data.dir=", "corpus/|null |runs/"),
        ("rnnsearch train data.train.source=[a.en,b", "data.train.source=[a.en,b.en"),
        ("rnnsearch train data.train.source=[a", "data.train.source=[a.en"),
        ("rnnsearch evaluate replace_unk=f", "replace_unk=false "),
        ("rnnsearch evaluate run_dir=runs/a checkpoint=b", "checkpoint=b.en |checkpoint=best "),
        ("rnnsearch evaluate run_dir=runs/a checkpoint=s", "checkpoint=step-40 "),
        # What Hydra or the shell would misread comes quoted for both.
        ("rnnsearch translate input=k\\ d", ""),
        ("rnnsearch translate input=ét", "input='\"été=1.en\"' "),
        ("rnnsearch translate input='\"é", ""),
    ],
)
def test_what_may_follow(here, typed, found):
    breaks = "=" if typed.endswith("=") else ""  # then the values alone
    assert "|".join(answers(typed, breaks=breaks)) == found


def test_quoted_paths_are_read_back_as_they_are(here):
    for name in ("k d.en", "été=1.en", "it's.en"):
        (answer,) = answers(f"rnnsearch translate input={name[:2].strip()}")
        (word,) = shlex.split(answer)
        assert word == f'input="{name}"'


def test_a_folder_of_ones_own_choices_counts(here):
    Path("conf/optimizer").mkdir(parents=True)
    Path("conf/optimizer/mine.yaml").touch()
    for flag in ("--config-dir conf", "--config-dir=conf", "-cd conf"):
        assert answers(f"rnnsearch train {flag} optimizer=m") == ["optimizer=mine "]
    assert answers("rnnsearch train --config-dir nowhere optimizer=m") == []


def test_the_shell_replaces_what_comes_after_its_last_break(here):
    assert answers("rnnsearch translate input=a", breaks=BREAKS) == ["a.en "]
    assert answers("rnnsearch train model.b", breaks=BREAKS) == ["model.bias="]
    assert answers("rnnsearch translate input=k", breaks=BREAKS) == ["'\"k d.en\"' "]


def test_the_cursor_counts_and_nothing_is_said_on_standard_error(here, monkeypatch, capfd):
    monkeypatch.setenv("COMP_LINE", "rnnsearch tra data=h")
    monkeypatch.setenv("COMP_POINT", "13")
    assert main(["-sc", "query=bash"]) == 0
    assert capfd.readouterr() == ("train \ntranslate \n", "")
    monkeypatch.delenv("COMP_POINT")
    monkeypatch.delenv("COMP_LINE")
    assert main(["--shell-completion", "query=bash"]) == 0
    assert capfd.readouterr() == ("", "")


def test_a_folder_that_cannot_be_read_offers_nothing(here, monkeypatch, capfd):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    monkeypatch.setattr(os, "scandir", refuse)
    for line in ("rnnsearch train --config-dir=corpus data=", "rnnsearch train run_dir=r"):
        monkeypatch.setenv("COMP_LINE", line)
        assert main(["-sc", "query=bash"]) == 0
        assert capfd.readouterr().err == ""


@pytest.mark.parametrize("words", [["-sc"], ["-sc", "install=tcsh"], ["-sc", "query=bash", "x"]])
def test_other_shells_are_refused(words, capfd):
    assert main(words) == 2
    message = "rnnsearch: -sc: expected -sc install=bash or uninstall=bash\n"
    assert capfd.readouterr() == ("", message)


# --- in bash itself


@pytest.fixture
def path(tmp_path_factory) -> str:
    """Return a PATH that begins with a `rnnsearch` of this interpreter."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "rnnsearch"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m rnnsearch "$@"\n')
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_bash_installs_calls_and_forgets_it(here, path):
    script = """
        set -u
        eval "$(rnnsearch -sc install=bash)"
        COMP_LINE="rnnsearch translate run_dir=runs/a input=" COMP_POINT=${#COMP_LINE}
        _rnnsearch_completion rnnsearch input= translate
        printf '<%s>' "${COMPREPLY[@]}"
        complete -p rnnsearch
        eval "$(rnnsearch -sc uninstall=bash)"
        complete -p rnnsearch 2> /dev/null || echo gone
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True,
        env={**environment(), "PATH": path, "LC_ALL": "C.UTF-8"}, timeout=60,
    )  # fmt: skip
    assert done.stderr == ""
    first, *rest = done.stdout.strip().split("\n")
    # Without `-i` bash has no COMP_WORDBREAKS of its own, so words come whole.
    assert "<input=a.en >" in first or "<a.en >" in first
    assert "k d.en" in first
    assert rest == ["gone"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("rnnsearch tra\t\t", "train +translate"),
        ("rnnsearch eval\t", "rnnsearch evaluate "),
        ("rnnsearch train mod\t\t\t", "model\\. +model="),
        ("rnnsearch train data=hu\t", "data=hub "),
        ("rnnsearch train trainer.max_up\t", "trainer\\.max_updates="),
        ("rnnsearch translate run_dir=runs/a decode.beam\t", "decode\\.beam_size="),
        ("rnnsearch translate run_dir=ru\t", "run_dir=runs/"),
        ("rnnsearch translate input=corp\ttr\t", "input=corpus/train\\.en "),
    ],
)
def test_the_tab_key(here, path, typed, shown):
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(environment(), PATH=path, PS1="$ ", TERM="dumb", HISTFILE="")
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    try:
        os.write(terminal, b'eval "$(rnnsearch -sc install=bash)"; echo rea""dy\n')
        read_until(terminal, "ready")
        for part in re.split("(?<=\t)(?!\t)", typed):
            os.write(terminal, part.encode())
            time.sleep(0.5 if part is not typed else 0)
        assert re.search(shown, read_until(terminal, shown))
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)


def read_until(terminal: int, pattern: str) -> str:
    """Return what a terminal shows until it shows `pattern`, or for a minute."""
    seen, end = "", time.monotonic() + 60
    while not re.search(pattern, seen) and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            seen += os.read(terminal, 65536).decode()
    return seen
