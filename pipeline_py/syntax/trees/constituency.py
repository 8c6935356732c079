"""Phrase trees in Penn Treebank brackets, read and written as a stream.

`read_phrase_trees` reads files of this project (one tree a line; an empty line is an empty sentence), and
`read_phrase_treebank` reads treebanks in any layout.

A failed parse is `(FAILED (X word) (X word))`. Brackets in words are written as `-LRB-` and `-RRB-`. Only the ASCII
space is a separator; words may contain other spaces, e.g. U+00A0.
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
    """A leaf: a word with its tag."""

    label: str
    word: str


@dataclass(frozen=True)
class PhraseNode:
    """A phrase with at least one child."""

    label: str
    children: tuple["TreeNode", ...]


TreeNode: TypeAlias = PhraseNode | Preterminal
FoldResult = TypeVar("FoldResult")


@dataclass(frozen=True)
class PhraseTree:
    """The phrase tree of one sentence.

    Attributes:
        root: Topmost node; None for an empty sentence.
        line_number: Line of the file on which the tree begins.
    """

    root: TreeNode | None
    line_number: int = field(default=0, compare=False, repr=False)

    @property
    def leaves(self) -> list[Preterminal]:
        """All leaves from left to right, including traces."""
        return [node for node in iterate_preorder(self.root) if isinstance(node, Preterminal)]

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the sentence, without traces."""
        return tuple(leaf.word for leaf in self.leaves if leaf.label != TRACE_LABEL)

    @property
    def is_failed(self) -> bool:
        """True for the marked tree of a sentence that could not be parsed."""
        return self.root is not None and self.root.label == FAILED_LABEL


def build_failed_phrase_tree(words: Sequence[str]) -> PhraseTree:
    """Build the marked tree of a sentence that could not be parsed."""
    return PhraseTree(PhraseNode(FAILED_LABEL, tuple(Preterminal("X", word) for word in words)))


def iterate_preorder(root: TreeNode | None) -> Iterator[TreeNode]:
    """Yield all nodes, parents before children and left before right, without recursion."""
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
    """Compute a value bottom-up, with `fold_leaf(leaf)` and `fold_phrase(phrase, values of its children)`."""
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
    """Return the tree with new words; traces count as words."""
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
    """List (label, first word, word after the last) of every phrase, children before parents.

    Words are counted from 0; traces count as words.
    """
    spans: list[tuple[str, int, int]] = []
    word_count = 0

    def visit_leaf(_: Preterminal) -> int:
        nonlocal word_count
        word_count += 1
        return word_count - 1

    def visit_phrase(node: PhraseNode, firsts: list[int]) -> int:
        spans.append((node.label, firsts[0], word_count))
        return firsts[0]

    if tree.root is not None:
        fold_tree(tree.root, visit_leaf, visit_phrase)
    return spans


def read_phrase_trees(path: Path) -> Iterator[PhraseTree]:
    """Yield the trees of a file with one tree a line; an empty line is an empty sentence.

    Raises:
        InputError: A line is neither empty nor exactly one tree.
    """
    for number, line in enumerate(read_lines(path), start=1):
        yield PhraseTree(
            _parse_tree(_BRACKET_TOKEN_PATTERN.findall(line), path, number) if line.strip(" ") else None, number
        )


def read_phrase_treebank(path: Path) -> Iterator[PhraseTree]:
    """Yield the trees of a plain or gzipped treebank file in any layout.

    Byte order marks and lines of SGML tags between trees (as in the Chinese Treebank) are skipped.

    Raises:
        InputError: Brackets do not match or a node is malformed; names the line on which the tree begins.
    """
    pieces: list[str] = []
    start, depth, has_trees = 1, 0, False
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
                pieces, depth, has_trees = [], 0, True
    if pieces:
        raise InputError(_UNCLOSED_BRACKET_ERROR, path, start)
    if not has_trees:
        raise InputError("no trees in the file; expected Penn Treebank brackets", path)


def _parse_tree(bracket_tokens: Sequence[str], path: Path, line_number: int) -> TreeNode:
    """Parse the tokens of exactly one tree, which begins on `line_number`."""
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
    """Build a node from the contents of its brackets."""
    if children and words:
        raise InputError(
            f"({label} …) contains the bare word {words[0]!r} in addition to other nodes; give the word a tag",
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
    if space := next((character for character in label if character.isspace()), ""):
        return f"it contains the character U+{ord(space):04X}; separate tag and word by a space"
    if label and parent_label:
        return (
            f"if {label!r} is a word, write ({parent_label} {label}) for ({parent_label} ({label})); if it is a tag, "
            "add its word (a bracket as -LRB- or -RRB-) or remove it"
        )
    return f"remove it, and write a sentence without a parse as ({FAILED_LABEL} (X word) …)"


def write_phrase_trees(file: IO[str], trees: Iterable[PhraseTree]) -> None:
    """Write one tree per line."""
    for tree in trees:
        file.write(to_bracket_string(tree.root) + "\n")


def to_bracket_string(root: TreeNode | None) -> str:
    """Format a tree as one line of Penn Treebank brackets; empty for None.

    Raises:
        InputError: A word is empty or contains a space or a line end.
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
    """Reduce `NP-SBJ-1` and `NP=2` to `NP`; keep tags such as `-LRB-` and `=`."""
    if label.startswith(("-", "=")):
        return label
    return label.split("-", 1)[0].split("=", 1)[0]


def simplify_tree(tree: PhraseTree) -> PhraseTree:
    """Remove traces (with the phrases they leave empty), functional tags and wrappers (ROOT, TOP, S1, VROOT, no label).

    A wrapper of several children becomes ROOT. A failed parse is returned unchanged. A sentence that contains only
    traces becomes empty.
    """
    if tree.root is None or tree.is_failed:
        return tree
    root = fold_tree(tree.root, _strip_leaf_or_drop_trace, _strip_phrase_or_drop_empty)
    while isinstance(root, PhraseNode) and root.label in WRAPPER_LABELS:
        if len(root.children) > 1:
            root = PhraseNode("ROOT", root.children)
            break
        root = root.children[0]
    return PhraseTree(root, tree.line_number)


def _strip_leaf_or_drop_trace(leaf: Preterminal) -> TreeNode | None:
    """Return the leaf without functional tags; None for a trace."""
    return None if leaf.label == TRACE_LABEL else Preterminal(strip_functional_tags(leaf.label), leaf.word)


def _strip_phrase_or_drop_empty(phrase: PhraseNode, children: list[TreeNode | None]) -> TreeNode | None:
    """Return the phrase without functional tags; None if all its children are dropped."""
    nodes = tuple(child for child in children if child is not None)
    return PhraseNode(strip_functional_tags(phrase.label), nodes) if nodes else None
