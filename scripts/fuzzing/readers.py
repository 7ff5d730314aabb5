"""Files of pairs, tables, links, dictionaries, settings and prepared data, with changes."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import yaml

from fuzzing import hostile
from fuzzing.mutations import change_tree, mutate, to_json
from fuzzing.outcomes import Case, hold, refused
from fuzzing.tables import tables
from rnnsearch import alignment_error
from rnnsearch.alignment import read_dictionary
from rnnsearch.cli.ownfiles import _check_file
from rnnsearch.corpus import PairFiles, encode_pairs, folder_files, read_references
from rnnsearch.errors import UserError
from rnnsearch.lines import read_lines
from rnnsearch.plain import load_run_config, to_plain, to_yaml
from rnnsearch.text import Tokenizers


class Readers:
    """Everything that reads data files.

    Args:
        folder: of the whole work.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.corpus = folder / "corpus"
        self.config = (folder / "runs" / "bpe" / "config.yaml").read_bytes()
        self.kinds: tuple[Callable[[Case], bool], ...] = (
            *(self.lines, self.pairs, self.pairs, self.links, self.dictionary, self.settings),
            *(self.settings, self.own_file, self.cache, self.corpus_folder),
            *tables(self.corpus),
        )

    def run(self, case: Case) -> bool:
        """Run a case of one of the kinds."""
        datasets.config.HF_DATASETS_CACHE = case.place / "cache"
        kind = case.chance.choice(self.kinds)
        case.note(kind.__name__)
        return kind(case)

    def _text(self, case: Case, name: str) -> bytes:
        """Return lines of the corpus or hostile ones, changed or as they are, maybe compressed."""
        chance = case.chance
        content = (self.corpus / name).read_bytes()
        if chance.random() < 0.3:
            content = hostile.text(chance, lines=30)
        zipped = chance.random() < 0.3
        if chance.random() < 0.6:
            content = mutate(content, chance)
        if zipped:
            content = gzip.compress(content, mtime=0)
            if chance.random() < 0.5:
                content = mutate(content, chance)
        return content

    def lines(self, case: Case) -> bool:
        """Lines of a file, as they come and as references."""
        path = _written(case.place / "a.en", self._text(case, "train.en"))
        expected = lines_of(path.read_bytes())
        try:
            found = list(read_lines(path))
            references = read_references(path)
        except UserError as error:
            hold(expected is None, f"whole lines are refused: {error}")
            return refused(error, case, [path])
        hold(found == expected, "other lines than the file has")
        hold(len(references) == len(found), "another number of references than of lines")
        return True

    def pairs(self, case: Case) -> bool:
        """Two files, line by line."""
        chance = case.chance
        paths = [case.place / "a.en", case.place / "a.fr"]
        contents = [(self.corpus / f"train.{path.suffix[1:]}").read_bytes() for path in paths]
        if chance.random() < 0.7:
            changed = chance.randrange(2)
            contents[changed] = self._text(case, f"train.{paths[changed].suffix[1:]}")
        for path, content in zip(paths, contents, strict=True):
            _written(path, content)
        sides = [lines_of(content) for content in contents]
        whole = None not in sides and all(sides) and len(sides[0] or ()) == len(sides[1] or ())
        try:
            found = PairFiles((paths[0],), (paths[1],)).read()
            again = PairFiles((paths[0],), (paths[1],)).read()
        except UserError as error:
            hold(not whole, f"whole pairs are refused: {error}")
            return refused(error, case, paths)
        hold(whole, "pairs from files that are not whole")
        for pairs in (found, again):
            hold(
                [[*pairs["source"]], [*pairs["target"]]] == sides, "other pairs than the files have"
            )
        return True

    def links(self, case: Case) -> bool:
        """Gold links."""
        sources, targets = ["a b c d", "e f", "g"], ["h i j", "k", "l m"]
        content = b"0-0 1p1 3-2\n0-0 1p0\n\n"
        if case.chance.random() < 0.9:
            content = mutate(content, case.chance)
        path = _written(case.place / "a.align", content)
        try:
            gold = alignment_error.read_gold(
                [path], sources=sources, targets=targets, label="the pairs"
            )
        except UserError as error:
            return refused(error, case, [path])
        hold(len(gold) == 3, "another number of lines than of pairs")
        for links, source, target in zip(gold, sources, targets, strict=True):
            words = len(source.split()), len(target.split())
            hold(links.sure <= links.possible, "a sure link that is not possible")
            inside = all(i < words[0] and j < words[1] for i, j in links.possible)
            hold(inside, "a link to a word that is not there")
        return True

    def dictionary(self, case: Case) -> bool:
        """A dictionary for unknown words."""
        content = b"cat\tchat\ndog\tchien\nthe big one\tle grand\n"
        path = _written(case.place / "words.tsv", mutate(content, case.chance))
        try:
            found = read_dictionary(path)
        except UserError as error:
            return refused(error, case, [path])
        hold(found, "an empty dictionary")
        hold(all(key.strip() and value.strip() for key, value in found.items()), "an empty word")
        return True

    def settings(self, case: Case) -> bool:
        """The settings of a run."""
        chance, run_dir = case.chance, case.place / "run"
        run_dir.mkdir()
        content = self.config
        if chance.random() < 0.5:
            values = change_tree(yaml.safe_load(content), chance)
            content = to_json(values) if chance.random() < 0.7 else _yaml(values)
        else:
            content = mutate(content, chance)
        path = _written(run_dir / "config.yaml", content)
        try:
            config = load_run_config(run_dir)
        except UserError as error:
            return refused(error, case, [path])
        _written(path, to_yaml(to_plain(config)).encode("utf-8", "surrogatepass"))
        hold(same(load_run_config(run_dir), config), "settings that change when they are written")
        return True

    def own_file(self, case: Case) -> bool:
        """A YAML file of the user's."""
        content = b"# @package _global_\ndefaults:\n  - override /model: rnnencdec\nseed: 3\n"
        path = _written(case.place / "own.yaml", mutate(content, case.chance))
        try:
            _check_file(path, group="experiment")
        except UserError as error:
            return refused(error, case, [path])
        return True

    def cache(self, case: Case) -> bool:
        """Prepared pairs and ids that were damaged where they are kept.

        Letters and ids that have become others are no finding: nothing but a sum would tell.
        """
        files = PairFiles((self.corpus / "train.en",), (self.corpus / "train.fr",))
        tokenizers = Tokenizers.load(self.folder / "runs/bpe/tokenizer")
        encode = partial(
            encode_pairs, tokenizers=tokenizers, max_length=None, max_ratio=None, drop=False
        )
        encode(files.read())
        kept = case.chance.choice(sorted((case.place / "cache").rglob("*.arrow")))
        content = kept.read_bytes()
        kept.unlink()
        _written(kept, mutate(content, case.chance))
        case.note(kept.name)
        pairs = files.read()
        hold(len(pairs) == 48, f"{len(pairs)} pairs")
        hold(all(isinstance(text, str) for text in pairs["source"]), "no text")
        ids = encode(pairs).pairs(np.arange(48))
        hold(len(ids[0]) == len(ids[1]) == 48, "another number of pairs")
        return True

    def corpus_folder(self, case: Case) -> bool:
        """A folder of files with names of any kind."""
        chance = case.chance
        stems = (
            "train",
            "val",
            "valid",
            "test",
            "test_a",
            "test\n",
            "testé",
            "tést",
            ".train",
            "x",
        )
        ends = (".en", ".fr", ".en.gz", ".fr.gz", ".align", ".align.gz", "", ".EN")
        for _ in range(chance.randrange(8)):
            path = case.place / f"{chance.choice(stems)}{chance.choice(ends)}"
            if chance.random() < 0.9:
                path.touch()
            elif not path.exists():
                path.mkdir()
        try:
            found = folder_files(case.place, source_lang="en", target_lang="fr")
        except UserError as error:
            return refused(error, case, [case.place])
        hold(found.train or found.valid or found.tests, "nothing was found")
        return True


def lines_of(data: bytes) -> list[str] | None:
    """Return the lines of a file by the rules that the README gives; None for a damaged one."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return None
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    try:
        return [line.removesuffix(b"\r").decode() for line in lines]
    except UnicodeDecodeError:
        return None


def same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal; NaN is equal to itself here."""
    return repr(one) == repr(other)


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _yaml(values: Any) -> bytes:
    try:
        return yaml.safe_dump(values, sort_keys=False, allow_unicode=True).encode(
            "utf-8", "replace"
        )
    except (yaml.YAMLError, ValueError, RecursionError):  # a key twice, or too deep for it
        return to_json(values)
