"""From the root down: gated recurrent units that tell each node what stands around it (hierarchical section 3.2)."""

import torch
from torch import Tensor, nn

from pipeline_py.nmt.attention import at_least_single
from pipeline_py.nmt.recurrence.original_gru import OriginalGRU
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
        below = tuple(zip((self.left, self.right), schedule.children.unbind(1), strict=True))
        inputs = [at_least_single(gru.input(states.index_select(0, children))) for gru, children in below]
        words = len(states) - len(schedule.children)
        for level in reversed(schedule.levels):
            parents = states[words:][level]
            made = [gru.step(read[level], parents) for (gru, _), read in zip(below, inputs, strict=True)]
            states = states.index_copy(0, schedule.children[level].T.flatten(), torch.cat(made))
        return states
