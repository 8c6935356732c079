"""Input vectors and the run of a recurrence over them, for the sequential encoders."""

from typing import Any

import torch
from torch import Tensor, nn

from pipeline_py.nmt.data.batch import Batch, PackedWords
from pipeline_py.nmt.dropout import SharedDropout


class ConcatenatedInputs(nn.ModuleList):
    """The concatenated vectors of several inputs."""

    def forward(self, batch: Batch) -> Tensor:
        """Represent the N words of a batch: (N, E)."""
        vectors = [part(batch) for part in self]
        return vectors[0] if len(vectors) == 1 else torch.cat(vectors, dim=1)


def run_recurrence(recurrence: Any, input_vectors: Tensor, packed_words: PackedWords, dropout: SharedDropout) -> Any:
    """Run a recurrence over words (N, E), with dropout on the input vectors and on h before the recurrent product.

    Returns:
        The result of the recurrence's `forward_packed`: states (N, H), and cells (N, H) of an LSTM.
    """
    input_vectors = packed_words.apply_dropout_mask(
        input_vectors,
        dropout.draw_mask("embeddings", packed_words.sentence_count, input_vectors.shape[1], input_vectors),
    )
    mask = dropout.draw_mask("states", packed_words.sentence_count, recurrence.hidden_size, input_vectors)
    return recurrence.forward_packed(recurrence.input(input_vectors), packed_words.batch_sizes, mask)
