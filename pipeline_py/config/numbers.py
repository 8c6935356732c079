"""Numbers of the configuration, with the largest that a job can bear; all are finite, and none is true or false.

Limits are far beyond what anybody needs. They keep out slips of the keyboard, and what no library could count.
"""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("give a number")
    return value


NUMBER = BeforeValidator(_no_truth)
"""Refuses true and false, which Python takes for 1 and 0."""

Count = Annotated[int, NUMBER, Field(gt=0, le=1_000_000_000)]
"""Of sentences, words, updates."""

CountOrZero = Annotated[int, NUMBER, Field(ge=0, le=1_000_000_000)]
"""The same, or 0."""

Batch = Annotated[int, NUMBER, Field(gt=0, le=1_000_000)]
"""Of sentences or tokens at a time."""

Size = Annotated[int, NUMBER, Field(gt=0, le=65_536)]
"""Of a layer."""

Processors = Annotated[int, NUMBER, Field(gt=0, le=1024)]
"""That work at a time."""

Seed = Annotated[int, NUMBER, Field(ge=0, lt=2**32)]
"""As numpy takes them."""

Place = Annotated[int, NUMBER, Field(ge=0, le=1000)]
"""In a list, counted from 0."""

Ratio = Annotated[float, NUMBER, Field(gt=0, ge=1e-6, le=1e6)]
"""A positive number that single precision holds, and its square too."""

Single = Annotated[float, NUMBER, Field(gt=0, ge=1e-30, le=1e38)]
"""A positive number that single precision holds."""
