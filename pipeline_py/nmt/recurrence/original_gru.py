"""Gated recurrent units as first described, with the reset gate before the recurrent product (Cho et al. 2014)."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast.linear import LoopLinear, RecurrentLinear
from pipeline_py.nmt.fast.time_loop import open_time_loop


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
        dropped = apply_dropout_mask(state, mask)
        of_gates, of_candidate = inputs.to(state.dtype).split([2 * self.hidden, self.hidden], dim=1)
        update, reset = (of_gates + self.gates_recurrent(dropped).to(state.dtype)).sigmoid().chunk(2, dim=1)
        candidate = (of_candidate + self.candidate_recurrent(reset * dropped).to(state.dtype)).tanh()
        return torch.lerp(state, candidate, update)

    def sequence(self, inputs: Tensor, steps: Sequence[int], mask: Tensor | None = None) -> Tensor:
        """Read whole sentences from a state of zeros.

        Args:
            inputs: W x + b (N, 3·H), for words packed position by position.
            steps: how many words there are at each position.
            mask: dropout of h on its way into U (B, H).

        Returns:
            All states (N, H).
        """
        inputs = upcast_half_precision(inputs)
        states = []
        maps = [partial(each.begin_trace, len(inputs)) for each in (self.gates_recurrent, self.candidate_recurrent)]
        with open_time_loop(inputs.new_zeros(steps[0], self.hidden), maps) as state:
            for rows, position in zip(steps, inputs.split([*steps]), strict=True):
                state = self.step(position, state[:rows], mask)
                states.append(state)
        return torch.cat(states)
