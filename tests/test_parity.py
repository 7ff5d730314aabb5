"""The network against the NumPy transcription of the paper, and the properties it must have.

Everything runs in float64 at tiny sizes that all differ, so that no matrix fits in another's
place, and with weights drawn large, so that gates, attention and maxout are far from linear.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from numpy_reference import WIRINGS, Reference, sigmoid
from torch import Tensor
from torch.nn import functional

from rnnsearch.batches import Batch, collate
from rnnsearch.model import TranslationModel, build_model
from rnnsearch.modelconfig import RnnsearchConfig
from rnnsearch.packing import pack
from rnnsearch.text import EOS, PAD

SOURCE_VOCAB, TARGET_VOCAB = 13, 11
TINY = RnnsearchConfig(
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
BLOCKS = ("", "_z", "_r")
DIRECTIONS = ("_fwd", "_bwd")

# Pieces without EOS. The second source is blank: its EOS is the only thing to look at.
SOURCES = [[4, 9, 12, 5, 4], [], [7, 0, 11], [6]]
TARGETS = [[5, 10], [9, 4, 0, 7], [], [8, 6, 5]]


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    """Products as small as these only wait for a second thread."""
    torch.set_num_threads(1)


def randomise(model: TranslationModel, *, seed: int = 0) -> TranslationModel:
    """Draw every weight and bias anew, through the views, from N(0, 0.7²); v_a from N(0, 2²)."""
    generator = torch.Generator().manual_seed(seed)
    for name, symbol in model.paper_symbols().items():
        symbol.normal_(std=2.0 if name == "v_a" else 0.7, generator=generator)
    return model


def random_model(config: RnnsearchConfig = TINY, *, seed: int = 0) -> TranslationModel:
    model = build_model(config, source_vocab=SOURCE_VOCAB, target_vocab=TARGET_VOCAB)
    return randomise(model.double().eval(), seed=seed)


def reference(model: TranslationModel, *, wiring: str = "appendix") -> Reference:
    return Reference({k: v.numpy() for k, v in model.paper_symbols().items()}, wiring=wiring)


def with_padding(batch: Batch, *, source: int, target: int) -> Batch:
    """Append so many columns of padding to each side."""
    source_mask = functional.pad(batch.source_mask, (0, source), value=False)
    target_mask = functional.pad(batch.target_mask, (0, target), value=False)
    return Batch(
        functional.pad(batch.source, (0, source), value=PAD),
        source_mask,
        functional.pad(batch.target_in, (0, target), value=PAD),
        functional.pad(batch.target_out, (0, target), value=PAD),
        target_mask,
        pack(source_mask),
        pack(target_mask),
    )


def forced(model: TranslationModel, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return log-probabilities (B, T) and attention weights (B, T, S) without a graph."""
    with torch.no_grad():
        return model.log_probabilities(batch)


def stepped(model: TranslationModel, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return log p over the vocabulary (B, T, V) and attention weights, step after step."""
    distributions, weights = [], []
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        state = model.start(memory)
        for previous in batch.target_in.unbind(1):
            log_p, state, alpha = model.step(previous, state, memory)
            distributions.append(log_p)
            weights.append(alpha)
    return torch.stack(distributions, 1), torch.stack(weights, 1)


def assert_equal(ours: Tensor, expected: Tensor | np.ndarray, *, atol: float = 1e-12) -> None:
    assert_allclose(ours.detach().numpy(), np.asarray(expected), rtol=0, atol=atol)


# Parity with the transcription


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("wiring", WIRINGS)
@pytest.mark.parametrize("fused", [True, False])
def test_forward_equals_the_transcription(wiring: str, bias: bool, fused: bool) -> None:
    """log p(y_i | y_<i, x) and α_ij of a padded batch, to 1e-9, on the fast and the plain path."""
    model = random_model(replace(TINY, wiring=wiring, bias=bias), seed=int(fused))
    model.encoder.fused = model.decoder.fused = fused
    assert any(name.startswith("b_") for name in model.paper_symbols()) is bias

    log_p, alpha = forced(model, collate(SOURCES, TARGETS))
    oracle = reference(model, wiring=wiring)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        expected = oracle.score([*source, EOS], [*target, EOS])
        steps, positions = expected.alpha.shape
        assert_equal(log_p[row, :steps], expected.log_probabilities, atol=1e-9)
        assert_equal(alpha[row, :steps, :positions], expected.alpha, atol=1e-9)


@pytest.mark.parametrize("wiring", WIRINGS)
def test_step_equals_the_transcription(wiring: str) -> None:
    """The whole distribution p(· | y_<i, x) at each step, to 1e-9."""
    model = random_model(replace(TINY, wiring=wiring))
    distributions, _ = stepped(model, collate(SOURCES, TARGETS))
    oracle = reference(model, wiring=wiring)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        expected = oracle.score([*source, EOS], [*target, EOS]).distributions
        assert_equal(distributions[row, : len(expected)], expected, atol=1e-9)


def test_annotations_equal_the_transcription() -> None:
    """h_j = [→h_j ; ←h_j] at each real position, EOS included."""
    model = random_model()
    batch = collate(SOURCES, TARGETS)
    with torch.no_grad():
        annotations = model.encode(batch.source, batch.source_mask).annotations
    for row, source in enumerate(SOURCES):
        expected, _ = reference(model).encode([*source, EOS])
        assert_equal(annotations[row, : len(expected)], np.array(expected), atol=1e-9)


def test_the_wirings_differ() -> None:
    """The parity tests would be blind to `wiring` if the same weights gave the same numbers."""
    model = random_model()
    scores = [
        reference(model, wiring=wiring).score([*SOURCES[0], EOS], [*TARGETS[1], EOS])
        for wiring in WIRINGS
    ]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        difference = np.abs(scores[i].log_probabilities - scores[j].log_probabilities)
        assert difference.max() > 0.1
    assert all(np.ptp(score.alpha, axis=1).max() > 0.3 for score in scores)


@pytest.mark.parametrize("wiring", WIRINGS)
def test_gradients_equal_differences_of_the_transcription(wiring: str) -> None:
    """d/dθ Σ_i log p(y_i) along a random direction of each symbol, by central differences."""
    model = random_model(replace(TINY, wiring=wiring))
    sources, targets = [SOURCES[0], SOURCES[2]], [TARGETS[0], TARGETS[3]]
    model.log_probabilities(collate(sources, targets))[0].sum().backward()
    parameters = list(model.parameters())
    generator = torch.Generator().manual_seed(5)

    def total() -> float:
        oracle = reference(model, wiring=wiring)
        pairs = zip(sources, targets, strict=True)
        return sum(oracle.score([*x, EOS], [*y, EOS]).log_probabilities.sum() for x, y in pairs)

    for name, symbol in model.paper_symbols().items():
        before = [parameter.detach().clone() for parameter in parameters]
        centre = symbol.clone()
        step = 1e-5 * torch.randn(symbol.shape, generator=generator, dtype=symbol.dtype)
        symbol.copy_(centre - step)
        low = total()
        symbol.copy_(centre + step)
        high = total()
        # The view moved the stored parameters: that is the direction in their terms.
        predicted = sum(
            float((parameter.grad * (parameter.detach() - old)).sum())
            for parameter, old in zip(parameters, before, strict=True)
            if parameter.grad is not None
        )
        symbol.copy_(centre)
        assert predicted == pytest.approx((high - low) / 2, rel=1e-5, abs=1e-10), name


# Step and forward


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("wiring", WIRINGS)
def test_step_after_step_equals_forward(wiring: str, bias: bool) -> None:
    model = random_model(replace(TINY, wiring=wiring, bias=bias))
    batch = collate(SOURCES, TARGETS)
    log_p, alpha = forced(model, batch)
    distributions, weights = stepped(model, batch)
    chosen = distributions.gather(2, batch.target_out[..., None]).squeeze(2)
    real = batch.target_mask
    assert_equal(chosen[real], log_p[real])
    assert_equal(weights[real], alpha[real])
    assert_equal(distributions.exp().sum(2), torch.ones_like(chosen))


@pytest.mark.parametrize("wiring", WIRINGS)
def test_step_takes_several_hypotheses_a_sentence(wiring: str) -> None:
    """Rows B·K: K hypotheses a sentence, side by side, as search keeps them."""
    model = random_model(replace(TINY, wiring=wiring))
    batches = [collate(SOURCES[:2], targets) for targets in ([[4, 5], [6, 7]], [[8, 9], [10, 4]])]
    expected = torch.stack([stepped(model, batch)[0] for batch in batches], 1)

    previous = torch.stack([batch.target_in for batch in batches], 1).flatten(0, 1)
    with torch.no_grad():
        memory = model.encode(batches[0].source, batches[0].source_mask)
        state = model.start(memory)
        state = type(state)(*(part.repeat_interleave(2, 0) for part in state))
        for i in range(previous.shape[1]):
            log_p, state, _ = model.step(previous[:, i], state, memory)
            assert_equal(log_p, expected[:, :, i].flatten(0, 1))


def test_forward_gives_a_readout_for_each_real_position() -> None:
    """`Forced` holds Σ (n + 1) rows with the positions they stand for and their targets."""
    model = random_model()
    batch = collate(SOURCES, TARGETS)
    with torch.no_grad():
        result = model(batch)
        log_p = functional.log_softmax(model.W_o(result.readouts), dim=-1)
    real = batch.target_mask.flatten().nonzero()[:, 0]
    assert sorted(batch.target_packing.rows.tolist()) == real.tolist()
    by_position = result.targets[batch.target_packing.rows.argsort()]
    assert by_position.tolist() == [y for target in TARGETS for y in [*target, EOS]]
    scores, _ = forced(model, batch)
    found = log_p.gather(1, result.targets[:, None])[:, 0]
    assert_equal(found[batch.target_packing.rows.argsort()], scores[batch.target_mask])
    assert not scores[~batch.target_mask].any()


# Properties


@pytest.mark.parametrize("wiring", WIRINGS)
def test_padding_changes_nothing(wiring: str) -> None:
    """Neither scores nor gradients know how far a batch was padded."""
    model = random_model(replace(TINY, wiring=wiring))
    plain = collate(SOURCES, TARGETS)
    padded = with_padding(plain, source=4, target=3)
    steps, positions = plain.target_in.shape[1], plain.source.shape[1]

    results, gradients = [], []
    for batch in (plain, padded):
        model.zero_grad()
        log_p, alpha = model.log_probabilities(batch)
        log_p.sum().backward()
        results.append((log_p[:, :steps], alpha[:, :steps, :positions]))
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
    real = plain.target_mask
    for ours, expected in zip(results[1], results[0], strict=True):
        assert_equal(ours[real], expected[real].detach())
    for ours, expected in zip(gradients[1], gradients[0], strict=True):
        assert_equal(ours, expected, atol=1e-11)


@pytest.mark.parametrize("wiring", WIRINGS)
def test_neighbours_change_nothing(wiring: str) -> None:
    """A pair scores the same alone as in a batch."""
    model = random_model(replace(TINY, wiring=wiring))
    together, _ = forced(model, collate(SOURCES, TARGETS))
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone, _ = forced(model, collate([source], [target]))
        assert_equal(together[row, : alone.shape[1]], alone[0])


def test_what_stands_at_padding_does_not_matter() -> None:
    """Padding is told by the masks alone, whatever ids stand there."""
    model = random_model()
    batch = with_padding(collate(SOURCES, TARGETS), source=2, target=2)
    expected, weights = forced(model, batch)
    changed = batch._replace(
        source=batch.source.masked_fill(~batch.source_mask, 7),
        target_in=batch.target_in.masked_fill(~batch.target_mask, 5),
        target_out=batch.target_out.masked_fill(~batch.target_mask, 5),
    )
    log_p, alpha = forced(model, changed)
    assert_equal(log_p, expected)
    assert_equal(alpha[batch.target_mask], weights[batch.target_mask])


def test_permuting_the_batch_permutes_the_output() -> None:
    model = random_model()
    order = [2, 0, 3, 1]
    log_p, alpha = forced(model, collate(SOURCES, TARGETS))
    shuffled = forced(
        model, collate([SOURCES[row] for row in order], [TARGETS[row] for row in order])
    )
    assert_equal(shuffled[0], log_p[order])
    assert_equal(shuffled[1], alpha[order])


@pytest.mark.parametrize("wiring", WIRINGS)
def test_attention_weights_are_a_distribution_over_real_positions(wiring: str) -> None:
    model = random_model(replace(TINY, wiring=wiring))
    batch = with_padding(collate(SOURCES, TARGETS), source=2, target=0)
    for _, alpha in (forced(model, batch), stepped(model, batch)):
        assert_equal(alpha.sum(2)[batch.target_mask], np.ones(int(batch.target_mask.sum())))
        assert (alpha >= 0).all()
        at_padding = ~batch.source_mask[:, None].expand_as(alpha)
        assert not alpha[at_padding].any()


@pytest.mark.parametrize("wiring", WIRINGS)
def test_a_source_of_one_token(wiring: str) -> None:
    """S = 1: EOS alone takes all the attention, and the numbers are the transcription's."""
    model = random_model(replace(TINY, wiring=wiring))
    log_p, alpha = forced(model, collate([[]], [[5, 6]]))
    expected = reference(model, wiring=wiring).score([EOS], [5, 6, EOS])
    assert alpha.shape == (1, 3, 1)
    assert_equal(alpha, np.ones((1, 3, 1)))
    assert_equal(log_p[0], expected.log_probabilities, atol=1e-9)


# The paper's symbols


def expected_shapes(*, bias: bool) -> dict[str, tuple[int, ...]]:
    """Return each symbol's shape in the paper's orientation: rows are what comes out."""
    m, n, n_e = TINY.embedding_size, TINY.hidden_size, TINY.encoder_size
    n_a, two_l = TINY.alignment_size, 2 * TINY.maxout_size
    assert n_e is not None
    assert n_a is not None
    shapes: dict[str, tuple[int, ...]] = {"E_bar": (SOURCE_VOCAB, m), "E": (TARGET_VOCAB, m)}
    for gate in BLOCKS:
        for direction in DIRECTIONS:
            shapes[f"W{gate}{direction}"] = (n_e, m)
            shapes[f"U{gate}{direction}"] = (n_e, n_e)
        shapes |= {f"W{gate}": (n, m), f"U{gate}": (n, n), f"C{gate}": (n, 2 * n_e)}
    shapes |= {"W_s": (n, n_e), "v_a": (n_a,), "W_a": (n_a, n), "U_a": (n_a, 2 * n_e)}
    shapes |= {"U_o": (two_l, n), "V_o": (two_l, m), "C_o": (two_l, 2 * n_e)}
    shapes["W_o"] = (TARGET_VOCAB, TINY.maxout_size)
    if bias:
        with_bias = [f"W{gate}{side}" for gate in BLOCKS for side in ("", *DIRECTIONS)]
        for name in (*with_bias, "W_s", "U_o", "W_o"):
            shapes[f"b_{name}"] = shapes[name][:1]
    return shapes


@pytest.mark.parametrize("bias", [True, False])
def test_paper_symbols_have_the_papers_names_and_shapes(bias: bool) -> None:
    symbols = random_model(replace(TINY, bias=bias)).paper_symbols()
    assert {name: tuple(symbol.shape) for name, symbol in symbols.items()} == expected_shapes(
        bias=bias
    )


@pytest.mark.parametrize("bias", [True, False])
def test_paper_symbols_are_views_of_all_parameters(bias: bool) -> None:
    """Fill the i-th symbol with i: each parameter element then belongs to exactly one symbol."""
    model = random_model(replace(TINY, bias=bias))
    symbols = model.paper_symbols()
    for i, symbol in enumerate(symbols.values()):
        symbol.fill_(i)
    stored = torch.cat([parameter.detach().flatten() for parameter in model.parameters()])
    for i, (name, symbol) in enumerate(symbols.items()):
        assert int((stored == i).sum()) == symbol.numel(), name
    assert sum(symbol.numel() for symbol in symbols.values()) == stored.numel()


def test_every_symbol_changes_the_output() -> None:
    """A view that were a copy, or a weight that were not used, would leave the scores alone."""
    model = random_model()
    batch = collate(SOURCES, TARGETS)
    before, _ = forced(model, batch)
    for name, symbol in model.paper_symbols().items():
        kept = symbol.clone()
        symbol.mul_(1.5)
        after, _ = forced(model, batch)
        assert (after - before).abs().max() > 1e-6, name
        symbol.copy_(kept)


def test_parameter_count_of_the_paper() -> None:
    """n 1000, m 620, l 500, 30,000 words a side, no biases: 80,401,000."""
    config = replace(
        TINY,
        hidden_size=1000,
        encoder_size=None,
        embedding_size=620,
        maxout_size=500,
        alignment_size=None,
        bias=False,
    )
    with torch.device("meta"):
        model = build_model(config, source_vocab=30000, target_vocab=30000)
    assert sum(parameter.numel() for parameter in model.parameters()) == 80_401_000
    assert sum(symbol.numel() for symbol in model.paper_symbols().values()) == 80_401_000


# Initialisation

WIDE = replace(
    TINY, hidden_size=48, encoder_size=44, embedding_size=40, maxout_size=36, alignment_size=52
)


def fresh_model(config: RnnsearchConfig, *, seed: int = 3) -> TranslationModel:
    torch.manual_seed(seed)
    return build_model(config, source_vocab=70, target_vocab=60).eval()


@pytest.mark.parametrize("init", ["paper", "xavier"])
def test_each_recurrent_block_is_orthogonal_by_itself(init: str) -> None:
    """Uᵀ U = 1 for U, U_z, U_r of the decoder and of both directions; no two are the same."""
    symbols = fresh_model(replace(WIDE, init=init)).paper_symbols()
    blocks = [symbols[f"U{gate}{side}"] for gate in BLOCKS for side in ("", *DIRECTIONS)]
    for block in blocks:
        assert_equal(block.T @ block, np.eye(len(block)), atol=1e-5)
    for i, block in enumerate(blocks):
        for other in blocks[:i]:
            assert block.shape != other.shape or not torch.allclose(block, other, atol=0.01)


def test_the_rest_starts_as_in_the_paper() -> None:
    """W_a, U_a ~ N(0, 0.001²); v_a and biases 0; all else N(0, 0.01²)."""
    for name, symbol in fresh_model(WIDE).paper_symbols().items():
        if name == "v_a" or name.startswith("b_"):
            assert not symbol.any(), name
        elif symbol.shape[0] != symbol.shape[1] or not name.startswith("U"):
            std = 0.001 if name in ("W_a", "U_a") else 0.01
            # 1,400 to 5,000 draws: the deviation is known to about 2%, the mean to std / 40.
            assert float(symbol.std()) == pytest.approx(std, rel=0.1), name
            assert abs(float(symbol.mean())) < 0.15 * std, name
            assert float(symbol.abs().max()) > 2.5 * std, name  # a normal's tails, not a box


@pytest.mark.parametrize("init", ["paper", "xavier"])
def test_no_bias_at_the_start(init: str) -> None:
    symbols = fresh_model(replace(WIDE, init=init)).paper_symbols()
    biases = [symbol for name, symbol in symbols.items() if name.startswith("b_")]
    assert len(biases) == 12
    assert not any(bias.any() for bias in biases)


def test_the_seed_decides_the_weights() -> None:
    first, again, other = (fresh_model(WIDE, seed=seed).state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["W_o.weight"], other["W_o.weight"])


@pytest.mark.parametrize("wiring", WIRINGS)
def test_the_first_loss_is_that_of_guessing(wiring: str) -> None:
    """Before training all words are about equally likely: log K_y nats a token."""
    model = fresh_model(replace(WIDE, wiring=wiring))
    batch = collate([[5, 9, 69], [30]], [[4, 59], [17, 18, 19]])
    loss = -forced(model, batch)[0].sum() / batch.target_mask.sum()
    assert float(loss) == pytest.approx(math.log(60), abs=0.01)


# reset_after: nn.GRU as the encoder


def reset_after_states(
    symbols: dict[str, Tensor], source: Sequence[int], *, side: str
) -> list[np.ndarray]:
    """Return h_1 .. h_S by PyTorch's equations, whose z' is the paper's 1 - z.

    r = σ(W_r x + U_r h), z' = σ(W_z x + U_z h), h̃ = tanh(W x + r ⊙ (U h)),
    h ← (1 - z') ⊙ h̃ + z' ⊙ h
    """
    p = {name: symbol.numpy() for name, symbol in symbols.items()}

    def total(block: str, x: np.ndarray) -> np.ndarray:
        name = f"W{block}{side}"
        return p[name] @ x + p.get(f"b_{name}", 0.0)

    h = np.zeros(len(p[f"U{side}"]))
    states = []
    for x in source:
        embedded = p["E_bar"][x]
        r = sigmoid(total("_r", embedded) + p[f"U_r{side}"] @ h)
        kept = sigmoid(total("_z", embedded) + p[f"U_z{side}"] @ h)
        candidate = np.tanh(total("", embedded) + r * (p[f"U{side}"] @ h))
        h = (1.0 - kept) * candidate + kept * h
        states.append(h)
    return states


@pytest.mark.parametrize("bias", [True, False])
def test_reset_after_is_the_gru_of_pytorch(bias: bool) -> None:
    model = random_model(replace(TINY, reset_after=True, bias=bias))
    symbols = model.paper_symbols()
    batch = with_padding(collate(SOURCES, TARGETS), source=2, target=0)
    with torch.no_grad():
        annotations = model.encode(batch.source, batch.source_mask).annotations
    for row, source in enumerate(SOURCES):
        ids = [*source, EOS]
        forward = reset_after_states(symbols, ids, side="_fwd")
        backward = reset_after_states(symbols, ids[::-1], side="_bwd")[::-1]
        assert_equal(annotations[row, : len(ids), :7], np.array(forward), atol=1e-9)
        assert_equal(annotations[row, : len(ids), 7:], np.array(backward), atol=1e-9)


@pytest.mark.parametrize("wiring", WIRINGS)
def test_reset_after_meets_the_paper_where_nothing_is_reset(wiring: str) -> None:
    """With r = 1 the two units differ in the meaning of z alone: negate its sum, z' = 1 - z."""
    paper = random_model(replace(TINY, wiring=wiring))
    torch_gru = random_model(replace(TINY, wiring=wiring, reset_after=True), seed=1)
    ours, theirs = paper.paper_symbols(), torch_gru.paper_symbols()
    for direction in DIRECTIONS:
        ours[f"b_W_r{direction}"].fill_(100.0)
    for name, symbol in ours.items():
        of_z = name.endswith(tuple(f"_z{direction}" for direction in DIRECTIONS))
        theirs[name].copy_(-symbol if of_z else symbol)
    batch = collate(SOURCES, TARGETS)
    expected, weights = forced(paper, batch)
    log_p, alpha = forced(torch_gru, batch)
    assert_equal(log_p, expected)
    assert_equal(alpha[batch.target_mask], weights[batch.target_mask])


def test_reset_after_knows_nothing_of_padding() -> None:
    model = random_model(replace(TINY, reset_after=True))
    batch = collate(SOURCES, TARGETS)
    expected, _ = forced(model, batch)
    log_p, alpha = forced(model, with_padding(batch, source=3, target=2))
    assert_equal(log_p[:, : expected.shape[1]], expected)
    assert not alpha[..., batch.source.shape[1] :].any()
