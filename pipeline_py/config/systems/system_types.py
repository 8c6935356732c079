"""All types of systems: neural, ensemble, phrase-based, and external."""

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
    """A neural system; it may override the experiment's `model`, `training` and `decoding`."""

    members: ClassVar[list[str]] = []
    """Always empty; only ensembles have members."""

    parser: str | None = Field(
        None, description="Parser whose trees the system reads, if it reads any; null: the experiment's `parser`."
    )
    subword: str | None = Field(None, description="Units of the system, one of `subwords`; null: those of `subword`.")
    like: str | None = Field(
        None,
        description="A system whose number of parameters to match: embedding and hidden size become one number, which "
        "is found automatically.",
    )
    auxiliary_task: Literal["parsing"] | None = Field(
        None,
        description="parsing: every training sentence also has its linearized phrase tree as a translation; tags "
        "distinguish the two tasks (Currey and Heafield 2019); null: translation only.",
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
            raise ValueError("a system with `auxiliary_task` cannot read syntax, because its source text contains tags")
        return self

    @property
    def parsed_syntax_names(self) -> list[str]:
        """Names of the kinds that are made from a parser's trees, including those of the auxiliary task."""
        return [*super().parsed_syntax_names, *(["trees"] if self.auxiliary_task else [])]

    def dump_composition(self) -> dict[str, Any]:
        """Return the options of the network's composition (encoders, decoder, loss, …) as JSON values."""
        return self.model_dump(mode="json", include={*CompositionConfig.model_fields})


RunFiles = Annotated[list[str], BeforeValidator(wrap_in_list, json_schema_input_type=str | list[str])]
"""One file, or a file for each run."""


class ExternalSystemConfig(ConfigSection):
    """An external system, whose translations are in files; it is not trained or searched here."""

    members: ClassVar[list[str]] = []
    """Always empty; only ensembles have members."""

    parser: ClassVar[None] = None
    """Always None; only neural systems read trees."""

    type: Literal["translations"]
    files: dict[str, RunFiles] = Field(
        {},
        description="Files of translations by dev or test set, one line per sentence; plain or compressed. A list has "
        "a file for each run, such as the seeds of a training, equally many for every set. Sets without files stay "
        "empty.",
    )
    form: Literal["text", "words", "bpe"] = Field(
        "text",
        description="text: detokenized text, scored unchanged. words: tokens separated by spaces. bpe: pieces, where "
        "@@ ends all but the last piece of a word. words and bpe are joined by the `detokenizer` of `evaluation`.",
    )
    scores: dict[str, RunFiles] = Field(
        {},
        description="TSV files by contrastive set, with the columns correct and contrastive: a score for each of the "
        "two translations of every pair, such as log p; higher is more probable. Runs as in `files`.",
    )
    origin: SingleLine | None = Field(
        None, description="Source of the translations, for the note below tables and for the facts."
    )

    @model_validator(mode="after")
    def _check_files(self) -> Self:
        if not self.files and not self.scores:
            raise ValueError("give `files`, by test set, or `scores`, by contrastive set")
        counts = {split: len(files) for split, files in {**self.files, **self.scores}.items()}
        for split, count in counts.items():
            if not count:
                raise ValueError(f"`{split}` has no file; name one, or leave the set out")
        if len({*counts.values()}) > 1:
            listed_counts = ", ".join(f"{count} for `{split}`" for split, count in counts.items())
            raise ValueError(f"give equally many files for every set, one for each run, not {listed_counts}")
        return self

    @property
    def run_count(self) -> int:
        """Number of runs."""
        return len(next(iter({**self.files, **self.scores}.values())))


class EnsembleConfig(ConfigSection):
    """An ensemble that averages the probabilities of networks; with one member, another search with its network."""

    parser: ClassVar[None] = None
    """Always None; only its members have parsers."""

    type: Literal["ensemble"]
    members: list[str] = Field(min_length=1, description="Neural systems; attention weights are those of the first.")
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
    """Return the `type` of a configured mapping or of a validated system."""
    return str(system.get("type", "neural") if isinstance(system, Mapping) else system.type)


AnySystemConfig = Annotated[
    Annotated[NeuralSystemConfig, Tag("neural")]
    | Annotated[EnsembleConfig, Tag("ensemble")]
    | Annotated[PhraseBasedSystemConfig, Tag("phrase_based")]
    | Annotated[ExternalSystemConfig, Tag("translations")],
    Discriminator(get_system_type),
]
