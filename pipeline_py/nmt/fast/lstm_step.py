"""An LSTM step in a loop over time; the formula is in `recurrence/lstm.py`."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.fast.linear import LinearTrace


class LSTMStep(Function):
    """An LSTM step; the gradient of U is computed after the loop."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, hidden: Tensor, cell: Tensor, mask: Tensor | None, trace: LinearTrace
    ) -> tuple[Tensor, Tensor]:
        ctx.trace, ctx.mask = trace, mask
        ctx.step, product_inputs = trace.add_step(hidden, mask)
        size = cell.shape[1]
        gates = inputs + trace.forward_weight(product_inputs)
        gates[:, : 3 * size].sigmoid_()
        gates[:, 3 * size :].tanh_()
        write, forget, read, candidate = gates.chunk(4, dim=1)
        new_cell = torch.addcmul(forget * cell, write, candidate)
        activation = new_cell.tanh()
        ctx.save_for_backward(gates, cell, activation)
        return read * activation, new_cell

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_hidden: Tensor, grad_new_cell: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        gates, cell, activation = ctx.saved_tensors
        size = cell.shape[1]
        write, forget, read, candidate = gates.chunk(4, dim=1)
        grad_new_cell = grad_new_cell + torch.ops.aten.tanh_backward(grad_hidden * read, activation)
        grad_gates = torch.empty_like(gates)
        grad_write, grad_forget, grad_read, grad_candidate = grad_gates.chunk(4, dim=1)
        torch.mul(grad_new_cell, candidate, out=grad_write)
        torch.mul(grad_new_cell, cell, out=grad_forget)
        torch.mul(grad_hidden, activation, out=grad_read)
        torch.mul(grad_new_cell, write, out=grad_candidate)
        sigmoids = slice(3 * size)
        torch.ops.aten.sigmoid_backward.grad_input(
            grad_gates[:, sigmoids], gates[:, sigmoids], grad_input=grad_gates[:, sigmoids]
        )
        torch.ops.aten.tanh_backward.grad_input(grad_candidate, candidate, grad_input=grad_candidate)
        grad_products = ctx.trace.get_gradient_rows(ctx.step, gates.shape[1]).copy_(grad_gates)
        return (
            grad_gates,
            ctx.trace.compute_input_gradient(grad_products, ctx.mask).to(cell.dtype),
            grad_new_cell * forget,
            None,
            None,
        )
