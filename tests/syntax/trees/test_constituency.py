"""Tests of the reader and writer of Penn Treebank brackets, partly against nltk."""

import gzip
from io import StringIO
from pathlib import Path

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.constituency import (
    PhraseNode,
    PhraseTree,
    Preterminal,
    TreeNode,
    build_failed_phrase_tree,
    read_phrase_treebank,
    read_phrase_trees,
    replace_words,
    to_bracket_string,
    write_phrase_trees,
)

LEAVES = st.builds(
    Preterminal,
    st.sampled_from(["NN", "-LRB-", "$", "."]),
    st.one_of(
        st.sampled_from(["(", ")", ":-)", "-", "#", "\u00a0x", "a\u2028b"]),
        st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" ()"), min_size=1, max_size=3),
    ),
)
NODES = st.recursive(
    LEAVES,
    lambda nodes: st.builds(PhraseNode, st.sampled_from(["S", "NP-SBJ", "@X"]), st.lists(nodes, min_size=1).map(tuple)),
    max_leaves=12,
)


def read(text: str, path: Path) -> list[PhraseTree]:
    path.write_text(text, encoding="utf-8")
    return list(read_phrase_trees(path))


@given(st.lists(st.one_of(st.none(), NODES), min_size=1, max_size=4))
def test_round_trip(roots: list[TreeNode | None]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.ptb"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            write_phrase_trees(file, (PhraseTree(root) for root in roots))
        assert [tree.root for tree in read_phrase_trees(path)] == roots


def test_words_leave_out_traces_and_unescape_brackets(tmp_path: Path) -> None:
    (tree,) = read("(S (NP (-NONE- *)) (VP (VB go) (-LRB- -LRB-) (X :--RRB-)))\n", tmp_path / "x.ptb")
    assert tree.words == ("go", "(", ":-)")
    assert not tree.is_failed


def test_failed_parse_and_empty_line_round_trip(tmp_path: Path) -> None:
    file = StringIO()
    write_phrase_trees(file, [build_failed_phrase_tree(["a", "("]), PhraseTree(None)])
    assert file.getvalue() == "(FAILED (X a) (X -LRB-))\n\n"
    failed, empty = read(file.getvalue(), tmp_path / "x.ptb")
    assert (failed.is_failed, failed.words) == (True, ("a", "("))
    assert (empty.is_failed, empty.words) == (False, ())


def test_deep_tree_is_read_without_recursion(tmp_path: Path) -> None:
    text = "(X " * 5000 + "(A a)" + ")" * 5000
    (tree,) = read(text + "\n", tmp_path / "x.ptb")
    assert to_bracket_string(tree.root) == text


def test_treebank_is_read_in_any_layout(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg.gz"
    path.write_bytes(gzip.compress(b"( (S\n  (NP (NN a))\n\n\t(VP (VB b))))\r\n(X (Y c))\n\n"))
    trees = list(read_phrase_treebank(path))
    assert [(tree.words, tree.line_number) for tree in trees] == [(("a", "b"), 1), (("c",), 5)]
    assert to_bracket_string(trees[0].root) == "( (S (NP (NN a)) (VP (VB b))))"


def test_several_trees_on_a_line_and_unusual_labels_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    text = "(TOP (S (NP-SBJ=2\t(NN a))))((X (SYM =)\n(: -))) (NN b)\n\n  (-LRB- -LRB-)(A (B (C (D d)))"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode() + b")")
    trees = list(read_phrase_treebank(path))
    assert [(tree.words, tree.line_number) for tree in trees] == [
        (("a",), 1),
        (("=", "-"), 1),
        (("b",), 2),
        (("(",), 4),
        (("d",), 4),
    ]
    assert to_bracket_string(trees[1].root) == "( (X (SYM =) (: -)))"


@pytest.mark.parametrize(
    ("text", "line", "error"),
    [
        ("(X (-LRB- () (NN a))", 2, "is never closed.*-LRB-"),
        ("(X (-RRB- )) (NN a))", 2, r"\(-RRB-\) has neither word nor children.*-RRB-"),
        (
            "(X (NN (Kera)))",
            2,
            r"if 'Kera' is a word, write \(NN Kera\) for \(NN \(Kera\)\); if it is a tag, add its word",
        ),
        ("(X (NN\u3000a))", 2, r"contains the character U\+3000; separate tag and word by a space"),
        ("(X (NN a)))", 2, r"'\)' is outside"),
        ("\n# a comment\n(X (NN a))", 3, "'#' is outside"),
        ("(X (NN a) b)", 2, "bare word 'b'"),
        ("(())", 2, r"neither word nor children; .* without a parse as \(FAILED "),
    ],
)
def test_broken_treebank_is_rejected(text: str, line: int, error: str, tmp_path: Path) -> None:
    (tmp_path / "x.mrg").write_text(f"(X (NN a)) (X (NN b))\n{text}\n(X (NN c))\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"x\.mrg, line {line}: .*{error}"):
        list(read_phrase_treebank(tmp_path / "x.mrg"))


def test_sgml_tags_between_trees_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "x.fid"
    path.write_text("<DOC>\n<DATE> 1998 </DATE>\n<S ID=1>\n( (IP (NN a)\n <b> (PU <)) )\n</S>\n</DOC>\n")
    with pytest.raises(InputError, match=r"x\.fid, line 4: .*bare word '<b>'"):
        list(read_phrase_treebank(path))
    path.write_text(path.read_text().replace(" <b> ", " "))
    assert [(tree.words, tree.line_number) for tree in read_phrase_treebank(path)] == [(("a", "<"), 4)]


def test_replace_words_keeps_the_tree(tmp_path: Path) -> None:
    (tree,) = read("(S (NP (NN a)) (VB b))\n", tmp_path / "x.ptb")
    assert to_bracket_string(replace_words(tree, ["c", "d"]).root) == "(S (NP (NN c)) (VB d))"
    assert replace_words(PhraseTree(None), []) == PhraseTree(None)


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_treebank_without_trees_is_rejected(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.mrg").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no trees in the file"):
        list(read_phrase_treebank(tmp_path / "x.mrg"))


def test_treebank_is_read_as_by_nltk() -> None:
    path = Path(__file__).parents[3] / "../shared/data/treebanks/en_gum/dev.ptb.gz"
    if not path.exists():
        pytest.skip("the treebank en_gum is not on this machine")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        expected = [" ".join(str(tree).split()) for tree in nltk.Tree.fromstring("(ALL " + file.read() + ")")]
    assert [to_bracket_string(tree.root) for tree in read_phrase_treebank(path)] == expected


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("(S (NN a)", "never closed"),
        ("(S (NN a)))", "follows after the end"),
        ("(S (NN a)) (S (NN b))", "follows after the end"),
        ("a (S (NN a))", "outside the brackets"),
        ("(S (NN a) b)", "bare word 'b'"),
        ("(S b (NN a))", "bare word 'b'"),
        ("(NN a b)", "a tag has one"),
        ("(S (NN a) (NP))", "neither word nor children"),
        ("()", "neither word nor children"),
    ],
)
def test_broken_line_is_rejected(line: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"x\.ptb, line 2: .*{error}"):
        read(f"(NN a)\n{line}\n(NN a)\n", tmp_path / "x.ptb")


def test_error_of_an_unclosed_tree_names_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "x.mrg"
    path.write_text("(S (NN a))\n(S\n(NN b)\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.mrg, line 2: .*never closed"):
        list(read_phrase_treebank(path))


@pytest.mark.parametrize("word", ["", "a b", "a\nb"])
def test_invalid_word_is_rejected(word: str) -> None:
    with pytest.raises(InputError, match="clean the text"):
        to_bracket_string(Preterminal("X", word))
