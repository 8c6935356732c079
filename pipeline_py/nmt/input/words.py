"""The embedding of words or pieces."""

from collections.abc import Mapping

from torch import Tensor, nn

from pipeline_py.config.systems.encoders import WordInputConfig
from pipeline_py.nmt.data.batch import Batch


class WordEmbedding(nn.Module):
    """V_x, an embedding of each word of the source vocabulary."""

    def __init__(self, options: WordInputConfig, embedding_size: int, vocabulary_sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_sizes["source"], embedding_size)

    def forward(self, batch: Batch) -> Tensor:
        """Embed the N words of a batch: (N, size)."""
        embedded: Tensor = self.embedding(batch.source_words.pack(batch.source.T))
        return embedded
