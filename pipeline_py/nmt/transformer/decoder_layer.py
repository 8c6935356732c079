"""A layer of the decoder (Vaswani et al. 2017, section 3.1)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.model import Dropout as Rates
from pipeline_py.config.systems.transformer import Layers
from pipeline_py.nmt.memory import Memory
from pipeline_py.nmt.search.owners import Owners
from pipeline_py.nmt.transformer.attention import Change, MultiHeadAttention
from pipeline_py.nmt.transformer.feed_forward import FeedForward
from pipeline_py.nmt.transformer.residual import Residual


@dataclass(frozen=True)
class Attended:
    """What a layer reads of the memory.

    Attributes:
        memory: whose mask (B, N), or in a search (R, N), and owners are read.
        keys: what the layer's attention made of the annotations, once for all words (B, N, D).
        values: the same.
        change: of the scores.
    """

    memory: Memory
    keys: Tensor
    values: Tensor
    change: Change | None = None


class DecoderLayer(nn.Module):
    """Self-attention to the words so far, attention to the memory, a feed-forward network, in residual connections."""

    def __init__(self, options: Layers, size: int, memory_size: int, rates: Rates) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(size, options.heads)
        self.to_memory = MultiHeadAttention(size, options.heads, memory_size)
        self.feed_forward = FeedForward(size, round(options.feed_forward * size))
        self.around_attention = Residual(size, options.norm, rates.states)
        self.around_memory = Residual(size, options.norm, rates.contexts)
        self.around_feed_forward = Residual(size, options.norm, rates.states)

    def forward(self, states: Tensor, attended: Attended, observe: bool = False) -> tuple[Tensor, Tensor | None]:
        """Map the states of whole sentences.

        Args:
            states: of all words (B, I, D).
            attended: what is attended to.
            observe: whether weights are asked for.

        Returns:
            (B, I, D), and the weights of the memory, the mean of the heads' (B, I, N), or None.
        """
        return self._rest(self.around_attention(states, self.attention.causal), attended, observe)

    def step(
        self, states: Tensor, past: Tensor, attended: Attended, observe: bool
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Map the states of one word of each row.

        Args:
            states: of the word (R, 1, D).
            past: keys and values of the self-attention to the T words before (R, 2, T, D).
            attended: what is attended to.
            observe: whether weights are asked for.

        Returns:
            (R, 1, D), the past of the next word (R, 2, T + 1, D), and weights (R, 1, N), or None.
        """
        so_far = past

        def attend(states: Tensor) -> Tensor:
            nonlocal so_far
            own = torch.stack([self.attention.key(states), self.attention.value(states)], dim=1)
            so_far = torch.cat([past, own], dim=2)
            mixed: Tensor = self.attention(states, so_far[:, 0], so_far[:, 1])
            return mixed

        states, weights = self._rest(self.around_attention(states, attend), attended, observe)
        return states, so_far, weights

    def _rest(self, states: Tensor, attended: Attended, observe: bool) -> tuple[Tensor, Tensor | None]:
        weights = None

        def attend(states: Tensor) -> Tensor:
            nonlocal weights
            mixed, weights = self._attend(states, attended, observe)
            return mixed

        states = self.around_memory(states, attend)
        return self.around_feed_forward(states, self.feed_forward), weights

    def _attend(self, states: Tensor, attended: Attended, observe: bool) -> tuple[Tensor, Tensor | None]:
        """Attend to the memory from states (B, I, D), in a search (R, 1, D); weights are the mean of the heads'."""
        keys, values, allowed = attended.keys, attended.values, attended.memory.mask.unsqueeze(1)
        owners = attended.memory.owners
        # Scores are changed by what a memory has for each row.
        grouped = owners is not None and owners.place is not None and attended.change is None
        if owners is not None and grouped:
            states, allowed = _grouped(states, owners, len(keys), 0), _grouped(allowed, owners, len(keys), 1)
        elif owners is not None:
            keys, values = keys.index_select(0, owners.sentence), values.index_select(0, owners.sentence)
        weights = None
        if observe:
            of_heads = self.to_memory.weights(states, keys, allowed, attended.change)
            mixed, weights = self.to_memory.mixed(of_heads, values), of_heads.mean(dim=1)
        else:
            mixed = self.to_memory(states, keys, values, allowed, attended.change)
        if owners is not None and grouped:
            mixed = _ungrouped(mixed, owners)
            weights = None if weights is None else _ungrouped(weights, owners)
        return mixed, weights


def _grouped(rows: Tensor, owners: Owners, sentences: int, fill: int) -> Tensor:
    """Lay the rows of a sentence side by side, so that its keys are read once: (R, 1, X) → (B, width, X)."""
    assert owners.place is not None and owners.width is not None
    spread = rows.new_full((sentences * owners.width, rows.shape[2]), fill)
    return spread.index_copy_(0, owners.place, rows.squeeze(1)).unflatten(0, (sentences, owners.width))


def _ungrouped(values: Tensor, owners: Owners) -> Tensor:
    """Take the rows back: (B, width, X) → (R, 1, X)."""
    assert owners.place is not None
    return values.flatten(0, 1).index_select(0, owners.place).unsqueeze(1)
