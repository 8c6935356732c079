"""Tests of sections on scores by groups."""

import re
from pathlib import Path

import pytest

from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.line_figure import LINE_FIGURE_STYLE, get_line_style
from pipeline_py.report.grouped_scores import build_group_table as table_of
from pipeline_py.report.grouped_scores import (
    describe_group_sizes,
    has_several_groups,
    render_group_figure,
)
from pipeline_py.report.sections.sentence_groups import read_breakdown
from pipeline_py.report.sections.sentence_scores import read_sentence_scores
from pipeline_py.report.sections.words import read_word_accuracies
from pipeline_py.report.tables.sheet import Sheet

DISPLAY_NAMES = {"Base": "The base", "Mine": "Ours"}


def write_rows(folder: Path, text: str) -> Path:
    path = folder / "groups.tsv"
    path.write_text("".join("\t".join(line.split(",")) + "\n" for line in text.split()), encoding="utf-8")
    return path


def texts(table: Sheet) -> list[list[str]]:
    return [[column.head for column in table.columns], *([cell.text for cell in row] for row in table.rows)]


HEADER = "by,bucket,sentences,system,bleu,bleu_low,bleu_high"


def test_length_groups_are_named_by_upper_bound(tmp_path):
    rows = f"{HEADER} length,10,1200,Base,1.5,1,2 length,20,17,Base,2,0.5,3.5 length,20,17,Mine,3,2,4.06"
    rows += " parse,parsed,1217,Base,4,3,5"
    length, parse = read_breakdown(write_rows(tmp_path, rows), ["bleu"])
    assert (has_several_groups(length), has_several_groups(parse)) == (True, False)
    assert describe_group_sizes([length, parse], "dev", 10) == [
        "Parse, dev: all 1,217 sentences are in one group, parsed."
    ]
    shown = table_of(length, DISPLAY_NAMES, "dev")
    assert shown.title == (
        "BLEU by words of the source on dev; groups are named by their upper bound; column heads have the number of "
        "sentences in brackets; cells have 95 % intervals over the "
        "sentences of these runs in brackets."
    )
    assert texts(shown) == [
        ["System", "10 (1,200)", "20 (17)"],
        ["The base", "1.50 (1.0 to 2.0)", "2.00 (0.5 to 3.5)"],
        ["Ours", "–", "3.00 (2.0 to 4.1)"],
    ]


def test_small_groups_are_hidden_and_described(tmp_path):
    rows = f"{HEADER} length,10,1200,Base,1.5,1,2 length,20,17,Base,2,1,3 length,30,2,Base,90,0,100"
    rows += " length,40,1,Base,0,0,0 depth,2,9,Base,3,2,4 depth,3,1211,Base,3,2,4 parse,parsed,4,Base,3,2,4"
    length, depth, parse = (
        groups.remove_small_groups(10) for groups in read_breakdown(write_rows(tmp_path, rows), ["bleu"])
    )
    assert texts(table_of(length, DISPLAY_NAMES, "dev"))[0] == ["System", "10 (1,200)", "20 (17)"]
    assert [has_several_groups(groups) for groups in (length, depth, parse)] == [True, False, False]
    assert describe_group_sizes([length, depth, parse], "dev", 10) == [
        "Words of the source, dev: 3 sentences in groups smaller than 10 are not shown.",
        "Depth of the dependency tree, dev: 1,211 sentences are in one group, 3; "
        "9 sentences in a group smaller than 10 are not shown.",
        "Parse, dev: 4 sentences in a group smaller than 10 are not shown.",
    ]
    assert all(
        groups.remove_small_groups(1) == groups for groups in (read_breakdown(write_rows(tmp_path, rows), ["bleu"]))
    )


def test_word_groups_have_no_bounds(tmp_path):
    rows = "frequency,system,f1,f1_low,f1_high,words 0,Base,50,40,60,30 1,Base,60,59,61,40 2,Base,9,8,10,1"
    (words,) = (groups.remove_small_groups(10) for groups in read_word_accuracies(write_rows(tmp_path, rows)))
    shown = table_of(words, DISPLAY_NAMES, "dev")
    assert shown.title.endswith(
        "on dev; column heads have the number of words in brackets; cells have 95 % intervals over the "
        "sentences of these runs in brackets."
    )
    assert texts(shown) == [
        ["System", "0 (30)", "1 (40)"],
        ["The base", "50.00 (40.0 to 60.0)", "60.00 (59.0 to 61.0)"],
    ]
    assert describe_group_sizes([words], "dev", 10) == [
        "Frequency in the training text, dev: 1 word in a group smaller than 10 is not shown."
    ]


def test_figure_has_interval_bars_at_points(tmp_path):
    rows = f"{HEADER} length,10,1200,Base,1.5,1,2 length,20,17,Base,2,0.5,3.5 length,10,1200,Mine,3,2,4"
    (length,) = read_breakdown(write_rows(tmp_path, rows), ["bleu"])
    with figure_files.use_style(LINE_FIGURE_STYLE):
        figure = render_group_figure(length, {"Base": get_line_style(0), "Mine": get_line_style(1)}, "dev", "name")
    assert figure.title == (
        "BLEU by words of the source on dev: a line for each system, with bars for 95 % intervals over the sentences "
        "of these runs"
    )
    bars = re.findall(r'd="M ([-\d.]+) ([-\d.]+)\s+L ([-\d.]+) ([-\d.]+)\s*"[^>]*stroke-opacity: 0.7', figure.markup)
    assert len(bars) == 3 and all(bar[0] == bar[2] for bar in bars), "vertical, one for each score"
    lengths = [float(bar[1]) - float(bar[3]) for bar in bars]
    assert lengths[1] / lengths[0] == pytest.approx(3, rel=0.01) and lengths[2] / lengths[0] == pytest.approx(
        2, rel=0.01
    )


def test_sentence_scores_have_percentages_by_system(tmp_path):
    rows = "by,bucket,system,other,percent score,0,Base,,25 score,90,Base,,75 score,0,Mine,,0 score,90,Mine,,100"
    rows += " difference,lower,Mine,Base,20 difference,equal,Mine,Base,30 difference,higher,Mine,Base,50"
    scores, differences = read_sentence_scores(write_rows(tmp_path, rows), DISPLAY_NAMES)
    assert scores.is_drawn and not differences.is_drawn
    shown = table_of(scores, DISPLAY_NAMES, "dev")
    assert shown.title == ("Percent of sentences by sentence chrF on dev; groups are named by their lower bound.")
    assert texts(shown) == [["System", "0", "90"], ["The base", "25.00", "75.00"], ["Ours", "0.00", "100.00"]]
    shown = table_of(differences, DISPLAY_NAMES, "dev")
    assert shown.title == "Percent of sentences by chrF compared with The base on dev."
    assert texts(shown) == [["System", "lower", "equal", "higher"], ["Ours", "20.00", "30.00", "50.00"]]


def test_single_system_has_no_difference_groups(tmp_path):
    (scores,) = read_sentence_scores(
        write_rows(tmp_path, "by,bucket,system,other,percent score,0,Base,,100"), DISPLAY_NAMES
    )
    assert scores.is_drawn


def test_every_metric_has_groups(tmp_path):
    rows = f"{HEADER},ter,ter_sd,ter_low,ter_high length,10,12,Base,1.5,1,2,60,,50,70"
    bleu, ter = read_breakdown(write_rows(tmp_path, rows), ["bleu", "ter"])
    assert (bleu.measure_label, ter.measure_label, ter.values, ter.intervals) == (
        "BLEU",
        "TER",
        {("Base", "10"): 60.0},
        {("Base", "10"): (50.0, 70.0)},
    )
