"""`decoding`: how translations are searched for."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pipeline_py.config.base import Section
from pipeline_py.config.effects import Effect, ReadWith, UnreadBy
from pipeline_py.config.numbers import NUMBER, Batch, Count, CountOrZero, Ratio


class Decoding(Section):
    """Beam search."""

    beam: Annotated[int, NUMBER] = Field(12, gt=0, le=1000)
    batch_size: Annotated[Batch, Effect.ROUNDING] = Field(
        64, description="Sentences searched at a time; does not change the result."
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto",
        description="What matrix products read on a CPU; they sum in float32. auto: bfloat16 where the hidden size is "
        "at least 256, `beam` times the number of sentences at least 32 and the processor fast at it, else float32; "
        "the counts of a translation say which. A GPU searches in float32.",
    )
    length_normalization: Annotated[float, NUMBER] = Field(
        0.0,
        ge=0,
        le=10,
        description="Log-probabilities are divided by length to this power; 0: not at all (plain sum).",
    )
    max_length_ratio: Ratio = Field(
        3.0, description="A translation has at most this times the source's pieces, plus 10."
    )
    max_length: Count | None = Field(None, description="Nor more than this; null: no such limit.")
    length_model: bool = Field(
        False,
        description="Add log p(length | length of the source), counted in training data, where a translation ends "
        "(tree2seq eq. 27).",
    )
    length_floor: Annotated[float, NUMBER, ReadWith("length_model", True)] = Field(
        1e-6, gt=0, le=1, description="The least that the length model gives a pair of lengths."
    )
    replace_unknown: Annotated[bool, UnreadBy("nmt.translate")] = Field(
        False, description="An <unk> in the output becomes the source word it attended to most."
    )
    n_best: Annotated[CountOrZero, Effect.MEANS] = Field(
        0, description="Also write this many translations a sentence; 0: none."
    )
    attention: Annotated[bool, Effect.MEANS, UnreadBy("nmt.translate")] = Field(
        False, description="Also write the attention weights of the best translation."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.n_best > self.beam:
            raise ValueError(f"n_best {self.n_best} exceeds beam {self.beam}; widen the beam or ask for fewer")
        return self
