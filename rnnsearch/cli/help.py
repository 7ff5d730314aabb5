"""What ``rnnsearch COMMAND --help`` prints.

Hydra could print it too, but lists the groups so slowly that help would take seconds.
"""

import importlib.resources
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_HELP = {
    "train": """\
rnnsearch train [KEY=VALUE | GROUP=CHOICE ...]: train a model; the same command goes on
with a run that was stopped.

Examples
  rnnsearch train
  rnnsearch train experiment=multi30k data.dir=PATH
  rnnsearch train data=files data.train.source=a.en data.train.target=a.fr \\
      data.valid.source=b.en data.valid.target=b.fr
  rnnsearch train data=hub data.path=Helsinki-NLP/opus_books data.name=en-fr
  rnnsearch train start_from=runs/demo data=folder data.dir=PATH
  rnnsearch train -m model=rnnsearch,rnnencdec,transformer_input seed=1,2

Groups (GROUP=CHOICE)
GROUPS

Keys that matter (KEY=VALUE; null is "no value")
  run_dir, name           the run's folder; runs/NAME by default
  seed, device            device: auto, cpu, cuda, cuda:N
  resume                  auto, never, must
  logger                  none, tensorboard
  start_from              a run whose weights and tokenizers start this one (fine-tuning)
  model.hidden_size, model.embedding_size, model.dropout, model.wiring
  model.attention         rnnsearch, transformer_input: additive, dot, scaled_dot, general
  model.unit              rnnencdec: gated, lstm
  model.positions, model.layers
                          transformer_input: sinusoidal, learned, none; of self-attention
  data.dir                data=folder: holds train.en train.fr val.en val.fr test*.en test*.fr,
                          plain or .gz
  data.train.source, data.train.target, data.train.table
                          data=files: two aligned files, or a .tsv, .jsonl or .parquet table;
                          likewise data.valid and data.test
  data.path, data.name    data=hub: OWNER/NAME on the hub or a folder, and its configuration
  data.train.split        data=hub: such as train[:10000]; data.streaming=true keeps no copy
  data.source_lang, data.target_lang, data.columns, data.max_length
  tokenizer.vocab_size, tokenizer.joint
  tokenizer.path          a run whose tokenizers are used again
  optimizer.lr
  trainer.max_minutes, trainer.max_updates, trainer.max_epochs, trainer.patience
  trainer.batch_sentences, trainer.batch_tokens
  trainer.valid_every, trainer.metric (bleu, chrf, loss)
  decode.beam_size        of the translations that are scored in validation

A value with = , blanks, brackets or accents is quoted twice: 'data.dir="my data"'.
--cfg job shows every key and its value, -m runs every combination of values given
with commas, --config-dir DIR adds a folder with configurations of your own.
""",
    "evaluate": """\
rnnsearch evaluate run_dir=RUN [KEY=VALUE ...]: translate a test set and score it.

Examples
  rnnsearch evaluate run_dir=runs/demo
  rnnsearch evaluate run_dir=runs/demo checkpoint=last decode.beam_size=1
  rnnsearch evaluate run_dir=runs/demo data.test.source=c.en data.test.target=c.fr
  rnnsearch evaluate run_dir=runs/demo 'checkpoint=[best,last]'
  rnnsearch evaluate 'run_dir=[runs/a,runs/b]'

Group (GROUP=CHOICE): the run's own data by default
GROUPS

Keys (KEY=VALUE; null is "no value")
  run_dir                 the folder of a run; a list compares runs by a paired bootstrap
  checkpoint              best, last, averaged, step-N, a path; a list is an ensemble
  device                  auto, cpu, cuda, cuda:N
  data.test.source, data.test.target, data.test.table
                          the test set; the run's own by default
  data.test.alignments    gold links of its words, i-j or ipj, for the alignment error rate
  references              further reference files
  data.dir                data=folder: every test* in it, or the one that test_set names
  test_set                a name for the results; the stem of the test file by default
  bootstrap               resamples behind the 95% intervals; 0 for none
  tokenize, lowercase     BLEU's, as sacrebleu -tok and -lc; tokenize=none for text that is
                          tokenised already
  ter                     false: without TER, which takes minutes on long lines
  replace_unk             true, or a dictionary file: unknown words become source words
  report                  false: without the page report.html
  scores                  a file: one JSON line a pair with the reference's log-probability
  decode.beam_size, decode.length_penalty, decode.max_length, decode.batch_sentences
                          the run's own by default

A value with = , blanks, brackets or accents is quoted twice: 'data.test.source="my test.en"'.
--cfg job shows every key and its value.
""",
    "translate": """\
rnnsearch translate run_dir=RUN [KEY=VALUE ...]: translate line by line.

Examples
  rnnsearch translate run_dir=runs/demo < in.en > out.fr
  rnnsearch translate run_dir=runs/demo input=in.en output=out.fr plots=plots
  rnnsearch translate run_dir=runs/demo n_best=5 < in.en
  rnnsearch translate run_dir=runs/demo alignments=out.align < in.en > out.fr
  rnnsearch translate run_dir=runs/demo

At a terminal, without files, it asks for sentences and draws the attention under each
translation; :help tells more.

Keys (KEY=VALUE; null is "no value")
  run_dir                 the folder of a run
  checkpoint              best, last, averaged, step-N, a path; a list is an ensemble
  device                  auto, cpu, cuda, cuda:N
  input, output           files; - is the standard stream
  n_best                  translations a line, as "line number ||| text ||| score"
  alignments              a file: which source word each target word comes from
  alignment_format        pharaoh (links i-j of words, from 0), json (pieces and all weights)
  plots                   a folder for pictures of the attention, one a line
  plot_format             png, svg, both
  plot_sheet              the first so many sentences on one page as well, sheet.png
  replace_unk             true, or a dictionary file: unknown words become source words
  decode.beam_size, decode.length_penalty, decode.max_length, decode.batch_sentences
                          the run's own by default

A value with = , blanks, brackets or accents is quoted twice: 'input="my text.en"'.
--cfg job shows every key and its value.
""",
}


def command_help(command: str, argv: list[str]) -> str:
    """Return the help of a sub-command.

    Args:
        command: its name.
        argv: the words after it; the groups of a ``--config-dir`` among them are listed too.
    """
    folders: list[Any] = [importlib.resources.files("rnnsearch.configs")]
    folders += [folder for folder in map(Path, _config_dirs(argv)) if folder.is_dir()]
    choices: dict[str, set[str]] = {}
    for folder in folders:
        for group in folder.iterdir():
            names = _choices(group)
            if names:
                choices.setdefault(group.name, set()).update(names)
    shown = sorted(choices) if command == "train" else ["data"]
    groups = "\n".join(f"  {name}: {', '.join(sorted(choices[name]))}" for name in shown)
    return _HELP[command].replace("GROUPS", groups)


def _config_dirs(argv: list[str]) -> Iterable[str]:
    for word, following in zip(argv, [*argv[1:], ""], strict=True):
        if word in ("--config-dir", "-cd"):
            yield following
        elif word.startswith("--config-dir="):
            yield word.partition("=")[2]


def _choices(group: Any) -> list[str]:
    if not group.is_dir():
        return []
    return [file.name[:-5] for file in group.iterdir() if file.name.endswith(".yaml")]
