"""Systems of all kinds: networks, ensembles, phrase-based systems, and translations from elsewhere."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, Tag, model_validator

from pipeline_py.config.base import ConfigSection
from pipeline_py.config.corpora import wrap_in_list
from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.phrase_based import PhraseBasedSystemConfig
from pipeline_py.config.systems.training import DecodingConfig, TrainingConfig
from pipeline_py.config.tables import SingleLine


class NeuralSystemConfig(CompositionConfig):
    """A composition; it may override the experiment's `model`, `training` and `decoding`."""

    members: ClassVar[list[str]] = []
    """It consists of no other systems."""

    parser: str | None = Field(
        None, description="The parser whose trees the system reads, if it reads any; null: the experiment's `parser`."
    )
    subword: str | None = Field(None, description="Units of the system, one of `subwords`; null: those of `subword`.")
    like: str | None = Field(
        None,
        description="A system with as many parameters: embedding and hidden size are one number, found for that.",
    )
    auxiliary_task: Literal["parsing"] | None = Field(
        None,
        description="parsing: every training sentence has its linearized phrase tree as a second translation, told "
        "apart by tags (Currey and Heafield 2019); null: translation alone.",
    )
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()

    @model_validator(mode="after")
    def _check_learned_syntax(self) -> Self:
        if sum(bool(encoder.pretraining_syntax) for encoder in self.encoders) > 1:
            raise ValueError("several encoders are pretrained on parsing; only one can be")
        if self.decoder.has_phrase_weight and not self.encoders[0].has_phrases:
            raise ValueError(
                f"the decoder's phrase_weight weighs phrases, but the encoder {self.encoders[0].type} annotates none"
            )
        if self.auxiliary_task and (self.training_syntax_names or self.pretraining_syntax_names):
            raise ValueError("a system with `auxiliary_task` reads no syntax itself: tags stand between its words")
        return self

    @property
    def parsed_syntax_names(self) -> list[str]:
        """Names of the kinds that are made from a parser's trees, those of the auxiliary task among them."""
        return [*super().parsed_syntax_names, *(["trees"] if self.auxiliary_task else [])]

    def dump_composition(self) -> dict[str, Any]:
        """Return the composition alone, as JSON values."""
        return self.model_dump(mode="json", include={*CompositionConfig.model_fields})


RunFiles = Annotated[list[str], BeforeValidator(wrap_in_list, json_schema_input_type=str | list[str])]
"""A file, or one for each run."""


class ExternalSystemConfig(ConfigSection):
    """Translations from elsewhere: nothing is trained, parsed or searched here."""

    members: ClassVar[list[str]] = []
    """It consists of no other systems."""

    parser: ClassVar[None] = None
    """Nor reads it trees."""

    type: Literal["translations"]
    files: dict[str, RunFiles] = Field(
        {},
        description="By dev or test set a file of translations, a line for each sentence; plain or compressed. A list "
        "has one for each run, such as the seeds of a training, and as many for every set. Sets that have none stay "
        "empty.",
    )
    form: Literal["text", "words", "bpe"] = Field(
        "text",
        description="text: as people write it, and scored as it is. words: separated by spaces, and bpe: in pieces of "
        "which @@ ends all but the last of a word; both are joined by the `detokenizer` of `evaluation`.",
    )
    scores: dict[str, RunFiles] = Field(
        {},
        description="By contrastive set a TSV with the columns correct and contrastive: a number for each of the two "
        "translations of every pair, such as log p; the higher, the likelier. Runs as in `files`.",
    )
    origin: SingleLine | None = Field(
        None, description="Who or what made them, for the note below tables and for the facts."
    )

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        if not self.files and not self.scores:
            raise ValueError("give `files`, by test set, or `scores`, by contrastive set")
        if empty := [on for on, files in {**self.files, **self.scores}.items() if not files]:
            raise ValueError(f"`{empty[0]}` has no file; name one, or leave the set out")
        counts = {key: len(files) for key, files in {**self.files, **self.scores}.items()}
        if len({*counts.values()}) > 1:
            said = ", ".join(f"{count} for `{on}`" for on, count in counts.items())
            raise ValueError(f"give as many files for every set, one for each run, and not {said}")
        return self

    @property
    def run_count(self) -> int:
        """How often it was run."""
        return len(next(iter({**self.files, **self.scores}.values())))


class EnsembleConfig(ConfigSection):
    """An ensemble of networks, whose probabilities are averaged; with one member, another search with its network."""

    parser: ClassVar[None] = None
    """An ensemble has no parser but its members'."""

    type: Literal["ensemble"]
    members: list[str] = Field(min_length=1, description="Systems; attention is the first one's.")
    decoding: DecodingConfig = Field(DecodingConfig(), description="Overrides the experiment's `decoding`.")

    @model_validator(mode="after")
    def _check_members(self) -> Self:
        if len({*self.members}) < len(self.members):
            raise ValueError("name every member once")
        return self


SYSTEM_TYPES: dict[str, type[BaseModel]] = {
    "neural": NeuralSystemConfig,
    "ensemble": EnsembleConfig,
    "phrase_based": PhraseBasedSystemConfig,
    "translations": ExternalSystemConfig,
}


def get_system_type(system: Any) -> str:
    """Read the `type` of a system as it is configured, or of one that is validated."""
    return str(system.get("type", "neural") if isinstance(system, Mapping) else system.type)


AnySystemConfig = Annotated[
    Annotated[NeuralSystemConfig, Tag("neural")]
    | Annotated[EnsembleConfig, Tag("ensemble")]
    | Annotated[PhraseBasedSystemConfig, Tag("phrase_based")]
    | Annotated[ExternalSystemConfig, Tag("translations")],
    Discriminator(get_system_type),
]
