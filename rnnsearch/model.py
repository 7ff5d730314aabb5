"""The whole network, its builder and its initialisation.

ids --encode--> Memory --step--> log p(y_i | y_<i, x)            one word (search)
Batch --forward--> readouts --loss--> nats                      a known target (training)
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from rnnsearch.attention import AdditiveScore
from rnnsearch.batches import Batch
from rnnsearch.config import ModelConfig, RnnsearchConfig
from rnnsearch.decoder import WIRINGS, AttentionDecoder, DecoderState, Memory, Readout
from rnnsearch.encoder import BidirectionalEncoder, ResetAfterEncoder
from rnnsearch.recurrent import GatedUnit

SCORES = {"additive": AdditiveScore}


class Forced(NamedTuple):
    """The network run over a known target.

    `readouts` (N, L): t_i at the N real target positions, in any order.
    `rows` (N): which of the B·T positions they are.
    `targets` (N): the ids to predict there, EOS included.
    `alpha` (B, T, S): the attention weights, 0 where no step was made.
    """

    readouts: Float[Tensor, "N L"]
    rows: Int[Tensor, " N"]
    targets: Int[Tensor, " N"]
    alpha: Float[Tensor, "B T S"]


class TranslationModel(nn.Module):
    """p(y | x) = Π_i softmax(W_o t_i)[y_i], with an encoder and a decoder given."""

    def __init__(
        self, encoder: BidirectionalEncoder | ResetAfterEncoder, decoder: AttentionDecoder,
        output: nn.Linear,
    ) -> None:  # fmt: skip
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.W_o = output

    def encode(self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"]) -> Memory:
        """Return what the decoder needs of the source ids (EOS included)."""
        return self.decoder.remember(self.encoder(source, mask), mask)

    def start(self, memory: Memory) -> DecoderState:
        """Return the state before the first word."""
        return self.decoder.start(memory)

    def step(
        self, previous: Int[Tensor, " R"], state: DecoderState, memory: Memory
    ) -> tuple[Float[Tensor, "R V"], DecoderState, Float[Tensor, "R S"]]:
        """Return log p(y_i | ...) over the vocabulary, the new state and α_i.

        Args:
            previous: y_{i-1} of each row, BOS at first.
            state: from `start` or the step before; R rows, a whole number for each sentence.
            memory: from `encode`.
        """
        t, state, alpha = self.decoder.step(previous, state, memory)
        return torch.log_softmax(self.W_o(t), dim=-1), state, alpha

    def forward(self, batch: Batch) -> Forced:
        """Return the readouts at every real target position of a batch."""
        memory = self.encode(batch.source, batch.source_mask)
        unrolled = self.decoder(batch.target_in, batch.target_mask, memory)
        targets = batch.target_out.flatten()[unrolled.rows]
        return Forced(unrolled.readouts, unrolled.rows, targets, unrolled.alpha)

    def log_probabilities(
        self, batch: Batch
    ) -> tuple[Float[Tensor, "B T"], Float[Tensor, "B T S"]]:
        """Return log p of each target word (0 at padding) and the attention weights."""
        forced = self(batch)
        logits = self.W_o(forced.readouts)
        scores = torch.zeros_like(batch.target_mask, dtype=logits.dtype).flatten()
        scores[forced.rows] = -functional.cross_entropy(logits, forced.targets, reduction="none")
        return scores.reshape(batch.target_mask.shape), forced.alpha

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of all weights under the paper's names and in its orientation.

        Embeddings `E_bar` (K_x, m) and `E` (K_y, m) are tables. Encoder: `W_fwd W_z_fwd W_r_fwd
        U_fwd U_z_fwd U_r_fwd` and the same with `_bwd`. Decoder: `W_s`, `v_a W_a U_a`, `W W_z W_r U
        U_z U_r C C_z C_r`, `U_o V_o C_o W_o`. A bias is `b_` plus the input-side matrix of its sum.
        Changing a view changes the model.
        """
        symbols = self.encoder.paper_symbols() | self.decoder.paper_symbols()
        symbols["W_o"] = self.W_o.weight.detach()
        if self.W_o.bias is not None:
            symbols["b_W_o"] = self.W_o.bias.detach()
        return symbols


def build_model(config: ModelConfig, *, source_vocab: int, target_vocab: int) -> TranslationModel:
    """Return the initialised network that `config` names, on the CPU, from torch's generator.

    Args:
        config: the `model` group.
        source_vocab: K_x, the four special ids included.
        target_vocab: K_y, likewise.
    """
    if not isinstance(config, RnnsearchConfig):
        raise TypeError(f"no builder for {type(config).__name__}")
    n, m, bias = config.hidden_size, config.embedding_size, config.bias
    n_e = config.encoder_size or n
    embedding = nn.Embedding(source_vocab, m)
    encoder: BidirectionalEncoder | ResetAfterEncoder
    if config.reset_after:
        gru = nn.GRU(m, n_e, batch_first=True, bidirectional=True, bias=bias)
        encoder = ResetAfterEncoder(embedding, gru, dropout=config.dropout)
    else:
        units = [GatedUnit(m, n_e, bias=bias) for _ in range(2)]
        encoder = BidirectionalEncoder(embedding, *units, dropout=config.dropout)
    decoder = AttentionDecoder(
        nn.Embedding(target_vocab, m),
        nn.Linear(n_e, n, bias=bias),
        score=SCORES[config.attention](n, 2 * n_e, config.alignment_size or n),
        unit=GatedUnit(m, n, context_size=2 * n_e, bias=bias),
        readout=Readout(n, m, 2 * n_e, size=config.maxout_size, bias=bias),
        wiring=WIRINGS[config.wiring],
        dropout=config.dropout,
    )
    model = TranslationModel(
        encoder, decoder, nn.Linear(config.maxout_size, target_vocab, bias=bias)
    )
    INITIALISERS[config.init](model)
    return model


RECURRENT = frozenset(
    f"U{gate}{direction}" for gate in ("", "_z", "_r") for direction in ("", "_fwd", "_bwd")
)


def initialise_paper(model: TranslationModel) -> None:
    """Initialise as appendix B.1 says.

    Each recurrent matrix by itself random orthogonal; W_a and U_a from N(0, 0.001²); v_a and all
    biases 0; everything else from N(0, 0.01²).
    """
    _zero(model)
    for name, weight in model.paper_symbols().items():
        if name in RECURRENT:
            nn.init.orthogonal_(weight)
        elif name in ("W_a", "U_a"):
            nn.init.normal_(weight, std=0.001)
        elif name != "v_a" and not name.startswith("b_"):
            nn.init.normal_(weight, std=0.01)


def initialise_xavier(model: TranslationModel) -> None:
    """Initialise for small data, where the paper's small numbers learn slowly.

    Recurrent matrices orthogonal as in the paper, embeddings from N(0, 1/m), biases 0, everything
    else by Glorot and Bengio (2010), uniform, each gate's block by itself.
    """
    _zero(model)
    for name, weight in model.paper_symbols().items():
        if name in RECURRENT:
            nn.init.orthogonal_(weight)
        elif name in ("E", "E_bar"):
            nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
        elif name == "v_a":
            nn.init.xavier_uniform_(weight[None])
        elif not name.startswith("b_"):
            nn.init.xavier_uniform_(weight)


def _zero(model: TranslationModel) -> None:
    """Set every parameter to 0: biases, and `nn.GRU`'s hidden-side ones, which have no symbol."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()


INITIALISERS = {"paper": initialise_paper, "xavier": initialise_xavier}
