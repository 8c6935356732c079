"""One layer of gated recurrent units, forward or bidirectional (hierarchical sections 2.1 and 3.1)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.encoders import GRUEncoderConfig as Options
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.encoder.recurrent_input import ConcatenatedInputs, run_recurrence
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.recurrence.original_gru import OriginalGRU


class GRUEncoder(nn.Module):
    """Annotation →h_j, or [→h_j; ←h_j] with each direction of half the size; the summary is their mean.

    The input at a position is the concatenation of all input vectors, of the embedding size together.

    Dropout, as in `bidirectional_gru`: on the input vectors, with a mask for each direction, and on h before the
    recurrent products.
    """

    def __init__(
        self,
        options: Options,
        model_config: ModelConfig,
        input_parts: Sequence[nn.Module],
        vocabulary_sizes: Mapping[str, int],
    ) -> None:
        super().__init__()
        self.annotation_size = self.summary_size = model_config.hidden
        self.inputs = ConcatenatedInputs(input_parts)
        direction_size = model_config.hidden if options.direction == "forward" else model_config.hidden // 2
        self.forwards = OriginalGRU(model_config.embedding, direction_size)
        self.backwards = None if options.direction == "forward" else OriginalGRU(model_config.embedding, direction_size)
        self.dropout = SharedDropout(model_config.dropout_rates)

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions."""
        values = self.inputs(batch)  # (N, E)
        words = batch.source_words
        states = run_recurrence(self.forwards, values, words, self.dropout)
        if self.backwards is not None:
            reversed_indices = words.compute_reversed_indices(batch.source_lengths)
            leftward = run_recurrence(self.backwards, values.index_select(0, reversed_indices), words, self.dropout)
            states = torch.cat([states, leftward.index_select(0, reversed_indices)], dim=1)
        states = words.unpack(states)  # (B, J, H)
        return EncoderMemory.from_words(batch, states, average_states(states, batch.source_mask))


def average_states(states: Tensor, mask: Tensor) -> Tensor:
    """Average the states (B, J, H) of each sentence where the mask (B, J) is true: (B, H)."""
    return (states * mask.unsqueeze(2)).sum(dim=1) / mask.sum(dim=1, keepdim=True)
