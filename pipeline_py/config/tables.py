"""`tables`: which systems stand in which table, and what their marks compare with."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pipeline_py.config.base import Section
from pipeline_py.config.corpora import NAME


class PublishedNumbers(Section):
    """A table of a paper whose data the experiment's data is: its numbers stand beside ours."""

    paper: str = Field(pattern=NAME, description="A file of `workflow/published/`, without its ending.")
    table: Annotated[str, BeforeValidator(str)] = Field(description="Number of the table in the paper.")
    task: str = Field(description="As in the file, e.g. en-de.")
    names: dict[str, str] = Field({}, description="What the paper calls our systems, where not as their labels.")


class Table(Section):
    """One table of BLEU scores on dev and all test sets."""

    title: str
    systems: list[str] = Field(min_length=2, description="Rows, in order.")
    baseline: str = Field(description="The row that * and ** compare with.")
    proposed: list[str] = Field([], description="Rows that † compares with the best of the other rows.")
    marks: Literal["sdatt", "sdrnmt", "none"] = Field(
        "sdatt", description="sdrnmt: only * and **, and only behind proposed rows; none: no marks."
    )
    labels: dict[str, str] = Field({}, description="What rows are called, where not by their system's name.")
    published: PublishedNumbers | None = Field(
        None, description="Only where training, dev and test sets are the paper's; null: nothing beside our numbers."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        for rows in (self.systems, self.proposed):
            if repeated := sorted({row for row in rows if rows.count(row) > 1}):
                raise ValueError(f"a row stands in a table once; repeated: {', '.join(repeated)}")
        if not all(label and label.isprintable() for label in self.labels.values()):
            raise ValueError("a label is printable text on one line")
        names = [self.labels.get(system, system) for system in self.systems]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two rows are called `{repeated[0]}`; give them different labels")
        if self.baseline in self.proposed:
            raise ValueError(f"`{self.baseline}` is the baseline; it cannot be proposed as well")
        return self
