"""Gated recurrent units as in Nematus: one bias, reset gate after the recurrent product."""

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

    The bias is on the input side only; otherwise this is `torch.nn.GRU`, with the same order of gates.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.input = LoopLinear(input_size, 3 * hidden_size, bias=True)
        self.recurrent = RecurrentLinear(hidden_size, 3 * hidden_size, bias=False)

    def step(
        self,
        input_products: Tensor,
        state: Tensor,
        dropout_mask: Tensor | None = None,
        state_indices: Tensor | None = None,
    ) -> Tensor:
        """Compute the state of one position.

        Args:
            input_products: W x + b (B, 3·H), the output of `input`.
            state: h (B, H), or the distinct states (D, H).
            dropout_mask: dropout of h before the product with U (B, H); h itself stays unmasked.
            state_indices: index of each row's distinct state (B,), whose U h is computed once; None: no sharing.

        Returns:
            h' (B, H).
        """
        if self.recurrent.trace is not None:
            new_state: Tensor = GRUStep.apply(input_products, state, dropout_mask, self.recurrent.trace)
            return new_state
        recurrent = self.recurrent(state, dropout_mask)
        if state_indices is not None:
            recurrent, state = recurrent.index_select(0, state_indices), state.index_select(0, state_indices)
        return _apply_gru_gates(input_products, recurrent, state)

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
        input_products = cast_gru_input_products(input_products)
        states = []
        start = upcast_half_precision(input_products.new_zeros(batch_sizes[0], self.hidden_size))
        with open_time_loop(start, [partial(self.recurrent.begin_trace, len(input_products))]) as state:
            for rows, position in zip(batch_sizes, input_products.split([*batch_sizes]), strict=True):
                state = self.step(position, state if rows == len(state) else state[:rows], dropout_mask)
                states.append(state)
        return torch.cat(states)


def cast_gru_input_products(input_products: Tensor) -> Tensor:
    """Cast W x + b of all steps to a precision that the steps can read."""
    return (
        input_products
        if elementwise.is_supported_gru_product(input_products)
        else upcast_half_precision(input_products)
    )


def _apply_gru_gates(input_products: Tensor, recurrent_products: Tensor, state: Tensor) -> Tensor:
    """Apply the gates to W x + b (B, 3·H), U h (B, 3·H) and h (B, H): h' (B, H)."""
    if not torch.is_grad_enabled() and elementwise.can_compute_gru(state, input_products, recurrent_products):
        return elementwise.forward_gru(input_products, recurrent_products, state)[1]
    size = state.shape[1]
    input_products, recurrent_products = input_products.to(state.dtype), recurrent_products.to(state.dtype)
    reset, update = (input_products[:, : 2 * size] + recurrent_products[:, : 2 * size]).sigmoid().chunk(2, dim=1)
    return torch.lerp((input_products[:, 2 * size :] + reset * recurrent_products[:, 2 * size :]).tanh(), state, update)
