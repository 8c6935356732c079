"""One bidirectional layer of gated recurrent units (Bahdanau et al. 2015; Nematus)."""

from collections.abc import Sequence

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

    What is read at a position are the vectors of the inputs side by side, of the embedding's size together.

    Dropout, as in Nematus: on what is read, for each direction its own, and on h on its way into the recurrent
    product.
    """

    def __init__(self, options: BidirectionalGRU, sizes: Model, inputs: Sequence[nn.Module]) -> None:
        super().__init__()
        self.size = self.summary_size = 2 * sizes.hidden
        self.inputs = nn.ModuleList(inputs)
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

        read = [part(batch) for part in self.inputs]
        words = read[0] if len(read) == 1 else torch.cat(read, dim=2)  # (J, B, E)
        rightward = self._read(self.forwards, words)
        leftward = _turn(self._read(self.backwards, _turn(words, turned.T)), turned.T)
        states = torch.cat([rightward, leftward], dim=2).transpose(0, 1)  # (B, J, 2·hidden)
        summary = (states * mask.unsqueeze(2)).sum(dim=1) / batch.source_lengths.unsqueeze(1)
        return Memory((states,), mask, length, batch.source_lengths, (summary,), batch.syntax)

    def _read(self, gru: GRU, words: Tensor) -> Tensor:
        """Run one direction: what is read (J, B, E) → states (J, B, hidden)."""
        words = drop(words, self.dropout.draw(words.shape[1], words.shape[2], words))
        mask = self.dropout.draw(words.shape[1], gru.hidden, words)
        return gru.sequence(at_least_single(gru.input(words)), mask)


def _turn(values: Tensor, turned: Tensor) -> Tensor:
    """Take each sentence's values (J, B, X) from the positions (J, B) that `turned` names."""
    # Rows by their number: the gradient of a gather along one dimension is slow where it must be repeatable.
    rows = turned * turned.shape[1] + torch.arange(turned.shape[1], device=turned.device)
    return values.flatten(0, 1).index_select(0, rows.flatten()).view_as(values)
