"""A system of any kind: a network, which is the default, an ensemble of such, phrase-based, or from elsewhere."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, Discriminator, Field, Tag, model_validator

from pipeline_py.config.base import Section
from pipeline_py.config.systems.decoding import Decoding
from pipeline_py.config.systems.neural import NeuralSystem
from pipeline_py.config.systems.phrase_based import PhraseBased
from pipeline_py.config.systems.translations import Translations


class Ensemble(Section):
    """An ensemble of networks, whose probabilities are averaged; with one member, another search with its network."""

    parser: ClassVar[None] = None
    """An ensemble has no parser but its members'."""

    type: Literal["ensemble"]
    members: list[str] = Field(min_length=1, description="Systems; attention is the first one's.")
    decoding: Decoding = Field(Decoding(), description="Overrides the experiment's `decoding`.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len({*self.members}) < len(self.members):
            raise ValueError("name every member once")
        return self


TYPES: dict[str, type[BaseModel]] = {
    "neural": NeuralSystem,
    "ensemble": Ensemble,
    "phrase_based": PhraseBased,
    "translations": Translations,
}


def type_of_system(given: Any) -> str:
    """Read the `type` of a system as it is configured, or of one that is validated."""
    return str(given.get("type", "neural") if isinstance(given, Mapping) else given.type)


AnySystem = Annotated[
    Annotated[NeuralSystem, Tag("neural")]
    | Annotated[Ensemble, Tag("ensemble")]
    | Annotated[PhraseBased, Tag("phrase_based")]
    | Annotated[Translations, Tag("translations")],
    Discriminator(type_of_system),
]
