"""A constituency tree that carries its dependency tree: other children are attached to head leaves."""

from collections.abc import Iterator


class Leaf:
    """A token with its part of speech and its place in the dependency tree."""

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
        """A leaf is its own head."""
        return self

    def to_bracket_string(self) -> str:
        """PTB notation."""
        return f"({self.xpos} {self.form})"

    def iterate_leaves(self) -> Iterator["Leaf"]:
        """The leaf."""
        yield self

    def __len__(self) -> int:
        return 1


class Constituent:
    """A constituent.

    Children without a governor get the head of `head` as theirs, so a child that belongs elsewhere (the conjunction
    of a coordination, an extraposed clause) is attached there first, by `set_relation`.
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
        """PTB notation."""
        return f"({self.label} {' '.join([child.to_bracket_string() for child in self.children])})"

    def iterate_leaves(self) -> Iterator[Leaf]:
        """The leaves from left to right."""
        for child in self.children:
            yield from child.iterate_leaves()

    def __len__(self) -> int:
        """How many leaves there are."""
        return sum([len(child) for child in self.children])


SyntaxNode = Leaf | Constituent


def set_relation(node: SyntaxNode, relation: str, governor: SyntaxNode | None = None) -> SyntaxNode:
    """Name the relation of a node to its governor (by default the head of the constituent it is put into)."""
    node.head.relation = relation
    if governor is not None:
        node.head.governor = governor.head
    return node


def format_conllu(leaves: list[Leaf], identifier: str, text: str) -> str:
    """A CoNLL-U block with its empty last line; `leaves` know their positions, counted from 1."""
    lines = [f"# sent_id = {identifier}\n# text = {text}\n"]
    for leaf in leaves:
        governor = leaf.governor.position if leaf.governor else 0
        lines.append(
            f"{leaf.position}\t{leaf.form}\t{leaf.lemma}\t{leaf.upos}\t{leaf.xpos}\t{leaf.feats}\t"
            f"{governor}\t{leaf.relation}\t_\t_\n"
        )
    lines.append("\n")
    return "".join(lines)
