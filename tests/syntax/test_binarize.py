"""Tests of the binarization of phrase trees."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.binarize import Branching, binarize, binarize_tree
from pipeline_py.syntax.trees.constituency import (
    PhraseNode,
    PhraseTree,
    Preterminal,
    TreeNode,
    iterate_preorder,
    read_phrase_trees,
    to_bracket_string,
)
from pipeline_py.syntax.trees.head_rules import CHINESE_HEAD_RULES

LABELS = st.sampled_from(["ROOT", "S", "NP", "VP", "NP-SBJ-1", "PP-LOC", "X"])
LEAVES = st.builds(Preterminal, st.sampled_from(["NN", "VB", "-LRB-", "."]), st.sampled_from(["a", "b", "(", "ü"]))
TREES = st.recursive(
    LEAVES,
    lambda nodes: st.builds(PhraseNode, LABELS, st.lists(nodes, min_size=1, max_size=5).map(tuple)),
    max_leaves=25,
)


def tree_of(text: str, path: Path) -> PhraseTree:
    path.write_text(text + "\n", encoding="utf-8")
    return next(read_phrase_trees(path))


def spans(root: TreeNode) -> set[tuple[int, int]]:
    """Find the spans of more than one word top-down."""
    span_set = set()

    def visit(node: TreeNode, start: int) -> int:
        if isinstance(node, Preterminal):
            return start + 1
        end = start
        for child in node.children:
            end = visit(child, end)
        if end - start > 1:
            span_set.add((start, end))
        return end

    visit(root, 0)
    return span_set


@given(TREES, st.sampled_from(list(Branching)))
def test_binary_trees_have_n_minus_1_inner_nodes_and_keep_every_span(root: TreeNode, branching: Branching) -> None:
    result = binarize_tree(PhraseTree(root), branching)
    assert result.root is not None
    phrases = [node for node in iterate_preorder(result.root) if isinstance(node, PhraseNode)]
    assert result.words == PhraseTree(root).words
    assert len(phrases) == len(result.words) - 1
    assert all(len(phrase.children) == 2 for phrase in phrases)
    assert spans(result.root) >= spans(root)
    assert binarize_tree(result, branching) == result


@pytest.mark.parametrize(
    ("branching", "expected"),
    [
        (Branching.RIGHT, "(NP (DT the) (@NP (JJ old) (@NP (NN man) (PP (IN of) (NN sea)))))"),
        (Branching.LEFT, "(NP (@NP (@NP (DT the) (JJ old)) (NN man)) (PP (IN of) (NN sea)))"),
        (Branching.HEAD_OUTWARD, "(NP (DT the) (@NP (JJ old) (@NP (NN man) (PP (IN of) (NN sea)))))"),
    ],
)
def test_branching_determines_the_shape(branching: Branching, expected: str, tmp_path: Path) -> None:
    text = "(ROOT (NP-SBJ (DT the) (JJ old) (NN man) (PP (IN of) (NP (NN sea) (NP (-NONE- *T*-1))))))"
    assert to_bracket_string(binarize_tree(tree_of(text, tmp_path / "t"), branching).root) == expected


@pytest.mark.parametrize(
    ("branching", "is_distinguished"),
    [(Branching.RIGHT, False), (Branching.LEFT, True), (Branching.HEAD_OUTWARD, True)],
)
def test_attachment_is_distinguished_except_by_right_branching(
    branching: Branching, is_distinguished: bool, tmp_path: Path
):
    of_verb = "(VP (VBD saw) (NP (DT the) (NN girl)) (PP (IN with) (NP (DT a) (NN dog))))"
    of_object = "(VP (VBD saw) (NP (NP (DT the) (NN girl)) (PP (IN with) (NP (DT a) (NN dog)))))"
    shapes = [
        re.sub(r"\([^ ]+ ", "(", to_bracket_string(binarize_tree(tree_of(text, tmp_path / "t"), branching).root))
        for text in (of_verb, of_object)
    ]
    assert (shapes[0] != shapes[1]) is is_distinguished


def test_head_is_joined_with_right_siblings_first(tmp_path: Path) -> None:
    tree = tree_of("(VP (ADVP (RB now)) (VBD gave) (NP (PRP him)) (NP (NN time)))", tmp_path / "t")
    assert (
        to_bracket_string(binarize_tree(tree, Branching.HEAD_OUTWARD).root)
        == "(VP (RB now) (@VP (@VP (VBD gave) (PRP him)) (NN time)))"
    )


CHINESE_TREE = "(IP (NP (PN 他)) (VP (VV 看) (AS 了) (NP (DT 那) (M 本) (NN 书))))"


def test_head_rules_of_the_language_choose_heads(tmp_path: Path) -> None:
    tree = tree_of(CHINESE_TREE, tmp_path / "t")
    by_english_rules = to_bracket_string(binarize_tree(tree, Branching.HEAD_OUTWARD).root)
    assert "(VP (VV 看) (@VP (AS 了)" in by_english_rules
    assert "(VP (@VP (VV 看) (AS 了))" in to_bracket_string(
        binarize_tree(tree, Branching.HEAD_OUTWARD, CHINESE_HEAD_RULES).root
    )


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        ([2, 0, 2, 6, 6, 2], "(VP (@VP (VV 看) (AS 了)) (NP (DT 那) (@NP (M 本) (NN 书))))"),
        ([3, 3, 0, 3, 4, 3], "(VP (VV 看) (@VP (AS 了) (NP (@NP (DT 那) (M 本)) (NN 书))))"),
        # The three words of the last phrase depend on two words outside of it.
        ([2, 0, 2, 2, 4, 2], "(VP (@VP (VV 看) (AS 了)) (NP (@NP (DT 那) (M 本)) (NN 书)))"),
    ],
)
def test_dependency_tree_chooses_heads(heads: list[int], expected: str, tmp_path: Path) -> None:
    tree = tree_of(CHINESE_TREE, tmp_path / "t")
    assert (
        to_bracket_string(binarize_tree(tree, Branching.HEAD_OUTWARD, heads=heads).root) == f"(IP (PN 他) {expected})"
    )
    for branching in (Branching.LEFT, Branching.RIGHT):
        assert binarize_tree(tree, branching, heads=heads) == binarize_tree(tree, branching)


@given(TREES, st.data())
def test_dependency_tree_preserves_spans_and_first_heads_branch_left(root: TreeNode, data: st.DataObject) -> None:
    words = len(PhraseTree(root).words)
    heads = [data.draw(st.integers(0, place)) for place in range(words)]  # each word depends on a previous one
    result = binarize_tree(PhraseTree(root), Branching.HEAD_OUTWARD, heads=heads)
    assert spans(result.root) >= spans(root)  # type: ignore[arg-type]
    # If all words depend on their left neighbours, the first word of a phrase is its head.
    chain = binarize_tree(PhraseTree(root), Branching.HEAD_OUTWARD, heads=[*range(words)])
    assert chain == binarize_tree(PhraseTree(root), Branching.LEFT)


def stage_with_dependencies(tmp_path: Path, dependencies: str, **options: str) -> list[str]:
    (tmp_path / "x.ptb").write_text(f"{CHINESE_TREE}\n\n{CHINESE_TREE}\n(FAILED (X a))\n", encoding="utf-8")
    (tmp_path / "x.source").write_text("他 看 了 那 本 书\n\n他 看 了 那 本 书\na\n", encoding="utf-8")
    (tmp_path / "x.conllu").write_text(dependencies, encoding="utf-8")
    binarize(
        trees=tmp_path / "x.ptb",
        tokens=tmp_path / "x.source",
        dependencies=tmp_path / "x.conllu",
        output=tmp_path / "x.binary.ptb",
        counts_output=tmp_path / "x.json",
        **options,  # type: ignore[arg-type]
    )
    return (tmp_path / "x.binary.ptb").read_text(encoding="utf-8").splitlines()


def conllu(words: str, heads: list[int], comment: str = "# text") -> str:
    rows = [
        f"{place}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t_"
        for place, (word, head) in enumerate(zip(words.split(), heads, strict=True), start=1)
    ]
    return "\n".join([comment, *rows]) + "\n\n"


def test_stage_uses_rules_if_there_is_no_dependency_parse(tmp_path: Path) -> None:
    words, heads = "他 看 了 那 本 书", [3, 3, 0, 3, 4, 3]
    trees = [conllu(words, heads), "# text =\n\n", conllu(words, heads, "# parse = failed: x"), conllu("a", [0])]
    first, empty, second, failed = stage_with_dependencies(tmp_path, "".join(trees), rules="zh")
    assert "(VP (VV 看) (@VP (AS 了)" in first and "(VP (@VP (VV 看) (AS 了))" in second
    assert (empty, failed) == ("", "(FAILED (X a))")
    assert json.loads((tmp_path / "x.json").read_text())["noted"] == {
        "empty line": 1,
        "failed parse, words only": 1,
        "heads by rules, as there is no dependency parse": 1,
    }


def test_wrong_dependency_trees_and_rules_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.conllu, line 1: the tree has 1 words and the text 6"):
        stage_with_dependencies(tmp_path, conllu("他", [0]))
    with pytest.raises(InputError, match="no head rules of 'fr'; choose one of en, zh"):
        stage_with_dependencies(tmp_path, conllu("他", [0]), rules="fr")


def test_unary_chain_keeps_its_topmost_label(tmp_path: Path) -> None:
    tree = tree_of("(TOP (S (VP (VB go) (ADVP (RB home)))))", tmp_path / "t")
    assert to_bracket_string(binarize_tree(tree, Branching.RIGHT).root) == "(S (VB go) (RB home))"


def test_stage_keeps_failed_parses_and_empty_lines(tmp_path: Path) -> None:
    lines = ["(S (NN a) (NN b) (NN -LRB-))", "", "(FAILED (X a) (X b) (X c))", "(ROOT (NP (NN a)))"]
    (tmp_path / "x.ptb").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "x.source").write_text("a b (\n\na b c\na\n", encoding="utf-8")
    binarize(
        trees=tmp_path / "x.ptb",
        tokens=tmp_path / "x.source",
        branching=Branching.LEFT,
        output=tmp_path / "x.binary.ptb",
        counts_output=tmp_path / "x.json",
    )
    assert (tmp_path / "x.binary.ptb").read_text(encoding="utf-8").split("\n") == [
        "(S (@S (NN a) (NN b)) (NN -LRB-))",
        "",
        "(FAILED (X a) (X b) (X c))",
        "(NN a)",
        "",
    ]
    counts = json.loads((tmp_path / "x.json").read_text())
    assert counts == {
        "in": 4,
        "kept": 4,
        "dropped": {},
        "noted": {"empty line": 1, "failed parse, words only": 1},
    }


@pytest.mark.parametrize(
    ("trees", "error"),
    [
        ("(S (NN a) (NN b))\n(S (NN a) (NN c))\n", "x.ptb, line 2: word 2 of the tree is 'c' and of the text 'b'"),
        ("(S (NN a) (NN b))\n(S (NN a) (NN b)\n", "x.ptb, line 2: a bracket of this tree is never closed"),
        ("(S (NN a) (NN b))\n", "x.ptb: the file has 1 trees, but"),
    ],
)
def test_broken_trees_are_rejected(trees: str, error: str, tmp_path: Path) -> None:
    (tmp_path / "x.ptb").write_text(trees, encoding="utf-8")
    (tmp_path / "x.source").write_text("a b\na b\n", encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(error)) as caught:
        binarize(
            trees=tmp_path / "x.ptb",
            tokens=tmp_path / "x.source",
            output=tmp_path / "o",
            counts_output=tmp_path / "l",
        )
    assert "\n" not in str(caught.value) and not (tmp_path / "o").exists()
