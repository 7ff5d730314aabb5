"""The fast path equals the plain one, in value and gradient, under padding and in every wiring."""

import pytest
import torch
from test_parity import TINY, random_model

from rnnsearch.batches import collate
from rnnsearch.decoder import WIRINGS
from rnnsearch.fused import DecoderScan, EncoderScan, pack
from rnnsearch.loss import token_loss

SOURCES = [[4, 5, 6, 5, 4], [6], [5, 5, 4], [], [6, 4, 6, 5]]
TARGETS = [[4, 5], [6, 4, 5, 6, 4, 5], [], [5, 6, 4], [5, 4, 4, 6]]


def model_of(wiring: str, bias: bool = True, dropout: float = 0.0):
    config = TINY.__class__(**(vars(TINY) | {"wiring": wiring, "bias": bias, "dropout": dropout}))
    return random_model(config)


def outcome(model, *, fused, label_smoothing=0.1):
    """Return loss, attention and every gradient."""
    model.encoder.fused = model.decoder.fused = fused
    model.zero_grad(set_to_none=True)
    forced = model(collate(SOURCES, TARGETS, multiple=4))
    loss = token_loss(
        forced.readouts, forced.targets, output=model.W_o, label_smoothing=label_smoothing
    ).loss
    (loss / 3).backward()
    return loss.detach(), forced.alpha, {n: p.grad for n, p in model.named_parameters()}


@pytest.mark.parametrize("wiring", list(WIRINGS))
@pytest.mark.parametrize("bias", [True, False])
def test_equals_the_plain_path_in_float64(wiring, bias):
    model = model_of(wiring, bias).double()
    loss, alpha, gradients = outcome(model, fused=True)
    plain_loss, plain_alpha, plain_gradients = outcome(model, fused=False)
    torch.testing.assert_close(loss, plain_loss, rtol=1e-13, atol=0)
    real = collate(SOURCES, TARGETS).target_mask
    torch.testing.assert_close(alpha[real], plain_alpha[real], rtol=0, atol=1e-14)
    assert set(gradients) == set(plain_gradients)
    for name, gradient in plain_gradients.items():
        assert gradient.abs().max() > 0, name
        torch.testing.assert_close(gradients[name], gradient, rtol=1e-9, atol=1e-12, msg=name)


@pytest.mark.parametrize("wiring", list(WIRINGS))
def test_equals_the_plain_path_in_float32(wiring):
    model = model_of(wiring).float()
    loss, _, gradients = outcome(model, fused=True)
    plain_loss, _, plain_gradients = outcome(model, fused=False)
    torch.testing.assert_close(loss, plain_loss, rtol=1e-6, atol=0)
    for name, gradient in plain_gradients.items():
        scale = float(gradient.abs().max())
        torch.testing.assert_close(gradients[name], gradient, rtol=0, atol=2e-5 * scale, msg=name)


def test_log_probabilities_land_at_their_positions():
    model, batch = model_of("original").double().eval(), collate(SOURCES, TARGETS)
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


def test_gradcheck_of_the_encoder_scan():
    generator = torch.Generator().manual_seed(0)
    counts, n = [3, 2, 2], 4
    x, u_gates, u = (
        torch.randn(*shape, dtype=torch.float64, generator=generator, requires_grad=True)
        for shape in ((sum(counts), 3 * n), (2 * n, n), (n, n))
    )
    assert torch.autograd.gradcheck(lambda *a: EncoderScan.apply(*a, counts), (x, u_gates, u))


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
