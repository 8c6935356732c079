"""Properties of sentences against trees that are looked at; `test_breakdown` has random ones."""

from pathlib import Path

import numpy as np
import pytest

from pipeline_py.evaluation.column_files import read_sentence_columns
from pipeline_py.evaluation.measure_source_properties import measure_source_properties
from pipeline_py.run.errors import InputError

CONLLU = (
    "# text = a b c\n1\ta\t_\tX\t_\t_\t2\td\t_\t_\n2\tb\t_\tX\t_\t_\t0\troot\t_\t_\n3\tc\t_\tX\t_\t_\t1\td\t_\t_\n\n"
    "# text = a\n# parse = failed: too long\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n\n"
)
PTB = "(ROOT (S (N a) (VP (V b) (N c))))\n(FAILED (X a))\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    for name, text in (("source", "a b c\na\n"), ("t.conllu", CONLLU), ("t.ptb", PTB)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / "source"


def test_properties_of_both_kinds_of_trees(source: Path) -> None:
    trees = {"dependencies": source.parent / "t.conllu", "phrases": source.parent / "t.ptb"}
    measure_source_properties(source=source, output=source.parent / "out.arrow", **trees)
    columns, _ = read_sentence_columns(source.parent / "out.arrow")
    assert [*columns] == ["length", "phrase_depth", "depth", "dependency_length", "parse"]
    np.testing.assert_equal([*columns.values()], [[3, 1], [2, np.nan], [2, np.nan], [1.5, np.nan], [1, 0]])


def test_without_trees_only_the_length_is_written(source: Path) -> None:
    measure_source_properties(source=source, output=source.parent / "out.arrow")
    columns, _ = read_sentence_columns(source.parent / "out.arrow")
    assert {name: values.tolist() for name, values in columns.items()} == {"length": [3.0, 1.0]}


def test_trees_of_another_text_are_reported(source: Path) -> None:
    source.write_text("a\n")
    with pytest.raises(InputError, match=r"t\.ptb: the file has 2 sentences and the source has 1; give the files of"):
        measure_source_properties(source=source, output=source.parent / "out.arrow", phrases=source.parent / "t.ptb")
    assert not (source.parent / "out.arrow").exists()
