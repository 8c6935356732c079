"""Options of decoders: scores, contexts, the recurrence, and the loss."""

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pipeline_py.config.base import NUMBER, Count, Place, Ratio
from pipeline_py.config.systems.parts import AnyCrossAttention, Layers, PartOptions, type_alone
from pipeline_py.kinds import distances
from pipeline_py.kinds.kind import Kind


class Score(PartOptions):
    """Says how well an annotation fits the decoder's state."""

    needs_hidden_size: ClassVar[bool] = False
    """Whether annotations must be of the hidden size."""

    encoder: Place = Field(0, description="Whose annotations are scored, with the query of its own state.")


class MLPScore(Score):
    """e_ij = vᵀtanh(W s' + U h_j + b) (Bahdanau et al. 2015)."""

    type: Literal["mlp"] = "mlp"
    width: Annotated[float, NUMBER] = Field(
        2.0, gt=0, le=64, description="Size of the hidden layer, in hidden sizes of the decoder."
    )


class DotScore(Score):
    """e_ij = h_j · s (Luong et al. 2015; tree2seq eq. 5); annotations are of the decoder's hidden size."""

    type: Literal["dot"] = "dot"
    needs_hidden_size: ClassVar[bool] = True


AnyScore = Annotated[MLPScore | DotScore, Field(discriminator="type")]


class Context(PartOptions):
    """A context vector of each encoder: a weighting over the decoder's scores."""

    is_global: ClassVar[bool] = False
    """Whether all annotations, those of phrases among them, are weighted by their scores alone."""

    score: Place = Field(0, description="Which of the decoder's `scores` is weighted, counted from 0.")
    mixture: list[Annotated[float, NUMBER, Field(ge=-1e6, le=1e6)]] | None = Field(
        None, description="Weight the sum of all scores with these factors instead (SDRNMT eq. 11: [λ, 1 − λ])."
    )


class GlobalContext(Context):
    """Softmax over all source positions (SDAtt eq. 2–3)."""

    type: Literal["global"] = "global"
    is_global: ClassVar[bool] = True


class LocalContext(Context):
    """Gaussian window around a predicted position (SDAtt eq. 5–7)."""

    type: Literal["local"] = "local"
    window: Count = Field(10, description="D; the window is [p − D, p + D] and σ = D/2.")
    normalized: Literal["sentence", "window"] = Field(
        "sentence", description="Where the softmax runs: over the whole sentence (eq. 6) or over the window alone."
    )

    @property
    def departures(self) -> list[str]:
        """The softmax, if it does not run over the sentence."""
        return ["the softmax of eq. 6 runs over the window alone"] if self.normalized == "window" else []


class FlexibleContext(Context):
    """Penalty that grows with the distance from the previous centre of attention (Shu and Nakayama 2017)."""

    type: Literal["flexible"] = "flexible"
    sigma: Ratio = 1.5
    threshold: Ratio | None = Field(
        None, description="When decoding, positions whose penalty exceeds it are skipped; null skips none."
    )


class SyntaxContext(Context):
    """Gaussian over the syntax distance from where the attention is, or from a predicted position (SDAtt eq. 9–12)."""

    type: Literal["syntax"] = "syntax"
    reads: ClassVar[tuple[Kind, ...]] = (distances.KIND,)
    window: Count = Field(4, description="n; words at syntax distance > n get no weight, and σ = n/2.")
    position: Literal["attention", "interpolate", "round"] = Field(
        "attention",
        description="Which distances are used: those that the attention expects, or the row of a predicted position p "
        "(eq. 5), which is a real number.",
    )
    gaussian: Literal["log", "score", "weight"] = Field(
        "log",
        description="Where the Gaussian applies: its logarithm is added to the score, or it scales the score (eq. 10 "
        "as printed), or the weight after the softmax.",
    )

    @property
    def departures(self) -> list[str]:
        """Position and Gaussian, if they are not those of eq. 5 and 10."""
        position = "distances are those that the attention expects, without the predicted position of eq. 5"
        gaussian = {
            "log": "the logarithm of the Gaussian is added to the score, where eq. 10 multiplies them",
            "weight": "the Gaussian scales the weight, where eq. 10 scales the score",
        }
        return [
            *([position] if self.position == "attention" else []),
            *([gaussian[self.gaussian]] if self.gaussian in gaussian else []),
        ]


AnyContext = Annotated[
    GlobalContext | LocalContext | FlexibleContext | SyntaxContext,
    Field(discriminator="type"),
]


class Decoder(PartOptions):
    """Predicts words, and attends."""

    takes_scores: ClassVar[bool] = True
    """Whether it attends by `scores` and `contexts`."""

    reads_out_hidden: ClassVar[bool] = False
    """Whether the softmax reads a vector of the hidden size, and not of the embedding's."""

    takes_several: ClassVar[bool] = False
    """Whether there may be several encoders and scores."""

    needs_cells: ClassVar[bool] = False
    """Whether the first state is that of an encoder with cells."""

    drops: ClassVar[frozenset[str]] = frozenset({"embeddings", "states", "readout"})
    """Places where it has dropout."""

    @property
    def weighs_phrases(self) -> bool:
        """Whether phrases have a weight of their own."""
        return False

    @property
    def cross_attention(self) -> Sequence[AnyCrossAttention]:
        """What changes the scores of the attention to the annotations."""
        return ()


class ConditionalGRU(Decoder):
    """Two GRUs around the attention (Nematus); a pair of them, with a state of its own, for each encoder."""

    type: Literal["conditional_gru"] = "conditional_gru"
    takes_several: ClassVar[bool] = True
    drops: ClassVar[frozenset[str]] = frozenset({"embeddings", "states", "contexts", "readout"})
    gru_context: Literal["global", "both"] = Field(
        "global",
        description="With several contexts: what the second GRU is fed, the global one (the first where none is "
        "global) or all.",
    )


class LSTMDecoder(Decoder):
    """An LSTM with input feeding (Luong et al. 2015; tree2seq eq. 3–8)."""

    type: Literal["lstm"] = "lstm"
    needs_cells: ClassVar[bool] = True
    reads_out_hidden: ClassVar[bool] = True


class GRUDecoder(Decoder):
    """A GRU with input feeding (hierarchical section 2.2)."""

    type: Literal["gru"] = "gru"
    phrase_weight: Literal["learned"] | Annotated[float, NUMBER, Field(ge=0, le=1)] | None = Field(
        None,
        description="β, the weight of phrases in the context, words having 1 − β: a number, or learned, a gating "
        "scalar for each step (hierarchical eq. 4); null: all have 1 (eq. 2).",
    )

    @property
    def weighs_phrases(self) -> bool:
        """Whether phrases have a weight of their own."""
        return self.phrase_weight is not None


class TransformerDecoder(Decoder, Layers):
    """Layers of self-attention, attention to the annotations, and feed-forward networks (Vaswani et al. 2017)."""

    type: Literal["transformer"] = "transformer"
    takes_scores: ClassVar[bool] = False
    drops: ClassVar[frozenset[str]] = frozenset({"embeddings", "states", "contexts"})
    attention: list[Annotated[AnyCrossAttention, BeforeValidator(type_alone)]] = Field(
        [], description="What changes the scores of the attention to the annotations, one after the other."
    )

    @property
    def cross_attention(self) -> Sequence[AnyCrossAttention]:
        """What changes the scores of the attention to the annotations."""
        return self.attention

    @model_validator(mode="after")
    def _check_attention(self) -> Self:
        for part in self.attention:
            part.check_there(self)
        return self


AnyDecoder = Annotated[ConditionalGRU | LSTMDecoder | GRUDecoder | TransformerDecoder, Field(discriminator="type")]


class Loss(PartOptions):
    """What is made as small as may be in training."""

    @property
    def drawn_words(self) -> int | None:
        """How many words stand for the vocabulary in training; None: all do."""
        return None


class Softmax(Loss):
    """−log p(y) under the softmax over the whole target vocabulary."""

    type: Literal["softmax"] = "softmax"
    label_smoothing: Annotated[float, NUMBER] = Field(
        0.0,
        ge=0,
        lt=1,
        description="ε: in training the word has the probability 1 − ε to be learned, and ε is spread evenly over the "
        "vocabulary (Szegedy et al. 2016).",
    )


class BlackOut(Loss):
    """A softmax over the word and some drawn ones, in training alone (Ji et al. 2016; tree2seq eq. 22–25)."""

    type: Literal["blackout"] = "blackout"
    samples: Count = Field(500, description="K, words drawn for each sentence.")
    power: Annotated[float, NUMBER] = Field(
        0.4, ge=0, le=1, description="Words are drawn from unigram frequencies to this power."
    )

    @property
    def drawn_words(self) -> int:
        """How many words stand for the vocabulary in training."""
        return self.samples


AnyLoss = Annotated[Softmax | BlackOut, Field(discriminator="type")]
