"""On real text: a few updates on Multi30k, scored as the `sacrebleu` command scores."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cases_common import MARKS, lines_of, succeed

from rnnsearch.corpus import PairFiles
from rnnsearch.text import train_tokenizers

pytestmark = [pytest.mark.corpus, pytest.mark.slow]


def test_multi30k_trains_and_scores_like_the_sacrebleu_command(corpora, tmp_path):
    run, folder = tmp_path / "run", corpora / "multi30k"
    succeed(
        "train", "experiment=multi30k", f"data.dir={folder}", f"run_dir={run}", "device=cpu",
        "trainer.max_minutes=null", "trainer.max_updates=12", "trainer.valid_every=1000",
        "decode.beam_size=1", "decode.max_length=4", "model.hidden_size=32",
        "model.encoder_size=32", "model.embedding_size=32", "tokenizer.vocab_size=1000",
    )  # fmt: skip
    log = (run / "train.log").read_text()
    assert "29000 pairs read" in log
    result = succeed("evaluate", f"run_dir={run}", "decode.max_length=4")
    assert "test_2016_flickr" in result.out
    assert "test_2017_flickr" in result.out
    for name in ("test_2016_flickr", "test_2017_flickr"):
        record = json.loads((run / f"evaluations/{name}/evaluation.json").read_text())
        printed = subprocess.run(
            [sys.executable, "-m", "sacrebleu", folder / f"{name}.fr.gz", "-b", "-w", "2", "-i",
             run / f"evaluations/{name}/hypotheses.txt"],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        assert float(printed) == round(record["bleu"]["score"], 2)
        assert record["sentences"] == 1000


def test_the_dirty_lines_of_real_debates_are_read_and_translated(corpora, base_run, tmp_path):
    """Soft hyphens, U+FFFD, lost ligatures, mixed apostrophes: a line in, a line out."""
    out = tmp_path / "out"
    succeed(
        "translate", f"run_dir={base_run}", f"input={corpora / 'europarl' / 'dirty.en.gz'}",
        f"output={out}", "decode.max_length=3",
    )  # fmt: skip
    assert out.read_bytes().count(b"\n") == 3996


@pytest.mark.parametrize(
    ("name", "pairs", "longest"),
    [
        ("europarl/dirty", 3996, 135),
        ("europarl/test_length", 1272, 100),
        ("tatoeba/test", 2000, 43),
    ],
)
def test_real_lines_are_read_as_they_stand(
    corpora: Path, base_run: Path, tmp_path: Path, name: str, pairs: int, longest: int
) -> None:
    files = PairFiles((corpora / f"{name}.en.gz",), (corpora / f"{name}.fr.gz",))
    found = files.read()
    assert len(found) == pairs == len(files.references())
    assert max(len(line.split()) for line in found["source"]) == longest
    # Lost characters, soft hyphens and odd apostrophes go through every kind of tokenizer.
    odd = [line for line in found["source"] if not line.isascii()][:30] + found["source"][:10]
    source, output = tmp_path / "in", tmp_path / "out"
    source.write_text("".join(line + "\n" for line in odd))
    words = ("decode.beam_size=2", "decode.max_length=10", f"input={source}", f"output={output}")
    succeed("translate", f"run_dir={base_run}", *words)
    assert len(lines_of(output)) == len(odd)
    assert not any(map(MARKS.search, lines_of(output)))
    lists = train_tokenizers(
        found["source"], found["target"],
        kind="word", vocab_size=5000, joint=False, languages=("en", "fr"), warn=print,
    )  # fmt: skip
    for side, lines in zip(lists, (odd, found["target"][:40]), strict=True):
        for line in lines:
            assert len(side.split(line)) == len(side.encode(line)) > 0
            assert "\n" not in side.decode(side.encode(line))
