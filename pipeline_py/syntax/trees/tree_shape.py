"""What a tree looks like: how deep it is, how long its dependencies are, what its phrases span.

Everything takes time in proportion to the number of words or nodes, without recursion: a tree of thousands of words
may be a chain. Heads are those of `DependencyTree`: a tree or several trees under the artificial root 0, as
`dependency.fault` makes sure of. Heads and phrases of a failed parse mean nothing, and neither do their shapes.
"""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline_py.syntax.trees.constituency import PhraseTree, fold_tree, list_phrase_spans, simplify_tree


def compute_tree_depth(heads: Sequence[int]) -> int:
    """The most edges from a root word down to a word; of several roots that of the deepest tree.

    Args:
        heads: n heads; 0 is the root, i is the i-th word counted from 1.

    Returns:
        0 for one word, and for none; n - 1 for a chain.
    """
    return max(compute_word_levels(heads), default=1) - 1


def compute_word_levels(heads: Sequence[int]) -> list[int]:
    """The edges from the artificial root down to each of n words: 1 for a root word, 2 for what hangs on it.

    Args:
        heads: n heads; 0 is the root, i is the i-th word counted from 1.
    """
    found = [0, *[-1] * len(heads)]  # of the artificial root, and not known yet
    for word in range(1, len(found)):
        path: list[int] = []
        node = word
        while found[node] < 0:
            path.append(node)
            node = heads[node - 1]
        for level, below in enumerate(reversed(path), start=found[node] + 1):
            found[below] = level
    return found[1:]


def compute_dependency_lengths(heads: Sequence[int]) -> list[int]:
    """|i - head of i| of every word i that has a head word, from left to right; roots have none."""
    return [abs(word - head) for word, head in enumerate(heads, start=1) if head]


def is_projective(heads: Sequence[int]) -> bool:
    """Whether for each arc h → d all words strictly between h and d are descendants of h.

    Arcs from the artificial root at place 0 count and never break the rule, since all words descend from it.
    That is so exactly where every word and its descendants are neighbours, or, with arcs drawn above the words and
    the artificial root in front of them, where no two arcs cross (Kübler, McDonald and Nivre 2009, Dependency
    Parsing, section 2.1).

    Args:
        heads: n heads; 0 is the root, i is the i-th word counted from 1.
    """
    nodes = len(heads) + 1
    missing = [0] * nodes  # children that are not joined to their head yet
    for head in heads:
        missing[head] += 1
    # The first and the last place, and the number, of what is joined to a node, and of itself.
    first, last, size = list(range(nodes)), list(range(nodes)), [1] * nodes
    leaves = [word for word in range(1, nodes) if not missing[word]]
    for leaf in leaves:
        node = leaf
        while node:
            if last[node] - first[node] >= size[node]:
                return False
            head = heads[node - 1]
            first[head] = min(first[head], first[node])
            last[head] = max(last[head], last[node])
            size[head] += size[node]
            missing[head] -= 1
            if missing[head]:
                break
            node = head
    return True


class PhraseTreeSize(NamedTuple):
    """The size of a phrase tree.

    Attributes:
        words: leaves.
        phrases: nodes above them; the tag of a word is none.
        depth: the most edges from the topmost node to a leaf, which is the most phrases above a word.
    """

    words: int = 0
    phrases: int = 0
    depth: int = 0


def compute_phrase_tree_size(tree: PhraseTree) -> PhraseTreeSize:
    """The size of a tree after `simplify`: traces and the wrapper of the root do not count."""
    simple = simplify_tree(tree)
    if simple.root is None:
        return PhraseTreeSize()
    deepest = fold_tree(simple.root, lambda _: 0, lambda _, depths: 1 + max(depths))
    return PhraseTreeSize(len(simple.words), len(list_phrase_spans(simple)), deepest)


def map_spans_to_labels(tree: PhraseTree) -> dict[tuple[int, int], str]:
    """The spans of more than one word, of a tree without traces.

    Returns:
        By first word (counted from 0) and the word after the last, the label of the topmost phrase over these words.
    """
    # Of a chain of unary phrases the topmost comes last.
    return {(first, end): label for label, first, end in list_phrase_spans(tree) if end - first > 1}
