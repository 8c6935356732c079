"""A residual connection with layer normalization (Vaswani et al. 2017, section 3.1)."""

from collections.abc import Callable

from torch import Tensor, nn

from pipeline_py.nmt.dropout import Dropout


class Residual(nn.Module):
    """LayerNorm(x + f(x)) as published (`post`), or x + f(LayerNorm(x)) (`pre`); f(x) is dropped out."""

    def __init__(self, size: int, norm: str, dropout: float) -> None:
        super().__init__()
        self.before = norm == "pre"
        self.norm = nn.LayerNorm(size)
        self.dropout = Dropout(dropout)

    def forward(self, states: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Put a sublayer (…, D) → (…, D) around states (…, D)."""
        if self.before:
            return states + self.dropout(sublayer(self.norm(states)))
        normed: Tensor = self.norm(states + self.dropout(sublayer(states)))
        return normed


def last_norm(size: int, norm: str) -> nn.Module:
    """Make what stands behind the last layer: a normalization, where none stands behind each sublayer."""
    return nn.LayerNorm(size) if norm == "pre" else nn.Identity()
