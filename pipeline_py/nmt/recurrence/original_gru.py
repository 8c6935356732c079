"""Original gated recurrent units, with the reset gate before the recurrent product (Cho et al. 2014)."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast.linear import LoopLinear, RecurrentLinear
from pipeline_py.nmt.fast.original_gru_step import OriginalGRUStep
from pipeline_py.nmt.fast.time_loop import open_time_loop


class OriginalGRU(nn.Module):
    """h' = (1 − z) ⊙ h + z ⊙ h~ with [z; r] = sigmoid(W x + b + U h), h~ = tanh(W x + b + U (r ⊙ h)).

    See hierarchical section 2.1 and eq. 3. The rows are in the order z, r, h~. Unlike `gru.GRU` it has two consecutive
    products in each step.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.input = LoopLinear(input_size, 3 * hidden_size, bias=True)
        self.gates_recurrent = RecurrentLinear(hidden_size, 2 * hidden_size, bias=False)
        self.candidate_recurrent = RecurrentLinear(hidden_size, hidden_size, bias=False)

    def step(self, input_products: Tensor, state: Tensor, dropout_mask: Tensor | None = None) -> Tensor:
        """Compute the state of one position.

        Args:
            input_products: W x + b (B, 3·H), the output of `input`.
            state: h (B, H).
            dropout_mask: dropout of h before the product with U (B, H); h itself stays unmasked.

        Returns:
            h' (B, H).
        """
        traces = self.gates_recurrent.trace, self.candidate_recurrent.trace
        if None not in traces:
            new_state: Tensor = OriginalGRUStep.apply(input_products.to(state.dtype), state, dropout_mask, *traces)
            return new_state
        dropped = apply_dropout_mask(state, dropout_mask)
        gate_products, candidate_products = input_products.to(state.dtype).split(
            [2 * self.hidden_size, self.hidden_size], dim=1
        )
        update, reset = (gate_products + self.gates_recurrent(dropped).to(state.dtype)).sigmoid().chunk(2, dim=1)
        candidate = (candidate_products + self.candidate_recurrent(reset * dropped).to(state.dtype)).tanh()
        return torch.lerp(state, candidate, update)

    def forward_packed(
        self, input_products: Tensor, batch_sizes: Sequence[int], dropout_mask: Tensor | None = None
    ) -> Tensor:
        """Run over whole sentences from a zero state.

        Args:
            input_products: W x + b (N, 3·H), for words packed position by position.
            batch_sizes: number of words at each position.
            dropout_mask: dropout of h before the product with U (B, H).

        Returns:
            All states (N, H).
        """
        input_products = upcast_half_precision(input_products)
        states = []
        trace_factories = [
            partial(layer.begin_trace, len(input_products))
            for layer in (self.gates_recurrent, self.candidate_recurrent)
        ]
        with open_time_loop(input_products.new_zeros(batch_sizes[0], self.hidden_size), trace_factories) as state:
            for rows, position in zip(batch_sizes, input_products.split([*batch_sizes]), strict=True):
                state = self.step(position, state[:rows], dropout_mask)
                states.append(state)
        return torch.cat(states)
