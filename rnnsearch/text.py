"""Text to ids and back: the tokenizers of a run, their training and their files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from rnnsearch.errors import UserError
from rnnsearch.ids import BOS, EOS, PAD, SPECIAL_IDS, UNK, Tokenizer
from rnnsearch.moses import Workers
from rnnsearch.subwords import SentencePieceTokenizer, train_subwords
from rnnsearch.words import WordTokenizer, pack_words, train_words, unpack_words

__all__ = [
    "BOS",
    "EOS",
    "PAD",
    "SPECIAL_IDS",
    "UNK",
    "SentencePieceTokenizer",
    "Tokenizer",
    "Tokenizers",
    "WordTokenizer",
    "train_tokenizers",
]

T = TypeVar("T")
_JOINT, _SOURCE, _TARGET = _SIDES = ("joint", "source", "target")
_MODEL, _WORDS = _SUFFIXES = (".model", ".words")


class Tokenizers(NamedTuple):
    """The tokenizers of a run.

    A joint model is the same object twice; a joint list of words is shared by two tokenizers,
    each of its own language.
    """

    source: Tokenizer
    target: Tokenizer

    @contextmanager
    def many_lines(self) -> Iterator[None]:
        """Let all cores share the lines of `encode_batch`, where that is worth while."""
        lists = [side for side in self if isinstance(side, WordTokenizer)]
        with Workers() as workers:
            for tokenizer in lists:
                tokenizer.workers = workers
            try:
                yield
            finally:
                for tokenizer in lists:
                    tokenizer.workers = Workers()

    def save(self, folder: Path) -> None:
        """Write `source` and `target`, or `joint`, as `.model` or `.words`; remove other forms.

        Raises:
            UserError: status 1, the folder cannot be written.
        """
        contents = self._contents()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in contents.items():
                (folder / name).write_bytes(content)
            for name in {side + suffix for side in _SIDES for suffix in _SUFFIXES} - set(contents):
                (folder / name).unlink(missing_ok=True)
        except OSError as error:
            path = error.filename or folder
            raise UserError(f"{path}: cannot be written ({error.strerror})", status=1) from error

    def _contents(self) -> dict[str, bytes]:
        """Return the content of each file by its name."""
        source, target = self
        if isinstance(source, WordTokenizer) and isinstance(target, WordTokenizer):
            if source.vocabulary is target.vocabulary:
                return {_JOINT + _WORDS: pack_words([source, target])}
            return {
                _SOURCE + _WORDS: pack_words([source]),
                _TARGET + _WORDS: pack_words([target]),
            }
        if isinstance(source, SentencePieceTokenizer) and source is target:
            return {_JOINT + _MODEL: source.model}
        if isinstance(source, SentencePieceTokenizer) and isinstance(
            target, SentencePieceTokenizer
        ):
            return {_SOURCE + _MODEL: source.model, _TARGET + _MODEL: target.model}
        raise TypeError(f"{type(source).__name__} has no file format")

    @classmethod
    def load(cls, folder: Path) -> Tokenizers:
        """Read what `save` wrote.

        Raises:
            UserError: status 1, a file is missing, unreadable or damaged; the line names it.
        """
        if any((folder / (side + _WORDS)).exists() for side in _SIDES):
            joint = folder / (_JOINT + _WORDS)
            if joint.exists():
                return cls(*_load(joint, partial(_lists, sides=2)))
            one = partial(_lists, sides=1)
            source = _load(folder / (_SOURCE + _WORDS), one)
            return cls(*source, *_load(folder / (_TARGET + _WORDS), one))
        joint = folder / (_JOINT + _MODEL)
        if joint.exists():
            tokenizer = _load(joint, SentencePieceTokenizer)
            return cls(tokenizer, tokenizer)
        return cls(
            _load(folder / (_SOURCE + _MODEL), SentencePieceTokenizer),
            _load(folder / (_TARGET + _MODEL), SentencePieceTokenizer),
        )


def _lists(data: bytes, *, sides: int) -> list[WordTokenizer]:
    tokenizers = unpack_words(data)
    if len(tokenizers) != sides:
        raise ValueError(f"a list for {len(tokenizers)} languages, not for {sides}")
    return tokenizers


def _load(path: Path, build: Callable[[bytes], T]) -> T:
    try:
        return build(path.read_bytes())
    except FileNotFoundError as error:
        raise UserError(
            f"{path}: no such file; a run folder keeps its tokenizers in tokenizer/", status=1
        ) from error
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})", status=1) from error
    except ValueError as error:
        raise UserError(
            f"{path}: incomplete or damaged ({error}); copy it anew from the run it belongs to",
            status=1,
        ) from error


def train_tokenizers(
    source_lines: Iterable[str],
    target_lines: Iterable[str],
    *,
    kind: str,
    vocab_size: int,
    joint: bool,
    byte_fallback: bool = False,
    languages: tuple[str, str] = ("en", "fr"),
    warn: Callable[[str], None],
) -> Tokenizers:
    """Train the tokenizers of a run, bit for bit the same for the same lines.

    Args:
        source_lines: sources of the training pairs that are not blank (`corpus.nonblank`).
        target_lines: their targets; each side is read once.
        kind: `unigram`, `bpe` or `word`.
        vocab_size: ids of each tokenizer, the four special ones included. More than the text
            allows gives the largest number that it does, with a warning.
        joint: one vocabulary for both sides, trained on both.
        byte_fallback: spell unknown characters as bytes (256 more ids); not for `word`.
        languages: of source and target, such as `en`; `word` alone looks at them.
        warn: called with each warning, one line.

    Raises:
        UserError: the text is blank, or `vocab_size` is too small for its characters.
    """
    if kind == "word":
        source = (source_lines, languages[0], "the source side")
        target = (target_lines, languages[1], "the target side")
        groups = [[source, target]] if joint else [[source], [target]]
        lists = [train_words(sides, vocab_size=vocab_size, warn=warn) for sides in groups]
        return Tokenizers(*(tokenizer for group in lists for tokenizer in group))
    train = partial(
        train_subwords, kind=kind, vocab_size=vocab_size, byte_fallback=byte_fallback, warn=warn
    )
    if joint:
        lines = (line for side in (source_lines, target_lines) for line in side)
        tokenizer = train(lines, "both sides")
        return Tokenizers(tokenizer, tokenizer)
    return Tokenizers(
        train(source_lines, "the source side"), train(target_lines, "the target side")
    )
