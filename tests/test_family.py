"""Every model of the family: what it computes, and the properties that it must have."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from cases_common import QUICK, TEST, in_process, refuse, same_weights, succeed, translate
from safetensors.torch import load_file
from test_parity import (
    SOURCES,
    TARGETS,
    TINY,
    assert_equal,
    forced,
    random_model,
    stepped,
    with_padding,
)
from torch import nn
from torch.nn import functional

from rnnsearch.attention import SCORES, attend, padding_bias
from rnnsearch.batches import collate
from rnnsearch.encoder import InputEncoder
from rnnsearch.model import build_model
from rnnsearch.modelchecks import BUILT_IN_SCORES
from rnnsearch.modelconfig import ModelConfig, RnnencdecConfig, TransformerInputConfig
from rnnsearch.recurrent import LSTMUnit, plain_scan

SHARED = {name: vars(TINY)[name] for name in ModelConfig.__annotations__}
ENCDEC = RnnencdecConfig(**SHARED | {"kind": "rnnencdec"}, unit="gated")
LSTM = replace(ENCDEC, unit="lstm", encoder_size=6)
INPUT = TransformerInputConfig(
    **SHARED | {"kind": "transformer_input", "embedding_size": 4}, attention="additive",
    alignment_size=4, positions="sinusoidal", max_positions=None, scale_embeddings=True, layers=0,
    heads=2, feedforward_size=8,
)  # fmt: skip
FAMILY: dict[str, ModelConfig] = {
    "rnnsearch": TINY,
    "rnnencdec": ENCDEC,
    "lstm": LSTM,
    "input": INPUT,
    "learned": replace(INPUT, positions="learned", max_positions=9),
    "layers": replace(INPUT, layers=2),
    "dot": replace(TINY, attention="dot"),
    "scaled_dot": replace(TINY, attention="scaled_dot"),
    "general": replace(TINY, attention="general"),
}
EVERY = pytest.mark.parametrize("name", list(FAMILY))


# Every model


@EVERY
@pytest.mark.parametrize("wiring", ["appendix", "equation4", "original"])
def test_forced_and_stepped_agree(name: str, wiring: str) -> None:
    """log p of a known target is what the steps say, one after the other."""
    model = random_model(replace(FAMILY[name], wiring=wiring))
    batch = collate(SOURCES, TARGETS)
    log_p, alpha = forced(model, batch)
    distributions, weights = stepped(model, batch)
    chosen = distributions.gather(2, batch.target_out[..., None])[..., 0]
    real = batch.target_mask
    assert_equal(log_p[real], chosen[real])
    assert_equal(alpha[real], weights[real])
    assert not log_p[~real].any()


@EVERY
def test_padding_changes_nothing(name: str) -> None:
    model = random_model(FAMILY[name])
    plain = collate(SOURCES, TARGETS)
    padded = with_padding(plain, source=2, target=3)
    log_p, alpha = forced(model, plain)
    other, other_alpha = forced(model, padded)
    real = plain.target_mask
    assert_equal(other[:, : real.shape[1]][real], log_p[real])
    weights = other_alpha[:, : real.shape[1], : alpha.shape[2]][real]
    assert_equal(weights, alpha[real])


@EVERY
def test_sentences_do_not_know_their_neighbours(name: str) -> None:
    model = random_model(FAMILY[name])
    order = [2, 0, 3, 1]
    log_p, _ = forced(model, collate(SOURCES, TARGETS))
    other, _ = forced(model, collate([SOURCES[i] for i in order], [TARGETS[i] for i in order]))
    assert_equal(other, log_p[order])
    for source, target, together in zip(SOURCES, TARGETS, log_p, strict=True):
        alone, _ = forced(model, collate([source], [target]))
        assert_equal(together[: len(target) + 1], alone[0])


@EVERY
def test_attention_sums_to_one_over_real_positions(name: str) -> None:
    model = random_model(FAMILY[name])
    batch = collate(SOURCES, TARGETS)
    _, alpha = forced(model, batch)
    assert_equal(alpha.sum(-1)[batch.target_mask], np.ones(int(batch.target_mask.sum())))
    if model.attends:
        padding = alpha.masked_select(~batch.source_mask[:, None].expand(-1, alpha.shape[1], -1))
        assert not padding.any()
    assert model.attends is (not isinstance(FAMILY[name], RnnencdecConfig))


@EVERY
def test_every_parameter_gets_a_gradient_and_only_uses_what_it_should(name: str) -> None:
    model = random_model(replace(FAMILY[name], wiring="equation4"))
    log_p = model.log_probabilities(collate(SOURCES, TARGETS))[0]
    log_p.sum().backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None, key
        if not key.endswith("in_proj_bias"):  # of which the keys' part is 0
            assert float(parameter.grad.abs().max()) > 1e-12, key


@EVERY
@pytest.mark.parametrize("init", ["paper", "xavier"])
def test_initialisation(name: str, init: str) -> None:
    """Biases and v_a, recurrent matrices, and the embeddings of a Transformer's input."""
    config = replace(FAMILY[name], init=init, dropout=0.0)
    torch.manual_seed(3)
    model = build_model(config, source_vocab=400, target_vocab=300)
    symbols = model.paper_symbols()
    for key, weight in symbols.items():
        if key.startswith("b_"):
            assert not weight.any(), key
        elif key == "v_a":
            assert bool(weight.any()) is (init == "xavier")
        else:
            assert weight.any(), key
    for key in {"U", "U_z", "U_fwd", "U_in", "U_out_fwd"} & set(symbols):
        n = len(symbols[key])
        torch.testing.assert_close(symbols[key] @ symbols[key].t(), torch.eye(n))
    if isinstance(model.encoder, InputEncoder):
        size = config.embedding_size
        assert symbols["E_bar"].std().item() == pytest.approx(size**-0.5, rel=0.1)
        if "P" in symbols:
            scale = math.sqrt(size) * size**-0.5
            assert symbols["P"].std().item() == pytest.approx(scale, rel=0.4)
        for module in model.modules():
            if isinstance(module, nn.LayerNorm):
                assert torch.equal(module.weight, torch.ones(size))
    if init == "paper" and name in ("dot", "general"):
        assert symbols["W_a"].std().item() == pytest.approx(0.01, rel=0.4)


# rnnencdec


def test_the_context_is_one_vector() -> None:
    """No annotation but the last can reach the output: c is all that the decoder is given."""
    for config in (ENCDEC, LSTM):
        model = random_model(config)
        batch = collate([[4, 9, 12, 5, 4]], [[5, 10, 7]])
        memory = model.encode(batch.source, batch.source_mask)
        assert memory.annotations.shape == (
            1,
            1,
            model.decoder.unit.hidden_size + (config is ENCDEC),
        )
        assert memory.keys.numel() == 0
        x = model.encoder.embedding(batch.source)
        states = plain_scan(model.encoder.unit, x, batch.source_mask)
        last = states[:, -1]
        assert_equal(memory.annotations[:, 0], model.encoder.unit.visible(last).detach())
        assert_equal(memory.summary, last.detach())
        # The state at the end mark is the last one whatever stands behind it.
        padded = with_padding(batch, source=3, target=0)
        again = model.encode(padded.source, padded.source_mask)
        assert_equal(again.annotations, memory.annotations.detach())


def numpy_of(model: Any) -> dict[str, np.ndarray]:
    return {key: value.numpy() for key, value in model.paper_symbols().items()}


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


@pytest.mark.parametrize("wiring", ["appendix", "equation4", "original"])
@pytest.mark.parametrize("fused", [True, False])
def test_rnnencdec_equals_a_transcription(wiring: str, fused: bool) -> None:
    """Cho et al. 2014 in NumPy, sentence by sentence: c = h_T in every gate and the readout."""
    model = random_model(replace(ENCDEC, wiring=wiring))
    model.encoder.fused = model.decoder.fused = fused
    log_p, _ = forced(model, collate(SOURCES, TARGETS))
    p = numpy_of(model)

    def unit(x: np.ndarray, h: np.ndarray, side: str, c: np.ndarray | None = None) -> np.ndarray:
        look = {g: p[f"C{g}"] @ c if c is not None else 0.0 for g in ("", "_z", "_r")}
        z, r = (
            sigmoid(p[f"W{g}{side}"] @ x + p[f"b_W{g}{side}"] + p[f"U{g}{side}"] @ h + look[g])
            for g in ("_z", "_r")
        )  # fmt: skip
        new = np.tanh(p[f"W{side}"] @ x + p[f"b_W{side}"] + p[f"U{side}"] @ (r * h) + look[""])
        return (1 - z) * h + z * new

    for source, target, ours in zip(SOURCES, TARGETS, log_p.numpy(), strict=True):
        c = np.zeros(7)
        for x in [*source, 2]:
            c = unit(p["E_bar"][x], c, "_fwd")
        s = np.tanh(p["W_s"] @ c + p["b_W_s"])
        before = 1
        for i, y in enumerate([*target, 2]):
            if wiring == "original" and i > 0:
                s = unit(p["E"][before], s, "", c)
            new = unit(p["E"][before], s, "", c) if wiring != "original" else s
            read = new if wiring == "equation4" else s
            t = p["U_o"] @ read + p["b_U_o"] + p["C_o"] @ c
            if not (wiring == "original" and i == 0):
                t = t + p["V_o"] @ p["E"][before]
            logits = p["W_o"] @ t.reshape(-1, 2).max(1) + p["b_W_o"]
            expected = logits[y] - np.log(np.exp(logits - logits.max()).sum()) - logits.max()
            assert ours[i] == pytest.approx(expected, abs=1e-9)
            s, before = new, y


def test_the_lstm_unit_is_torch_s_without_a_context() -> None:
    torch.manual_seed(0)
    unit = LSTMUnit(5, 6).double()
    lstm = nn.LSTM(5, 6, batch_first=True).double()
    with torch.no_grad():
        for parameter in unit.parameters():
            parameter.normal_(std=0.7)
        lstm.weight_ih_l0.copy_(unit.W)
        lstm.weight_hh_l0.copy_(unit.U)
        lstm.bias_ih_l0.copy_(unit.b)
        lstm.bias_hh_l0.zero_()
        x = torch.randn(3, 7, 5, dtype=torch.float64)
        states = plain_scan(unit, x, torch.ones(3, 7, dtype=torch.bool))
        expected, (h, cell) = lstm(x)
    assert_equal(states[..., :6], expected)
    assert_equal(states[:, -1], torch.cat([h[0], cell[0]], -1))


@pytest.mark.parametrize("wiring", ["appendix", "equation4", "original"])
def test_the_lstm_decoder_equals_torch_s_cell(wiring: str) -> None:
    """c enters every gate as a further input would, and (s_0, cell_0) is the encoder's last."""
    model = random_model(replace(LSTM, wiring=wiring))
    unit = model.decoder.unit
    cell = nn.LSTMCell(5 + 6, 6).double()
    with torch.no_grad():
        cell.weight_ih.copy_(torch.cat([unit.W, unit.C], 1))
        cell.weight_hh.copy_(unit.U)
        cell.bias_ih.copy_(unit.b)
        cell.bias_hh.zero_()
        batch = collate([[4, 9, 12]], [[5, 10, 7]])
        log_p, _ = forced(model, batch)
        memory = model.encode(batch.source, batch.source_mask)
        c, state = memory.annotations[:, 0], memory.summary.chunk(2, -1)
        for i, (before, y) in enumerate(zip(batch.target_in[0], batch.target_out[0], strict=True)):
            e = model.decoder.embedding(before[None])
            first = wiring == "original" and i == 0
            new = state if first else cell(torch.cat([e, c], 1), state)
            read = new if wiring != "appendix" else state
            t = model.decoder.readout(
                read[0], torch.zeros_like(e) if first else e, model.decoder.readout.look(c)
            )
            assert float(log_p[0, i]) == pytest.approx(
                float(torch.log_softmax(model.W_o(t), -1)[0, y]), abs=1e-12
            )
            state = new


# transformer_input


def test_order_is_seen_through_positions_alone() -> None:
    """The bag of "dog bit me" and "me bit dog" is one, until positions tell them apart."""
    one, other = [4, 5, 6], [6, 5, 4]
    for layers, positions in itertools.product((0, 2), ("none", "sinusoidal", "learned")):
        most = 9 if positions == "learned" else None
        config = replace(INPUT, layers=layers, positions=positions, max_positions=most)
        model = random_model(config)
        scores = [forced(model, collate([source], [[5, 10]]))[0] for source in (one, other)]
        apart = float((scores[0] - scores[1]).abs().max())
        assert (apart > 1e-3) is (positions != "none"), (layers, positions, apart)


def test_annotations_equal_a_transcription() -> None:
    """h_j = W_p (√d Ē x_j + P_j) + b, and s_0 is made of their mean over real positions."""
    model = random_model(INPUT)
    p = numpy_of(model)
    batch = collate(SOURCES, TARGETS)
    with torch.no_grad():
        memory = model.encode(batch.source, batch.source_mask)
        start = model.start(memory).s
    angles = np.arange(6)[:, None] / np.array([1.0, 100.0])
    codes = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(6, 4)
    for row, source in enumerate(SOURCES):
        ids = [*source, 2]
        z = 2 * p["E_bar"][ids] + codes[: len(ids)]
        h = z @ p["W_p"].T + p["b_W_p"]
        assert_equal(memory.annotations[row, : len(ids)], h)
        assert_equal(start[row], np.tanh(p["W_s"] @ h.mean(0) + p["b_W_s"]))


def test_layers_are_those_of_torch() -> None:
    model = random_model(replace(INPUT, layers=2))
    assert isinstance(model.encoder, InputEncoder)
    assert isinstance(model.encoder.layers, nn.TransformerEncoder)
    assert len(model.encoder.layers.layers) == 2
    batch = collate(SOURCES, TARGETS)
    with torch.no_grad():
        z = model.encoder.input(batch.source)
        expected = model.encoder.W_p(
            model.encoder.layers(z, src_key_padding_mask=~batch.source_mask)
        )
        found = model.encode(batch.source, batch.source_mask).annotations
    assert_equal(found[batch.source_mask], expected[batch.source_mask])


# Scores


@pytest.mark.parametrize("name", list(SCORES))
def test_the_scores_in_the_words_of_queries_keys_and_values(name: str) -> None:
    """c_i = Σ_j α_ij h_j of the paper is softmax(f(Q, K)) V with Q = s_{i-1} and K = V = h."""
    torch.manual_seed(1)
    score = SCORES[name](3, 4, 5)
    assert isinstance(score, nn.Module)
    with torch.no_grad():
        for parameter in score.double().parameters():
            parameter.normal_()
        p = {key: value.numpy() for key, value in score.paper_symbols().items()}
        states, h = (torch.randn(2, *size, dtype=torch.float64) for size in ((6, 3), (7, 4)))
        mask = torch.ones(2, 7, dtype=torch.bool)
        mask[1, 4:] = False
        scores = score(states, score.project(h))
        context, alpha = attend(scores, padding_bias(mask, h), h)
    formulas = {
        "additive": lambda s, x: p["v_a"] @ np.tanh(p["W_a"] @ s + p["U_a"] @ x),
        "dot": lambda s, x: (p["W_a"] @ s) @ (p["U_a"] @ x),
        "scaled_dot": lambda s, x: (p["W_a"] @ s) @ (p["U_a"] @ x) / 5**0.5,
        "general": lambda s, x: s @ p["W_a"] @ x,
    }
    for b, length in ((0, 7), (1, 4)):
        for i in range(6):
            e = np.array(
                [formulas[name](states[b, i].numpy(), h[b, j].numpy()) for j in range(length)]
            )
            weights = np.exp(e - e.max()) / np.exp(e - e.max()).sum()
            assert_equal(alpha[b, i, :length], weights)
            assert_equal(context[b, i], (weights[:, None] * h[b, :length].numpy()).sum(0))
    assert not alpha[1, :, 4:].any()
    if name == "scaled_dot":  # the same without the paper's notation, by PyTorch's own function
        keys = functional.linear(h, score.U_a)
        query = functional.linear(states, score.W_a)
        own = functional.scaled_dot_product_attention(query, keys, h, attn_mask=mask[:, None])
        assert_equal(context, own.detach())


# The commands

WORDS = [word for word in QUICK if "alignment_size" not in word]
SHORT = ("trainer.max_updates=2", "trainer.valid_every=2", "decode.max_length=6")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a run of each kind of model."""
    found = {}
    for name, words in {
        "rnnsearch": "model=rnnsearch",
        "rnnencdec": "model=rnnencdec",
        "lstm": "model=rnnencdec model.unit=lstm",
        "input": "model=transformer_input model.layers=1 model.heads=2",
        "learned": "model=transformer_input model.positions=learned model.max_positions=50",
    }.items():
        found[name] = tmp_path_factory.mktemp("runs") / name
        succeed("train", *WORDS, *words.split(" "), *SHORT, f"run_dir={found[name]}")
    return found


@pytest.mark.parametrize("name", ["rnnencdec", "lstm", "input", "learned"])
def test_every_model_evaluates_translates_and_goes_on(
    name: str, trained: dict[str, Path], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(trained[name], run, symlinks=True)
    found = succeed("evaluate", f"run_dir={run}", *TEST, "bootstrap=0", "ter=false")
    assert "BLEU" in found.out
    assert len(translate(run, ["A dog runs.", "", "Two cats."], tmp_path)) == 3
    plain = yaml.safe_load((run / "config.yaml").read_bytes())
    words = [word for word in WORDS if not word.startswith("trainer.max_updates")]
    more = [
        f"model.{key}={value}"
        for key, value in plain["model"].items()
        if key in ("unit", "layers", "heads", "positions", "max_positions") and value is not None
    ]
    kind = plain["model"]["kind"]
    common = (*words, f"model={kind}", *more, *SHORT[1:], f"run_dir={run}")
    succeed("train", *common, "trainer.max_updates=4")
    straight = tmp_path / "straight"
    succeed("train", *common[:-1], "trainer.max_updates=4", f"run_dir={straight}")
    assert same_weights(run, straight)


@pytest.mark.parametrize("key", ["alignments=a.txt", "plots=p"])
def test_without_attention_there_is_nothing_to_show(
    key: str, trained: dict[str, Path], tmp_path: Path
) -> None:
    name, value = key.split("=")
    words = ("translate", f"run_dir={trained['rnnencdec']}", f"{name}={tmp_path / value}")
    refuse(*words, f"input={__file__}", words=(f"{name}: model=rnnencdec has no attention",))
    assert not (tmp_path / value).exists()


def test_no_attention_no_alignment(trained: dict[str, Path]) -> None:
    from rnnsearch import Translator

    translator = Translator.load(trained["rnnencdec"], device="cpu")
    assert translator.attends is False
    assert [found.alignment for found in translator.translate(["A dog.", ""])] == [None, None]


def test_words_without_attention_cannot_be_replaced(tmp_path: Path) -> None:
    words = [word for word in WORDS if not word.startswith("tokenizer")]
    run = tmp_path / "run"
    more = ("model=rnnencdec", "tokenizer=word", "tokenizer.vocab_size=24", *SHORT)
    succeed("train", *words, *more, f"run_dir={run}")
    refuse(
        "translate", f"run_dir={run}", f"input={__file__}", "replace_unk=true",
        words=("replace_unk: ", "model=rnnencdec has no attention; leave it out"),
    )  # fmt: skip


def test_learned_positions_say_where_they_end_before_any_work(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    """In training, in `evaluate`, and of a file in `translate`; of a stream when the line comes."""
    source = tmp_path / "long.en"
    source.write_text("A dog.\n" + "dog " * 80 + "\nA cat.\n")
    run = f"run_dir={trained['learned']}"
    output = tmp_path / "out.fr"
    refuse(
        "translate", run, f"input={source}", f"output={output}",
        words=(":2 has", "model.max_positions=50"),
    )  # fmt: skip
    assert not output.exists()
    (tmp_path / "long.fr").write_text("a\nb\nc\n")
    refuse(
        "evaluate", run, f"data.test.source={source}", f"data.test.target={tmp_path / 'long.fr'}",
        words=("line 2 has", "model.max_positions=50"),
    )  # fmt: skip
    words = ("model=transformer_input", "model.positions=learned", "model.max_positions=3")
    refuse(
        "train", *WORDS, *words, f"run_dir={tmp_path / 'x'}",
        words=("data.train: source", "model.max_positions=3", "data.max_length"),
    )  # fmt: skip
    assert not (tmp_path / "x" / "checkpoints").exists()


def test_sinusoidal_codes_have_no_end(trained: dict[str, Path], tmp_path: Path) -> None:
    """Far beyond what was trained, and with the padding that a search adds."""
    lines = ["A dog.", "dog " * 500]
    assert len(translate(trained["input"], lines, tmp_path)) == 2


def test_learned_positions_reach_to_their_last_one(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    """A source as long as they reach, which is padded beyond it for the search."""
    from rnnsearch import Translator

    translator = Translator.load(trained["learned"], device="cpu")
    line = next(
        line for n in range(1, 80) for line in ["a" * n]
        if len(translator.source_tokenizer.encode(line)) == 49
    )  # fmt: skip
    alone = translator.translate([line])[0]
    beside = translator.translate(["A dog.", line, "A cat sleeps."])[1]
    assert (alone.text, alone.score) == (beside.text, beside.score)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("model=rnnencdec model.unit=lstm model.encoder_size=9", "model.encoder_size=9"),
        ("model=rnnencdec model.unit=gru", "model.unit=gru: expected gated or lstm"),
        ("model=rnnencdec model.attention=dot", "model.attention: there is no such key"),
        ("model=transformer_input model.positions=learned", "model.max_positions is null"),
        ("model=transformer_input model.max_positions=9", "model.positions=sinusoidal"),
        ("model=transformer_input model.layers=1 model.heads=5", "model.heads=5"),
        ("model=transformer_input model.layers=-1", "model.layers=-1"),
        ("model.attention=dott", "did you mean 'dot'?"),
        ("model=rnnencdecc", "did you mean 'rnnencdec'?"),
    ],
)
def test_settings_that_do_not_fit_are_refused(words: str, told: str, tmp_path: Path) -> None:
    refuse("train", *WORDS, *words.split(" "), f"run_dir={tmp_path / 'x'}", words=(told,))
    assert not (tmp_path / "x").exists()


def test_a_sweep_over_the_family_is_compared(tmp_path: Path) -> None:
    """Runs side by side: scores, paired test, parameters, training speed, BLEU by length."""
    runs = tmp_path / "runs"
    succeed(
        "train", "-m", *WORDS, "model=rnnsearch,rnnencdec,transformer_input", *SHORT,
        f"run_dir={runs}",
    )  # fmt: skip
    names = ("rnnsearch", "rnnencdec", "transformer_input")
    folders = [runs / f"model={name}" for name in names]
    listed = ",".join(f'"{folder}"' for folder in folders)
    found = succeed("evaluate", f"run_dir=[{listed}]", *TEST, "bootstrap=20", "ter=false")
    record = json.loads((folders[0] / "evaluations/base.test/comparison.json").read_bytes())
    for folder, entry in zip(folders, record["runs"], strict=True):
        weights = load_file(folder / "checkpoints/best/model.safetensors")
        count = sum(tensor.numel() for tensor in weights.values())
        assert entry["parameters"] == count
        assert f"{count:,}" in found.out
        assert entry["training_tokens_per_second"] > 0
        assert entry["updates"] == 2
    assert (folders[0] / "evaluations/base.test/by_length.png").stat().st_size > 5000
    assert "p = " in found.out
    assert "BLEU by words" in found.out


# Sizes


@pytest.mark.parametrize(
    ("kind", "count"),
    # Encoder, decoder, alignment, W_s, readout.
    [
        ("rnnsearch", (9_720_000, 10_860_000, 3_001_000, 1_000_000, 3_620_000)),
        ("rnnencdec", (4_860_000, 7_860_000, 0, 1_000_000, 2_620_000)),
        ("transformer_input", (1_240_000, 10_860_000, 3_001_000, 2_000_000, 3_620_000)),
    ],
)
def test_parameters_at_the_sizes_of_the_paper(kind: str, count: tuple[int, ...]) -> None:
    tables_and_output = 2 * 18_600_000 + 15_000_000
    configs: dict[str, ModelConfig] = {
        "rnnsearch": TINY, "rnnencdec": ENCDEC, "transformer_input": INPUT
    }  # fmt: skip
    sizes: dict[str, Any] = {"encoder_size": None, "bias": False}
    sizes |= {"hidden_size": 1000, "embedding_size": 620, "maxout_size": 500}
    more = {} if kind == "rnnencdec" else {"alignment_size": None}
    with torch.device("meta"):
        model = build_model(
            replace(configs[kind], **sizes, **more), source_vocab=30000, target_vocab=30000
        )
    found = sum(parameter.numel() for parameter in model.parameters())
    assert found == tables_and_output + sum(count)
    assert kind != "rnnsearch" or found == 80_401_000


def test_the_names_that_are_accepted_unseen_are_those_of_the_scores() -> None:
    assert set(BUILT_IN_SCORES) == set(SCORES)


# What a stranger's hands found


@pytest.mark.parametrize("name", ["rnnsearch", "rnnencdec", "lstm", "input", "learned"])
def test_a_sentence_is_traced_through_every_model(
    name: str, trained: dict[str, Path], tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    scripts = Path(__file__).resolve().parent.parent / "scripts"
    monkeypatch.syspath_prepend(str(scripts))
    trace = importlib.import_module("trace_sentence")
    words = [str(trained[name]), "A dog runs.", "--plots", str(tmp_path)]
    assert trace.main(words) == 0
    told = capsys.readouterr().out
    assert ("There is no P" in told) is (name in ("rnnsearch", "rnnencdec", "lstm"))
    assert ("no attention" in told) is (name in ("rnnencdec", "lstm"))
    assert ("and behind it the cell" in told) is (name == "lstm")
    assert ("1 layers of self-attention" in told) is (name == "input")
    assert list(tmp_path.glob("*.png"))


def test_outputs_keep_what_they_held_when_a_stream_is_refused(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    outputs = [tmp_path / name for name in ("out.fr", "links")]
    for path in outputs:
        path.write_text("precious\n")
    words = (f"run_dir={trained['learned']}", f"output={outputs[0]}", f"alignments={outputs[1]}")
    done = in_process("translate", *words, stdin=b"A dog.\n" + b"dog " * 80 + b"\n")
    assert done.status == 2
    assert "standard input:2 has" in done.err
    assert [path.read_text() for path in outputs] == ["precious\n"] * 2


def test_runs_are_compared_only_if_all_reach_as_far(
    trained: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "long.en").write_text("dog " * 80 + "\n")
    (tmp_path / "long.fr").write_text("chien\n")
    names = [trained["input"], trained["learned"]]
    test = (f"data.test.source={tmp_path}/long.en", f"data.test.target={tmp_path}/long.fr")
    told = refuse("evaluate", f'run_dir=["{names[0]}","{names[1]}"]', *test, words=("line 1 has",))
    assert str(names[1]) in told
    assert not (names[0] / "evaluations" / "long").exists()


def test_library_calls_do_not_cut_what_learned_positions_do_not_reach() -> None:
    model = random_model(replace(INPUT, positions="learned", max_positions=5))
    with pytest.raises(ValueError, match="6 positions, of which 5 have codes"):
        forced(model, collate([[4, 5, 6, 7, 8]], [[5]]))
    source = torch.tensor([[4, 5, 6, 7, 8, 2]])
    with pytest.raises(ValueError, match="6 positions, of which 5 have codes"):
        model.encode(source, torch.ones_like(source, dtype=torch.bool))


@pytest.mark.parametrize("key", ["model.bias", "model.scale_embeddings", "trainer.cuda_graphs"])
def test_a_switch_is_no_number(key: str, tmp_path: Path) -> None:
    model = "model=transformer_input"
    refuse(
        "train", *WORDS, model, f"{key}=3", f"run_dir={tmp_path / 'x'}",
        words=(f"{key}=3: expected true or false",),
    )  # fmt: skip


def test_a_list_of_runs_is_told_how_to_be_quoted(trained: dict[str, Path]) -> None:
    told = refuse("evaluate", "run_dir=[a=1,b=2]", words=("quote it twice",))
    assert told.endswith("""'run_dir=["a=1","b=2"]'""")
