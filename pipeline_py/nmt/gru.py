"""Gated recurrent units as Nematus has them: one bias, reset gate after the recurrent product."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.loop_linear import LoopLinear
from pipeline_py.nmt.loop_linears import LoopLinears
from pipeline_py.nmt.time_loop import time_loop


class GRU(nn.Module):
    """h' = (1 − z) ⊙ n + z ⊙ h, with [r; z] = sigmoid(W x + b + U h) and n = tanh(W x + b + r ⊙ U h).

    The bias enters the input side only; apart from that it is `torch.nn.GRU`, and the gates stand in its order.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.input = LoopLinear(inputs, 3 * hidden, bias=True)
        self.recurrent = LoopLinear(hidden, 3 * hidden, bias=False)

    def step(self, inputs: Tensor, state: Tensor, mask: Tensor | None = None, place: Tensor | None = None) -> Tensor:
        """Move on by one position.

        Args:
            inputs: W x + b (B, 3·H), made by `input`; outside of any loop where x is known before.
            state: h (B, H), or the different ones (D, H).
            mask: dropout of h on its way into U, not of the h that is carried on (B, H).
            place: which of the different ones each row has (B,), whose U h are computed once; None: each its own.

        Returns:
            h' (B, H).
        """
        recurrent = self.recurrent(state, mask)
        if place is not None:
            recurrent, state = recurrent.index_select(0, place), state.index_select(0, place)
        new: Tensor = _Gates.apply(inputs, recurrent, state)
        return new


def sequences(grus: Sequence[GRU], inputs: Tensor, steps: Sequence[int], masks: Tensor | None = None) -> Tensor:
    """Let D units of one size read side by side, each from a state of zeros.

    Args:
        grus: the units.
        inputs: W x + b of each (D, N, 3·H), for words packed position by position.
        steps: how many words there are at each position.
        masks: dropout of h on its way into U (D, B, H).

    Returns:
        All states (D, N, H).
    """
    recurrent = LoopLinears([gru.recurrent for gru in grus])
    states = []
    start = inputs.new_zeros(len(grus), steps[0], grus[0].hidden)
    with time_loop(start, [partial(recurrent.traced, inputs.shape[1])]) as state:
        for rows, position in zip(steps, inputs.split([*steps], dim=1), strict=True):
            state = state[:, :rows]
            state = _Gates.apply(position, recurrent(state, masks), state)
            states.append(state)
    return torch.cat(states, dim=1)


class _Gates(Function):
    """What a GRU does after its matrix products, with its derivative written out (a third of autograd's operations)."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
        two = 2 * state.shape[-1]
        recurrent = recurrent.to(state.dtype)
        inputs = inputs.to(state.dtype)
        gates = (inputs[..., :two] + recurrent[..., :two]).sigmoid_()
        reset, update = gates.chunk(2, dim=-1)
        candidate = torch.addcmul(inputs[..., two:], reset, recurrent[..., two:]).tanh_()
        ctx.save_for_backward(gates, candidate, recurrent, state)
        return torch.lerp(candidate, state, update)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        gates, candidate, recurrent, state = ctx.saved_tensors
        size = state.shape[-1]
        reset, update = gates.chunk(2, dim=-1)
        of_state = gradient * update
        of_inputs = torch.empty_like(recurrent)
        of_reset, of_update, of_candidate = of_inputs.chunk(3, dim=-1)
        torch.ops.aten.tanh_backward.grad_input(gradient - of_state, candidate, grad_input=of_candidate)
        torch.ops.aten.sigmoid_backward.grad_input(
            of_candidate * recurrent[..., 2 * size :], reset, grad_input=of_reset
        )
        torch.ops.aten.sigmoid_backward.grad_input(gradient * (state - candidate), update, grad_input=of_update)
        of_recurrent = of_inputs.clone()
        of_recurrent[..., 2 * size :].mul_(reset)
        return of_inputs, of_recurrent, of_state
