"""A layer of the encoder (Vaswani et al. 2017, section 3.1)."""

from collections.abc import Callable
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

    def forward(
        self, states: Tensor, mask: Tensor, changing: Callable[[Tensor], Change | None] = lambda read: None
    ) -> Tensor:
        """Map states.

        Args:
            states: (B, J, D).
            mask: where words are (B, J).
            changing: told what the attention reads (B, J, D), normalized if it is so before the sublayer, says what
                changes its scores.

        Returns:
            (B, J, D).
        """
        states = self.around_attention(states, partial(self._attend, allowed=mask.unsqueeze(1), changing=changing))
        mapped: Tensor = self.around_feed_forward(states, self.feed_forward)
        return mapped

    def _attend(self, states: Tensor, allowed: Tensor, changing: Callable[[Tensor], Change | None]) -> Tensor:
        change = changing(states)
        states = as_read(states)
        keys, values = self.attention.key(states), self.attention.value(states)
        attended: Tensor = self.attention(states, keys, values, allowed, change)
        return attended
