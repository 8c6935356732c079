"""Outputs of a linear map for a few rows of its weight, other rows for each sentence."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.device import on_cpu


def sampled_outputs(readout: Tensor, weight: Tensor, bias: Tensor, samples: Tensor) -> Tensor:
    """Compute w_k · r + b_k of the rows k that are sampled for a sentence.

    Args:
        readout: r at T positions of each sentence (B, T, E).
        weight: (V, E).
        bias: b_k of each sample (B, K).
        samples: rows of the weight (B, K) int64.

    Returns:
        (B, T, K), in the precision of the weight, also where autocast is on.
    """
    with torch.autocast(readout.device.type, enabled=False):
        outputs: Tensor = _Outputs.apply(readout.to(weight.dtype), weight, bias, samples)
    return outputs


class _Outputs(Function):
    """Gathers the rows in both directions instead of keeping them, since B · K rows are more than the weight has."""

    @staticmethod
    def forward(ctx: Any, readout: Tensor, weight: Tensor, bias: Tensor, samples: Tensor) -> Tensor:
        ctx.save_for_backward(readout, weight, samples)
        outputs = readout.new_empty(*readout.shape[:2], samples.shape[1])
        for group in _groups(readout):
            rows = _gathered(weight, samples[group])
            torch.baddbmm(bias[group].unsqueeze(1), readout[group], rows.transpose(1, 2), out=outputs[group])
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        readout, weight, samples = ctx.saved_tensors
        grad_readout, grad_weight = torch.empty_like(readout), torch.zeros_like(weight)
        for group in _groups(readout):
            torch.bmm(gradient[group], _gathered(weight, samples[group]), out=grad_readout[group])
            grad_rows = torch.bmm(gradient[group].transpose(1, 2), readout[group])
            grad_weight.index_add_(0, samples[group].flatten(), grad_rows.flatten(0, 1))
        return grad_readout, grad_weight, gradient.sum(dim=1), None


def _gathered(weight: Tensor, samples: Tensor) -> Tensor:
    """Gather rows: (V, E), (G, K) → (G, K, E)."""
    return weight.index_select(0, samples.flatten()).view(*samples.shape, -1)


def _groups(readout: Tensor) -> Iterator[slice]:
    """Divide the sentences (B, …) into groups that are computed at once."""
    # The rows of one sentence stay in a CPU's cache: 0.6 of the time of all at once. A GPU wants large products.
    size = 1 if on_cpu(readout.device) else len(readout)
    return (slice(start, start + size) for start in range(0, len(readout), size))
