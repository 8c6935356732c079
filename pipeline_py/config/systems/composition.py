"""Neural systems of `systems` as compositions of parts."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pipeline_py.config.base import ConfigSection
from pipeline_py.config.systems.decoders import (
    AnyContextConfig,
    AnyDecoderConfig,
    AnyLossConfig,
    AnyScoreConfig,
    ConditionalGRUDecoderConfig,
    GlobalContextConfig,
    MLPScoreConfig,
    SoftmaxLossConfig,
)
from pipeline_py.config.systems.encoders import AnyEncoderConfig, BidirectionalGRUEncoderConfig
from pipeline_py.config.systems.network_parts import (
    build_shorthand_validator,
    expand_type_shorthand,
    get_part_module_name,
)
from pipeline_py.config.systems.training import DropoutConfig, ModelConfig
from pipeline_py.kinds.syntax_kind import SyntaxKind, load_syntax_kind


class CompositionConfig(ConfigSection):
    """A composition of encoders × scores × contexts × decoder × loss."""

    type: Literal["neural"] = "neural"
    encoders: list[Annotated[AnyEncoderConfig, build_shorthand_validator("bidirectional_gru")]] = Field(
        [BidirectionalGRUEncoderConfig()], min_length=1, description="Encoders; the decoder has a state for each."
    )
    scores: list[Annotated[AnyScoreConfig, build_shorthand_validator("mlp")]] = Field([MLPScoreConfig()], min_length=1)
    contexts: list[Annotated[AnyContextConfig, BeforeValidator(expand_type_shorthand)]] = Field(
        [GlobalContextConfig()], min_length=1
    )
    decoder: Annotated[AnyDecoderConfig, build_shorthand_validator("conditional_gru")] = ConditionalGRUDecoderConfig()
    loss: Annotated[AnyLossConfig, build_shorthand_validator("softmax")] = SoftmaxLossConfig()
    model: ModelConfig = ModelConfig()

    @model_validator(mode="after")
    def _check_composition(self) -> Self:
        for encoder in self.encoders:
            encoder.compute_input_sizes(self.model.embedding)
        for score in self.scores:
            if score.encoder >= len(self.encoders):
                raise ValueError(
                    f"a score reads encoder {score.encoder}, but there are {len(self.encoders)}, counted from 0"
                )
        for context in self.contexts:
            if context.score >= len(self.scores):
                raise ValueError(
                    f"a context weights score {context.score}, but there are {len(self.scores)}, counted from 0"
                )
            if context.mixture is not None and len(context.mixture) != len(self.scores):
                raise ValueError(
                    f"a context mixes {len(context.mixture)} scores, but there are {len(self.scores)}; "
                    "give one factor for each"
                )
            if context.mixture is not None and context.score:
                raise ValueError("a context weights either one `score` or a `mixture` of all; give one of the two")
        self._check_part_compatibility()
        mixed = any(context.mixture is not None for context in self.contexts)
        for number in range(len(self.scores)):
            if not mixed and all(context.score != number for context in self.contexts):
                raise ValueError(f"no context weights score {number}; name it with `score`, mix it, or leave it out")
        return self

    def _check_part_compatibility(self) -> None:
        """Raise ValueError if parts do not fit each other."""
        decoder = self.decoder.type
        for part in (*self.encoders, self.decoder):
            part.check_sizes(self.model.embedding, self.model.hidden)
        if not self.decoder.has_score_parts and (
            self.scores != [MLPScoreConfig()] or self.contexts != [GlobalContextConfig()]
        ):
            raise ValueError(f"the decoder {decoder} attends in its own way; leave out `scores` and `contexts`")
        self._check_tied_embeddings()
        if isinstance(self.model.dropout, DropoutConfig):
            for place in sorted({place for place, rate in self.model.dropout if rate} - self.decoder.dropout_places):
                raise ValueError(f"the decoder {decoder} has no dropout of `{place}`; give `dropout: {{{place}: 0}}`")
        if not self.decoder.can_have_multiple_encoders and len(self.encoders) * len(self.scores) > 1:
            raise ValueError(f"the decoder {decoder} has one encoder and one score; only conditional_gru takes several")
        if self.decoder.needs_cell_state and not self.encoders[0].has_cell_state:
            raise ValueError(
                f"the decoder {decoder} starts from the state of an LSTM, which the encoder {self.encoders[0].type} "
                "does not have"
            )
        for score in self.scores:
            encoder = self.encoders[score.encoder]
            if score.needs_hidden_size and encoder.annotation_size_factor != 1:
                raise ValueError(
                    f"the score {score.type} needs annotations of the hidden size; {encoder.type} has twice that"
                )
        for encoder in self.encoders:
            if encoder.has_phrases and len(self.encoders) > 1:
                raise ValueError(f"the encoder {encoder.type} annotates phrases; it cannot be combined with another")
            if encoder.has_phrases and not (
                all(context.is_global for context in self.contexts) and not self.decoder.cross_attention_changes
            ):
                raise ValueError(
                    f"the encoder {encoder.type} annotates phrases, which only global contexts can attend to"
                )
            if encoder.has_phrases and encoder.graph:
                raise ValueError(
                    f"the encoder {encoder.type} annotates phrases; a graph convolution is over words alone"
                )
            if encoder.has_half_size_directions and self.model.hidden % 2:
                raise ValueError(f"each direction has half the hidden size, but {self.model.hidden} is odd")
            if encoder.has_embedding_annotations and self.model.embedding != self.model.hidden:
                raise ValueError("leaves that are embeddings need an embedding of the hidden size")

    def _check_tied_embeddings(self) -> None:
        sizes, tied = self.model, self.model.tied_embeddings
        if tied != "none" and self.decoder.has_hidden_size_readout and sizes.embedding != sizes.hidden:
            raise ValueError(
                f"tied embeddings of the decoder {self.decoder.type} need an embedding of the hidden size; "
                "give it one, or `tied_embeddings: none`"
            )
        if tied == "all" and any(len(encoder.inputs) > 1 for encoder in self.encoders):
            raise ValueError("tied embeddings of both sides need words alone as `inputs`; else those are smaller")
        if tied == "all" and self.pretraining_syntax_names:
            raise ValueError("an encoder that learns to parse first has embeddings of its own; tie those of `target`")

    @property
    def _parts_by_package(self) -> dict[str, Sequence[Any]]:
        return {
            "input": [part for encoder in self.encoders for part in encoder.inputs],
            "self_attention": [part for encoder in self.encoders for part in encoder.self_attention_changes],
            "encoder": self.encoders,
            "graph": [encoder.graph for encoder in self.encoders if encoder.graph],
            "score": self.scores if self.decoder.has_score_parts else [],
            "weighting": self.contexts if self.decoder.has_score_parts else [],
            "decoder": [self.decoder],
            "cross_attention": self.decoder.cross_attention_changes,
            "loss": [self.loss],
        }

    @property
    def module_names(self) -> list[str]:
        """Modules of the system's parts and of their kinds of syntax, sorted."""
        parts = {
            get_part_module_name(package, part.type)
            for package, parts in self._parts_by_package.items()
            for part in parts
        }
        return sorted(parts | {f"kinds.{kind.name}" for kind in self.syntax_kinds})

    @property
    def _parts(self) -> list[Any]:
        return [part for parts in self._parts_by_package.values() for part in parts]

    @property
    def paper_deviations(self) -> list[str]:
        """Deviations of the system's parts from published equations."""
        return [*dict.fromkeys(text for part in self._parts for text in part.paper_deviations)]

    @property
    def required_syntax_names(self) -> list[str]:
        """Names of the kinds of syntax that the system's parts read, sorted."""
        return sorted({kind.name for part in self._parts for kind in part.required_syntax})

    @property
    def training_syntax_names(self) -> list[str]:
        """Names of the kinds of syntax that parts read or learn to predict, sorted."""
        predicted_names = {kind.name for part in self._parts for kind in part.predicted_syntax}
        return sorted({*self.required_syntax_names, *predicted_names})

    @property
    def pretraining_syntax_names(self) -> list[str]:
        """Names of the kinds of syntax that an encoder learns to predict in pretraining, sorted."""
        return sorted({kind.name for encoder in self.encoders for kind in encoder.pretraining_syntax})

    @property
    def syntax_kinds(self) -> list[SyntaxKind]:
        """Kinds of syntax that the system reads or predicts, sorted by name."""
        return [
            load_syntax_kind(name) for name in sorted({*self.training_syntax_names, *self.pretraining_syntax_names})
        ]

    @property
    def reads_lexical_trees(self) -> bool:
        """True if the system reads trees over the pieces of words, which no parser makes."""
        return any(kind.tree_format is None for kind in self.syntax_kinds)

    @property
    def parsed_syntax_names(self) -> list[str]:
        """Names of the kinds, read or predicted, that are made from a parser's trees."""
        return [kind.name for kind in self.syntax_kinds if kind.tree_format]

    @property
    def vocabulary_syntax_names(self) -> list[str]:
        """Names of the kinds, read or predicted, whose values are identifiers."""
        return [kind.name for kind in self.syntax_kinds if kind.vocabulary_ids]
