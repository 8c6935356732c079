"""Compare parts of networks with their references."""

from collections.abc import Sequence
from typing import Any, TypeVar

import pytest
import torch
from torch import Tensor, nn

from pipeline_py.nmt.dropout import SharedDropout
from pipeline_py.nmt.encoder_memory import EncoderMemory

NetworkPart = TypeVar("NetworkPart", bound=nn.Module)


def draw_parameters(part: NetworkPart, std: float = 0.8) -> NetworkPart:
    """Draw parameters large enough that nothing is nearly linear or nearly uniform."""
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.normal_(std=std)
    return part


def record_masks(part: nn.Module, monkeypatch: pytest.MonkeyPatch) -> list[Tensor | None]:
    """Return a list to which each mask is appended that the dropout of a part and of its parts draws."""
    masks: list[Tensor | None] = []
    draw = SharedDropout.draw_mask

    def record_mask(dropout: SharedDropout, *arguments: Any, **options: Any) -> Tensor | None:
        mask = draw(dropout, *arguments, **options)
        if dropout in part_dropouts:
            masks.append(mask)
        return mask

    part_dropouts = [module for module in part.modules() if isinstance(module, SharedDropout)]
    monkeypatch.setattr(SharedDropout, "draw_mask", record_mask)
    return masks


def assert_same_gradients(
    actual: Sequence[Tensor],
    expected: Sequence[Tensor],
    leaves: Sequence[Tensor],
    expected_leaves: Sequence[Tensor] | None = None,
    can_vanish: bool = True,
) -> None:
    """Compare values and their gradients in random directions with those of a reference.

    Args:
        actual: the values of a part.
        expected: those of the reference.
        leaves: where the gradients are taken.
        expected_leaves: where those of the reference are taken, if elsewhere.
        can_vanish: if false, no gradient may be zero.
    """
    directions = [torch.randn_like(value) for value in expected]

    def differentiate(values: Sequence[Tensor], leaves: Sequence[Tensor]) -> tuple[Tensor, ...]:
        total = 0 * leaves[0].sum()  # which has a gradient even if no value has one
        for value, direction in zip(values, directions, strict=True):
            total = total + (value * direction).sum()
        return torch.autograd.grad(total, leaves, materialize_grads=True)

    for value, reference in zip(actual, expected, strict=True):
        torch.testing.assert_close(value, reference, rtol=1e-10, atol=1e-12)
    gradients = differentiate(actual, leaves), differentiate(expected, expected_leaves or leaves)
    for number, (gradient, reference) in enumerate(zip(*gradients, strict=True)):
        assert can_vanish or reference.abs().max() > 1e-6, f"leaf {number}"
        torch.testing.assert_close(
            gradient, reference, rtol=1e-9, atol=1e-11, msg=lambda text, number=number: f"leaf {number}: {text}"
        )


def assert_independent_of_batch(batch_memory: EncoderMemory, sentence_memories: Sequence[EncoderMemory]) -> None:
    """Compare the memory of a batch with those of its sentences by themselves."""
    for row, memory in enumerate(sentence_memories):
        torch.testing.assert_close(
            memory.annotations[0][0][memory.mask[0]], batch_memory.annotations[0][row][batch_memory.mask[row]]
        )
        torch.testing.assert_close(memory.summaries[0][0], batch_memory.summaries[0][row])


def assert_close_in_half_precision(encoder: nn.Module, batch: object) -> None:
    """Compare the memory of an encoder under autocast with that in single precision."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = encoder(batch)
    exact = encoder(batch)
    for value, reference in (
        (rounded.annotations[0], exact.annotations[0]),
        (rounded.summaries[0], exact.summaries[0]),
    ):
        assert value.dtype == torch.float32
        torch.testing.assert_close(value, reference, rtol=0, atol=0.1)
