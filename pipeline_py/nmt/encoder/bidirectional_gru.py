"""One bidirectional layer of gated recurrent units (Bahdanau et al. 2015; Nematus)."""

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from pipeline_py.config.systems.encoders import BidirectionalGRUEncoderConfig
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.encoder.recurrent_input import ConcatenatedInputs, run_recurrence
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.recurrence.gru import GRU


class BidirectionalGRUEncoder(nn.Module):
    """Annotation h_j = [→h_j; ←h_j] of size 2·hidden; the summary is their mean over the sentence.

    The input at a position is the concatenation of all input vectors, of the embedding size together.

    Dropout, as in Nematus: on the input vectors, with a mask for each direction, and on h before the recurrent
    product.
    """

    def __init__(
        self,
        options: BidirectionalGRUEncoderConfig,
        model_config: ModelConfig,
        input_parts: Sequence[nn.Module],
        vocabulary_sizes: Mapping[str, int],
    ) -> None:
        super().__init__()
        self.annotation_size = self.summary_size = 2 * model_config.hidden
        self.inputs = ConcatenatedInputs(input_parts)
        self.forwards = GRU(model_config.embedding, model_config.hidden)
        self.backwards = GRU(model_config.embedding, model_config.hidden)
        self.dropout = SharedDropout(model_config.dropout_rates)

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions."""
        values = self.inputs(batch)  # (N, E)
        words = batch.source_words
        reversed_indices = words.compute_reversed_indices(batch.source_lengths)
        rightward = run_recurrence(self.forwards, values, words, self.dropout)
        leftward = run_recurrence(self.backwards, values.index_select(0, reversed_indices), words, self.dropout)
        states = words.unpack(torch.cat([rightward, leftward.index_select(0, reversed_indices)], dim=1))
        summary = states.sum(dim=1) / batch.source_lengths.unsqueeze(1)
        return EncoderMemory.from_words(batch, states, summary)
