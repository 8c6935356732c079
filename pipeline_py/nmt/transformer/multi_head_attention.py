"""Multi-head attention (Vaswani et al. 2017, section 3.2), and transforms of its scores."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.systems.network_parts import BaseAttentionChangeConfig
from pipeline_py.nmt.attention_weighting import masked_softmax, upcast_half_precision
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.encoder_memory import AuxiliaryLoss, EncoderMemory
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.model import find_part_class
from pipeline_py.nmt.torch_setup import is_cpu

ScoreTransform = Callable[[Tensor], Tensor]
"""A function from attention scores (B, heads, I, N) to new scores of the same shape."""


class MultiHeadAttention(nn.Module):
    """W_o [head_1; …], head = softmax(W_q x · W_k h / √d) W_v h with d = D / heads; each map has a bias."""

    def __init__(self, hidden_size: int, head_count: int, annotation_size: int | None = None) -> None:
        """Create the projections; `annotation_size` is the size M of the keys' and values' inputs (default: D)."""
        super().__init__()
        self.head_count = head_count
        self.query = Linear(hidden_size, hidden_size)
        self.key = Linear(annotation_size or hidden_size, hidden_size)
        self.value = Linear(annotation_size or hidden_size, hidden_size)
        self.output = Linear(hidden_size, hidden_size)

    def forward(
        self,
        states: Tensor,
        keys: Tensor,
        values: Tensor,
        attention_mask: Tensor | None = None,
        score_transform: ScoreTransform | None = None,
    ) -> Tensor:
        """Attend from states (B, I, D).

        Args:
            states: inputs of the queries (B, I, D).
            keys: outputs of `key` (B, N, D).
            values: outputs of `value` (B, N, D).
            attention_mask: columns that each row may attend to (B, I, N) or (B, 1, N) bool; on a GPU without a score
                transform also a bias of the scores, of floating point; None: all.
            score_transform: applied to the scores before masking.

        Returns:
            (B, I, D).
        """
        if score_transform is not None or _is_half_precision_on_cpu(states):
            return self.apply_weights(self.compute_weights(states, keys, attention_mask, score_transform), values)
        head_outputs = functional.scaled_dot_product_attention(
            self._split_heads(self.query(states)),
            self._split_heads(keys),
            self._split_heads(values),
            None if attention_mask is None else attention_mask.unsqueeze(1),
        )
        return self._merge_heads(head_outputs)

    def attend_causally(self, states: Tensor) -> Tensor:
        """Attend from each state (B, I, D) to itself and earlier states: (B, I, D)."""
        states = cast_to_autocast_dtype(states)
        keys, values = self.key(states), self.value(states)
        if _is_half_precision_on_cpu(states):
            length = states.shape[1]
            causal_mask = torch.ones(1, length, length, dtype=torch.bool, device=states.device).tril()
            return self.apply_weights(self.compute_weights(states, keys, causal_mask), values)
        queries, keys, values = (self._split_heads(tensor) for tensor in (self.query(states), keys, values))
        return self._merge_heads(functional.scaled_dot_product_attention(queries, keys, values, is_causal=True))

    def compute_weights(
        self,
        states: Tensor,
        keys: Tensor,
        attention_mask: Tensor | None = None,
        score_transform: ScoreTransform | None = None,
    ) -> Tensor:
        """Compute the weights of all heads (B, heads, I, N); the arguments are those of `forward`."""
        queries = self._split_heads(self.query(states))
        scores = upcast_half_precision(queries @ self._split_heads(keys).transpose(2, 3)) * queries.shape[3] ** -0.5
        if score_transform is not None:
            scores = score_transform(scores)
        return (
            torch.softmax(scores, dim=3)
            if attention_mask is None
            else masked_softmax(scores, attention_mask.unsqueeze(1))
        )

    def apply_weights(self, weights: Tensor, values: Tensor) -> Tensor:
        """Average values (B, N, D) by the weights of all heads (B, heads, I, N) and project them: (B, I, D)."""
        return self._merge_heads(weights.to(values.dtype) @ self._split_heads(values))

    def _split_heads(self, values: Tensor) -> Tensor:
        """Split vectors into those of the heads: (B, N, D) → (B, heads, N, d)."""
        return values.unflatten(2, (self.head_count, -1)).transpose(1, 2)

    def _merge_heads(self, head_outputs: Tensor) -> Tensor:
        """Concatenate the outputs of the heads and project them: (B, heads, I, d) → (B, I, D)."""
        outputs: Tensor = self.output(head_outputs.transpose(1, 2).flatten(2))
        return outputs


def cast_to_autocast_dtype(states: Tensor) -> Tensor:
    """Cast the common input of several maps once; autocast would cast it for each map."""
    kind = states.device.type
    return states.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else states


def _is_half_precision_on_cpu(states: Tensor) -> bool:
    """Return whether this is half precision on a CPU, for which torch's fused attention is many times slower."""
    return is_cpu(states.device) and torch.is_autocast_enabled(states.device.type)


class SelfAttentionChange(nn.Module, ABC):
    """A part that changes self-attention scores, in the layers and heads that its options select."""

    @abstractmethod
    def forward(self, scores: Tensor, states: Tensor, batch: Batch) -> Tensor:
        """Compute new scores; the weights are their softmax over the words of the sentence.

        Args:
            scores: q_i · k_j / √d of the selected heads (B, heads, J, J), queries i in rows; at least float32. Padding
                is not yet masked.
            states: input of the attention (B, J, D), after the layer normalization if that precedes the sublayer.
            batch: the sentences and their syntax.

        Returns:
            (B, heads, J, J).
        """

    def compute_auxiliary_loss(self, states: Tensor, batch: Batch) -> AuxiliaryLoss | None:
        """Compute the part's auxiliary loss from the attention's input (B, J, D); None without an auxiliary task."""
        return None


class CrossAttentionChange(nn.Module, ABC):
    """A part that changes cross-attention scores, in the layers and heads that its options select."""

    @abstractmethod
    def forward(self, scores: Tensor, memory: EncoderMemory) -> Tensor:
        """Compute new scores; the weights are their softmax over the columns.

        Args:
            scores: q_i · k_j / √d of the selected heads (B, heads, I, N), queries i in rows; at least float32. Padding
                is not yet masked.
            memory: the encoder memory with its syntax; in a search, one row for each of B hypotheses.

        Returns:
            (B, heads, I, N).
        """


def build_attention_change(
    base_class: type,
    part_package: str,
    options: Any,
    hidden_size: int,
    head_count: int,
    vocabulary_sizes: Mapping[str, int],
) -> Any:
    """Build a part from its options (`config.systems.network_parts`).

    Args:
        base_class: required base class.
        part_package: package of the part's module within `nmt`.
        options: options of the part.
        hidden_size: D, the hidden size.
        head_count: heads of a layer.
        vocabulary_sizes: kind of syntax → size of its vocabulary.

    Raises:
        TypeError: the class in the module is not derived from `base_class`.
    """
    part_class = find_part_class(part_package, options.type)
    if not issubclass(part_class, base_class):
        raise TypeError(
            f"`{part_class.__name__}` in {part_class.__module__} is no `{base_class.__name__}`; "
            "derive it from that class"
        )
    return part_class(options, hidden_size, head_count, vocabulary_sizes)


def combine_score_transforms(
    configs_and_transforms: Iterable[tuple[BaseAttentionChangeConfig, ScoreTransform]],
) -> ScoreTransform | None:
    """Compose the score transforms of a layer's parts; None without parts.

    The result raises TypeError if a part returns scores of another shape.
    """
    changes = [
        _apply_to_selected_heads(_add_shape_check(change, type(options).__name__.removesuffix("Config")), options)
        for options, change in configs_and_transforms
    ]
    if not changes:
        return None

    def transform_scores(scores: Tensor) -> Tensor:
        for transform in changes:
            scores = transform(scores)
        return scores

    return transform_scores


def _add_shape_check(score_transform: ScoreTransform, part_name: str) -> ScoreTransform:
    """Return the transform with a check that its result has the shape of its input."""

    def transform_with_check(scores: Tensor) -> Tensor:
        new_scores: Any = score_transform(scores)
        if getattr(new_scores, "shape", None) != scores.shape:
            description = f"scores {tuple(new_scores.shape)}" if isinstance(new_scores, Tensor) else repr(new_scores)
            raise TypeError(
                f"{part_name} made {description} of scores {tuple(scores.shape)}; return scores of the same shape"
            )
        return new_scores

    return transform_with_check


def _apply_to_selected_heads(score_transform: ScoreTransform, options: BaseAttentionChangeConfig) -> ScoreTransform:
    """Return a transform of the scores of all heads that changes only those of the heads that the options select."""
    if options.heads is None:
        return score_transform

    def transform_selected_heads(scores: Tensor) -> Tensor:
        parts = list(scores.split(1, dim=1))
        selected_heads = options.select_heads(len(parts))
        new_values = score_transform(torch.cat([parts[head] for head in selected_heads], dim=1)).split(1, dim=1)
        for head, values in zip(selected_heads, new_values, strict=True):
            parts[head] = values
        return torch.cat(parts, dim=1)

    return transform_selected_heads
