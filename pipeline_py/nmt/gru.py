"""Gated recurrent units as Nematus has them: one bias, reset gate after the recurrent product."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt import kernels
from pipeline_py.nmt.attention import at_least_single
from pipeline_py.nmt.loop_linear import LoopLinear, RecurrentLinear
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
        self.recurrent = RecurrentLinear(hidden, 3 * hidden, bias=False)

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
    inputs = as_read(inputs)
    recurrent = LoopLinears([gru.recurrent for gru in grus])
    states = []
    start = at_least_single(inputs.new_zeros(len(grus), steps[0], grus[0].hidden))
    with time_loop(start, [partial(recurrent.traced, inputs.shape[1])]) as state:
        for rows, position in zip(steps, inputs.split([*steps], dim=1), strict=True):
            state = state[:, :rows]
            state = _Gates.apply(position, recurrent(state, masks), state)
            states.append(state)
    return torch.cat(states, dim=1)


def as_read(inputs: Tensor) -> Tensor:
    """Bring W x + b of all steps to a precision that no step has to bring it to."""
    return inputs if kernels.read_by_gru(inputs) else at_least_single(inputs)


class _Gates(Function):
    """What a GRU does after its matrix products, with its derivative written out (a third of autograd's operations)."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
        ctx.inputs, ctx.compiled = inputs.dtype, kernels.compute_gru(inputs, recurrent, state)
        gates, new = (kernels.gru if ctx.compiled else _gates)(inputs, recurrent, state)
        ctx.save_for_backward(gates, recurrent, state)
        return new

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        gates, recurrent, state = ctx.saved_tensors
        going_back = kernels.gru_back if ctx.compiled else _gates_back
        return going_back(gradient, gates, state, recurrent, ctx.inputs)


def _gates(inputs: Tensor, recurrent: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
    """As `kernels.gru`."""
    size = state.shape[-1]
    recurrent, inputs = recurrent.to(state.dtype), inputs.to(state.dtype)
    gates = torch.empty_like(recurrent)
    both, candidate = gates.split([2 * size, size], dim=-1)
    torch.add(inputs[..., : 2 * size], recurrent[..., : 2 * size], out=both).sigmoid_()
    reset, update = both.chunk(2, dim=-1)
    torch.addcmul(inputs[..., 2 * size :], reset, recurrent[..., 2 * size :], out=candidate).tanh_()
    return gates, torch.lerp(candidate, state, update)


def _gates_back(
    gradient: Tensor, gates: Tensor, state: Tensor, recurrent: Tensor, inputs: torch.dtype
) -> tuple[Tensor, Tensor, Tensor]:
    """As `kernels.gru_back`."""
    size = state.shape[-1]
    reset, update, candidate = gates.chunk(3, dim=-1)
    of_state = gradient * update
    of_inputs = torch.empty_like(gates)
    of_reset, of_update, of_candidate = of_inputs.chunk(3, dim=-1)
    torch.ops.aten.tanh_backward.grad_input(gradient - of_state, candidate, grad_input=of_candidate)
    torch.ops.aten.sigmoid_backward.grad_input(of_candidate * recurrent[..., 2 * size :], reset, grad_input=of_reset)
    torch.ops.aten.sigmoid_backward.grad_input(gradient * (state - candidate), update, grad_input=of_update)
    of_recurrent = of_inputs.clone()
    of_recurrent[..., 2 * size :].mul_(reset)
    return of_inputs.to(inputs), of_recurrent.to(recurrent.dtype), of_state
