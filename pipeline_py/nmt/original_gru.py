"""Gated recurrent units as first described, with the reset gate before the recurrent product (Cho et al. 2014)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.dropout import drop
from pipeline_py.nmt.loop_linear import LoopLinear, RecurrentLinear
from pipeline_py.nmt.time_loop import time_loop


class OriginalGRU(nn.Module):
    """h' = (1 − z) ⊙ h + z ⊙ h~ with [z; r] = sigmoid(W x + b + U h), h~ = tanh(W x + b + U (r ⊙ h)).

    So in hierarchical section 2.1 and eq. 3. The gates stand in the order z, r, h~. Unlike `gru.GRU` it has two
    products one after the other in each step.
    """

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.input = LoopLinear(inputs, 3 * hidden, bias=True)
        self.gates_recurrent = RecurrentLinear(hidden, 2 * hidden, bias=False)
        self.candidate_recurrent = RecurrentLinear(hidden, hidden, bias=False)

    def step(self, inputs: Tensor, state: Tensor, mask: Tensor | None = None) -> Tensor:
        """Move on by one position.

        Args:
            inputs: W x + b (B, 3·H), made by `input`; outside of any loop where x is known before.
            state: h (B, H).
            mask: dropout of h on its way into U, not of the h that is carried on (B, H).

        Returns:
            h' (B, H).
        """
        dropped = drop(state, mask)
        update, reset, remaining = _Gates.apply(inputs, self.gates_recurrent(dropped), dropped)
        new: Tensor = _Update.apply(update, remaining, self.candidate_recurrent(reset), state)
        return new

    def sequence(self, inputs: Tensor, steps: Sequence[int], mask: Tensor | None = None) -> Tensor:
        """Read whole sentences from a state of zeros.

        Args:
            inputs: W x + b (N, 3·H), for words packed position by position.
            steps: how many words there are at each position.
            mask: dropout of h on its way into U (B, H).

        Returns:
            All states (N, H).
        """
        states = []
        maps = [partial(each.traced, len(inputs)) for each in (self.gates_recurrent, self.candidate_recurrent)]
        with time_loop(inputs.new_zeros(steps[0], self.hidden), maps) as state:
            for rows, position in zip(steps, inputs.split([*steps]), strict=True):
                state = self.step(position, state[:rows], mask)
                states.append(state)
        return torch.cat(states)


class _Gates(Function):
    """Between the two products: W x + b (B, 3·H), U h (B, 2·H), h (B, H) → z, r ⊙ h, h~'s part of W x + b (B, H).

    That part is handed through, so that the gradient of W x + b is written in one place.
    """

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, recurrent: Tensor, state: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        two = 2 * state.shape[-1]
        inputs = inputs.to(state.dtype)
        gates = (inputs[:, :two] + recurrent.to(state.dtype)).sigmoid_()
        ctx.save_for_backward(gates, state)
        update, reset = gates.chunk(2, dim=-1)
        return update, reset * state, inputs[:, two:].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_update: Tensor, of_reset: Tensor, of_remaining: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        gates, state = ctx.saved_tensors
        size = state.shape[-1]
        update, reset = gates.chunk(2, dim=-1)
        of_inputs = gates.new_empty(len(gates), 3 * size)
        first, second, third = of_inputs.chunk(3, dim=-1)
        torch.ops.aten.sigmoid_backward.grad_input(of_update, update, grad_input=first)
        torch.ops.aten.sigmoid_backward.grad_input(of_reset * state, reset, grad_input=second)
        third.copy_(of_remaining)
        return of_inputs, of_inputs[:, : 2 * size], of_reset * reset


class _Update(Function):
    """After the second product: z, h~'s part of W x + b, U (r ⊙ h), h → h', all (B, H)."""

    @staticmethod
    def forward(ctx: Any, update: Tensor, inputs: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
        candidate = (inputs + recurrent.to(state.dtype)).tanh_()
        ctx.save_for_backward(update, candidate, state)
        return torch.lerp(state, candidate, update)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        update, candidate, state = ctx.saved_tensors
        scaled = gradient * update
        of_candidate = torch.ops.aten.tanh_backward(scaled, candidate)
        return gradient * (candidate - state), of_candidate, of_candidate, gradient - scaled
