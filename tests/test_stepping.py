"""The fast step of the search against the plain one, and the choice of the best words."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from test_search_oracle import CONFIG, SOURCES, random_model

from rnnsearch.batches import collate_sources
from rnnsearch.bestwords import best_words
from rnnsearch.decoder import DecoderState
from rnnsearch.model import TranslationModel, build_model
from rnnsearch.products import operands
from rnnsearch.search import SearchOptions, prepared, search
from rnnsearch.stepping import FastStepper, PlainStepper, stepper_for
from rnnsearch.text import BOS, EOS, PAD, UNK

WIDTH = 3


def models(wiring: str, *, bias: bool = True) -> TranslationModel:
    torch.manual_seed(5)
    model = build_model(
        replace(CONFIG, wiring=wiring, bias=bias), source_vocab=9, target_vocab=8
    ).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
    return model.eval()


@torch.inference_mode()
@pytest.mark.parametrize("hoisted", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("wiring", ["appendix", "equation4", "original"])
def test_the_fast_step_is_the_plain_step(wiring: str, bias: bool, hoisted: bool) -> None:
    """Rows come and go, as in a search."""
    model = models(wiring, bias=bias)
    source, mask = collate_sources(SOURCES)
    steppers = [PlainStepper(model), FastStepper(model, hoisted=hoisted)]
    memories = [stepper.remember(source, mask) for stepper in steppers]
    states = [s.start(memory) for s, memory in zip(steppers, memories, strict=True)]
    generator = torch.Generator().manual_seed(1)
    slots = torch.arange(len(SOURCES)) * WIDTH
    words = torch.full((len(slots),), BOS)
    for _ in range(5):
        found = []
        for i, (stepper, memory) in enumerate(zip(steppers, memories, strict=True)):
            t, states[i] = stepper.step(words, states[i], memory, slots, width=WIDTH)
            found.append(stepper.logits(t))
        torch.testing.assert_close(*found, rtol=0, atol=1e-12)
        torch.testing.assert_close(states[0].s, states[1].s, rtol=0, atol=1e-12)
        # Rows of each sentence in turn, from any row of the same sentence.
        places = torch.rand(len(SOURCES) * WIDTH, generator=generator) < 0.6
        new = places.nonzero().flatten()
        origin = torch.stack([_row_of(slots, int(place) // WIDTH) for place in new])
        states = [DecoderState(*(part[origin] for part in state)) for state in states]
        slots = new
        words = torch.randint(0, 8, (len(slots),), generator=generator)
        if len(set((slots // WIDTH).tolist())) < len(SOURCES):
            return


def _row_of(slots: torch.Tensor, sentence: int) -> torch.Tensor:
    return (slots // WIDTH == sentence).nonzero().flatten()[0]


def test_the_plain_path_serves_models_that_the_fast_one_does_not_know() -> None:
    model = models("appendix")
    assert isinstance(stepper_for(model, width=1), FastStepper)
    model.decoder.fused = False
    assert isinstance(stepper_for(model, width=1), PlainStepper)


@pytest.mark.parametrize("wiring", ["appendix", "equation4", "original"])
def test_a_search_by_the_plain_path_finds_the_same(wiring: str) -> None:
    model = random_model(seed=3, wiring=wiring)
    source, mask = collate_sources(SOURCES)
    options = SearchOptions(beam_size=4, length_penalty=0.6, max_length=9, max_length_ratio=None)
    fast = search(prepared([model], options), source, mask, options=options, n_best=3)
    model.decoder.fused = False
    plain = search(prepared([model], options), source, mask, options=options, n_best=3)
    for one, other in zip(fast, plain, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        for mine, theirs in zip(one, other, strict=True):
            assert mine.score == pytest.approx(theirs.score, abs=1e-5)


def test_rounded_factors_change_the_scores_a_little() -> None:
    model = random_model(seed=3)
    source, mask = collate_sources(SOURCES)
    options = SearchOptions(beam_size=1, max_length=9, max_length_ratio=None)
    exact = search(prepared([model], options), source, mask, options=options)
    coarse = replace(options, precision="bf16")
    rounded = search(prepared([model], coarse), source, mask, options=coarse)
    same = [
        (one[0], other[0])
        for one, other in zip(exact, rounded, strict=True)
        if one[0].ids == other[0].ids
    ]
    assert same
    for one, other in same:
        assert other.score == pytest.approx(one.score, abs=0.1)
    assert any(one.score != other.score for one, other in same)
    with operands(torch.bfloat16):  # what surrounds a search does not change it
        again = search(prepared([model], options), source, mask, options=options)
    assert again == exact


@pytest.mark.parametrize("size", [4, 5, 63, 64, 200, 1000, 1024])
@pytest.mark.parametrize("k", [1, 5, 70])
def test_best_words_are_those_of_the_softmax(size: int, k: int) -> None:
    generator = torch.Generator().manual_seed(size + k)
    scores = 3 * torch.randn(6, size, generator=generator, dtype=torch.float64)
    barred = torch.zeros(6, 4, dtype=torch.bool)
    barred[:, [BOS, PAD]] = True
    barred[2:4, EOS] = True
    barred[5, UNK] = True
    expected = scores.log_softmax(-1)
    expected[:, :4].masked_fill_(barred, -math.inf)
    values, words = expected.topk(min(k, size))
    found, chosen = best_words(scores, barred, k)
    torch.testing.assert_close(found, values, rtol=0, atol=1e-12)
    finite = values.isfinite()
    assert torch.equal(chosen[finite], words[finite])


def test_large_scores_do_not_overflow() -> None:
    scores = torch.tensor([[1e4, 0.0, 0.0, 0.0, 9e3, 9e3 - 1]])
    values, words = best_words(scores, torch.tensor([[True, True, False, True]]), 2)
    assert words.tolist() == [[4, 5]]
    assert values.tolist() == [[-1e3, -1001.0]]
