"""Tables are read back as they were measured, and people see what was not."""

import csv
from pathlib import Path

import pytest

from benchmarks import result_table
from benchmarks.rounds import NOT_MEASURED, MedianAndRange

ROWS = [
    {"side": "ours", "rate": MedianAndRange(2000.0, 1900.5, 2100.0), "to_peer": NOT_MEASURED, "parameters": 14_350_167},
    {
        "side": "another",
        "rate": MedianAndRange(10.0, 9.0, 11.0),
        "to_peer": MedianAndRange(0.5, 0.25, 1.0),
        "parameters": 7,
    },
]


def test_a_file_has_a_column_for_each_number_and_nothing_where_nothing_was_measured(tmp_path: Path) -> None:
    result_table.write_table(tmp_path / "table.tsv", ROWS)
    with (tmp_path / "table.tsv").open(encoding="utf-8") as file:
        ours, another = csv.DictReader(file, delimiter="\t")
    assert ours["side"] == "ours" and ours["parameters"] == "14350167"
    assert [float(ours[name]) for name in ("rate", "rate_lowest", "rate_highest")] == [2000.0, 1900.5, 2100.0]
    assert [ours[name] for name in ("to_peer", "to_peer_lowest", "to_peer_highest")] == ["", "", ""]
    assert [float(another[name]) for name in ("to_peer", "to_peer_lowest", "to_peer_highest")] == [0.5, 0.25, 1.0]


def test_people_see_medians_with_their_spread(capsys: pytest.CaptureFixture[str]) -> None:
    result_table.print_table(ROWS, {"side": ("", ""), "rate": ("words/s", ",.0f"), "to_peer": ("ratio", ".2f")})
    head, ours, another, *_ = capsys.readouterr().out.splitlines()
    assert head.split() == ["words/s", "ratio"]
    assert ours.split() == ["ours", "2,000", "(1,900–2,100)", "–"]
    assert another.split() == ["another", "10", "(9–11)", "0.50", "(0.25–1.00)"]
    assert len(head) == len(ours) == len(another)
