"""The binary Tree-GRU, from the words up (Zhou et al. 2016), and from the root down (hierarchical section 3.2)."""

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
    """h = z ⊙ h~ + (1 − z) ⊙ (h_L + h_R), of the two children's states h_L and h_R (hierarchical section 2.1).

    [z; r_L; r_R] = sigmoid(U^L h_L + U^R h_R + b), h~ = tanh(U^L (r_L ⊙ h_L) + U^R (r_R ⊙ h_R) + b). The gates stand
    in the order z, r_L, r_R, h~, in the matrices of the left and of the right child.
    """

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.left_recurrent = RecurrentLinear(hidden_size, 4 * hidden_size)
        self.right_recurrent = RecurrentLinear(hidden_size, 4 * hidden_size, bias=False)

    def forward(self, states: Tensor, schedule: TreeSchedule) -> Tensor:
        """Compute the states of all inner nodes.

        Args:
            states: of the leaves (J·B, H), in the order of the schedule's table of nodes.
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
    """All levels, lowest first; the weights get their gradient from all nodes at once.

    Autograd would copy the states of all nodes once a level, and add up a gradient as large as the weights.
    """

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, child_rows: Tensor, level_slices: Sequence[slice]
    ) -> Tensor:
        leaves, size = states.shape
        products, own = get_loop_dtype(weight), states.dtype
        weight, bias = weight.to(products), bias.to(products)
        # Transposed once: a third faster on a CPU than the view, at every level.
        of_gates, of_candidate = (part.T.contiguous() for part in weight.split([3 * size, size]))
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
            torch.sigmoid(multiply_matrices(pair.to(products), of_gates, gate_bias).to(own), out=gate)
            update, reset = gate.split([size, 2 * size], dim=1)
            kept = (reset * pair).to(products)
            torch.tanh(multiply_matrices(kept, of_candidate, candidate_bias).to(own), out=candidate)
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
        products, own = weight.dtype, gradient.dtype
        place = _invert_indices(children.flatten(), ctx.leaves + inner)
        # What flows down to each child; the row behind them is for nodes that are no one's.
        grad_children = gradient.new_empty(2 * inner + 1, size)
        grad_children[2 * inner :] = 0
        grad_gates, grad_candidates = torch.empty_like(gates), torch.empty_like(candidates)
        for level in reversed(ctx.levels):
            pair, candidate = pairs[level], candidates[level]
            update, reset = gates[level].split([size, 2 * size], dim=1)
            left, right = pair.chunk(2, dim=1)
            grad_node = gradient[level] + grad_children.index_select(0, place[ctx.leaves :][level])
            scaled = grad_node * update
            grad_update, grad_reset = grad_gates[level].split([size, 2 * size], dim=1)
            torch.ops.aten.tanh_backward.grad_input(scaled, candidate, grad_input=grad_candidates[level])
            grad_kept = multiply_matrices(grad_candidates[level].to(products), weight[3 * size :]).to(own)
            torch.ops.aten.sigmoid_backward.grad_input(
                grad_node * (candidate - left - right), update, grad_input=grad_update
            )
            torch.ops.aten.sigmoid_backward.grad_input(grad_kept * pair, reset, grad_input=grad_reset)
            grad_pair = (
                multiply_matrices(grad_gates[level].to(products), weight[: 3 * size]).to(own).addcmul_(grad_kept, reset)
            )
            below = grad_children[2 * level.start : 2 * level.stop].view(-1, 2, size)
            torch.add(grad_pair.view(-1, 2, size), (grad_node - scaled).unsqueeze(1), out=below)
        kept = (gates[:, size:] * pairs).to(products)
        of_gates = compute_weight_gradient(grad_gates.to(products), pairs.to(products))
        grad_weight = torch.cat([of_gates, compute_weight_gradient(grad_candidates.to(products), kept)])
        grad_bias = torch.cat([grad_gates.sum(dim=0), grad_candidates.sum(dim=0)])
        return grad_children.index_select(0, place[: ctx.leaves]), grad_weight, grad_bias, None, None


def _invert_indices(node_rows: Tensor, table_size: int) -> Tensor:
    """Turn a list of nodes round: which entry of it is each node?

    With it, what an entry holds is gathered by its node. Scattering to the nodes instead would be slow where it must
    be repeatable, and would have to begin with zeros.

    Args:
        node_rows: rows of the table of nodes (N,) int64, no one twice.
        table_size: size of the table.

    Returns:
        (rows,) int64: for each node its place in `node_rows`, N where it has none.
    """
    found = node_rows.new_full((table_size,), len(node_rows))
    return found.scatter_(0, node_rows, torch.arange(len(node_rows), device=node_rows.device))


class TopDownGRU(nn.Module):
    """h↓ = GRU(h↑, h↓ of the parent), with one GRU for left and one for right children (eq. 3).

    The topmost node of a tree keeps its state, and so does a word that is in no tree.
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
        below = tuple(zip((self.left, self.right), schedule.child_rows.unbind(1), strict=True))
        inputs = [upcast_half_precision(gru.input(states.index_select(0, children))) for gru, children in below]
        words = len(states) - len(schedule.child_rows)
        for level in reversed(schedule.level_slices):
            parents = states[words:][level]
            made = [gru.step(read[level], parents) for (gru, _), read in zip(below, inputs, strict=True)]
            states = states.index_copy(0, schedule.child_rows[level].T.flatten(), torch.cat(made))
        return states
