"""Trees over the tokens of a text instead of over their own words."""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline_py.syntax.trees.constituency import TRACE, Node, Phrase, PhraseTree, Preterminal, fold
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.shape import levels
from pipeline_py.syntax.words.token_alignment import Match

PART = "flat"
"""How the parts of a word that is several tokens hang on one (Universal Dependencies: a headless expression)."""


class Places(NamedTuple):
    """Where the words of a tree are among the tokens of its sentence; both are counted from 0.

    Attributes:
        of_words: for each word the token that it goes to, from left to right.
        of_tokens: for each token itself where a word goes to it; else the token that it is a part of, so that the
            parts of a token are its neighbours.
    """

    of_words: tuple[int, ...]
    of_tokens: tuple[int, ...]


def places_of(matches: Sequence[Match]) -> Places:
    """Places where several words may be one token, and several tokens one word, whose first token stands for it."""
    return Places(
        tuple(match.tokens.start for match in matches for _ in match.words),
        tuple(match.tokens.start for match in matches for _ in match.tokens),
    )


def over_tokens(
    tree: DependencyTree | PhraseTree, tokens: Sequence[str], places: Places
) -> DependencyTree | PhraseTree:
    """The tree of either kind over the tokens of its sentence."""
    if isinstance(tree, DependencyTree):
        return dependencies_over_tokens(tree, tokens, places)
    return phrases_over_tokens(tree, tokens, places)


def dependencies_over_tokens(tree: DependencyTree, tokens: Sequence[str], places: Places) -> DependencyTree:
    """The tree with a node for each token.

    Several words of one token become one node. It takes head, label and tag of the word among them that is nearest to
    the root, the first of equals; what hung on any of them hangs on it. That gives a tree again: let the depth of a
    node be that of its topmost word. The head of that word is nearer to the root, and so is its node. A token that is
    a part of another hangs on it.
    """
    tops = _topmost(places.of_words, levels(tree.heads))
    heads: list[int] = []
    labels: list[str] = []
    upos: list[str] = []
    for token, whole in enumerate(places.of_tokens):
        top = tops[whole]
        upos.append(tree.upos[top])
        if whole == token:
            head = tree.heads[top]
            heads.append(places.of_words[head - 1] + 1 if head else 0)
            labels.append(tree.labels[top])
        else:
            heads.append(whole + 1)
            labels.append(PART)
    return DependencyTree(tuple(tokens), tuple(heads), tuple(labels), tuple(upos), line=tree.line)


def phrases_over_tokens(tree: PhraseTree, tokens: Sequence[str], places: Places) -> PhraseTree:
    """The tree without traces and with a leaf for each token.

    Several words of one token become one leaf, in the place and of the tag of the word among them that is nearest to
    the root, the first of equals; phrases that are left without a word go. A token with parts becomes a phrase of its
    tag over leaves of its tag.
    """
    if tree.root is None:
        return tree
    tops = _topmost(places.of_words, _leaf_levels(tree.root))
    words = iter(range(len(places.of_words)))
    whole_of = places.of_tokens

    def leaf(node: Preterminal) -> Node | None:
        if node.label == TRACE:
            return None
        word = next(words)
        token = places.of_words[word]
        if tops[token] != word:
            return None
        first, end = token, token + 1
        while first > 0 and whole_of[first - 1] == token:
            first -= 1
        while end < len(whole_of) and whole_of[end] == token:
            end += 1
        leaves = tuple(Preterminal(node.label, form) for form in tokens[first:end])
        return leaves[0] if len(leaves) == 1 else Phrase(node.label, leaves)

    def phrase(node: Phrase, children: list[Node | None]) -> Node | None:
        kept = tuple(child for child in children if child is not None)
        return Phrase(node.label, kept) if kept else None

    return PhraseTree(fold(tree.root, leaf, phrase), tree.line)


def _topmost(of_words: Sequence[int], levels_of: Sequence[int]) -> dict[int, int]:
    """For each token that has words the one nearest to the root, the first of equals."""
    tops: dict[int, int] = {}
    for word, token in enumerate(of_words):
        if token not in tops or levels_of[word] < levels_of[tops[token]]:
            tops[token] = word
    return tops


def _leaf_levels(root: Node) -> list[int]:
    """The edges from the topmost node down to each word, from left to right."""
    found = []
    stack = [(root, 0)]
    while stack:
        node, level = stack.pop()
        if isinstance(node, Phrase):
            stack.extend((child, level + 1) for child in reversed(node.children))
        elif node.label != TRACE:
            found.append(level)
    return found
