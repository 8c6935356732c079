"""`tables`: which systems stand in which table, and what their marks compare with."""

from pydantic import Field

from pipeline_py.config.base import Section


class Table(Section):
    """One table of BLEU scores on dev and all test sets."""

    title: str
    systems: list[str] = Field(min_length=2, description="Rows, in order.")
    baseline: str = Field(description="The row that * and ** compare with.")
    proposed: list[str] = Field([], description="Rows that † compares with the best of the other rows.")
