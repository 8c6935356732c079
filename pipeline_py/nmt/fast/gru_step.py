"""A GRU step in a loop over time; the formula is in `recurrence/gru.py`."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.fast.linear import LinearTrace


class GRUStep(Function):
    """A GRU step with compiled kernels where they exist; the gradient of U is computed after the loop."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, state: Tensor, mask: Tensor | None, trace: LinearTrace) -> Tensor:
        ctx.trace, ctx.mask = trace, mask
        ctx.step, product_inputs = trace.add_step(state, mask)
        recurrent = trace.forward_weight(product_inputs)
        ctx.is_compiled, ctx.dtype = elementwise.can_compute_gru(state, inputs, recurrent), inputs.dtype
        compute = elementwise.forward_gru if ctx.is_compiled else _forward_gates
        gates, new_state = compute(inputs, recurrent, state)
        ctx.save_for_backward(gates, recurrent, state)
        return new_state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        gates, recurrent, state = ctx.saved_tensors
        grad_recurrent = ctx.trace.get_gradient_rows(ctx.step, gates.shape[1])
        compute = elementwise.backward_gru if ctx.is_compiled else _backward_gates
        grad_inputs, grad_state = compute(gradient, gates, state, recurrent, ctx.dtype, grad_recurrent)
        return grad_inputs, grad_state.add_(ctx.trace.compute_input_gradient(grad_recurrent, ctx.mask)), None, None


def _forward_gates(input_products: Tensor, recurrent_products: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """Compute `elementwise.forward_gru` with torch."""
    size = state.shape[1]
    gates = state.new_empty(len(state), 3 * size)
    torch.add(input_products[:, : 2 * size], recurrent_products[:, : 2 * size], out=gates[:, : 2 * size]).sigmoid_()
    reset, update, candidate = gates.chunk(3, dim=1)
    torch.addcmul(input_products[:, 2 * size :], reset, recurrent_products[:, 2 * size :], out=candidate).tanh_()
    return gates, torch.lerp(candidate, state, update)


def _backward_gates(
    gradient: Tensor,
    gates: Tensor,
    state: Tensor,
    recurrent_products: Tensor,
    input_dtype: torch.dtype,
    grad_recurrent: Tensor,
) -> tuple[Tensor, Tensor]:
    """Compute `elementwise.backward_gru` with torch."""
    size = state.shape[1]
    reset, update, candidate = gates.chunk(3, dim=1)
    grad_inputs = torch.empty_like(gates)
    grad_reset, grad_update, grad_candidate = grad_inputs.chunk(3, dim=1)
    grad_state = gradient * update
    torch.ops.aten.tanh_backward.grad_input(gradient - grad_state, candidate, grad_input=grad_candidate)
    torch.mul(grad_candidate, recurrent_products[:, 2 * size :], out=grad_reset)
    torch.mul(gradient, state - candidate, out=grad_update)
    grad_gates = grad_inputs[:, : 2 * size]
    torch.ops.aten.sigmoid_backward.grad_input(grad_gates, gates[:, : 2 * size], grad_input=grad_gates)
    grad_recurrent[:, : 2 * size].copy_(grad_gates)
    torch.mul(grad_candidate, reset, out=grad_recurrent[:, 2 * size :])
    return grad_inputs.to(input_dtype), grad_state
