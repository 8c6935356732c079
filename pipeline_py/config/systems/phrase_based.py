"""Options of phrase-based systems, which Thot trains and tunes."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from pipeline_py.config.base import NUMBER_VALIDATOR, ConfigSection, Count, PositiveFloat32


class TuningConfig(ConfigSection):
    """Tuning of the weights of the log-linear model on the development set."""

    sentences: Count | None = Field(1000, description="Number of sentences of the development set; null: all.")
    evaluations: Count = Field(100, description="Limit of the number of times that these sentences are translated.")
    minutes: PositiveFloat32 | None = Field(
        None, description="Time limit, which makes the result depend on the speed of the machine; null: none."
    )


class PhraseBasedSystemConfig(ConfigSection):
    """Phrase-based translation by Thot: HMM alignments, phrase table, n-gram model, stack decoder."""

    members: ClassVar[list[str]] = []
    """Always empty; only ensembles have members."""

    parser: ClassVar[None] = None
    """Always None; only neural systems read trees."""

    type: Literal["phrase_based"]
    language_model_order: Annotated[int, NUMBER_VALIDATOR] = Field(
        3, gt=0, le=20, description="Order n of the n-gram language model."
    )
    reordering: Annotated[int, NUMBER_VALIDATOR] = Field(
        6,
        ge=0,
        le=1000,
        description="Distortion limit in source words; 0: monotone. The default of Moses is 6.",
    )
    iterations: Annotated[int, NUMBER_VALIDATOR] = Field(
        5, gt=0, le=1000, description="EM iterations of each alignment model."
    )
    tuning: TuningConfig = TuningConfig()
