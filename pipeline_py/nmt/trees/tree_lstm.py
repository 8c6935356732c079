"""Binary Tree-LSTM (Tai et al. 2015; tree2seq eq. 12–18), computed level by level."""

import torch
from torch import Tensor, nn

from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast.matrix_products import apply_linear
from pipeline_py.nmt.initialization import InitializationRule
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule

GATE_COUNT = 5
"""Number of gates: i, f_l, f_r, o, c̃."""


class TreeLSTM(nn.Module):
    """c = i ⊙ c̃ + f_l ⊙ c_l + f_r ⊙ c_r and h = o ⊙ tanh(c) from the h and c of both children.

    [i; f_l; f_r; o] = sigmoid(U [h_l; h_r] + b) and c̃ = tanh(U [h_l; h_r] + b). The rows of U and b are in
    the order i, f_l, f_r, o, c̃, each of H. Eq. 13 is misprinted; here f_l has its own U_r.
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.weight = nn.Parameter(torch.empty(GATE_COUNT * hidden_size, 2 * hidden_size))
        self.bias = nn.Parameter(torch.zeros(GATE_COUNT * hidden_size))

    def initialize(self, rule: InitializationRule) -> None:
        """Initialize the parameters; the biases of both forget gates are 1."""
        rule.fill_matrix(self.weight)
        rule.fill_bias(self.bias)
        self.bias[self.hidden_size : 3 * self.hidden_size] = 1

    def forward(
        self, states: Tensor, cells: Tensor, schedule: TreeSchedule, dropout_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute all inner nodes of a batch.

        Args:
            states: h of the words (J·B, H), the first rows of the schedule's table.
            cells: c of the words (J·B, H).
            schedule: the trees of the batch.
            dropout_mask: of [h_l; h_r] before the product with U (B, 2·H).

        Returns:
            h and c of the inner nodes (M, H) each, in the order of the schedule.
        """
        if dropout_mask is not None and schedule.max_phrases:
            dropout_mask = dropout_mask.index_select(0, schedule.phrase_indices // schedule.max_phrases)
        state_levels, cell_levels = [states], [cells]
        for level in schedule.level_slices:
            children = schedule.child_rows[level].flatten()
            pairs = (
                torch.cat(nodes).index_select(0, children).view(-1, 2, self.hidden_size).unbind(1)
                for nodes in (state_levels, cell_levels)
            )
            left, right = zip(*pairs, strict=True)
            state, cell = self.compose_nodes(left, right, None if dropout_mask is None else dropout_mask[level])
            state_levels.append(state)
            cell_levels.append(cell)
        return torch.cat(state_levels)[len(states) :], torch.cat(cell_levels)[len(cells) :]

    def compose_nodes(
        self, left: tuple[Tensor, Tensor], right: tuple[Tensor, Tensor], dropout_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Combine two nodes of each sentence to one (eq. 19).

        Args:
            left: h and c of the left nodes (B, H).
            right: h and c of the right nodes (B, H).
            dropout_mask: of [h_l; h_r] before the product with U (B, 2·H).

        Returns:
            h and c (B, H).
        """
        children = apply_dropout_mask(torch.cat([left[0], right[0]], dim=1), dropout_mask)
        gates = apply_linear(children, self.weight, self.bias).to(left[1].dtype)
        write, forget_left, forget_right, read = gates[:, : 4 * self.hidden_size].sigmoid().chunk(4, dim=1)
        candidate = gates[:, 4 * self.hidden_size :].tanh()
        cell = write * candidate + forget_left * left[1] + forget_right * right[1]
        return read * cell.tanh(), cell
