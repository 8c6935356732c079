"""The score of an inner product (Luong et al. 2015; tree2seq eq. 5)."""

from collections.abc import Sequence

from torch import Tensor, nn

from pipeline_py.config.systems.decoders import DotScore
from pipeline_py.nmt.recurrence.loop_matrices import LoopMatrices
from pipeline_py.nmt.recurrence.time_loop import Trace
from pipeline_py.nmt.search.owners import Owners


class DotProductScore(nn.Module):
    """e_ij = h_j · s; annotations and query are of one size."""

    def __init__(self, options: DotScore, query_size: int, memory_size: int) -> None:
        super().__init__()
        if query_size != memory_size:
            raise ValueError(f"no inner product of a query of size {query_size} and annotations of size {memory_size}")
        self.product = LoopMatrices()

    def keys(self, states: Tensor, there: Tensor | None = None) -> Tensor:
        """Return the annotations themselves (B, N, H)."""
        return states

    def forward(self, query: Tensor, keys: Tensor, owners: Owners | None = None) -> Tensor:
        """Score all annotations against one query: (R, H), (B, N, H) → (R, N); without owners a row is a sentence."""
        scores: Tensor = self.product(query, keys.transpose(1, 2), owners)
        return scores

    def traced(self, keys: Tensor, reach: Sequence[int] | None = None) -> Trace:
        """Begin a trace of a loop in which all is scored with `keys` (B, N, H)."""
        return self.product.traced(keys.transpose(1, 2))
