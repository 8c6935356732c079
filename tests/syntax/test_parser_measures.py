"""Tables of measures and accuracies, written and read by others."""

from pathlib import Path

import pandas
import pytest

from pipeline_py.syntax.parser_measures import AccuracyRow, format_undivided_warning, read_accuracy_rows, write_measures

TABLE = [AccuracyRow("UAS", "90.10", "5", "9"), AccuracyRow("failed parses", "0", "5", "9")]


def test_others_read_it(tmp_path: Path) -> None:
    write_measures(tmp_path / "t", TABLE, AccuracyRow._fields)
    found = pandas.read_csv(tmp_path / "t", sep="\t", dtype=str)
    assert [*found.columns] == ["metric", "value", "sentences", "words"]
    assert [tuple(row) for row in found.to_numpy()] == TABLE
    assert read_accuracy_rows(tmp_path / "t") == TABLE


def test_columns_in_any_order_and_number(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("value\tsource\tmetric\n1\tx\tLAS\n2\ty\n")
    assert read_accuracy_rows(tmp_path / "t") == [AccuracyRow("LAS", "1"), AccuracyRow("", "2")]


@pytest.mark.parametrize("cell", ["1\r2", 'a "quoted" word', '"', "x" * 200_000])
def test_whatever_stands_between_tabs_is_a_cell(tmp_path: Path, cell: str) -> None:
    (tmp_path / "t").write_bytes(f"metric\tvalue\n{cell}\t2\n".encode())
    assert read_accuracy_rows(tmp_path / "t") == [AccuracyRow(cell, "2")]


def test_pandas_reads_what_is_written(tmp_path: Path) -> None:
    rows = [("train", "dependency", "UAS", "1.00"), ("all", "constituency", 'failed: "x\u2028" y', "")]
    write_measures(tmp_path / "t", iter(rows))
    found = pandas.read_csv(tmp_path / "t", sep="\t", dtype=str, keep_default_na=False)
    assert [*found.columns] == ["split", "trees", "measure", "value"]
    assert [tuple(row) for row in found.to_numpy()] == rows
    write_measures(tmp_path / "t", [])
    assert (tmp_path / "t").read_text() == "split\ttrees\tmeasure\tvalue\n"


@pytest.mark.parametrize(
    ("number", "share", "is_warned_of"), [("63", "57.14", True), ("313", "3.83", False), ("19", "100.00", False)]
)
def test_warning_of_multiword_tokens_left_whole(number: str, share: str, is_warned_of: bool) -> None:
    table = [
        AccuracyRow("multi-word tokens (raw text)", number),
        AccuracyRow("multi-word tokens left whole (%) (raw text)", share),
    ]
    warning = format_undivided_warning(table)
    assert (warning is not None) is is_warned_of
    assert warning is None or warning.startswith("57 % of the 63 multi-word tokens of the test text are left whole")
    assert format_undivided_warning(TABLE) is None
