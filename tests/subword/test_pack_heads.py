"""Rows of heads: of pieces they say what the tree says of words."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.run.errors import InputError
from pipeline_py.subword.pack_heads import pack_heads

FILES = {"trees": "trees.conllu", "tokens": "tokens", "pieces": "pieces", "output": "heads.arrow"}


def write(folder: Path, sentences: list[tuple[list[str], list[int], str | None]], pieces: list[str]) -> None:
    """Sentences are words, heads, and why there is no parse."""
    with (folder / "trees.conllu").open("w", encoding="utf-8") as file:
        for words, heads, failed in sentences:
            file.write("# sentence\n" + ("" if failed is None else f"# parse = failed: {failed}\n"))
            for number, (word, head) in enumerate(zip(words, heads, strict=True), start=1):
                file.write(f"{number}\t{word}\t_\tX\t_\t_\t{head}\tdep\t_\t_\n")
            file.write("\n")
    (folder / "tokens").write_text("".join(" ".join(words) + "\n" for words, _, _ in sentences), encoding="utf-8")
    (folder / "pieces").write_text("".join(line + "\n" for line in pieces), encoding="utf-8")


def run(folder: Path, parents: bool = False) -> list[list[int]]:
    files = {name: folder / file for name, file in FILES.items()}
    pack_heads(**files, parents=parents, counts_output=folder / "counts.json")
    rows = RaggedArrayFile(folder / "heads.arrow")
    assert all(values.dtype == np.int16 for _, values, _ in rows.iterate_blocks())
    return [rows[row].tolist() for row in range(len(rows))]


def test_a_worked_example(tmp_path: Path) -> None:
    sentences = [
        (["the", "unlikely", "cat", "sleeps"], [3, 3, 4, 0], None),
        ([], [], None),
        (["no", "parse", "here"], [0, 1, 2], "too long"),
        (["ja", "ŋ\u2028ŋ", "nein"], [0, 1, 0], None),
        (["hm"], [0], None),
    ]
    pieces = ["the un@@ like@@ ly cat sle@@ eps", "", "no par@@ se here", "ja ŋ@@ \u2028ŋ nein", "hm"]
    write(tmp_path, sentences, pieces)
    assert run(tmp_path) == [
        # the→cat; un@@→cat, like@@ and ly→un@@; cat→sle@@; sle@@ and EOS→ROOT, eps→sle@@
        [4, 4, 1, 1, 5, 5, 5, 7],
        [0],
        [-1, -1, -1, -1, -1],
        [0, 0, 1, 3, 4],
        [0, 1],
    ]
    counts = json.loads((tmp_path / "counts.json").read_text())
    noted = {"empty line": 1, "failed parse, no heads": 1, "several roots": 1}
    assert counts == {"in": 5, "kept": 5, "dropped": {}, "noted": noted}


def test_a_worked_example_of_parents(tmp_path: Path) -> None:
    sentences = [
        (["the", "unlikely", "cat", "sleeps"], [3, 3, 4, 0], None),
        ([], [], None),
        (["no", "parse"], [0, 1], "too long"),
        (["unlikely", "so"], [0, 1], None),
    ]
    write(tmp_path, sentences, ["the un@@ like@@ ly cat sle@@ eps", "", "no par@@ se", "un@@ like@@ ly so"])
    cat, sleeps, itself = [4, 4], [5, 6], [7, 7]
    assert run(tmp_path, parents=True) == [
        [*cat, *cat, *cat, *cat, *sleeps, *sleeps, *sleeps, *itself],
        [0, 0],
        [-1] * 8,
        [0, 2, 0, 2, 0, 2, 0, 2, 4, 4],
    ]


def test_words_that_are_not_split_may_end_like_pieces(tmp_path: Path) -> None:
    write(tmp_path, [(["a@@", "@@", "b@@"], [2, 0, 2], None)], ["a@@ @@ b@@"])
    assert run(tmp_path) == [[1, 1, 1, 3]]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_heads_of_pieces_are_those_of_words(tmp_path: Path, data: st.DataObject) -> None:
    """Read back: the first piece of a word leads to the first piece of its head word, the others to the first."""
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=8))
    order = data.draw(st.permutations(range(1, len(sizes) + 1)))
    heads = [0] * len(sizes)
    for place, word in enumerate(order):
        above = data.draw(st.integers(0, place))
        heads[word - 1] = order[above] if above < place else 0
    words = ["x" * size for size in sizes]
    write(tmp_path, [(words, heads, None)], [" ".join("x@@ " * (size - 1) + "x" for size in sizes)])
    (row,) = run(tmp_path)
    assert len(row) == sum(sizes) + 1 and row[-1] == sum(sizes)
    begins = [sum(sizes[:word]) for word in range(len(sizes))]
    for begin, size, head in zip(begins, sizes, heads, strict=True):
        assert row[begin] == (begins[head - 1] if head else begin)
        assert row[begin + 1 : begin + size] == [begin] * (size - 1)


ONE = (["a", "bc"], [2, 0], None)


@pytest.mark.parametrize(
    ("sentences", "pieces", "message"),
    [
        ([ONE, ONE], ["a bc"], "{folder}/pieces: the file has 1 sentences and {folder}/trees.conllu has more"),
        ([ONE], ["a bc", ""], "{folder}/trees.conllu: the file has 1 sentences and {folder}/pieces has more"),
        ([ONE, ONE], ["a b@@ c", "a b c"], "{folder}/pieces, line 2: the pieces make 3 words, but the sentence's tree"),
        ([ONE], ["a@@ bc@@ c"], "{folder}/pieces, line 1: the pieces make 1 words, but the sentence's tree has 2"),
        ([ONE], [""], "{folder}/pieces, line 1: the pieces make 0 words"),
        ([ONE], ["a@@ " * 32767 + "a"], "{folder}/pieces, line 1: the sentence has 32768 pieces and heads are packed"),
        ([(["a", "b"], [2, 1], None)], ["a b"], "{folder}/trees.conllu, line 2: the heads of word 1 run in a cycle"),
    ],
)
def test_invalid_input_is_refused(tmp_path: Path, sentences: list, pieces: list[str], message: str) -> None:
    write(tmp_path, sentences, pieces)
    with pytest.raises(InputError) as error:
        run(tmp_path)
    assert message.format(folder=tmp_path) in str(error.value)
    assert not (tmp_path / "heads.arrow").exists()


def test_trees_of_another_text_are_refused(tmp_path: Path) -> None:
    write(tmp_path, [ONE], ["a b"])
    (tmp_path / "tokens").write_text("a b\n")
    with pytest.raises(InputError, match=r"word 2 of the tree is 'bc' and of the text 'b'"):
        run(tmp_path)


def test_the_longest_sentence_has_its_own_positions(tmp_path: Path) -> None:
    write(tmp_path, [(["x" * 32767], [0], None)], ["x@@ " * 32766 + "x"])
    (row,) = run(tmp_path)
    assert row == [0] * 32767 + [32767]
