"""How the sequential encoders read: what their inputs say of each word, through a recurrence."""

from typing import Any

import torch
from torch import Tensor, nn

from pipeline_py.nmt.data.batch import Batch, PackedWords
from pipeline_py.nmt.dropout import SharedDropout


class ConcatenatedInputs(nn.ModuleList):
    """The vectors of several inputs side by side."""

    def forward(self, batch: Batch) -> Tensor:
        """Represent the N words of a batch: (N, E)."""
        vectors = [part(batch) for part in self]
        return vectors[0] if len(vectors) == 1 else torch.cat(vectors, dim=1)


def run_recurrence(recurrence: Any, input_vectors: Tensor, packed_words: PackedWords, dropout: SharedDropout) -> Any:
    """Read words (N, E) in their order, with dropout of what is read, and of h on its way into the recurrent product.

    Returns:
        What the recurrence's `sequence` gives: states (N, H), of an LSTM cells too.
    """
    input_vectors = packed_words.apply_dropout_mask(
        input_vectors,
        dropout.draw_mask("embeddings", packed_words.sentence_count, input_vectors.shape[1], input_vectors),
    )
    mask = dropout.draw_mask("states", packed_words.sentence_count, recurrence.hidden_size, input_vectors)
    return recurrence.forward_packed(recurrence.input(input_vectors), packed_words.batch_sizes, mask)
