"""Search against exhaustive enumeration, on a vocabulary of four words.

The four special ids stand beside the words; start, padding and the unknown are barred, so that a
hypothesis is any string of at most `MOST` words, with or without its EOS. All of them are scored
by the NumPy transcription, which knows nothing of beams. Scores are

    log p(y_1 .. y_n, EOS | x) / (n + 1)^α

Search adds log-probabilities in float32, hence the tolerances of 1e-5.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from numpy_reference import WIRINGS, Reference

from rnnsearch.batches import collate, collate_sources
from rnnsearch.hypotheses import Hypothesis
from rnnsearch.model import TranslationModel, build_model
from rnnsearch.modelconfig import RnnsearchConfig
from rnnsearch.search import SearchOptions, prepared, search
from rnnsearch.text import BOS, EOS, PAD, UNK

WORDS = (4, 5, 6, 7)
SOURCE_VOCAB, TARGET_VOCAB = 9, 4 + len(WORDS)
MOST = 3
# Strings of at most three words: 1 + 4 + 16 + 64 can finish; in the last step the 64 longest have
# five extensions each, and none may push another out.
WHOLE_SPACE = 1 + 4 + 16 + 64 * 5
CONFIG = RnnsearchConfig(
    kind="rnnsearch",
    hidden_size=6,
    encoder_size=7,
    embedding_size=5,
    maxout_size=8,
    alignment_size=4,
    attention="additive",
    wiring="appendix",
    dropout=0.2,
    annotation_dropout=0.0,
    tied="none",
    bias=True,
    init="paper",
    reset_after=False,
)
SOURCES = [[4, 8, 5], [], [7, 7, 6, 5, 4, 8, 8], [0], [6, 4]]
GREEDY = SearchOptions(beam_size=1, length_penalty=0.0, max_length=MOST, max_length_ratio=None)
WIDE = replace(GREEDY, beam_size=WHOLE_SPACE)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Products as small as these only wait for a second thread."""
    torch.set_num_threads(1)


class Candidate(NamedTuple):
    """A string of words with the log-probability of it and its EOS."""

    ids: tuple[int, ...]
    log_probability: float

    def score(self, alpha: float) -> float:
        return self.log_probability / (len(self.ids) + 1) ** alpha


def random_model(
    *, seed: int = 0, wiring: str = "appendix", sharpness: float = 1.0
) -> TranslationModel:
    """Return a model with weights from N(0, 0.7²), far from the flat start of training.

    Most of its distributions are peaked; W_o is multiplied by `sharpness` to flatten them.
    """
    model = build_model(
        replace(CONFIG, wiring=wiring), source_vocab=SOURCE_VOCAB, target_vocab=TARGET_VOCAB
    )
    generator = torch.Generator().manual_seed(seed)
    for symbol in model.double().eval().paper_symbols().values():
        symbol.normal_(std=0.7, generator=generator)
    model.paper_symbols()["W_o"].mul_(sharpness)
    return model


def lean(model: TranslationModel, **logits: float) -> TranslationModel:
    """Add so much to the output bias of the ids named in lower case."""
    ids = {"unk": UNK, "bos": BOS, "eos": EOS, "pad": PAD}
    bias = model.paper_symbols()["b_W_o"]
    for name, logit in logits.items():
        bias[ids[name]] += logit
    return model


def reference(model: TranslationModel, *, wiring: str = "appendix") -> Reference:
    return Reference({k: v.numpy() for k, v in model.paper_symbols().items()}, wiring=wiring)


def everything(
    oracle: Reference,
    source: Sequence[int],
    *,
    prefix: tuple[int, ...] = (),
    log_probability: float = 0.0,
) -> Iterator[Candidate]:
    """Yield every string of at most `MOST` words that begins with `prefix`, finished by EOS."""
    log_p = oracle.next_log_probabilities([*source, EOS], prefix)
    yield Candidate(prefix, log_probability + float(log_p[EOS]))
    if len(prefix) < MOST:
        for word in WORDS:
            yield from everything(
                oracle,
                source,
                prefix=(*prefix, word),
                log_probability=log_probability + float(log_p[word]),
            )


def ranking(candidates: Sequence[Candidate], *, alpha: float) -> list[Candidate]:
    return sorted(candidates, key=lambda candidate: -candidate.score(alpha))


def translate(
    model: TranslationModel | Sequence[TranslationModel],
    sources: Sequence[Sequence[int]],
    *,
    options: SearchOptions,
    n_best: int = 1,
    multiple: int = 1,
) -> list[list[Hypothesis]]:
    models = [model] if isinstance(model, TranslationModel) else model
    source, mask = collate_sources([list(ids) for ids in sources], multiple=multiple)
    steppers = prepared(models, options)
    return search(steppers, source, mask, options=options, n_best=n_best)


def texts(results: Sequence[Sequence[Hypothesis]]) -> list[list[tuple[int, ...]]]:
    return [[hypothesis.ids for hypothesis in hypotheses] for hypotheses in results]


def teacher_forced(model: TranslationModel, source: Sequence[int], hypothesis: Hypothesis) -> float:
    """Return the model's own log p of a hypothesis, with EOS where it has one."""
    with torch.no_grad():
        log_p, _ = model.log_probabilities(collate([list(source)], [list(hypothesis.ids)]))
    return float(log_p[0].sum() if hypothesis.finished else log_p[0, :-1].sum())


# The oracle


@pytest.mark.parametrize("wiring", WIRINGS)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_beam_as_wide_as_the_space_finds_the_best(wiring: str, seed: int) -> None:
    """Under length penalties 0, 0.6 and 1.0, the best and the next nine."""
    model = random_model(seed=seed, wiring=wiring)
    oracle = reference(model, wiring=wiring)
    spaces = [list(everything(oracle, source)) for source in SOURCES[:3]]
    assert {len(space) for space in spaces} == {85}
    best = set()
    for alpha in (0.0, 0.6, 1.0):
        results = translate(
            model, SOURCES[:3], options=replace(WIDE, length_penalty=alpha), n_best=10
        )
        for space, found in zip(spaces, results, strict=True):
            expected = ranking(space, alpha=alpha)[:10]
            assert [hypothesis.ids for hypothesis in found] == [c.ids for c in expected]
            for hypothesis, candidate in zip(found, expected, strict=True):
                assert hypothesis.finished
                assert hypothesis.score == pytest.approx(candidate.score(alpha), abs=1e-5)
                assert hypothesis.log_probability == pytest.approx(
                    candidate.log_probability, abs=1e-5
                )
            best.add((alpha, found[0].ids))
    assert len({ids for _, ids in best}) > 1


def test_the_length_penalty_decides_between_short_and_long() -> None:
    """The oracle would be weak if the same string won under every α."""
    model = lean(random_model(seed=2), eos=1.0)
    lengths = [
        len(translate(model, SOURCES[:1], options=replace(WIDE, length_penalty=alpha))[0][0].ids)
        for alpha in (0.0, 4.0)
    ]
    assert lengths[0] < lengths[1]


class Ended(NamedTuple):
    """A string that a beam ends with; `finished` if EOS is in its sum."""

    ids: tuple[int, ...]
    log_probability: float
    finished: bool


def shrinking_beam(
    oracle: Reference, source: Sequence[int], *, size: int, alpha: float
) -> list[Ended]:
    """Search one sentence with a beam of which each hypothesis that ends takes one place away.

    All steps are taken; nothing is stopped early.
    """
    open_ends = [Ended((), 0.0, False)]
    finished: list[Ended] = []
    spare: list[Ended] = []
    for _ in range(MOST + 1):
        # In the end these are the strings of MOST words, for want of something finished.
        spare = open_ends or spare
        extensions = []
        for ids, log_probability, _finished in open_ends:
            log_p = oracle.next_log_probabilities([*source, EOS], ids)
            extensions.append(Ended(ids, log_probability + float(log_p[EOS]), True))
            for word in WORDS:
                total = log_probability + float(log_p[word])
                extensions.append(Ended((*ids, word), total, False))
        extensions.sort(key=lambda end: -end.log_probability)
        chosen = extensions[: size - len(finished)]
        finished += [end for end in chosen if end.finished]
        open_ends = [end for end in chosen if not end.finished]
    finished.sort(key=lambda end: -end.log_probability / (len(end.ids) + 1) ** alpha)
    # An empty translation alone does not keep a better one from being returned unfinished.
    cut = spare[0].log_probability / max(len(spare[0].ids), 1) ** alpha
    if all(not end.ids and end.log_probability < cut for end in finished):
        finished.insert(0, spare[0])
    return finished


@pytest.mark.parametrize("eos", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("beam_size", [2, 3, 6])
def test_a_narrow_beam_is_that_of_the_plain_program(beam_size: int, eos: float) -> None:
    """The same strings at the same scores, in order, whether or not something finishes."""
    model = lean(random_model(seed=6, sharpness=0.2), eos=eos)
    options = replace(WIDE, beam_size=beam_size, length_penalty=0.6)
    results = translate(model, SOURCES, options=options, n_best=beam_size)
    for source, found in zip(SOURCES, results, strict=True):
        expected = shrinking_beam(reference(model), source, size=beam_size, alpha=0.6)
        assert [(h.ids, h.finished) for h in found] == [(e.ids, e.finished) for e in expected]
        assert [h.log_probability for h in found] == pytest.approx(
            [e.log_probability for e in expected], abs=1e-5
        )


def greedy(
    oracle: Reference, source: Sequence[int], *, most: int, barred: Sequence[int]
) -> tuple[int, ...]:
    """Take the likeliest word that is not barred until it is EOS or `most` words stand."""
    ids: tuple[int, ...] = ()
    while len(ids) < most:
        log_p = oracle.next_log_probabilities([*source, EOS], ids)
        log_p[list(barred)] = -np.inf
        word = int(log_p.argmax())
        if word == EOS:
            break
        ids = (*ids, word)
    return ids


@pytest.mark.parametrize("wiring", WIRINGS)
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy(wiring: str, seed: int) -> None:
    model = random_model(seed=seed, wiring=wiring)
    oracle = reference(model, wiring=wiring)
    results = translate(model, SOURCES, options=replace(GREEDY, max_length=8))
    for source, found in zip(SOURCES, results, strict=True):
        assert len(found) == 1
        assert found[0].ids == greedy(oracle, source, most=8, barred=(UNK, BOS, PAD))


def test_greedy_search_ends_in_both_ways() -> None:
    """Among the cases above some end at EOS and some at the limit."""
    ends = {
        found[0].finished
        for seed in range(4)
        for found in translate(
            random_model(seed=seed), SOURCES, options=replace(GREEDY, max_length=8)
        )
    }
    assert ends == {True, False}


# Scores


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("beam_size", [1, 4])
def test_a_score_is_the_models_log_probability(beam_size: int, alpha: float) -> None:
    """Teacher forcing gives the same sum, divided by (pieces + EOS)^α."""
    model = random_model(seed=1)
    options = replace(GREEDY, beam_size=beam_size, length_penalty=alpha, max_length=10)
    results = translate(model, SOURCES, options=options, n_best=beam_size)
    for source, found in zip(SOURCES, results, strict=True):
        for hypothesis in found:
            expected = teacher_forced(model, source, hypothesis)
            assert hypothesis.log_probability == pytest.approx(expected, abs=1e-5)
            if hypothesis.finished:
                length = len(hypothesis.ids) + 1
                assert hypothesis.score == pytest.approx(expected / length**alpha, abs=1e-5)


@pytest.mark.parametrize("beam_size", [2, 5, WHOLE_SPACE])
def test_n_best_is_sorted_and_distinct(beam_size: int) -> None:
    model = lean(random_model(seed=7, sharpness=0.2), eos=1.0)
    n_best = min(beam_size, 20)
    options = replace(WIDE, beam_size=beam_size, length_penalty=1.0)
    results = translate(model, SOURCES, options=options, n_best=n_best)
    assert any(len(found) > 1 for found in results)
    for found in results:
        assert 1 <= len(found) <= n_best
        scores = [hypothesis.score for hypothesis in found]
        assert scores == sorted(scores, reverse=True)
        assert len({hypothesis.ids for hypothesis in found}) == len(found)


@pytest.mark.parametrize("beam_size", [2, 5, WHOLE_SPACE])
def test_the_best_does_not_depend_on_n_best(beam_size: int) -> None:
    """Asking for more may search longer, but what is found first stays first."""
    model = random_model(seed=5)
    options = replace(WIDE, beam_size=beam_size, length_penalty=0.6, max_length=6)
    options = replace(options, max_length=MOST) if beam_size == WHOLE_SPACE else options
    one = translate(model, SOURCES, options=options, n_best=1)
    many = translate(model, SOURCES, options=options, n_best=min(beam_size, 10))
    assert [found[0] for found in one] == [found[0] for found in many]


def test_an_ensemble_averages_probabilities() -> None:
    """log p(y_i) = log of the mean of the models' p(y_i), at every step."""
    models = [random_model(seed=seed) for seed in (0, 6)]
    results = translate(models, SOURCES, options=replace(GREEDY, beam_size=4), n_best=2)
    for source, found in zip(SOURCES, results, strict=True):
        for hypothesis in found:
            target = [*hypothesis.ids, EOS]
            each = [reference(m).score([*source, EOS], target).log_probabilities for m in models]
            mean = np.log(np.exp(np.stack(each)).mean(axis=0))
            expected = mean.sum() if hypothesis.finished else mean[:-1].sum()
            assert hypothesis.log_probability == pytest.approx(expected, abs=1e-5)


def test_an_ensemble_of_one_model_twice_is_that_model() -> None:
    model = random_model(seed=7)
    options = replace(GREEDY, beam_size=3, length_penalty=1.0)
    alone, twice = (translate(m, SOURCES, options=options) for m in (model, [model, model]))
    assert texts(twice) == texts(alone)
    for ours, expected in zip(twice, alone, strict=True):
        assert ours[0].score == pytest.approx(expected[0].score, abs=1e-5)


# Independence


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("beam_size", [1, 5])
def test_neighbours_order_and_padding_change_nothing(beam_size: int, dtype: torch.dtype) -> None:
    """Each sentence alone, all together, in reverse, repeated, and padded further."""
    model = random_model(seed=8).to(dtype)
    options = replace(GREEDY, beam_size=beam_size, length_penalty=1.0, max_length=12)
    sources = [*SOURCES, *([4 + i % 5] * (1 + i % 7) for i in range(12))]

    def run(batch: Sequence[Sequence[int]], *, multiple: int = 16) -> list[list[Hypothesis]]:
        return translate(model, batch, options=options, n_best=beam_size, multiple=multiple)

    together = run(sources)
    others = [
        [run([source])[0] for source in sources],
        run(sources[::-1])[::-1],
        run(sources * 2)[len(sources) :],
        run(sources, multiple=1),
    ]
    for other in others:
        assert texts(other) == texts(together)
        for ours, expected in zip(other, together, strict=True):
            assert [h.finished for h in ours] == [h.finished for h in expected]
            scores = [h.score for h in expected]
            assert [h.score for h in ours] == pytest.approx(scores, abs=1e-5)


def test_a_neighbour_with_another_limit_changes_nothing() -> None:
    """The limits of `max_length_ratio` are each sentence's own."""
    model = lean(random_model(seed=9), eos=-30.0)
    options = replace(GREEDY, beam_size=2, max_length=None, max_length_ratio=2.0)
    results = translate(model, SOURCES, options=options)
    for source, found in zip(SOURCES, results, strict=True):
        assert not found[0].finished
        assert len(found[0].ids) == 2 * len(source) + 10
        assert found[0].ids == translate(model, [source], options=options)[0][0].ids


# What is barred


@pytest.mark.parametrize("beam_size", [1, 4, WHOLE_SPACE])
def test_marks_are_never_chosen(beam_size: int) -> None:
    """Even where a model gives them nearly all the mass, which is not handed to the others."""
    model = lean(random_model(seed=10), unk=8.0, bos=8.0, pad=8.0)
    options = replace(WIDE, beam_size=beam_size)
    results = translate(model, SOURCES, options=options, n_best=min(beam_size, 10))
    for source, found in zip(SOURCES, results, strict=True):
        for hypothesis in found:
            assert set(hypothesis.ids) <= set(WORDS)
            expected = teacher_forced(model, source, hypothesis)
            # At least one choice of a few thousandths of the mass.
            assert expected < -4.0
            assert hypothesis.log_probability == pytest.approx(expected, abs=1e-4)


def test_the_unknown_may_be_chosen_where_it_is_not_banned() -> None:
    model = lean(random_model(seed=10), unk=60.0, bos=90.0, pad=90.0)
    found = translate(model, SOURCES, options=replace(GREEDY, ban_unk=False))
    assert texts(found) == [[(UNK,) * MOST]] * len(SOURCES)


# Limits


def test_at_the_limit_the_best_unfinished_is_returned() -> None:
    """Where EOS never comes in sight: `MOST` words, no EOS in sum or length."""
    model = lean(random_model(seed=11), eos=-60.0)
    oracle = reference(model)
    for source, found in zip(
        SOURCES, translate(model, SOURCES, options=replace(GREEDY, beam_size=4)), strict=True
    ):
        assert len(found) == 1
        assert not found[0].finished
        assert len(found[0].ids) == MOST
        forced = oracle.score([*source, EOS], [*found[0].ids, EOS]).log_probabilities
        assert found[0].log_probability == pytest.approx(forced[:-1].sum(), abs=1e-5)
        assert found[0].score == pytest.approx(forced[:-1].sum(), abs=1e-5)


def test_only_if_nothing_has_finished() -> None:
    """A poor finished hypothesis is preferred to a likely one without an end."""
    model = lean(random_model(seed=11), eos=-60.0)
    for found in translate(model, SOURCES, options=WIDE, n_best=10):
        assert len(found) == 10
        assert all(hypothesis.finished for hypothesis in found)
        assert all(hypothesis.log_probability < -30 for hypothesis in found)


@pytest.mark.parametrize("beam_size", [1, 3])
@pytest.mark.parametrize("max_length", [1, 2, 5])
def test_no_translation_is_longer_than_max_length(max_length: int, beam_size: int) -> None:
    model = random_model(seed=12)
    options = replace(GREEDY, beam_size=beam_size, max_length=max_length)
    for found in translate(model, SOURCES, options=options, n_best=beam_size):
        assert found
        assert all(len(hypothesis.ids) <= max_length for hypothesis in found)


def test_the_tighter_of_two_limits_rules() -> None:
    """`max_length` pieces, or `max_length_ratio` times the source pieces and ten more."""
    model = lean(random_model(seed=12), eos=-60.0)
    source = [4] * 5
    for max_length, ratio, expected in (
        (7, 3.0, 7),
        (99, 3.0, 25),
        (None, 0.5, 12),
        (14, None, 14),
    ):
        options = replace(GREEDY, max_length=max_length, max_length_ratio=ratio)
        assert len(translate(model, [source], options=options)[0][0].ids) == expected


@pytest.mark.parametrize("beam_size", [1, 4, WHOLE_SPACE])
def test_min_length_ratio_bars_the_end_before(beam_size: int) -> None:
    """Fewer pieces than the ratio of the source's are not offered; so many are."""
    model = lean(random_model(seed=13), eos=20.0)
    options = replace(WIDE, beam_size=beam_size, max_length=MOST, min_length_ratio=0.5)
    unbound = translate(model, SOURCES, options=replace(options, min_length_ratio=0.0))
    assert texts(unbound) == [[()]] * len(SOURCES)
    for source, found in zip(SOURCES, translate(model, SOURCES, options=options), strict=True):
        fewest = min(math.ceil(len(source) / 2), MOST)
        assert found[0].finished
        assert len(found[0].ids) == fewest
        expected = teacher_forced(model, source, found[0])
        assert found[0].log_probability == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_min_length_ratio_against_the_oracle(alpha: float) -> None:
    """The best of the strings that are long enough."""
    model = lean(random_model(seed=14), eos=2.0)
    options = replace(WIDE, length_penalty=alpha, min_length_ratio=0.6)
    for source, found in zip(SOURCES, translate(model, SOURCES, options=options), strict=True):
        fewest = min(math.ceil(0.6 * len(source)), MOST)
        space = [c for c in everything(reference(model), source) if len(c.ids) >= fewest]
        assert found[0].ids == ranking(space, alpha=alpha)[0].ids


@pytest.mark.parametrize("beam_size", [TARGET_VOCAB, TARGET_VOCAB + 1, 50])
def test_a_beam_wider_than_the_vocabulary(beam_size: int) -> None:
    """The first step has fewer candidates than the beam has places."""
    model = random_model(seed=15)
    options = replace(GREEDY, beam_size=beam_size, length_penalty=1.0, max_length=6)
    for found in translate(model, SOURCES, options=options, n_best=beam_size):
        assert found
        assert all(set(hypothesis.ids) <= set(WORDS) for hypothesis in found)
        assert all(math.isfinite(hypothesis.score) for hypothesis in found)
