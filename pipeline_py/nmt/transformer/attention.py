"""Multi-head attention (Vaswani et al. 2017, section 3.2), and changes of its scores."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.systems.network_parts import AttentionChangeConfig
from pipeline_py.nmt.attention_weighting import upcast_half_precision, masked_softmax
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.nmt.fast.linear import Linear
from pipeline_py.nmt.encoder_memory import AuxiliaryLoss, EncoderMemory
from pipeline_py.nmt.model import find_part_class

Change = Callable[[Tensor], Tensor]
"""Makes other scores (B, heads, I, N) of scores."""


class MultiHeadAttention(nn.Module):
    """W_o [head_1; …], head = softmax(W_q x · W_k h / √d) W_v h with d = D / heads; each map has a bias."""

    def __init__(self, size: int, heads: int, memory_size: int | None = None) -> None:
        """Take D, the number of heads, and the size M of what is attended to; None: D."""
        super().__init__()
        self.heads = heads
        self.query = Linear(size, size)
        self.key = Linear(memory_size or size, size)
        self.value = Linear(memory_size or size, size)
        self.output = Linear(size, size)

    def forward(
        self, states: Tensor, keys: Tensor, values: Tensor, allowed: Tensor | None = None, change: Change | None = None
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
        if change is not None or _half_on_cpu(states):
            return self.mixed(self.weights(states, keys, allowed, change), values)
        attended = functional.scaled_dot_product_attention(
            self._of_heads(self.query(states)),
            self._of_heads(keys),
            self._of_heads(values),
            None if allowed is None else allowed.unsqueeze(1),
        )
        return self._joined(attended)

    def causal(self, states: Tensor) -> Tensor:
        """Attend from each of the states (B, I, D) to itself and those before it: (B, I, D)."""
        states = as_read(states)
        keys, values = self.key(states), self.value(states)
        if _half_on_cpu(states):
            length = states.shape[1]
            before = torch.ones(1, length, length, dtype=torch.bool, device=states.device).tril()
            return self.mixed(self.weights(states, keys, before), values)
        queries, keys, values = (self._of_heads(each) for each in (self.query(states), keys, values))
        return self._joined(functional.scaled_dot_product_attention(queries, keys, values, is_causal=True))

    def weights(
        self, states: Tensor, keys: Tensor, allowed: Tensor | None = None, change: Change | None = None
    ) -> Tensor:
        """Compute the weights of all heads (B, heads, I, N); the arguments are those of `forward`."""
        queries = self._of_heads(self.query(states))
        scores = upcast_half_precision(queries @ self._of_heads(keys).transpose(2, 3)) * queries.shape[3] ** -0.5
        if change is not None:
            scores = change(scores)
        return torch.softmax(scores, dim=3) if allowed is None else masked_softmax(scores, allowed.unsqueeze(1))

    def mixed(self, weights: Tensor, values: Tensor) -> Tensor:
        """Sum up values (B, N, D) by the weights of all heads (B, heads, I, N): (B, I, D)."""
        return self._joined(weights.to(values.dtype) @ self._of_heads(values))

    def _of_heads(self, values: Tensor) -> Tensor:
        """(B, N, D) → (B, heads, N, d)."""
        return values.unflatten(2, (self.heads, -1)).transpose(1, 2)

    def _joined(self, attended: Tensor) -> Tensor:
        """(B, heads, I, d) → (B, I, D)."""
        joined: Tensor = self.output(attended.transpose(1, 2).flatten(2))
        return joined


def as_read(states: Tensor) -> Tensor:
    """Bring what several maps read to the precision of their products: autocast would do so for each of them."""
    kind = states.device.type
    return states.to(torch.get_autocast_dtype(kind)) if torch.is_autocast_enabled(kind) else states


def _half_on_cpu(states: Tensor) -> bool:
    """Say whether products are in half precision on a CPU: torch's own attention takes many times longer there."""
    return is_cpu(states.device) and torch.is_autocast_enabled(states.device.type)


class ScoreChange(nn.Module, ABC):
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

    def auxiliary(self, states: Tensor, batch: Batch) -> AuxiliaryLoss | None:
        """Say what the part learns beside translation of what a layer's attention reads (B, J, D); None: nothing."""
        return None


class CrossScoreChange(nn.Module, ABC):
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


def built(kind: type, folder: str, options: Any, size: int, heads: int, vocabularies: Mapping[str, int]) -> Any:
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
    found = find_part_class(folder, options.type)
    if not issubclass(found, kind):
        raise TypeError(f"`{found.__name__}` in {found.__module__} is no `{kind.__name__}`; derive it from that class")
    return found(options, size, heads, vocabularies)


def of_layer(parts: Iterable[tuple[AttentionChangeConfig, Change]]) -> Change | None:
    """Put together what parts of a layer, by their options, change of its scores; None: nothing.

    The change raises TypeError where a part makes scores of another shape.
    """
    changes = [_of_heads(_shaped(change, type(options).__name__), options) for options, change in parts]
    if not changes:
        return None

    def change(scores: Tensor) -> Tensor:
        for one in changes:
            scores = one(scores)
        return scores

    return change


def _shaped(change: Change, name: str) -> Change:
    def changed(scores: Tensor) -> Tensor:
        made: Any = change(scores)
        if getattr(made, "shape", None) != scores.shape:
            what = f"scores {tuple(made.shape)}" if isinstance(made, Tensor) else repr(made)
            raise TypeError(f"{name} made {what} of scores {tuple(scores.shape)}; return scores of the same shape")
        return made

    return changed


def _of_heads(change: Change, options: AttentionChangeConfig) -> Change:
    if options.heads is None:
        return change

    def change_some(scores: Tensor) -> Tensor:
        parts = list(scores.split(1, dim=1))
        chosen = options.select_heads(len(parts))
        changed = change(torch.cat([parts[head] for head in chosen], dim=1)).split(1, dim=1)
        for head, values in zip(chosen, changed, strict=True):
            parts[head] = values
        return torch.cat(parts, dim=1)

    return change_some
