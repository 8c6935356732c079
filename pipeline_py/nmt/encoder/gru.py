"""One layer of gated recurrent units, read forwards or both ways (hierarchical sections 2.1 and 3.1)."""

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

    What is read at a position are the vectors of the inputs side by side, of the embedding's size together.

    Dropout, as in `bidirectional_gru`: on what is read, for each direction its own, and on h on its way into the
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
        each = model_config.hidden if options.direction == "forward" else model_config.hidden // 2
        self.forwards = OriginalGRU(model_config.embedding, each)
        self.backwards = None if options.direction == "forward" else OriginalGRU(model_config.embedding, each)
        self.dropout = SharedDropout(model_config.dropout_rates)

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions."""
        values = self.inputs(batch)  # (N, E)
        words = batch.source_words
        states = run_recurrence(self.forwards, values, words, self.dropout)
        if self.backwards is not None:
            turned = words.compute_reversed_indices(batch.source_lengths)
            leftward = run_recurrence(self.backwards, values.index_select(0, turned), words, self.dropout)
            states = torch.cat([states, leftward.index_select(0, turned)], dim=1)
        states = words.unpack(states)  # (B, J, H)
        return EncoderMemory.from_words(batch, states, average_states(states, batch.source_mask))


def average_states(states: Tensor, mask: Tensor) -> Tensor:
    """Mean of each sentence's states (B, J, H) where the mask (B, J) is true: (B, H)."""
    return (states * mask.unsqueeze(2)).sum(dim=1) / mask.sum(dim=1, keepdim=True)
