"""What changes the scores of chosen heads of an encoder's self-attention, or of a decoder's attention to the source."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.transformer import Heads
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.memory import Auxiliary, Memory
from pipeline_py.nmt.part import part
from pipeline_py.nmt.transformer.attention import Change


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

    def auxiliary(self, states: Tensor, batch: Batch) -> Auxiliary | None:
        """Say what the part learns beside translation of what a layer's attention reads (B, J, D); None: nothing."""
        return None


class CrossScoreChange(nn.Module, ABC):
    """A part of the kind `cross_attention`, built and called as a `ScoreChange`."""

    @abstractmethod
    def forward(self, scores: Tensor, memory: Memory) -> Tensor:
        """Make other scores, whose softmax over what is attended to are the weights.

        Args:
            scores: q_i · k_j / √d of the chosen heads (B, heads, I, N), queries i in rows; at least float32. Padding
                is not masked yet.
            memory: what is attended to, and its syntax; in a search a row stands for each of B hypotheses.

        Returns:
            (B, heads, I, N).
        """


def built(kind: type, folder: str, options: Any, size: int, heads: int, vocabularies: Mapping[str, int]) -> Any:
    """Build a part of its options of `config.systems.transformer`.

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
    found = part(folder, options.type)
    if not issubclass(found, kind):
        raise TypeError(f"`{found.__name__}` in {found.__module__} is no `{kind.__name__}`; derive it from that class")
    return found(options, size, heads, vocabularies)


def of_layer(parts: Iterable[tuple[Heads, Change]]) -> Change | None:
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


def _of_heads(change: Change, options: Heads) -> Change:
    if options.heads is None:
        return change

    def change_some(scores: Tensor) -> Tensor:
        parts = list(scores.split(1, dim=1))
        chosen = options.chosen(len(parts))
        changed = change(torch.cat([parts[head] for head in chosen], dim=1)).split(1, dim=1)
        for head, values in zip(chosen, changed, strict=True):
            parts[head] = values
        return torch.cat(parts, dim=1)

    return change_some
