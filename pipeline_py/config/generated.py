"""Text that the embedded grammar generates: its language, what of it is asked for, and which shares of it texts get."""

from typing import Annotated, Literal, Self, get_args

from pydantic import Field, NonNegativeInt, model_validator

from pipeline_py.config.base import Section
from pipeline_py.config.numbers import NUMBER, Count, Seed

HELD_OUT_SETS = 16
"""Shares of the generated language that are kept for held-out sets and treebanks; training owns the rest."""

MOST_TESTS = HELD_OUT_SETS // 2
"""Test sets of an experiment."""


class Generator(Section):
    """The language of all generated text: of train, dev and test sets, and of treebanks."""

    lexicon: Literal["whole", "compact"] = Field(
        "whole", description="All words, or the most frequent verbs with the most frequent nouns that go with them."
    )
    digits: bool = Field(True, description="Whether there are numbers, times and dates in digits, most of them rare.")
    ambiguous: Annotated[float, NUMBER] = Field(
        0,
        ge=0,
        le=1,
        description="The share of sentences with an attachment that words leave open and trees tell, in training text "
        "and in the training part of treebanks. Dev and test sets have none, but for those with such a focus.",
    )


class GeneratedSentences(Section):
    """Sentences of the embedded English-German corpus."""

    sentences: Count
    seed: Seed = 1
    min_length: Count = 3
    max_length: Count = 45
    lengths: Literal["natural", "uniform"] = "natural"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.min_length > self.max_length:
            raise ValueError(f"min_length {self.min_length} exceeds max_length {self.max_length}")
        return self


class Generated(GeneratedSentences):
    """The same, of a text."""

    focus: Literal["any", "particle_verb", "relative_clause", "attachment", "agreement", "verb_final", "ambiguous"] = (
        Field("any", description="Only sentences that contain this phenomenon.")
    )


Contrast = Literal[
    "agreement",
    "particle",
    "case",
    "gender",
    "verb_final",
    "negation_dropped",
    "negation_added",
    "relative_attachment",
    "phrase_attachment",
]


OPEN_ATTACHMENTS = ("relative_attachment", "phrase_attachment")
"""Those of what the words leave open, so that only trees tell."""


class GeneratedPairs(GeneratedSentences):
    """Sentences with a correct translation, and one that is wrong in one thing."""

    kinds: list[Contrast] = Field(
        [*get_args(Contrast)], min_length=1, description="What is wrong; each is of as many pairs."
    )


Share = tuple[float, float]


def share_of_split(place: NonNegativeInt) -> Share:
    """The share of the generated language that belongs to a split: 0 is train, 1 dev, 2… the test sets.

    Shares depend on the place alone, so a further test set leaves the others as they are.
    """
    half = HELD_OUT_SETS * 2
    return (0.0, 0.5) if place == 0 else (0.5 + (place - 1) / half, 0.5 + place / half)


def share_of_treebank(place: NonNegativeInt) -> Share:
    """The share that belongs to a treebank's train (0), dev (1) or test (2) part: counted from the end."""
    half = HELD_OUT_SETS * 2
    return (1.0 - (place + 1) / half, 1.0 - place / half)


def share_of_contrast() -> Share:
    """The share that belongs to all contrastive sets: what test sets and treebanks leave."""
    return share_of_split(2 + MOST_TESTS)[0], share_of_treebank(2)[0]
