"""The words that stand for rare times, dates and numbers (Yang et al. 2017, section 4.1)."""

from typing import Literal

Kind = Literal["time", "date", "number"]

PLACEHOLDER_OF: dict[Kind, str] = {"time": "$time", "date": "$date", "number": "$number"}

PLACEHOLDERS = frozenset(PLACEHOLDER_OF.values())
"""One word each, never split into pieces. Where text holds one of its own, it is a placeholder like any other."""
