"""One bidirectional layer of gated recurrent units (Bahdanau et al. 2015; Nematus)."""

import torch
from torch import Tensor, nn

from pipeline_py.config.systems import BidirectionalGRU, Model
from pipeline_py.nmt.attention import at_least_single
from pipeline_py.nmt.batch import Batch
from pipeline_py.nmt.dropout import SharedDropout, drop
from pipeline_py.nmt.gru import GRU
from pipeline_py.nmt.memory import Memory


class Part(nn.Module):
    """Annotation h_j = [→h_j; ←h_j] of size 2·hidden; the summary is their mean over the sentence.

    Dropout, as in Nematus: on the embeddings, for each direction its own, and on h on its way into the recurrent
    product.
    """

    def __init__(self, options: BidirectionalGRU, sizes: Model, source_size: int) -> None:
        super().__init__()
        self.size = 2 * sizes.hidden
        self.embedding = nn.Embedding(source_size, sizes.embedding)
        self.forwards = GRU(sizes.embedding, sizes.hidden)
        self.backwards = GRU(sizes.embedding, sizes.hidden)
        self.dropout = SharedDropout(sizes.dropout)

    def forward(self, batch: Batch) -> Memory:
        """Annotate B sentences of up to J positions."""
        length = batch.source.shape[1]
        position = torch.arange(length, device=batch.source.device)
        mask = position < batch.source_lengths.unsqueeze(1)  # (B, J)
        # Each sentence is turned round within its own length, so that padding always comes last and is never read.
        turned = torch.where(mask, batch.source_lengths.unsqueeze(1) - 1 - position, position)

        rightward = self._read(self.forwards, batch.source)
        leftward = self._read(self.backwards, batch.source.gather(1, turned))
        # Rows by their number: the gradient of a gather along one dimension is slow where it must be repeatable.
        rows = turned + length * torch.arange(len(turned), device=turned.device).unsqueeze(1)
        leftward = leftward.flatten(0, 1).index_select(0, rows.flatten()).view_as(leftward)
        states = torch.cat([rightward, leftward], dim=2)  # (B, J, 2·hidden)
        summary = (states * mask.unsqueeze(2)).sum(dim=1) / batch.source_lengths.unsqueeze(1)
        return Memory(states, mask, batch.source_lengths, summary, batch.syntax)

    def _read(self, gru: GRU, words: Tensor) -> Tensor:
        """Run one direction: identifiers (B, J) → states (B, J, hidden)."""
        embedded = self.embedding(words.T)  # (J, B, E)
        embedded = drop(embedded, self.dropout.draw(embedded.shape[1], embedded.shape[2], embedded))
        mask = self.dropout.draw(len(words), gru.hidden, embedded)
        return gru.sequence(at_least_single(gru.input(embedded)), mask).transpose(0, 1)
