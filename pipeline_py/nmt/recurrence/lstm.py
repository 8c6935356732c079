"""Long short-term memory without peepholes (Gers et al. 2000; tree2seq section 2.1)."""

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.fast.linear import LoopLinear, RecurrentLinear
from pipeline_py.nmt.fast.time_loop import open_time_loop
from pipeline_py.nmt.initialization import InitializationRule


class LSTM(nn.Module):
    """c' = i ⊙ c̃ + f ⊙ c and h' = o ⊙ tanh(c'), with [i; f; o] = sigmoid(W x + b + U h), c̃ = tanh(W x + b + U h).

    The rows of W, b and U are those of i, f, o, c̃ in this order, each of H. It is `torch.nn.LSTM` with one bias, on
    the input side, and with the last two gates exchanged: torch has i, f, c̃, o.
    """

    def __init__(self, input_size: int, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.input = _LSTMInputLayer(input_size, 4 * hidden_size, bias=True)
        self.recurrent = RecurrentLinear(hidden_size, 4 * hidden_size, bias=False)

    def step(
        self, input_products: Tensor, hidden: Tensor, cell: Tensor, dropout_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Move on by one position.

        Args:
            input_products: W x + b (B, 4·H), made by `input`; outside of any loop where x is known before.
            hidden: h (B, H).
            cell: c (B, H).
            dropout_mask: dropout of h on its way into U (B, H).

        Returns:
            h' and c' (B, H).
        """
        gates, three = (
            input_products.to(cell.dtype) + self.recurrent(hidden, dropout_mask).to(cell.dtype),
            3 * self.hidden_size,
        )
        write, forget, read = gates[:, :three].sigmoid().chunk(3, dim=1)
        new = torch.addcmul(forget * cell, write, gates[:, three:].tanh())
        return read * new.tanh(), new

    def forward_packed(
        self, input_products: Tensor, batch_sizes: Sequence[int], dropout_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Read whole sentences from zeros.

        Args:
            input_products: W x + b (N, 4·H), for words packed position by position.
            batch_sizes: how many words there are at each position.
            dropout_mask: dropout of h on its way into U (B, H).

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
        """Begin as the rule says, but with biases of 1 of the forget gates, so that a cell is kept."""
        rule.fill_linear(self)
        self.bias[len(self.bias) // 4 : len(self.bias) // 2] = 1
