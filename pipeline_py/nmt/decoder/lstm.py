"""An LSTM with input feeding (Luong et al. 2015; tree2seq eq. 3–8)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pipeline_py.config.systems.decoders import LSTMDecoderConfig as Options
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.decoder.base import DecoderParts, RecurrentState, RecurrentStep
from pipeline_py.nmt.decoder.recurrent import RecurrentDecoder
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import LoopLinear, OutputLayer, RecurrentLinear
from pipeline_py.nmt.recurrence.lstm import LSTM


class LSTMDecoder(RecurrentDecoder):
    """h_j, c_j = LSTM(E[y_{j−1}], [h_{j−1}; h~_{j−1}], c_{j−1}); h~_j = tanh(W_2 [h_j; d_j] + b_2); softmax of h~_j.

    h_1 and c_1 are the encoder's last state, its summary [h; c]; the first step reads no word.
    The query of the score is h_j; d_j are the vectors of all contexts. (The paper's eq. 8 has h_j for h_{j−1}.)

    Dropout (one mask for all steps; not in the paper) applies to the embedding, to [h_{j−1}; h~_{j−1}] in the recurrent
    product, and to the input of the softmax.
    """

    def __init__(self, options: Options, parts: DecoderParts) -> None:
        super().__init__(parts)
        (memory_size,) = parts.annotation_sizes
        self.hidden_size = parts.composition.model.hidden
        self.lstm = LSTM(parts.composition.model.embedding, self.hidden_size)
        self.lstm.recurrent = RecurrentLinear(
            2 * self.hidden_size, 4 * self.hidden_size, bias=False
        )  # reads [h; h~] instead of h
        self.combine = LoopLinear(self.hidden_size + memory_size * len(parts.weightings), self.hidden_size, bias=True)
        self.softmax = OutputLayer(self.hidden_size, parts.target_vocabulary_size)

    def _compute_initial_state(self, memory: EncoderMemory) -> Tensor:
        hidden, cell = memory.summaries[0].chunk(2, dim=1)
        return torch.cat([hidden, torch.zeros_like(hidden), cell], dim=1)

    def _compute_inputs(self, embedded: Tensor) -> list[Tensor]:
        return [upcast_half_precision(self.lstm.input(embedded))]

    def _draw_masks(self, memory: EncoderMemory) -> Tensor | None:
        return self.dropout.draw_mask("states", len(memory.mask), 2 * self.hidden_size, memory.annotations[0])

    def _compute_step(
        self,
        inputs: Sequence[Tensor],
        state: RecurrentState,
        memory: EncoderMemory,
        masks: Tensor | None = None,
        should_collect: bool = False,
    ) -> tuple[RecurrentState, RecurrentStep]:
        fed, cell = state.states.split([2 * self.hidden_size, self.hidden_size], dim=1)
        if state.is_first:
            hidden = fed[:, : self.hidden_size]
        else:
            hidden, cell = self.lstm.step(inputs[0], fed, cell, masks)
        attended = self.compute_attention_step([hidden], state.weighting_states, memory, should_collect=should_collect)
        vectors = [vector for (vector,) in attended.context_vectors]
        combined = torch.tanh(upcast_half_precision(self.combine(torch.cat([hidden, *vectors], dim=1))))
        return RecurrentState(torch.cat([hidden, combined, cell], dim=1), attended.weighting_states), RecurrentStep(
            (combined,), attended
        )

    def _compute_readout(self, readout_inputs: Sequence[Tensor], is_projected: bool = False) -> Tensor:
        """Return h~ (N, H)."""
        return readout_inputs[0]
