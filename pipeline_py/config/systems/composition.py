"""`systems`: each a composition of parts."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from pipeline_py.config.base import Section
from pipeline_py.config.systems.decoders import (
    AnyContext,
    AnyDecoder,
    AnyLoss,
    AnyScore,
    ConditionalGRU,
    GlobalContext,
    MLPScore,
    Softmax,
)
from pipeline_py.config.systems.encoders import AnyEncoder, BidirectionalGRU
from pipeline_py.config.systems.parts import module_of, or_of_type, type_alone
from pipeline_py.config.systems.training import Dropout, Model
from pipeline_py.kinds.kind import Kind, kind_of


class System(Section):
    """One row of the tables: encoders × scores × contexts × decoder × loss."""

    type: Literal["neural"] = "neural"
    encoders: list[Annotated[AnyEncoder, or_of_type("bidirectional_gru")]] = Field(
        [BidirectionalGRU()], min_length=1, description="The decoder has a state for each."
    )
    scores: list[Annotated[AnyScore, or_of_type("mlp")]] = Field([MLPScore()], min_length=1)
    contexts: list[Annotated[AnyContext, BeforeValidator(type_alone)]] = Field([GlobalContext()], min_length=1)
    decoder: Annotated[AnyDecoder, or_of_type("conditional_gru")] = ConditionalGRU()
    loss: Annotated[AnyLoss, or_of_type("softmax")] = Softmax()
    model: Model = Model()

    @model_validator(mode="after")
    def _check_composition(self) -> Self:
        for encoder in self.encoders:
            encoder.sizes(self.model.embedding)
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
        self._check_fit()
        mixed = any(context.mixture is not None for context in self.contexts)
        for number in range(len(self.scores)):
            if not mixed and all(context.score != number for context in self.contexts):
                raise ValueError(f"no context weights score {number}; name it with `score`, mix it, or leave it out")
        return self

    def _check_fit(self) -> None:
        """Raise ValueError where parts do not fit each other."""
        decoder = self.decoder.type
        for part in (*self.encoders, self.decoder):
            part.check_sizes(self.model.embedding, self.model.hidden)
        if not self.decoder.takes_scores and (self.scores != [MLPScore()] or self.contexts != [GlobalContext()]):
            raise ValueError(f"the decoder {decoder} attends in its own way; leave out `scores` and `contexts`")
        self._check_tied()
        if isinstance(self.model.dropout, Dropout):
            for place in sorted({place for place, rate in self.model.dropout if rate} - self.decoder.drops):
                raise ValueError(f"the decoder {decoder} has no dropout of `{place}`; give `dropout: {{{place}: 0}}`")
        if not self.decoder.takes_several and len(self.encoders) * len(self.scores) > 1:
            raise ValueError(f"the decoder {decoder} has one encoder and one score; only conditional_gru takes several")
        if self.decoder.needs_cells and not self.encoders[0].has_cells:
            raise ValueError(
                f"the decoder {decoder} starts from the state of an LSTM, which the encoder {self.encoders[0].type} "
                "does not have"
            )
        for score in self.scores:
            encoder = self.encoders[score.encoder]
            if score.needs_hidden_size and encoder.annotation_size != 1:
                raise ValueError(
                    f"the score {score.type} needs annotations of the hidden size; {encoder.type} has twice that"
                )
        for encoder in self.encoders:
            if encoder.has_phrases and len(self.encoders) > 1:
                raise ValueError(f"the encoder {encoder.type} annotates phrases; it cannot be combined with another")
            if encoder.has_phrases and not (
                all(context.is_global for context in self.contexts) and not self.decoder.cross_attention
            ):
                raise ValueError(
                    f"the encoder {encoder.type} annotates phrases, which only global contexts can attend to"
                )
            if encoder.has_phrases and encoder.graph:
                raise ValueError(
                    f"the encoder {encoder.type} annotates phrases; a graph convolution is over words alone"
                )
            if encoder.halves_hidden and self.model.hidden % 2:
                raise ValueError(f"each direction has half the hidden size, but {self.model.hidden} is odd")
            if encoder.annotates_embeddings and self.model.embedding != self.model.hidden:
                raise ValueError("leaves that are embeddings need an embedding of the hidden size")

    def _check_tied(self) -> None:
        sizes, tied = self.model, self.model.tied_embeddings
        if tied != "none" and self.decoder.reads_out_hidden and sizes.embedding != sizes.hidden:
            raise ValueError(
                f"tied embeddings of the decoder {self.decoder.type} need an embedding of the hidden size; "
                "give it one, or `tied_embeddings: none`"
            )
        if tied == "all" and any(len(encoder.inputs) > 1 for encoder in self.encoders):
            raise ValueError("tied embeddings of both sides need words alone as `inputs`; else those are smaller")
        if tied == "all" and self.pretrained_on:
            raise ValueError("an encoder that learns to parse first has embeddings of its own; tie those of `target`")

    @property
    def _parts(self) -> dict[str, Sequence[Any]]:
        return {
            "input": [part for encoder in self.encoders for part in encoder.inputs],
            "self_attention": [part for encoder in self.encoders for part in encoder.self_attention],
            "encoder": self.encoders,
            "graph": [encoder.graph for encoder in self.encoders if encoder.graph],
            "score": self.scores if self.decoder.takes_scores else [],
            "weighting": self.contexts if self.decoder.takes_scores else [],
            "decoder": [self.decoder],
            "cross_attention": self.decoder.cross_attention,
            "loss": [self.loss],
        }

    @property
    def modules(self) -> list[str]:
        """The modules that hold the system's parts and the kinds of their syntax, sorted."""
        parts = {module_of(kind, part.type) for kind, parts in self._parts.items() for part in parts}
        return sorted(parts | {f"kinds.{kind.name}" for kind in self.kinds})

    @property
    def departures(self) -> list[str]:
        """Departures of the system's parts from printed equations."""
        return [*dict.fromkeys(text for parts in self._parts.values() for part in parts for text in part.departures)]

    @property
    def syntax(self) -> list[str]:
        """Names of the kinds of syntax that the system's parts read, sorted."""
        return sorted({kind.name for parts in self._parts.values() for part in parts for kind in part.reads})

    @property
    def trained_on(self) -> list[str]:
        """Names of the kinds that are needed in training: those that parts read or learn to predict, sorted."""
        learnt = {kind.name for parts in self._parts.values() for part in parts for kind in part.learns}
        return sorted({*self.syntax, *learnt})

    @property
    def pretrained_on(self) -> list[str]:
        """Names of the kinds of syntax that an encoder is trained to predict before, sorted."""
        return sorted({kind.name for encoder in self.encoders for kind in encoder.pretrained_on})

    @property
    def kinds(self) -> list[Kind]:
        """Kinds of syntax that the system reads or predicts, sorted by name."""
        return [kind_of(name) for name in sorted({*self.trained_on, *self.pretrained_on})]

    @property
    def reads_lexical_trees(self) -> bool:
        """Whether the system reads trees over the pieces of words, which no parser makes."""
        return any(kind.trees is None for kind in self.kinds)

    @property
    def kinds_parsed(self) -> list[str]:
        """Names of the kinds, read or predicted, that are made from a parser's trees."""
        return [kind.name for kind in self.kinds if kind.trees]

    @property
    def kinds_with_vocabulary(self) -> list[str]:
        """Names of the kinds, read or predicted, whose values are identifiers."""
        return [kind.name for kind in self.kinds if kind.identifiers]
