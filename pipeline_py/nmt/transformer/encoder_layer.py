"""A layer of the encoder (Vaswani et al. 2017, section 3.1)."""

from functools import partial

from torch import Tensor, nn

from pipeline_py.config.systems.transformer import Layers
from pipeline_py.nmt.transformer.attention import Change, MultiHeadAttention, as_read
from pipeline_py.nmt.transformer.feed_forward import FeedForward
from pipeline_py.nmt.transformer.residual import Residual


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each in a residual connection."""

    def __init__(self, options: Layers, size: int, dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(size, options.heads)
        self.feed_forward = FeedForward(size, round(options.feed_forward * size))
        self.around_attention = Residual(size, options.norm, dropout)
        self.around_feed_forward = Residual(size, options.norm, dropout)

    def forward(self, states: Tensor, mask: Tensor, change: Change | None = None) -> Tensor:
        """Map states (B, J, D) → (B, J, D); the mask (B, J) says where words are."""
        states = self.around_attention(states, partial(self._attend, allowed=mask.unsqueeze(1), change=change))
        mapped: Tensor = self.around_feed_forward(states, self.feed_forward)
        return mapped

    def _attend(self, states: Tensor, allowed: Tensor, change: Change | None) -> Tensor:
        states = as_read(states)
        keys, values = self.attention.key(states), self.attention.value(states)
        attended: Tensor = self.attention(states, keys, values, allowed, change)
        return attended
