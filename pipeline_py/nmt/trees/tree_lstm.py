"""Binary Tree-LSTM (Tai et al. 2015; tree2seq eq. 12–18)."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast.linear import get_loop_dtype
from pipeline_py.nmt.fast.matrix_products import apply_linear, compute_weight_gradient, multiply_matrices
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
        inner: Tensor = _ComposeFunction.apply(states, cells, self.weight, self.bias, dropout_mask, schedule)
        new_states, new_cells = inner.unbind()
        return new_states, new_cells

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


class _ComposeFunction(Function):
    """`compose_nodes` for all levels: h and c of the inner nodes (2, M, H) from those of the words.

    The gradients of the weights are computed once for all nodes. Autograd would copy the states of all nodes and
    accumulate the weights' gradients at every level.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        cells: Tensor,
        weight: Tensor,
        bias: Tensor,
        dropout_mask: Tensor | None,
        schedule: TreeSchedule,
    ) -> Tensor:
        (leaves, size), inner = states.shape, len(schedule.child_rows)
        product_dtype, state_dtype = get_loop_dtype(weight), states.dtype
        weight, bias = weight.to(product_dtype), bias.to(product_dtype)
        transposed_weight = weight.T.contiguous()
        table = states.new_empty(2, leaves + inner + 1, size)  # h and c
        table[0, :leaves], table[1, :leaves], table[:, -1] = states, cells, 0
        pairs = states.new_empty(2, inner, 2 * size)  # [h_l; h_r] and [c_l; c_r]
        gates = states.new_empty(inner, GATE_COUNT * size)
        cell_tanh = states.new_empty(inner, size)
        nodes = table[:, leaves:-1]
        for level in schedule.step_slices:
            torch.index_select(table, 1, schedule.child_rows[level].flatten(), out=pairs[:, level].view(2, -1, size))
            child_states, child_cells = pairs[:, level]
            if dropout_mask is not None:
                child_states *= dropout_mask[level]
            products = multiply_matrices(child_states.to(product_dtype), transposed_weight, bias).to(state_dtype)
            torch.sigmoid(products[:, : 4 * size], out=gates[level, : 4 * size])
            torch.tanh(products[:, 4 * size :], out=gates[level, 4 * size :])
            write, forget, read, candidate = gates[level].split([size, 2 * size, size, size], dim=1)
            left, right = (forget * child_cells).chunk(2, dim=1)
            state, cell = nodes[:, level]
            torch.addcmul(left + right, write, candidate, out=cell)
            torch.tanh(cell, out=cell_tanh[level])
            torch.mul(read, cell_tanh[level], out=state)
        ctx.save_for_backward(weight, pairs, gates, cell_tanh, dropout_mask)
        ctx.schedule = schedule
        return nodes

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weight, pairs, gates, cell_tanh, dropout_mask = ctx.saved_tensors
        inner, size = cell_tanh.shape
        product_dtype, state_dtype = weight.dtype, gradient.dtype
        leaf_entries, inner_entries = ctx.schedule.split_child_entries()
        write, forget, read, candidate = gates.split([size, 2 * size, size, size], dim=1)
        # The gradients of the gates' arguments are the gradient of c, or for o that of h, times these.
        factors = torch.cat(
            [
                torch.ops.aten.sigmoid_backward(
                    torch.cat([candidate, pairs[1], cell_tanh], dim=1), gates[:, : 4 * size]
                ),
                torch.ops.aten.tanh_backward(write, candidate),
            ],
            dim=1,
        ).unflatten(1, (GATE_COUNT, size))
        cell_factors = torch.ops.aten.tanh_backward(read, cell_tanh)
        forget = forget.unflatten(1, (2, size))
        # Gradients of h and c of each child; the last row is for nodes that are not children.
        grad_children = gradient.new_empty(2, 2 * inner + 1, size)
        grad_children[:, -1] = 0
        grad_gates = torch.empty_like(factors)
        for level in reversed(ctx.schedule.step_slices):
            grad_state, grad_cell = gradient[:, level] + grad_children.index_select(1, inner_entries[level])
            grad_cell.addcmul_(grad_state, cell_factors[level])
            torch.mul(grad_cell.unsqueeze(1), factors[level], out=grad_gates[level])
            torch.mul(grad_state, factors[level, 3], out=grad_gates[level, 3])  # o
            grad_child_states, grad_child_cells = grad_children[:, 2 * level.start : 2 * level.stop]
            grad_pair = multiply_matrices(grad_gates[level].flatten(1).to(product_dtype), weight).to(state_dtype)
            grad_pair = apply_dropout_mask(grad_pair, None if dropout_mask is None else dropout_mask[level])
            grad_child_states.view(grad_pair.shape).copy_(grad_pair)
            torch.mul(grad_cell.unsqueeze(1), forget[level], out=grad_child_cells.view(-1, 2, size))
        grad_gates = grad_gates.flatten(1)
        grad_states, grad_cells = grad_children.index_select(1, leaf_entries)
        grad_weight = compute_weight_gradient(grad_gates.to(product_dtype), pairs[0].to(product_dtype))
        return grad_states, grad_cells, grad_weight, grad_gates.sum(dim=0), None, None
