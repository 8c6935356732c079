"""`decoding`: how translations are searched for."""

from typing import Self

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from pipeline_py.config.base import Section


class Decoding(Section):
    """Beam search."""

    beam: PositiveInt = 12
    batch_size: PositiveInt = Field(64, description="Sentences searched at a time; does not change the result.")
    length_normalization: NonNegativeFloat = Field(
        0.0, description="Log-probabilities are divided by length to this power; 0: not at all (plain sum)."
    )
    max_length_ratio: PositiveFloat = Field(
        3.0, description="A translation has at most this times the source's pieces, plus 10."
    )
    max_length: PositiveInt | None = Field(None, description="Nor more than this; null: no such limit.")
    length_model: bool = Field(
        False,
        description="Add log p(length | length of the source), counted in training data, where a translation ends "
        "(tree2seq eq. 27).",
    )
    length_floor: float = Field(
        1e-6, gt=0, le=1, description="The least that the length model gives a pair of lengths."
    )
    replace_unknown: bool = Field(
        False, description="An <unk> in the output becomes the source word it attended to most."
    )
    n_best: NonNegativeInt = Field(0, description="Also write this many translations a sentence; 0: none.")
    attention: bool = Field(False, description="Also write the attention weights of the best translation.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.n_best > self.beam:
            raise ValueError(f"n_best {self.n_best} exceeds beam {self.beam}; widen the beam or ask for fewer")
        return self
