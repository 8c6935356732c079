"""One bidirectional layer of gated recurrent units (Bahdanau et al. 2015; Nematus)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from pipeline_py.config.encoders import BidirectionalGRU
from pipeline_py.config.systems import Model
from pipeline_py.nmt.attention import at_least_single
from pipeline_py.nmt.batch import Batch
from pipeline_py.nmt.dropout import SharedDropout, drop
from pipeline_py.nmt.gru import GRU
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.turn import turn


class Part(nn.Module):
    """Annotation h_j = [→h_j; ←h_j] of size 2·hidden; the summary is their mean over the sentence.

    What is read at a position are the vectors of the inputs side by side, of the embedding's size together.

    Dropout, as in Nematus: on what is read, for each direction its own, and on h on its way into the recurrent
    product.
    """

    def __init__(
        self, options: BidirectionalGRU, sizes: Model, inputs: Sequence[nn.Module], vocabularies: Mapping[str, int]
    ) -> None:
        super().__init__()
        self.size = self.summary_size = 2 * sizes.hidden
        self.inputs = nn.ModuleList(inputs)
        self.forwards = GRU(sizes.embedding, sizes.hidden)
        self.backwards = GRU(sizes.embedding, sizes.hidden)
        self.dropout = SharedDropout(sizes.dropout)

    def forward(self, batch: Batch) -> Memory:
        """Annotate B sentences of up to J positions."""
        length = batch.source.shape[1]
        mask = torch.arange(length, device=batch.source.device) < batch.source_lengths.unsqueeze(1)  # (B, J)
        read = [part(batch) for part in self.inputs]
        words = read[0] if len(read) == 1 else torch.cat(read, dim=2)  # (J, B, E)
        rightward = self._read(self.forwards, words)
        leftward = turn(self._read(self.backwards, turn(words, batch.source_lengths)), batch.source_lengths)
        states = torch.cat([rightward, leftward], dim=2).transpose(0, 1)  # (B, J, 2·hidden)
        summary = (states * mask.unsqueeze(2)).sum(dim=1) / batch.source_lengths.unsqueeze(1)
        return Memory((states,), mask, length, batch.source_lengths, (summary,), batch.tables)

    def _read(self, gru: GRU, words: Tensor) -> Tensor:
        """Run one direction: what is read (J, B, E) → states (J, B, hidden)."""
        words = drop(words, self.dropout.draw(words.shape[1], words.shape[2], words))
        mask = self.dropout.draw(words.shape[1], gru.hidden, words)
        return gru.sequence(at_least_single(gru.input(words)), mask)
