"""Claims that one system translates better than another, with the numbers of a paper (`workflow/claims`)."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from pipeline_py.config.base import NUMBER_VALIDATOR, ConfigSection, Count
from pipeline_py.config.config_files import read_config_file
from pipeline_py.config.evaluation import MetricName
from pipeline_py.config.tables import SingleLine
from pipeline_py.run.errors import InputError


class PublishedResultConfig(ConfigSection):
    """A published difference between two systems on one task by one metric."""

    task: SingleLine = Field(description="Languages, such as en-de.")
    sets: SingleLine = Field(description="Evaluation sets of the comparison.")
    metric: MetricName = "bleu"
    difference: Annotated[float, NUMBER_VALIDATOR] = Field(description="In points of the metric.")
    significance: SingleLine | None = Field(None, description="Significance as the paper states it; null: not stated.")
    where: SingleLine = Field(description="Table, row or section.")


ClaimRelation = Literal["better", "not worse", "comparable"]


class SentenceLengthConfig(ConfigSection):
    """Limits of the number of source words of the sentences that a claim is about."""

    longer_than: Count | None = Field(None, description="Sentences with more words; null: no lower limit.")
    up_to: Count | None = Field(None, description="Sentences with at most as many words; null: no upper limit.")

    @model_validator(mode="after")
    def _check_bounds(self) -> Self:
        if self.longer_than is None and self.up_to is None:
            raise ValueError("give `longer_than` or `up_to`, or leave `sentences` out")
        if self.longer_than is not None and self.up_to is not None and self.longer_than >= self.up_to:
            raise ValueError("`longer_than` must be smaller than `up_to`")
        return self

    def __str__(self) -> str:
        bounds = {"more than {} words": self.longer_than, "at most {} words": self.up_to}
        return "sentences of " + " and ".join(text.format(bound) for text, bound in bounds.items() if bound is not None)


class ClaimConfig(ConfigSection):
    """A comparison of two systems: `system` is better than `above`, not worse than it, or comparable to it."""

    system: SingleLine = Field(description="The system that the claim is about, one of `systems`.")
    above: SingleLine = Field(description="The system that it is compared with, one of `systems`.")
    relation: ClaimRelation = Field(
        "better",
        description="better: the 95 % interval is above 0; not worse: a one-sided test at 5 % finds that less than "
        "`margin` is lost; comparable: two one-sided tests find that the difference is smaller than `margin`.",
    )
    margin: Annotated[float, NUMBER_VALIDATOR] | None = Field(
        None, gt=0, description="Margin in points of the metric, for the relations `not worse` and `comparable`."
    )
    sentences: SentenceLengthConfig | None = Field(None, description="Sentences that it is about; null: all.")
    says: SingleLine = Field(description="Conclusion that the paper draws from it.")
    metrics: list[MetricName] = Field(
        ["bleu"],
        min_length=1,
        description="Metrics that the claim is tested by; BLEU in an experiment that has none of them.",
    )
    printed: list[PublishedResultConfig] = Field([], description="Published differences.")
    note: SingleLine | None = Field(None, description="Contradictions in the paper.")

    @model_validator(mode="after")
    def _check_claim(self) -> Self:
        if (self.relation == "better") != (self.margin is None):
            raise ValueError("give `margin` for the relations `not worse` and `comparable`, and only for these")
        if self.system == self.above:
            raise ValueError(f"`{self.system}` is compared with itself; name another system in `above`")
        for result in self.printed:
            if result.metric not in self.metrics:
                raise ValueError(f"printed: by {result.metric}, which `metrics` does not name; add it there")
        return self


class ClaimFileConfig(ConfigSection):
    """A file of claims."""

    paper: SingleLine = Field(description="Source of the claims.")
    claims: list[ClaimConfig] = Field(min_length=1)

    @model_validator(mode="after")
    def _check_repetitions(self) -> Self:
        keys = [(claim.system, claim.above, claim.relation, str(claim.sentences or "")) for claim in self.claims]
        if repeated := [key for key in keys if keys.count(key) > 1]:
            raise ValueError(f"claims: `{repeated[0][0]}` above `{repeated[0][1]}` occurs twice; join the two")
        return self


def read_claim_file(path: Path) -> ClaimFileConfig:
    """Read a file of claims.

    Raises:
        InputError: the file is invalid; the message names the file, the claim and the key.
    """
    try:
        return ClaimFileConfig.model_validate(read_config_file(path))
    except ValidationError as error:
        first_error = error.errors()[0]
        steps = [f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in first_error["loc"]]
        location = "".join(steps).removeprefix(".")
        message = first_error["msg"].removeprefix("Value error, ")
        raise InputError(f"{location}{location and ': '}{message[0].lower()}{message[1:]}; correct it", path) from None
