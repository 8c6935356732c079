"""The conditional GRU: two gated recurrent units around the attention (Nematus; SDAtt eq. 1–14)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.decoders import ConditionalGRUDecoderConfig, ContextConfig
from pipeline_py.nmt.attention import at_least_single
from pipeline_py.nmt.decoder.base import Parts, State, Step
from pipeline_py.nmt.decoder.recurrent import RecurrentDecoder
from pipeline_py.nmt.dropout import Place, drop
from pipeline_py.nmt.fast.linear import Linear, OutputLayer
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.recurrence.gru import GRU, as_read


@dataclass(frozen=True)
class Masks:
    """Dropout masks of one pair's recurrence, the same at every step (B, ·); None where nothing is dropped."""

    first: Tensor | None = None
    query: Tensor | None = None
    second: Tensor | None = None
    context: Tensor | None = None


class ConditionalGRUDecoder(RecurrentDecoder):
    """s' = GRU1(E[y_{i−1}], s_{i−1}); scores of s'; contexts c_i; s_i = GRU2(c_i, s').

    Initial state tanh(W · summary); readout tanh(L_w E[y_{i−1}] + L_d s_i + Σ L_c c_i) of the embedding's size, each
    matrix with a bias (Nematus), then a softmax with bias. The embedding before the first word is zero.

    Of S encoders each has its own initial state, pair of GRUs, and L_d; a context has its weights in common for all
    of them, and of each encoder its own vector, which feeds that encoder's GRU2 and has its own L_c (SDRNMT eq. 9–14).
    The query of a score is the s' of its encoder's pair.

    Dropout, as in Nematus (one mask for all steps): on what enters W, GRU1 (embedding and s), the scores (s' and
    annotations), GRU2 (context and s'), the readout (embedding, s, contexts) and the softmax.
    """

    reads_word = True

    def __init__(self, options: ConditionalGRUDecoderConfig, parts: Parts) -> None:
        super().__init__(parts)
        model, memory_sizes = parts.system.model, parts.memory_sizes
        self.size, self.read = model.hidden, model.embedding
        self.fed = _fed(options, parts.system.contexts)
        self.memory_sizes = list(memory_sizes)
        self.initial = nn.ModuleList(Linear(summary, self.size) for summary in parts.summary_sizes)
        self.first = nn.ModuleList(GRU(model.embedding, self.size) for _ in memory_sizes)
        self.second = nn.ModuleList(GRU(memory * len(self.fed), self.size) for memory in memory_sizes)
        self.readout_word = Linear(model.embedding, model.embedding)
        self.readout_states = nn.ModuleList(Linear(self.size, model.embedding) for _ in memory_sizes)
        self.readout_contexts = nn.ModuleList(
            Linear(memory, model.embedding) for _ in parts.weightings for memory in memory_sizes
        )
        self.softmax = OutputLayer(model.embedding, parts.target_size)

    def keys(self, memory: Memory) -> tuple[Tensor, ...]:
        """Compute for every score what it needs of its encoder's annotations (B, N, M), once for all steps."""
        dropped = [
            drop(
                annotations.transpose(0, 1),
                self.dropout.draw("contexts", len(annotations), annotations.shape[2], annotations),
            )
            for annotations in memory.states
        ]
        return super().keys(replace(memory, states=tuple(annotations.transpose(0, 1) for annotations in dropped)))

    def prepared(self, memory: Memory) -> Memory:
        """Project annotations as the readout and GRU2 do with contexts, side by side: W Σ α h = Σ α W h.

        A search needs W c at every step of every hypothesis, and W h only once for every position.
        """
        projections = []
        for context in range(len(self.weightings)):
            maps = [[readout.weight] for readout in self._readouts_of(context)]
            if context in self.fed:
                place = self.fed.index(context)
                for of_encoder, gru, size in zip(maps, self.second, self.memory_sizes, strict=True):
                    of_encoder.append(gru.input.weight[:, place * size : (place + 1) * size])  # type: ignore[index, union-attr]
            projections.append(
                tuple(
                    torch.cat([states @ weight.T for weight in of_encoder], dim=2)
                    for states, of_encoder in zip(memory.states, maps, strict=True)
                )
            )
        return replace(memory, projections=tuple(projections))

    def _first_hidden(self, memory: Memory) -> Tensor:
        hidden = []
        for linear, summary in zip(self.initial, memory.summary, strict=True):
            dropped = drop(summary, self.dropout.draw("contexts", len(summary), summary.shape[1], summary))
            hidden.append(torch.tanh(at_least_single(linear(dropped))))
        return _side_by_side(hidden)

    def _inputs(self, embedded: Tensor) -> list[Tensor]:
        return [as_read(gru.input(embedded)) for gru in self.first]  # type: ignore[operator]

    def _masks(self, memory: Memory) -> list[Masks]:
        rows, like = len(memory.mask), memory.states[0]
        return [
            Masks(
                first=self.dropout.draw("states", rows, self.size, like),
                query=self.dropout.draw("states", rows, self.size, like),
                second=self.dropout.draw("states", rows, self.size, like),
                context=self.dropout.draw("contexts", rows, memory_size * len(self.fed), like),
            )
            for memory_size in self.memory_sizes
        ]

    def _advance(
        self,
        inputs: Sequence[Tensor],
        state: State,
        memory: Memory,
        masks: Sequence[Masks] | None = None,
        observe: bool = False,
    ) -> tuple[State, Step]:
        masks = masks or [Masks() for _ in self.first]
        before = _apart(state.different, self.size)
        queries = [  # s'
            gru.step(values, hidden, mask.first, state.place)  # type: ignore[operator]
            for gru, values, hidden, mask in zip(self.first, inputs, before, masks, strict=True)
        ]
        asked = [drop(query, mask.query) for query, mask in zip(queries, masks, strict=True)]
        attended = self.attention_step(asked, state.carried, memory, observe=observe)
        projected = bool(memory.projections)
        hidden = []
        for number, (gru, query, mask) in enumerate(zip(self.second, queries, masks, strict=True)):
            fed = [attended.vectors[place][number] for place in self.fed]
            if projected:
                values = gru.input.bias  # type: ignore[union-attr]
                for vector in fed:
                    values = values + vector[:, self.read :]  # type: ignore[operator]
            else:
                values = gru.input(_side_by_side(fed), mask.context)  # type: ignore[operator]
            hidden.append(gru.step(values, query, mask.second))  # type: ignore[operator]
        contexts = [vector for of_encoders in attended.vectors for vector in of_encoders]
        if projected:
            contexts = [vector[:, : self.read] for vector in contexts]
        joined = _side_by_side(hidden)
        return State(joined, attended.carried), Step((joined, _side_by_side(contexts)), attended, projected=projected)

    def _readout_masks(self, vectors: Sequence[Tensor], sentences: int) -> list[Tensor | None]:
        places: tuple[Place, ...] = ("embeddings", "states", "contexts")
        return [
            self.dropout.draw(place, sentences, values.shape[1], values)
            for place, values in zip(places, vectors, strict=True)
        ]

    def _readout(self, vectors: Sequence[Tensor], projected: bool = False) -> Tensor:
        """Join embedding (N, E), states (N, S·H) and contexts (N, ·), projected or not, into (N, E)."""
        before, hidden, contexts = vectors
        total = self.readout_word(before)
        for linear, vector in zip(self.readout_states, _apart(hidden, self.size), strict=True):
            total = total + linear(vector)
        sizes = [self.read if projected else size for _ in self.weightings for size in self.memory_sizes]
        for linear, vector in zip(self.readout_contexts, contexts.split(sizes, dim=1), strict=True):
            total = total + (vector + linear.bias if projected else linear(vector))
        return torch.tanh(total)

    def _readouts_of(self, context: int) -> Sequence[nn.Linear]:
        """Return L_c of a context, for each encoder."""
        encoders = len(self.memory_sizes)
        return [*self.readout_contexts][context * encoders : (context + 1) * encoders]


def _fed(options: ConditionalGRUDecoderConfig, contexts: Sequence[ContextConfig]) -> list[int]:
    """Say which contexts the second GRU is fed, by number: all, or the global one, or the first if none is global."""
    if options.gru_context == "both":
        return list(range(len(contexts)))
    return [next((number for number, context in enumerate(contexts) if context.is_global), 0)]


def _side_by_side(vectors: Sequence[Tensor]) -> Tensor:
    """Join vectors (B, ·) of each sentence."""
    return vectors[0] if len(vectors) == 1 else torch.cat(list(vectors), dim=1)


def _apart(joined: Tensor, size: int) -> Sequence[Tensor]:
    """Part what was joined (B, S·size)."""
    return [joined] if joined.shape[1] == size else joined.split(size, dim=1)
