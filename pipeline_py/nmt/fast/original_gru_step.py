"""A step of the original GRU in a loop over time; the formula is in `recurrence/original_gru.py`."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast.linear import LinearTrace


class OriginalGRUStep(Function):
    """A step of the original GRU; the gradients of both recurrent matrices are computed after the loop."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        state: Tensor,
        mask: Tensor | None,
        gates_trace: LinearTrace,
        candidate_trace: LinearTrace,
    ) -> Tensor:
        ctx.gates_trace, ctx.candidate_trace, ctx.mask = gates_trace, candidate_trace, mask
        size = state.shape[1]
        dropped = apply_dropout_mask(state, mask)
        ctx.gates_step, product_inputs = gates_trace.add_step(dropped, None)
        gates = (inputs[:, : 2 * size] + gates_trace.forward_weight(product_inputs)).sigmoid_()
        update, reset = gates.chunk(2, dim=1)
        ctx.candidate_step, product_inputs = candidate_trace.add_step(reset, dropped)
        candidate = (inputs[:, 2 * size :] + candidate_trace.forward_weight(product_inputs)).tanh_()
        ctx.save_for_backward(gates, candidate, state, dropped)
        return torch.lerp(state, candidate, update)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None, None]:
        gates, candidate, state, dropped = ctx.saved_tensors
        size = state.shape[1]
        update, reset = gates.chunk(2, dim=1)
        grad_inputs = gradient.new_empty(len(gradient), 3 * size)
        grad_update, grad_reset, grad_candidate = grad_inputs.chunk(3, dim=1)
        scaled = gradient * update
        torch.ops.aten.tanh_backward.grad_input(scaled, candidate, grad_input=grad_candidate)
        torch.mul(gradient, candidate - state, out=grad_update)
        grad_products = ctx.candidate_trace.get_gradient_rows(ctx.candidate_step, size).copy_(grad_candidate)
        grad_reset_state = ctx.candidate_trace.backward_weight(grad_products)
        torch.mul(grad_reset_state, dropped, out=grad_reset)
        grad_gates = grad_inputs[:, : 2 * size]
        torch.ops.aten.sigmoid_backward.grad_input(grad_gates, gates, grad_input=grad_gates)
        grad_products = ctx.gates_trace.get_gradient_rows(ctx.gates_step, 2 * size).copy_(grad_gates)
        grad_dropped = torch.addcmul(ctx.gates_trace.backward_weight(grad_products), grad_reset_state, reset)
        return grad_inputs, gradient - scaled + apply_dropout_mask(grad_dropped, ctx.mask), None, None, None
