"""The score of a one-layer perceptron (Bahdanau et al. 2015; Nematus)."""

import torch
from torch import Tensor, nn

from pipeline_py.config.decoders import MLPScore
from pipeline_py.nmt.time_loop import LoopLinear


class Part(nn.Module):
    """e_ij = vᵀ tanh(W s' + U h_j + b) + b_e, of width 2·hidden, or another."""

    def __init__(self, options: MLPScore, query_size: int, memory_size: int) -> None:
        super().__init__()
        width = round(options.width * query_size)
        self.query = LoopLinear(query_size, width, bias=False)
        self.key = nn.Linear(memory_size, width)
        self.vector = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.zeros(()))

    def keys(self, states: Tensor) -> Tensor:
        """Compute U h_j + b, which no step changes: (B, N, M) → (B, N, A)."""
        keys: Tensor = self.key(states)
        return keys

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Score all annotations against one query: (B, Q), (B, N, A) → (B, N)."""
        hidden = self.query(query).unsqueeze(1) + keys
        return hidden.tanh() @ self.vector + self.bias
