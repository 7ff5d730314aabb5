"""How far links between words are from gold ones: the error rate of Och and Ney (2003); no torch.

Words are what blanks separate in the lines as they are written, whatever pieces a tokenizer makes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rnnsearch.alignment import Weights, links, merge_pieces
from rnnsearch.errors import UserError
from rnnsearch.ids import Tokenizer
from rnnsearch.lines import counted, read_lines
from rnnsearch.subwords import normalize

Link = tuple[int, int]
"""A source word and a target word, both counted from 0."""

_LINK = re.compile(r"([0-9]{1,9})([-p])([0-9]{1,9})")


class GoldLinks(NamedTuple):
    """What people, or a grammar, say of one pair.

    Attributes:
        sure: links that must be found.
        possible: links that may be found, the sure ones included.
    """

    sure: frozenset[Link]
    possible: frozenset[Link]


class AlignmentScore(NamedTuple):
    """How links compare with gold ones, over all pairs together.

    Attributes:
        error_rate: 1 - (|A∩S| + |A∩P|) / (|A| + |S|), for links A, sure ones S and possible ones P;
            0 is best.
        precision: |A∩P| / |A|; NaN without links.
        recall: |A∩S| / |S|.
    """

    error_rate: float
    precision: float
    recall: float


def score_links(found: Sequence[Sequence[Link]], gold: Sequence[GoldLinks]) -> AlignmentScore:
    """Compare the links of all pairs with gold ones, by Och and Ney (2003).

    Args:
        found: links of each pair, none of them twice.
        gold: of the same pairs; one link at least is sure.
    """
    made = sure = found_sure = found_possible = 0
    for pairs, (of_pair, possible) in zip(found, gold, strict=True):
        made += len(pairs)
        sure += len(of_pair)
        found_sure += sum(link in of_pair for link in pairs)
        found_possible += sum(link in possible for link in pairs)
    return AlignmentScore(
        error_rate=1 - (found_sure + found_possible) / (made + sure),
        precision=found_possible / made if made else math.nan,
        recall=found_sure / sure,
    )


def read_gold(
    paths: Sequence[Path], *, sources: Sequence[str], targets: Sequence[str], label: str
) -> list[GoldLinks]:
    """Read gold links: a line a pair, `i-j` for a sure one, `ipj` for a possible one.

    Args:
        paths: files, plain or gzip, read one after the other. An empty line has no links.
        sources: the lines that `i` counts the words of.
        targets: those of `j`.
        label: what messages call the pairs.

    Raises:
        UserError: a file cannot be read, has another form, does not fit the pairs, has a link
            twice, or none of the links is sure.
    """
    rows = [
        (f"{path}:{number}", line)
        for path in paths
        for number, line in enumerate(read_lines(path), 1)
    ]
    names = " + ".join(map(str, paths))
    if len(rows) != len(sources):
        raise UserError(
            f"{names} has {counted(len(rows), 'line')} but {label} has "
            f"{counted(len(sources), 'pair')}; gold alignments need a line for each pair, an empty "
            "one where there are none"
        )
    gold = [
        _links_of(line, (len(source.split()), len(target.split())), where=where)
        for (where, line), source, target in zip(rows, sources, targets, strict=True)
    ]
    if not any(sure for sure, _ in gold):
        raise UserError(
            f"{names}: no link is sure (i-j), so there is no error rate; mark the links that must "
            "be found with '-', or leave the file out"
        )
    return gold


def _links_of(line: str, words: tuple[int, int], *, where: str) -> GoldLinks:
    """Return the links of one line, for so many words of source and target."""
    sure: set[Link] = set()
    possible: set[Link] = set()
    for text in line.split():
        match = _LINK.fullmatch(text)
        if match is None:
            shown = text if len(text) <= 40 else f"{text[:40]}..."
            raise UserError(
                f"{where}: {shown!r} is no link; write i-j for a sure and ipj for a possible one, "
                "numbers of a source and a target word from 0"
            )
        link = int(match[1]), int(match[3])
        if link[0] >= words[0] or link[1] >= words[1]:
            raise UserError(
                f"{where}: {text} is out of range, for the pair has "
                f"{counted(words[0], 'source word')} and {counted(words[1], 'target word')}, "
                "numbered from 0, source first; correct the link"
            )
        if link in possible:
            raise UserError(
                f"{where}: {text} links words that another link of the line does; keep one of them"
            )
        possible.add(link)
        if match[2] == "-":
            sure.add(link)
    return GoldLinks(frozenset(sure), frozenset(possible))


def piece_counts(
    lines: Sequence[str], tokenizer: Tokenizer, *, name: str, gold: str
) -> list[list[int]]:
    """Return of how many pieces each word of each line is made.

    Args:
        lines: as they are written.
        tokenizer: of their side.
        name: what messages call them.
        gold: what messages call the file of the links.

    Raises:
        UserError: the pieces of a line do not spell its words one after the other, each by pieces
            of its own.
    """
    found = []
    for number, line in enumerate(lines, 1):
        counts = _counts_of(line, tokenizer)
        if counts is None:
            raise UserError(
                f"{name}:{number}: the pieces of tokenizer={tokenizer.kind} do not spell the words "
                f"between blanks, of which {gold} is; correct the line, or give the test set "
                "without alignments"
            )
        found.append(counts)
    return found


def _counts_of(line: str, tokenizer: Tokenizer) -> list[int] | None:
    words = [normalize(word).replace(" ", "") for word in line.split()]
    units = iter(tokenizer.words(tokenizer.split(line)))
    counts = []
    for word in words:
        spelled, count = "", 0
        while len(spelled) < len(word):
            text, pieces = next(units, ("", 0))
            if not pieces:
                return None
            spelled, count = spelled + text, count + pieces
        if spelled != word or not word:
            return None
        counts.append(count)
    return counts if next(units, None) is None else None


class LinkScorer:
    """Compares attention with gold links, pair by pair.

    Each target word is linked to the source word with the largest weight, pieces being merged into
    words by their largest weight and the end of the source left out.

    Args:
        gold: links of each pair.
        source_counts: pieces of each source word of each pair, from `piece_counts`.
        target_counts: pieces of each target word.
    """

    def __init__(
        self,
        gold: Sequence[GoldLinks],
        *,
        source_counts: Sequence[Sequence[int]],
        target_counts: Sequence[Sequence[int]],
    ) -> None:
        self._gold = gold
        self._counts = list(zip(source_counts, target_counts, strict=True))
        self._found: list[list[Link]] = [[] for _ in gold]

    def add(self, pair: int, weights: Weights) -> None:
        """Take the weights (T, S + 1) of the pair with that number, its reference being forced."""
        source_counts, target_counts = self._counts[pair]
        self._found[pair] = links(
            merge_pieces(weights, source_counts=source_counts, target_counts=target_counts)
        )

    def score(self) -> AlignmentScore:
        """Return the score of all pairs; one whose weights never came has no links."""
        return score_links(self._found, self._gold)
