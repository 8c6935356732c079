"""Layers of the encoder and the decoder of a Transformer (Vaswani et al. 2017, section 3)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.network_parts import TransformerLayersConfig
from pipeline_py.config.systems.training import DropoutConfig as Rates
from pipeline_py.nmt.dropout import Dropout
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.search.row_sentences import RowSentences
from pipeline_py.nmt.transformer.attention import Change, MultiHeadAttention, as_read

LONGEST = 10_000.0
"""The longest wave is 2π times this."""


def with_positions(embedded: Tensor, first: int = 0) -> Tensor:
    """Add positions to the embeddings x of words (B, I, D) from position `first` on: √D · x + p.

    p_2k = sin(i / 10000^(2k/D)) and p_2k+1 = cos of the same, at position i counted from 0.
    """
    length, size = embedded.shape[1:]
    place = torch.arange(first, first + length, device=embedded.device, dtype=torch.float64)
    even = torch.arange(0, size, 2, device=embedded.device, dtype=torch.float64)
    angles = place.unsqueeze(1) * LONGEST ** (-even / size)
    positions = torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
    return embedded * size**0.5 + positions.to(embedded.dtype)


class FeedForward(nn.Module):
    """W_2 max(0, W_1 x + b_1) + b_2."""

    def __init__(self, size: int, inner: int) -> None:
        super().__init__()
        self.inner = Linear(size, inner)
        self.outer = Linear(inner, size)

    def forward(self, states: Tensor) -> Tensor:
        """Map (…, D) → (…, D)."""
        mapped: Tensor = self.outer(torch.relu(self.inner(states)))
        return mapped


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


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each in a residual connection."""

    def __init__(self, options: TransformerLayersConfig, size: int, dropout: float) -> None:
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


@dataclass(frozen=True)
class Attended:
    """What a layer reads of the memory.

    Attributes:
        memory: whose mask (B, N), or in a search (R, N), and owners are read.
        keys: what the layer's attention made of the annotations, once for all words (B, N, D).
        values: the same.
        change: of the scores.
    """

    memory: EncoderMemory
    keys: Tensor
    values: Tensor
    change: Change | None = None


class DecoderLayer(nn.Module):
    """Self-attention to the words so far, attention to the memory, a feed-forward network, in residual connections."""

    def __init__(self, options: TransformerLayersConfig, size: int, memory_size: int, rates: Rates) -> None:
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
        owners = attended.memory.row_sentences
        # Scores are changed by what a memory has for each row.
        grouped = owners is not None and owners.padded_indices is not None and attended.change is None
        if owners is not None and grouped:
            states, allowed = _grouped(states, owners, len(keys), 0), _grouped(allowed, owners, len(keys), 1)
        elif owners is not None:
            keys, values = (
                keys.index_select(0, owners.sentence_indices),
                values.index_select(0, owners.sentence_indices),
            )
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


def _grouped(rows: Tensor, owners: RowSentences, sentences: int, fill: int) -> Tensor:
    """Lay the rows of a sentence side by side, so that its keys are read once: (R, 1, X) → (B, width, X)."""
    assert owners.padded_indices is not None and owners.max_rows is not None
    spread = rows.new_full((sentences * owners.max_rows, rows.shape[2]), fill)
    return spread.index_copy_(0, owners.padded_indices, rows.squeeze(1)).unflatten(0, (sentences, owners.max_rows))


def _ungrouped(values: Tensor, owners: RowSentences) -> Tensor:
    """Take the rows back: (B, width, X) → (R, 1, X)."""
    assert owners.padded_indices is not None
    return values.flatten(0, 1).index_select(0, owners.padded_indices).unsqueeze(1)
