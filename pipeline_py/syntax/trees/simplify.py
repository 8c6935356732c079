"""Treebank trees without what a parser does not predict: traces, functional tags, the wrapper around the root."""

from pipeline_py.syntax.trees.constituency import TRACE, Node, Phrase, PhraseTree, Preterminal, fold

WRAPPERS = frozenset({"", "ROOT", "S1", "TOP", "VROOT"})


def bare_label(label: str) -> str:
    """`NP-SBJ-1` and `NP=2` become `NP`; `-LRB-` and `=` stay, since they are tags and have no functional ones."""
    if label.startswith(("-", "=")):
        return label
    return label.split("-", 1)[0].split("=", 1)[0]


def simplify(tree: PhraseTree) -> PhraseTree:
    """Remove traces (with the phrases they leave empty), functional tags and wrappers (ROOT, TOP, S1, VROOT, no label).

    A wrapper over several children stays, as ROOT. The fallback of a failed parse stays as it is.
    A sentence of nothing but traces becomes empty.
    """
    if tree.root is None or tree.failed:
        return tree
    root = fold(tree.root, _leaf, _phrase)
    while isinstance(root, Phrase) and root.label in WRAPPERS:
        if len(root.children) > 1:
            root = Phrase("ROOT", root.children)
            break
        root = root.children[0]
    return PhraseTree(root, tree.line)


def _leaf(leaf: Preterminal) -> Node | None:
    return None if leaf.label == TRACE else Preterminal(bare_label(leaf.label), leaf.word)


def _phrase(phrase: Phrase, children: list[Node | None]) -> Node | None:
    kept = tuple(child for child in children if child is not None)
    return Phrase(bare_label(phrase.label), kept) if kept else None
