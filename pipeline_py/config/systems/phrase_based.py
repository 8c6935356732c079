"""A phrase-based system of `systems`: the options that Thot is trained and tuned with."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from pipeline_py.config.base import NUMBER_VALIDATOR, ConfigSection, Count, PositiveFloat32


class TuningConfig(ConfigSection):
    """How the weights of the log-linear model are tuned on dev."""

    sentences: Count | None = Field(1000, description="How many sentences of the development set; null: all.")
    evaluations: Count = Field(100, description="The tuning sentences are translated at most this often.")
    minutes: PositiveFloat32 | None = Field(
        None,
        description="A limit of time, with which the result depends on the speed of the machine; null: none.",
    )


class PhraseBasedSystemConfig(ConfigSection):
    """Phrase-based translation by Thot: HMM alignments, phrase table, n-gram model, stack decoder."""

    members: ClassVar[list[str]] = []
    """It consists of no other systems."""

    parser: ClassVar[None] = None
    """Nor reads it trees."""

    type: Literal["phrase_based"]
    language_model_order: Annotated[int, NUMBER_VALIDATOR] = Field(
        3, gt=0, le=20, description="Words of the language model's n-grams."
    )
    reordering: Annotated[int, NUMBER_VALIDATOR] = Field(
        6,
        ge=0,
        le=1000,
        description="Source words that the decoder may skip; 0: monotone. The distortion limit of Moses is 6.",
    )
    iterations: Annotated[int, NUMBER_VALIDATOR] = Field(
        5, gt=0, le=1000, description="EM iterations of each alignment model."
    )
    tuning: TuningConfig = TuningConfig()
