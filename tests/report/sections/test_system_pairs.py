"""Tests of the section on all pairs of systems."""

from pathlib import Path

import pytest

from pipeline_py.evaluation.compare_systems import compare_systems
from pipeline_py.report.sections.system_pairs import (
    build_difference_matrix,
    build_interval_tables,
    build_pair_table,
    summarize_differences,
)
from pipeline_py.report.tables.system_comparison import read_system_comparisons
from tests.evaluation.statistics_files import write_output_statistics
from tests.nested_files import group_by_system
from tests.report.comparison_files import ComparisonRow, write_comparisons

DISPLAY_NAMES = {"A": "first", "B": "second", "C": "third"}
SMALL = {"systems": (0.01, 0.03), "sign": (0.01, 0.03), "bootstrap": (0.01, 0.03), "randomization": (0.02, 0.04)}
ROWS = [
    ComparisonRow("B", "A", (31.0, 30.0), (60, 40, 2), SMALL),
    ComparisonRow("C", "A", (28.5, 30.0), (40, 60, 2), {**SMALL, "systems": (0.04, 0.08), "bootstrap": (0.04, 0.08)}),
]


def write_pairs(folder: Path, *rows: ComparisonRow) -> Path:
    return write_comparisons(folder / "comparisons.tsv", rows)


def test_matrix_has_every_pair_in_both_directions(tmp_path):
    table = build_difference_matrix(read_system_comparisons(write_pairs(tmp_path, *ROWS)), DISPLAY_NAMES, "dev")
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["1 first", "", "−1.00", "+1.50"],
        ["2 second", "+1.00", "", "–"],
        ["3 third", "−1.50", "–", ""],
    ]
    assert [[cell.marks for cell in row[1:]] for row in table.rows] == [
        ["", "↓sbr", "↑sr"],
        ["↑sbr", "", ""],
        ["↓sr", "", ""],
    ]
    shades = [[cell.shade for cell in row[1:]] for row in table.rows]
    assert shades[0][1] == pytest.approx(-1 / 1.5) and shades[1][0] == pytest.approx(1 / 1.5)
    assert shades[0][2] == shades[2][0] == 0, "not significant over runs"
    assert table.notes == [
        "Green: the row is significantly better; orange: the row is significantly worse (interval over sentences and "
        "runs, p < 0.05 after Holm's correction over all pairs of the table on the set).",
        "↑: the row is better than the column; ↓: the row is worse than the column in these outputs alone, by the "
        "tests whose letters follow (s: sign test; b: paired bootstrap; r: approximate randomization; p < 0.05 after "
        "Holm's correction over all pairs of the table on the set). These tests do not include variation between runs.",
    ]


def test_summary_names_significant_differences(tmp_path):
    unsure = ComparisonRow("C", "B", (28.5, 31.0), (49, 51, 2), dict.fromkeys(SMALL, (0.4, 0.8)))
    worse = ComparisonRow("D", "A", (20.0, 30.0), (10, 90, 2), SMALL)
    pairs = read_system_comparisons(write_pairs(tmp_path, *ROWS, unsure, worse))
    assert summarize_differences(pairs, DISPLAY_NAMES, "dev") == (
        "Of 4 differences in BLEU on dev, 2 are significant over sentences and runs after Holm's correction (second "
        "above first; first above D). In these outputs alone, without variation between runs, 2 are significant "
        "by all three tests, 1 by some, and 1 by none."
    )
    against = ComparisonRow("B", "A", (30.85, 30.0), (87, 188, 25), SMALL)
    assert summarize_differences(
        read_system_comparisons(write_pairs(tmp_path, unsure)), DISPLAY_NAMES, "dev"
    ).startswith("Of 1 difference in BLEU")
    assert " between runs, 0 are significant by all three tests, 1 by some" in summarize_differences(
        read_system_comparisons(write_pairs(tmp_path, against)), DISPLAY_NAMES, "dev"
    )
    many = [ComparisonRow(f"S{place}", "A", (31.0, 30.0), (60, 40, 2), SMALL) for place in range(11)]
    pairs = summarize_differences(read_system_comparisons(write_pairs(tmp_path, *many)), DISPLAY_NAMES, "dev")
    assert " 11 are significant over sentences and runs after Holm's correction. In" in pairs
    assert pairs.endswith(" 11 are significant by all three tests, 0 by some, and 0 by none.")


def test_summary_warns_if_tests_cannot_find_differences(tmp_path):
    """The smallest p-value of 10,000 samples, times 501 pairs, is above 0.05."""
    pairs = read_system_comparisons(write_pairs(tmp_path, ComparisonRow("B", "A", (31.0, 30.0), (60, 40, 2), SMALL)))
    assert "cannot find any" not in summarize_differences(pairs * 500, DISPLAY_NAMES, "dev")
    assert summarize_differences(pairs * 501, DISPLAY_NAMES, "dev").endswith(
        " With so many pairs, the paired bootstrap and approximate randomization cannot find any: their smallest "
        "p-values, 2/10,001 and 1/10,001, are above 0.05 after the correction."
    )


def test_note_states_disagreement_of_score_and_sign_test(tmp_path):
    """BLEU is higher, but more sentences are worse: the sign test has the opposite arrow."""
    path = write_pairs(tmp_path, ComparisonRow("B", "A", (30.85, 30.0), (87, 188, 25), SMALL))
    table = build_difference_matrix(read_system_comparisons(path), DISPLAY_NAMES, "dev")
    assert [[cell.text + cell.marks for cell in row[1:]] for row in table.rows] == [
        ["", "−0.85↑s ↓br"],
        ["+0.85↑br ↓s", ""],
    ]
    assert [cell.shade > 0 for cell in table.rows[1][1:]] == [True, False], "shaded by the score"
    *_, last = table.notes
    assert last == (
        "On dev, BLEU and the sign test disagree: BLEU of second is 0.85 higher than that of first, but sentence by "
        "sentence second is better in 87 and worse in 188 (p = 0.010, uncorrected)."
    )
    path = write_pairs(tmp_path, ComparisonRow("A", "B", (30.0, 30.85), (188, 87, 25), SMALL))
    assert build_difference_matrix(read_system_comparisons(path), DISPLAY_NAMES, "dev").notes[-1] == last, (
        "independent of the order of the pair"
    )
    path = write_pairs(tmp_path, ComparisonRow("B", "A", (30.85, 30.0), (87, 188, 25), SMALL | {"sign": (0.05, 0.05)}))
    assert not any(
        "disagree" in note
        for note in build_difference_matrix(read_system_comparisons(path), DISPLAY_NAMES, "dev").notes
    )


def test_small_significant_difference_is_shaded(tmp_path):
    small = ComparisonRow("C", "A", (30.01, 30.0), (60, 40, 2), SMALL)
    table = build_difference_matrix(
        read_system_comparisons(write_pairs(tmp_path, ROWS[0], small)), DISPLAY_NAMES, "dev"
    )
    assert [[abs(cell.shade) > 0.1 for cell in row[1:]] for row in table.rows] == [
        [False, True, True],
        [True, False, False],
        [True, False, False],
    ]


def test_notes_explain_only_marks_that_occur(tmp_path):
    sign = ComparisonRow("B", "A", (31.0, 30.0), (60, 40, 2), {"sign": (0.01, 0.03)})
    _, note = build_pair_table(read_system_comparisons(write_pairs(tmp_path, sign)), DISPLAY_NAMES, "dev").notes
    assert note == (
        "↑: the system is better than the other in these outputs alone, by the tests whose letters follow (s: sign "
        "test; p < 0.05 after Holm's correction over all pairs of the table on the set). These tests do not include "
        "variation between runs."
    )
    none = read_system_comparisons(
        write_pairs(tmp_path, ComparisonRow("B", "A", (31.0, 30.0), p_values={"sign": (0.01, 0.06)}))
    )
    assert build_difference_matrix(none, DISPLAY_NAMES, "dev").notes == [
        "No difference is significant over sentences and runs (p < 0.05 after Holm's correction over all pairs of the "
        "table on the set)."
    ]


def test_pair_in_both_orders_counts_once(tmp_path):
    pairs = read_system_comparisons(
        write_pairs(tmp_path, ROWS[0], ComparisonRow("A", "B", (30.0, 31.0), (40, 60, 2), SMALL))
    )
    assert len(pairs) == 1 and pairs[0].swap_systems().sentence_counts == (40, 60, 2)
    (row,) = build_pair_table(pairs, DISPLAY_NAMES, "dev").rows
    texts = [cell.text for cell in row]
    assert texts[:8] == [*("second", "first", "3 / 3", "31.00", "30.00", "+1.00", "+0.25 to +1.75", "+0.50 to +1.50")]
    assert texts[8:] == [*("60", "40", "2"), *("0.010", "0.030") * 3, *("0.020", "0.040")]
    assert row[5].marks == "↑sbr"


def test_tables_name_the_metric(tmp_path):
    path = write_pairs(tmp_path, ComparisonRow("B", "A", (71.0, 70.0), p_values=SMALL, metric="ribes"))
    assert build_difference_matrix(read_system_comparisons(path), DISPLAY_NAMES, "dev").title.startswith(
        "RIBES of the row minus RIBES of the column"
    )
    assert [column.head for column in build_pair_table(read_system_comparisons(path), DISPLAY_NAMES, "dev").columns][
        3:5
    ] == [
        "RIBES",
        "RIBES of other",
    ]


def test_intervals_have_one_scale_and_table_order(tmp_path):
    path = tmp_path / "intervals.tsv"
    path.write_text(
        "metric\tsystem\tscore\tlow\thigh\nbleu\tB\t31\t30\t32\nbleu\tA\t29\t28\t30\nribes\tA\t70\t69\t71\n"
    )
    bleu, ribes = build_interval_tables(path, DISPLAY_NAMES, "dev")
    first, second = bleu.rows
    assert [cell.text for cell in first[:3]] == ["first", "29.00", "28.00 to 30.00"]
    assert first[3].interval == pytest.approx((0, 25, 50)) and second[3].interval == pytest.approx((50, 75, 100))
    assert ribes.title.startswith("RIBES on dev") and len(ribes.rows) == 1


def test_lower_score_is_better_for_error_metrics(tmp_path: Path) -> None:
    pairs = read_system_comparisons(
        write_pairs(tmp_path, ComparisonRow("B", "A", (50.0, 60.0), (40, 10, 2), SMALL, metric="ter"))
    )
    (pair,) = pairs
    assert pair.get_significant_side("systems") == pair.get_significant_side("sign") == 1
    assert pair.swap_systems().get_significant_side("randomization") == -1
    table = build_difference_matrix(pairs, DISPLAY_NAMES, "dev")
    cells = [cell for row in table.rows for cell in row[1:] if cell.marks]
    assert [(cell.text[0], cell.marks, cell.shade > 0) for cell in cells] == [("+", "↓sbr", False), ("−", "↑sbr", True)]
    caption = build_pair_table(pairs, DISPLAY_NAMES, "dev").title
    assert "TER of the set falls (better), rises (worse) or stays" in caption and "with the lower TER." in caption


def test_note_states_assumed_run_deviation(tmp_path: Path) -> None:
    rows = [ComparisonRow("B", "A", (31.0, 30.0), p_values=SMALL, runs=(3, 1), run_deviation_from="pooled")]
    pairs = read_system_comparisons(write_pairs(tmp_path, *rows))
    assert build_difference_matrix(pairs, DISPLAY_NAMES, "dev").notes[-1] == (
        "For a system with a single run, the tests assume a standard deviation of 0.6 BLEU between runs (pooled over "
        "the systems of the table that have several runs)."
    )
    assert pairs[0].swap_systems().run_counts == (1, 3)


def test_pair_without_inference_has_difference_without_marks(tmp_path: Path) -> None:
    (pair,) = read_system_comparisons(write_pairs(tmp_path, ROWS[0]))
    untrained = pair.remove_inference()
    (row,) = build_pair_table([untrained], DISPLAY_NAMES, "dev").rows
    assert [cell.text for cell in row][5:8] == ["+1.00", "–", "–"] and {cell.text for cell in row[11:]} == {"–"}
    assert row[5].marks == "" and build_difference_matrix([untrained], DISPLAY_NAMES, "dev").rows[0][2].shade == 0
    assert summarize_differences([untrained], DISPLAY_NAMES, "dev").startswith(
        "No difference in BLEU on dev can be tested"
    )


def test_small_set_has_scores_without_intervals(tmp_path: Path) -> None:
    words = ["the", "cat", "sat", "on", "a", "mat", "today"]
    reference = [" ".join(words[place:] + words[:place]) for place in range(7)]
    outputs = {"A": [line.replace("cat", "dog") for line in reference], "B": reference}
    statistics = group_by_system(write_output_statistics(tmp_path, outputs, [reference], ["bleu"]))
    comparisons_path, intervals_path = tmp_path / "pairs.tsv", tmp_path / "intervals.tsv"
    compare_systems(
        statistics=statistics,
        metrics=["bleu"],
        comparisons_output=comparisons_path,
        intervals_output=intervals_path,
        run_deviation={"bleu": 0.6},
        samples=50,
        trials=50,
        fewest_sentences=8,
    )
    (sheet,) = build_interval_tables(intervals_path, DISPLAY_NAMES, "dev")
    assert sheet.title == "BLEU on dev. The set is too small for confidence intervals."
    assert [row[0].text for row in sheet.rows] == ["first", "second"] and sheet.rows[1][1].text == "100.00"
    assert all(len(row) == 2 and row[1].interval is None for row in sheet.rows)
    pairs = read_system_comparisons(comparisons_path)
    table = build_difference_matrix(pairs, DISPLAY_NAMES, "dev")
    assert table.notes == [], "no notes on significance or run deviation"
    assert [[cell.marks for cell in row[1:]] for row in table.rows] == [["", ""], ["", ""]]
    assert {cell.text for cell in build_pair_table(pairs, DISPLAY_NAMES, "dev").rows[0][6:]} == {"–"}
    assert summarize_differences(pairs, DISPLAY_NAMES, "dev") == (
        "No difference in BLEU on dev can be tested: the set is too small, or systems are untrained."
    )


def test_swap_systems_reverses_all_fields(tmp_path: Path) -> None:
    row = ComparisonRow("B", "A", (31.5, 30.0), (60, 40, 2), SMALL, runs=(3, 1))
    (pair,) = read_system_comparisons(write_pairs(tmp_path, row))
    swapped = pair.swap_systems()
    assert (swapped.system, swapped.other_system, swapped.run_counts, swapped.scores) == (
        "A",
        "B",
        (1, 3),
        (30.0, 31.5),
    )
    assert (swapped.difference, swapped.interval, swapped.outputs_interval) == (-1.5, (-2.25, -0.75), (-2.0, -1.0))
    assert (
        swapped.sentence_counts == (40, 60, 2) and swapped.p_values == pair.p_values and swapped.swap_systems() == pair
    )


def test_note_states_range_of_run_deviations(tmp_path: Path) -> None:
    rows = [
        ComparisonRow(name, "A", (31.0, 30.0), p_values=SMALL, runs=(1, 1), run_deviation_from="pooled")
        for name in "BC"
    ]
    path = write_pairs(tmp_path, *rows, ComparisonRow("C", "B", (31.0, 31.0), p_values=SMALL))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2].replace("\t0.6\t", "\t0.25\t"), *lines[3:]]) + "\n")
    note = build_difference_matrix(read_system_comparisons(path), DISPLAY_NAMES, "dev").notes[-1]
    assert "assume a standard deviation of 0.25 to 0.6 BLEU between runs (pooled over" in note
