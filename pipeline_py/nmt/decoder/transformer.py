"""The decoder of a Transformer (Vaswani et al. 2017, section 3)."""

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.decoders import TransformerDecoderConfig as Options
from pipeline_py.nmt.attention_weighting import AttentionStatistics, upcast_half_precision
from pipeline_py.nmt.data.batch import PackedWords
from pipeline_py.nmt.decoder.base import AttentionWeights, Decoder, DecoderParts, build_word_mask
from pipeline_py.nmt.dropout import Dropout
from pipeline_py.nmt.encoder_memory import EncoderMemory
from pipeline_py.nmt.fast.linear import OutputLayer
from pipeline_py.nmt.transformer.key_value_cache import KeyValueCache, build_empty_cache
from pipeline_py.nmt.transformer.multi_head_attention import (
    CrossAttentionChange,
    build_attention_change,
    cast_to_autocast_dtype,
    combine_score_transforms,
)
from pipeline_py.nmt.transformer.transformer_layers import (
    LayerMemory,
    TransformerDecoderLayer,
    add_positional_encoding,
    build_last_norm,
)
from pipeline_py.subword.vocabulary import EOS


class TransformerDecoder(Decoder):
    """A stack of Transformer layers and a softmax with bias; EOS is the input before the first word.

    Embeddings are multiplied by √D, and sinusoidal positions are added. Reported attention weights are the mean over
    the heads of the last layer.

    Dropout, as published, applies to the input and to the output of each sublayer.
    """

    def __init__(self, options: Options, parts: DecoderParts) -> None:
        super().__init__()
        model, (memory_size,) = parts.composition.model, parts.annotation_sizes
        self.embedding = nn.Embedding(parts.target_vocabulary_size, model.embedding)
        self.layers = nn.ModuleList(
            TransformerDecoderLayer(options, model.hidden, memory_size, model.dropout_rates)
            for _ in range(options.layers)
        )
        self.last_norm = build_last_norm(model.hidden, options.norm)
        self.options = options
        self.changes = nn.ModuleList(
            build_attention_change(
                CrossAttentionChange, "cross_attention", change, model.hidden, options.heads, parts.vocabulary_sizes
            )
            for change in options.cross_attention_changes
        )
        self.dropout = Dropout(model.dropout_rates.embeddings)
        self.softmax = OutputLayer(model.hidden, parts.target_vocabulary_size)
        self.criterion = parts.loss

    def compute_keys(self, memory: EncoderMemory) -> tuple[Tensor, ...]:
        """Compute keys and values of each layer from the annotations (B, N, M): (B, N, D) each, layer by layer."""
        annotations = cast_to_autocast_dtype(*memory.annotations)
        maps = [linear for layer in self.layers for linear in (layer.to_memory.key, layer.to_memory.value)]  # type: ignore[union-attr]
        return tuple(linear(annotations) for linear in maps)  # type: ignore[operator]

    def build_initial_state(self, memory: EncoderMemory, max_steps: int | None = None) -> KeyValueCache:
        """Build the empty cache; see `Decoder`."""
        return build_empty_cache(memory, len(self.layers), self.embedding.embedding_dim, max_steps)

    def step(
        self, previous: Tensor | None, state: KeyValueCache, memory: EncoderMemory
    ) -> tuple[Tensor, KeyValueCache, Tensor]:
        """Predict one word of each sentence; see `Decoder`."""
        if previous is None:
            previous = torch.full((len(memory.mask),), EOS, device=memory.mask.device)
        states = state.begin_step(self.embedding(previous).unsqueeze(1))
        cached_layers = []
        layers = zip(self.layers, self._iterate_layer_attention(memory), strict=True)
        for number, (layer, attended) in enumerate(layers):
            states, keys_and_values, weights = layer.forward_step(  # type: ignore[operator]
                states, partial(state.attend, number), attended, layer is self.layers[-1]
            )
            cached_layers.append(keys_and_values)
        logits = upcast_half_precision(self.softmax(self.last_norm(states).squeeze(1)))
        return logits, state.end_step(tuple(cached_layers)), weights.squeeze(1)

    def compute_word_losses(self, memory: EncoderMemory, target: Tensor, words: PackedWords) -> Tensor:
        """Compute each target word's loss from the memory; see `Decoder`."""
        states, _ = self._compute_states(memory, target)
        losses = self.criterion(self.softmax, words.pack(states.transpose(0, 1)), words.pack(target.T), words)
        return words.unpack(losses)

    def collect_statistics(
        self, memory: EncoderMemory, target: Tensor, target_lengths: Tensor
    ) -> list[AttentionStatistics]:
        """Return no statistics for the only context."""
        return [{}]

    @torch.no_grad()
    def compute_attention(self, memory: EncoderMemory, target: Tensor, target_lengths: Tensor) -> AttentionWeights:
        """Compute the attention of each word; see `Decoder`."""
        _, weights = self._compute_states(memory, target, should_return_weights=True)
        assert weights is not None
        real = build_word_mask(target.shape[1], target_lengths)
        return AttentionWeights(weights.transpose(0, 1) * real.unsqueeze(2), None)

    def _compute_states(
        self, memory: EncoderMemory, target: Tensor, should_return_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Compute the input of the output layer (B, I, D), and the weights (B, I, N) if requested."""
        before = torch.cat([torch.full_like(target[:, :1], EOS), target[:, :-1]], dim=1)
        states = self.dropout(add_positional_encoding(self.embedding(before)))
        weights = None
        for layer, attended in zip(self.layers, self._iterate_layer_attention(memory), strict=True):
            states, weights = layer(states, attended, should_return_weights and layer is self.layers[-1])
        return self.last_norm(states), weights

    def _iterate_layer_attention(self, memory: EncoderMemory) -> Iterator[LayerMemory]:
        """Yield the keys, values and score changes of the encoder attention of each layer."""
        for number in range(len(self.layers)):
            parts = zip(self.options.cross_attention_changes, self.changes, strict=True)
            change = combine_score_transforms(
                (part[0], partial(part[1], memory=memory)) for part in parts if part[0].is_layer_changed(number)
            )
            keys, values = memory.keys[2 * number : 2 * number + 2]
            yield LayerMemory(memory, keys, values, change)
