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


class BidirectionalGRU(Section):
    """One bidirectional GRU layer; annotation h_j = [→; ←]."""

    type: Literal["bidirectional_gru"] = "bidirectional_gru"


class MLPScore(Section):
    """e_ij = vᵀtanh(W s' + U h_j + b) (Bahdanau et al. 2015)."""

    type: Literal["mlp"] = "mlp"


class Context(Section):
    """A context vector: a weighting over one of the decoder's scores."""

    score: int = Field(0, ge=0, description="Which of the decoder's `scores` is weighted, counted from 0.")


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


SYNTAX_OF = {"syntax": "distances"}
"""The kind of syntax artifact that a part reads; parts that are not listed read none."""


class ConditionalGRU(Section):
    """Two GRUs around the attention (Nematus)."""

    type: Literal["conditional_gru"] = "conditional_gru"
    gru_context: Literal["global", "both"] = Field(
        "global", description="With several contexts: what the second GRU is fed, the first (the global) or all."
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
    """One row of the tables: encoder × scores × contexts × decoder."""

    encoder: Annotated[BidirectionalGRU, BeforeValidator(_type_alone)] = BidirectionalGRU()
    scores: list[Annotated[MLPScore, BeforeValidator(_type_alone)]] = Field([MLPScore()], min_length=1)
    contexts: list[Annotated[AnyContext, BeforeValidator(_type_alone)]] = Field([GlobalContext()], min_length=1)
    decoder: Annotated[ConditionalGRU, BeforeValidator(_type_alone)] = ConditionalGRU()
    model: Model = Model()
    parser: str | None = Field(None, description="The parser whose trees the system reads; null: it reads none.")

    @model_validator(mode="after")
    def _check_scores(self) -> Self:
        for context in self.contexts:
            if context.score >= len(self.scores):
                raise ValueError(
                    f"a context weights score {context.score}, but there are {len(self.scores)}, counted from 0"
                )
        return self

    @property
    def modules(self) -> list[str]:
        """The modules that hold the system's parts, sorted."""
        kinds: dict[str, Sequence[Any]] = {
            "encoder": [self.encoder],
            "score": self.scores,
            "weighting": self.contexts,
            "decoder": [self.decoder],
        }
        return sorted({module_of(kind, part.type) for kind, parts in kinds.items() for part in parts})

    @property
    def syntax(self) -> list[str]:
        """Kinds of syntax artifacts that the system's parts read, sorted."""
        parts = [self.encoder, *self.scores, *self.contexts, self.decoder]
        return sorted({SYNTAX_OF[part.type] for part in parts if part.type in SYNTAX_OF})
