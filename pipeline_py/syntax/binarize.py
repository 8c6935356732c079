"""Binarize phrase trees for tree encoders: n leaves and n - 1 inner nodes for n words.

Traces, functional tags and the wrapper of the root are removed (`simplify_tree`). A chain of unary phrases becomes one
node with the label of the topmost phrase (S over VP: S), or the tag of the word (NP over NN: NN). A phrase X of more
than two children gets intermediate nodes `@X`:

- right: X(c1, @X(c2, @X(c3, c4))), right-branching, as if the last child were the head;
- left: X(@X(@X(c1, c2), c3), c4), left-branching, as if the first child were the head;
- head-outward: the head child is joined with its right siblings, nearest first, then with its left ones: with head c2,
  X(c1, @X(@X(c2, c3), c4)).

The head child is the one with the word nearest to the root of the dependency tree (in ties, the first). Without a
dependency tree, head rules choose it (`head_rules`).

Every span of more than one word is preserved. Right-branching trees do not distinguish the attachment of a phrase after
an object: VP(V, NP, PP) and VP(V, NP(NP, PP)) get the same shape.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import repeat
from pathlib import Path
from typing import TypeAlias

from pipeline_py.files.artifacts import SentenceCounts, open_atomic_text_file
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.trees.constituency import (
    PhraseNode,
    PhraseTree,
    Preterminal,
    TreeNode,
    fold_tree,
    read_phrase_trees,
    simplify_tree,
    write_phrase_trees,
)
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependency_trees
from pipeline_py.syntax.trees.head_rules import (
    DEFAULT_RULES_LANGUAGE,
    ENGLISH_HEAD_RULES,
    HEAD_RULES_BY_LANGUAGE,
    HeadRules,
)
from pipeline_py.syntax.trees.tree_formats import check_trees_against_tokens
from pipeline_py.syntax.trees.tree_shape import compute_word_levels

FAILED_PARSE_NOTE = "failed parse, words only"
"""Name in the counts for a sentence whose phrase parse failed."""

RULE_HEADS_NOTE = "heads by rules, as there is no dependency parse"
"""Name in the counts for a sentence whose dependency parse failed."""


class Branching(StrEnum):
    """The way in which a phrase of more than two children is divided."""

    RIGHT = "right"
    LEFT = "left"
    HEAD_OUTWARD = "head-outward"


def binarize(
    *,
    trees: Path,
    tokens: Path,
    branching: Branching = Branching.HEAD_OUTWARD,
    dependencies: Path | None = None,
    rules: str = DEFAULT_RULES_LANGUAGE,
    output: Path,
    counts_output: Path,
) -> None:
    """Make the phrase trees of a text binary.

    A failed parse stays marked, so that later stages use only its words; an empty line stays empty.

    Args:
        trees: Penn Treebank brackets, one tree a line.
        tokens: The text of the trees, tokenized, one sentence a line.
        branching: How phrases with more than two children are divided.
        dependencies: Dependency trees of the same text, CoNLL-U, which give the heads of phrases for head-outward.
        rules: Head rules for head-outward, if there is no dependency tree: en or zh.
        output: Binary trees, one a line; leaves keep their tags.
        counts_output: JSON counts of sentences, of failed parses, and of sentences without a dependency tree.

    Raises:
        InputError: There are no such rules, or the trees are of another text.
    """
    if rules not in HEAD_RULES_BY_LANGUAGE:
        raise InputError(f"there are no head rules of {rules!r}; choose one of {', '.join(HEAD_RULES_BY_LANGUAGE)}")
    counts = SentenceCounts()
    with open_atomic_text_file(output) as file:
        aligned = check_trees_against_tokens(read_phrase_trees(trees), trees, tokens)
        heads: Iterator[DependencyTree | None] = repeat(None)
        if dependencies is not None:
            heads = check_trees_against_tokens(read_dependency_trees(dependencies), dependencies, tokens)
        pairs = zip(show_progress(aligned, "binarize"), heads, strict=False)
        write_phrase_trees(file, _binarize_trees(pairs, branching, HEAD_RULES_BY_LANGUAGE[rules], counts))
    counts.write_json_file(counts_output)


def _binarize_trees(
    tree_pairs: Iterable[tuple[PhraseTree, DependencyTree | None]],
    branching: Branching,
    head_rules: HeadRules,
    counts: SentenceCounts,
) -> Iterator[PhraseTree]:
    for tree, dependencies in tree_pairs:
        counts.add_kept()
        if tree.is_failed:
            counts.add_noted(FAILED_PARSE_NOTE)
        if tree.root is None:
            counts.add_noted("empty line")
        heads = None
        if dependencies is not None and dependencies.failure_reason is None:
            heads = dependencies.heads
        elif dependencies is not None and tree.root is not None and not tree.is_failed:
            counts.add_noted(RULE_HEADS_NOTE)
        yield binarize_tree(tree, branching, head_rules, heads)


def binarize_tree(
    tree: PhraseTree,
    branching: Branching,
    head_rules: HeadRules = ENGLISH_HEAD_RULES,
    heads: Sequence[int] | None = None,
) -> PhraseTree:
    """Binarize a tree; failed parses and empty sentences are only simplified.

    Args:
        tree: Phrase tree of n words.
        branching: How phrases with more than two children are divided.
        head_rules: Rules that choose the head child if `heads` is None.
        heads: n heads of the dependency tree; 0 is the root, i is the i-th word counted from 1.
    """
    tree = simplify_tree(tree)
    if tree.root is None or tree.is_failed:
        return tree
    word_levels = iter(compute_word_levels(heads or [0] * len(tree.words)))

    def attach_level(node: Preterminal) -> _LeveledNode:
        return node, next(word_levels)

    def divide_phrase(phrase: PhraseNode, children: list[_LeveledNode]) -> _LeveledNode:
        nodes, levels = [node for node, _ in children], [level for _, level in children]
        if len(nodes) == 1:
            node = nodes[0]
            return PhraseNode(phrase.label, node.children) if isinstance(node, PhraseNode) else node, levels[0]
        if branching is Branching.RIGHT:
            head = len(nodes) - 1
        elif branching is Branching.LEFT:
            head = 0
        elif heads:
            head = levels.index(min(levels))
        else:
            head = head_rules.find_head_child(phrase.label, [child.label for child in phrase.children])
        return _divide_children(phrase.label, nodes, head), min(levels)

    return PhraseTree(fold_tree(tree.root, attach_level, divide_phrase)[0], tree.line_number)


_LeveledNode: TypeAlias = tuple[TreeNode, int]
"""A node, and the distance of its topmost word from the root of the dependency tree."""


def _divide_children(label: str, children: Sequence[TreeNode], head_index: int) -> TreeNode:
    """Join two or more children in a binary phrase: the head child, its right siblings, then its left ones."""
    places = [*range(head_index + 1, len(children)), *range(head_index - 1, -1, -1)]
    node = children[head_index]
    for count, place in enumerate(places, start=1):
        pair = (node, children[place]) if place > head_index else (children[place], node)
        node = PhraseNode(label if count == len(places) else f"@{label}", pair)
    return node
