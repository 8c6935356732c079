"""One bidirectional layer of gated recurrent units (Bahdanau et al. 2015; Nematus)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from pipeline_py.config.encoders import BidirectionalGRU
from pipeline_py.config.systems import Model
from pipeline_py.nmt.batch import Batch
from pipeline_py.nmt.batch_words import Words
from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.gru import GRU, sequences
from pipeline_py.nmt.memory import Memory


class BidirectionalGRUEncoder(nn.Module):
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
        read = [part(batch) for part in self.inputs]
        values = read[0] if len(read) == 1 else torch.cat(read, dim=1)  # (N, E)
        words = batch.source_words
        turned = words.turned(batch.source_lengths)
        rightward, leftward = self._read([values, values.index_select(0, turned)], words).unbind(0)
        states = words.unpack(torch.cat([rightward, leftward.index_select(0, turned)], dim=1))
        summary = states.sum(dim=1) / batch.source_lengths.unsqueeze(1)
        return Memory.of_words(batch, states, summary)

    def _read(self, directions: Sequence[Tensor], words: Words) -> Tensor:
        """Run both directions side by side: what each reads (N, E) → states (2, N, hidden)."""
        dropped, masks = [], []
        for read in directions:
            dropped.append(words.drop(read, self.dropout.draw(words.sentences, read.shape[1], read)))
            masks.append(self.dropout.draw(words.sentences, self.size // 2, read))
        grus = self.forwards, self.backwards
        weights = torch.stack([gru.input.weight for gru in grus]).transpose(1, 2)  # (2, E, 3·hidden)
        biases = torch.stack([gru.input.bias for gru in grus if gru.input.bias is not None]).unsqueeze(1)
        inputs = torch.baddbmm(biases, torch.stack(dropped), weights)
        of_states = [mask for mask in masks if mask is not None]
        return sequences(grus, inputs, words.steps, torch.stack(of_states) if of_states else None)
