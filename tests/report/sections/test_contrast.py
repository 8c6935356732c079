"""Tests of the section on contrastive sets."""

from pipeline_py.evaluation import measure_contrastive_accuracy as stage
from pipeline_py.report.sections.contrast import (
    ACCURACY_COLUMNS,
    COMPARISON_COLUMNS,
    COUNT_COLUMNS,
    build_comparison_table,
    describe_ties,
    read_accuracy_groups,
    read_set_accuracies,
)

DISPLAY_NAMES = {"Base": "Base", "Mine": "Ours"}


def write_rows(path, columns, *rows):
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in (columns, *rows)), encoding="utf-8")
    return path


def write_accuracies(path, *rows):
    """Write rows of (grouping, group, pairs), with the same numbers for both systems."""
    return write_rows(
        path,
        stage.CONTRAST_ACCURACY_COLUMNS,
        *((*row, system, 62.5, "", 50, 70, ties) for row in rows for system, ties in TIES),
    )


TIES = (("Base", 0.0), ("Mine", 2.5))


def test_columns_match_those_of_the_stage():
    assert {*ACCURACY_COLUMNS, "pairs"} <= {*stage.CONTRAST_ACCURACY_COLUMNS}
    assert {"system", "other", *COMPARISON_COLUMNS, *COUNT_COLUMNS} == {*stage.CONTRAST_COMPARISON_COLUMNS}


def test_read_set_accuracies_reads_all_sets(tmp_path):
    files = {"one": write_accuracies(tmp_path / "1", ("all", "all", 40), ("kind", "k", 40))}
    files["two"] = write_accuracies(tmp_path / "2", ("all", "all", 1200))
    groups, ties = read_set_accuracies(files)
    assert groups.group_sizes == {"one": "40", "two": "1200"}
    assert groups.values == {(system, set_name): 62.5 for system in ("Base", "Mine") for set_name in files}
    assert groups.intervals["Mine", "two"] == (50, 70)
    assert describe_ties(ties, DISPLAY_NAMES) == [
        f"Pairs of {set_name} with two equally likely translations, which count as wrong: Ours 2.5."
        for set_name in files
    ]
    assert describe_ties({("Base", "one"): 0.0}, DISPLAY_NAMES) == []


def test_read_accuracy_groups_omits_single_groups(tmp_path):
    rows = [("all", "all", 40), ("kind", "gender", 40), ("distance", "1", 30), ("distance", ">15", 10)]
    (groups,) = read_accuracy_groups(write_accuracies(tmp_path / "x", *rows))
    assert (groups.grouping_label, groups.group_sizes) == (
        "Distance of the words that have to agree",
        {"1": "30", ">15": "10"},
    )
    assert groups.is_drawn and groups.named_bound == "upper"
    kinds, _ = read_accuracy_groups(write_accuracies(tmp_path / "x", *rows, ("kind", "number", 3)))
    assert kinds.group_sizes == {"gender": "40", "number": "3"} and not kinds.is_drawn and kinds.named_bound == ""


def test_comparison_table_has_counts_and_p_values(tmp_path):
    row = ("Mine", "Base", 62.5, 60, 2.5, 30, 29, 41, 0.0312, 1.0)
    sheet = build_comparison_table(
        write_rows(tmp_path / "x", stage.CONTRAST_COMPARISON_COLUMNS, row), DISPLAY_NAMES, "one"
    )
    assert [cell.text for cell in sheet.rows[0]] == [
        *("Ours", "Base", "62.50", "60.00", "+2.50", "30", "29", "41"),
        *("0.031", "1.000"),
    ]
    assert [cell.bold for cell in sheet.rows[0][-2:]] == [True, False]
    assert "the number of source sentences of which the system gets more pairs right (better)" in sheet.title
