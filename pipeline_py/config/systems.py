"""`systems`: each a composition of parts.

A part's options stand here, its module in `pipeline_py/nmt/<kind>/`.
"""

import keyword
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, PositiveFloat, PositiveInt, model_validator

from pipeline_py.config.base import Section


def _type_alone(value: Any) -> Any:
    """Let `global` stand for `{type: global}`."""
    return {"type": value} if isinstance(value, str) else value


class Input(Section):
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


class UnitInput(Input):
    """The dependency unit of the word through a convolutional network (SDRNMT eq. 7, Figure 1)."""

    type: Literal["units"] = "units"
    order: Literal["stacked", "alternate"] = Field(
        "stacked", description="Both convolutions, then both poolings; or convolution, pooling, convolution, pooling."
    )


AnyInput = Annotated[WordInput | LabelInput | UnitInput, Field(discriminator="type")]


class BidirectionalGRU(Section):
    """One bidirectional GRU layer; annotation h_j = [→; ←]."""

    type: Literal["bidirectional_gru"] = "bidirectional_gru"
    inputs: list[Annotated[AnyInput, BeforeValidator(_type_alone)]] = Field([WordInput()], min_length=1)

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


class MLPScore(Section):
    """e_ij = vᵀtanh(W s' + U h_j + b) (Bahdanau et al. 2015)."""

    type: Literal["mlp"] = "mlp"
    encoder: int = Field(0, ge=0, description="Whose annotations are scored, with the query of its own state.")


class Context(Section):
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


SYNTAX_OF = {"syntax": "distances", "labels": "labels", "units": "units"}
"""The kind of syntax artifact that a part reads; parts that are not listed read none."""

KINDS_WITH_VOCABULARY = ("labels", "units")
"""Kinds of syntax artifacts whose values are identifiers."""


class ConditionalGRU(Section):
    """Two GRUs around the attention (Nematus); a pair of them, with a state of its own, for each encoder."""

    type: Literal["conditional_gru"] = "conditional_gru"
    gru_context: Literal["global", "both"] = Field(
        "global",
        description="With several contexts: what the second GRU is fed, the global one (the first where none is "
        "global) or all.",
    )


Initialization = Literal["nematus", "uniform", "lecun"]


class Model(Section):
    """Sizes of a network, and how it begins."""

    embedding: PositiveInt = 620
    hidden: PositiveInt = 1000
    dropout: float = Field(0.2, ge=0, lt=1)
    initialization: Initialization = Field(
        "nematus",
        description="Of all but recurrent matrices (orthogonal) and biases (0). nematus: N(0, 0.01²), as the papers' "
        "toolkit, which needs many updates, and large networks; uniform: U(−0.1, 0.1); lecun: matrices "
        "N(0, 1/fan-in), embeddings N(0, 1), vectors as uniform, for small networks and short trainings.",
    )


class System(Section):
    """One row of the tables: encoders × scores × contexts × decoder."""

    type: Literal["neural"] = "neural"
    encoders: list[Annotated[BidirectionalGRU, BeforeValidator(_type_alone)]] = Field(
        [BidirectionalGRU()], min_length=1, description="The decoder has a state for each."
    )
    scores: list[Annotated[MLPScore, BeforeValidator(_type_alone)]] = Field([MLPScore()], min_length=1)
    contexts: list[Annotated[AnyContext, BeforeValidator(_type_alone)]] = Field([GlobalContext()], min_length=1)
    decoder: Annotated[ConditionalGRU, BeforeValidator(_type_alone)] = ConditionalGRU()
    model: Model = Model()
    parser: str | None = Field(None, description="The parser whose trees the system reads; null: it reads none.")

    @model_validator(mode="after")
    def _check_composition(self) -> Self:
        for encoder in self.encoders:
            encoder.sizes(self.model.embedding)
        for score in self.scores:
            if score.encoder >= len(self.encoders):
                raise ValueError(
                    f"a score reads encoder {score.encoder}, but there are {len(self.encoders)}, counted from 0"
                )
        for context in self.contexts:
            if context.score >= len(self.scores):
                raise ValueError(
                    f"a context weights score {context.score}, but there are {len(self.scores)}, counted from 0"
                )
            if context.mixture is not None and len(context.mixture) != len(self.scores):
                raise ValueError(
                    f"a context mixes {len(context.mixture)} scores, but there are {len(self.scores)}; "
                    "give one factor for each"
                )
            if context.mixture is not None and context.score:
                raise ValueError("a context weights either one `score` or a `mixture` of all; give one of the two")
        mixed = any(context.mixture is not None for context in self.contexts)
        for number in range(len(self.scores)):
            if not mixed and all(context.score != number for context in self.contexts):
                raise ValueError(f"no context weights score {number}; name it with `score`, mix it, or leave it out")
        return self

    @property
    def _parts(self) -> dict[str, Sequence[Any]]:
        return {
            "input": [part for encoder in self.encoders for part in encoder.inputs],
            "encoder": self.encoders,
            "score": self.scores,
            "weighting": self.contexts,
            "decoder": [self.decoder],
        }

    @property
    def modules(self) -> list[str]:
        """The modules that hold the system's parts, sorted."""
        return sorted({module_of(kind, part.type) for kind, parts in self._parts.items() for part in parts})

    @property
    def syntax(self) -> list[str]:
        """Kinds of syntax artifacts that the system's parts read, sorted."""
        types = {part.type for parts in self._parts.values() for part in parts}
        return sorted(SYNTAX_OF[type] for type in types if type in SYNTAX_OF)
