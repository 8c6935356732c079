"""A table of measures, read by pandas."""

from pathlib import Path

import pandas

from pipeline_py.syntax.measure_table import write_measures


def test_pandas_reads_what_is_written(tmp_path: Path) -> None:
    rows = [("train", "dependency", "UAS", "1.00"), ("all", "constituency", 'failed: "x\u2028" y', "")]
    write_measures(tmp_path / "t", iter(rows))
    found = pandas.read_csv(tmp_path / "t", sep="\t", dtype=str, keep_default_na=False)
    assert [*found.columns] == ["split", "trees", "measure", "value"]
    assert [tuple(row) for row in found.to_numpy()] == rows
    write_measures(tmp_path / "t", [])
    assert (tmp_path / "t").read_text() == "split\ttrees\tmeasure\tvalue\n"
