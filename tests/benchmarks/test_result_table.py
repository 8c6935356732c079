"""Files of tables contain all measured numbers, and printed tables mark missing ones."""

import csv
from pathlib import Path

import pytest

from benchmarks import result_table
from benchmarks.rounds import NOT_MEASURED, MedianAndRange
from pipeline_py.run.errors import InputError

ROWS = [
    {"side": "ours", "rate": MedianAndRange(2000.0, 1900.5, 2100.0), "to_peer": NOT_MEASURED, "parameters": 14_350_167},
    {
        "side": "another",
        "rate": MedianAndRange(10.0, 9.0, 11.0),
        "to_peer": MedianAndRange(0.5, 0.25, 1.0),
        "parameters": 7,
    },
]


def test_a_file_has_a_column_for_each_number(tmp_path: Path) -> None:
    result_table.write_table(tmp_path / "table.tsv", ROWS)
    with (tmp_path / "table.tsv").open(encoding="utf-8") as file:
        ours, peer = csv.DictReader(file, delimiter="\t")
    assert ours["side"] == "ours" and ours["parameters"] == "14350167"
    assert [float(ours[name]) for name in ("rate", "rate_lowest", "rate_highest")] == [2000.0, 1900.5, 2100.0]
    assert [ours[name] for name in ("to_peer", "to_peer_lowest", "to_peer_highest")] == ["", "", ""]
    assert [float(peer[name]) for name in ("to_peer", "to_peer_lowest", "to_peer_highest")] == [0.5, 0.25, 1.0]


def test_a_printed_table_has_medians_and_ranges(capsys: pytest.CaptureFixture[str]) -> None:
    result_table.print_table(ROWS, {"side": ("", ""), "rate": ("words/s", ",.0f"), "to_peer": ("ratio", ".2f")})
    head, ours, peer, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == ["words/s", "ratio"]
    assert ours.split() == ["ours", "2,000", "(1,900–2,100)", "–"]
    assert peer.split() == ["another", "10", "(9–11)", "0.50", "(0.25–1.00)"]
    assert len(head) == len(ours) == len(peer)


def test_rows_are_appended_to_a_file_of_the_same_columns(tmp_path: Path) -> None:
    path = tmp_path / "results" / "table.tsv"
    for row in ({"name": "a", "rate": 1.5}, {"name": "b", "rate": float("nan")}):
        result_table.append_row(path, row)
    assert path.read_text(encoding="utf-8") == "name\trate\na\t1.5\nb\t\n"
    with pytest.raises(InputError, match="other columns"):
        result_table.append_row(path, {"name": "c"})
    assert path.read_text(encoding="utf-8").count("\n") == 3
