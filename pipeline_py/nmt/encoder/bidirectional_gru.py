"""One bidirectional layer of gated recurrent units (Bahdanau et al. 2015; Nematus)."""

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from pipeline_py.config.systems.encoders import BidirectionalGRUEncoderConfig
from pipeline_py.config.systems.training import ModelConfig
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.encoder.reading import Inputs, read
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.recurrence.gru import GRU


class BidirectionalGRUEncoder(nn.Module):
    """Annotation h_j = [→h_j; ←h_j] of size 2·hidden; the summary is their mean over the sentence.

    What is read at a position are the vectors of the inputs side by side, of the embedding's size together.

    Dropout, as in Nematus: on what is read, for each direction its own, and on h on its way into the recurrent
    product.
    """

    def __init__(
        self,
        options: BidirectionalGRUEncoderConfig,
        sizes: ModelConfig,
        inputs: Sequence[nn.Module],
        vocabularies: Mapping[str, int],
    ) -> None:
        super().__init__()
        self.size = self.summary_size = 2 * sizes.hidden
        self.inputs = Inputs(inputs)
        self.forwards = GRU(sizes.embedding, sizes.hidden)
        self.backwards = GRU(sizes.embedding, sizes.hidden)
        self.dropout = SharedDropout(sizes.dropout_rates)

    def forward(self, batch: Batch) -> EncoderMemory:
        """Annotate B sentences of up to J positions."""
        values = self.inputs(batch)  # (N, E)
        words = batch.source_words
        turned = words.compute_reversed_indices(batch.source_lengths)
        rightward = read(self.forwards, values, words, self.dropout)
        leftward = read(self.backwards, values.index_select(0, turned), words, self.dropout)
        states = words.unpack(torch.cat([rightward, leftward.index_select(0, turned)], dim=1))
        summary = states.sum(dim=1) / batch.source_lengths.unsqueeze(1)
        return EncoderMemory.from_words(batch, states, summary)
