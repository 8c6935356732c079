"""Constituency trees whose leaves also form a dependency tree."""

from collections.abc import Iterator


class Leaf:
    """A token with its part of speech and its position in the dependency tree."""

    __slots__ = ("feats", "form", "governor", "lemma", "position", "relation", "upos", "xpos")

    def __init__(self, form: str, xpos: str, upos: str, lemma: str = "", feats: str = "_") -> None:
        self.form = form
        self.xpos = xpos
        self.upos = upos
        self.lemma = lemma or form
        self.feats = feats
        self.relation = ""
        self.governor: Leaf | None = None
        self.position = 0

    @property
    def head(self) -> "Leaf":
        """The leaf itself."""
        return self

    def to_bracket_string(self) -> str:
        """Return the leaf in Penn Treebank notation."""
        return f"({self.xpos} {self.form})"

    def iterate_leaves(self) -> Iterator["Leaf"]:
        """Yield the leaf itself."""
        yield self

    def __len__(self) -> int:
        return 1


class Constituent:
    """A constituent with a label, a head leaf and children.

    The head of `head` becomes the governor of all children that have none. A child with another governor (the
    conjunction of a coordination, an extraposed clause) must be attached by `set_relation` first.
    """

    __slots__ = ("children", "head", "label")

    def __init__(self, label: str, head: "SyntaxNode", children: list["SyntaxNode"]) -> None:
        self.label = label
        self.children = children
        self.head: Leaf = head.head
        for child in children:
            leaf = child.head
            if leaf is not self.head and leaf.governor is None:
                leaf.governor = self.head

    def to_bracket_string(self) -> str:
        """Return the tree in Penn Treebank notation."""
        return f"({self.label} {' '.join([child.to_bracket_string() for child in self.children])})"

    def iterate_leaves(self) -> Iterator[Leaf]:
        """Yield the leaves from left to right."""
        for child in self.children:
            yield from child.iterate_leaves()

    def __len__(self) -> int:
        """Return the number of leaves."""
        return sum([len(child) for child in self.children])


SyntaxNode = Leaf | Constituent


def set_relation(node: SyntaxNode, relation: str, governor: SyntaxNode | None = None) -> SyntaxNode:
    """Set the relation of a node, and its governor if it is not the head of its constituent; return the node."""
    node.head.relation = relation
    if governor is not None:
        node.head.governor = governor.head
    return node


def format_conllu(leaves: list[Leaf], identifier: str, text: str) -> str:
    """Format a sentence in CoNLL-U, with its empty last line; the leaves must have their positions."""
    lines = [f"# sent_id = {identifier}\n# text = {text}\n"]
    for leaf in leaves:
        governor = leaf.governor.position if leaf.governor else 0
        lines.append(
            f"{leaf.position}\t{leaf.form}\t{leaf.lemma}\t{leaf.upos}\t{leaf.xpos}\t{leaf.feats}\t"
            f"{governor}\t{leaf.relation}\t_\t_\n"
        )
    lines.append("\n")
    return "".join(lines)
