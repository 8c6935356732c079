"""Trees over the tokens of a text instead of over their own words."""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline_py.syntax.trees.constituency import TRACE_LABEL, PhraseNode, PhraseTree, Preterminal, TreeNode, fold_tree
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.tree_shape import compute_word_levels
from pipeline_py.syntax.words.token_alignment import WordTokenMatch

PART_RELATION = "flat"
"""How the parts of a word that is several tokens hang on one (Universal Dependencies: a headless expression)."""


class WordPlacement(NamedTuple):
    """Where the words of a tree are among the tokens of its sentence; both are counted from 0.

    Attributes:
        word_tokens: for each word the token that it goes to, from left to right.
        token_anchors: for each token itself where a word goes to it; else the token that it is a part of, so that the
            parts of a token are its neighbours.
    """

    word_tokens: tuple[int, ...]
    token_anchors: tuple[int, ...]


def build_placement(matches: Sequence[WordTokenMatch]) -> WordPlacement:
    """Places where several words may be one token, and several tokens one word, whose first token stands for it."""
    return WordPlacement(
        tuple(match.token_range.start for match in matches for _ in match.word_range),
        tuple(match.token_range.start for match in matches for _ in match.token_range),
    )


def retokenize_tree(
    tree: DependencyTree | PhraseTree, tokens: Sequence[str], placement: WordPlacement
) -> DependencyTree | PhraseTree:
    """The tree of either kind over the tokens of its sentence."""
    if isinstance(tree, DependencyTree):
        return retokenize_dependency_tree(tree, tokens, placement)
    return retokenize_phrase_tree(tree, tokens, placement)


def retokenize_dependency_tree(tree: DependencyTree, tokens: Sequence[str], placement: WordPlacement) -> DependencyTree:
    """The tree with a node for each token.

    Several words of one token become one node. It takes head, label and tag of the word among them that is nearest to
    the root, the first of equals; what hung on any of them hangs on it. That gives a tree again: let the depth of a
    node be that of its topmost word. The head of that word is nearer to the root, and so is its node. A token that is
    a part of another hangs on it.
    """
    tops = _find_topmost_words(placement.word_tokens, compute_word_levels(tree.heads))
    heads: list[int] = []
    labels: list[str] = []
    upos: list[str] = []
    for token, whole in enumerate(placement.token_anchors):
        top = tops[whole]
        upos.append(tree.upos[top])
        if whole == token:
            head = tree.heads[top]
            heads.append(placement.word_tokens[head - 1] + 1 if head else 0)
            labels.append(tree.labels[top])
        else:
            heads.append(whole + 1)
            labels.append(PART_RELATION)
    return DependencyTree(tuple(tokens), tuple(heads), tuple(labels), tuple(upos), line_number=tree.line_number)


def retokenize_phrase_tree(tree: PhraseTree, tokens: Sequence[str], placement: WordPlacement) -> PhraseTree:
    """The tree without traces and with a leaf for each token.

    Several words of one token become one leaf, in the place and of the tag of the word among them that is nearest to
    the root, the first of equals; phrases that are left without a word go. A token with parts becomes a phrase of its
    tag over leaves of its tag.
    """
    if tree.root is None:
        return tree
    tops = _find_topmost_words(placement.word_tokens, _compute_leaf_levels(tree.root))
    words = iter(range(len(placement.word_tokens)))
    whole_of = placement.token_anchors

    def convert_leaf(node: Preterminal) -> TreeNode | None:
        if node.label == TRACE_LABEL:
            return None
        word = next(words)
        token = placement.word_tokens[word]
        if tops[token] != word:
            return None
        first, end = token, token + 1
        while first > 0 and whole_of[first - 1] == token:
            first -= 1
        while end < len(whole_of) and whole_of[end] == token:
            end += 1
        leaves = tuple(Preterminal(node.label, form) for form in tokens[first:end])
        return leaves[0] if len(leaves) == 1 else PhraseNode(node.label, leaves)

    def convert_phrase(node: PhraseNode, children: list[TreeNode | None]) -> TreeNode | None:
        kept = tuple(child for child in children if child is not None)
        return PhraseNode(node.label, kept) if kept else None

    return PhraseTree(fold_tree(tree.root, convert_leaf, convert_phrase), tree.line_number)


def _find_topmost_words(word_tokens: Sequence[int], word_levels: Sequence[int]) -> dict[int, int]:
    """For each token that has words the one nearest to the root, the first of equals."""
    tops: dict[int, int] = {}
    for word, token in enumerate(word_tokens):
        if token not in tops or word_levels[word] < word_levels[tops[token]]:
            tops[token] = word
    return tops


def _compute_leaf_levels(root: TreeNode) -> list[int]:
    """The edges from the topmost node down to each word, from left to right."""
    found = []
    stack = [(root, 0)]
    while stack:
        node, level = stack.pop()
        if isinstance(node, PhraseNode):
            stack.extend((child, level + 1) for child in reversed(node.children))
        elif node.label != TRACE_LABEL:
            found.append(level)
    return found
