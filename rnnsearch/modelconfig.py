"""The schema of the `model` group: a class for each network; see `config` for the rest."""

from dataclasses import dataclass


@dataclass
class ModelConfig:
    """What all models share. Sizes in units; the paper's letters in brackets."""

    kind: str
    hidden_size: int  # decoder state (n)
    encoder_size: int | None  # encoder state in one direction; null: hidden_size
    embedding_size: int  # a piece's vector, both sides (m)
    maxout_size: int  # units left after the maxout of the readout (l)
    dropout: float  # probability, on embeddings and readout
    annotation_dropout: float  # probability, on what the decoder may look at
    tied: str  # none, output, all: which tables of words are one
    bias: bool
    init: str  # paper, xavier
    wiring: str  # appendix, equation4, original


@dataclass
class AttentionConfig(ModelConfig):
    """What the models with attention share."""

    attention: str  # additive, dot, scaled_dot, general, or a score of your own
    alignment_size: int | None  # hidden units of the alignment model (n'); null: hidden_size


@dataclass
class RnnsearchConfig(AttentionConfig):
    """The bidirectional encoder and the decoder with attention."""

    reset_after: bool  # true: the encoder is torch.nn.GRU


@dataclass
class RnnencdecConfig(ModelConfig):
    """The encoder-decoder with one fixed vector for a sentence, which RNNsearch beat."""

    unit: str  # gated, lstm


@dataclass
class TransformerInputConfig(AttentionConfig):
    """An encoder without recurrence, under the decoder with attention."""

    positions: str  # sinusoidal, learned, none
    max_positions: int | None  # learned: the longest source in pieces, the end mark counted
    scale_embeddings: bool  # true: embeddings times the root of their size
    layers: int  # of self-attention; 0: none
    heads: int  # of a layer
    feedforward_size: int  # hidden units of a layer
