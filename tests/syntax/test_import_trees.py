"""Tests of the import of trees, on examples and treebanks."""

import gzip
import hashlib
import json
import tracemalloc
from pathlib import Path
from typing import Any

import conllu
import nltk
import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.binarize import Branching, binarize_tree
from pipeline_py.syntax.import_trees import import_trees
from pipeline_py.syntax.trees.constituency import read_phrase_trees
from pipeline_py.syntax.trees.dependency import DependencyTree, build_failed_dependency_tree, read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import TreeKind

TREEBANKS = Path(__file__).parents[2] / "../shared/data/treebanks"


def block(*rows: str, comment: str = "# a sentence") -> str:
    """CoNLL-U of rows `id form head label`; underscores where a multi-word token has none."""
    lines = [comment]
    for row in rows:
        number, form, head, label = row.split(" ")
        lines.append(f"{number}\t{form}\t_\tX\t_\t_\t{head}\t{label}\t_\t_")
    return "\n".join(lines) + "\n\n"


A = block("1 A 0 root")
TREE_OF_A = (("A",), (0,), ("root",), ("X",))
B = block("1 B 2 det", "2 b 0 root")
DONT = block("1 I 4 nsubj", "2-3 don't _ _", "2 do 4 aux", "3 n't 4 advmod", "4 go 0 root")


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def run(
    tmp_path: Path,
    annotation: TreeKind,
    trees: list[Path],
    raw: list[str],
    kept_lines: list[int] | None = None,
    **options: Any,
) -> Any:
    """Import the trees of a raw text that is tokenized by spaces, and read the output."""
    kept_lines = list(range(1, len(raw) + 1)) if kept_lines is None else kept_lines
    tokens: list[str] = options.pop("tokens", [raw[number - 1] for number in kept_lines])
    import_trees(
        annotation=annotation,
        trees=trees,
        text=write(tmp_path / "raw", "".join(line + "\n" for line in raw)),
        lines=write(tmp_path / "lines", "".join(f"{number}\n" for number in kept_lines)),
        tokens=write(tmp_path / "tokens", "".join(line + "\n" for line in tokens)),
        output=tmp_path / "out",
        counts_output=tmp_path / "out.json",
        facts_output=tmp_path / "out.facts.json",
        **options,
    )
    read = read_dependency_trees if annotation is TreeKind.DEPENDENCY else read_phrase_trees
    return list(read(tmp_path / "out"))


def dependencies(
    tmp_path: Path, conllu: str, raw: list[str], kept_lines: list[int] | None = None, **options: Any
) -> Any:
    return run(tmp_path, TreeKind.DEPENDENCY, [write(tmp_path / "t.conllu", conllu)], raw, kept_lines, **options)


def phrases(
    tmp_path: Path, bracketed: str, raw: list[str], kept_lines: list[int] | None = None, **options: Any
) -> list[str]:
    run(tmp_path, TreeKind.CONSTITUENCY, [write(tmp_path / "t.ptb", bracketed)], raw, kept_lines, **options)
    return (tmp_path / "out").read_text(encoding="utf-8").split("\n")[:-1]


def counts(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "out.json").read_text())


def test_trees_of_kept_lines_are_imported_from_several_files(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a" / "t.conllu", A + DONT), write(tmp_path / "b" / "t.conllu", B + A)
    imported_trees = run(tmp_path, TreeKind.DEPENDENCY, [first, second], ["A", "I do n't go", "B b", "A"], [1, 3])
    assert imported_trees == [
        DependencyTree(("A",), (0,), ("root",), ("X",)),
        DependencyTree(("B", "b"), (2, 0), ("det", "root"), ("X", "X")),
    ]
    assert counts(tmp_path) == {"in": 2, "kept": 2, "dropped": {}, "noted": {}}
    facts = json.loads((tmp_path / "out.facts.json").read_text())
    assert facts["sentences"] == 2 and facts["seconds"] >= 0
    assert facts["models"] == {
        f"{path.parent.name}/t.conllu": hashlib.sha256(path.read_bytes()).hexdigest() for path in (first, second)
    }


def test_multiword_token_follows_the_text(tmp_path: Path) -> None:
    surface, words = dependencies(tmp_path, DONT + DONT, ["I don't go", "I do n't go"])
    assert surface == DependencyTree(("I", "don't", "go"), (3, 3, 0), ("nsubj", "aux", "root"), ("X",) * 3)
    assert words == DependencyTree(
        ("I", "do", "n't", "go"), (4, 4, 4, 0), ("nsubj", "aux", "advmod", "root"), ("X",) * 4
    )
    assert counts(tmp_path)["noted"] == {"multi-word token taken as one word": 1}


def test_empty_lines_may_have_empty_trees(tmp_path: Path) -> None:
    raw = ["", "A", "", "B b", ""]
    expected = [(), ("A",), (), ("B", "b"), ()]
    for content in (A + B, "# empty\n\n" + A + "# empty\n\n" + B + "# empty\n\n", A + "# empty\n\n" + B):
        assert [tree.words for tree in dependencies(tmp_path, content, raw)] == expected
        assert counts(tmp_path)["noted"] == {"empty line": 3}
    assert phrases(tmp_path, "\n(NN A)\n\n(X (NN B) (NN b))\n\n", raw) == ["", "(NN A)", "", "(X (NN B) (NN b))", ""]


def test_output_has_the_spelling_of_the_text(tmp_path: Path) -> None:
    content = "(X (`` ``) (-LRB- -LSB-) (NN A\\/B) ('' '') (-RRB- -RSB-))\n(X (NN A))\n"
    assert phrases(tmp_path, content, ['" [ A/B " ]', "A"]) == [
        "(X (`` \") (-LRB- [) (NN A/B) ('' \") (-RRB- ]))",
        "(X (NN A))",
    ]
    assert counts(tmp_path)["noted"] == {"spelt otherwise than in the text": 1}


def test_case_is_ignored_on_request(tmp_path: Path) -> None:
    imported_trees = dependencies(tmp_path, DONT + A, ["I Don't go", "A"], tokens=["i don't go", "A"], ignore_case=True)
    assert [tree.words for tree in imported_trees] == [("i", "don't", "go"), ("A",)]
    assert counts(tmp_path)["noted"]["spelt otherwise than in the text"] == 1


@pytest.mark.parametrize(("token", "hint"), [("a", "upper and lower case alone"), ("B", "`tokenizer: none`")])
def test_error_suggests_a_fix(token: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=hint):
        dependencies(tmp_path, A, ["A"], tokens=[token])


def test_missing_tag_and_relation_are_unspecified(tmp_path: Path) -> None:
    (tree,) = dependencies(tmp_path, "1\tA\t_\t\t_\t_\t0\t\t_\t_\n", ["A"])
    assert (tree.upos, tree.labels) == (("_",), ("_",))


def test_word_with_spaces_is_divided(tmp_path: Path) -> None:
    content = "1\t10 000\t_\tNUM\t_\t_\t2\tnummod\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n"
    (tree,) = dependencies(tmp_path, content, ["10 000 b"])
    assert (tree.words, tree.heads, tree.labels) == (("10", "000", "b"), (3, 1, 0), ("nummod", "flat", "root"))
    assert counts(tmp_path)["noted"] == {"word with spaces taken as several": 1}


@pytest.mark.parametrize("forms", ["\u00e9 e\u0301", "e\u0301 \u00e9"])
def test_composed_and_decomposed_letters_are_equal(forms: str, tmp_path: Path) -> None:
    of_tree, of_text = forms.split(" ")
    (tree,) = dependencies(tmp_path, block(f"1 {of_tree} 0 root"), [of_text])
    assert tree.words == (of_text,)
    assert counts(tmp_path)["noted"] == {"spelt otherwise than in the text": 1}
    assert phrases(tmp_path, f"(NN {of_tree})\n", [of_text]) == [f"(NN {of_text})"]


def test_header_is_skipped(tmp_path: Path) -> None:
    trees = dependencies(tmp_path, "# Licence: CC BY-SA\n\n" + A + B, ["A", "B b"])
    assert [tree.words for tree in trees] == [("A",), ("B", "b")]


def test_trees_without_text_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="comes without its text; restore the text as its README says"):
        dependencies(tmp_path, block("1 _ 2 det", "2 _ 0 root"), ["B b"])
    (tree,) = dependencies(tmp_path, block("1 _ 2 det", "2 _ 0 root"), ["_ _"])
    assert tree.words == ("_", "_")


def test_failed_parses_stay_failed(tmp_path: Path) -> None:
    chain = ["1 A _ _", "1 A 0 root", "2 B 1 dep", "3 C 2 dep"][1:]
    content = block(*chain, comment="# parse = failed: too odd") + block(*chain, comment="# parse = failed:")
    assert dependencies(tmp_path, content, ["A B C"] * 2) == [
        build_failed_dependency_tree(["A", "B", "C"], "too odd"),
        build_failed_dependency_tree(["A", "B", "C"], "marked as failed"),
    ]
    noted = {"parsed by fallback: marked as failed": 1, "parsed by fallback: too odd": 1}
    assert counts(tmp_path)["noted"] == noted
    assert phrases(tmp_path, "(FAILED (X -LRB-) (X b))\n", ["( b"]) == ["(FAILED (X -LRB-) (X b))"]
    assert counts(tmp_path)["noted"] == {"parsed by fallback: marked as failed": 1}


def test_lines_before_those_with_trees_have_failed(tmp_path: Path) -> None:
    raw = ["x y", "z", "", "A", "B b"]
    first, second, last = dependencies(tmp_path, A + B, raw, [1, 3, 5], tree_count=2)
    assert first == build_failed_dependency_tree(("x", "y"), "no tree") and second.words == ()
    assert last.words == ("B", "b") and last.heads == (2, 0)
    counts = json.loads((tmp_path / "out.json").read_text())
    assert counts["kept"] == 3
    assert counts["noted"] == {"empty line": 1, "parsed by fallback: no tree": 1}
    run(tmp_path, TreeKind.CONSTITUENCY, [], ["a b"], tree_count=0)
    assert (tmp_path / "out").read_text() == "(FAILED (X a) (X b))\n"
    with pytest.raises(InputError, match=r"the trees end here after 2, but .* has 3 lines and line 3 has no tree"):
        dependencies(tmp_path, A + B, ["A", "B b", "c"], tree_count=3)
    with pytest.raises(InputError, match=r"2 trees, but .*raw has 2 lines"):
        dependencies(tmp_path, B + B, ["A", "B b"], tree_count=1)


def test_failed_parse_without_words_is_an_empty_line(tmp_path: Path) -> None:
    content = "# parse = failed: no words\n\n" + A
    assert dependencies(tmp_path, content, ["", "A"]) == [DependencyTree((), (), (), ()), DependencyTree(*TREE_OF_A)]
    assert counts(tmp_path)["noted"] == {"empty line": 1}
    assert phrases(tmp_path, "(FAILED (-NONE- *))\n(NN A)\n", ["", "A"]) == ["", "(NN A)"]
    assert counts(tmp_path)["noted"] == {"empty line": 1}


def test_untokenized_words_match_tokens(tmp_path: Path) -> None:
    content = block("1 Zei\u00adle\u202f1 0 root")
    (tree,) = run(tmp_path, TreeKind.DEPENDENCY, [write(tmp_path / "t", content)], ["x"], tokens=["Zeile 1"])
    assert (tree.words, tree.heads, tree.labels) == (("Zeile", "1"), (0, 1), ("root", "flat"))


def test_imported_phrase_trees_can_be_binarized(tmp_path: Path) -> None:
    content = """
( (S (NP-SBJ-1 (PRP He)) (VP (VBD was)
    (VP (VBN seen) (NP (-NONE- *-1)))) (. .)) ) (TOP (NP=2 (NN b)))
(ROOT (S (VP (VP (VB Go) (ADVP (RB on))))))
"""
    raw = ["He was seen .", "b", "Go on"]
    assert phrases(tmp_path, content, raw) == [
        "( (S (NP-SBJ-1 (PRP He)) (VP (VBD was) (VP (VBN seen))) (. .)))",
        "(TOP (NP=2 (NN b)))",
        "(ROOT (S (VP (VP (VB Go) (ADVP (RB on))))))",
    ]
    nltk_trees = [nltk.Tree.fromstring(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert [tree.leaves() for tree in nltk_trees] == [line.split() for line in raw]
    first, second, third = (binarize_tree(tree, Branching.RIGHT) for tree in read_phrase_trees(tmp_path / "out"))
    assert (first.words, second.words, third.words) == (("He", "was", "seen", "."), ("b",), ("Go", "on"))
    assert third.root is not None and third.root.label == "S"


@pytest.mark.parametrize(
    ("conllu", "raw", "kept_lines", "message"),
    [
        (
            A + B,
            ["A", "B c"],
            [1, 2],
            r"t\.conllu, line 4: word 2 of the tree is 'b' and of the text 'c' \(.*raw, line 2;",
        ),
        (A + A + B, ["A", "B c"], None, r"t\.conllu, line 4: word 1 of the tree is 'A' and of the text 'B' "),
        (B + A, ["A", "B b"], [2], r"t\.conllu, line 5: word 1 of .* 'A' .* 'B' \(.*raw, line 2; .*tokens, line 1\)"),
        (A + "# x\n\n" + B, ["A", "B b"], None, r"line 4: the tree ends after 0 words and the text goes on with 'B'"),
        (A, ["A A"], None, r"line 1: the tree ends after 1 words and the text goes on with 'A'"),
        (B, ["B"], None, r"line 1: word 2 of the tree is 'b' and the text ends after 1 words"),
        (A, ["a"], None, r"word 1 of the tree is 'A' and of the text 'a'"),
        (DONT, ["I do not go"], None, r"word 3 of the tree is \"n't\" and of the text 'not'"),
        (A, ["A", "A"], None, r"t\.conllu: the trees end here after 1, but .*raw has 2 lines and line 2 has no tree"),
        (A + A, ["A"], None, r"t\.conllu: 2 trees, but .*raw has 1 lines \(0 of them empty\)"),
        (A + "1\tb\n", ["A", "b"], None, r"t\.conllu, line 4: 2 columns instead of 10"),
        ("", ["A"], None, r"t\.conllu: the file is empty"),
    ],
)
def test_wrong_trees_are_rejected(
    tmp_path: Path, conllu: str, raw: list[str], kept_lines: list[int] | None, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        dependencies(tmp_path, conllu, raw, kept_lines)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_wrong_phrase_trees_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.ptb, line 2: word 1 of the tree is 'b' and of the text 'c'"):
        phrases(tmp_path, "(NN a)\n(NN\n b)\n", ["a", "c"])
    with pytest.raises(InputError, match=r"t\.ptb, line 2: a bracket of this tree is never closed"):
        phrases(tmp_path, "(NN a)\n(X (NN b)\n", ["a", "b"])


def test_different_words_are_rejected_if_case_is_ignored(tmp_path: Path) -> None:
    write(tmp_path / "t.conllu", A)
    write(tmp_path / "raw", "B\n")
    write(tmp_path / "lines", "1\n")
    words = r"t\.conllu, line 1: word 1 of the tree is 'A' and of the text 'B'"
    message = rf"{words} \(\S*raw, line 1; tokenized: \S*raw, line 1\); "
    with pytest.raises(InputError, match=message):
        import_trees(
            annotation=TreeKind.DEPENDENCY,
            trees=[tmp_path / "t.conllu"],
            text=tmp_path / "raw",
            lines=tmp_path / "lines",
            tokens=tmp_path / "raw",
            ignore_case=True,
            output=tmp_path / "out",
            counts_output=tmp_path / "counts",
            facts_output=tmp_path / "facts",
        )


def test_memory_does_not_grow_with_the_text(tmp_path: Path) -> None:
    peaks = []
    for sentences in (10, 10, 1000):
        write(tmp_path / "text", "I don't go\n" * sentences)
        write(tmp_path / "lines", "".join(f"{number}\n" for number in range(1, sentences + 1)))
        (tmp_path / "t.conllu.gz").write_bytes(gzip.compress(DONT.encode() * sentences))
        tracemalloc.start()
        import_trees(
            annotation=TreeKind.DEPENDENCY,
            trees=[tmp_path / "t.conllu.gz"],
            text=tmp_path / "text",
            lines=tmp_path / "lines",
            tokens=tmp_path / "text",
            output=tmp_path / "out",
            counts_output=tmp_path / "out.json",
            facts_output=tmp_path / "out.facts.json",
        )
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # A tree takes about 2,000 bytes. The first run is a warm-up.
    assert peaks[2] < peaks[1] + 500_000


def treebank(name: str) -> Path:
    path = TREEBANKS / name
    if not path.exists():
        pytest.skip(f"{name} is not among the treebanks on this machine")
    return path


def read_by_conllu(path: Path) -> list[conllu.TokenList]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(conllu.parse_incr(file))


@pytest.mark.parametrize("name", ["en_gum/dev", "en_pud/test", "zh_gsd/dev"])
def test_treebank_is_imported_over_its_words(name: str, tmp_path: Path) -> None:
    path = treebank(f"{name}.conllu.gz")
    words = [[row for row in sentence if isinstance(row["id"], int)] for sentence in read_by_conllu(path)]
    raw = [" ".join(row["form"] for row in sentence) for sentence in words]
    kept_lines = [number for number in range(1, len(raw) + 1) if number % 3]
    imported_trees = run(tmp_path, TreeKind.DEPENDENCY, [path], raw, kept_lines)
    assert [list(zip(tree.words, tree.heads, tree.labels, tree.upos, strict=True)) for tree in imported_trees] == [
        [(row["form"], row["head"], row["deprel"], row["upos"]) for row in words[number - 1]] for number in kept_lines
    ]
    assert counts(tmp_path)["noted"] == {}


@pytest.mark.parametrize("name", ["en_gum/dev", "en_pud/test"])
def test_treebank_is_imported_over_its_surface_tokens(name: str, tmp_path: Path) -> None:
    path = treebank(f"{name}.conllu.gz")
    sentences = read_by_conllu(path)
    raw = []
    for sentence in sentences:
        joined = {row["id"][0]: row for row in sentence if isinstance(row["id"], tuple) and row["id"][1] == "-"}
        joined_words = {word for row in joined.values() for word in range(row["id"][0], row["id"][2] + 1)}
        raw.append(
            " ".join(
                joined[row["id"]]["form"] if row["id"] in joined else row["form"]
                for row in sentence
                if isinstance(row["id"], int) and (row["id"] in joined or row["id"] not in joined_words)
            )
        )
    imported_trees = run(tmp_path, TreeKind.DEPENDENCY, [path], raw)
    assert [" ".join(tree.words) for tree in imported_trees] == raw
    with_joined = sum(any(isinstance(row["id"], tuple) for row in sentence) for sentence in sentences)
    assert counts(tmp_path)["noted"] == {"multi-word token taken as one word": with_joined}


def test_phrase_treebank_is_imported_over_the_words_of_the_dependency_treebank(tmp_path: Path) -> None:
    path = treebank("en_gum/dev.ptb.gz")
    words = [
        [row["form"] for row in sentence if isinstance(row["id"], int)]
        for sentence in read_by_conllu(treebank("en_gum/dev.conllu.gz"))
    ]
    run(tmp_path, TreeKind.CONSTITUENCY, [path], [" ".join(sentence) for sentence in words])
    with gzip.open(path, "rt", encoding="utf-8") as file:
        gold = nltk.Tree.fromstring("(ALL " + file.read() + ")")
    imported_trees = [
        nltk.Tree.fromstring(line) for line in (tmp_path / "out").read_text(encoding="utf-8").splitlines()
    ]
    assert [
        [leaf.replace("-LRB-", "(").replace("-RRB-", ")") for leaf in tree.leaves()] for tree in imported_trees
    ] == words
    assert [tree.productions()[0] for tree in imported_trees] == [tree.productions()[0] for tree in gold]
    assert [len(list(tree.subtrees())) for tree in imported_trees] == [len(list(tree.subtrees())) for tree in gold]
