"""The embedding of dependency labels (Sennrich and Haddow 2016)."""

from collections.abc import Mapping

from torch import Tensor, nn

from pipeline_py.config.systems.encoders import LabelInputConfig
from pipeline_py.nmt.data.batch import Batch


class LabelEmbedding(nn.Module):
    """An embedding of the dependency label of each word; EOS has a special label."""

    def __init__(self, options: LabelInputConfig, embedding_size: int, vocabulary_sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_sizes["labels"], embedding_size)

    def forward(self, batch: Batch) -> Tensor:
        """Embed the labels of the N words of a batch: (N, size)."""
        embedded: Tensor = self.embedding(batch.source_words.pack(batch.get_syntax("labels").squeeze(2).T))
        return embedded
