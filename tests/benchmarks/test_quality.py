"""The time to reach a level of BLEU agrees with interpolation by hand."""

from math import isnan

import pytest

from benchmarks.quality import compute_level_times


def build_curve(side: str, toolkit: str, points: list[tuple[float, float]]) -> list[dict]:
    constants = {"side": side, "toolkit": toolkit, "precision": "float32", "parameters": 5}
    return [
        {**constants, "epoch": epoch, "cpu_minutes": minutes, "bleu": bleu}
        for epoch, (minutes, bleu) in enumerate(points, start=1)
    ]


CURVES = [
    build_curve("A", "arbitree", [(2.0, 10.0), (4.0, 30.0), (6.0, 34.0)]),
    build_curve("B", "opennmt", [(5.0, 20.0), (10.0, 30.0), (15.0, 28.0), (20.0, 36.0)]),
    build_curve("C", "joeynmt", [(1.0, 2.0), (2.0, 4.0)]),
]


def test_minutes_are_interpolated_and_divided_by_those_of_the_faster_peer() -> None:
    rows = {(row["side"], row["level"]): row for row in compute_level_times(CURVES, [33.0, 30.0])}
    assert rows["A", 30.0]["cpu_minutes"] == 4.0 and rows["A", 30.0]["epochs"] == 2
    assert rows["A", 33.0]["cpu_minutes"] == pytest.approx(4 + 2 * 3 / 4) and rows["A", 33.0]["epochs"] == 2.75
    assert rows["B", 33.0]["cpu_minutes"] == pytest.approx(15 + 5 * 5 / 8) and rows["B", 33.0]["epochs"] == 3.625
    assert rows["A", 30.0]["to_faster_peer"] == pytest.approx(0.4) and rows["B", 30.0]["to_faster_peer"] == 1
    assert [row["level"] for row in compute_level_times(CURVES, [33.0, 30.0])] == [30.0] * 3 + [33.0] * 3


def test_a_level_that_is_never_reached_has_no_time() -> None:
    rows = {(row["side"], row["level"]): row for row in compute_level_times(CURVES, [30.0, 35.0])}
    assert isnan(rows["C", 30.0]["cpu_minutes"]) and rows["C", 30.0]["epochs"] == 2
    assert isnan(rows["A", 35.0]["cpu_minutes"]) and rows["B", 35.0]["to_faster_peer"] == 1
    assert all(isnan(row["to_faster_peer"]) for row in compute_level_times(CURVES[:1], [30.0]))


def test_the_first_epoch_is_interpolated_from_zero() -> None:
    (row,) = compute_level_times([build_curve("A", "arbitree", [(2.0, 40.0)])], [10.0])
    assert row["cpu_minutes"] == 0.5 and row["epochs"] == 0.25
