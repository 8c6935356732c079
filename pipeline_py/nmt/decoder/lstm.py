"""An LSTM with input feeding (Luong et al. 2015; tree2seq eq. 3–8)."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pipeline_py.config.systems.decoders import LSTMDecoderConfig as Options
from pipeline_py.nmt.attention import at_least_single
from pipeline_py.nmt.decoder.base import Parts, State, Step
from pipeline_py.nmt.decoder.recurrent import RecurrentDecoder
from pipeline_py.nmt.fast.linear import LoopLinear, OutputLayer, RecurrentLinear
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.recurrence.lstm import LSTM


class LSTMDecoder(RecurrentDecoder):
    """h_j, c_j = LSTM(E[y_{j−1}], [h_{j−1}; h~_{j−1}], c_{j−1}); h~_j = tanh(W_2 [h_j; d_j] + b_2); softmax of h~_j.

    h_1 and c_1 are the encoder's last state, its summary [h; c]: nothing is read before the first word is predicted.
    The query of the score is h_j; d_j are the vectors of all contexts. (The paper's eq. 8 has h_j for h_{j−1}.)

    Dropout, which the paper does not have (one mask for all steps): on the embedding, on [h_{j−1}; h~_{j−1}] on its way
    into the recurrent product, and on what enters the softmax.
    """

    def __init__(self, options: Options, parts: Parts) -> None:
        super().__init__(parts)
        (memory_size,) = parts.memory_sizes
        self.size = parts.system.model.hidden
        self.lstm = LSTM(parts.system.model.embedding, self.size)
        self.lstm.recurrent = RecurrentLinear(2 * self.size, 4 * self.size, bias=False)  # of [h; h~] where it had h
        self.combine = LoopLinear(self.size + memory_size * len(parts.weightings), self.size, bias=True)
        self.softmax = OutputLayer(self.size, parts.target_size)

    def _first_hidden(self, memory: Memory) -> Tensor:
        hidden, cell = memory.summary[0].chunk(2, dim=1)
        return torch.cat([hidden, torch.zeros_like(hidden), cell], dim=1)

    def _inputs(self, embedded: Tensor) -> list[Tensor]:
        return [at_least_single(self.lstm.input(embedded))]

    def _masks(self, memory: Memory) -> Tensor | None:
        return self.dropout.draw("states", len(memory.mask), 2 * self.size, memory.states[0])

    def _advance(
        self,
        inputs: Sequence[Tensor],
        state: State,
        memory: Memory,
        masks: Tensor | None = None,
        observe: bool = False,
    ) -> tuple[State, Step]:
        fed, cell = state.hidden.split([2 * self.size, self.size], dim=1)
        if state.first:
            hidden = fed[:, : self.size]
        else:
            hidden, cell = self.lstm.step(inputs[0], fed, cell, masks)
        attended = self.attention_step([hidden], state.carried, memory, observe=observe)
        vectors = [vector for (vector,) in attended.vectors]
        combined = torch.tanh(at_least_single(self.combine(torch.cat([hidden, *vectors], dim=1))))
        return State(torch.cat([hidden, combined, cell], dim=1), attended.carried), Step((combined,), attended)

    def _readout(self, vectors: Sequence[Tensor], projected: bool = False) -> Tensor:
        """Return h~ (N, H)."""
        return vectors[0]
