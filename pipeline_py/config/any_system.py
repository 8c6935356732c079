"""A system of either kind: a network, which is the default, or phrase-based."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Discriminator, Tag

from pipeline_py.config.phrase_based import PhraseBased
from pipeline_py.config.systems import System

KINDS: dict[str, type[BaseModel]] = {"neural": System, "phrase_based": PhraseBased}


def type_of_system(given: Any) -> str:
    """Read the `type` of a system as it is configured, or of one that is validated."""
    return str(given.get("type", "neural") if isinstance(given, Mapping) else given.type)


AnySystem = Annotated[
    Annotated[System, Tag("neural")] | Annotated[PhraseBased, Tag("phrase_based")],
    Discriminator(type_of_system),
]
