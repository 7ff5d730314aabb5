"""Any text through any tokenizer and back, and tokenizers from anybody."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from fuzzing import hostile
from fuzzing.formats import change_model
from fuzzing.mutations import mutate
from fuzzing.outcomes import Case, hold, refused
from fuzzing.preparing import RUNS
from rnnsearch.alignment_error import piece_counts
from rnnsearch.errors import UserError
from rnnsearch.ids import SPECIAL_IDS, UNK, Tokenizer
from rnnsearch.moses import join_words, split_words
from rnnsearch.subwords import clean, encodable, is_blank, normalize
from rnnsearch.text import Tokenizers, train_tokenizers
from rnnsearch.words import WordTokenizer

MARKS = "\u2581\u2047\ufffd\n\r"
NAMED = re.compile(r"<unk>|</?s>|<pad>")
LANGUAGES = (
    "en",
    "fr",
    "de",
    "cs",
    "fi",
    "ga",
    "it",
    "ja",
    "ko",
    "zh",
    "hu",
    "sv",
    "",
    "xx",
    "../e",
)
VOCABULARY = tuple(f"w{number}" for number in range(5))


class RoundTrip:
    """The tokenizers of the runs, some trained on hostile text, and changed files of them.

    Args:
        folder: of the whole work.
    """

    def __init__(self, folder: Path) -> None:
        self.runs = {name: folder / "runs" / name / "tokenizer" for name in RUNS}
        self.made = {name: Tokenizers.load(path) for name, path in self.runs.items()}
        self.kinds: tuple[Callable[[Case], bool], ...] = (
            *(self.line,) * 12, *(self.ids,) * 3, *(self.words,) * 3, *(self.from_anybody,) * 6,
            self.trained,
        )  # fmt: skip

    def run(self, case: Case) -> bool:
        """Run a case of one of the kinds."""
        kind = case.chance.choice(self.kinds)
        case.note(kind.__name__)
        return kind(case)

    def _tokenizer(self, case: Case) -> tuple[str, Tokenizer]:
        name = case.chance.choice([*self.made])
        side = case.chance.randrange(2)
        case.note(f"{name} {side}")
        return name, self.made[name][side]

    def line(self, case: Case) -> bool:
        """A line to ids and back."""
        name, tokenizer = self._tokenizer(case)
        line = hostile.line(case.chance)
        case.note(ascii(line[:500]))
        check_line(tokenizer, line)
        if name == "bytes":
            check_spelt(tokenizer, line)
        _check_counts(tokenizer, line)
        return True

    def ids(self, case: Case) -> bool:
        """Any ids to text."""
        _, tokenizer = self._tokenizer(case)
        ids = [
            case.chance.randrange(tokenizer.vocab_size) for _ in range(case.chance.randrange(40))
        ]
        case.note(repr(ids))
        text = tokenizer.decode(ids)
        check_shown(text)
        hold(text == tokenizer.decode([i for i in ids if i >= SPECIAL_IDS]), "special ids are text")
        _check_words(tokenizer, tokenizer.pieces(ids))
        return True

    def words(self, case: Case) -> bool:
        """Words of a language, split and joined."""
        language = case.chance.choice(LANGUAGES)
        line = hostile.line(case.chance)
        case.note(f"{language} {line[:500]!a}")
        found = split_words(line, language)
        hold(bool(found) == bool(normalize(line)), "blank, but not to both")
        hold(all(found) and not any(" " in word for word in found), "a word with a blank")
        check_shown(join_words(found, language))
        check_shown(join_words(line.split(" "), language))
        tokenizer = WordTokenizer(VOCABULARY, language=language)
        check_line(tokenizer, line)
        return True

    def from_anybody(self, case: Case) -> bool:
        """Files of tokenizers with changes."""
        chance = case.chance
        folder = self.runs[chance.choice([*self.runs])]
        for path in folder.iterdir():
            (case.place / path.name).write_bytes(path.read_bytes())
        path = chance.choice(sorted(case.place.iterdir()))
        content = path.read_bytes()
        if path.suffix == ".model" and chance.random() < 0.7:
            content = change_model(content, chance)
        else:
            content = mutate(content, chance)
        path.write_bytes(content)
        case.note(f"{folder.parent.name}: {path.name} changed")
        try:
            loaded = Tokenizers.load(case.place)
        except UserError as error:
            return refused(error, case, [path])
        for tokenizer in loaded:
            check_safe(tokenizer, hostile.line(chance, most=300))
            check_safe(tokenizer, "The cat sees a green apple today.")
        return True

    def trained(self, case: Case) -> bool:
        """Tokenizers trained on hostile text."""
        chance = case.chance
        kind = chance.choice(("bpe", "unigram", "word"))
        sides = [
            [
                hostile.line(chance, most=chance.choice((40, 2000)))
                for _ in range(chance.randrange(8))
            ]
            for _ in range(2)
        ]
        joint, fallback = chance.random() < 0.5, kind != "word" and chance.random() < 0.4
        vocabulary = chance.choice((5, 40, 300, 1000))
        case.note(f"{kind} {vocabulary} joint={joint} fallback={fallback} {ascii(sides)[:3000]}")
        warnings: list[str] = []
        try:
            made = train_tokenizers(
                *sides, kind=kind, vocab_size=vocabulary, joint=joint, byte_fallback=fallback,
                languages=("en", "fr"), warn=warnings.append,
            )  # fmt: skip
        except UserError as error:
            return refused(error, case, ["tokenizer.vocab_size", "no text to train a tokenizer on"])
        made.save(case.place)
        loaded = Tokenizers.load(case.place)
        line = hostile.line(chance, most=300)
        case.note(ascii(line))
        for old, new in zip(made, loaded, strict=True):
            hold(SPECIAL_IDS < old.vocab_size <= vocabulary, f"{old.vocab_size} ids")
            hold(new.encode(line) == old.encode(line), "other ids after loading")
            hold(new.fingerprint == old.fingerprint, "another fingerprint after loading")
            check_line(new, line)
            for text in (*sides[0][:2], *sides[1][:2]):
                check_line(new, text)
        return True


def check_shown(text: str) -> None:
    """Hold that a text is one line of UTF-8 without marks."""
    hold(not set(MARKS) & set(text), f"a mark in the text {text[:200]!a}")
    hold(encodable(text) == text, "half a character in the text")


def check_line(tokenizer: Tokenizer, line: str) -> None:
    """Hold what is said of every line in `ids.Tokenizer`."""
    ids = tokenizer.encode(line)
    hold(all(i == UNK or SPECIAL_IDS <= i < tokenizer.vocab_size for i in ids), "ids out of range")
    hold(tokenizer.encode_batch(["a", line, line])[1:] == [ids, ids], "other ids in a batch")
    hold((not ids) == is_blank(line), "blank, but not to both")
    split, pieces = tokenizer.split(line), tokenizer.pieces(ids)
    hold(len(split) == len(pieces) == len(ids), "another number of pieces than of ids")
    known = zip(ids, split, pieces, strict=True)
    hold(all(i == UNK or a == b for i, a, b in known), "other pieces than those of the ids")
    text = tokenizer.decode(ids)
    check_shown(text)
    spelt = set(NAMED.findall(text)) <= set(NAMED.findall(normalize(line)))
    hold(UNK in ids or spelt, "a mark that is not in the line")
    _check_words(tokenizer, split)


def _check_words(tokenizer: Tokenizer, pieces: list[str]) -> None:
    words = tokenizer.words(pieces)
    hold(sum(count for _, count in words) == len(pieces), "words of another number of pieces")
    hold(all(count > 0 for _, count in words), "a word without pieces")
    hold(all(text for text, _ in words) or len(words) == 1, "an empty word")


def check_spelt(tokenizer: Tokenizer, line: str) -> None:
    """Hold that bytes spell every character that the vocabulary lacks."""
    expected = " ".join(clean(normalize(line)).split(" "))
    found = tokenizer.decode(tokenizer.encode(line))
    hold(
        found.replace(" ", "") == expected.replace(" ", ""),
        f"text that does not come back: {found[:200]!a}",
    )


def _check_counts(tokenizer: Tokenizer, line: str) -> None:
    """Hold that pieces are counted by words, or that this is refused."""
    try:
        counts = piece_counts([line], tokenizer, name="line", gold="gold")
    except UserError:
        return
    hold(len(counts[0]) == len(line.split()), "another number of words")
    hold(sum(counts[0]) == len(tokenizer.encode(line)), "another number of pieces")


def check_safe(tokenizer: Tokenizer, line: str) -> None:
    """Hold what a tokenizer from anybody must not break."""
    size = tokenizer.vocab_size
    ids = tokenizer.encode(line)
    hold(all(0 <= i < size for i in ids), "ids out of range")
    hold(tokenizer.encode_batch([line]) == [ids], "other ids in a batch")
    hold(len(tokenizer.split(line)) == len(ids), "another number of pieces than of ids")
    for some in (ids, range(min(size, 600))):
        check_shown(tokenizer.decode(list(some)))
        _check_words(tokenizer, tokenizer.pieces(list(some)))
