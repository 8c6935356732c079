"""Gated recurrent units as Nematus has them: one bias, reset gate after the recurrent product."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.fast.gru_step import GRUStep
from pipeline_py.nmt.fast.linear import LoopLinear, RecurrentLinear
from pipeline_py.nmt.fast.time_loop import open_time_loop


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
        trace = self.recurrent.trace
        if trace is not None and elementwise.can_compute_gru(state, inputs):
            moved_on: Tensor = GRUStep.apply(inputs, state, mask, trace)
            return moved_on
        recurrent = self.recurrent(state, mask)
        if place is not None:
            recurrent, state = recurrent.index_select(0, place), state.index_select(0, place)
        return _moved_on(inputs, recurrent, state)

    def sequence(self, inputs: Tensor, steps: Sequence[int], mask: Tensor | None = None) -> Tensor:
        """Read whole sentences from a state of zeros.

        Args:
            inputs: W x + b (N, 3·H), for words packed position by position.
            steps: how many words there are at each position.
            mask: dropout of h on its way into U (B, H).

        Returns:
            All states (N, H).
        """
        inputs = as_read(inputs)
        states = []
        start = upcast_half_precision(inputs.new_zeros(steps[0], self.hidden))
        with open_time_loop(start, [partial(self.recurrent.begin_trace, len(inputs))]) as state:
            for rows, position in zip(steps, inputs.split([*steps]), strict=True):
                state = self.step(position, state if rows == len(state) else state[:rows], mask)
                states.append(state)
        return torch.cat(states)


def as_read(inputs: Tensor) -> Tensor:
    """Bring W x + b of all steps to a precision that no step has to bring it to."""
    return inputs if elementwise.is_gru_input(inputs) else upcast_half_precision(inputs)


def _moved_on(inputs: Tensor, recurrent: Tensor, state: Tensor) -> Tensor:
    """What a GRU does after its matrix products: W x + b (B, 3·H), U h (B, 3·H), h (B, H) → h' (B, H)."""
    if not torch.is_grad_enabled() and elementwise.can_compute_gru(state, inputs, recurrent):
        return elementwise.forward_gru(inputs, recurrent, state)[1]
    size = state.shape[1]
    inputs, recurrent = inputs.to(state.dtype), recurrent.to(state.dtype)
    reset, update = (inputs[:, : 2 * size] + recurrent[:, : 2 * size]).sigmoid().chunk(2, dim=1)
    return torch.lerp((inputs[:, 2 * size :] + reset * recurrent[:, 2 * size :]).tanh(), state, update)
