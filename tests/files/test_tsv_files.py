"""Tests of TSV files: they are read as they were written, with any characters in cells."""

from pathlib import Path

from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.report.stage_results import read_tsv


def test_quotation_marks_stay_and_separators_become_spaces(tmp_path: Path) -> None:
    write_tsv(tmp_path / "table.tsv", ["kind", "value"], [('say "x"', 1.5), ("a\tb\r\nc", None), ('"', True)])
    table = read_tsv(tmp_path / "table.tsv", number_columns=[])
    assert table["kind"].to_list() == ['say "x"', "a b  c", '"']
    assert table["value"].to_list() == ["1.5", "", "True"]
