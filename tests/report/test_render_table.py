"""Tests of tables, with the scores of Table 1 of the SDAtt paper."""

import csv
import json
import random
from itertools import combinations, permutations
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from pipeline_py.evaluation.compare_systems import compare_systems
from pipeline_py.evaluation.compute_bleu_ceiling import CEILING_COLUMNS as COLUMNS_OF_CEILINGS
from pipeline_py.evaluation.judge_claims import EXCLUSION_COLUMNS
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.report.render_table import render_table
from pipeline_py.report.tables.system_comparison import SYSTEM_COMPARISON_COLUMNS
from pipeline_py.run.errors import InputError
from tests.evaluation.statistics_files import write_output_statistics
from tests.nested_files import get_table_outputs, group_by_kind, group_by_system
from tests.report.comparison_files import ComparisonRow, write_comparisons
from tests.report.score_statistics import write_statistics

TESTS = ["NIST03", "NIST04", "NIST05", "NIST06", "NIST08"]
PAPER = {
    "PBSMT": ([33.15, 31.02, 33.78, 30.33, 29.62, 23.53], "29.66"),
    "GlobalAtt": ([37.12, 35.24, 37.49, 34.60, 32.48, 26.32], "33.23"),
    "Chen et al. (2017)": ([37.42, 35.98, 38.34, 35.28, 33.58, 27.23], "34.08"),
    "LocalAtt": ([37.31, 35.57, 37.85, 34.93, 32.74, 26.83], "33.58"),
    "FlexAtt": ([37.19, 35.46, 37.81, 34.76, 32.83, 26.71], "33.51"),
    "SDAtt": ([38.01, 36.67, 38.66, 35.74, 34.03, 27.66], "34.55"),
}
SIGNATURE = "nrefs:4|case:lc|eff:no|tok:13a|smooth:exp|version:2.6.0"
PUBLISHED = Path(__file__).parents[2] / "workflow/published/sdatt.tsv"


def mean(value: float | list[float]) -> float:
    return fmean(value) if isinstance(value, list) else value


class Inputs:
    """Input files of a table, written on demand, and the arguments of the stage."""

    def __init__(self, folder: Path, scores: dict[str, list[Any]], sets: list[str]) -> None:
        self.folder = folder
        self.scores = scores
        self.sets = sets
        self.signatures = dict.fromkeys(((row, name) for row in scores for name in sets), SIGNATURE)
        self.p_values: dict[tuple[str, str, str], float] = {}
        self.counts: dict[tuple[str, str, str], tuple[int, int, int]] = {}
        self.dev = "dev"
        self.notes: list[str] = []
        self.files: dict[str, Path] = {}

    def arguments(self, **changed: Any) -> dict[str, Any]:
        files: dict[str, Path] = {}
        for row, values in self.scores.items():
            runs = zip(*(value if isinstance(value, list) else [value] for value in values), strict=True)
            for run, run_scores in enumerate(runs):
                for name, value in zip(self.sets, run_scores, strict=True):
                    path = self.folder / f"{len(files)}.arrow"
                    write_statistics(path, {"bleu": value}, self.signatures[row, name])
                    files[f"statistics:{row}:seed{run}:{name}"] = path
        for place, name in enumerate(self.sets[1:], start=1):
            rows = [
                ComparisonRow(
                    system,
                    other_system,
                    (mean(self.scores[system][place]), mean(self.scores[other_system][place])),
                    self.counts.get((name, system, other_system)),
                    dict.fromkeys(("systems", "sign"), self.p_values.get((name, system, other_system), 0.2)),
                )
                for other_system, system in combinations(self.scores, 2)
            ]
            if changed.get("marks") != "none":
                files[f"comparisons:{name}"] = write_comparisons(self.folder / f"{name}.tsv", rows)
        description = {
            "table": {"title": "Results", "systems": [*self.scores], **changed},
            "tests": self.sets[1:],
            "dev": self.dev,
            "metrics": ["bleu"],
            "notes": self.notes,
        }
        return {
            "description": description,
            "files": group_by_kind({**files, **self.files}),
            **get_table_outputs(self.folder),
        }

    def tsv(self) -> list[dict[str, str]]:
        with (self.folder / "table.tsv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t"))


@pytest.fixture
def paper(tmp_path: Path) -> Inputs:
    inputs = Inputs(tmp_path, {row: values for row, (values, _) in PAPER.items()}, ["dev", *TESTS])
    inputs.dev = "NIST02"
    for name in TESTS:
        inputs.p_values[name, "SDAtt", "GlobalAtt"] = 0.0099
        inputs.p_values[name, "SDAtt", "Chen et al. (2017)"] = 0.0099
        inputs.p_values[name, "GlobalAtt", "PBSMT"] = 0.0001
    inputs.p_values["NIST03", "LocalAtt", "GlobalAtt"] = 0.01
    inputs.p_values["NIST04", "LocalAtt", "GlobalAtt"] = 0.05
    return inputs


@pytest.fixture
def wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_bold_compares_rounded_scores(tmp_path: Path) -> None:
    few = Inputs(tmp_path, {"GlobalAtt": [1.0, 0.001, 30.004], "SDAtt": [1.0, 0.004, 30.006]}, ["dev", "one", "two"])
    render_table(**few.arguments(baseline="GlobalAtt", proposed=["SDAtt"]))
    (row,) = [line for line in (tmp_path / "table.md").read_text(encoding="utf-8").splitlines() if "SDAtt |" in line]
    assert "| 0.00 | **30.01** |" in row


@pytest.mark.usefixtures("wide_terminal")
def test_table_reproduces_published_table(paper: Inputs, capsys: pytest.CaptureFixture[str]) -> None:
    render_table(**paper.arguments(baseline="GlobalAtt", proposed=["SDAtt"]))
    rows = {row["system"]: row for row in paper.tsv()}
    assert list(rows) == list(PAPER)
    assert list(rows["SDAtt"])[:4] == ["system", "dev", "NIST03", "NIST03_marks"]
    for name, (values, average) in PAPER.items():
        assert [rows[name][column] for column in ["dev", *TESTS]] == [f"{value:.2f}" for value in values]
        assert rows[name]["AVG"] == average
    assert [rows["SDAtt"][f"{test}_marks"] for test in TESTS] == ["**†"] * 5
    # The papers mark only better scores; here PBSMT also has a mark. The levels are strict: p < .01, p < .05.
    assert [rows["PBSMT"][f"{test}_marks"] for test in TESTS] == ["↓**"] * 5
    assert [rows["LocalAtt"][f"{test}_marks"] for test in TESTS] == ["*", "", "", "", ""]

    printed = capsys.readouterr().err.splitlines()
    assert "Dev (NIST02)" in printed[2]
    assert next(line for line in printed if line.startswith("SDAtt ")).split() == [
        *["SDAtt", "38.01", "36.67**†", "38.66**†", "35.74**†", "34.03**†", "27.66**†", "34.55"]
    ]
    assert len({line.index(".", 25) for line in printed[4:10]}) == 1


def test_row_without_translations_of_a_set_has_empty_cell(paper: Inputs) -> None:
    """The row has no average, marks or comparisons on the set, and is not the best baseline."""
    arguments = paper.arguments(baseline="GlobalAtt", proposed=["SDAtt"])
    statistics = arguments["files"]["statistics"]
    for system, set_name in (("Chen et al. (2017)", "NIST04"), ("GlobalAtt", "NIST06")):
        del statistics[f"{system}:seed0:{set_name}"]
    render_table(**arguments)
    rows = {row["system"]: row for row in paper.tsv()}
    incomplete_row = rows["Chen et al. (2017)"]
    assert (incomplete_row["NIST04"], incomplete_row["NIST04_marks"], incomplete_row["AVG"]) == (
        "",
        "",
        "",
    ) and incomplete_row["NIST03"] == "35.98"
    assert [rows["SDAtt"][f"{test}_marks"] for test in TESTS] == ["**", "**", "**", "", "**"], "† is against LocalAtt"
    assert rows["SDAtt"]["AVG"] == "34.55" and rows["PBSMT"]["NIST06_marks"] == ""
    assert "| Chen et al. (2017) | 37.42 | 35.98 | – | " in (paper.folder / "table.md").read_text(encoding="utf-8")
    render_table(**{**arguments, "description": {**arguments["description"], "dev": None}})
    assert [*paper.tsv()[0]][:2] == ["system", "NIST03"]


def test_markdown_and_latex_have_same_content(paper: Inputs) -> None:
    render_table(**paper.arguments(baseline="GlobalAtt", proposed=["SDAtt"]))
    markdown = (paper.folder / "table.md").read_text(encoding="utf-8")
    assert "| System | Dev (NIST02) | NIST03 | NIST04 | NIST05 | NIST06 | NIST08 | AVG |\n" in markdown
    assert "| SDAtt | 38.01 | **36.67**<sup>\\*\\*†</sup> | " in markdown
    assert "| **34.55** |\n" in markdown
    assert "| LocalAtt | 37.31 | 35.57<sup>\\*</sup> | 37.85 | " in markdown
    assert "†: significantly better than Chen et al. (2017) at p \\< 0.01" in markdown
    assert "| PBSMT | 33.15 | 31.02<sup>↓\\*\\*</sup> | " in markdown
    assert (
        "↓\\*\\*: significantly worse than GlobalAtt at p \\< 0.01 (interval over sentences and runs, uncorrected)."
        in markdown
    )
    assert "↓†" not in markdown and "↓\\*:" not in markdown, "only marks that occur are explained"
    assert markdown.count("nrefs:4") == 1
    latex = (paper.folder / "table.tex").read_text(encoding="utf-8")
    assert "SDAtt & 38.01 & \\textbf{36.67}$^{**\\dagger}$ & " in latex
    assert "PBSMT & 33.15 & 31.02$^{\\downarrow**}$ & " in latex
    assert "$\\downarrow${*}{*}: significantly worse than GlobalAtt at p \\textless{} 0.01" in latex
    assert "Bold: better than the best baseline, Chen et al. (2017)." in latex
    assert "nrefs:4\\textbar{}case:lc" in latex


def test_best_baseline_has_highest_average_of_rows_not_proposed(tmp_path: Path) -> None:
    scores = {"base": [0, 10.0, 10], "x": [99, 12, 12], "y": [0, 16, 9], "new": [0, 15, 15], "newer": [0, 20, 20]}
    inputs = Inputs(tmp_path, scores, ["dev", "a", "b"])
    inputs.p_values = {
        ("a", "new", "y"): 0.01,
        ("b", "new", "y"): 0.01,
        ("a", "new", "x"): 0.01,
        ("a", "y", "x"): 0.01,
        ("a", "newer", "new"): 0.01,
    }
    render_table(**inputs.arguments(baseline="base", proposed=["new", "newer"]))
    rows = {row["system"]: row for row in inputs.tsv()}
    # The average of y is higher than that of x; y is better than "new" on a.
    assert (rows["new"]["a_marks"], rows["new"]["b_marks"]) == ("↓†", "†")
    assert rows["x"]["a_marks"] == rows["newer"]["a_marks"] == ""
    markdown = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "| new | 0.00 | 15.00<sup>↓†</sup> | **15.00**<sup>†</sup> | **15.00** |" in markdown
    assert "| System | Dev | a | b | AVG |" in markdown

    inputs.dev = "newstest2012"
    render_table(**inputs.arguments(baseline="base"))
    assert "| System | Dev (newstest2012) | a | b | AVG |" in (tmp_path / "table.md").read_text(encoding="utf-8")
    assert list(inputs.tsv()[0])[:2] == ["system", "dev"]


def test_names_are_escaped(tmp_path: Path) -> None:
    scores = {"+SDAtt": [1.0, 1.0], "[a_b] & c% | 5*": [1.0, 1.0], "句法 #1": [1.0, 1.0]}
    inputs = Inputs(tmp_path, scores, ["dev", "test_2016"])
    inputs.signatures = {cell: f"case:lc|set:{cell[1]}" for cell in inputs.signatures}
    render_table(**inputs.arguments(baseline="+SDAtt", title="50% of *it*"))
    assert [row["system"] for row in inputs.tsv()] == list(scores)
    markdown = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "**50% of \\*it\\***" in markdown
    assert "| +SDAtt | 1.00 |" in markdown
    assert "| \\[a\\_b\\] \\& c% \\| 5\\* | 1.00 |" in markdown
    latex = (tmp_path / "table.tex").read_text(encoding="utf-8")
    assert "\n{[}a\\_b{]} \\& c\\% \\textbar{} 5{*} & 1.00 & 1.00 \\\\\n" in latex
    assert "test\\_2016 \\\\\n" in latex
    assert "BLEU on dev by sacrebleu: case:lc\\textbar{}set:dev." in latex
    assert "BLEU on test\\_2016 by sacrebleu" in latex


def test_table_without_marks_needs_no_comparisons(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path, {"a": [1.0, 2.0], "b": [1.0, 3.0]}, ["dev", "t"])
    render_table(**inputs.arguments(baseline="a", marks="none"))
    assert [row["t_marks"] for row in inputs.tsv()] == ["", ""]


def test_several_runs_give_means_and_deviations(tmp_path: Path) -> None:
    scores = {"a": [1.0, 2.0, 5.0], "b": [[1.0, 1.0], [2.0, 4.0], [5.0, 7.0]]}
    inputs = Inputs(tmp_path, scores, ["dev", "t", "u"])
    render_table(**inputs.arguments(baseline="a"))
    first, second = inputs.tsv()
    assert (first["t"], first["t_sd"], first["AVG"], first["AVG_sd"]) == ("2.00", "", "3.50", "")
    assert (second["dev"], second["dev_sd"]) == ("1.00", "0.00")
    assert (second["t"], second["t_sd"], second["u"], second["u_sd"]) == ("3.00", "1.41", "6.00", "1.41")
    assert (second["AVG"], second["AVG_sd"]) == ("4.50", "1.41")  # of 3.5 and 5.5
    markdown = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "| b | 1.00 ± 0.00 | 3.00 ± 1.41 | 6.00 ± 1.41 | 4.50 ± 1.41 |" in markdown
    assert "over 2 runs; scores without ± are of a single run." in markdown


def test_labels_replace_system_names(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path, {"a": [1.0, 2.0], "b": [1.0, 3.0]}, ["dev", "t"])
    inputs.p_values["t", "b", "a"] = 0.001
    render_table(**inputs.arguments(baseline="a", proposed=["b"], labels={"a": "Chen et al. (2017)"}))
    assert [row["system"] for row in inputs.tsv()] == ["Chen et al. (2017)", "b"]
    assert "significantly better than Chen et al. (2017)" in (tmp_path / "table.md").read_text(encoding="utf-8")


def test_published_numbers_have_columns(tmp_path: Path) -> None:
    scores = {"PBSMT": [1.0, 2, 3, 4], "FlexAtt": [1.0, 2, 3, 4], "Mine": [1.0, 2, 3, 4]}
    inputs = Inputs(tmp_path, scores, ["dev", "newstest2013", "newstest2014", "other"])
    selection = {"paper": "sdatt", "table": "1", "task": "en-de", "names": {"FlexAtt": "FlexibleAtt"}}
    inputs.dev, inputs.files = "newstest2012", {"published": PUBLISHED}
    render_table(**inputs.arguments(baseline="PBSMT", labels={"PBSMT": "PBSMT"}, published=selection))
    phrases, flexible, mine = inputs.tsv()
    columns = [f"{name}_published" for name in ("dev", "newstest2013", "newstest2014", "other", "AVG")]
    assert [flexible[name] for name in columns] == ["17.24", "20.57", "19.12", "", "19.91"]
    assert [phrases[name] for name in columns] == ["14.89", "16.75", "15.19", "", "16.35"]
    assert [mine[name] for name in columns] == [""] * 5
    assert flexible["newstest2013"] == "2.00"
    markdown = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "| AVG | Dev (newstest2012) (paper) | newstest2013 (paper) | " in markdown
    assert "(paper): published numbers" in markdown
    with pytest.raises(InputError, match=r"has no table 1 of de-en; it has 1 of en-de, 1 of zh-en, 2 of en-de"):
        render_table(**inputs.arguments(baseline="PBSMT", published={**selection, "task": "de-en"}))


def test_sdrnmt_style_marks_only_proposed_rows(tmp_path: Path) -> None:
    """Only proposed rows have marks against the baseline, without a dagger."""
    inputs = Inputs(tmp_path, {"a": [1.0, 2.0], "b": [1.0, 3.0], "c": [1.0, 4.0]}, ["dev", "t"])
    inputs.p_values |= {("t", name, "a"): 0.001 for name in "bc"}
    render_table(**inputs.arguments(baseline="a", proposed=["c"], marks="sdrnmt"))
    assert [row["t_marks"] for row in inputs.tsv()] == ["", "", "**"]
    inputs.scores["c"], inputs.p_values["t", "c", "a"] = [1.0, 1.5], 0.03
    render_table(**inputs.arguments(baseline="a", proposed=["c"], marks="sdrnmt"))
    assert [row["t_marks"] for row in inputs.tsv()] == ["", "", "↓*"]


def test_what_is_proposed_may_be_worse_than_the_best(tmp_path: Path) -> None:
    """Whichever of two systems the file has first."""
    inputs = Inputs(tmp_path, {"new": [1.0, 2.0], "base": [1.0, 3.0], "best": [1.0, 4.0]}, ["dev", "t"])
    inputs.p_values |= {("t", "base", "new"): 0.02, ("t", "best", "new"): 0.001}
    render_table(**inputs.arguments(baseline="base", proposed=["new"]))
    assert [row["t_marks"] for row in inputs.tsv()] == ["↓*↓†", "", ""]
    markdown = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert (
        "↓†: significantly worse than best at p \\< 0.025 (interval over sentences and runs, uncorrected)." in markdown
    )


def test_sign_test_against_score_gives_note_instead_of_mark(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path, {"a": [1.0, 2.0], "b": [1.0, 2.85]}, ["dev", "t"])
    inputs.counts["t", "b", "a"], inputs.p_values["t", "b", "a"] = (87, 188, 25), 1e-9
    render_table(**inputs.arguments(baseline="a", proposed=["b"], labels={"b": "Mine"}, tested="outputs"))
    assert [row["t_marks"] for row in inputs.tsv()] == ["", ""]
    markdown = (tmp_path / "table.md").read_text(encoding="utf-8")
    sentence = (
        "On t, BLEU and the sign test disagree: BLEU of Mine is 0.85 higher than that of a, but sentence by sentence "
        "Mine is better in 87 and worse in 188 (p < 0.001, uncorrected)."
    )
    assert markdown.count(sentence.replace("<", "\\<")) == 1
    assert sentence.replace("<", "\\textless{}") in (tmp_path / "table.tex").read_text(encoding="utf-8")
    assert "No marks: no compared difference is significant (sign test of these outputs, uncorrected)." in markdown
    inputs.counts["t", "b", "a"] = (188, 87, 25)
    render_table(**inputs.arguments(baseline="a", proposed=["b"], tested="outputs"))
    assert [row["t_marks"] for row in inputs.tsv()] == ["", "**†"]
    assert "disagree" not in (tmp_path / "table.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("tested", "test"), [("systems", "interval over sentences and runs"), ("outputs", "sign test")]
)
def test_note_states_that_difference_cannot_be_tested(tmp_path: Path, tested: str, test: str) -> None:
    """P-values are empty on a small set, or for systems with different numbers of runs."""
    inputs = Inputs(tmp_path, {"a": [1.0, 2.0], "b": [1.0, 3.0]}, ["dev", "t"])
    arguments = inputs.arguments(baseline="a", tested=tested)
    lines = [line.split("\t") for line in (tmp_path / "t.tsv").read_text().splitlines()]
    empty = [place for place, column in enumerate(lines[0]) if column.startswith("p_")]
    lines[1] = ["" if place in empty else cell for place, cell in enumerate(lines[1])]
    (tmp_path / "t.tsv").write_text("".join("\t".join(cells) + "\n" for cells in lines))
    render_table(**arguments)
    assert [row["t_marks"] for row in inputs.tsv()] == ["", ""]
    markdown = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert f"No marks: no difference can be tested ({test}" in markdown and "significant" not in markdown


@pytest.mark.parametrize("tested", ["systems", "outputs"])
def test_marks_use_configured_test(tmp_path: Path, tested: str) -> None:
    """The interval finds one row, the sign test another row; the table shows the marks of its test, uncorrected."""
    scores = {"a": [1.0, 2.0], "by_systems": [1.0, 3.0], "by_outputs": [1.0, 3.5]}
    inputs = Inputs(tmp_path, scores, ["dev", "t"])
    arguments = inputs.arguments(baseline="a", tested=tested)
    p_values_by_system = {
        "by_systems": {"systems": (0.001, 0.9), "sign": 0.2},
        "by_outputs": {"systems": 0.2, "sign": (0.001, 0.9)},
    }
    write_comparisons(
        tmp_path / "t.tsv",
        [
            ComparisonRow(name, "a", (scores[name][1], 2.0), p_values=p_values)
            for name, p_values in p_values_by_system.items()
        ],
    )
    render_table(**arguments)
    marks = {row["system"]: row["t_marks"] for row in inputs.tsv()}
    assert marks == {"a": "", "by_systems": "", "by_outputs": "", f"by_{tested}": "**"}
    legend = {"systems": "interval over sentences and runs", "outputs": "sign test of these outputs"}[tested]
    assert f"p \\< 0.01 ({legend}, uncorrected)." in (tmp_path / "table.md").read_text(encoding="utf-8")


def test_note_on_run_deviation_follows_only_tests_of_systems(tmp_path: Path) -> None:
    scores = {"a": [1.0, 2.0], "b": [1.0, 3.0]}
    for origin, source in (
        ("default", "evaluation.run_deviation, because no system here has several runs"),
        ("pooled", "pooled over the systems of the table that have several runs"),
    ):
        inputs = Inputs(tmp_path, scores, ["dev", "t"])
        for tested in ("systems", "outputs"):
            arguments = inputs.arguments(baseline="a", tested=tested)
            row = ComparisonRow("b", "a", (3.0, 2.0), p_values={}, runs=(1, 1), run_deviation_from=origin)
            write_comparisons(tmp_path / "t.tsv", [row])
            render_table(**arguments)
            markdown = " ".join((tmp_path / "table.md").read_text(encoding="utf-8").replace("\\", "").split())
            note = f"assume a standard deviation of 0.6 BLEU between runs ({source})."
            assert (note in markdown) == (tested == "systems")


def test_different_signatures_raise_error(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path, {"a": [1.0, 2.0], "b": [1.0, 3.0]}, ["dev", "t"])
    inputs.signatures["b", "t"] = "case:mixed"
    with pytest.raises(InputError, match=r"bleu of .a. was counted as nrefs:4.* and of .b. as case:mixed; count"):
        render_table(**inputs.arguments(baseline="a"))


def test_damaged_file_raises_error(tmp_path: Path) -> None:
    inputs = Inputs(tmp_path, {"a": [1.0, 2.0], "b": [1.0, 3.0]}, ["dev", "t"])
    arguments = inputs.arguments(baseline="a")
    (tmp_path / "0.arrow").write_text("[1]")
    with pytest.raises(InputError, match=r"0\.arrow: damaged: its content and its checksum do not agree"):
        render_table(**arguments)


@pytest.mark.usefixtures("wide_terminal")
def test_note_names_trainings_without_compiled_code(paper: Inputs, capsys: pytest.CaptureFixture[str]) -> None:
    kernels_by_system = {"GlobalAtt": True, "LocalAtt": False, "SDAtt": None}
    for system, kernels in kernels_by_system.items():
        path = paper.folder / f"{system}.facts.json"
        path.write_text(json.dumps({"kernels": kernels}))
        paper.files[f"facts:{system}:seed1"] = path
    render_table(**paper.arguments(baseline="GlobalAtt", labels={"LocalAtt": "Local"}))
    note = "Trained without compiled code (see kernels in the facts), which is slower and rounds differently: Local.\n"
    assert note in (paper.folder / "table.md").read_text() and note in capsys.readouterr().err


@pytest.mark.usefixtures("wide_terminal")
@pytest.mark.parametrize("also", ["float32", "bfloat16"])
def test_note_names_different_precisions(paper: Inputs, also: str) -> None:
    for system, precision in {"GlobalAtt": "float32", "LocalAtt": also, "SDAtt": None}.items():
        path = paper.folder / f"{system}.facts.json"
        path.write_text(json.dumps({"precision": precision}))
        paper.files[f"facts:{system}:seed1"] = path
    render_table(**paper.arguments(baseline="GlobalAtt", labels={"LocalAtt": "Local"}))
    note = "Trained in different precisions of matrix products: float32: GlobalAtt; bfloat16: Local."
    assert (note in (paper.folder / "table.md").read_text()) == (also == "bfloat16")


@pytest.mark.usefixtures("wide_terminal")
@pytest.mark.parametrize("other_devices", [["cpu", "cuda"], ["cuda"], ["cpu"]])
def test_note_names_different_devices(paper: Inputs, other_devices: list[str]) -> None:
    for system, devices in {"GlobalAtt": ["cpu", "cuda"], "LocalAtt": other_devices, "SDAtt": []}.items():
        for seed, device in enumerate(devices, 1):
            path = paper.folder / f"{system}.{seed}.facts.json"
            path.write_text(json.dumps({"device": device}))
            paper.files[f"facts:{system}:seed{seed}"] = path
    render_table(**paper.arguments(baseline="GlobalAtt", labels={"LocalAtt": "Local"}))
    text = (paper.folder / "table.md").read_text()
    cpu, gpu = ("GlobalAtt, Local" if device in other_devices else "GlobalAtt" for device in ("cpu", "cuda"))
    assert ("Trained on different devices" in text) == (len(other_devices) == 1)
    assert (f"Trained on different devices: CPU: {cpu}; GPU: {gpu}." in text) == (len(other_devices) == 1)


@pytest.mark.usefixtures("wide_terminal")
@pytest.mark.parametrize("other_device", ["cpu", "cuda"])
def test_note_names_different_processors_of_one_kind(paper: Inputs, other_device: str) -> None:
    for system, device, processor in (("GlobalAtt", "cpu", "X (1)"), ("LocalAtt", other_device, "X (2)")):
        path = paper.folder / f"{system}.facts.json"
        path.write_text(json.dumps({"device": device, "processor": processor}))
        paper.files[f"facts:{system}:seed1"] = path
    render_table(**paper.arguments(baseline="GlobalAtt"))
    note = "Trained on different processors: X (1): GlobalAtt; X (2): LocalAtt."
    assert (note in (paper.folder / "table.md").read_text()) == (other_device == "cpu")


def test_note_names_low_ceilings(paper: Inputs) -> None:
    ceilings = [("NIST02", 80.0), ("NIST03", 98.9), ("NIST04", 99.1)]
    file = paper.folder / "ceiling.tsv"
    rows = [[name, bleu, 9, "`evaluation.detokenizer: none`", ""] for name, bleu in ceilings]
    write_tsv(file, COLUMNS_OF_CEILINGS, rows)
    paper.files = {"ceiling": file}
    render_table(**paper.arguments(baseline="GlobalAtt", proposed=["SDAtt"]))
    text = (paper.folder / "table.md").read_text(encoding="utf-8")
    assert "NIST03: the ceiling of BLEU is 98.9; even a perfect translation scores no more" in text
    assert text.count("the ceiling of BLEU") == 1


def test_notes_of_description_are_shown(paper: Inputs, capsys: pytest.CaptureFixture[str]) -> None:
    note = "Rows differ in search: beam 5 (GlobalAtt); beam 20 (SDAtt)."
    paper.notes = [note]
    render_table(**paper.arguments(baseline="GlobalAtt"))
    for text in (paper.folder / "table.md").read_text(), (paper.folder / "table.tex").read_text():
        assert note in text
    assert note in capsys.readouterr().err


def test_further_metrics_have_columns_and_marks(tmp_path: Path) -> None:
    reference = ["the cat sat on a mat today", "my old garden is green"] * 10
    outputs = {"a": [line.replace("a", "x x x") for line in reference], "b": reference}
    counts = write_output_statistics(tmp_path, outputs, [reference], ["bleu", "ter"])
    statistics = {f"{system}:seed1:{set_name}": path for set_name in ("dev", "t") for system, path in counts.items()}
    places = {"comparisons_output": tmp_path / "pairs.tsv", "intervals_output": tmp_path / "intervals.tsv"}
    compare_systems(statistics=group_by_system(counts), metrics=["bleu", "ter"], samples=200, trials=200, **places)
    options = {"title": "T", "systems": ["a", "b"], "baseline": "a", "proposed": ["b"]}
    description = {"table": options, "tests": ["t"], "dev": "dev", "metrics": ["bleu", "ter"], "notes": []}
    render_table(
        description=description,
        files={"statistics": statistics, "comparisons": {"t": tmp_path / "pairs.tsv"}},
        **get_table_outputs(tmp_path),
    )
    with (tmp_path / "table.tsv").open(encoding="utf-8", newline="") as file:
        _, row = csv.DictReader(file, delimiter="\t")
    assert [*row] == ["system", "dev", "t", "t_marks", "ter_dev", "ter_t", "ter_t_marks"]
    assert (row["t_marks"], row["ter_t"], row["ter_t_marks"]) == ("**†", "0.00", "**†")
    markdown = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "| t | TER Dev | TER t |\n" in markdown and "\nTER: nrefs:1" in markdown and "AVG" not in markdown
    assert "| **0.00**<sup>\\*\\*†</sup> |\n" in markdown


def test_the_best_baseline_in_an_error_rate_has_the_lowest(tmp_path: Path) -> None:
    reference = ["the cat sat on a mat today", "my old garden is green"] * 10
    outputs = {"a": [line.replace("a", "x x x") for line in reference], "b": reference}
    outputs["c"] = [line.replace("cat", "x") for line in reference]
    counts = write_output_statistics(tmp_path, outputs, [reference], ["ter"])
    places = {"comparisons_output": tmp_path / "pairs.tsv", "intervals_output": tmp_path / "intervals.tsv"}
    compare_systems(statistics=group_by_system(counts), metrics=["ter"], samples=200, trials=200, **places)
    options = {"title": "T", "systems": ["a", "b", "c"], "baseline": "a", "proposed": ["c"]}
    render_table(
        description={"table": options, "tests": ["t"], "dev": None, "metrics": ["ter"], "notes": []},
        files={
            "statistics": {f"{system}:seed1:t": path for system, path in counts.items()},
            "comparisons": {"t": tmp_path / "pairs.tsv"},
        },
        **get_table_outputs(tmp_path),
    )
    (row,) = [line for line in (tmp_path / "table.md").read_text(encoding="utf-8").splitlines() if "| c |" in line]
    assert "↓†" in row and "**" not in row.replace("\\*\\*", ""), "b is better"


def test_systems_that_have_not_learned_to_translate_have_no_marks(paper: Inputs) -> None:
    file = paper.folder / "exclusions.tsv"
    write_tsv(file, EXCLUSION_COLUMNS, [("system", "Chen et al. (2017)", "BLEU 1.0 is below 2")])
    paper.files = {"exclusions": file}
    render_table(**paper.arguments(baseline="GlobalAtt", proposed=["SDAtt"]))
    with_other_best = {row["system"]: row["NIST03_marks"] for row in paper.tsv()}
    write_tsv(file, EXCLUSION_COLUMNS, [("system", "SDAtt", "BLEU 1.0 is below 2")])
    render_table(**paper.arguments(baseline="GlobalAtt", proposed=["SDAtt"]))
    marks = {row["system"]: row["NIST03_marks"] for row in paper.tsv()}
    assert with_other_best["SDAtt"] == "**" and marks["SDAtt"] == "" and marks["LocalAtt"] == "*"


def test_order_of_rows_changes_only_the_order(tmp_path: Path) -> None:
    """Scores, averages and marks by both kinds of tests, of systems with different numbers of runs."""
    words = ["the", "cat", "sat", "on", "a", "mat", "in", "my", "old", "garden"]
    state = random.Random(6)
    runs = {"base": 3, "other": 3, "new": 3, "single": 1}
    rates = {"base": 0.35, "other": 0.25, "new": 0.1, "single": 0.6}
    statistics_by_set: dict[str, dict[str, dict[str, Path]]] = {}
    for set_name in ("dev", "t", "u"):
        (folder := tmp_path / set_name).mkdir()
        reference = [" ".join(state.choice(words) for _ in range(state.randint(4, 12))) for _ in range(60)]
        outputs = {
            f"{name}:s{run}": [
                " ".join("xx" if state.random() < rates[name] else word for word in line.split()) for line in reference
            ]
            for name in runs
            for run in range(runs[name])
        }
        statistics_by_set[set_name] = group_by_system(write_output_statistics(folder, outputs, [reference], ["bleu"]))
    tables: dict[str, list[list[dict[str, str]]]] = {"systems": [], "outputs": []}
    notes: dict[str, list[set[str]]] = {"systems": [], "outputs": []}
    pairs: list[dict[frozenset[str], list[float]]] = []
    for order in [*permutations(runs)][::5]:
        for set_name in ("t", "u"):
            compare_systems(
                statistics={name: statistics_by_set[set_name][name] for name in order},
                metrics=["bleu"],
                comparisons_output=tmp_path / f"{set_name}.tsv",
                intervals_output=tmp_path / f"{set_name}.intervals.tsv",
                samples=200,
                trials=100,
            )
        with (tmp_path / "t.tsv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        symmetric = [
            column for column in SYSTEM_COMPARISON_COLUMNS if column.startswith("p_") and "serted" not in column
        ]
        symmetric = [column for column in symmetric if column != "p_sign_replaced"] + ["detectable", "run_deviation"]
        pairs.append(
            {
                frozenset((row["system"], row["other"])): [
                    *(float(row[column]) for column in symmetric),
                    *sorted(abs(float(row[end])) for end in ("low", "high")),
                    float(row["difference"]) * (1 if row["system"] < row["other"] else -1),
                ]
                for row in rows
            }
        )
        for tested in tables:
            description = {
                "table": {
                    **{"title": "T", "systems": [*order], "baseline": "base"},
                    **{"proposed": ["new"], "tested": tested},
                },
                **{"tests": ["t", "u"], "dev": "dev", "metrics": ["bleu"], "notes": []},
            }
            statistics = {
                f"{name}:{run}:{set_name}": path
                for name in order
                for set_name, systems in statistics_by_set.items()
                for run, path in systems[name].items()
            }
            render_table(
                description=description,
                files={
                    "statistics": statistics,
                    "comparisons": {set_name: tmp_path / f"{set_name}.tsv" for set_name in ("t", "u")},
                },
                **get_table_outputs(tmp_path),
            )
            with (tmp_path / "table.tsv").open(encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file, delimiter="\t"))
            assert [row["system"] for row in rows] == [*order]
            tables[tested].append(sorted(rows, key=lambda row: row["system"]))
            lines = (tmp_path / "table.md").read_text(encoding="utf-8").splitlines()
            notes[tested].append({line for line in lines if not line.startswith("|")})
    for tested, by_order in tables.items():
        assert all(rows == by_order[0] for rows in by_order), tested
        assert all(lines == notes[tested][0] for lines in notes[tested]), tested
        assert [row["t_marks"] for row in by_order[0]][:2] == ["", "**†"] and "↓" in by_order[0][3]["t_marks"], tested
    for values_by_pair in pairs[1:]:
        assert values_by_pair.keys() == pairs[0].keys()
        for pair, values in values_by_pair.items():
            assert values == pytest.approx(pairs[0][pair]), pair
