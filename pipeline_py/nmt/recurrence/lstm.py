"""Long short-term memory without peepholes (Gers et al. 2000; tree2seq section 2.1)."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.fast.linear import LoopLinear, RecurrentLinear
from pipeline_py.nmt.fast.lstm_step import LSTMStep
from pipeline_py.nmt.fast.time_loop import open_time_loop
from pipeline_py.nmt.initialization import InitializationRule


class LSTM(nn.Module):
    """c' = i ⊙ c̃ + f ⊙ c and h' = o ⊙ tanh(c'), with [i; f; o] = sigmoid(W x + b + U h), c̃ = tanh(W x + b + U h).

    The rows of W, b and U are in the order i, f, o, c̃, each of H. This is `torch.nn.LSTM` with one bias, on the input
    side, and another order of gates: torch has i, f, c̃, o.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.input = _LSTMInputLayer(input_size, 4 * hidden_size, bias=True)
        self.recurrent = RecurrentLinear(hidden_size, 4 * hidden_size, bias=False)

    def step(
        self, input_products: Tensor, hidden: Tensor, cell: Tensor, dropout_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute the state of one position.

        Args:
            input_products: W x + b (B, 4·H), the output of `input`.
            hidden: h (B, H).
            cell: c (B, H).
            dropout_mask: dropout of h before the product with U (B, H).

        Returns:
            h' and c' (B, H).
        """
        if self.recurrent.trace is not None:
            new_hidden, new_cell = LSTMStep.apply(input_products, hidden, cell, dropout_mask, self.recurrent.trace)
            return new_hidden, new_cell
        gates, candidate_start = (
            input_products.to(cell.dtype) + self.recurrent(hidden, dropout_mask).to(cell.dtype),
            3 * self.hidden_size,
        )
        write, forget, read = gates[:, :candidate_start].sigmoid().chunk(3, dim=1)
        new_cell = torch.addcmul(forget * cell, write, gates[:, candidate_start:].tanh())
        return read * new_cell.tanh(), new_cell

    def forward_packed(
        self, input_products: Tensor, batch_sizes: Sequence[int], dropout_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Run over whole sentences from a zero state.

        Args:
            input_products: W x + b (N, 4·H), for words packed position by position.
            batch_sizes: number of words at each position.
            dropout_mask: dropout of h before the product with U (B, H).

        Returns:
            All states and all cells, (N, H) each.
        """
        input_products = upcast_half_precision(input_products)
        hiddens, cells = [], []
        cell = input_products.new_zeros(batch_sizes[0], self.hidden_size)
        with open_time_loop(
            torch.zeros_like(cell), [partial(self.recurrent.begin_trace, len(input_products))]
        ) as hidden:
            for rows, position in zip(batch_sizes, input_products.split([*batch_sizes]), strict=True):
                hidden, cell = self.step(position, hidden[:rows], cell[:rows], dropout_mask)
                hiddens.append(hidden)
                cells.append(cell)
        return torch.cat(hiddens), torch.cat(cells)


class _LSTMInputLayer(LoopLinear):
    """W x + b of all gates."""

    def initialize(self, rule: InitializationRule) -> None:
        """Initialize the parameters; the biases of the forget gates are 1."""
        rule.fill_linear(self)
        self.bias[len(self.bias) // 4 : len(self.bias) // 2] = 1
