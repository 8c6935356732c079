"""Binary Tree-LSTM (Tai et al. 2015; tree2seq eq. 12–18), all nodes of one height at once."""

import torch
from torch import Tensor, nn

from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast.matrix_products import apply_linear
from pipeline_py.nmt.initialization import InitializationRule
from pipeline_py.nmt.trees.schedule import Schedule

GATES = 5
"""i, the left child's f, the right child's f, o, c̃."""


class TreeLSTM(nn.Module):
    """c = i ⊙ c̃ + f_l ⊙ c_l + f_r ⊙ c_r and h = o ⊙ tanh(c) of a node, from its children's h and c.

    [i; f_l; f_r; o] = sigmoid(U [h_l; h_r] + b) and c̃ = tanh(U [h_l; h_r] + b). The rows of U and b are those of i,
    f_l, f_r, o, c̃ in this order, each of H. Reading of eq. 13, which is misprinted: f_l has a U_r of its own.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.weight = nn.Parameter(torch.empty(GATES * hidden, 2 * hidden))
        self.bias = nn.Parameter(torch.zeros(GATES * hidden))

    def initialize(self, rule: InitializationRule) -> None:
        """Begin as the rule says, but with biases of 1 of both forget gates, so that children's cells are kept."""
        rule.fill_matrix(self.weight)
        rule.fill_bias(self.bias)
        self.bias[self.hidden : 3 * self.hidden] = 1

    def forward(
        self, states: Tensor, cells: Tensor, schedule: Schedule, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute all inner nodes of a batch.

        Args:
            states: h of the words (J·B, H), the J·B first rows of the table that `schedule` describes.
            cells: c of the words (J·B, H).
            schedule: the trees.
            mask: dropout of [h_l; h_r] on its way into U (B, 2·H).

        Returns:
            h and c of the inner nodes (M, H) each, in the order of the schedule.
        """
        if mask is not None and schedule.phrases:
            mask = mask.index_select(0, schedule.places // schedule.phrases)
        of_states, of_cells = [states], [cells]
        for level in schedule.levels:
            children = schedule.children[level].flatten()
            pairs = (
                torch.cat(nodes).index_select(0, children).view(-1, 2, self.hidden).unbind(1)
                for nodes in (of_states, of_cells)
            )
            left, right = zip(*pairs, strict=True)
            state, cell = self.compose(left, right, None if mask is None else mask[level])
            of_states.append(state)
            of_cells.append(cell)
        return torch.cat(of_states)[len(states) :], torch.cat(of_cells)[len(cells) :]

    def compose(
        self, left: tuple[Tensor, Tensor], right: tuple[Tensor, Tensor], mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Make one node of two for each sentence (eq. 19).

        Args:
            left: h and c (B, H).
            right: h and c (B, H).
            mask: dropout of [h_l; h_r] on its way into U (B, 2·H).

        Returns:
            h and c (B, H).
        """
        children = apply_dropout_mask(torch.cat([left[0], right[0]], dim=1), mask)
        gates = apply_linear(children, self.weight, self.bias).to(left[1].dtype)
        write, forget_left, forget_right, read = gates[:, : 4 * self.hidden].sigmoid().chunk(4, dim=1)
        candidate = gates[:, 4 * self.hidden :].tanh()
        cell = write * candidate + forget_left * left[1] + forget_right * right[1]
        return read * cell.tanh(), cell
