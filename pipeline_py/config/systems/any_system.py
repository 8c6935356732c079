"""A system of any kind: a network, which is the default, an ensemble of networks, or phrase-based."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Discriminator, Tag

from pipeline_py.config.systems.ensemble import Ensemble
from pipeline_py.config.systems.neural import NeuralSystem
from pipeline_py.config.systems.phrase_based import PhraseBased

TYPES: dict[str, type[BaseModel]] = {"neural": NeuralSystem, "ensemble": Ensemble, "phrase_based": PhraseBased}


def type_of_system(given: Any) -> str:
    """Read the `type` of a system as it is configured, or of one that is validated."""
    return str(given.get("type", "neural") if isinstance(given, Mapping) else given.type)


AnySystem = Annotated[
    Annotated[NeuralSystem, Tag("neural")]
    | Annotated[Ensemble, Tag("ensemble")]
    | Annotated[PhraseBased, Tag("phrase_based")],
    Discriminator(type_of_system),
]
