"""The two kinds of trees, which are separate artifacts everywhere."""

from enum import StrEnum


class Annotation(StrEnum):
    """What a parser says about a sentence."""

    DEPENDENCY = "dependency"
    CONSTITUENCY = "constituency"
