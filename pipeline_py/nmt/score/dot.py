"""The score of an inner product (Luong et al. 2015; tree2seq eq. 5)."""

import torch
from torch import Tensor, nn

from pipeline_py.config.decoders import DotScore


class Part(nn.Module):
    """e_ij = h_j · s; annotations and query are of one size."""

    def __init__(self, options: DotScore, query_size: int, memory_size: int) -> None:
        super().__init__()
        if query_size != memory_size:
            raise ValueError(f"no inner product of a query of size {query_size} and annotations of size {memory_size}")

    def keys(self, states: Tensor) -> Tensor:
        """Return the annotations themselves (B, N, H)."""
        return states

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score all annotations against one query: (B, H), (B, N, H) → (B, N)."""
        return torch.bmm(keys, query.unsqueeze(2)).squeeze(2)
