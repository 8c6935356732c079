"""Multi-head attention (Vaswani et al. 2017, section 3.2), and changes of its scores."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.systems.network_parts import AttentionChangeConfig
from pipeline_py.nmt.attention_weighting import masked_softmax, upcast_half_precision
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.encoder_memory import AuxiliaryLoss, EncoderMemory
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.model import find_part_class
from pipeline_py.nmt.torch_setup import is_cpu

ScoreTransform = Callable[[Tensor], Tensor]
"""Makes other scores (B, heads, I, N) of scores."""


class MultiHeadAttention(nn.Module):
    """W_o [head_1; …], head = softmax(W_q x · W_k h / √d) W_v h with d = D / heads; each map has a bias."""

    def __init__(self, hidden_size: int, head_count: int, annotation_size: int | None = None) -> None:
        """Take D, the number of heads, and the size M of what is attended to; None: D."""
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
            states: what attends.
            keys: what `key` made of what is attended to (B, N, D).
            values: what `value` made of it (B, N, D).
            allowed: which columns each row may attend to (B, I, N) or (B, 1, N); None: all.
            change: of the scores.

        Returns:
            (B, I, D).
        """
        if score_transform is not None or _is_half_precision_on_cpu(states):
            return self.apply_weights(self.compute_weights(states, keys, attention_mask, score_transform), values)
        attended = functional.scaled_dot_product_attention(
            self._split_heads(self.query(states)),
            self._split_heads(keys),
            self._split_heads(values),
            None if attention_mask is None else attention_mask.unsqueeze(1),
        )
        return self._merge_heads(attended)

    def attend_causally(self, states: Tensor) -> Tensor:
        """Attend from each of the states (B, I, D) to itself and those before it: (B, I, D)."""
        states = cast_to_autocast_dtype(states)
        keys, values = self.key(states), self.value(states)
        if _is_half_precision_on_cpu(states):
            length = states.shape[1]
            before = torch.ones(1, length, length, dtype=torch.bool, device=states.device).tril()
            return self.apply_weights(self.compute_weights(states, keys, before), values)
        queries, keys, values = (self._split_heads(each) for each in (self.query(states), keys, values))
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
        """Sum up values (B, N, D) by the weights of all heads (B, heads, I, N): (B, I, D)."""
        return self._merge_heads(weights.to(values.dtype) @ self._split_heads(values))

    def _split_heads(self, values: Tensor) -> Tensor:
        """(B, N, D) → (B, heads, N, d)."""
        return values.unflatten(2, (self.head_count, -1)).transpose(1, 2)

    def _merge_heads(self, head_outputs: Tensor) -> Tensor:
        """(B, heads, I, d) → (B, I, D)."""
        joined: Tensor = self.output(head_outputs.transpose(1, 2).flatten(2))
        return joined


def cast_to_autocast_dtype(states: Tensor) -> Tensor:
    """Bring what several maps read to the precision of their products: autocast would do so for each of them."""
    kind = states.device.type
    return states.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else states


def _is_half_precision_on_cpu(states: Tensor) -> bool:
    """Say whether products are in half precision on a CPU: torch's own attention takes many times longer there."""
    return is_cpu(states.device) and torch.is_autocast_enabled(states.device.type)


class SelfAttentionChange(nn.Module, ABC):
    """A part of the kind `self_attention`; see `built`.

    It is called for each layer that its options choose, and for the heads that they choose of it.
    """

    @abstractmethod
    def forward(self, scores: Tensor, states: Tensor, batch: Batch) -> Tensor:
        """Make other scores, whose softmax over the words of the sentence are the weights.

        Args:
            scores: q_i · k_j / √d of the chosen heads (B, heads, J, J), queries i in rows; at least float32. Padding
                is not masked yet.
            states: what the attention reads (B, J, D), normalized if it is so before the sublayer.
            batch: the sentences and their syntax.

        Returns:
            (B, heads, J, J).
        """

    def compute_auxiliary_loss(self, states: Tensor, batch: Batch) -> AuxiliaryLoss | None:
        """Say what the part learns beside translation of what a layer's attention reads (B, J, D); None: nothing."""
        return None


class CrossAttentionChange(nn.Module, ABC):
    """A part of the kind `cross_attention`, built and called as a `ScoreChange`."""

    @abstractmethod
    def forward(self, scores: Tensor, memory: EncoderMemory) -> Tensor:
        """Make other scores, whose softmax over what is attended to are the weights.

        Args:
            scores: q_i · k_j / √d of the chosen heads (B, heads, I, N), queries i in rows; at least float32. Padding
                is not masked yet.
            memory: what is attended to, and its syntax; in a search a row stands for each of B hypotheses.

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
    """Build a part of its options of `config.systems.network_parts`.

    Args:
        kind: what it is to be.
        folder: where its module is in `nmt`.
        options: of the part.
        size: D, the hidden size.
        heads: how many there are in a layer.
        vocabularies: kind of syntax → how many identifiers it has, for kinds of identifiers.

    Raises:
        TypeError: the class in its module is none of these.
    """
    found = find_part_class(part_package, options.type)
    if not issubclass(found, base_class):
        raise TypeError(
            f"`{found.__name__}` in {found.__module__} is no `{base_class.__name__}`; derive it from that class"
        )
    return found(options, hidden_size, head_count, vocabulary_sizes)


def combine_score_transforms(
    configs_and_transforms: Iterable[tuple[AttentionChangeConfig, ScoreTransform]],
) -> ScoreTransform | None:
    """Put together what parts of a layer, by their options, change of its scores; None: nothing.

    The change raises TypeError where a part makes scores of another shape.
    """
    changes = [
        _restrict_to_heads(_add_shape_check(change, type(options).__name__), options)
        for options, change in configs_and_transforms
    ]
    if not changes:
        return None

    def transform_scores(scores: Tensor) -> Tensor:
        for one in changes:
            scores = one(scores)
        return scores

    return transform_scores


def _add_shape_check(score_transform: ScoreTransform, part_name: str) -> ScoreTransform:
    def transform_with_check(scores: Tensor) -> Tensor:
        made: Any = score_transform(scores)
        if getattr(made, "shape", None) != scores.shape:
            what = f"scores {tuple(made.shape)}" if isinstance(made, Tensor) else repr(made)
            raise TypeError(f"{part_name} made {what} of scores {tuple(scores.shape)}; return scores of the same shape")
        return made

    return transform_with_check


def _restrict_to_heads(score_transform: ScoreTransform, options: AttentionChangeConfig) -> ScoreTransform:
    if options.heads is None:
        return score_transform

    def transform_selected_heads(scores: Tensor) -> Tensor:
        parts = list(scores.split(1, dim=1))
        chosen = options.select_heads(len(parts))
        changed = score_transform(torch.cat([parts[head] for head in chosen], dim=1)).split(1, dim=1)
        for head, values in zip(chosen, changed, strict=True):
            parts[head] = values
        return torch.cat(parts, dim=1)

    return transform_selected_heads
