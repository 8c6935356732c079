"""What changes the scores of chosen heads of an encoder's self-attention."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.transformer.attention import Change


class ScoreChange(nn.Module, ABC):
    """A part of the kind `self_attention`, built of its options of `config.systems.transformer` and of D.

    It is called for each layer that its options choose, and for the heads that they choose of it.
    """

    @abstractmethod
    def forward(self, scores: Tensor, states: Tensor, batch: Batch) -> Tensor:
        """Make other scores, whose softmax over the words of the sentence are the weights.

        Args:
            scores: q_i · k_j / √d of the chosen heads (B, heads, J, J), queries i in rows; at least float32. Padding
                is not masked yet.
            states: what the layer reads (B, J, D).
            batch: the sentences and their syntax.

        Returns:
            (B, heads, J, J).
        """


def of_heads(change: nn.Module, heads: Sequence[int] | None, states: Tensor, batch: Batch) -> Change:
    """Let a part change the scores of some heads of a layer, of all where none are named."""
    if heads is None:
        return lambda scores: change(scores, states, batch)

    def change_some(scores: Tensor) -> Tensor:
        parts = list(scores.split(1, dim=1))
        chosen = sorted({*heads})
        changed = change(torch.cat([parts[head] for head in chosen], dim=1), states, batch).split(1, dim=1)
        for head, values in zip(chosen, changed, strict=True):
            parts[head] = values
        return torch.cat(parts, dim=1)

    return change_some
