"""A network among `systems`: its composition, and what it is trained, fed and searched with."""

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from pipeline_py.config.systems.composition import System
from pipeline_py.config.systems.decoding import Decoding
from pipeline_py.config.systems.training import Training


class NeuralSystem(System):
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
    training: Training = Training()
    decoding: Decoding = Decoding()

    @model_validator(mode="after")
    def _check_learning(self) -> Self:
        if sum(bool(encoder.pretrained_on) for encoder in self.encoders) > 1:
            raise ValueError("several encoders are pretrained on parsing; only one can be")
        if self.decoder.weighs_phrases and not self.encoders[0].has_phrases:
            raise ValueError(
                f"the decoder's phrase_weight weighs phrases, but the encoder {self.encoders[0].type} annotates none"
            )
        if self.auxiliary_task and (self.trained_on or self.pretrained_on):
            raise ValueError("a system with `auxiliary_task` reads no syntax itself: tags stand between its words")
        return self

    @property
    def kinds_parsed(self) -> list[str]:
        """Names of the kinds that are made from a parser's trees, those of the auxiliary task among them."""
        return [*super().kinds_parsed, *(["trees"] if self.auxiliary_task else [])]

    def composition(self) -> dict[str, Any]:
        """Return the composition alone, as JSON values."""
        return self.model_dump(mode="json", include={*System.model_fields})
