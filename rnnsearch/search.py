"""Greedy and beam search over `model.step`, many sentences at once.

    for each step: extend every hypothesis by every word, keep the best, set the finished aside

A beam has `beam_size` places; a hypothesis that ends gives its place up, as in the original
program, so a beam of 1 is greedy search. Positions, ranks and scores follow the paper's symbols
only where it has any; the score of a finished hypothesis of n pieces is

    log p(y, EOS | x) / (n + 1)^α        α = length penalty, 0 for the plain sum

Shapes: B sentences still searched, K beam size, V target vocabulary, R = B·K rows.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from rnnsearch.decoder import DecoderState, Memory
from rnnsearch.model import TranslationModel
from rnnsearch.text import BOS, EOS, PAD, UNK

MINIMUM_ROWS = 16
"""Matrix products of fewer rows take other code in the libraries and round differently; with at
least these many, a translation does not depend on how many sentences are searched beside it."""

LONG_SOURCE = 1024
"""Sources with more padded positions are searched one at a time, so that a very long line costs
its own memory and no more; the rule depends on the line alone, hence so does the result."""


@dataclass(frozen=True)
class SearchOptions:
    """How to search.

    Attributes:
        beam_size: K; 1 is greedy search.
        length_penalty: α, at least 0.
        max_length: most pieces of a translation, or None.
        max_length_ratio: most pieces are this times the source pieces, plus 10; or None.
        min_length_ratio: EOS is barred before this times the source pieces.
        ban_unk: whether UNK is barred besides BOS and PAD, which always are.
    """

    beam_size: int = 5
    length_penalty: float = 1.0
    max_length: int | None = None
    max_length_ratio: float | None = 3.0
    min_length_ratio: float = 0.0
    ban_unk: bool = True

    def limits(self, pieces: int) -> tuple[int, int]:
        """Return the fewest and the most pieces for a source of `pieces` pieces."""
        bounds = [self.max_length] if self.max_length is not None else []
        if self.max_length_ratio is not None:
            bounds.append(math.floor(self.max_length_ratio * pieces) + 10)
        most = min(bounds)
        return min(math.ceil(self.min_length_ratio * pieces), most), most


class Hypothesis(NamedTuple):
    """A translation found.

    Attributes:
        ids: pieces without EOS.
        log_probability: of the pieces, and of EOS if `finished`; natural logarithm.
        score: by which hypotheses are ranked.
        finished: whether EOS was chosen.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float
    finished: bool


class _End(NamedTuple):
    """Where a hypothesis ended: after `step` steps, its last piece in place `slot`."""

    step: int
    slot: int
    log_probability: float
    score: float
    finished: bool


class _Beams:
    """The open hypotheses of all sentences still searched.

    Attributes:
        sentences: (B) which sentences of the batch the rows belong to.
        log_p: (B, K) log-probability of each open hypothesis, -inf for an empty place.
        places: (B) places left to open hypotheses.
        best: (B, N) scores of the N best finished ones, -inf where there are fewer.
        parents, tokens: one (all sentences, K) array a step, to trace hypotheses back.
    """

    def __init__(
        self, models: Sequence[TranslationModel], source: Tensor, mask: Tensor,
        *, real: int, options: SearchOptions, n_best: int,
    ) -> None:  # fmt: skip
        device, k, total = source.device, options.beam_size, source.shape[0]
        self.models = models
        self.memories = [model.encode(source, mask) for model in models]
        self.states = [
            _rows(model.start(memory), torch.arange(total, device=device).repeat_interleave(k))
            for model, memory in zip(models, self.memories, strict=True)
        ]
        limits = [options.limits(int(n) - 1) for n in mask.sum(1)]
        self.fewest, self.most = torch.tensor(limits, device=device).unbind(1)
        self.sentences = torch.arange(total, device=device)
        self.log_p = torch.full((total, k), -math.inf, device=device)
        self.log_p[:real, 0] = 0.0
        self.places = torch.full((total,), k, device=device)
        self.best = torch.full((total, n_best), -math.inf, device=device)
        self.previous = torch.full((total * k,), BOS, device=device)
        self.barred = torch.tensor([BOS, PAD] + [UNK] * options.ban_unk, device=device)
        self.alpha = options.length_penalty
        self.total = total
        self.parents: list[NDArray[np.int64]] = []
        self.tokens: list[NDArray[np.int64]] = []

    def predict(self) -> Float[Tensor, "B K V"]:
        """Advance every model a step; return log p of each next word, barred ones at -inf."""
        predictions = []
        for i, (model, memory) in enumerate(zip(self.models, self.memories, strict=True)):
            log_p, self.states[i], _ = model.step(self.previous, self.states[i], memory)
            predictions.append(log_p)
        log_p = predictions[0]
        if len(predictions) > 1:  # an ensemble averages probabilities
            log_p = torch.stack(predictions).logsumexp(0) - math.log(len(predictions))
        log_p = log_p.float().reshape(*self.log_p.shape, -1)
        log_p[..., self.barred] = -math.inf
        early = len(self.tokens) < self.fewest
        log_p[..., EOS].masked_fill_(early[:, None], -math.inf)
        return log_p

    def extend(self) -> tuple[Bool[Tensor, "B K"], Float[Tensor, "B K"]]:
        """Take one step; return which of the chosen K extensions ended, and their log p."""
        log_p = self.predict()
        k, v = log_p.shape[1:]
        chosen, index = (self.log_p[..., None] + log_p).flatten(1).topk(k)
        parents, tokens = index // v, index % v
        used = (torch.arange(k, device=chosen.device) < self.places[:, None]) & chosen.isfinite()
        ended = used & (tokens == EOS)
        self.places -= ended.sum(1)
        self.log_p = torch.where(used & ~ended, chosen, -math.inf)
        rows = parents + torch.arange(len(parents), device=chosen.device)[:, None] * k
        self.states = [_rows(state, rows.flatten()) for state in self.states]
        self.previous = tokens.flatten()
        for history, now in ((self.parents, parents), (self.tokens, tokens)):
            step = np.zeros((self.total, k), dtype=np.int64)
            step[self.sentences.cpu().numpy()] = now.cpu().numpy()
            history.append(step)
        return ended, chosen

    def finished(self, ended: Tensor, chosen: Tensor) -> list[tuple[int, _End]]:
        """Return the hypotheses that ended in the last step, each with its sentence."""
        step = len(self.tokens)
        scores = torch.where(ended, chosen / step**self.alpha, -math.inf)
        self.best = torch.cat([self.best, scores], dim=1).topk(self.best.shape[1]).values
        found = []
        for row, slot in ended.nonzero().tolist():
            log_p, score = float(chosen[row, slot]), float(scores[row, slot])
            found.append((int(self.sentences[row]), _End(step, slot, log_p, score, True)))
        return found

    def unfinished(self) -> list[tuple[int, _End]]:
        """Return the best open hypothesis of each sentence that has just reached its limit."""
        step = len(self.tokens)
        found = []
        for row in (self.most == step).nonzero().flatten().tolist():
            log_p, slot = self.log_p[row].max(0)
            if log_p.isfinite():
                score = float(log_p) / max(step, 1) ** self.alpha
                end = _End(step, int(slot), float(log_p), score, False)
                found.append((int(self.sentences[row]), end))
        return found

    def done(self) -> Bool[Tensor, " B"]:
        """Return the sentences in which no open hypothesis can still win.

        Log-probabilities only fall; the kindest end divides by the longest length allowed.
        """
        hope = self.log_p.max(1).values / (self.most + 1).to(self.log_p.dtype) ** self.alpha
        return (hope <= self.best[:, -1]) | hope.isinf() | (len(self.tokens) > self.most)

    def keep(self, done: Bool[Tensor, " B"]) -> None:
        """Drop the sentences that are done, but keep `MINIMUM_ROWS` rows in the products."""
        k = self.log_p.shape[1]
        self.log_p = self.log_p.masked_fill(done[:, None], -math.inf)
        size = max(int((~done).sum()), min(math.ceil(MINIMUM_ROWS / k), len(done)))
        if size == len(done):
            return
        kept = done.to(torch.uint8).argsort(stable=True)[:size].sort().values
        self.memories = [Memory(*(part[kept] for part in m)) for m in self.memories]
        rows = (kept[:, None] * k + torch.arange(k, device=kept.device)).flatten()
        self.states = [_rows(state, rows) for state in self.states]
        self.previous = self.previous[rows]
        fields = (self.sentences, self.log_p, self.places, self.best, self.fewest, self.most)
        self.sentences, self.log_p, self.places, self.best, self.fewest, self.most = (
            field[kept] for field in fields
        )

    def trace(self, sentence: int, end: _End) -> Hypothesis:
        """Return the hypothesis that ended at `end`, read back to front."""
        ids, slot = [], end.slot
        for parents, tokens in zip(
            reversed(self.parents[: end.step]), reversed(self.tokens[: end.step]), strict=True
        ):
            ids.append(int(tokens[sentence, slot]))
            slot = int(parents[sentence, slot])
        pieces = tuple(reversed(ids[1:] if end.finished else ids))
        return Hypothesis(pieces, end.log_probability, end.score, end.finished)


def _rows(state: DecoderState, rows: Int[Tensor, " R"]) -> DecoderState:
    return DecoderState(*(part.index_select(0, rows) for part in state))


@torch.inference_mode()
def search(
    models: Sequence[TranslationModel],
    source: Int[Tensor, "B S"],
    mask: Bool[Tensor, "B S"],
    *,
    options: SearchOptions,
    n_best: int = 1,
) -> list[list[Hypothesis]]:
    """Return the best translations of each sentence, best first, at least one and at most `n_best`.

    Start and padding are never chosen, nor the unknown under `ban_unk`; nothing is renormalised.
    A sentence ends when no open hypothesis can beat the `n_best` finished ones, or at its longest
    length; only if nothing has finished there, or nothing but an empty translation with a lower
    score, the best unfinished hypothesis is returned.

    Args:
        models: one model, or an ensemble with one target vocabulary, in evaluation mode.
        source: source ids, EOS included.
        mask: real positions.
        options: how to search.
        n_best: N, at most `options.beam_size`.
    """
    real = source.shape[0]
    if real < MINIMUM_ROWS and source.shape[1] <= LONG_SOURCE:
        repeat = torch.arange(MINIMUM_ROWS, device=source.device) % real
        source, mask = source[repeat], mask[repeat]
    beams = _Beams(models, source, mask, real=real, options=options, n_best=n_best)
    ends: list[list[_End]] = [[] for _ in range(real)]
    spare: dict[int, _End] = {}
    beams.keep(beams.done())
    while not (done := beams.done()).all():
        beams.keep(done)
        for sentence, end in beams.finished(*beams.extend()):
            ends[sentence].append(end)
        spare.update(beams.unfinished())
    nothing = _End(0, 0, -math.inf, -math.inf, False)
    results = []
    for sentence, finished in enumerate(ends):
        ranked = sorted(finished, key=lambda end: -end.score)
        cut = spare.get(sentence, nothing)
        if all(end.step == 1 and end.score < cut.score for end in finished):
            ranked.insert(0, cut)
        results.append([beams.trace(sentence, end) for end in ranked[:n_best]])
    return results
