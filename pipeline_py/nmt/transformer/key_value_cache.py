"""Keys and values of the previous words in the self-attention of a Transformer decoder, during a search."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.cuda_graphs import write_entry
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.nmt.transformer.multi_head_attention import MultiHeadAttention
from pipeline_py.nmt.transformer.transformer_layers import add_positional_encoding, compute_positional_encoding


@dataclass(frozen=True)
class KeyValueCache(ABC):
    """Keys and values of the previous words of R rows.

    Attributes:
        layers: keys and values of each layer.
    """

    layers: tuple[Tensor, ...]

    @abstractmethod
    def begin_step(self, embeddings: Tensor) -> Tensor:
        """Return the input (R, 1, D) of the first layer, given the embeddings of the new words (R, 1, D)."""

    @abstractmethod
    def attend(self, layer: int, attention: MultiHeadAttention, states: Tensor) -> tuple[Tensor, Tensor]:
        """Attend from the new words to all words.

        Args:
            layer: number of the layer.
            attention: self-attention of the layer.
            states: states of the new words (R, 1, D).

        Returns:
            Outputs (R, 1, D), and the keys and values of the layer with those of the new words.
        """

    @abstractmethod
    def end_step(self, layers: tuple[Tensor, ...]) -> "KeyValueCache":
        """Return the cache of the next step, given the keys and values from `attend`."""

    @abstractmethod
    def select_rows(self, index: Tensor) -> "KeyValueCache":
        """Select rows by their indices, like `EncoderMemory.select_rows`."""


class GrowingCache(KeyValueCache):
    """Keys and values (R, 2, T, D) of each layer for exactly the T previous words, on a CPU."""

    @staticmethod
    def build_empty(memory: EncoderMemory, layer_count: int, hidden_size: int) -> "GrowingCache":
        """Build the cache before the first word."""
        return GrowingCache((memory.annotations[0].new_empty(len(memory.mask), 2, 0, hidden_size),) * layer_count)

    def begin_step(self, embeddings: Tensor) -> Tensor:
        """Add the positional encoding; see `KeyValueCache`."""
        return add_positional_encoding(embeddings, first_position=self.layers[0].shape[2])

    def attend(self, layer: int, attention: MultiHeadAttention, states: Tensor) -> tuple[Tensor, Tensor]:
        """Append the new words; see `KeyValueCache`."""
        new = torch.stack([attention.key(states), attention.value(states)], dim=1)
        keys_and_values = torch.cat([self.layers[layer], new], dim=2)
        return attention(states, keys_and_values[:, 0], keys_and_values[:, 1]), keys_and_values

    def end_step(self, layers: tuple[Tensor, ...]) -> "GrowingCache":
        """Return the longer cache; see `KeyValueCache`."""
        return GrowingCache(layers)

    def select_rows(self, index: Tensor) -> "GrowingCache":
        """Select rows by their indices, like `EncoderMemory.select_rows`."""
        return GrowingCache(tuple(layer.index_select(0, index) for layer in self.layers))


@dataclass(frozen=True)
class FixedCache(KeyValueCache):
    """Keys and values (B, 2, T, K, D) of each layer for up to T words in K rows of each of B sentences, on a GPU.

    Row k writes its t-th word in place at (t, k). Keys and values are never moved when rows are selected: rows attend
    to all words of their sentence, and a bias excludes those that do not belong to their hypothesis.

    Attributes:
        bias: (B, K, T, K) bias of the attention scores: 0 for the previous words of a hypothesis, −∞ for others.
        new_word_bias: (K, K) bias of the new words.
        encodings: (T, D) positional encodings.
        position: (1,) number of previous words.
    """

    bias: Tensor
    new_word_bias: Tensor
    encodings: Tensor
    position: Tensor

    @staticmethod
    def build_empty(memory: EncoderMemory, layer_count: int, hidden_size: int, max_steps: int) -> "FixedCache":
        """Build the cache before the first of at most T = `max_steps` words."""
        keys = memory.keys[0]
        sentence_count, rows = len(keys), len(memory.mask) // len(keys)
        new_word_bias = keys.new_full((rows, rows), -torch.inf).fill_diagonal_(0)
        return FixedCache(
            tuple(keys.new_zeros(sentence_count, 2, max_steps, rows, hidden_size) for _ in range(layer_count)),
            keys.new_full((sentence_count, rows, max_steps, rows), -torch.inf),
            new_word_bias,
            compute_positional_encoding(max_steps, hidden_size, keys.device).to(memory.annotations[0].dtype),
            torch.zeros(1, dtype=torch.int64, device=keys.device),
        )

    def begin_step(self, embeddings: Tensor) -> Tensor:
        """Let each row attend to its new word, and add the positional encoding; see `KeyValueCache`."""
        write_entry(self.bias, self.position, self.new_word_bias.expand(len(self.bias), -1, -1), dim=2)
        encoding = self.encodings.index_select(0, self.position)
        return torch.add(encoding, embeddings, alpha=embeddings.shape[2] ** 0.5)

    def attend(self, layer: int, attention: MultiHeadAttention, states: Tensor) -> tuple[Tensor, Tensor]:
        """Write the new words in place; see `KeyValueCache`."""
        entries = self.layers[layer]
        new = torch.stack([attention.key(states), attention.value(states)], dim=2)  # (R, 1, 2, D)
        sentences = states.view(*self.bias.shape[:2], -1)  # (B, K, D)
        write_entry(entries, self.position, new.view(*sentences.shape[:2], 2, -1).transpose(1, 2), dim=2)
        keys, values = entries.flatten(2, 3).unbind(1)  # (B, T · K, D)
        outputs = attention(sentences, keys, values, self.bias.flatten(2))
        return outputs.view_as(states), entries

    def end_step(self, layers: tuple[Tensor, ...]) -> "FixedCache":
        """Advance the position in place; see `KeyValueCache`."""
        self.position.add_(1)
        return self

    def select_rows(self, index: Tensor) -> "FixedCache":
        """Select a hypothesis of the same sentence for each row by indices (R,)."""
        return replace(self, bias=self.bias.flatten(0, 1).index_select(0, index).view_as(self.bias))


def build_empty_cache(
    memory: EncoderMemory, layer_count: int, hidden_size: int, max_steps: int | None
) -> KeyValueCache:
    """Build the cache before the first word, of fixed size on a GPU if the maximum number of words is given."""
    if max_steps is None or is_cpu(memory.mask.device):
        return GrowingCache.build_empty(memory, layer_count, hidden_size)
    return FixedCache.build_empty(memory, layer_count, hidden_size, max_steps)
