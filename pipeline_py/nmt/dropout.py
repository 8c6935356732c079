"""Inverted dropout with one mask for all time steps (Gal and Ghahramani 2016; Nematus)."""

from torch import Tensor, nn


class SharedDropout(nn.Module):
    """Draws masks; nothing is dropped when the network is not training."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate

    def draw(self, rows: int, width: int, like: Tensor) -> Tensor | None:
        """Draw a mask (rows, width) of zeros and 1/(1 − rate), or None where nothing is dropped."""
        if not self.training or self.rate == 0:
            return None
        return like.new_empty(rows, width).bernoulli_(1 - self.rate).div_(1 - self.rate)


def drop(values: Tensor, mask: Tensor | None) -> Tensor:
    """Apply a mask (…, B, X) to values (…, R, X) of the first R rows."""
    return values if mask is None else values * mask[..., : values.shape[-2], :]
