"""An ensemble among `systems`: networks that are trained by themselves and translate together."""

from typing import Literal, Self

from pydantic import Field, model_validator

from pipeline_py.config.base import Section
from pipeline_py.config.systems.decoding import Decoding


class Ensemble(Section):
    """Networks whose probabilities are averaged; with one member, its translations under a search of their own."""

    type: Literal["ensemble"]
    members: list[str] = Field(min_length=1, description="Systems; attention is the first one's.")
    decoding: Decoding = Field(Decoding(), description="In what it departs from the experiment's `decoding`.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len({*self.members}) < len(self.members):
            raise ValueError("every member once")
        return self

    @property
    def parser(self) -> None:
        """An ensemble has no parser but its members'."""
        return None
