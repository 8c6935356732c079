"""The binary Tree-GRU, bottom-up (Zhou et al. 2016) and top-down (hierarchical section 3.2)."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

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
        inner: Tensor = _BottomUpFunction.apply(states, weight, self.left_recurrent.bias, schedule)
        return inner


class _BottomUpFunction(Function):
    """The bottom-up pass over all levels; the gradients of the weights are computed once for all nodes.

    Autograd would copy the states of all nodes and accumulate the weights' gradients at every level.
    """

    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, schedule: TreeSchedule) -> Tensor:
        (leaves, size), child_rows = states.shape, schedule.child_rows
        product_dtype, state_dtype = get_loop_dtype(weight), states.dtype
        weight, bias = weight.to(product_dtype), bias.to(product_dtype)
        # On a CPU, products with a contiguous transpose take a third less time.
        gate_weight, candidate_weight = (part.T.contiguous() for part in weight.split([3 * size, size]))
        gate_bias, candidate_bias = bias.split([3 * size, size])
        table = states.new_empty(leaves + len(child_rows) + 1, size)
        table[:leaves], table[-1] = states, 0
        pairs = states.new_empty(len(child_rows), 2 * size)  # [h_L; h_R]
        gates = states.new_empty(len(child_rows), 3 * size)
        candidates = states.new_empty(len(child_rows), size)
        inner = table[leaves:-1]
        for level in schedule.step_slices:
            pair, gate, candidate = pairs[level], gates[level], candidates[level]
            torch.index_select(table, 0, child_rows[level].flatten(), out=pair.view(-1, size))
            torch.sigmoid(multiply_matrices(pair.to(product_dtype), gate_weight, gate_bias).to(state_dtype), out=gate)
            update, reset = gate.split([size, 2 * size], dim=1)
            reset_pairs = (reset * pair).to(product_dtype)
            torch.tanh(multiply_matrices(reset_pairs, candidate_weight, candidate_bias).to(state_dtype), out=candidate)
            left, right = pair.chunk(2, dim=1)
            torch.lerp(left + right, candidate, update, out=inner[level])
        ctx.save_for_backward(weight, pairs, gates, candidates)
        ctx.schedule = schedule
        return inner

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        weight, pairs, gates, candidates = ctx.saved_tensors
        inner, size = candidates.shape
        product_dtype, state_dtype = weight.dtype, gradient.dtype
        leaf_entries, inner_entries = ctx.schedule.split_child_entries()
        # Gradient of each child; the last row is for nodes that are not children.
        grad_children = gradient.new_empty(2 * inner + 1, size)
        grad_children[-1] = 0
        grad_gates, grad_candidates = torch.empty_like(gates), torch.empty_like(candidates)
        for level in reversed(ctx.schedule.step_slices):
            pair, candidate = pairs[level], candidates[level]
            update, reset = gates[level].split([size, 2 * size], dim=1)
            left, right = pair.chunk(2, dim=1)
            grad_node = gradient[level] + grad_children.index_select(0, inner_entries[level])
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
        return grad_children.index_select(0, leaf_entries), grad_weight, grad_bias, None


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
        grus = (self.left, self.right)
        downward: Tensor = _TopDownFunction.apply(
            states,
            torch.stack([gru.input.weight for gru in grus]),
            torch.stack([gru.input.bias for gru in grus]),
            torch.cat([gru.gates_recurrent.weight for gru in grus]),
            torch.stack([gru.candidate_recurrent.weight for gru in grus]),
            schedule,
        )
        return downward


class _TopDownFunction(Function):
    """The top-down pass over all levels, of both children at once; see `_BottomUpFunction`.

    Parameters are those of the GRUs of left and right children: input weights (2, 3·H, H) and biases (2, 3·H), and the
    recurrent weights of gates (4·H, H) and candidates (2, H, H).
    """

    @staticmethod
    def forward(
        ctx: Any,
        states: Tensor,
        input_weight: Tensor,
        input_bias: Tensor,
        gate_weight: Tensor,
        candidate_weight: Tensor,
        schedule: TreeSchedule,
    ) -> Tensor:
        (nodes, size), inner = states.shape, len(schedule.child_rows)
        product_dtype, state_dtype = get_loop_dtype(gate_weight), states.dtype
        input_weight, input_bias = input_weight.to(product_dtype), input_bias.to(product_dtype)
        gate_weight, candidate_weight = gate_weight.to(product_dtype), candidate_weight.to(product_dtype)
        transposed_weights = gate_weight.T.contiguous(), candidate_weight.mT.contiguous()
        # h↓ of the children in the flat `child_rows`, then the schedule's table with h↑.
        table = states.new_empty(2 * inner + nodes + 1, size)
        table[2 * inner : -1], table[-1] = states, 0
        child_inputs = table.index_select(0, schedule.child_rows.flatten() + 2 * inner).view(-1, 2, size)
        products = _multiply_by_side(child_inputs.to(product_dtype), input_weight.mT, input_bias).to(state_dtype)
        gate_products, candidate_products = products.split([2 * size, size], dim=2)
        parents = states.new_empty(inner, size)
        gates, candidates = states.new_empty(inner, 2, 2 * size), states.new_empty(inner, 2, size)
        parent_entries = schedule.child_entries[nodes - inner :]
        for level in reversed(schedule.step_slices):
            parent, gate, candidate = parents[level], gates[level], candidates[level]
            torch.index_select(table, 0, parent_entries[level], out=parent)
            recurrent = multiply_matrices(parent.to(product_dtype), transposed_weights[0]).to(state_dtype)
            torch.sigmoid(gate_products[level] + recurrent.view(gate.shape), out=gate)
            update, reset = gate.chunk(2, dim=2)
            parent = parent.unsqueeze(1)
            recurrent = _multiply_by_side((reset * parent).to(product_dtype), transposed_weights[1]).to(state_dtype)
            torch.tanh(candidate_products[level] + recurrent, out=candidate)
            torch.lerp(parent, candidate, update, out=table[2 * level.start : 2 * level.stop].view(candidate.shape))
        ctx.save_for_backward(input_weight, gate_weight, candidate_weight, child_inputs, parents, gates, candidates)
        ctx.schedule = schedule
        return table.index_select(0, schedule.child_entries)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        input_weight, gate_weight, candidate_weight, child_inputs, parents, gates, candidates = ctx.saved_tensors
        (nodes, size), inner = gradient.shape, len(parents)
        product_dtype, state_dtype = gate_weight.dtype, gradient.dtype
        update, reset = gates.chunk(2, dim=2)
        states = parents.unsqueeze(1).expand_as(reset)
        # The gradients of the gates' and candidates' arguments are a gradient times these.
        update_factors = torch.ops.aten.sigmoid_backward(candidates - states, update)
        reset_factors = torch.ops.aten.sigmoid_backward(states, reset)
        candidate_factors = torch.ops.aten.tanh_backward(update, candidates)
        direct_factors = 1 - update
        grad_nodes = gradient.new_empty(nodes + 1, size)
        grad_nodes[:-1], grad_nodes[-1] = gradient, 0
        grad_gates, grad_candidates = torch.empty_like(gates), torch.empty_like(candidates)
        for level in ctx.schedule.step_slices:
            children = ctx.schedule.child_rows[level].flatten()
            grad_child = grad_nodes.index_select(0, children).view(-1, 2, size)
            grad_update, grad_reset = grad_gates[level].chunk(2, dim=2)
            torch.mul(grad_child, update_factors[level], out=grad_update)
            torch.mul(grad_child, candidate_factors[level], out=grad_candidates[level])
            grad_reset_state = _multiply_by_side(grad_candidates[level].to(product_dtype), candidate_weight).to(
                state_dtype
            )
            torch.mul(grad_reset_state, reset_factors[level], out=grad_reset)
            grad_gate_states = multiply_matrices(grad_gates[level].flatten(1).to(product_dtype), gate_weight)
            grad_states = (grad_child * direct_factors[level]).addcmul_(grad_reset_state, reset[level]).sum(dim=1)
            grad_nodes[nodes - inner : -1][level].add_(grad_states).add_(grad_gate_states)
        grad_products = torch.cat([grad_gates, grad_candidates], dim=2)
        grad_inputs = _multiply_by_side(grad_products.to(product_dtype), input_weight).to(state_dtype)
        reset_states = reset * states
        return (
            torch.cat([grad_inputs.flatten(0, 1), grad_nodes]).index_select(0, ctx.schedule.child_entries),
            _compute_weight_gradients(grad_products, child_inputs, product_dtype),
            grad_products.sum(dim=0),
            compute_weight_gradient(grad_gates.flatten(1).to(product_dtype), parents.to(product_dtype)),
            _compute_weight_gradients(grad_candidates, reset_states, product_dtype),
            None,
        )


def _multiply_by_side(values: Tensor, weights: Tensor, biases: Tensor | None = None) -> Tensor:
    """Multiply the values of left and right children (N, 2, X) with their own matrix (2, X, Y): (N, 2, Y)."""
    biases_by_side = (None, None) if biases is None else biases.unbind()
    return torch.stack(
        [multiply_matrices(*parts) for parts in zip(values.unbind(1), weights.unbind(), biases_by_side, strict=True)],
        dim=1,
    )


def _compute_weight_gradients(gradient: Tensor, values: Tensor, product_dtype: torch.dtype) -> Tensor:
    """Compute the gradient of the weights (2, Y, X) from gradients (N, 2, Y) and values (N, 2, X) of both sides."""
    sides = zip(gradient.to(product_dtype).unbind(1), values.to(product_dtype).unbind(1), strict=True)
    return torch.stack([compute_weight_gradient(*side) for side in sides])
