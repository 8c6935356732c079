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

    def __init__(self, inputs: int, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.input = _Input(inputs, 4 * hidden, bias=True)
        self.recurrent = RecurrentLinear(hidden, 4 * hidden, bias=False)

    def step(self, inputs: Tensor, hidden: Tensor, cell: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Move on by one position.

        Args:
            inputs: W x + b (B, 4·H), made by `input`; outside of any loop where x is known before.
            hidden: h (B, H).
            cell: c (B, H).
            mask: dropout of h on its way into U (B, H).

        Returns:
            h' and c' (B, H).
        """
        gates, three = inputs.to(cell.dtype) + self.recurrent(hidden, mask).to(cell.dtype), 3 * self.hidden
        write, forget, read = gates[:, :three].sigmoid().chunk(3, dim=1)
        new = torch.addcmul(forget * cell, write, gates[:, three:].tanh())
        return read * new.tanh(), new

    def sequence(self, inputs: Tensor, steps: Sequence[int], mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Read whole sentences from zeros.

        Args:
            inputs: W x + b (N, 4·H), for words packed position by position.
            steps: how many words there are at each position.
            mask: dropout of h on its way into U (B, H).

        Returns:
            All states and all cells, (N, H) each.
        """
        inputs = upcast_half_precision(inputs)
        hiddens, cells = [], []
        cell = inputs.new_zeros(steps[0], self.hidden)
        with open_time_loop(torch.zeros_like(cell), [partial(self.recurrent.begin_trace, len(inputs))]) as hidden:
            for rows, position in zip(steps, inputs.split([*steps]), strict=True):
                hidden, cell = self.step(position, hidden[:rows], cell[:rows], mask)
                hiddens.append(hidden)
                cells.append(cell)
        return torch.cat(hiddens), torch.cat(cells)


class _Input(LoopLinear):
    """W x + b of all gates."""

    def initialize(self, rule: InitializationRule) -> None:
        """Begin as the rule says, but with biases of 1 of the forget gates, so that a cell is kept."""
        rule.fill_linear(self)
        self.bias[len(self.bias) // 4 : len(self.bias) // 2] = 1
