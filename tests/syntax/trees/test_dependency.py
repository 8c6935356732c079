"""Tests of the CoNLL-U reader and writer, partly against the conllu package."""

import gzip
from io import StringIO
from pathlib import Path

import conllu
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.dependency import (
    DependencyTree,
    MultiwordToken,
    build_failed_dependency_tree,
    find_head_error,
    read_dependency_trees,
    write_dependency_trees,
)

TREEBANK = """\
# sent_id = 1
# text = Vámonos al mar ...
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tP\tCase=Acc|Number=Plur\t1\tobj\t_\t_
2.1\tgap\t_\t_\t_\t_\t_\t_\t1:dep\t_
3\ta l\ta\tADP\tE\t_\t4\tcase\t_\t_
4\tmar\tmar\tNOUN\tN\t_\t1\tobl\t_\t_

# sent_id = 2
1\tTwo\t_\tX\t_\t_\t0\troot\t_\t_
2\troots\t_\tX\t_\t_\t0\troot\t_\t_


# text =

# parse = failed: more than 2 words
1\ta\t_\tX\t_\t_\t0\troot\t_\t_
2\t#\t_\tX\t_\t_\t1\tdep\t_\t_
3\t\u2028\u00a0b\t_\tX\t_\t_\t2\tdep\t_\t_"""


def read(text: str, path: Path) -> list[DependencyTree]:
    path.write_text(text, encoding="utf-8")
    return list(read_dependency_trees(path))


def test_reader_supports_features_of_treebanks(tmp_path: Path) -> None:
    first, second, third, fourth = read(TREEBANK, tmp_path / "x.conllu")
    assert first == DependencyTree(
        ("Vamos", "nos", "a\u00a0l", "mar"),
        (0, 1, 4, 1),
        ("root", "obj", "case", "obl"),
        ("VERB", "PRON", "ADP", "NOUN"),
    )
    assert (first.xpos, first.features[1], first.line_number) == (("V", "P", "E", "N"), "Case=Acc|Number=Plur", 1)
    assert first.multiword_tokens == (MultiwordToken(1, 2, "Vámonos"),)
    assert second.multiword_tokens == ()
    assert second.root_words == [1, 2]
    assert third == DependencyTree((), (), (), ())
    assert fourth == build_failed_dependency_tree(["a", "#", "\u2028\u00a0b"], "more than 2 words")
    assert [tree.line_number for tree in (second, third, fourth)] == [10, 15, 17]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_reader_supports_gzip_crlf_and_byte_order_mark(encoding: str, tmp_path: Path) -> None:
    plain = read(TREEBANK, tmp_path / "x.conllu")
    (tmp_path / "y.conllu.gz").write_bytes(gzip.compress(TREEBANK.replace("\n", "\r\n").encode(encoding)))
    trees = list(read_dependency_trees(tmp_path / "y.conllu.gz"))
    assert trees == plain
    assert [tree.multiword_tokens for tree in trees] == [tree.multiword_tokens for tree in plain]


def test_byte_order_mark_before_the_first_word_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text(GOOD, encoding="utf-8-sig")
    (tree,) = read_dependency_trees(tmp_path / "x.conllu")
    assert tree.words == ("a", "b")


def test_other_encodings_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "x.conllu").write_text(GOOD.replace("b", "é"), encoding="cp1252")
    with pytest.raises(InputError, match=r"x\.conllu, line 2: .*not UTF-8"):
        list(read_dependency_trees(tmp_path / "x.conllu"))


def test_non_projective_sentence_is_read(tmp_path: Path) -> None:
    # The arcs 1-3 and 2-4 cross.
    rows = [f"{word}\tw\t_\tX\t_\t_\t{head}\tdep\t_\t_" for word, head in enumerate([3, 4, 0, 3], start=1)]
    (tree,) = read("# newdoc id = 1\n# newpar\n" + "\n".join(rows), tmp_path / "x.conllu")
    assert tree.heads == (3, 4, 0, 3)


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" "), min_size=1, max_size=4)


@st.composite
def trees(draw: st.DrawFn) -> DependencyTree:
    words = draw(st.lists(WORDS, max_size=8))
    if draw(st.booleans()) and words:
        return build_failed_dependency_tree(words, draw(st.sampled_from(["no tree", "a = b: c"])))
    heads = [draw(st.integers(0, place)) for place in range(len(words))]
    labels = draw(st.lists(st.sampled_from(["root", "nsubj:pass"]), min_size=len(words), max_size=len(words)))
    return DependencyTree(tuple(words), tuple(heads), tuple(labels), ("NOUN",) * len(words))


@given(st.lists(trees(), min_size=1, max_size=4))
def test_round_trip(sentences: list[DependencyTree]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.conllu"
        with path.open("w", encoding="utf-8", newline="\n") as file:
            write_dependency_trees(file, sentences)
        assert list(read_dependency_trees(path)) == sentences


def test_conllu_package_reads_written_trees() -> None:
    file = StringIO()
    write_dependency_trees(file, [DependencyTree(("a", "b"), (2, 0), ("det", "root"), ("DET", "NOUN"))])
    (sentence,) = conllu.parse(file.getvalue())
    assert [(word["id"], word["form"], word["head"], word["deprel"], word["upos"]) for word in sentence] == [
        (1, "a", 2, "det", "DET"),
        (2, "b", 0, "root", "NOUN"),
    ]
    assert sentence.metadata["text"] == "a b"


@pytest.mark.parametrize(
    "header",
    [
        "\n \n",
        "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC\n\n",
        "# Licence\n\n# newdoc id = 1\n\n\n",
        "# sent_id = 1\n# text = a b\n\n",
    ],
)
def test_header_is_not_a_sentence(header: str, tmp_path: Path) -> None:
    (tree,) = read(header + GOOD, tmp_path / "x.conllu")
    assert (tree.words, tree.line_number) == (("a", "b"), header.count("\n") + 1)


def test_detached_comments_are_not_a_sentence(tmp_path: Path) -> None:
    trees = read(f"# text =\n\n{GOOD}\n# empty\n\n# text = a b\n\n{GOOD}", tmp_path / "x.conllu")
    assert [tree.words for tree in trees] == [(), ("a", "b"), (), ("a", "b")]


def test_spaces_around_values_are_stripped(tmp_path: Path) -> None:
    block = " 1\t a b \t_\t NOUN\tN \t \t0 \t\u00a0root \t\t\n 1.1 \t_\t_\t_\t_\t_\t_\t_\t_\t_\n"
    (tree,) = read(block, tmp_path / "x.conllu")
    assert (tree.words, tree.heads, tree.labels, tree.upos) == (("a\u00a0b",), (0,), ("root",), ("NOUN",))
    assert (tree.xpos, tree.features) == (("N",), ("_",))


def test_space_in_a_form_is_kept_if_another_value_is_empty(tmp_path: Path) -> None:
    (tree,) = read("1\tNew York\t_\t\t_\t_\t0\troot\t_\t_\n", tmp_path / "x.conllu")
    assert (tree.words, tree.upos) == (("New\u00a0York",), ("_",))


def test_byte_order_marks_of_joined_files_are_skipped(tmp_path: Path) -> None:
    trees = read(f"\ufeff# text = a b\n{GOOD}\n\ufeff{GOOD}", tmp_path / "x.conllu")
    assert [tree.words for tree in trees] == [("a", "b")] * 2


@pytest.mark.parametrize("corpus", ["en_ewt/dev", "zh_gsd/dev"])
def test_treebanks_are_read_as_by_the_conllu_package(corpus: str) -> None:
    path = Path(__file__).parents[3] / f"../shared/data/treebanks/{corpus}.conllu.gz"
    if not path.exists():
        pytest.skip(f"the treebank {corpus} is not on this machine")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        expected = [
            [
                (word["form"].replace(" ", "\u00a0"), word["head"], word["deprel"], word["upos"])
                for word in sentence
                if isinstance(word["id"], int)
            ]
            for sentence in conllu.parse_incr(file)
        ]
    trees = [
        list(zip(tree.words, tree.heads, tree.labels, tree.upos, strict=True)) for tree in read_dependency_trees(path)
    ]
    assert trees == expected


EMPTY = "\t_" * 8
GOOD = "1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("block", "line", "error"),
    [
        ("1\ta\t_\tX\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n", 4, "cycle"),
        ("1\ta\t_\tX\t_\t_\t1\tdep\t_\t_\n", 4, "cycle"),
        ("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\tb\t_\tX\t_\t_\t3\tdep\t_\t_\n", 5, "head 3 of word 2 is outside"),
        ("1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n3\tb\t_\tX\t_\t_\t1\tdep\t_\t_\n", 5, "id '3' where 2 was expected"),
        ("1\ta\t_\tX\t_\t_\t_\troot\t_\t_\n", 4, "head '_' is not the number"),
        ("1\ta\t_\tX\t_\t_\t-1\troot\t_\t_\n", 4, "head '-1' is not the number"),
        (f"1\ta\t_\tX\t_\t_\t{'9' * 5000}\troot\t_\t_\n", 4, "head '999"),
        (f"1-{'9' * 5000}\ta\t_\tX\t_\t_\t0\troot\t_\t_\n", 4, "of a multi-word token; write FIRST-LAST"),
        (f"{'9' * 5000}\ta\t_\tX\t_\t_\t0\troot\t_\t_\n", 4, "word id '999"),
        ("1\ta\t_\tX\t_\t_\t0\troot\n", 4, "8 columns instead of 10"),
        ("1 a _ X _ _ 0 root _ _\n", 4, "1 columns instead of 10"),
        ("1\t\t_\tX\t_\t_\t0\troot\t_\t_\n", 4, "without a form"),
        ("1\t  \t_\tX\t_\t_\t0\troot\t_\t_\n", 4, "without a form"),
        ("1\ta\t_\tX Y\t_\t_\t0\troot\t_\t_\n", 4, "the tag 'X Y' contains a space; write one tag"),
        ("1\ta\t_\tX\t_\t_\t0\tnsubj\u3000pass\t_\t_\n", 4, "the relation 'nsubj.*pass' contains a space"),
        ("# old\r1\ta\t_\tX\t_\t_\t0\troot\t_\t_\r\r", 4, "end lines by LF or CR LF"),
        (f"{GOOD}{GOOD}", 6, "id '1' where 3 was expected; .*separate sentences by an empty line"),
        ("0\ta\t_\tX\t_\t_\t0\troot\t_\t_\n", 4, "id '0' where 1 was expected"),
        ("1.x\ta\t_\tX\t_\t_\t0\troot\t_\t_\n", 4, "id '1.x' where 1 was expected"),
        (f"2-1\tab{EMPTY}\n{GOOD}", 4, "id '2-1' of a multi-word token"),
        (f"1-b\tab{EMPTY}\n{GOOD}", 4, "id '1-b' of a multi-word token"),
        (f"1-2\t{EMPTY}\n{GOOD}", 4, "without a form"),
        (f"2-3\tab{EMPTY}\n{GOOD}", 4, "2-3 is before word 1"),
        (f"{GOOD}1-2\tab{EMPTY}\n", 6, "1-2 is before word 3"),
        (f"# x\n1-3\tabc{EMPTY}\n{GOOD}", 5, "1-3 goes beyond the sentence of 2 words"),
        (f"1-2\tab{EMPTY}\n1-2\tab{EMPTY}\n{GOOD}", 5, "1-2 and 1-2 overlap"),
        (f"1-2\tab{EMPTY}\n" + GOOD.replace("\n2", f"\n2-3\tbc{EMPTY}\n2"), 6, "1-2 and 2-3 overlap"),
    ],
)
def test_broken_block_is_rejected(block: str, line: int, error: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"x\.conllu, line {line}: .*{error}"):
        read(f"{GOOD}\n{block}\n{GOOD}", tmp_path / "x.conllu")


def test_empty_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="empty"):
        read("", tmp_path / "x.conllu")


def test_word_with_a_tab_is_rejected() -> None:
    with pytest.raises(InputError, match="tab"):
        write_dependency_trees(StringIO(), [build_failed_dependency_tree(["a\tb"], "x")])


@given(st.lists(st.integers(-1, 7), max_size=7))
def test_head_errors_agree_with_following_every_head(heads: list[int]) -> None:
    def reaches_root(word: int) -> bool:
        for _ in heads:
            if not 0 <= word <= len(heads):
                return False
            if word == 0:
                return True
            word = heads[word - 1]
        return word == 0

    assert (find_head_error(heads) is None) == all(reaches_root(word) for word in range(1, len(heads) + 1))
