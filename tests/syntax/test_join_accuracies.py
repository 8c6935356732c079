"""Tests of joining accuracy tables."""

from pathlib import Path

from pipeline_py.syntax.join_accuracies import join_accuracies

HEADER = "metric\tvalue\tsentences\twords\n"


def test_rows_of_all_tables_are_joined(tmp_path: Path) -> None:
    (tmp_path / "conllu").write_text(f"{HEADER}UAS\t90.00\t5\t40\nLAS\t80.00\t5\t40\n")
    (tmp_path / "ptb").write_text(f"{HEADER}bracket F1\t70.00\t6\t50\n")
    join_accuracies(input=[tmp_path / "conllu", tmp_path / "ptb"], output=tmp_path / "all")
    joined = f"{HEADER}UAS\t90.00\t5\t40\nLAS\t80.00\t5\t40\nbracket F1\t70.00\t6\t50\n"
    assert (tmp_path / "all").read_text() == joined
