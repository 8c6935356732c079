"""Options of the parts that a network is composed of.

A part's options stand here, its module in `pipeline_py/nmt/<kind>/`.
"""

import keyword
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field, PositiveFloat, PositiveInt, model_validator

from pipeline_py.config.base import Section


def type_alone(value: Any) -> Any:
    """Let `global` stand for `{type: global}`."""
    return {"type": value} if isinstance(value, str) else value


def or_of_type(usual: str) -> BeforeValidator:
    """Let the type alone stand for a part, and a part without a type be of the usual one."""

    def complete(value: Any) -> Any:
        value = type_alone(value)
        return {"type": usual, **value} if isinstance(value, dict) else value

    return BeforeValidator(complete)


class PartOptions(Section):
    """Options of a part, which says what it needs."""

    reads: ClassVar[str | None] = None
    """The kind of syntax artifact that the part reads."""


class Input(PartOptions):
    """A vector for each source position; those of all inputs side by side are what an encoder reads."""

    size: PositiveInt | None = Field(
        None, description="null, without a `share`: what the encoder's other inputs leave of the embedding."
    )
    share: float | None = Field(None, gt=0, lt=1, description="Instead of `size`: a part of the embedding, rounded.")

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if self.size is not None and self.share is not None:
            raise ValueError("an input has either a `size` or a `share` of the embedding; give one of the two")
        return self

    def size_of(self, embedding: int) -> int | None:
        """How many dimensions of the embedding the input asks for; None: what is left."""
        return self.size if self.share is None else max(1, round(self.share * embedding))


class WordInput(Input):
    """The embedding of the word or piece."""

    type: Literal["words"] = "words"


class LabelInput(Input):
    """The embedding of the word's dependency label (Sennrich and Haddow 2016)."""

    type: Literal["labels"] = "labels"
    reads: ClassVar[str | None] = "labels"


class UnitInput(Input):
    """The dependency unit of the word through a convolutional network (SDRNMT eq. 7, Figure 1)."""

    type: Literal["units"] = "units"
    reads: ClassVar[str | None] = "units"
    order: Literal["stacked", "alternate"] = Field(
        "stacked", description="Both convolutions, then both poolings; or convolution, pooling, convolution, pooling."
    )


AnyInput = Annotated[WordInput | LabelInput | UnitInput, Field(discriminator="type")]


class Encoder(PartOptions):
    """Annotates what its inputs say of the source positions."""

    has_phrases: ClassVar[bool] = False
    """Whether phrases are annotated beside words."""

    has_cells: ClassVar[bool] = False
    """Whether the encoder ends with an LSTM's state [h; c], each of the hidden size."""

    pretrained_on: ClassVar[tuple[str, ...]] = ()
    """Kinds of syntax artifacts that the encoder learns to predict before it is trained to translate."""

    inputs: list[Annotated[AnyInput, BeforeValidator(type_alone)]] = Field([WordInput()], min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(part.size is None and part.share is None for part in self.inputs) > 1:
            raise ValueError("at most one of an encoder's inputs may leave its `size` open; give the others theirs")
        return self

    def sizes(self, embedding: int) -> list[int]:
        """Share out the embedding among the inputs.

        Raises:
            ValueError: where they are too large or too small together.
        """
        asked = [part.size_of(embedding) for part in self.inputs]
        given = sum(size or 0 for size in asked)
        sizes = [embedding - given if size is None else size for size in asked]
        if min(sizes) < 1 or sum(sizes) != embedding:
            raise ValueError(f"the sizes of an encoder's inputs must add up to the embedding of {embedding}")
        return sizes


class BidirectionalGRU(Encoder):
    """One bidirectional GRU layer; annotation h_j = [→; ←], each direction of the hidden size."""

    type: Literal["bidirectional_gru"] = "bidirectional_gru"


class GRUEncoder(Encoder):
    """One GRU layer, reset gate before the product (hierarchical section 2.1); annotations of the hidden size."""

    type: Literal["gru"] = "gru"
    direction: Literal["forward", "bidirectional"] = Field(
        "bidirectional", description="bidirectional: [→; ←], each of half the hidden size."
    )


class LSTMEncoder(Encoder):
    """One LSTM layer (tree2seq eq. 1–2); annotations of the hidden size."""

    type: Literal["lstm"] = "lstm"
    has_cells: ClassVar[bool] = True
    direction: Literal["forward", "reversed", "bidirectional"] = Field(
        "forward", description="reversed: the words from last to first, then the end of sentence."
    )


class TreeLSTM(Encoder):
    """A binary Tree-LSTM over the words of a forward LSTM (tree2seq eq. 11–18)."""

    type: Literal["tree_lstm"] = "tree_lstm"
    reads: ClassVar[str | None] = "trees"
    has_phrases: ClassVar[bool] = True
    has_cells: ClassVar[bool] = True
    leaves: Literal["lstm", "embeddings"] = Field(
        "lstm", description="embeddings: no sequential LSTM; the decoder starts from the root alone (tree2seq Table 6)."
    )


class TreeGRU(Encoder):
    """A binary Tree-GRU over the words of a GRU (hierarchical sections 2.1 and 3)."""

    type: Literal["tree_gru"] = "tree_gru"
    has_phrases: ClassVar[bool] = True
    leaves: Literal["forward", "bidirectional"] = "forward"
    top_down: bool = Field(False, description="From the root down, a GRU for left and one for right children (eq. 3).")
    trees: Literal["parse", "lexical"] = Field(
        "parse", description="lexical: no parse, only the left-branching trees over the pieces of a word."
    )

    @property
    def reads(self) -> str:  # type: ignore[override]
        """The kind of trees."""
        return "trees" if self.trees == "parse" else "lexical_trees"


class LatentGraph(Encoder):
    """A bidirectional LSTM that predicts heads, and a graph convolution over them (Hashimoto and Tsuruoka 2017)."""

    type: Literal["latent_graph"] = "latent_graph"
    has_cells: ClassVar[bool] = True
    pretrained_on: ClassVar[tuple[str, ...]] = ("heads", "labels")
    pretraining_epochs: PositiveInt = Field(
        3, description="Passes over the parsed training text, on which heads and labels are learned first."
    )


AnyEncoder = Annotated[
    BidirectionalGRU | GRUEncoder | LSTMEncoder | TreeLSTM | TreeGRU | LatentGraph, Field(discriminator="type")
]


class Score(PartOptions):
    """Says how well an annotation fits the decoder's state."""

    encoder: int = Field(0, ge=0, description="Whose annotations are scored, with the query of its own state.")


class MLPScore(Score):
    """e_ij = vᵀtanh(W s' + U h_j + b) (Bahdanau et al. 2015)."""

    type: Literal["mlp"] = "mlp"
    width: PositiveFloat = Field(2.0, description="Size of the hidden layer, in hidden sizes of the decoder.")


class DotScore(Score):
    """e_ij = h_j · s (Luong et al. 2015; tree2seq eq. 5); annotations are of the decoder's hidden size."""

    type: Literal["dot"] = "dot"


AnyScore = Annotated[MLPScore | DotScore, Field(discriminator="type")]


class Context(PartOptions):
    """A context vector of each encoder: a weighting over the decoder's scores."""

    score: int = Field(0, ge=0, description="Which of the decoder's `scores` is weighted, counted from 0.")
    mixture: list[float] | None = Field(
        None, description="Weight the sum of all scores with these factors instead (SDRNMT eq. 11: [λ, 1 − λ])."
    )


class GlobalContext(Context):
    """Softmax over all source positions (SDAtt eq. 2–3)."""

    type: Literal["global"] = "global"


class LocalContext(Context):
    """Gaussian window around a predicted position (SDAtt eq. 5–7)."""

    type: Literal["local"] = "local"
    window: PositiveInt = Field(10, description="D; the window is [p − D, p + D] and σ = D/2.")


class FlexibleContext(Context):
    """Penalty that grows with the distance from the previous centre of attention (Shu and Nakayama 2017)."""

    type: Literal["flexible"] = "flexible"
    sigma: PositiveFloat = 1.5
    threshold: PositiveFloat | None = Field(
        None, description="When decoding, positions whose penalty exceeds it are skipped; null skips none."
    )


class SyntaxContext(Context):
    """Gaussian over the syntax distance from a predicted position (SDAtt eq. 9–12)."""

    type: Literal["syntax"] = "syntax"
    reads: ClassVar[str | None] = "distances"
    window: PositiveInt = Field(4, description="n; words at syntax distance > n get no weight, and σ = n/2.")
    position: Literal["interpolate", "round", "attention"] = Field(
        "interpolate", description="How the row of the distance matrix is chosen at a real-valued position p."
    )
    gaussian: Literal["score", "weight"] = Field(
        "score", description="What the Gaussian scales: the score (eq. 10) or the weight after the softmax."
    )


AnyContext = Annotated[
    GlobalContext | LocalContext | FlexibleContext | SyntaxContext,
    Field(discriminator="type"),
]


def module_of(kind: str, name: str) -> str:
    """The module below `pipeline_py` that holds a part, e.g. "nmt.weighting.global_" (Python keeps `global`)."""
    return f"nmt.{kind}.{name}_" if keyword.iskeyword(name) else f"nmt.{kind}.{name}"


KINDS_WITH_VOCABULARY = ("labels", "units")
"""Kinds of syntax artifacts whose values are identifiers."""

KINDS_WITHOUT_PARSER = ("lexical_trees",)
"""Kinds of syntax artifacts that are made of the pieces alone."""


class ConditionalGRU(PartOptions):
    """Two GRUs around the attention (Nematus); a pair of them, with a state of its own, for each encoder."""

    type: Literal["conditional_gru"] = "conditional_gru"
    gru_context: Literal["global", "both"] = Field(
        "global",
        description="With several contexts: what the second GRU is fed, the global one (the first where none is "
        "global) or all.",
    )


class LSTMDecoder(PartOptions):
    """An LSTM with input feeding (Luong et al. 2015; tree2seq eq. 3–8)."""

    type: Literal["lstm"] = "lstm"


class GRUDecoder(PartOptions):
    """A GRU with input feeding (hierarchical section 2.2)."""

    type: Literal["gru"] = "gru"
    phrase_weight: Literal["learned"] | Annotated[float, Field(ge=0, le=1)] | None = Field(
        None,
        description="β, the weight of phrases in the context, words having 1 − β: a number, or learned, a gating "
        "scalar for each step (hierarchical eq. 4); null: all have 1 (eq. 2).",
    )


AnyDecoder = Annotated[ConditionalGRU | LSTMDecoder | GRUDecoder, Field(discriminator="type")]


class Softmax(PartOptions):
    """−log p(y) under the softmax over the whole target vocabulary."""

    type: Literal["softmax"] = "softmax"


class BlackOut(PartOptions):
    """A softmax over the word and some drawn ones, in training alone (Ji et al. 2016; tree2seq eq. 22–25)."""

    type: Literal["blackout"] = "blackout"
    samples: PositiveInt = Field(500, description="K, words drawn for each sentence.")
    power: float = Field(0.4, ge=0, le=1, description="Words are drawn from unigram frequencies to this power.")


AnyLoss = Annotated[Softmax | BlackOut, Field(discriminator="type")]
