"""Conversion of trees over words to trees over the tokens of the text."""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline_py.syntax.trees.constituency import TRACE_LABEL, PhraseNode, PhraseTree, Preterminal, TreeNode, fold_tree
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.tree_shape import compute_word_levels
from pipeline_py.syntax.words.token_alignment import WordTokenMatch

PART_RELATION = "flat"
"""Relation of the parts of a word that consists of several tokens (Universal Dependencies: headless expressions)."""


class WordPlacement(NamedTuple):
    """Alignment of the words of a tree with the tokens of its sentence; both are counted from 0.

    Attributes:
        word_tokens: Token of each word, in ascending order.
        token_anchors: For each token with a word, the token itself; for others, the neighbouring token of which it is a
            part.
    """

    word_tokens: tuple[int, ...]
    token_anchors: tuple[int, ...]


def build_placement(matches: Sequence[WordTokenMatch]) -> WordPlacement:
    """Build the placement of matches; a word that consists of several tokens is placed in the first."""
    return WordPlacement(
        tuple(match.token_range.start for match in matches for _ in match.word_range),
        tuple(match.token_range.start for match in matches for _ in match.token_range),
    )


def retokenize_tree(
    tree: DependencyTree | PhraseTree, tokens: Sequence[str], placement: WordPlacement
) -> DependencyTree | PhraseTree:
    """Convert a tree of either kind to one over tokens."""
    if isinstance(tree, DependencyTree):
        return retokenize_dependency_tree(tree, tokens, placement)
    return retokenize_phrase_tree(tree, tokens, placement)


def retokenize_dependency_tree(tree: DependencyTree, tokens: Sequence[str], placement: WordPlacement) -> DependencyTree:
    """Convert a dependency tree to one with a node for each token.

    Several words of one token become one node, with head, label and tag of its topmost word (the one nearest to the
    root; in ties, the first) and the dependents of all its words. A token that is a part of another token depends on
    it. The result is a tree, since the head of a topmost word is always nearer to the root.
    """
    tops = _find_topmost_words(placement.word_tokens, compute_word_levels(tree.heads))
    heads: list[int] = []
    labels: list[str] = []
    upos: list[str] = []
    for token, anchor in enumerate(placement.token_anchors):
        top = tops[anchor]
        upos.append(tree.upos[top])
        if anchor == token:
            head = tree.heads[top]
            heads.append(placement.word_tokens[head - 1] + 1 if head else 0)
            labels.append(tree.labels[top])
        else:
            heads.append(anchor + 1)
            labels.append(PART_RELATION)
    return DependencyTree(tuple(tokens), tuple(heads), tuple(labels), tuple(upos), line_number=tree.line_number)


def retokenize_phrase_tree(tree: PhraseTree, tokens: Sequence[str], placement: WordPlacement) -> PhraseTree:
    """Convert a phrase tree to one without traces and with a leaf for each token.

    Several words of one token become one leaf, with position and tag of the topmost word (in ties, the first); phrases
    without words are removed. A token with parts becomes a phrase over leaves, all labelled with its tag.
    """
    if tree.root is None:
        return tree
    tops = _find_topmost_words(placement.word_tokens, _compute_leaf_levels(tree.root))
    words = iter(range(len(placement.word_tokens)))
    anchors = placement.token_anchors

    def convert_leaf(node: Preterminal) -> TreeNode | None:
        if node.label == TRACE_LABEL:
            return None
        word = next(words)
        token = placement.word_tokens[word]
        if tops[token] != word:
            return None
        first, end = token, token + 1
        while first > 0 and anchors[first - 1] == token:
            first -= 1
        while end < len(anchors) and anchors[end] == token:
            end += 1
        leaves = tuple(Preterminal(node.label, form) for form in tokens[first:end])
        return leaves[0] if len(leaves) == 1 else PhraseNode(node.label, leaves)

    def convert_phrase(node: PhraseNode, children: list[TreeNode | None]) -> TreeNode | None:
        nodes = tuple(child for child in children if child is not None)
        return PhraseNode(node.label, nodes) if nodes else None

    return PhraseTree(fold_tree(tree.root, convert_leaf, convert_phrase), tree.line_number)


def _find_topmost_words(word_tokens: Sequence[int], word_levels: Sequence[int]) -> dict[int, int]:
    """Map each token that has words to the word nearest to the root (in ties, the first)."""
    tops: dict[int, int] = {}
    for word, token in enumerate(word_tokens):
        if token not in tops or word_levels[word] < word_levels[tops[token]]:
            tops[token] = word
    return tops


def _compute_leaf_levels(root: TreeNode) -> list[int]:
    """Compute the number of edges from the topmost node to each word, from left to right."""
    levels = []
    stack = [(root, 0)]
    while stack:
        node, level = stack.pop()
        if isinstance(node, PhraseNode):
            stack.extend((child, level + 1) for child in reversed(node.children))
        elif node.label != TRACE_LABEL:
            levels.append(level)
    return levels
