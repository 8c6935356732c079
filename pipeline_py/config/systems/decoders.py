"""Options of decoders: scores, contexts, the recurrence, and the loss."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pipeline_py.config.base import NUMBER_VALIDATOR, Count, ListIndex, SquarablePositiveFloat32
from pipeline_py.config.systems.network_parts import (
    AnyCrossAttentionConfig,
    PartConfig,
    TransformerLayersConfig,
    expand_type_shorthand,
)
from pipeline_py.kinds import distances
from pipeline_py.kinds.syntax_kind import SyntaxKind


class ScoreConfig(PartConfig):
    """A score of how well an annotation matches the decoder's state."""

    needs_hidden_size: ClassVar[bool] = False
    """True if annotations must have the hidden size."""

    encoder: ListIndex = Field(
        0, description="Encoder whose annotations are scored with its decoder state as the query, counted from 0."
    )


class MLPScoreConfig(ScoreConfig):
    """e_ij = vᵀtanh(W s' + U h_j + b) (Bahdanau et al. 2015)."""

    type: Literal["mlp"] = "mlp"
    width: Annotated[float, NUMBER_VALIDATOR] = Field(
        2.0, gt=0, le=64, description="Size of the hidden layer, in hidden sizes of the decoder."
    )


class DotScoreConfig(ScoreConfig):
    """e_ij = h_j · s (Luong et al. 2015; tree2seq eq. 5); annotations are of the decoder's hidden size."""

    type: Literal["dot"] = "dot"
    needs_hidden_size: ClassVar[bool] = True


AnyScoreConfig = Annotated[MLPScoreConfig | DotScoreConfig, Field(discriminator="type")]


class ContextConfig(PartConfig):
    """A context vector for each encoder, from a weighting of the decoder's scores."""

    is_global: ClassVar[bool] = False
    """True if all annotations, including those of phrases, are weighted by their scores alone."""

    score: ListIndex = Field(0, description="Index of the weighted score in `scores`, counted from 0.")
    mixture: list[Annotated[float, NUMBER_VALIDATOR, Field(ge=-1e6, le=1e6)]] | None = Field(
        None, description="Weight the sum of all scores with these factors instead (SDRNMT eq. 11: [λ, 1 − λ])."
    )


class GlobalContextConfig(ContextConfig):
    """Softmax over all source positions (SDAtt eq. 2–3)."""

    type: Literal["global"] = "global"
    is_global: ClassVar[bool] = True


class LocalContextConfig(ContextConfig):
    """Gaussian window around a predicted position (SDAtt eq. 5–7)."""

    type: Literal["local"] = "local"
    window: Count = Field(10, description="D; the window is [p − D, p + D] and σ = D/2.")
    normalized: Literal["sentence", "window"] = Field(
        "sentence", description="Range of the softmax: the sentence (eq. 6) or only the window."
    )

    @property
    def paper_deviations(self) -> list[str]:
        """The range of the softmax, if it is not the sentence."""
        return ["the softmax of eq. 6 runs over the window alone"] if self.normalized == "window" else []


class FlexibleContextConfig(ContextConfig):
    """Penalty that grows with the distance from the previous centre of attention (Shu and Nakayama 2017)."""

    type: Literal["flexible"] = "flexible"
    sigma: SquarablePositiveFloat32 = 1.5
    """Standard deviation of the Gaussian window, in words."""
    threshold: SquarablePositiveFloat32 | None = Field(
        None, description="In decoding, positions whose penalty exceeds this are skipped; null: none."
    )


class SyntaxContextConfig(ContextConfig):
    """Gaussian over the syntax distance from the attended or a predicted position (SDAtt eq. 9–12)."""

    type: Literal["syntax"] = "syntax"
    required_syntax: ClassVar[tuple[SyntaxKind, ...]] = (distances.SYNTAX_KIND,)
    window: Count = Field(4, description="n; words at syntax distance > n get no weight, and σ = n/2.")
    position: Literal["attention", "interpolate", "round"] = Field(
        "attention",
        description="Distances: attention: their expectation under the attention; interpolate, round: those of a "
        "predicted position p (eq. 5), a real number.",
    )
    gaussian: Literal["log", "score", "weight"] = Field(
        "log",
        description="Use of the Gaussian: its logarithm is added to the score, or it scales the score (eq. 10 as "
        "printed), or the weight after the softmax.",
    )

    @property
    def paper_deviations(self) -> list[str]:
        """Deviations of position and Gaussian from eq. 5 and 10."""
        position = "distances are averaged under the attention weights, and the predicted position of eq. 5 is not used"
        gaussian = {
            "log": "the logarithm of the Gaussian is added to the score, where eq. 10 multiplies them",
            "weight": "the Gaussian scales the weight, where eq. 10 scales the score",
        }
        return [
            *([position] if self.position == "attention" else []),
            *([gaussian[self.gaussian]] if self.gaussian in gaussian else []),
        ]


AnyContextConfig = Annotated[
    GlobalContextConfig | LocalContextConfig | FlexibleContextConfig | SyntaxContextConfig,
    Field(discriminator="type"),
]


class DecoderConfig(PartConfig):
    """Base class of decoders, which attend to annotations and predict words."""

    has_score_parts: ClassVar[bool] = True
    """True if the decoder attends by `scores` and `contexts`."""

    has_hidden_size_readout: ClassVar[bool] = False
    """True if the softmax reads a vector of the hidden size instead of the embedding size."""

    can_have_multiple_encoders: ClassVar[bool] = False
    """True if several encoders and scores are supported."""

    needs_cell_state: ClassVar[bool] = False
    """True if the initial state includes an LSTM cell from the encoder."""

    dropout_places: ClassVar[frozenset[str]] = frozenset({"embeddings", "states", "readout"})
    """Places of dropout in the decoder."""

    @property
    def has_phrase_weight(self) -> bool:
        """True if phrases are weighted separately from words."""
        return False

    @property
    def cross_attention_changes(self) -> Sequence[AnyCrossAttentionConfig]:
        """Changes of the scores of cross-attention."""
        return ()


class ConditionalGRUDecoderConfig(DecoderConfig):
    """Two GRUs around the attention (Nematus), with a separate pair and state for each encoder."""

    type: Literal["conditional_gru"] = "conditional_gru"
    can_have_multiple_encoders: ClassVar[bool] = True
    dropout_places: ClassVar[frozenset[str]] = frozenset({"embeddings", "states", "contexts", "readout"})
    gru_context: Literal["global", "both"] = Field(
        "global",
        description="With several contexts, input of the second GRU: the global one (the first if none is global), or "
        "all.",
    )


class LSTMDecoderConfig(DecoderConfig):
    """An LSTM with input feeding (Luong et al. 2015; tree2seq eq. 3–8)."""

    type: Literal["lstm"] = "lstm"
    needs_cell_state: ClassVar[bool] = True
    has_hidden_size_readout: ClassVar[bool] = True


class GRUDecoderConfig(DecoderConfig):
    """A GRU with input feeding (hierarchical section 2.2)."""

    type: Literal["gru"] = "gru"
    phrase_weight: Literal["learned"] | Annotated[float, NUMBER_VALIDATOR, Field(ge=0, le=1)] | None = Field(
        None,
        description="β, the weight of phrases in the context, words having 1 − β: a number, or learned, a gating "
        "scalar for each step (hierarchical eq. 4); null: all have 1 (eq. 2).",
    )

    @property
    def has_phrase_weight(self) -> bool:
        """True if phrases are weighted separately from words."""
        return self.phrase_weight is not None


class TransformerDecoderConfig(DecoderConfig, TransformerLayersConfig):
    """Layers of self-attention, attention to the annotations, and feed-forward networks (Vaswani et al. 2017)."""

    type: Literal["transformer"] = "transformer"
    has_score_parts: ClassVar[bool] = False
    dropout_places: ClassVar[frozenset[str]] = frozenset({"embeddings", "states", "contexts"})
    attention: list[Annotated[AnyCrossAttentionConfig, BeforeValidator(expand_type_shorthand)]] = Field(
        [], description="Changes of the scores of cross-attention, applied in order."
    )

    @property
    def cross_attention_changes(self) -> Sequence[AnyCrossAttentionConfig]:
        """Changes of the scores of cross-attention."""
        return self.attention

    @model_validator(mode="after")
    def _check_attention(self) -> Self:
        for part in self.attention:
            part.check_layers_and_heads(self)
        return self


AnyDecoderConfig = Annotated[
    ConditionalGRUDecoderConfig | LSTMDecoderConfig | GRUDecoderConfig | TransformerDecoderConfig,
    Field(discriminator="type"),
]


class LossConfig(PartConfig):
    """Base class of training losses."""

    @property
    def sampled_word_count(self) -> int | None:
        """Number of sampled words in the loss; None: the complete vocabulary."""
        return None


class SoftmaxLossConfig(LossConfig):
    """−log p(y) under the softmax over the whole target vocabulary."""

    type: Literal["softmax"] = "softmax"
    label_smoothing: Annotated[float, NUMBER_VALIDATOR] = Field(
        0.0,
        ge=0,
        lt=1,
        description="ε: in training the target distribution is 1 − ε for the word, and ε spread evenly over the "
        "vocabulary (Szegedy et al. 2016).",
    )


class BlackOutLossConfig(LossConfig):
    """A softmax over the word and sampled words, in training only (Ji et al. 2016; tree2seq eq. 22–25)."""

    type: Literal["blackout"] = "blackout"
    samples: Count = Field(500, description="K, the number of words sampled for each sentence.")
    power: Annotated[float, NUMBER_VALIDATOR] = Field(
        0.4, ge=0, le=1, description="Words are sampled from unigram frequencies to this power."
    )

    @property
    def sampled_word_count(self) -> int:
        """Number of sampled words in the loss."""
        return self.samples


AnyLossConfig = Annotated[SoftmaxLossConfig | BlackOutLossConfig, Field(discriminator="type")]
