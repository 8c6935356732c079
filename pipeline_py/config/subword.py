"""`subword`: the units of the models."""

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveInt

from pipeline_py.config.base import Section


class Vocabulary(Section):
    """What a vocabulary keeps; `</s>` and `<unk>` count towards its size."""

    max_size: NonNegativeInt = Field(50000, description="0: no limit.")
    min_count: PositiveInt = 1


class Subword(Section):
    """Words with a cut-off, or byte-pair encoding."""

    scheme: Literal["words", "bpe"] = "words"
    merges: PositiveInt = Field(8000, description="BPE merge operations.")
    joint: bool = Field(False, description="One BPE model for both languages instead of one each.")
    min_frequency: PositiveInt = Field(2, description="BPE: pairs rarer than this are not merged.")
    source_vocabulary: Vocabulary = Vocabulary()
    target_vocabulary: Vocabulary = Vocabulary()
