"""The score of an inner product (Luong et al. 2015; tree2seq eq. 5)."""

from torch import Tensor, nn

from pipeline_py.config.systems.decoders import DotScoreConfig
from pipeline_py.nmt.attention_weighting import cast_to_product_dtype, multiply_sentence_matrices
from pipeline_py.nmt.search.row_sentences import RowSentences


class DotProductScore(nn.Module):
    """e_ij = h_j · s; annotations and query are of one size."""

    def __init__(self, options: DotScoreConfig, query_size: int, memory_size: int) -> None:
        super().__init__()
        if query_size != memory_size:
            raise ValueError(f"no inner product of a query of size {query_size} and annotations of size {memory_size}")

    def keys(self, states: Tensor, there: Tensor | None = None) -> Tensor:
        """Return the annotations themselves (B, N, H)."""
        return cast_to_product_dtype(states)

    def forward(self, query: Tensor, keys: Tensor, owners: RowSentences | None = None) -> Tensor:
        """Score all annotations against one query: (R, H), (B, N, H) → (R, N); without owners a row is a sentence."""
        return multiply_sentence_matrices(query, keys.transpose(1, 2), owners)
