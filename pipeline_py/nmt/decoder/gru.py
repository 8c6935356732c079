"""A GRU with input feeding, and a weight of phrases against words (hierarchical sections 2.2 and 3.4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pipeline_py.config.systems.decoders import GRUDecoderConfig as Options
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.decoder.base import DecoderParts, RecurrentState, RecurrentStep
from pipeline_py.nmt.decoder.recurrent import RecurrentDecoder
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import Linear, LoopLinear, OutputLayer
from pipeline_py.nmt.recurrence.original_gru import OriginalGRU


@dataclass(frozen=True)
class GRUMasks:
    """Dropout masks (B, H) of the recurrence, the same at every step; None without dropout."""

    state: Tensor | None = None
    feed: Tensor | None = None


class GRUDecoder(RecurrentDecoder):
    """s_j = GRU([E[y_{j−1}]; c_{j−1}], s_{j−1}); c_j = tanh(W [s_j; d_j] + b); softmax of tanh(L c_j + b).

    s_0 = tanh(W · summary + b); c_0 and the embedding before the first word are zero. The query of the score is s_j;
    d_j are the vectors of all contexts. The paper applies the softmax to c_j, but its numbers of parameters imply a
    layer of the embedding size in between. Here it has a tanh, like the readout of dl4mt, on which the paper builds.

    A context's vector is Σ α h over words and phrases (eq. 2), or with a `phrase_weight` (1 − β) Σ α h over the words
    + β Σ α h over the phrases (eq. 4), with α from one softmax over both. β is constant, or β_j = σ(W_β c_{j−1} + b_β).

    Dropout (one mask for all steps; not in the paper) applies to the embedding, to s_{j−1} in the recurrent products,
    to c_{j−1} as an input, and to the input of the softmax.
    """

    def __init__(self, options: Options, parts: DecoderParts) -> None:
        super().__init__(parts)
        model = parts.composition.model
        (memory_size,), (summary_size,) = parts.annotation_sizes, parts.summary_sizes
        self.hidden_size, self.phrase_weight = model.hidden, options.phrase_weight
        self.initial = Linear(summary_size, self.hidden_size)
        self.gru = OriginalGRU(model.embedding, self.hidden_size)
        self.feed = LoopLinear(self.hidden_size, 3 * self.hidden_size, bias=False)  # the columns of W x that read c
        self.combine = LoopLinear(self.hidden_size + memory_size * len(parts.weightings), self.hidden_size, bias=True)
        self.gate = LoopLinear(self.hidden_size, 1, bias=True) if options.phrase_weight == "learned" else None
        self.readout = Linear(self.hidden_size, model.embedding)
        self.softmax = OutputLayer(model.embedding, parts.target_vocabulary_size)

    def _compute_initial_state(self, memory: EncoderMemory) -> Tensor:
        state = torch.tanh(upcast_half_precision(self.initial(memory.summaries[0])))
        return torch.cat([state, torch.zeros_like(state)], dim=1)

    def _compute_inputs(self, embedded: Tensor) -> list[Tensor]:
        return [upcast_half_precision(self.gru.input(embedded))]

    def _draw_masks(self, memory: EncoderMemory) -> GRUMasks:
        rows, like = len(memory.mask), memory.annotations[0]
        return GRUMasks(
            self.dropout.draw_mask("states", rows, self.hidden_size, like),
            self.dropout.draw_mask("states", rows, self.hidden_size, like),
        )

    def _compute_step(
        self,
        inputs: Sequence[Tensor],
        state: RecurrentState,
        memory: EncoderMemory,
        masks: GRUMasks | None = None,
        should_collect: bool = False,
    ) -> tuple[RecurrentState, RecurrentStep]:
        masks = masks or GRUMasks()
        before, fed = state.states.chunk(2, dim=1)
        phrase_weight = self._compute_phrase_weight(fed)
        values = inputs[0] + self.feed(fed, masks.feed)
        hidden = self.gru.step(values, before, masks.state)
        shares = None if phrase_weight is None else _compute_column_weights(phrase_weight, memory)
        attended = self.compute_attention_step([hidden], state.weighting_states, memory, shares, should_collect)
        vectors = [vector for (vector,) in attended.context_vectors]
        combined = torch.tanh(upcast_half_precision(self.combine(torch.cat([hidden, *vectors], dim=1))))
        step = RecurrentStep((combined,), attended, phrase_weight)
        return RecurrentState(torch.cat([hidden, combined], dim=1), attended.weighting_states), step

    def _compute_phrase_weight(self, fed: Tensor) -> Tensor | None:
        """Compute β_j (B,) from c_{j−1} (B, H)."""
        if self.gate is not None:
            return torch.sigmoid(upcast_half_precision(self.gate(fed))).squeeze(1)
        return None if self.phrase_weight is None else fed.new_full((len(fed),), float(self.phrase_weight))

    def _compute_readout(self, readout_inputs: Sequence[Tensor], is_projected: bool = False) -> Tensor:
        """Compute the readout (N, E) from c (N, H)."""
        return torch.tanh(self.readout(readout_inputs[0]))


def _compute_column_weights(phrase_weight: Tensor, memory: EncoderMemory) -> Tensor:
    """Compute the attention factor (B, N) of each memory column: 1 − β for words, β (B,) for phrases."""
    is_word = torch.arange(memory.mask.shape[1], device=phrase_weight.device) < memory.position_count
    phrase_weight = phrase_weight.unsqueeze(1)
    return torch.where(is_word, 1 - phrase_weight, phrase_weight)
