"""All pairs of systems: each once in the file, both ways in the matrix."""

from pathlib import Path

import pytest

from pipeline_py.report.pairs import COLUMNS, intervals, listing, matrix, read_pairs
from pipeline_py.stage import InputError

CALLED = {"A": "first", "B": "second", "C": "third"}
ROWS = [
    "B\tA\t31.0\t30.0\t1.0\t0.5\t1.5\t60\t40\t2\t0.01\t0.03\t0.01\t0.03\t0.02\t0.04",
    "C\tA\t28.5\t30.0\t-1.5\t-3.0\t0.1\t40\t60\t2\t0.02\t0.04\t0.04\t0.08\t0.0001\t0.0003",
]


def comparisons(folder: Path, *rows: str) -> Path:
    path = folder / "comparisons.tsv"
    path.write_text("\n".join(["\t".join(COLUMNS), *rows]) + "\n")
    return path


def test_a_matrix_has_every_pair_both_ways(tmp_path):
    table = matrix(read_pairs(comparisons(tmp_path, *ROWS)), CALLED, "dev")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["1 first", "", "−1.00", "+1.50"],
        ["2 second", "+1.00", "", "–"],
        ["3 third", "−1.50", "–", ""],
    ]
    assert [[cell.marks for cell in row[1:]] for row in table.rows] == [
        ["", "sbr", "sr"],
        ["sbr", "", ""],
        ["sr", "", ""],
    ]
    shades = [[cell.shade for cell in row[1:]] for row in table.rows]
    assert shades[0][1] == pytest.approx(-1 / 1.5) and shades[1][0] == pytest.approx(1 / 1.5)
    assert shades[0][2] == shades[2][0] == 0, "the tests do not agree"


def test_a_pair_counts_once(tmp_path):
    turned = "A\tB\t30.0\t31.0\t-1.0\t-1.5\t-0.5\t40\t60\t2\t0.01\t0.03\t0.01\t0.03\t0.02\t0.04"
    pairs = read_pairs(comparisons(tmp_path, ROWS[0], turned))
    assert len(pairs) == 1 and pairs[0].reversed().counts == (40, 60, 2)
    (row,) = listing(pairs, CALLED, "dev").rows
    texts = [cell.text for cell in row]
    assert texts[:9] == ["second", "first", "31.00", "30.00", "+1.00", "+0.50 to +1.50", "60", "40", "2"]
    assert texts[9:] == ["0.010", "0.030", "0.010", "0.030", "0.020", "0.040"]


def test_intervals_are_drawn_to_one_scale_in_the_order_of_the_table(tmp_path):
    path = tmp_path / "intervals.tsv"
    path.write_text("system\tbleu\tlow\thigh\nB\t31\t30\t32\nA\t29\t28\t30\n")
    first, second = intervals(path, CALLED, "dev").rows
    assert [cell.text for cell in first[:3]] == ["first", "29.00", "28.00 to 30.00"]
    assert first[3].interval == pytest.approx((0, 25, 50)) and second[3].interval == pytest.approx((50, 75, 100))


def test_what_is_no_number_is_refused(tmp_path):
    with pytest.raises(InputError, match="difference is no number but 'many'"):
        read_pairs(comparisons(tmp_path, ROWS[0].replace("\t1.0\t", "\tmany\t")))
