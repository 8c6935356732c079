"""Binary Tree-LSTM (Tai et al. 2015; tree2seq eq. 12–18), all nodes of one height at once."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from pipeline_py.nmt.dropout import drop
from pipeline_py.nmt.initialization import Rule
from pipeline_py.nmt.trees.levels import places, product_dtype, spans
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

    def initialize(self, rule: Rule) -> None:
        """Begin as the rule says, but with biases of 1 of both forget gates, so that children's cells are kept."""
        rule.matrix(self.weight)
        rule.bias(self.bias)
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
        inner: tuple[Tensor, Tensor] = _Levels.apply(states, cells, self.weight, self.bias, schedule, mask)
        return inner

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
        children = drop(torch.cat([left[0], right[0]], dim=1), mask)
        gates = functional.linear(children, self.weight, self.bias).to(left[1].dtype)
        write, forget_left, forget_right, read = gates[:, : 4 * self.hidden].sigmoid().chunk(4, dim=1)
        candidate = gates[:, 4 * self.hidden :].tanh()
        cell = write * candidate + forget_left * left[1] + forget_right * right[1]
        return read * cell.tanh(), cell


class _Levels(Function):
    """Goes through the levels from below; going backwards, from above, and computes the weight's gradient in the end.

    Every node has one parent at most. So what a node receives from above is gathered from its parent's two gradients,
    never added up from several places, and is the same whenever it is computed.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        cells: Tensor,
        weight: Tensor,
        bias: Tensor,
        schedule: Schedule,
        mask: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        dtype = product_dtype(states)
        weight, bias = weight.to(dtype), bias.to(dtype)
        words, size = states.shape
        inner = len(schedule.children)
        # The table of all nodes; inner ones are filled in level by level.
        all_states = torch.cat([states, states.new_empty(inner, size)])
        all_cells = torch.cat([cells, cells.new_empty(inner, size)])
        read = states.new_empty(inner, 2 * size, dtype=dtype)  # [h_l; h_r]
        below = cells.new_empty(inner, 2, size)  # c_l and c_r
        gates = cells.new_empty(inner, GATES * size)
        squashed = cells.new_empty(inner, size)  # tanh(c)

        for level in spans(schedule.sizes):
            rows = schedule.children[level].flatten()
            pair = all_states.index_select(0, rows).view(-1, 2 * size)
            read[level] = pair if mask is None else pair * mask[level]
            torch.index_select(all_cells, 0, rows, out=below[level].view(-1, size))
            gates[level] = torch.addmm(bias, read[level], weight.T)
            gates[level, : 4 * size].sigmoid_()
            gates[level, 4 * size :].tanh_()
            write, forget, output, candidate = _split(gates[level])
            cell = all_cells[words:][level]
            torch.sum(forget * below[level], dim=1, out=cell)
            cell.addcmul_(write, candidate)
            torch.tanh(cell, out=squashed[level])
            torch.mul(output, squashed[level], out=all_states[words:][level])

        ctx.schedule, ctx.mask, ctx.words = schedule, mask, words
        ctx.save_for_backward(weight, read, below, gates, squashed)
        return all_states[words:], all_cells[words:]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_cells: Tensor) -> tuple[Tensor | None, ...]:
        weight, read, below, gates, squashed = ctx.saved_tensors
        inner, size = squashed.shape
        grad_gates = torch.empty_like(gates)
        # What children receive, in the order of `schedule.children`, and at last the zeros for who has no parent.
        to_states, to_cells = gates.new_empty(2 * inner + 1, size), gates.new_empty(2 * inner + 1, size)
        to_states[-1], to_cells[-1] = 0, 0
        as_child = places(ctx.schedule.children.flatten(), ctx.words + inner)

        for level in reversed(spans(ctx.schedule.sizes)):
            above = as_child[ctx.words :][level]
            grad_state = to_states.index_select(0, above).add_(grad_states[level])
            grad_cell = to_cells.index_select(0, above).add_(grad_cells[level])
            write, forget, output, candidate = _split(gates[level])
            grad_write, grad_forget, grad_output, grad_candidate = _split(grad_gates[level])
            grad_cell.add_(torch.ops.aten.tanh_backward(grad_state * output, squashed[level]))
            pair = grad_cell.unsqueeze(1)
            sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
            sigmoid_backward(grad_cell * candidate, write, grad_input=grad_write)
            sigmoid_backward(pair * below[level], forget, grad_input=grad_forget)
            sigmoid_backward(grad_state * squashed[level], output, grad_input=grad_output)
            torch.ops.aten.tanh_backward.grad_input(grad_cell * write, candidate, grad_input=grad_candidate)
            children = slice(2 * level.start, 2 * level.stop)
            torch.mul(pair, forget, out=to_cells[children].view(-1, 2, size))
            grad_read = to_states[children].view(-1, 2 * size)
            grad_read.copy_(grad_gates[level].to(weight.dtype) @ weight)
            if ctx.mask is not None:
                grad_read.mul_(ctx.mask[level])

        as_child = as_child[: ctx.words]
        return (
            to_states.index_select(0, as_child),
            to_cells.index_select(0, as_child) if ctx.needs_input_grad[1] else None,
            grad_gates.to(read.dtype).T @ read,
            grad_gates.sum(dim=0),
            None,
            None,
        )


def _split(gates: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """View gates (m, 5·H) as i (m, H), both f (m, 2, H), o (m, H) and c̃ (m, H)."""
    size = gates.shape[1] // GATES
    write, forget, output, candidate = gates.split([size, 2 * size, size, size], dim=1)
    return write, forget.unflatten(1, (2, size)), output, candidate
