"""Tests of tables of measures and accuracies."""

from pathlib import Path

import pandas
import pytest

from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.syntax.parser_measures import AccuracyRow, format_undivided_warning, read_accuracy_rows

ACCURACY_ROWS = [AccuracyRow("UAS", "90.10", "5", "9"), AccuracyRow("failed parses", "0", "5", "9")]


def test_pandas_reads_accuracy_tables(tmp_path: Path) -> None:
    write_tsv(tmp_path / "t", AccuracyRow._fields, ACCURACY_ROWS)
    table = pandas.read_csv(tmp_path / "t", sep="\t", dtype=str)
    assert [*table.columns] == ["metric", "value", "sentences", "words"]
    assert [tuple(row) for row in table.to_numpy()] == ACCURACY_ROWS
    assert read_accuracy_rows(tmp_path / "t") == ACCURACY_ROWS


def test_columns_may_have_any_order_and_number(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("value\tsource\tmetric\n1\tx\tLAS\n2\ty\n")
    assert read_accuracy_rows(tmp_path / "t") == [AccuracyRow("LAS", "1"), AccuracyRow("", "2")]


@pytest.mark.parametrize("cell", ["1\r2", 'a "quoted" word', '"', "x" * 200_000])
def test_cells_may_contain_any_characters(tmp_path: Path, cell: str) -> None:
    (tmp_path / "t").write_bytes(f"metric\tvalue\n{cell}\t2\n".encode())
    assert read_accuracy_rows(tmp_path / "t") == [AccuracyRow(cell, "2")]


@pytest.mark.parametrize(
    ("number", "share", "has_warning"), [("63", "57.14", True), ("313", "3.83", False), ("19", "100.00", False)]
)
def test_many_undivided_multiword_tokens_give_a_warning(number: str, share: str, has_warning: bool) -> None:
    table = [
        AccuracyRow("multi-word tokens (raw text)", number),
        AccuracyRow("multi-word tokens left whole (%) (raw text)", share),
    ]
    warning = format_undivided_warning(table)
    assert (warning is not None) is has_warning
    assert warning is None or warning.startswith("57 % of the 63 multi-word tokens of the test text are left whole")
    assert format_undivided_warning(ACCURACY_ROWS) is None
