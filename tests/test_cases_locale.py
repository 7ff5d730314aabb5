"""Case O1: the locale changes nothing."""

import subprocess
from pathlib import Path

import pytest
from cases_common import IN, QUICK, TINY, command, environment, lines_of, same_weights, succeed

ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def under(
    changes: dict[str, str], *argv: str | Path, stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command line in a process with other environment variables."""
    environ = {key: value for key, value in environment().items() if key not in ("LANG", "LC_ALL")}
    done = subprocess.run(
        command(*argv), input=stdin, capture_output=True, env={**environ, **changes}, timeout=600
    )
    assert done.returncode == 0, done.stderr.decode()
    return done


def accented(folder: Path, name: str, start: str = "Déjà été ") -> Path:
    """Return a copy of a file whose lines have accents that a small model learns to print."""
    path = folder / "accent.fr"
    path.write_text("".join(start + line + "\n" for line in lines_of(IN / name)), "utf-8")
    return path


@pytest.mark.slow
def test_o1_an_ascii_locale(tmp_path: Path) -> None:
    changed = (
        f"data.train.target={accented(tmp_path, 'base.train.fr')}",
        *("trainer.max_updates=200", "trainer.valid_every=100"),
    )
    utf8, ascii_run = tmp_path / "utf8", tmp_path / "ascii"
    succeed("train", *TINY, *changed, f"run_dir={utf8}")
    under(ASCII, "train", *TINY, *changed, f"run_dir={ascii_run}")
    assert same_weights(utf8, ascii_run)

    words = ("translate", f"run_dir={utf8}", "decode.beam_size=1")
    source = IN / "base.test.en"
    succeed(*words, f"input={source}", f"output={tmp_path}/o")
    right = (tmp_path / "o").read_bytes()
    assert "Déjà" in right.decode()
    under(ASCII, *words, f"input={source}", f"output={tmp_path}/p")
    assert (tmp_path / "p").read_bytes() == right
    text = source.read_bytes()
    assert under(ASCII, *words, stdin=text).stdout == right
    assert under({**ASCII, "PYTHONIOENCODING": "ascii"}, *words, stdin=text).stdout == right

    test = (f"data.test.source={source}", f"data.test.target={IN}/base.test.fr")
    printed = succeed("evaluate", f"run_dir={utf8}", *test).out
    hypotheses = (utf8 / "hypotheses.txt").read_bytes()
    assert under(ASCII, "evaluate", f"run_dir={utf8}", *test).stdout.decode() == printed
    assert (utf8 / "hypotheses.txt").read_bytes() == hypotheses


def test_accented_text_and_paths_under_an_ascii_locale(quick_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "été"
    folder.mkdir()
    source = folder / "entrée.en"
    source.write_text("The café is naïve — “quoted”.\nThe cat sees a dog.\n", "utf-8")
    output, aligned = folder / "sortie.fr", folder / "liens.json"
    words = ("translate", f"run_dir={quick_run}", "decode.beam_size=1", f'input="{source}"')
    form = ("alignment_format=json", f'alignments="{aligned}"', f'output="{output}"')
    succeed(*words, *form)
    right, links = output.read_bytes(), aligned.read_bytes()
    under(ASCII, *words, *form)
    assert output.read_bytes() == right
    assert aligned.read_bytes() == links
    run = folder / "run"
    few = ("trainer.max_updates=2", f'run_dir="{run}"')
    target = accented(folder, "tiny.fr")
    under(ASCII, "train", *QUICK, *few, f'data.train.target="{target}"')
    assert "été" in (run / "config.yaml").read_text("utf-8")
    test = (f'data.test.source="{source}"', f'data.test.target="{source}"', "bootstrap=0")
    under({}, "evaluate", f'run_dir="{run}"', *test, "decode.max_length=3")
