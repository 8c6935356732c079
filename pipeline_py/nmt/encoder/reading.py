"""How the sequential encoders read: what their inputs say of each word, through a recurrence."""

from typing import Any

import torch
from torch import Tensor, nn

from pipeline_py.nmt.data.batch import Batch, PackedWords
from pipeline_py.nmt.dropout import SharedDropout


class Inputs(nn.ModuleList):
    """The vectors of several inputs side by side."""

    def forward(self, batch: Batch) -> Tensor:
        """Represent the N words of a batch: (N, E)."""
        vectors = [part(batch) for part in self]
        return vectors[0] if len(vectors) == 1 else torch.cat(vectors, dim=1)


def read(recurrence: Any, values: Tensor, words: PackedWords, dropout: SharedDropout) -> Any:
    """Read words (N, E) in their order, with dropout of what is read, and of h on its way into the recurrent product.

    Returns:
        What the recurrence's `sequence` gives: states (N, H), of an LSTM cells too.
    """
    values = words.apply_dropout_mask(
        values, dropout.draw_mask("embeddings", words.sentence_count, values.shape[1], values)
    )
    mask = dropout.draw_mask("states", words.sentence_count, recurrence.hidden, values)
    return recurrence.sequence(recurrence.input(values), words.batch_sizes, mask)
