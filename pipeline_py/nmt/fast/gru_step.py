"""A step of a GRU in a loop over time by compiled code; the formula is in `recurrence/gru.py`."""

from typing import Any

from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.fast.linear import LinearTrace


class GRUStep(Function):
    """A step within a loop, by the compiled kernels; going backwards, leaves the gradient of U for later."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, state: Tensor, mask: Tensor | None, trace: LinearTrace) -> Tensor:
        ctx.trace, ctx.mask, ctx.inputs = trace, mask, inputs.dtype
        ctx.step, placed = trace.add_step(state, mask)
        recurrent = trace.forward_weight(placed)
        gates, new = elementwise.forward_gru(inputs, recurrent, state)
        ctx.save_for_backward(gates, recurrent, state)
        return new

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        gates, recurrent, state = ctx.saved_tensors
        of_recurrent = ctx.trace.get_gradient_rows(ctx.step, gates.shape[1])
        of_inputs, of_state = elementwise.backward_gru(gradient, gates, state, recurrent, ctx.inputs, of_recurrent)
        through = ctx.trace.backward_weight(of_recurrent).to(of_state.dtype)
        return of_inputs, of_state.add_(apply_dropout_mask(through, ctx.mask)), None, None
