"""The score of an inner product (Luong et al. 2015; tree2seq eq. 5)."""

from collections.abc import Sequence

from torch import Tensor

from pipeline_py.config.systems.decoders import DotScoreConfig
from pipeline_py.nmt.attention_weighting import cast_to_product_dtype
from pipeline_py.nmt.fast.sentence_products import SentenceProduct
from pipeline_py.nmt.fast.time_loop import LoopTrace, TracedScore
from pipeline_py.nmt.search.row_sentences import RowSentences


class DotProductScore(TracedScore):
    """e_ij = h_j · s; annotations and query have the same size."""

    def __init__(self, options: DotScoreConfig, query_size: int, annotation_size: int) -> None:
        super().__init__()
        if query_size != annotation_size:
            raise ValueError(
                f"no inner product of a query of size {query_size} and annotations of size {annotation_size}"
            )
        self.product = SentenceProduct()

    def compute_keys(self, annotations: Tensor, unpadded_indices: Tensor | None = None) -> Tensor:
        """Return the annotations themselves (B, N, H)."""
        return cast_to_product_dtype(annotations)

    def forward(self, query: Tensor, keys: Tensor, row_sentences: RowSentences | None = None) -> Tensor:
        """Score annotations (B, N, H) against queries (R, H): (R, N); without `row_sentences`, a row is a sentence."""
        product: Tensor = self.product(query, keys.transpose(1, 2), row_sentences)
        return product

    def begin_trace(self, keys: Tensor, step_count: int, column_counts: Sequence[int] | None = None) -> LoopTrace:
        """Begin a trace; see `TracedScore`."""
        return self.product.begin_trace(keys.transpose(1, 2), step_count)
