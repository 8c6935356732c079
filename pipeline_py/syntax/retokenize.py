"""Trees over the tokens of a text instead of over their own words."""

from collections.abc import Sequence

from pipeline_py.syntax.constituency import TRACE, Node, Phrase, PhraseTree, Preterminal, fold
from pipeline_py.syntax.dependency import DependencyTree
from pipeline_py.syntax.token_alignment import Match
from pipeline_py.syntax.tree_shape import levels

PART = "flat"
"""How the parts of a word that is several tokens hang on the first (Universal Dependencies: a headless expression)."""


def dependencies_over_tokens(tree: DependencyTree, tokens: Sequence[str], matches: Sequence[Match]) -> DependencyTree:
    """The tree with a node for each token.

    Several words that are one token become one node. It takes head, label and tag of the word among them that is
    nearest to the root, the first of equals; what hung on any of them hangs on it. That gives a tree again: let the
    depth of a node be that of its topmost word. The head of that word is nearer to the root, and so is its node.
    """
    levels_of = levels(tree.heads)
    node_of = [0] * (len(tree.words) + 1)
    for match in matches:
        for place in match.words:
            node_of[place + 1] = match.tokens.start + 1
    heads: list[int] = []
    labels: list[str] = []
    upos: list[str] = []
    for match in matches:
        top = min(match.words, key=lambda place: levels_of[place])
        parts = len(match.tokens) - 1
        heads += [node_of[tree.heads[top]], *[match.tokens.start + 1] * parts]
        labels += [tree.labels[top], *[PART] * parts]
        upos += [tree.upos[top]] * (1 + parts)
    return DependencyTree(tuple(tokens), tuple(heads), tuple(labels), tuple(upos), line=tree.line)


def phrases_over_tokens(tree: PhraseTree, tokens: Sequence[str], matches: Sequence[Match]) -> PhraseTree:
    """The tree without traces and with a leaf for each token.

    A word that is several tokens becomes a phrase of its tag over leaves of its tag.
    """
    if tree.root is None:
        return tree
    remaining = iter(matches)

    def leaf(node: Preterminal) -> Node | None:
        if node.label == TRACE:
            return None
        leaves = tuple(Preterminal(node.label, tokens[place]) for place in next(remaining).tokens)
        return leaves[0] if len(leaves) == 1 else Phrase(node.label, leaves)

    def phrase(node: Phrase, children: list[Node | None]) -> Node | None:
        kept = tuple(child for child in children if child is not None)
        return Phrase(node.label, kept) if kept else None

    return PhraseTree(fold(tree.root, leaf, phrase), tree.line)
