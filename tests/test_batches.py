from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rnnsearch.batches import collate, collate_sources, plan_decoding, plan_epoch
from rnnsearch.text import BOS, EOS, PAD


def test_collate_by_hand():
    batch = collate([[7, 8], [9], []], [[5], [], [6, 4]])
    assert batch.source.tolist() == [[7, 8, EOS], [9, EOS, PAD], [EOS, PAD, PAD]]
    assert batch.source_mask.int().tolist() == [[1, 1, 1], [1, 1, 0], [1, 0, 0]]
    assert batch.target_in.tolist() == [[BOS, 5, PAD], [BOS, PAD, PAD], [BOS, 6, 4]]
    assert batch.target_out.tolist() == [[5, EOS, PAD], [EOS, PAD, PAD], [6, 4, EOS]]
    assert batch.target_mask.int().tolist() == [[1, 1, 0], [1, 0, 0], [1, 1, 1]]
    assert batch.source.dtype == batch.target_in.dtype == batch.target_out.dtype == torch.int64
    assert batch.source_mask.dtype == batch.target_mask.dtype == torch.bool
    moved = batch.to(torch.device("cpu"))
    assert all(torch.equal(old, new) for old, new in zip(batch[:5], moved[:5], strict=True))
    for old, new in zip(batch[5:], moved[5:], strict=True):
        assert torch.equal(old.rows, new.rows)
        assert (old.counts, old.whole) == (new.counts, new.whole)


@pytest.mark.parametrize(("longest", "width"), [(0, 16), (14, 16), (15, 16), (16, 32)])
def test_positions_are_rounded_up(longest, width):
    source, mask = collate_sources([[5] * longest, [5]], multiple=16)
    assert source.shape == mask.shape == (2, width)
    assert mask.sum(1).tolist() == [longest + 1, 2]
    batch = collate([[5] * longest, [5]], [[6], [7, 8]], multiple=16)
    assert torch.equal(batch.source, source)
    assert batch.target_in.shape == (2, 16)


def test_no_sentences_make_an_empty_batch():
    batch = collate([], [])
    assert batch.source.shape == batch.target_out.shape == (0, 1)


def test_sides_of_different_number_are_refused():
    with pytest.raises(ValueError, match="2 sources beside 1 targets"):
        collate([[5], [6]], [[7]])


def plan(source, target, **settings):
    defaults = {"seed": 1, "epoch": 0, "batch_sentences": 4, "batch_tokens": None, "sort_window": 3}
    return plan_epoch(
        np.asarray(source, np.int32), np.asarray(target, np.int32), **(defaults | settings)
    )


lengths = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60)


@settings(max_examples=100, deadline=None)
@given(lengths, st.none() | st.integers(1, 9), st.none() | st.integers(1, 120), st.integers(1, 5))
def test_each_pair_comes_once_within_the_limits(pairs, sentences, tokens, window):
    if sentences is None and tokens is None:
        tokens = 50
    source, target = np.array(pairs, np.int32).reshape(-1, 2).T
    batches = plan(
        source, target, batch_sentences=sentences, batch_tokens=tokens, sort_window=window
    )
    assert sorted(np.concatenate([[], *batches]).tolist()) == list(range(len(pairs)))
    for batch in batches:
        assert len(batch) > 0
        assert sentences is None or len(batch) <= sentences
        if tokens is not None and len(batch) > 1:
            assert len(batch) * (target[batch].max() + 1) <= tokens


def test_the_tighter_of_two_budgets_rules():
    target = np.full(40, 9)
    by_sentences = plan(target, target, batch_sentences=4, batch_tokens=1000)
    by_tokens = plan(target, target, batch_sentences=40, batch_tokens=30)
    assert {len(batch) for batch in by_sentences} == {4}
    # Three rows of nine pieces and EOS are thirty tokens; the last one stands alone.
    assert sorted(len(batch) for batch in by_tokens) == [1, *[3] * 13]


def test_a_pair_over_the_budget_stands_alone():
    sizes = sorted(map(len, plan([5] * 8, [5, 5, 5, 99, 5, 5, 5, 5], batch_tokens=24)))
    assert sizes[0] == 1
    batches = plan([5] * 8, [5, 5, 5, 99, 5, 5, 5, 5], batch_tokens=24)
    assert [3] in [batch.tolist() for batch in batches]


def test_neither_budget_is_an_error():
    with pytest.raises(ValueError, match="neither batch_sentences nor batch_tokens"):
        plan([5], [5], batch_sentences=None)


def test_the_order_depends_on_seed_and_epoch_alone():
    target = np.random.default_rng(0).integers(1, 50, 200)
    first = [batch.tolist() for batch in plan(target, target)]
    np.random.default_rng().integers(5)
    torch.manual_seed(3)
    assert [batch.tolist() for batch in plan(target, target)] == first
    for other in ({"seed": 2}, {"epoch": 1}, {"seed": 0, "epoch": 1}):
        assert [batch.tolist() for batch in plan(target, target, **other)] != first


def test_windows_are_sorted_by_the_longer_side_and_batches_shuffled():
    generator = np.random.default_rng(0)
    source, target = generator.integers(1, 50, (2, 4000))
    longer = np.maximum(source, target)
    batches = plan(source, target, batch_sentences=10, sort_window=20)
    spread = np.mean([longer[batch].max() - longer[batch].min() for batch in batches])
    assert spread < 4
    for batch in batches:
        assert (np.diff(longer[batch]) >= 0).all()
    firsts = [longer[batch[0]] for batch in batches]
    assert np.corrcoef(firsts[:-1], firsts[1:])[0, 1] < 0.3
    # One window as long as the corpus sorts all of it.
    ends = sorted((longer[b[0]], longer[b[-1]]) for b in plan(source, target, sort_window=1000))
    assert all(high <= low for (_, high), (low, _) in pairwise(ends))


def test_equal_lengths_keep_the_shuffled_order():
    same = plan([5] * 12, [5] * 12, batch_sentences=12, sort_window=1)[0]
    other = plan([5] * 12, [4] * 12, batch_sentences=12, sort_window=1)[0]
    assert same.tolist() == other.tolist() != list(range(12))


def test_a_plan_goes_on_from_any_batch_and_cannot_be_spoilt():
    target = np.arange(40)
    batches = plan(target, target)
    assert len(batches) == 10
    rest = batches[7:]
    assert [batch.tolist() for batch in rest] == [batch.tolist() for batch in batches][7:]
    assert batches[-1].tolist() == rest[2].tolist()
    assert len(plan([], [])) == len(plan([], [], batch_tokens=9)) == 0
    with pytest.raises(IndexError):
        batches[10]
    with pytest.raises(ValueError, match="read-only"):
        batches[0][0] = 1


def test_a_million_pairs_are_planned_at_once():
    target = np.random.default_rng(0).integers(1, 50, 1_000_000, dtype=np.int32)
    batches = plan(target, target, batch_sentences=80, sort_window=20)
    assert len(batches) == 12_500


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 6), st.integers(1, 100))
def test_decoding_groups_are_sorted_and_bounded(lengths, sentences, positions):
    groups = plan_decoding(lengths, batch_sentences=sentences, max_positions=positions)
    order = [index for group in groups for index in group]
    assert sorted(order) == list(range(len(lengths)))
    assert [lengths[index] for index in order] == sorted(lengths)
    for group in groups:
        assert 0 < len(group) <= sentences
        longest = max(lengths[index] for index in group)
        assert len(group) == 1 or len(group) * longest <= positions
