"""From lines to translations, in their order: the one path of validation, commands and the API."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray

from rnnsearch.alignment import replace_unknown
from rnnsearch.batches import collate, collate_sources, plan_decoding
from rnnsearch.config import DecodeConfig
from rnnsearch.devices import pick_device
from rnnsearch.errors import UserError
from rnnsearch.hypotheses import Hypothesis
from rnnsearch.loading import load_dictionary, load_model
from rnnsearch.model import TranslationModel
from rnnsearch.reach import SHORTEN, check_lines, check_longest, check_reach, perhaps_too_long
from rnnsearch.scoring import force, score_pairs
from rnnsearch.search import LONG_SOURCE, SearchOptions, prepared, search, search_options
from rnnsearch.stepping import Stepper
from rnnsearch.text import UNK, Tokenizer, Tokenizers
from rnnsearch.translation import BLANK, END_MARK, Translation, unaligned
from rnnsearch.validation import load_config

SOURCE_MULTIPLE = 16
"""Sources are padded to a multiple of this, so that sums over positions round alike whatever the
longest neighbour is."""

MAX_ROWS = 16 * 1024  # hypotheses searched at once
MAX_POSITIONS = 16 * LONG_SOURCE
"""Padded source positions searched at once; bounds the memory of a batch of long lines."""

NO_ATTENTION = "model=rnnencdec has no attention"


class Translator:
    """Translates lines with a trained model or an ensemble.

    >>> translator = Translator.load(run_dir)
    >>> found, blank = translator.translate(["A dog runs.", ""])
    >>> found.alignment.shape == (len(found.target_pieces), len(found.source_pieces))
    True
    >>> blank.text, blank.alignment
    ('', None)

    Args:
        models: one model, or several with one target vocabulary.
        tokenizers: those the models were trained with.
        options: how to search; see `search_options`.
        batch_sentences: sentences searched at once. Results do not depend on it.
        dictionary: replace unknown words by the source word looked at most, or by its entry here;
            None leaves them out.
    """

    def __init__(
        self, models: Sequence[TranslationModel], tokenizers: Tokenizers,
        *, options: SearchOptions, batch_sentences: int = 64,
        dictionary: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.models = list(models)
        self.tokenizers = tokenizers
        self.options = options
        self.batch_sentences = batch_sentences
        self.dictionary = dictionary
        self.device = next(self.model.parameters()).device

    @classmethod
    def load(
        cls, run_dir: str | Path, checkpoint: str | Sequence[str] = "best",
        *, device: str = "auto", decode: DecodeConfig | None = None,
        replace_unk: bool | str | Path = False,
    ) -> Self:  # fmt: skip
        """Load a run folder.

        Args:
            run_dir: the folder that `rnnsearch train` made; it may have been moved or copied.
            checkpoint: `best`, `last`, `averaged`, `step-N` or a path, also of another run; several
                make an ensemble.
            device: `auto`, `cpu`, `cuda` or `cuda:N`.
            decode: how to search; the run's own `decode` settings by default.
            replace_unk: replace unknown words by the source word looked at most; a path is that of
                a dictionary, see `alignment.read_dictionary`. Only for `tokenizer=word`.

        Raises:
            UserError: a file is missing or damaged, a checkpoint does not exist, or an ensemble has
                several tokenizers.
        """
        run_dir = Path(run_dir)
        config = load_config(run_dir)
        decode = decode or config.decode
        tokenizers = Tokenizers.load(run_dir / "tokenizer")
        dictionary = load_dictionary(replace_unk, tokenizers.target.kind)
        names = [checkpoint] if isinstance(checkpoint, str) else list(checkpoint)
        if not names:
            raise UserError("checkpoint=[]: name one checkpoint, or several for an ensemble")
        models = [load_model(run_dir, name, tokenizers=tokenizers) for name in names]
        if dictionary is not None and not any(model.attends for model in models):
            raise UserError(f"replace_unk: {run_dir}: {NO_ATTENTION}; leave it out")
        return cls(
            [model.to(pick_device(device)) for model in models], tokenizers,
            options=search_options(decode, kind=tokenizers.target.kind),
            batch_sentences=decode.batch_sentences, dictionary=dictionary,
        )  # fmt: skip

    def barring_unknown(self) -> Self:
        """Return a translator that never chooses the unknown word, and is the same otherwise."""
        return type(self)(
            self.models, self.tokenizers,
            options=dataclasses.replace(self.options, ban_unk=True),
            batch_sentences=self.batch_sentences,
        )  # fmt: skip

    @property
    def model(self) -> TranslationModel:
        """The model, or the first of an ensemble."""
        return self.models[0]

    @property
    def attends(self) -> bool:
        """Whether there is attention, and so an alignment; in an ensemble, of any model."""
        return any(model.attends for model in self.models)

    @property
    def limited(self) -> bool:
        """Whether there are sources that learned positions do not reach."""
        return any(model.most_positions is not None for model in self.models)

    def check_reach(self, lines: Sequence[str], *, first: int = 1, line: str = "line {}") -> None:
        """Hold that no line is longer than memory and learned positions reach.

        Args:
            lines: source text.
            first: the number of the first line.
            line: what a line is called, with `{}` for its number.

        Raises:
            UserError: names the first line that is.
        """
        some = lines if self.limited else perhaps_too_long(lines)
        self._check_reach(self.source_tokenizer.encode_batch(some), first=first, line=line)

    def _check_reach(self, sources: list[list[int]], *, first: int, line: str) -> None:
        check_reach(self.models, [*map(len, sources)], line=line, first=first, remedy=SHORTEN)

    @property
    def source_tokenizer(self) -> Tokenizer:
        """The source side's tokenizer."""
        return self.tokenizers.source

    @property
    def target_tokenizer(self) -> Tokenizer:
        """The target side's tokenizer."""
        return self.tokenizers.target

    def translate(
        self, lines: Sequence[str], *, alignments: bool = True,
        progress: Callable[[int], object] | None = None,
    ) -> list[Translation]:  # fmt: skip
        """Return the best translation of each line; a blank line gives a blank one.

        Args:
            lines: source text, one sentence a line, no line ends.
            alignments: whether to compute the attention weights as well.
            progress: called with the number of lines just finished, 0 in the middle of a search;
                what it raises ends the work.
        """
        found = self.translate_n_best(lines, 1, alignments=alignments, progress=progress)
        return [candidates[0] for candidates in found]

    def translate_n_best(
        self, lines: Sequence[str], n: int, *, alignments: bool = True,
        progress: Callable[[int], object] | None = None,
    ) -> list[list[Translation]]:  # fmt: skip
        """Return at most `n` translations of each line, best first, their texts all different.

        Raises:
            UserError: `n` is less than 1 or more than the beam holds; `lines` is one text, or one
                of them holds a line end, or is longer than memory or learned positions reach.
        """
        if not 1 <= n <= self.options.beam_size:
            raise UserError(
                f"n_best={n}: expected 1 to decode.beam_size={self.options.beam_size}; "
                "raise decode.beam_size for more"
            )
        check_lines(lines)
        sources = self.source_tokenizer.encode_batch(lines)
        self._check_reach(sources, first=1, line="line {}")
        results: list[list[Translation]] = [[BLANK] for _ in lines]
        was_training = self.model.training
        for model in self.models:
            model.eval()
        each_step = None if progress is None else partial(progress, 0)
        try:
            steppers = prepared(self.models, self.options)
            for batch in self._plan(sources):
                chosen = [sources[i] for i in batch]
                found = self._search(chosen, n, steppers, each_step=each_step)
                for i, hypotheses in zip(batch, found, strict=True):
                    results[i] = self._present(
                        lines[i], sources[i], hypotheses, n=n, alignments=alignments
                    )
                if progress is not None:
                    progress(len(batch))
        finally:
            for model in self.models:
                model.train(was_training)
        return results

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.float64]:
        """Return log p(target, EOS | source) of N pairs (N), natural logarithm.

        >>> translator = Translator.load(run_dir)
        >>> log_p = translator.score(["A dog runs.", "A dog runs."], ["Un chien court.", "Oui."])
        >>> log_p.shape, bool((log_p < 0).all())
        ((2,), True)

        Args:
            sources: N lines.
            targets: N lines; a blank one is scored like any other.

        Raises:
            UserError: their numbers differ; a line holds a line end, or is too long.
        """
        check_lines(sources)
        check_lines(targets)
        if len(sources) != len(targets):
            raise UserError(f"{len(sources)} sources but {len(targets)} targets; give pairs")
        source_ids = self.source_tokenizer.encode_batch(sources)
        target_ids = self.target_tokenizer.encode_batch(targets)
        self._check_reach(source_ids, first=1, line="line {}")
        check_longest([*map(len, target_ids)], line="the target of line {}")
        return score_pairs(self.models, source_ids, target_ids)

    def _plan(self, sources: list[list[int]]) -> Iterator[list[int]]:
        """Yield the lines to search together: alike in length, long ones alone, blank ones never.

        A line of more than `LONG_SOURCE` positions is alone whatever stands around it.
        """
        usual = [i for i, ids in enumerate(sources) if 0 < len(ids) < LONG_SOURCE]
        plan = plan_decoding(
            [len(sources[i]) for i in usual],
            batch_sentences=min(self.batch_sentences, MAX_ROWS // self.options.beam_size or 1),
            max_positions=MAX_POSITIONS,
        )
        yield from ([usual[i] for i in batch] for batch in plan)
        yield from ([i] for i, ids in enumerate(sources) if len(ids) >= LONG_SOURCE)

    def _search(
        self, sources: list[list[int]], n: int, steppers: Sequence[Stepper],
        *, each_step: Callable[[], object] | None,
    ) -> list[list[Hypothesis]]:  # fmt: skip
        source, mask = collate_sources(sources, multiple=SOURCE_MULTIPLE)
        # More than n are asked for, since two segmentations may spell one text.
        wanted = 1 if n == 1 else self.options.beam_size
        return search(
            steppers, source.to(self.device), mask.to(self.device),
            options=self.options, n_best=wanted, each_step=each_step,
        )  # fmt: skip

    def _present(
        self, line: str, source: Sequence[int], hypotheses: list[Hypothesis],
        *, n: int, alignments: bool,
    ) -> list[Translation]:  # fmt: skip
        """Return at most n hypotheses of a line with the ids `source` as text, each text once."""
        translations: dict[str, Translation] = {}
        source_pieces = self.source_tokenizer.split(line)
        for hypothesis in hypotheses:
            if len(translations) == n:
                break
            ids = hypothesis.ids
            unknown = ids.count(UNK)
            replace = unknown > 0 and self.dictionary is not None
            text, pieces = self.target_tokenizer.decode(ids), self.target_tokenizer.pieces(ids)
            if text in translations and not replace:
                continue
            weights = None
            kept = self.attends and not unaligned(len(source_pieces) + 1, len(pieces))
            if kept and (alignments or replace):
                weights = self.align(source, ids)
            if replace and weights is not None:
                text, pieces = self._replaced(ids, pieces, weights, source_pieces)
            translations.setdefault(
                text,
                Translation(
                    text, hypothesis.score, [*source_pieces, END_MARK], pieces,
                    weights if alignments else None, unknown,
                ),
            )  # fmt: skip
        return list(translations.values())

    def _replaced(
        self, ids: Sequence[int], pieces: list[str], weights: NDArray[np.float32],
        source_pieces: list[str],
    ) -> tuple[str, list[str]]:  # fmt: skip
        """Return text and words with the unknown ones replaced."""
        known = [None if i == UNK else piece for i, piece in zip(ids, pieces, strict=True)]
        words = replace_unknown(
            known, weights, source_words=source_pieces, dictionary=self.dictionary or {}
        )
        return self.target_tokenizer.join(words), words

    @torch.inference_mode()
    def align(self, source: Sequence[int], target: Sequence[int]) -> NDArray[np.float32]:
        """Return the attention weights (T, S) while `target` is forced, the mean of an ensemble.

        These are the weights that the search saw for this hypothesis, since a step depends on the
        words before it alone.

        Args:
            source: source ids without EOS; S counts it.
            target: target ids without EOS; its row is left out.
        """
        batch = collate([source], [target]).to(self.device)
        alpha = force(self.models, batch)[1]
        weights: NDArray[np.float32] = alpha[0, :-1].float().cpu().numpy()
        return weights
