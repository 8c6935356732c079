"""From the root down: gated recurrent units that tell each node what stands around it (hierarchical section 3.2)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.recurrence.original_gru import OriginalGRU
from pipeline_py.nmt.trees.levels import places, product_dtype, spans
from pipeline_py.nmt.trees.schedule import Schedule


class TopDownGRU(nn.Module):
    """h↓ = GRU(h↑, h↓ of the parent), with one GRU for left and one for right children (eq. 3).

    The topmost node of a tree keeps its state, and so does a word that is in no tree.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.left = OriginalGRU(hidden, hidden)
        self.right = OriginalGRU(hidden, hidden)

    def forward(self, states: Tensor, schedule: Schedule) -> Tensor:
        """Update the states of all nodes.

        Args:
            states: h↑ of leaves and inner nodes (J·B + M, H), in the order of the schedule's table of nodes.
            schedule: the trees of B sentences, with M inner nodes.

        Returns:
            h↓ (J·B + M, H), in the same order.
        """
        both = self.left, self.right
        updated: Tensor = _Descent.apply(
            states,
            torch.stack([gru.input.weight for gru in both]),
            torch.stack([gru.input.bias for gru in both]),
            torch.cat([gru.gates_recurrent.weight for gru in both]),
            torch.stack([gru.candidate_recurrent.weight for gru in both]),
            schedule.children,
            schedule.sizes,
        )
        return updated


class _Descent(Function):
    """All levels, highest first; the weights get their gradient from all nodes at once.

    A level is one of parents, which makes the states of their children. What concerns children is of shape (2, M, ·),
    left ones first; their states stand before those of `states` in one table, so that a node's final state is found
    there whether it has a parent or not.
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        input_weight: Tensor,
        bias: Tensor,
        gates_weight: Tensor,
        candidate_weight: Tensor,
        children: Tensor,
        sizes: Sequence[int],
    ) -> Tensor:
        rows, size = states.shape
        inner = len(children)
        products, own = product_dtype(states), states.dtype
        weights = [weight.to(products) for weight in (input_weight, gates_weight, candidate_weight)]
        of_input, of_gates, of_candidate = (weight.mT.contiguous() for weight in weights)
        of_all = children.T.flatten()
        final = _final(of_all, rows)
        upward = states.index_select(0, of_all).view(2, inner, size)
        inputs = torch.baddbmm(bias.to(products).unsqueeze(1), upward.to(products), of_input).to(own)
        table = states.new_empty(2 * inner + rows, size)
        table[2 * inner :] = states
        downward = table[: 2 * inner].view(2, inner, size)
        parents = states.new_empty(inner, size)
        gates, candidates = states.new_empty(2, inner, 2 * size), states.new_empty(2, inner, size)
        for level in reversed(spans(sizes)):
            parent, gate, candidate = parents[level], gates[:, level], candidates[:, level]
            torch.index_select(table, 0, final[rows - inner :][level], out=parent)
            recurrent = (parent.to(products) @ of_gates).to(own).view(-1, 2, 2 * size).transpose(0, 1)
            torch.add(inputs[:, level, : 2 * size], recurrent, out=gate).sigmoid_()
            update, reset = gate.chunk(2, dim=2)
            recurrent = torch.bmm((reset * parent).to(products), of_candidate).to(own)
            torch.add(inputs[:, level, 2 * size :], recurrent, out=candidate).tanh_()
            torch.lerp(parent.expand_as(candidate), candidate, update, out=downward[:, level])
        ctx.save_for_backward(*weights, children, upward, parents, gates, candidates)
        ctx.sizes, ctx.rows = sizes, rows
        return table.index_select(0, final)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        input_weight, gates_weight, candidate_weight, children, upward, parents, gates, candidates = ctx.saved_tensors
        inner, size = parents.shape
        leaves = ctx.rows - inner
        products, own = input_weight.dtype, gradient.dtype
        grad_all = children.T.flatten()
        grad_downward = gradient.index_select(0, grad_all).view(2, inner, size)
        # What each parent's state does to its children; the row behind them is for leaves.
        grad_parents = gradient.new_empty(inner + 1, size)
        grad_parents[inner:] = 0
        as_parent = torch.where(grad_all < leaves, inner, grad_all - leaves).view(2, inner)
        grad_inputs, grad_gates = gradient.new_empty(2, inner, 3 * size), gradient.new_empty(inner, 4 * size)
        for level in spans(ctx.sizes):
            parent, candidate = parents[level], candidates[:, level]
            update, reset = gates[:, level].chunk(2, dim=2)
            grad_children = grad_parents.index_select(0, as_parent[:, level].flatten()).view_as(candidate)
            grad_children += grad_downward[:, level]
            scaled = grad_children * update
            grad_update, grad_reset, grad_candidate = grad_inputs[:, level].chunk(3, dim=2)
            torch.ops.aten.tanh_backward.grad_input(scaled, candidate, grad_input=grad_candidate)
            grad_kept = torch.bmm(grad_candidate.to(products), candidate_weight).to(own)
            torch.ops.aten.sigmoid_backward.grad_input(
                grad_children * (candidate - parent), update, grad_input=grad_update
            )
            torch.ops.aten.sigmoid_backward.grad_input(grad_kept * parent, reset, grad_input=grad_reset)
            grad_gates[level].view(-1, 2, 2 * size).transpose(0, 1).copy_(grad_inputs[:, level, : 2 * size])
            carried = (grad_children - scaled).addcmul_(grad_kept, reset).sum(dim=0)
            torch.add((grad_gates[level].to(products) @ gates_weight).to(own), carried, out=grad_parents[level])

        grad_inputs, grad_bias = grad_inputs.to(products), grad_inputs.sum(dim=1)
        grad_table = gradient.new_empty(2 * inner + ctx.rows, size)
        grad_table[: 2 * inner] = torch.bmm(grad_inputs, input_weight).flatten(0, 1)
        grad_table[2 * inner :] = gradient
        grad_table[2 * inner + leaves :] += grad_parents[:inner]
        kept = (gates[..., size:] * parents).to(products)
        return (
            grad_table.index_select(0, _final(grad_all, ctx.rows)),
            torch.bmm(grad_inputs.mT, upward.to(products)),
            grad_bias,
            grad_gates.T.to(products) @ parents.to(products),
            torch.bmm(grad_inputs[..., 2 * size :].mT, kept),
            None,
            None,
        )


def _final(children: Tensor, rows: int) -> Tensor:
    """Say where each node's final state stands: among the children (N,), or, where it is none, behind them."""
    place = places(children, rows)
    own = torch.arange(len(children), len(children) + rows, device=children.device)
    return torch.where(place < len(children), place, own)
