"""The fast path equals the plain one, in value and gradient, under padding and in every wiring."""

from dataclasses import replace

import pytest
import torch
from test_parity import TINY, random_model

from rnnsearch.batches import collate
from rnnsearch.decoder import WIRINGS
from rnnsearch.fused import DecoderScan, UnitScan
from rnnsearch.loss import token_loss
from rnnsearch.modelconfig import ModelConfig, RnnencdecConfig
from rnnsearch.packing import pack

SOURCES = [[4, 5, 6, 5, 4], [6], [5, 5, 4], [], [6, 4, 6, 5]]
TARGETS = [[4, 5], [6, 4, 5, 6, 4, 5], [], [5, 6, 4], [5, 4, 4, 6]]


SHARED = {name: vars(TINY)[name] for name in vars(TINY) if name in ModelConfig.__annotations__}
ENCDEC = RnnencdecConfig(**SHARED | {"kind": "rnnencdec"}, unit="gated")
KINDS = {"rnnsearch": TINY, "rnnencdec": ENCDEC}
EVERY = pytest.mark.parametrize("kind", list(KINDS))


def model_of(kind: str, wiring: str, bias: bool = True, dropout: float = 0.0):
    return random_model(replace(KINDS[kind], wiring=wiring, bias=bias, dropout=dropout))


def outcome(model, *, fused, label_smoothing=0.1, whole=False):
    """Return loss, attention at real positions and every gradient."""
    model.encoder.fused = model.decoder.fused = fused
    model.zero_grad(set_to_none=True)
    batch = collate(SOURCES, TARGETS, multiple=4, whole=whole)
    forced = model(batch)
    loss = token_loss(
        forced.readouts, forced.targets, output=model.W_o, label_smoothing=label_smoothing,
        counted=forced.counted,
    ).loss  # fmt: skip
    (loss / 3).backward()
    alpha = forced.alpha[batch.target_mask]
    return loss.detach(), alpha, {n: p.grad for n, p in model.named_parameters()}


@EVERY
@pytest.mark.parametrize("wiring", list(WIRINGS))
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("whole", [False, True])
def test_equals_the_plain_path_in_float64(kind, wiring, bias, whole):
    """Over packed rows, and over all positions of a fixed shape, padding among them."""
    model = model_of(kind, wiring, bias).double()
    loss, alpha, gradients = outcome(model, fused=True, whole=whole)
    plain_loss, plain_alpha, plain_gradients = outcome(model, fused=False)
    torch.testing.assert_close(loss, plain_loss, rtol=1e-13, atol=0)
    torch.testing.assert_close(alpha, plain_alpha, rtol=0, atol=1e-14)
    assert set(gradients) == set(plain_gradients)
    for name, gradient in plain_gradients.items():
        assert gradient.abs().max() > 0, name
        torch.testing.assert_close(gradients[name], gradient, rtol=1e-9, atol=1e-12, msg=name)


@EVERY
@pytest.mark.parametrize("wiring", list(WIRINGS))
def test_equals_the_plain_path_in_float32(kind, wiring):
    model = model_of(kind, wiring).float()
    loss, _, gradients = outcome(model, fused=True)
    plain_loss, _, plain_gradients = outcome(model, fused=False)
    torch.testing.assert_close(loss, plain_loss, rtol=1e-6, atol=0)
    for name, gradient in plain_gradients.items():
        scale = float(gradient.abs().max())
        torch.testing.assert_close(gradients[name], gradient, rtol=0, atol=2e-5 * scale, msg=name)


@EVERY
def test_the_plain_path_takes_fixed_shapes_too(kind):
    model = model_of(kind, "appendix").double()
    (loss, _, gradients), (expected, _, plain) = (
        outcome(model, fused=False, whole=whole) for whole in (True, False)
    )
    torch.testing.assert_close(loss, expected, rtol=1e-13, atol=0)
    for name, gradient in plain.items():
        torch.testing.assert_close(gradients[name], gradient, rtol=1e-9, atol=1e-12, msg=name)


def test_whole_packing_depends_on_the_shape_alone():
    one, other = (
        collate([[5] * a, [5]], [[6], [7] * b], multiple=4, whole=True) for a, b in ((1, 2), (3, 1))
    )
    for first, second in zip(one[-2:], other[-2:], strict=True):
        assert first.counts == second.counts == [2] * 4
        assert torch.equal(first.order, second.order)
        assert torch.equal(first.rows, second.rows)
        assert torch.equal(first.reversed_rows, second.reversed_rows)


def test_log_probabilities_land_at_their_positions():
    model, batch = model_of("rnnsearch", "original").double().eval(), collate(SOURCES, TARGETS)
    fast, _ = model.log_probabilities(batch)
    model.encoder.fused = model.decoder.fused = False
    plain, _ = model.log_probabilities(batch)
    torch.testing.assert_close(fast, plain, rtol=0, atol=1e-12)
    assert (fast[~batch.target_mask] == 0).all()


def test_packing_walks_the_steps_of_the_longest_first():
    mask = torch.tensor([[1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0]], dtype=torch.bool)
    packing = pack(mask)
    assert packing.order.tolist() == [1, 0, 2]
    assert packing.counts == [3, 2, 1]
    assert packing.rows.tolist() == [4, 0, 8, 5, 1, 6]
    assert packing.reversed_rows.tolist() == [6, 1, 8, 5, 0, 4]


def test_gradcheck_of_the_unit_scan():
    generator = torch.Generator().manual_seed(0)
    counts, n = [3, 2, 2], 4
    parts = tuple(
        torch.randn(*shape, dtype=torch.float64, generator=generator, requires_grad=True)
        for shape in ((sum(counts), 3 * n), (3, n), (2 * n, n), (n, n))
    )
    assert torch.autograd.gradcheck(lambda *a: UnitScan.apply(*a, counts), parts)


@pytest.mark.parametrize("wiring", list(WIRINGS.values()))
def test_gradcheck_of_the_decoder_scan(wiring):
    generator = torch.Generator().manual_seed(0)
    counts, b, s, n, a, d = [3, 2, 1], 3, 4, 3, 5, 2
    shapes = (
        (sum(counts), 3 * n), (b, n), (b, s, a), (b, s, d),
        (a, n), (a,), (2 * n, n), (n, n), (3 * n, d),
    )  # fmt: skip
    x, s_0, keys, annotations, *weights = (
        torch.randn(*shape, dtype=torch.float64, generator=generator, requires_grad=True)
        for shape in shapes
    )
    padding = torch.zeros(b, 1, s, dtype=torch.float64)
    padding[2, :, 2:] = -1e9

    def run(x, s_0, keys, annotations, *weights):
        parts = DecoderScan.apply(x, s_0, keys, annotations, padding, wiring, counts, *weights)
        return parts[:2]

    assert torch.autograd.gradcheck(run, (x, s_0, keys, annotations, *weights))
