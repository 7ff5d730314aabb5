"""The whole network, its builder and its initialisation.

ids --encode--> Memory --step--> log p(y_i | y_<i, x)            one word (search)
Batch --forward--> readouts --loss--> nats                      a known target (training)
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional

from rnnsearch.attention import SCORES, FixedContext, Score
from rnnsearch.batches import Batch
from rnnsearch.decoder import WIRINGS, Decoder, DecoderState, Memory, Readout
from rnnsearch.encoder import (
    BidirectionalEncoder,
    Encoder,
    ForwardEncoder,
    InputEncoder,
    ResetAfterEncoder,
)
from rnnsearch.modelconfig import (
    AttentionConfig,
    ModelConfig,
    RnnencdecConfig,
    RnnsearchConfig,
    TransformerInputConfig,
)
from rnnsearch.packing import Packing
from rnnsearch.positions import TransformerInput
from rnnsearch.recurrent import LSTM_GATES, GatedUnit, LSTMUnit


class Forced(NamedTuple):
    """The network run over a known target.

    `readouts` (N, L): t_i at the N positions of the target's packing.
    `targets` (N): the ids to predict there, EOS included.
    `counted` (N): which of them are no padding; None where all are.
    `alpha` (B, T, M): the attention weights; what stands at padding means nothing.
    """

    readouts: Float[Tensor, "N L"]
    targets: Int[Tensor, " N"]
    counted: Bool[Tensor, " N"] | None
    alpha: Float[Tensor, "B T M"]


class TranslationModel(nn.Module):
    """p(y | x) = Π_i softmax(W_o t_i)[y_i], with an encoder and a decoder given.

    Args:
        encoder: its embeddings are Ē.
        decoder: its embeddings are E.
        output: W_o.
        tied: `output`: W_o is E (Press and Wolf 2017); `all`: Ē is, too; `none`.
    """

    def __init__(
        self, encoder: Encoder, decoder: Decoder, output: nn.Linear, *, tied: str = "none"
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder
        self.W_o = output
        self.tied = tied
        self.tie()

    def tie(self) -> None:
        """Make one parameter of the tables that are one; to be called after they were replaced."""
        if self.tied != "none":
            self.W_o.weight = self.decoder.embedding.weight
        if self.tied == "all":
            self.encoder.embedding.weight = self.decoder.embedding.weight

    @property
    def attends(self) -> bool:
        """Whether there is attention: weights that say where the decoder looks."""
        return self.decoder.attends

    @property
    def most_positions(self) -> int | None:
        """The longest source, EOS included, that the encoder takes; None for any."""
        return self.encoder.most_positions

    def encode(
        self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B S"], packing: Packing | None = None
    ) -> Memory:
        """Return what the decoder needs of the source ids (EOS included).

        Args:
            source: ids, padded.
            mask: true at real positions.
            packing: of the mask, where it is known; else it is made, for which a GPU is waited for.

        Raises:
            ValueError: there are more than `most_positions`.
        """
        return self.decoder.remember(self.encoder(source, mask, packing))

    def start(self, memory: Memory) -> DecoderState:
        """Return the state before the first word."""
        return self.decoder.start(memory)

    def step(
        self, previous: Int[Tensor, " R"], state: DecoderState, memory: Memory
    ) -> tuple[Float[Tensor, "R V"], DecoderState, Float[Tensor, "R M"]]:
        """Return log p(y_i | ...) over the vocabulary, the new state and α_i.

        Args:
            previous: y_{i-1} of each row, BOS at first.
            state: from `start` or the step before; R rows, a whole number for each sentence.
            memory: from `encode`.
        """
        t, state, alpha = self.decoder.step(previous, state, memory)
        return torch.log_softmax(self.W_o(t), dim=-1), state, alpha

    def forward(self, batch: Batch) -> Forced:
        """Return the readouts at every target position of a batch."""
        packing = batch.target_packing
        memory = self.encode(batch.source, batch.source_mask, batch.source_packing)
        readouts, alpha = self.decoder(batch.target_in, packing, memory)
        targets = batch.target_out.flatten()[packing.rows]
        counted = batch.target_mask.flatten()[packing.rows] if packing.whole else None
        return Forced(readouts, targets, counted, alpha)

    def log_probabilities(
        self, batch: Batch
    ) -> tuple[Float[Tensor, "B T"], Float[Tensor, "B T M"]]:
        """Return log p of each target word (0 at padding) and the attention weights."""
        forced = self(batch)
        logits = self.W_o(forced.readouts)
        log_p = -functional.cross_entropy(logits, forced.targets, reduction="none")
        scores = log_p.new_zeros(batch.target_mask.numel())
        scores[batch.target_packing.rows] = log_p
        scores = scores.reshape(batch.target_mask.shape)
        return scores.masked_fill(~batch.target_mask, 0), forced.alpha

    def paper_symbols(self) -> dict[str, Tensor]:
        """Return views of all weights under the paper's names and in its orientation.

        Embeddings `E_bar` (K_x, m) and `E` (K_y, m) are tables. Encoder: `W_fwd W_z_fwd W_r_fwd
        U_fwd U_z_fwd U_r_fwd` and the same with `_bwd`. Decoder: `W_s`, `v_a W_a U_a`, `W W_z W_r U
        U_z U_r C C_z C_r`, `U_o V_o C_o W_o`. A bias is `b_` plus the input-side matrix of its sum.
        Of rnnencdec only `_fwd` is there, and `E_bar W_p P` of transformer_input's encoder, whose
        layers have no names here; scores have the weights that they have. The blocks of an LSTM end
        in `_in _forget _cell _out`. Changing a view changes the model.
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
    embedding = nn.Embedding(source_vocab, config.embedding_size)
    encoder: Encoder
    match config:
        case RnnsearchConfig():
            encoder = _annotating_encoder(config, embedding)
        case TransformerInputConfig():
            encoder = _input_encoder(config, embedding)
        case RnnencdecConfig():
            encoder = _forward_encoder(config, embedding)
        case _:
            raise TypeError(f"no builder for {type(config).__name__}")
    decoder = _decoder(config, target_vocab)
    output = nn.Linear(config.maxout_size, target_vocab, bias=config.bias)
    model = TranslationModel(encoder, decoder, output, tied=config.tied)
    INITIALISERS[config.init](model)
    if isinstance(encoder, InputEncoder):
        _initialise_input(encoder.input)
    return model


UNITS: dict[str, type[GatedUnit | LSTMUnit]] = {"gated": GatedUnit, "lstm": LSTMUnit}


def _encoder_size(config: ModelConfig) -> int:
    return config.encoder_size or config.hidden_size


def _annotating_encoder(config: RnnsearchConfig, embedding: nn.Embedding) -> Encoder:
    m, n_e, bias = config.embedding_size, _encoder_size(config), config.bias
    if config.reset_after:
        gru = nn.GRU(m, n_e, bias=bias, batch_first=True, bidirectional=True)
        return ResetAfterEncoder(embedding, gru, dropout=config.dropout)
    units = (GatedUnit(m, n_e, bias=bias), GatedUnit(m, n_e, bias=bias))
    return BidirectionalEncoder(embedding, *units, dropout=config.dropout)


def _forward_encoder(config: RnnencdecConfig, embedding: nn.Embedding) -> Encoder:
    unit = UNITS[config.unit](config.embedding_size, _encoder_size(config), bias=config.bias)
    return ForwardEncoder(embedding, unit, dropout=config.dropout)


def _input_encoder(config: TransformerInputConfig, embedding: nn.Embedding) -> Encoder:
    m, dropout = config.embedding_size, config.dropout
    source = TransformerInput(
        embedding, positions=config.positions, scale=config.scale_embeddings,
        most=config.max_positions,
    )  # fmt: skip
    layers = None
    if config.layers:
        layer = nn.TransformerEncoderLayer(
            m, config.heads, config.feedforward_size, dropout, batch_first=True
        )
        layers = nn.TransformerEncoder(layer, config.layers, enable_nested_tensor=False)
        for parameter in layers.parameters():  # copies of one layer start alike
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)
    output = nn.Linear(m, 2 * _encoder_size(config), bias=config.bias)
    return InputEncoder(source, layers, output, dropout=dropout)


def _decoder(config: ModelConfig, target_vocab: int) -> Decoder:
    n, n_e, m, bias = config.hidden_size, _encoder_size(config), config.embedding_size, config.bias
    score: Score = FixedContext()
    unit: type[GatedUnit | LSTMUnit] = GatedUnit
    annotation = n_e
    if isinstance(config, AttentionConfig):
        annotation = 2 * n_e
        score = SCORES[config.attention](n, annotation, config.alignment_size or n)
    elif isinstance(config, RnnencdecConfig):
        unit = UNITS[config.unit]
    # Of transformer_input the summary is a mean of whole annotations.
    summary = annotation if isinstance(config, TransformerInputConfig) else n_e
    return Decoder(
        nn.Embedding(target_vocab, m),
        None if unit is LSTMUnit else nn.Linear(summary, n, bias=bias),
        score=score,
        unit=unit(m, n, context_size=annotation, bias=bias),
        readout=Readout(n, m, annotation, size=config.maxout_size, bias=bias),
        wiring=WIRINGS[config.wiring],
        dropout=config.dropout,
        annotation_dropout=config.annotation_dropout,
    )


RECURRENT = frozenset(
    f"U{gate}{direction}"
    for gate in ("", "_z", "_r", *(f"_{gate}" for gate in LSTM_GATES))
    for direction in ("", "_fwd", "_bwd")
)


def initialise_paper(model: TranslationModel) -> None:
    """Initialise as appendix B.1 says.

    Each recurrent matrix by itself random orthogonal; W_a and U_a from N(0, 0.001²), of other
    scores than the paper's from N(0, 0.01²); v_a and all biases 0; everything else from
    N(0, 0.01²).
    """
    _zero(model)
    symbols = model.paper_symbols()
    for name, weight in symbols.items():
        if name in RECURRENT:
            nn.init.orthogonal_(weight)
        elif name in ("W_a", "U_a") and "v_a" in symbols:
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
        elif name in ("E", "E_bar") or (name == "W_o" and model.tied != "none"):
            nn.init.normal_(weight, std=weight.shape[1] ** -0.5)
        elif weight.dim() == 1 and not name.startswith("b_"):
            nn.init.xavier_uniform_(weight[None])
        elif not name.startswith("b_"):
            nn.init.xavier_uniform_(weight)


def _initialise_input(source: TransformerInput) -> None:
    """Draw embeddings from N(0, 1/d), and learned codes so that c X and P are of one size."""
    std = source.embedding.embedding_dim**-0.5
    nn.init.normal_(source.embedding.weight, std=std)
    if source.P is not None:
        nn.init.normal_(source.P, std=source.c * std)


def _zero(model: TranslationModel) -> None:
    """Set to 0 what has a symbol, and the hidden-side biases of `nn.GRU`, which have none."""
    with torch.no_grad():
        for symbol in model.paper_symbols().values():
            symbol.zero_()
        for module in model.modules():
            if isinstance(module, nn.GRU):
                for parameter in module.parameters():
                    parameter.zero_()


INITIALISERS = {"paper": initialise_paper, "xavier": initialise_xavier}
