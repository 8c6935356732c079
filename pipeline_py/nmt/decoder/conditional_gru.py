"""The conditional GRU: two gated recurrent units around the attention (Nematus; SDAtt eq. 1–14)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.decoders import ConditionalGRUDecoderConfig, ContextConfig
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.decoder.base import DecoderParts, RecurrentState, RecurrentStep
from pipeline_py.nmt.decoder.recurrent import RecurrentDecoder
from pipeline_py.nmt.dropout import DropoutSite, apply_dropout_mask
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import Linear, OutputLayer
from pipeline_py.nmt.recurrence.gru import GRU, cast_gru_input_products


@dataclass(frozen=True)
class ConditionalGRUMasks:
    """Dropout masks (B, ·) of one pair of GRUs, the same at every step; None without dropout."""

    first: Tensor | None = None
    query: Tensor | None = None
    second: Tensor | None = None
    context: Tensor | None = None


class ConditionalGRUDecoder(RecurrentDecoder):
    """s' = GRU1(E[y_{i−1}], s_{i−1}); scores of s'; contexts c_i; s_i = GRU2(c_i, s').

    The initial state is tanh(W · summary); the readout is tanh(L_w E[y_{i−1}] + L_d s_i + Σ L_c c_i) of the embedding
    size, where each matrix has a bias (Nematus); then follows a softmax with bias. The embedding before the first word
    is zero.

    Each of S encoders has a separate initial state, pair of GRUs, and L_d. A context has the same weights for all
    encoders, and a separate vector for each encoder, which feeds the GRU2 of that encoder and has a separate L_c
    (SDRNMT eq. 9–14). The query of a score is the s' of its encoder.

    Dropout, as in Nematus (one mask for all steps), applies to the inputs of W, GRU1 (embedding and s), the scores (s'
    and annotations), GRU2 (context and s'), the readout (embedding, s, contexts) and the softmax.
    """

    reads_previous_word = True

    def __init__(self, options: ConditionalGRUDecoderConfig, parts: DecoderParts) -> None:
        super().__init__(parts)
        model, memory_sizes = parts.composition.model, parts.annotation_sizes
        self.hidden_size, self.embedding_size = model.hidden, model.embedding
        self.fed_contexts = _select_fed_contexts(options, parts.composition.contexts)
        self.annotation_sizes = list(memory_sizes)
        self.initial = nn.ModuleList(Linear(summary, self.hidden_size) for summary in parts.summary_sizes)
        self.first = nn.ModuleList(GRU(model.embedding, self.hidden_size) for _ in memory_sizes)
        self.second = nn.ModuleList(GRU(memory * len(self.fed_contexts), self.hidden_size) for memory in memory_sizes)
        self.readout_word = Linear(model.embedding, model.embedding)
        self.readout_states = nn.ModuleList(Linear(self.hidden_size, model.embedding) for _ in memory_sizes)
        self.readout_contexts = nn.ModuleList(
            Linear(memory, model.embedding) for _ in parts.weightings for memory in memory_sizes
        )
        self.softmax = OutputLayer(model.embedding, parts.target_vocabulary_size)

    def compute_keys(self, memory: EncoderMemory) -> tuple[Tensor, ...]:
        """Compute the keys of every score from its encoder's annotations (B, N, M), with dropout."""
        dropped = [
            apply_dropout_mask(
                annotations.transpose(0, 1),
                self.dropout.draw_mask("contexts", len(annotations), annotations.shape[2], annotations),
            )
            for annotations in memory.annotations
        ]
        return super().compute_keys(
            replace(memory, annotations=tuple(annotations.transpose(0, 1) for annotations in dropped))
        )

    def prepare_search(self, memory: EncoderMemory) -> EncoderMemory:
        """Project annotations with the weights of the readout and GRU2, concatenated: W Σ α h = Σ α W h.

        This replaces a product for every step of every hypothesis by one for every position.
        """
        projections = []
        for context in range(len(self.weightings)):
            maps = [[readout.weight] for readout in self._get_readout_layers(context)]
            if context in self.fed_contexts:
                place = self.fed_contexts.index(context)
                for encoder_weights, gru, size in zip(maps, self.second, self.annotation_sizes, strict=True):
                    encoder_weights.append(gru.input.weight[:, place * size : (place + 1) * size])  # type: ignore[index, union-attr]
            projections.append(
                tuple(
                    torch.cat([states @ weight.T for weight in encoder_weights], dim=2)
                    for states, encoder_weights in zip(memory.annotations, maps, strict=True)
                )
            )
        return replace(memory, projections=tuple(projections))

    def _compute_initial_state(self, memory: EncoderMemory) -> Tensor:
        hidden = []
        for linear, summary in zip(self.initial, memory.summaries, strict=True):
            dropped = apply_dropout_mask(
                summary, self.dropout.draw_mask("contexts", len(summary), summary.shape[1], summary)
            )
            hidden.append(torch.tanh(upcast_half_precision(linear(dropped))))
        return _concatenate(hidden)

    def _compute_inputs(self, embedded: Tensor) -> list[Tensor]:
        return [cast_gru_input_products(gru.input(embedded)) for gru in self.first]  # type: ignore[operator]

    def _draw_masks(self, memory: EncoderMemory) -> list[ConditionalGRUMasks]:
        rows, like = len(memory.mask), memory.annotations[0]
        return [
            ConditionalGRUMasks(
                first=self.dropout.draw_mask("states", rows, self.hidden_size, like),
                query=self.dropout.draw_mask("states", rows, self.hidden_size, like),
                second=self.dropout.draw_mask("states", rows, self.hidden_size, like),
                context=self.dropout.draw_mask("contexts", rows, memory_size * len(self.fed_contexts), like),
            )
            for memory_size in self.annotation_sizes
        ]

    def _compute_step(
        self,
        inputs: Sequence[Tensor],
        state: RecurrentState,
        memory: EncoderMemory,
        masks: Sequence[ConditionalGRUMasks] | None = None,
        should_collect: bool = False,
    ) -> tuple[RecurrentState, RecurrentStep]:
        masks = masks or [ConditionalGRUMasks() for _ in self.first]
        before = _split_states(state.distinct_states, self.hidden_size)
        queries = [  # s'
            gru.step(values, hidden, mask.first, state.distinct_indices)  # type: ignore[operator]
            for gru, values, hidden, mask in zip(self.first, inputs, before, masks, strict=True)
        ]
        score_queries = [apply_dropout_mask(query, mask.query) for query, mask in zip(queries, masks, strict=True)]
        attended = self.compute_attention_step(
            score_queries, state.weighting_states, memory, should_collect=should_collect
        )
        projected = bool(memory.projections)
        hidden = []
        for number, (gru, query, mask) in enumerate(zip(self.second, queries, masks, strict=True)):
            fed = [attended.context_vectors[place][number] for place in self.fed_contexts]
            if projected:
                values = gru.input.bias  # type: ignore[union-attr]
                for vector in fed:
                    values = values + vector[:, self.embedding_size :]  # type: ignore[operator]
            else:
                values = cast_gru_input_products(gru.input(_concatenate(fed), mask.context))  # type: ignore[operator]
            hidden.append(gru.step(values, query, mask.second))  # type: ignore[operator]
        contexts = [vector for vectors in attended.context_vectors for vector in vectors]
        if projected:
            contexts = [vector[:, : self.embedding_size] for vector in contexts]
        joined = _concatenate(hidden)
        return RecurrentState(joined, attended.weighting_states), RecurrentStep(
            (joined, _concatenate(contexts)), attended, is_projected=projected
        )

    def _draw_readout_masks(self, readout_inputs: Sequence[Tensor], sentence_count: int) -> list[Tensor | None]:
        places: tuple[DropoutSite, ...] = ("embeddings", "states", "contexts")
        return [
            self.dropout.draw_mask(place, sentence_count, values.shape[1], values)
            for place, values in zip(places, readout_inputs, strict=True)
        ]

    def _compute_readout(self, readout_inputs: Sequence[Tensor], is_projected: bool = False) -> Tensor:
        """Compute the readout (N, E) from embedding (N, E), states (N, S·H) and contexts (N, ·)."""
        before, hidden, contexts = readout_inputs
        total = self.readout_word(before)
        for linear, vector in zip(self.readout_states, _split_states(hidden, self.hidden_size), strict=True):
            total = total + linear(vector)
        sizes = [
            self.embedding_size if is_projected else size for _ in self.weightings for size in self.annotation_sizes
        ]
        for linear, vector in zip(self.readout_contexts, contexts.split(sizes, dim=1), strict=True):
            total = total + (vector + linear.bias if is_projected else linear(vector))
        return torch.tanh(total)

    def _get_readout_layers(self, context: int) -> Sequence[nn.Linear]:
        """Return L_c of a context for each encoder."""
        encoders = len(self.annotation_sizes)
        return [*self.readout_contexts][context * encoders : (context + 1) * encoders]


def _select_fed_contexts(options: ConditionalGRUDecoderConfig, contexts: Sequence[ContextConfig]) -> list[int]:
    """Return the indices of the contexts that feed GRU2: all, the global one, or the first if no context is global."""
    if options.gru_context == "both":
        return list(range(len(contexts)))
    return [next((number for number, context in enumerate(contexts) if context.is_global), 0)]


def _concatenate(vectors: Sequence[Tensor]) -> Tensor:
    return vectors[0] if len(vectors) == 1 else torch.cat(list(vectors), dim=1)


def _split_states(states: Tensor, size: int) -> Sequence[Tensor]:
    """Split the states of all encoders (B, S·size)."""
    return [states] if states.shape[1] == size else states.split(size, dim=1)
