"""Layers of the encoder and the decoder of a Transformer (Vaswani et al. 2017, section 3)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.network_parts import TransformerLayersConfig
from pipeline_py.config.systems.training import DropoutConfig as Rates
from pipeline_py.nmt.dropout import Dropout
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.transformer.multi_head_attention import MultiHeadAttention, ScoreTransform, cast_to_autocast_dtype

WAVELENGTH_BASE = 10_000.0
"""Longest wavelength of the positional encoding, in units of 2π."""


def add_positional_encoding(embeddings: Tensor, first_position: int = 0) -> Tensor:
    """Scale embeddings x (B, I, D) and add the encoding p of positions from `first_position`: √D · x + p.

    p_2k = sin(i / 10000^(2k/D)) and p_2k+1 is the cosine of the same angle, at position i counted from 0.
    """
    length, size = embeddings.shape[1:]
    positions = compute_positional_encoding(length, size, embeddings.device, first_position)
    return embeddings * size**0.5 + positions.to(embeddings.dtype)


def compute_positional_encoding(length: int, size: int, device: torch.device, first_position: int = 0) -> Tensor:
    """Compute the encoding p (I, D) of I positions, as in `add_positional_encoding`."""
    place = torch.arange(first_position, first_position + length, device=device, dtype=torch.float64)
    even_columns = torch.arange(0, size, 2, device=device, dtype=torch.float64)
    angles = place.unsqueeze(1) * WAVELENGTH_BASE ** (-even_columns / size)
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)


class FeedForward(nn.Module):
    """W_2 max(0, W_1 x + b_1) + b_2."""

    def __init__(self, hidden_size: int, inner_size: int) -> None:
        super().__init__()
        self.inner = Linear(hidden_size, inner_size)
        self.outer = Linear(inner_size, hidden_size)

    def forward(self, states: Tensor) -> Tensor:
        """Map (…, D) → (…, D)."""
        mapped: Tensor = self.outer(torch.relu(self.inner(states)))
        return mapped


class ResidualConnection(nn.Module):
    """LayerNorm(x + f(x)) as published (`post`), or x + f(LayerNorm(x)) (`pre`); with dropout of f(x)."""

    def __init__(self, hidden_size: int, norm_position: str, dropout_rate: float) -> None:
        super().__init__()
        self.is_pre_norm = norm_position == "pre"
        self.norm = nn.LayerNorm(hidden_size)
        self.dropout = Dropout(dropout_rate)

    def forward(self, states: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Apply a sublayer (…, D) → (…, D) to states (…, D) with its residual connection."""
        if self.is_pre_norm:
            return states + self.dropout(sublayer(self.norm(states)))
        normed: Tensor = self.norm(states + self.dropout(sublayer(states)))
        return normed


def build_last_norm(hidden_size: int, norm_position: str) -> nn.Module:
    """Build the module after the last layer: a layer normalization for `pre`, otherwise the identity."""
    return nn.LayerNorm(hidden_size) if norm_position == "pre" else nn.Identity()


class TransformerEncoderLayer(nn.Module):
    """Self-attention, then a feed-forward network, each in a residual connection."""

    def __init__(self, options: TransformerLayersConfig, hidden_size: int, dropout_rate: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(hidden_size, options.heads)
        self.feed_forward = FeedForward(hidden_size, round(options.feed_forward * hidden_size))
        self.around_attention = ResidualConnection(hidden_size, options.norm, dropout_rate)
        self.around_feed_forward = ResidualConnection(hidden_size, options.norm, dropout_rate)

    def forward(
        self,
        states: Tensor,
        mask: Tensor,
        build_score_transform: Callable[[Tensor], ScoreTransform | None] = lambda read: None,
    ) -> Tensor:
        """Map states.

        Args:
            states: (B, J, D).
            mask: true at words (B, J).
            build_score_transform: returns the score transform for the attention's input (B, J, D).

        Returns:
            (B, J, D).
        """
        states = self.around_attention(
            states,
            partial(
                self._attend_to_source, attention_mask=mask.unsqueeze(1), build_score_transform=build_score_transform
            ),
        )
        mapped: Tensor = self.around_feed_forward(states, self.feed_forward)
        return mapped

    def _attend_to_source(
        self, states: Tensor, attention_mask: Tensor, build_score_transform: Callable[[Tensor], ScoreTransform | None]
    ) -> Tensor:
        score_transform = build_score_transform(states)
        states = cast_to_autocast_dtype(states)
        keys, values = self.attention.key(states), self.attention.value(states)
        outputs: Tensor = self.attention(states, keys, values, attention_mask, score_transform)
        return outputs


@dataclass(frozen=True)
class LayerMemory:
    """The inputs of a decoder layer's attention to the memory.

    Attributes:
        memory: provides the mask (B, N), in a search (R, N), and the sentences of the rows.
        keys: keys of the annotations (B, N, D), computed once for all words.
        values: values of the annotations (B, N, D).
        score_transform: transform of the scores.
    """

    memory: EncoderMemory
    keys: Tensor
    values: Tensor
    score_transform: ScoreTransform | None = None


class TransformerDecoderLayer(nn.Module):
    """Self-attention to the words so far, attention to the memory, a feed-forward network, in residual connections."""

    def __init__(self, options: TransformerLayersConfig, hidden_size: int, annotation_size: int, rates: Rates) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(hidden_size, options.heads)
        self.to_memory = MultiHeadAttention(hidden_size, options.heads, annotation_size)
        self.feed_forward = FeedForward(hidden_size, round(options.feed_forward * hidden_size))
        self.around_attention = ResidualConnection(hidden_size, options.norm, rates.states)
        self.around_memory = ResidualConnection(hidden_size, options.norm, rates.contexts)
        self.around_feed_forward = ResidualConnection(hidden_size, options.norm, rates.states)

    def forward(
        self, states: Tensor, layer_memory: LayerMemory, should_return_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Map the states of whole sentences.

        Args:
            states: states of all words (B, I, D).
            layer_memory: keys and values of the memory.
            should_return_weights: whether to return attention weights.

        Returns:
            States (B, I, D), and the mean of the heads' weights on the memory (B, I, N) or None.
        """
        return self._attend_and_feed_forward(
            self.around_attention(states, self.attention.attend_causally), layer_memory, should_return_weights
        )

    def forward_step(
        self,
        states: Tensor,
        attend_to_prefix: Callable[[MultiHeadAttention, Tensor], tuple[Tensor, Tensor]],
        layer_memory: LayerMemory,
        should_return_weights: bool,
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Map the states of one word of each row.

        Args:
            states: states of the word (R, 1, D).
            attend_to_prefix: computes the self-attention to this and all previous words, as `KeyValueCache.attend`.
            layer_memory: keys and values of the memory.
            should_return_weights: whether to return attention weights.

        Returns:
            States (R, 1, D), keys and values including this word, and weights (R, 1, N) or None.
        """
        keys_and_values = states

        def attend(states: Tensor) -> Tensor:
            nonlocal keys_and_values
            mixed, keys_and_values = attend_to_prefix(self.attention, states)
            return mixed

        states, weights = self._attend_and_feed_forward(
            self.around_attention(states, attend), layer_memory, should_return_weights
        )
        return states, keys_and_values, weights

    def _attend_and_feed_forward(
        self, states: Tensor, layer_memory: LayerMemory, should_return_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        weights = None

        def attend_to_memory(states: Tensor) -> Tensor:
            nonlocal weights
            mixed, weights = self._attend_to_memory(states, layer_memory, should_return_weights)
            return mixed

        states = self.around_memory(states, attend_to_memory)
        return self.around_feed_forward(states, self.feed_forward), weights

    def _attend_to_memory(
        self, states: Tensor, layer_memory: LayerMemory, should_return_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Attend to the memory from states (B, I, D), in a search (R, 1, D); return outputs and mean head weights."""
        keys, values, allowed = layer_memory.keys, layer_memory.values, layer_memory.memory.mask.unsqueeze(1)
        row_sentences = layer_memory.memory.row_sentences
        is_grouped = layer_memory.score_transform is None  # a score transform reads the memory of each row
        if row_sentences is not None and is_grouped:
            states = row_sentences.group_rows(states.squeeze(1), len(keys))
            allowed = row_sentences.group_rows(allowed.squeeze(1), len(keys), fill_value=1)
        elif row_sentences is not None:
            keys, values = (
                keys.index_select(0, row_sentences.sentence_indices),
                values.index_select(0, row_sentences.sentence_indices),
            )
        weights = None
        if should_return_weights:
            head_weights = self.to_memory.compute_weights(states, keys, allowed, layer_memory.score_transform)
            outputs, weights = self.to_memory.apply_weights(head_weights, values), head_weights.mean(dim=1)
        else:
            outputs = self.to_memory(states, keys, values, allowed, layer_memory.score_transform)
        if row_sentences is not None and is_grouped:
            outputs = row_sentences.ungroup_rows(outputs).unsqueeze(1)
            weights = None if weights is None else row_sentences.ungroup_rows(weights).unsqueeze(1)
        return outputs, weights
