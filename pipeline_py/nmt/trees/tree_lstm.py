"""Binary Tree-LSTM (Tai et al. 2015; tree2seq eq. 12–18), all nodes of one height at once."""

import torch
from torch import Tensor, nn

from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast.matrix_products import apply_linear
from pipeline_py.nmt.initialization import InitializationRule
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule

GATE_COUNT = 5
"""i, the left child's f, the right child's f, o, c̃."""


class TreeLSTM(nn.Module):
    """c = i ⊙ c̃ + f_l ⊙ c_l + f_r ⊙ c_r and h = o ⊙ tanh(c) of a node, from its children's h and c.

    [i; f_l; f_r; o] = sigmoid(U [h_l; h_r] + b) and c̃ = tanh(U [h_l; h_r] + b). The rows of U and b are those of i,
    f_l, f_r, o, c̃ in this order, each of H. Reading of eq. 13, which is misprinted: f_l has a U_r of its own.
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.weight = nn.Parameter(torch.empty(GATE_COUNT * hidden_size, 2 * hidden_size))
        self.bias = nn.Parameter(torch.zeros(GATE_COUNT * hidden_size))

    def initialize(self, rule: InitializationRule) -> None:
        """Begin as the rule says, but with biases of 1 of both forget gates, so that children's cells are kept."""
        rule.fill_matrix(self.weight)
        rule.fill_bias(self.bias)
        self.bias[self.hidden_size : 3 * self.hidden_size] = 1

    def forward(
        self, states: Tensor, cells: Tensor, schedule: TreeSchedule, dropout_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Compute all inner nodes of a batch.

        Args:
            states: h of the words (J·B, H), the J·B first rows of the table that `schedule` describes.
            cells: c of the words (J·B, H).
            schedule: the trees.
            dropout_mask: dropout of [h_l; h_r] on its way into U (B, 2·H).

        Returns:
            h and c of the inner nodes (M, H) each, in the order of the schedule.
        """
        if dropout_mask is not None and schedule.max_phrases:
            dropout_mask = dropout_mask.index_select(0, schedule.phrase_indices // schedule.max_phrases)
        of_states, of_cells = [states], [cells]
        for level in schedule.level_slices:
            children = schedule.child_rows[level].flatten()
            pairs = (
                torch.cat(nodes).index_select(0, children).view(-1, 2, self.hidden_size).unbind(1)
                for nodes in (of_states, of_cells)
            )
            left, right = zip(*pairs, strict=True)
            state, cell = self.compose_nodes(left, right, None if dropout_mask is None else dropout_mask[level])
            of_states.append(state)
            of_cells.append(cell)
        return torch.cat(of_states)[len(states) :], torch.cat(of_cells)[len(cells) :]

    def compose_nodes(
        self, left: tuple[Tensor, Tensor], right: tuple[Tensor, Tensor], dropout_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Make one node of two for each sentence (eq. 19).

        Args:
            left: h and c (B, H).
            right: h and c (B, H).
            dropout_mask: dropout of [h_l; h_r] on its way into U (B, 2·H).

        Returns:
            h and c (B, H).
        """
        children = apply_dropout_mask(torch.cat([left[0], right[0]], dim=1), dropout_mask)
        gates = apply_linear(children, self.weight, self.bias).to(left[1].dtype)
        write, forget_left, forget_right, read = gates[:, : 4 * self.hidden_size].sigmoid().chunk(4, dim=1)
        candidate = gates[:, 4 * self.hidden_size :].tanh()
        cell = write * candidate + forget_left * left[1] + forget_right * right[1]
        return read * cell.tanh(), cell
