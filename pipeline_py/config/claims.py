"""Comparative claims: which system translates better than which, and where a paper prints it (`workflow/claims`)."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from pipeline_py.config.base import Section
from pipeline_py.config.evaluation import MetricName
from pipeline_py.config.loading.files import read_file
from pipeline_py.config.numbers import NUMBER
from pipeline_py.config.tables import Line
from pipeline_py.input_error import InputError


class Printed(Section):
    """What is printed of a comparison on one task by one metric."""

    task: Line = Field(description="Languages, such as en-de.")
    sets: Line = Field(description="What it was measured on.")
    metric: MetricName = "bleu"
    difference: Annotated[float, NUMBER] = Field(description="In points of the metric.")
    significance: Line | None = Field(None, description="As the paper says; null: it says nothing.")
    where: Line = Field(description="Table, row or section.")


class Claim(Section):
    """One system translates better than another."""

    system: Line = Field(description="One of `systems`, which is said to be better.")
    above: Line = Field(description="Another one, which is said to be worse.")
    says: Line = Field(description="What is concluded from it.")
    metrics: list[MetricName] = Field(
        ["bleu"], min_length=1, description="What it is said of; an experiment that has none of them takes BLEU."
    )
    printed: list[Printed] = Field([], description="Where, and by how much.")
    note: Line | None = Field(None, description="What in the print contradicts itself.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.system == self.above:
            raise ValueError(f"`{self.system}` is compared with itself; name another system in `above`")
        if strange := [one.metric for one in self.printed if one.metric not in self.metrics]:
            raise ValueError(f"printed: by {strange[0]}, which `metrics` does not name; add it there")
        return self


class Claims(Section):
    """A file of claims."""

    paper: Line = Field(description="Whose claims they are.")
    claims: list[Claim] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        pairs = [(claim.system, claim.above) for claim in self.claims]
        if twice := [pair for pair in pairs if pairs.count(pair) > 1]:
            raise ValueError(f"claims: `{twice[0][0]}` above `{twice[0][1]}` occurs twice; join the two")
        return self


def read_claims(path: Path) -> Claims:
    """Read a file of claims.

    Raises:
        InputError: naming the file, the claim and what is wrong with it.
    """
    content = read_file(path)
    try:
        return Claims.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        steps = [f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in first["loc"]]
        place = "".join(steps).removeprefix(".")
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{place}{place and ': '}{message[0].lower()}{message[1:]}; correct it", path) from None
