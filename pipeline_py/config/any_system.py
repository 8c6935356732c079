"""A system of either kind: a network, which is the default, or phrase-based."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Discriminator, Tag

from pipeline_py.config.phrase_based import PhraseBased
from pipeline_py.config.systems import System


def type_of_system(given: Any) -> str | None:
    """Read the `type` of a system as it is configured."""
    if isinstance(given, Mapping):
        return str(given.get("type", "neural"))
    return getattr(given, "type", None)


AnySystem = Annotated[
    Annotated[System, Tag("neural")] | Annotated[PhraseBased, Tag("phrase_based")],
    Discriminator(type_of_system),
]
