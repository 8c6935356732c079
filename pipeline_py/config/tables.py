"""`tables`: which systems stand in which table, and what their marks compare with."""

from typing import Self

from pydantic import Field, model_validator

from pipeline_py.config.base import Section


class Table(Section):
    """One table of BLEU scores on dev and all test sets."""

    title: str
    systems: list[str] = Field(min_length=2, description="Rows, in order.")
    baseline: str = Field(description="The row that * and ** compare with.")
    proposed: list[str] = Field([], description="Rows that † compares with the best of the other rows.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        for rows in (self.systems, self.proposed):
            if repeated := sorted({row for row in rows if rows.count(row) > 1}):
                raise ValueError(f"a row stands in a table once; repeated: {', '.join(repeated)}")
        if self.baseline in self.proposed:
            raise ValueError(f"`{self.baseline}` is the baseline; it cannot be proposed as well")
        return self
