"""The binary Tree-GRU, bottom-up (Zhou et al. 2016) and top-down (hierarchical section 3.2)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.fast.linear import RecurrentLinear, get_loop_dtype
from pipeline_py.nmt.fast.matrix_products import compute_weight_gradient, multiply_matrices
from pipeline_py.nmt.recurrence.original_gru import OriginalGRU
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule


class TreeGRU(nn.Module):
    """h = z ⊙ h~ + (1 − z) ⊙ (h_L + h_R), with the two children's states h_L and h_R (hierarchical section 2.1).

    [z; r_L; r_R] = sigmoid(U^L h_L + U^R h_R + b), h~ = tanh(U^L (r_L ⊙ h_L) + U^R (r_R ⊙ h_R) + b). The rows
    of both matrices are in the order z, r_L, r_R, h~.
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.left_recurrent = RecurrentLinear(hidden_size, 4 * hidden_size)
        self.right_recurrent = RecurrentLinear(hidden_size, 4 * hidden_size, bias=False)

    def forward(self, states: Tensor, schedule: TreeSchedule) -> Tensor:
        """Compute the states of all inner nodes.

        Args:
            states: states of the leaves (J·B, H), in the order of the schedule's table of nodes.
            schedule: the trees of B sentences, with M inner nodes.

        Returns:
            (M, H), in the same order.
        """
        weight = torch.cat([self.left_recurrent.weight, self.right_recurrent.weight], dim=1)
        inner: Tensor = _BottomUpFunction.apply(
            states, weight, self.left_recurrent.bias, schedule.child_rows, schedule.level_slices
        )
        return inner


class _BottomUpFunction(Function):
    """The bottom-up pass over all levels; the gradients of the weights are computed once for all nodes.

    Autograd would copy the states of all nodes and accumulate the weights' gradients at every level.
    """

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, child_rows: Tensor, level_slices: Sequence[slice]
    ) -> Tensor:
        leaves, size = states.shape
        product_dtype, state_dtype = get_loop_dtype(weight), states.dtype
        weight, bias = weight.to(product_dtype), bias.to(product_dtype)
        # On a CPU, products with a contiguous transpose take a third less time.
        gate_weight, candidate_weight = (part.T.contiguous() for part in weight.split([3 * size, size]))
        gate_bias, candidate_bias = bias.split([3 * size, size])
        table = states.new_empty(leaves + len(child_rows), size)
        table[:leaves] = states
        pairs = states.new_empty(len(child_rows), 2 * size)  # [h_L; h_R]
        gates = states.new_empty(len(child_rows), 3 * size)
        candidates = states.new_empty(len(child_rows), size)
        inner = table[leaves:]
        for level in level_slices:
            pair, gate, candidate = pairs[level], gates[level], candidates[level]
            torch.index_select(table, 0, child_rows[level].flatten(), out=pair.view(-1, size))
            torch.sigmoid(multiply_matrices(pair.to(product_dtype), gate_weight, gate_bias).to(state_dtype), out=gate)
            update, reset = gate.split([size, 2 * size], dim=1)
            reset_pairs = (reset * pair).to(product_dtype)
            torch.tanh(multiply_matrices(reset_pairs, candidate_weight, candidate_bias).to(state_dtype), out=candidate)
            left, right = pair.chunk(2, dim=1)
            torch.lerp(left + right, candidate, update, out=inner[level])
        ctx.save_for_backward(weight, child_rows, pairs, gates, candidates)
        ctx.levels, ctx.leaves = level_slices, leaves
        return inner

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weight, children, pairs, gates, candidates = ctx.saved_tensors
        inner, size = candidates.shape
        product_dtype, state_dtype = weight.dtype, gradient.dtype
        entry_indices = _invert_indices(children.flatten(), ctx.leaves + inner)
        # Gradient of each child; the last row is for nodes that are not children.
        grad_children = gradient.new_empty(2 * inner + 1, size)
        grad_children[2 * inner :] = 0
        grad_gates, grad_candidates = torch.empty_like(gates), torch.empty_like(candidates)
        for level in reversed(ctx.levels):
            pair, candidate = pairs[level], candidates[level]
            update, reset = gates[level].split([size, 2 * size], dim=1)
            left, right = pair.chunk(2, dim=1)
            grad_node = gradient[level] + grad_children.index_select(0, entry_indices[ctx.leaves :][level])
            scaled = grad_node * update
            grad_update, grad_reset = grad_gates[level].split([size, 2 * size], dim=1)
            torch.ops.aten.tanh_backward.grad_input(scaled, candidate, grad_input=grad_candidates[level])
            grad_reset_pair = multiply_matrices(grad_candidates[level].to(product_dtype), weight[3 * size :]).to(
                state_dtype
            )
            torch.ops.aten.sigmoid_backward.grad_input(
                grad_node * (candidate - left - right), update, grad_input=grad_update
            )
            torch.ops.aten.sigmoid_backward.grad_input(grad_reset_pair * pair, reset, grad_input=grad_reset)
            grad_pair = (
                multiply_matrices(grad_gates[level].to(product_dtype), weight[: 3 * size])
                .to(state_dtype)
                .addcmul_(grad_reset_pair, reset)
            )
            grad_pair_children = grad_children[2 * level.start : 2 * level.stop].view(-1, 2, size)
            torch.add(grad_pair.view(-1, 2, size), (grad_node - scaled).unsqueeze(1), out=grad_pair_children)
        reset_pairs = (gates[:, size:] * pairs).to(product_dtype)
        grad_gate_weight = compute_weight_gradient(grad_gates.to(product_dtype), pairs.to(product_dtype))
        grad_weight = torch.cat(
            [grad_gate_weight, compute_weight_gradient(grad_candidates.to(product_dtype), reset_pairs)]
        )
        grad_bias = torch.cat([grad_gates.sum(dim=0), grad_candidates.sum(dim=0)])
        return grad_children.index_select(0, entry_indices[: ctx.leaves]), grad_weight, grad_bias, None, None


def _invert_indices(node_rows: Tensor, table_size: int) -> Tensor:
    """Map each node of the table to its index in a list of nodes.

    A gather with this map replaces a scatter, which is slow when it must be deterministic.

    Args:
        node_rows: rows of the table of nodes (N,) int64, without duplicates.
        table_size: size of the table.

    Returns:
        (table_size,) int64: index of each node in `node_rows`, or N.
    """
    entry_indices = node_rows.new_full((table_size,), len(node_rows))
    return entry_indices.scatter_(0, node_rows, torch.arange(len(node_rows), device=node_rows.device))


class TopDownGRU(nn.Module):
    """h↓ = GRU(h↑, h↓ of the parent), with one GRU for left and one for right children (eq. 3).

    Roots and words outside of trees keep their states.
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.left = OriginalGRU(hidden_size, hidden_size)
        self.right = OriginalGRU(hidden_size, hidden_size)

    def forward(self, states: Tensor, schedule: TreeSchedule) -> Tensor:
        """Update the states of all nodes.

        Args:
            states: h↑ of leaves and inner nodes (J·B + M, H), in the order of the schedule's table of nodes.
            schedule: the trees of B sentences, with M inner nodes.

        Returns:
            h↓ (J·B + M, H), in the same order.
        """
        grus_and_children = tuple(zip((self.left, self.right), schedule.child_rows.unbind(1), strict=True))
        inputs = [
            upcast_half_precision(gru.input(states.index_select(0, children))) for gru, children in grus_and_children
        ]
        words = len(states) - len(schedule.child_rows)
        for level in reversed(schedule.level_slices):
            parents = states[words:][level]
            child_states = [
                gru.step(products[level], parents) for (gru, _), products in zip(grus_and_children, inputs, strict=True)
            ]
            states = states.index_copy(0, schedule.child_rows[level].T.flatten(), torch.cat(child_states))
        return states
