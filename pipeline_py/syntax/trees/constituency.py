"""Phrase trees in Penn Treebank brackets, read and written as a stream.

Two layouts: `read_phrase_trees` reads this project's own files, one tree a line, where an empty line is an empty
sentence; `read_phrase_treebank` reads brackets in any layout, as treebanks come.

A sentence without a parse is `(FAILED (X word) (X word))`. The brackets of a word are written `-LRB-` and `-RRB-`
and read back as `(` and `)`. Only the ASCII space separates: a word may hold U+00A0 and its like.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TypeAlias, TypeVar

from pipeline_py.files.text_files import read_lines
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.dependency import read_treebank_lines

FAILED_LABEL = "FAILED"
TRACE_LABEL = "-NONE-"

_BRACKET_TOKEN_PATTERN = re.compile(r"[()]|[^() \t\r\n]+")
_SGML_LINE_PATTERN = re.compile(r"\s*<[^()]*>\s*")
_UNCLOSED_BRACKET_ERROR = (
    "a bracket of this tree is never closed; close it, and write a bracket that is a word as -LRB- or -RRB-"
)


@dataclass(frozen=True)
class Preterminal:
    """A word under its tag: a leaf."""

    label: str
    word: str


@dataclass(frozen=True)
class PhraseNode:
    """A phrase and its children, at least one."""

    label: str
    children: tuple["TreeNode", ...]


TreeNode: TypeAlias = PhraseNode | Preterminal
FoldResult = TypeVar("FoldResult")


@dataclass(frozen=True)
class PhraseTree:
    """The phrase tree of one sentence.

    Attributes:
        root: the topmost node; None for an empty sentence.
        line_number: where the tree begins in its file.
    """

    root: TreeNode | None
    line_number: int = field(default=0, compare=False, repr=False)

    @property
    def leaves(self) -> list[Preterminal]:
        """All leaves from left to right, traces among them."""
        return [node for node in iterate_preorder(self.root) if isinstance(node, Preterminal)]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence; a trace is none."""
        return tuple(leaf.word for leaf in self.leaves if leaf.label != TRACE_LABEL)

    @property
    def is_failed(self) -> bool:
        """Whether this is the fallback of a sentence that could not be parsed."""
        return self.root is not None and self.root.label == FAILED_LABEL


def build_failed_phrase_tree(words: Sequence[str]) -> PhraseTree:
    """The marked fallback for a sentence that could not be parsed."""
    return PhraseTree(PhraseNode(FAILED_LABEL, tuple(Preterminal("X", word) for word in words)))


def iterate_preorder(root: TreeNode | None) -> Iterator[TreeNode]:
    """Yield all nodes, parents before children and left before right (without recursion: trees may be deep)."""
    stack = [] if root is None else [root]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, PhraseNode):
            stack.extend(reversed(node.children))


def fold_tree(
    root: TreeNode,
    fold_leaf: Callable[[Preterminal], FoldResult],
    fold_phrase: Callable[[PhraseNode, list[FoldResult]], FoldResult],
) -> FoldResult:
    """Compute a value bottom-up: `leaf(node)` at the leaves, `phrase(node, values of its children)` above them."""
    if isinstance(root, Preterminal):
        return fold_leaf(root)
    opened: list[tuple[PhraseNode, list[FoldResult]]] = [(root, [])]
    while True:
        node, values = opened[-1]
        if len(values) < len(node.children):
            child = node.children[len(values)]
            if isinstance(child, PhraseNode):
                opened.append((child, []))
            else:
                values.append(fold_leaf(child))
            continue
        value = fold_phrase(node, values)
        opened.pop()
        if not opened:
            return value
        opened[-1][1].append(value)


def replace_words(tree: PhraseTree, words: Iterable[str]) -> PhraseTree:
    """Return the tree with other words; traces count as words."""
    remaining = iter(words)

    def replace_leaf_word(node: Preterminal) -> TreeNode:
        return Preterminal(node.label, next(remaining))

    def rebuild_phrase(node: PhraseNode, children: list[TreeNode]) -> TreeNode:
        return PhraseNode(node.label, tuple(children))

    return (
        tree
        if tree.root is None
        else PhraseTree(fold_tree(tree.root, replace_leaf_word, rebuild_phrase), tree.line_number)
    )


def list_phrase_spans(tree: PhraseTree) -> list[tuple[str, int, int]]:
    """The label, the first word (counted from 0) and the word after the last of every phrase, children before parents.

    A trace counts as a word here.
    """
    found: list[tuple[str, int, int]] = []
    seen = 0

    def visit_leaf(_: Preterminal) -> int:
        nonlocal seen
        seen += 1
        return seen - 1

    def visit_phrase(node: PhraseNode, firsts: list[int]) -> int:
        found.append((node.label, firsts[0], seen))
        return firsts[0]

    if tree.root is not None:
        fold_tree(tree.root, visit_leaf, visit_phrase)
    return found


def read_phrase_trees(path: Path) -> Iterator[PhraseTree]:
    """Yield the trees of a file with one tree a line; an empty line is an empty sentence.

    Raises:
        InputError: at the first line that is neither empty nor one whole tree.
    """
    for number, line in enumerate(read_lines(path), start=1):
        yield PhraseTree(
            _parse_tree(_BRACKET_TOKEN_PATTERN.findall(line), path, number) if line.strip(" ") else None, number
        )


def read_phrase_treebank(path: Path) -> Iterator[PhraseTree]:
    """Yield the trees of a plain or gzipped treebank file in any layout, several on a line among them.

    Byte order marks are skipped, and so are lines of SGML tags between trees, as in the Chinese Treebank.

    Raises:
        InputError: where brackets do not match or a node is malformed, with the line on which the tree begins.
    """
    pieces: list[str] = []
    start, depth, found = 1, 0, False
    for number, line in enumerate(read_treebank_lines(path), start=1):
        if not pieces and _SGML_LINE_PATTERN.fullmatch(line):
            continue
        for piece in _BRACKET_TOKEN_PATTERN.findall(line):
            if not pieces:
                start = number
            pieces.append(piece)
            if piece == "(":
                depth += 1
            elif piece == ")":
                depth -= 1
            if depth <= 0:
                yield PhraseTree(_parse_tree(pieces, path, start), start)
                pieces, depth, found = [], 0, True
    if pieces:
        raise InputError(_UNCLOSED_BRACKET_ERROR, path, start)
    if not found:
        raise InputError("no trees in the file; expected Penn Treebank brackets", path)


def _parse_tree(bracket_tokens: Sequence[str], path: Path, line_number: int) -> TreeNode:
    """Parse one whole tree; `line_number` is where it begins."""
    opened: list[tuple[str, list[TreeNode], list[str]]] = []
    for place, piece in enumerate(bracket_tokens):
        if piece == "(":
            opened.append(("", [], []))
        elif not opened:
            raise InputError(
                f"{piece!r} is outside the brackets; give trees in Penn Treebank brackets, and nothing else",
                path,
                line_number,
            )
        elif piece == ")":
            closed = opened.pop()
            node = _build_node(*closed, opened[-1][0] if opened else "", path, line_number)
            if opened:
                opened[-1][1].append(node)
            elif place + 1 == len(bracket_tokens):
                return node
            else:
                raise InputError(
                    f"{bracket_tokens[place + 1]!r} follows after the end of the tree; write one tree a line",
                    path,
                    line_number,
                )
        else:
            label, children, words = opened[-1]
            if label or children or bracket_tokens[place - 1] != "(":
                words.append(piece)
            else:
                opened[-1] = (piece, children, words)
    raise InputError(_UNCLOSED_BRACKET_ERROR, path, line_number)


def _build_node(
    label: str, children: list[TreeNode], words: list[str], parent_label: str, path: Path, line_number: int
) -> TreeNode:
    """Make a node of what its brackets hold; `parent_label` is the label of the brackets around them."""
    if children and words:
        raise InputError(
            f"({label} …) contains the bare word {words[0]!r} beside other nodes; give the word a tag",
            path,
            line_number,
        )
    if len(words) > 1:
        raise InputError(f"({label} …) has two words, {words[0]!r} and {words[1]!r}; a tag has one", path, line_number)
    if words:
        return Preterminal(label, words[0].replace("-LRB-", "(").replace("-RRB-", ")"))
    if not children:
        raise InputError(
            f"({label}) has neither word nor children; {_suggest_empty_node_fix(label, parent_label)}",
            path,
            line_number,
        )
    return PhraseNode(label, tuple(children))


def _suggest_empty_node_fix(label: str, parent_label: str) -> str:
    """Say what to do about brackets that hold a label alone."""
    if space := next((character for character in label if character.isspace()), ""):
        return f"it contains the character U+{ord(space):04X}; separate tag and word by a space"
    if label and parent_label:
        return (
            f"if {label!r} is a word, write ({parent_label} {label}) for ({parent_label} ({label})); if it is a tag, add its word "
            "(a bracket as -LRB- or -RRB-) or remove it"
        )
    return f"remove it, and write a sentence without a parse as ({FAILED_LABEL} (X word) …)"


def write_phrase_trees(file: IO[str], trees: Iterable[PhraseTree]) -> None:
    """Write one tree a line."""
    for tree in trees:
        file.write(to_bracket_string(tree.root) + "\n")


def to_bracket_string(root: TreeNode | None) -> str:
    """The tree as one line of Penn Treebank brackets; empty for None.

    Raises:
        InputError: for a word with a space or a line end in it, which brackets cannot hold.
    """
    parts: list[str] = []
    stack: list[TreeNode | str] = [] if root is None else [root]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            parts.append(node)
        elif isinstance(node, Preterminal):
            if not _BRACKET_TOKEN_PATTERN.fullmatch(word := _escape_brackets(node.word)):
                raise InputError(
                    f"the word {node.word!r} is empty or contains a space or a line end; clean the text first"
                )
            parts.append(f" ({_escape_brackets(node.label)} {word})")
        else:
            parts.append(f" ({_escape_brackets(node.label)}")
            stack.append(")")
            stack.extend(reversed(node.children))
    return "".join(parts).removeprefix(" ")


def _escape_brackets(word: str) -> str:
    return word.replace("(", "-LRB-").replace(")", "-RRB-")


WRAPPER_LABELS = frozenset({"", "ROOT", "S1", "TOP", "VROOT"})


def strip_functional_tags(label: str) -> str:
    """`NP-SBJ-1` and `NP=2` become `NP`; `-LRB-` and `=` stay, since they are tags and have no functional ones."""
    if label.startswith(("-", "=")):
        return label
    return label.split("-", 1)[0].split("=", 1)[0]


def simplify_tree(tree: PhraseTree) -> PhraseTree:
    """Remove traces (with the phrases they leave empty), functional tags and wrappers (ROOT, TOP, S1, VROOT, no label).

    A wrapper over several children stays, as ROOT. The fallback of a failed parse stays as it is.
    A sentence of nothing but traces becomes empty.
    """
    if tree.root is None or tree.is_failed:
        return tree
    root = fold_tree(tree.root, _simplify_leaf, _simplify_phrase)
    while isinstance(root, PhraseNode) and root.label in WRAPPER_LABELS:
        if len(root.children) > 1:
            root = PhraseNode("ROOT", root.children)
            break
        root = root.children[0]
    return PhraseTree(root, tree.line_number)


def _simplify_leaf(leaf: Preterminal) -> TreeNode | None:
    return None if leaf.label == TRACE_LABEL else Preterminal(strip_functional_tags(leaf.label), leaf.word)


def _simplify_phrase(phrase: PhraseNode, children: list[TreeNode | None]) -> TreeNode | None:
    kept = tuple(child for child in children if child is not None)
    return PhraseNode(strip_functional_tags(phrase.label), kept) if kept else None
