"""Maximum spanning trees with one root, found without the constraint where it makes no difference.

Stanza keeps trees to one root by lowering the scores of all heads that are the root (Stanojević and Cohen 2021). So the
best heads never reach the root at first, and it contracts one cycle after the other in every sentence, in Python. But
the best of all trees is its answer as well if it has one root, and best heads that are a tree are the best of all.
"""

import numpy as np
from stanza.models.common.chuliu_edmonds import chuliu_edmonds, chuliu_edmonds_one_root
from stanza.models.depparse import model

ROOTS = 2
"""Heads that are the root in a tree with one root: that of its child, and its own."""


def with_greedy_trees() -> None:
    """From now on let Stanza's dependency parsers in this process contract only cycles of best heads."""
    model.chuliu_edmonds_one_root = maximum_tree


def maximum_tree(scores: np.ndarray) -> np.ndarray:
    """Find the heads (W + 1,) of the tree with the highest sum of scores, in which the root has one child.

    Args:
        scores: of the head of each word (W + 1, W + 1); word and head 0 are the root.
    """
    heads = greedy_heads(scores)
    if heads is None:
        heads = chuliu_edmonds(scores.astype(np.float64))
        if np.count_nonzero(heads == 0) != ROOTS:
            heads = chuliu_edmonds_one_root(scores)
    return heads


def greedy_heads(scores: np.ndarray) -> np.ndarray | None:
    """Give the best head of each word, that of the root being itself; None where these are no tree with one root."""
    scores = scores.copy()
    np.fill_diagonal(scores, -np.inf)
    heads: np.ndarray = scores.argmax(axis=1)
    heads[0] = 0
    if np.count_nonzero(heads == 0) != ROOTS:
        return None
    above = heads
    for _ in range(len(heads).bit_length()):
        above = above[above]
    return None if above.any() else heads
