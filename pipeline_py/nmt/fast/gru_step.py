"""A GRU step in a loop over time by compiled code; the formula is in `recurrence/gru.py`."""

from typing import Any

from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.fast.linear import LinearTrace


class GRUStep(Function):
    """A GRU step with compiled kernels; the gradient of U is computed after the loop."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, state: Tensor, mask: Tensor | None, trace: LinearTrace) -> Tensor:
        ctx.trace, ctx.mask, ctx.inputs = trace, mask, inputs.dtype
        ctx.step, product_inputs = trace.add_step(state, mask)
        recurrent = trace.forward_weight(product_inputs)
        gates, new_state = elementwise.forward_gru(inputs, recurrent, state)
        ctx.save_for_backward(gates, recurrent, state)
        return new_state

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        gates, recurrent, state = ctx.saved_tensors
        grad_recurrent = ctx.trace.get_gradient_rows(ctx.step, gates.shape[1])
        grad_inputs, grad_state = elementwise.backward_gru(
            gradient, gates, state, recurrent, ctx.inputs, grad_recurrent
        )
        grad_product = ctx.trace.backward_weight(grad_recurrent).to(grad_state.dtype)
        return grad_inputs, grad_state.add_(apply_dropout_mask(grad_product, ctx.mask)), None, None
