"""Greedy and beam search over `model.step`, many sentences at once.

    for each step: extend every hypothesis by every word, keep the best, set the finished aside

A beam has `beam_size` places; a hypothesis that ends gives its place up, as in the original
program, so a beam of 1 is greedy search. Positions, ranks and scores follow the paper's symbols
only where it has any; the score of a finished hypothesis of n pieces is

    log p(y, EOS | x) / (n + 1)^α        α = length penalty, 0 for the plain sum

Shapes: B sentences still searched, K beam size, V target vocabulary, R rows, which are the open
hypotheses among the B·K places.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from rnnsearch.bestwords import best_words
from rnnsearch.config import DecodeConfig
from rnnsearch.decoder import DecoderState
from rnnsearch.hypotheses import End, Ends, Hypothesis, listed, ranked, trace
from rnnsearch.model import TranslationModel
from rnnsearch.products import operands_for
from rnnsearch.stepping import Stepper, fewest_rows, stepper_for
from rnnsearch.text import BOS, EOS, PAD, SPECIAL_IDS, UNK

ROWS = 512
"""Rows whose logits are held at once, about. Fewer would stay in the cache, but products of fewer
rows are so much slower that it does not pay."""

SPARSE = 0.75
"""When no more than this share of the sentences is left, what belongs to the others is dropped."""

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
        precision: of the factors of matrix products: fp32, bf16 or auto.
    """

    beam_size: int = 5
    length_penalty: float = 1.0
    max_length: int | None = None
    max_length_ratio: float | None = 3.0
    min_length_ratio: float = 0.0
    ban_unk: bool = True
    precision: str = "fp32"

    def limits(self, pieces: int) -> tuple[int, int]:
        """Return the fewest and the most pieces for a source of `pieces` pieces."""
        bounds = [self.max_length] if self.max_length is not None else []
        if self.max_length_ratio is not None:
            bounds.append(math.floor(self.max_length_ratio * pieces) + 10)
        most = min(bounds)
        return min(math.ceil(self.min_length_ratio * pieces), most), most


def search_options(decode: DecodeConfig, *, kind: str) -> SearchOptions:
    """Return the `decode` group as options of the search.

    Args:
        decode: the group; `ban_unk: null` bars the unknown for subwords, whose readers it never
            serves, and allows it for words, as the paper does.
        kind: of the target tokenizer.
    """
    return SearchOptions(
        beam_size=decode.beam_size,
        length_penalty=decode.length_penalty,
        max_length=decode.max_length,
        max_length_ratio=decode.max_length_ratio,
        min_length_ratio=decode.min_length_ratio,
        ban_unk=kind != "word" if decode.ban_unk is None else decode.ban_unk,
        precision=decode.precision,
    )


class _Extension(NamedTuple):
    """The K best extensions of each sentence: where they come from, what they add."""

    log_p: Float[Tensor, "B K"]
    parents: Int[Tensor, "B K"]
    tokens: Int[Tensor, "B K"]


class _Beams:
    """The open hypotheses of all sentences still searched.

    Attributes:
        sentences: (B) which sentences of the batch the beams belong to.
        log_p: (B, K) log-probability of each open hypothesis, -inf for an empty place.
        places: (B) places left to open hypotheses.
        best: (B, N) scores of the N best finished ones, -inf where there are fewer.
        slots: (R) the places that the models step, those of the open hypotheses among them.
        history: for each step the parents and tokens of all sentences, to trace hypotheses back.
    """

    def __init__(
        self, steppers: Sequence[Stepper], source: Tensor, mask: Tensor,
        *, real: int, options: SearchOptions, n_best: int,
    ) -> None:  # fmt: skip
        device, k, total = source.device, options.beam_size, source.shape[0]
        self.steppers = steppers
        self.memories = [stepper.remember(source, mask) for stepper in self.steppers]
        self.states = [
            stepper.start(memory)
            for stepper, memory in zip(self.steppers, self.memories, strict=True)
        ]
        limits = [options.limits(int(n) - 1) for n in mask.sum(1)]
        self.fewest, self.most = torch.tensor(limits, device=device).unbind(1)
        self.sentences = torch.arange(total, device=device)
        self.log_p = torch.full((total, k), -math.inf, device=device)
        self.log_p[:real, 0] = 0.0
        self.places = torch.full((total,), k, device=device)
        self.best = torch.full((total, n_best), -math.inf, device=device)
        self.slots = torch.arange(total, device=device) * k
        self.previous = torch.full((total,), BOS, device=device)
        never = (BOS, PAD, UNK) if options.ban_unk else (BOS, PAD)
        self.barred = torch.tensor([i in never for i in range(SPECIAL_IDS)], device=device)
        self.alpha = options.length_penalty
        self.total = total
        self.history: list[tuple[Tensor, Tensor]] = []

    @property
    def step(self) -> int:
        """The number of steps taken."""
        return len(self.history)

    def predict(self) -> tuple[Float[Tensor, "R M"], Int[Tensor, "R M"]]:
        """Advance every model a step; return log p of each row's best words, and the words."""
        width = self.log_p.shape[1]
        readouts = []
        for i, (stepper, memory) in enumerate(zip(self.steppers, self.memories, strict=True)):
            t, self.states[i] = stepper.step(
                self.previous, self.states[i], memory, self.slots, width=width
            )
            readouts.append(t)
        barred = self.barred.repeat(len(self.slots), 1)
        barred[:, EOS] |= (self.step < self.fewest).repeat_interleave(width)[self.slots]
        pieces = math.ceil(len(self.slots) / ROWS)
        columns = [part.tensor_split(pieces) for part in (barred, *readouts)]
        found = [self._best(*parts) for parts in zip(*columns, strict=True)]
        values, words = (torch.cat(column) for column in zip(*found, strict=True))
        return values, words

    def _best(self, barred: Tensor, *readouts: Tensor) -> tuple[Tensor, Tensor]:
        """Return log p of the best words of some rows, and the words."""
        logits = [s.logits(t).float() for s, t in zip(self.steppers, readouts, strict=True)]
        scores = logits[0]
        if len(logits) > 1:  # an ensemble averages probabilities
            scores = torch.stack([one.log_softmax(-1) for one in logits]).logsumexp(0)
        return best_words(scores, barred, self.log_p.shape[1])

    def extend(self) -> _Extension:
        """Take one step and return the best extensions, best first."""
        b, k = self.log_p.shape
        values, words = self.predict()
        values = values + self.log_p.flatten()[self.slots, None]
        m = values.shape[1]
        # Those of a sentence's rows side by side, -inf for its empty places.
        table = values.new_full((b * k, m), -math.inf).index_copy_(0, self.slots, values)
        names = words.new_zeros(b * k, m).index_copy_(0, self.slots, words)
        log_p, index = table.reshape(b, k * m).topk(k)
        tokens = names.reshape(b, k * m).gather(1, index)
        extension = _Extension(log_p, index // m, tokens)
        step = torch.zeros(2, self.total, k, dtype=torch.int64, device=log_p.device)
        step[:, self.sentences] = torch.stack(extension[1:])
        self.history.append((step[0], step[1]))
        return extension

    def finish(self, found: _Extension) -> Ends:
        """Return the hypotheses that end, and leave the open ones."""
        k = self.log_p.shape[1]
        used = torch.arange(k, device=self.places.device) < self.places[:, None]
        used &= found.log_p.isfinite()
        ended = used & (found.tokens == EOS)
        self.places = self.places - ended.sum(1)
        self.log_p = torch.where(used & ~ended, found.log_p, -math.inf)
        scores = torch.where(ended, found.log_p / self.step**self.alpha, -math.inf)
        self.best = torch.cat([self.best, scores], dim=1).topk(self.best.shape[1]).values
        row, slot = ended.nonzero(as_tuple=True)
        return Ends(self.sentences[row], slot, found.log_p[row, slot], scores[row, slot])

    def unfinished(self) -> Ends:
        """Return the best open hypothesis of each sentence that has just reached its limit."""
        log_p, slot = self.log_p.max(1)
        row = ((self.most == self.step) & log_p.isfinite()).nonzero().flatten()
        scores = log_p / max(self.step, 1) ** self.alpha
        return Ends(self.sentences[row], slot[row], log_p[row], scores[row])

    def done(self) -> Bool[Tensor, " B"]:
        """Return the sentences in which no open hypothesis can still win.

        Log-probabilities only fall; the kindest end divides by the longest length allowed.
        """
        hope = self.log_p.max(1).values / (self.most + 1).to(self.log_p.dtype) ** self.alpha
        return (hope <= self.best[:, -1]) | hope.isinf() | (self.step > self.most)

    def move(self, found: _Extension | None, done: Bool[Tensor, " B"]) -> None:
        """Drop the sentences that are done and the places that are empty; go on with the rest.

        At least `fewest_rows` stay in the products.

        Args:
            found: where the open hypotheses come from; None before the first step.
            done: of `done`.
        """
        b, k = self.log_p.shape
        self.log_p = self.log_p.masked_fill(done[:, None], -math.inf)
        rows = torch.zeros(b * k, dtype=torch.int64, device=done.device)
        rows[self.slots] = torch.arange(len(self.slots), device=done.device)
        if found is None:
            origin, previous = rows, rows.new_full((b * k,), BOS)
        else:
            places = found.parents + torch.arange(b, device=done.device)[:, None] * k
            origin, previous = rows[places.flatten()], found.tokens.flatten()
        fewest = fewest_rows()
        kept = _first(~done, min(math.ceil(fewest / k), b))
        if len(kept) > SPARSE * b:
            kept = torch.arange(b, device=done.device)
        else:
            self.memories = [type(m)(*(part[kept] for part in m)) for m in self.memories]
            fields = (self.sentences, self.log_p, self.places, self.best, self.fewest, self.most)
            self.sentences, self.log_p, self.places, self.best, self.fewest, self.most = (
                field[kept] for field in fields
            )
        self.slots = _first(self.log_p.isfinite().flatten(), min(fewest, len(kept) * k))
        whole = kept[self.slots // k] * k + self.slots % k
        self.previous = previous[whole]
        self.states = [
            DecoderState(*(part.index_select(0, origin[whole]) for part in state))
            for state in self.states
        ]


def _first(wanted: Bool[Tensor, " N"], fewest: int) -> Int[Tensor, " M"]:
    """Return the numbers of all that are wanted, and of others if these are too few, in order."""
    found = wanted.nonzero().flatten()
    if len(found) >= fewest:
        return found
    return wanted.logical_not().to(torch.uint8).argsort(stable=True)[:fewest].sort().values


@torch.inference_mode()
def prepared(models: Sequence[TranslationModel], options: SearchOptions) -> list[Stepper]:
    """Return what steps the models in a search; it serves several as long as the weights stay.

    Args:
        models: one model, or an ensemble with one target vocabulary, in evaluation mode.
        options: those of the searches.
    """
    rounding = operands_for(options.precision, models[0].W_o.weight.device)
    return [stepper_for(model, rounding, width=options.beam_size) for model in models]


@torch.inference_mode()
def search(
    steppers: Sequence[Stepper],
    source: Int[Tensor, "B S"],
    mask: Bool[Tensor, "B S"],
    *,
    options: SearchOptions,
    n_best: int = 1,
    each_step: Callable[[], object] | None = None,
) -> list[list[Hypothesis]]:
    """Return the best translations of each sentence, best first, at least one and at most `n_best`.

    Start and padding are never chosen, nor the unknown under `ban_unk`; nothing is renormalised.
    A sentence ends when no open hypothesis can beat the `n_best` finished ones, or at its longest
    length; only if nothing has finished there, or nothing but an empty translation with a lower
    score, the best unfinished hypothesis is returned.

    Args:
        steppers: from `prepared`.
        source: source ids, EOS included.
        mask: real positions.
        options: how to search.
        n_best: N, at most `options.beam_size`.
        each_step: called after each step; what it raises ends the search.
    """
    real = source.shape[0]
    if real < (fewest := fewest_rows()) and source.shape[1] <= LONG_SOURCE:
        repeat = torch.arange(fewest, device=source.device) % real
        source, mask = source[repeat], mask[repeat]
    beams = _Beams(steppers, source, mask, real=real, options=options, n_best=n_best)
    ends: list[list[End]] = [[] for _ in range(real)]
    found = None
    while not (done := beams.done()).all():
        beams.move(found, done)
        found = beams.extend()
        for part, finished in ((beams.finish(found), True), (beams.unfinished(), False)):
            for end in listed(part, step=beams.step, finished=finished):
                ends[end.sentence].append(end)
        if each_step is not None:
            each_step()
    best = [ranked(ends[sentence], sentence, n_best) for sentence in range(real)]
    hypotheses = iter(trace(beams.history, list(itertools.chain(*best))))
    return [[next(hypotheses) for _ in chosen] for chosen in best]
