"""Tests of tree shapes against their definitions, networkx, nltk and known numbers of trees."""

from itertools import product

import networkx
import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.syntax.trees.constituency import PhraseNode, PhraseTree, Preterminal, TreeNode, to_bracket_string
from pipeline_py.syntax.trees.dependency import find_head_error
from pipeline_py.syntax.trees.tree_shape import (
    compute_dependency_lengths,
    compute_phrase_tree_size,
    compute_tree_depth,
    compute_word_levels,
    is_projective,
    map_spans_to_labels,
)
from tests.syntax.random_heads import draw_forest_heads


def build_graph(heads: list[int]) -> networkx.DiGraph:
    graph = networkx.DiGraph()
    graph.add_node(0)
    graph.add_edges_from((head, word) for word, head in enumerate(heads, start=1))
    return graph


def dominates_spans(heads: list[int]) -> bool:
    """Check that for each arc all words strictly between are descendants of the head."""
    graph = build_graph(heads)
    return all(
        set(range(min(head, word) + 1, max(head, word))) <= networkx.descendants(graph, head)
        for head, word in graph.edges
    )


def has_no_crossing_arcs(heads: list[int]) -> bool:
    """Check that no arcs cross, with the artificial root to the left of all words."""
    arcs = [tuple(sorted(arc)) for arc in build_graph(heads).edges]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def list_forests(words: int) -> list[tuple[int, ...]]:
    return [heads for heads in product(range(words + 1), repeat=words) if find_head_error(heads) is None]


def test_measures_match_an_example() -> None:
    # A hearing is scheduled on the issue today (Kübler et al. 2009, figure 1.1 and 2.1), without the full stop.
    heads = [2, 4, 4, 0, 2, 7, 5, 4]
    assert compute_tree_depth(heads) == 4  # scheduled → hearing → on → issue → the
    assert compute_dependency_lengths(heads) == [1, 2, 1, 3, 1, 2, 4]
    assert not is_projective(heads)  # hearing → on spans `is` and `scheduled`
    assert is_projective([2, 4, 4, 0, 4, 7, 5, 4])


def test_sentences_without_dependencies() -> None:
    for heads in ([], [0]):
        assert compute_tree_depth(heads) == 0
        assert compute_dependency_lengths(heads) == []
        assert is_projective(heads)


def test_several_roots_are_supported() -> None:
    assert compute_tree_depth([0, 1, 0, 3, 4]) == 2
    assert compute_dependency_lengths([0, 1, 0, 3, 3]) == [1, 1, 2]
    assert is_projective([0, 1, 0, 3, 3])
    assert not is_projective([0, 0, 1]), "a root within the span of another tree"


@pytest.mark.parametrize(
    ("words", "forests", "projective", "with_one_root"), [(1, 1, 1, 1), (2, 3, 3, 2), (3, 16, 12, 7), (4, 125, 55, 30)]
)
def test_number_of_projective_trees_is_as_known(words: int, forests: int, projective: int, with_one_root: int) -> None:
    # Cayley: (n+1)^(n-1) forests; OEIS A001764: binom(3n, n) / (2n+1); OEIS A006013: binom(3n-2, n-1) / n.
    projective_forests = [heads for heads in list_forests(words) if is_projective(heads)]
    assert len(list_forests(words)) == forests
    assert len(projective_forests) == projective
    assert sum(heads.count(0) == 1 for heads in projective_forests) == with_one_root


@given(draw_forest_heads(max_words=14))
def test_dependency_measures_agree_with_definitions(heads: list[int]) -> None:
    levels = networkx.shortest_path_length(build_graph(heads), 0)
    assert compute_word_levels(heads) == [levels[word] for word in range(1, len(heads) + 1)]
    assert compute_tree_depth(heads) == max(levels.values()) - 1
    assert is_projective(heads) == dominates_spans(heads) == has_no_crossing_arcs(heads)
    assert sum(compute_dependency_lengths(heads)) == sum(
        abs(head - word) for head, word in build_graph(heads).edges if head
    )


def test_long_chains_are_measured_without_recursion() -> None:
    forward = list(range(50_000))
    backward = [*range(2, 50_001), 0]
    assert compute_tree_depth(forward) == compute_tree_depth(backward) == 49_999
    assert is_projective(forward) and is_projective(backward)
    assert not is_projective([*forward[:-1], 1, 49_999])


LEAVES = st.builds(Preterminal, st.sampled_from(["NN", "VB", "-LRB-"]), st.sampled_from(["a", "(", "ü\u2028", "字"]))
TREES = st.recursive(
    LEAVES,
    lambda nodes: st.builds(
        PhraseNode, st.sampled_from(["S", "NP"]), st.lists(nodes, min_size=1, max_size=4).map(tuple)
    ),
    max_leaves=20,
)


@given(TREES)
def test_phrase_measures_agree_with_nltk(root: TreeNode) -> None:
    tree = nltk.Tree.fromstring(to_bracket_string(root))
    phrases = list(tree.subtrees(lambda node: node.height() > 2))
    # nltk counts the word and its tag.
    assert compute_phrase_tree_size(PhraseTree(root)) == (len(tree.leaves()), len(phrases), tree.height() - 2)
    expected = {}
    for place in reversed(tree.treepositions("preorder")):
        if isinstance(tree[place], nltk.Tree) and len(tree[place].leaves()) > 1:
            before = sum(tree.leaf_treeposition(k) < place for k in range(len(tree.leaves())))
            expected[before, before + len(tree[place].leaves())] = tree[place].label()
    assert map_spans_to_labels(PhraseTree(root)) == expected


def test_traces_and_wrappers_do_not_count() -> None:
    a, b = Preterminal("NN", "a"), Preterminal("NN", "b")
    trace = PhraseNode("S", (PhraseNode("VP", (Preterminal("-NONE-", "*"),)),))
    root = PhraseNode("ROOT", (PhraseNode("NP-SBJ", (a, b, trace)),))
    assert compute_phrase_tree_size(PhraseTree(root)) == (2, 1, 1)
    assert compute_phrase_tree_size(PhraseTree(PhraseNode("", (a,)))) == (1, 0, 0)
    assert compute_phrase_tree_size(PhraseTree(None)) == compute_phrase_tree_size(PhraseTree(trace)) == (0, 0, 0)
    assert map_spans_to_labels(PhraseTree(None)) == map_spans_to_labels(PhraseTree(a)) == {}


def test_deep_phrases_are_measured_without_recursion() -> None:
    node: TreeNode = Preterminal("NN", "a")
    for _ in range(2000):
        node = PhraseNode("NP", (Preterminal("NN", "b"), PhraseNode("X", (node,))))
    assert compute_phrase_tree_size(PhraseTree(node)) == (2001, 4000, 4000)
    spans = map_spans_to_labels(PhraseTree(node))
    assert spans == dict.fromkeys(((start, 2001) for start in range(2000)), "X") | {(0, 2001): "NP"}
