"""`subword`: the units of the models."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from pipeline_py.config.base import ConfigSection, Count, CountOrZero, RequiredSetting, SettingEffect


class VocabularyConfig(ConfigSection):
    """Limits of a vocabulary; `</s>` and `<unk>` count towards its size."""

    max_size: CountOrZero = Field(50000, description="0: no limit; else at least 3.")
    min_count: Count = 1
    """Tokens with a smaller count are not in the vocabulary."""

    @model_validator(mode="after")
    def _check_max_size(self) -> Self:
        if self.max_size in (1, 2):
            raise ValueError(f"max_size {self.max_size} leaves no room for a word; give 0 (no limit) or at least 3")
        return self


REQUIRES_BPE = RequiredSetting("scheme", "bpe")


class SubwordConfig(ConfigSection):
    """Words with a cut-off, or byte-pair encoding."""

    scheme: Literal["words", "bpe"] = "words"
    """words: whole words; bpe: byte-pair encoding."""
    merges: Annotated[Count, REQUIRES_BPE] = Field(8000, description="BPE merge operations.")
    joint: Annotated[bool, REQUIRES_BPE] = Field(
        False, description="One BPE model for both languages instead of one each."
    )
    min_frequency: Annotated[Count, REQUIRES_BPE] = Field(2, description="BPE: pairs rarer than this are not merged.")
    generalise: Count | None = Field(
        None,
        description="Times, dates and numbers that are rarer than this in the training text become $time, $date and "
        "$number, and are restored after decoding; null: none.",
    )
    source_vocabulary: VocabularyConfig = VocabularyConfig()
    target_vocabulary: VocabularyConfig = VocabularyConfig()
    joint_vocabulary: VocabularyConfig | None = Field(
        None, description="One vocabulary for both languages, instead of the two above; null: one each."
    )
    unit_vocabulary: VocabularyConfig = Field(
        VocabularyConfig(), description="Vocabulary of words of dependency units, independent of the models' units."
    )

    @property
    def target_vocabulary_settings(self) -> str:
        """The settings that determine the target vocabulary, as JSON."""
        return self.model_dump_json(
            exclude=self.collect_ineffective_keys(SettingEffect.RESULT) | {"source_vocabulary", "unit_vocabulary"}
        )
