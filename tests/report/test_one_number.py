"""Tests that files, tables, the matrix and the overview show the same differences and p-values."""

import csv
import json
import random
from dataclasses import dataclass
from html.parser import HTMLParser
from itertools import permutations
from pathlib import Path
from statistics import fmean

import pytest
import yaml

from pipeline_py.config.load_experiment import load_experiment
from pipeline_py.evaluation.compare_systems import compare_systems
from pipeline_py.evaluation.compute_metric_statistics import compute_metric_statistics
from pipeline_py.evaluation.judge_claims import judge_claims
from pipeline_py.files.artifacts import write_json
from pipeline_py.report.render_table import render_table
from pipeline_py.report.tables.sheet import read_sheet
from pipeline_py.report.write_page import write_page
from tests.nested_files import get_table_outputs, group_by_system

ROOT = Path(__file__).parents[2]
WORDS = ["the", "cat", "sat", "on", "a", "mat", "in", "my", "old", "garden", "house"]
RUNS = {"PBSMT": 1, "GlobalAtt": 3, "SDAtt": 3, "FlexAtt": 3}
RATES = {"PBSMT": 0.45, "GlobalAtt": 0.25, "SDAtt": 0.15, "FlexAtt": 0.27}
SYSTEMS = [*RUNS]
PROPOSED = ["SDAtt", "FlexAtt"]
SETS = {"dev": 30, "mixed": 60, "long": 50}
TESTS = ["mixed", "long"]
LETTERS = {"sign": "s", "bootstrap": "b", "randomization": "r"}


class Tables(HTMLParser):
    """Tables of a page as rows of texts with marks, by caption."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.caption, self.inside = "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "figcaption":
            self.caption = ""
        elif tag == "tr":
            self.tables.setdefault(self.caption, []).append([])
        elif tag in ("td", "th"):
            self.tables[self.caption][-1].append("")
        self.inside = tag if tag in ("figcaption", "td", "th") else self.inside

    def handle_endtag(self, tag: str) -> None:
        self.inside = "" if tag == self.inside else self.inside

    def handle_data(self, data: str) -> None:
        if self.inside == "figcaption":
            self.caption += data
        elif self.inside:
            self.tables[self.caption][-1][-1] += data

    def get_rows(self, beginning: str) -> list[list[str]]:
        """Return the rows without the head of the only table whose caption begins with this text."""
        (matches,) = (rows for caption, rows in self.tables.items() if caption.startswith(beginning))
        return [row for row in matches if row][1:]


@dataclass(frozen=True)
class PairResult:
    """The result of a pair in the file of comparisons, from the side of one system."""

    difference: float
    p: dict[str, tuple[float, float]]
    sides: dict[str, int]

    def side(self, test: str, level: float) -> int:
        """Return the significant side, uncorrected, if the score agrees, else 0."""
        is_found = self.p[test][0] < level and self.sides[test] == self.sides["systems"]
        return self.sides[test] if is_found else 0

    @property
    def text(self) -> str:
        """Cell of the matrix."""
        text = f"{self.difference:+.2f}".replace("-", "−")
        letters = {
            side: "".join(LETTERS[test] for test in LETTERS if self.p[test][1] < 0.05 and self.sides[test] == side)
            for side in (1, -1)
        }
        return text + " ".join(arrow + letters[side] for side, arrow in ((1, "↑"), (-1, "↓")) if letters[side])


@dataclass(frozen=True)
class StageOutputs:
    """Outputs of all stages for several runs."""

    folder: Path
    pairs: dict[tuple[str, str, str], PairResult]
    tables: Tables

    def tsv(self, name: str) -> dict[str, dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return {row["system"]: row for row in csv.DictReader(file, delimiter="\t")}


def compute_sign(value: float) -> int:
    return (value > 0) - (value < 0)


def read_pair_results(path: Path, set_name: str) -> dict[tuple[str, str, str], PairResult]:
    pairs = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            difference, count = float(row["difference"]), int(row["better"]) - int(row["worse"])
            p = {test: (float(row[f"p_{test}"]), float(row[f"p_{test}_holm"])) for test in ("systems", *LETTERS)}
            for names, sign in (((row["system"], row["other"]), 1), ((row["other"], row["system"]), -1)):
                side = sign * compute_sign(difference)
                sides = {
                    "sign": sign * compute_sign(count),
                    **dict.fromkeys(("systems", "bootstrap", "randomization"), side),
                }
                pairs[(set_name, *names)] = PairResult(sign * difference, p, sides)
    return pairs


def add_noise(lines: list[str], state: random.Random, rate: float) -> list[str]:
    return [" ".join("xx" if state.random() < rate else word for word in line.split()) for line in lines]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory) -> StageOutputs:
    folder = tmp_path_factory.mktemp("numbers")
    state = random.Random(12)
    statistics: dict[str, Path] = {}
    sets: dict[str, dict[str, dict[str, Path]]] = {}
    comparison_files: dict[str, Path] = {}
    for set_name, number in SETS.items():
        lines = [" ".join(state.choice(WORDS) for _ in range(state.randint(4, 14))) for _ in range(number)]
        reference = folder / f"{set_name}.reference"
        reference.write_text("".join(f"{line}\n" for line in lines))
        output_files: dict[str, Path] = {}
        for system, runs in RUNS.items():
            for run in range(1, runs + 1):
                path = folder / f"{system}.{run}.{set_name}"
                path.write_text("".join(f"{line}\n" for line in add_noise(lines, state, RATES[system] + 0.01 * run)))
                file, scored = path.with_suffix(f".{set_name}.arrow"), folder / f"{system}.{run}.{set_name}.json"
                outcome = {"output": file, "scores_output": [scored]}
                compute_metric_statistics(hypothesis=path, references=[reference], metrics=["bleu"], **outcome)
                output_files[f"{system}:seed{run}"] = statistics[f"{system}:seed{run}:{set_name}"] = file
        sets[set_name] = group_by_system(output_files)
        comparison_files[set_name] = folder / f"{set_name}.comparisons.tsv"
        compare_systems(
            statistics=sets[set_name],
            metrics=["bleu"],
            comparisons_output=comparison_files[set_name],
            intervals_output=folder / f"{set_name}.intervals.tsv",
            samples=1000,
            trials=1000,
        )
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    config["corpora"]["tests"] = [test for test in config["corpora"]["tests"] if test["name"] in TESTS]
    marks = [{"symbol": "‡", "rows": [name for name in SYSTEMS if name != "GlobalAtt"], "against": ["GlobalAtt"]}]
    config["targets"] = None
    config["tables"] = {
        "table1": {"title": "BLEU", "systems": SYSTEMS, "baseline": "GlobalAtt", "proposed": PROPOSED},
        "table2": {
            "type": "measures",
            "title": "Measures",
            "systems": SYSTEMS,
            "sets": ["tests"],
            "columns": ["bleu"],
            "marks": marks,
            "tested": "outputs",
        },
    }
    config["figures"] = {}
    experiment = load_experiment(config)
    for name, options in config["tables"].items():
        description = {
            "table": options | ({"sets": TESTS} if name == "table2" else {}),
            "tests": TESTS,
            "dev": "dev",
            "metrics": ["bleu"],
            "notes": [],
            "set_names": {},
            "lowercase_trees": False,
        }
        render_table(
            description=description,
            files={
                "statistics": statistics,
                "comparisons": {set_name: path for set_name, path in comparison_files.items() if set_name != "dev"},
            },
            **get_table_outputs(folder, name),
        )
    claims_output = folder / "claims.tsv"
    judge_claims(
        claims=[],
        statistics=sets,
        metrics=["bleu"],
        table_comparisons=[(system, "GlobalAtt") for system in PROPOSED],
        systems_with_trees=["SDAtt"],
        claims_output=claims_output,
        exclusions_output=folder / "exclusions.tsv",
        samples=1000,
    )
    files = {
        "claims": {"all": str(claims_output)},
        "table": {name: str(folder / f"{name}.sheet.json") for name in config["tables"]},
        "comparisons": {f"table1:{set_name}": str(path) for set_name, path in comparison_files.items()},
    }
    page_options = {"experiment": experiment.model_dump_json(exclude_unset=True), "files": files, "command": ""}
    write_json(folder / "manifest.json", {**page_options, "published": {}, "code": {}, "versions": {}})
    write_page(manifest=folder / "manifest.json", output=folder / "report.html")
    pairs = {
        key: pair
        for set_name, path in comparison_files.items()
        for key, pair in read_pair_results(path, set_name).items()
    }
    return StageOutputs(folder, pairs, Tables((folder / "report.html").read_text(encoding="utf-8")))


def test_comparison_differences_equal_differences_of_table_scores(outputs: StageOutputs):
    rows = outputs.tsv("table1.tsv")
    for (set_name, system, other_system), pair in outputs.pairs.items():
        means = [
            fmean(json.loads(path.read_text())["score"] for path in outputs.folder.glob(f"{name}.*.{set_name}.json"))
            for name in (system, other_system)
        ]
        assert pair.difference == pytest.approx(means[0] - means[1])
        assert [rows[system][set_name], rows[other_system][set_name]] == [f"{mean:.2f}" for mean in means]
    assert len(outputs.pairs) == 3 * 12


def test_table_marks_agree_with_intervals_over_runs(outputs: StageOutputs):
    rows, averages = outputs.tsv("table1.tsv"), {}
    for name in SYSTEMS:
        averages[name] = float(rows[name]["AVG"])
    baselines = [name for name in SYSTEMS if name not in PROPOSED]
    best, level = max(baselines, key=averages.__getitem__), 0.05 / len(baselines)
    expected = {}
    for set_name in TESTS:
        for system in SYSTEMS:
            marks = ""
            if system != "GlobalAtt":
                pair = outputs.pairs[set_name, system, "GlobalAtt"]
                strict, lax = (pair.side("systems", level) for level in (0.01, 0.05))
                marks += {1: "", -1: "↓", 0: ""}[lax] + ("**" if strict else "*" if lax else "")
            if system in PROPOSED:
                marks += {1: "†", -1: "↓†", 0: ""}[outputs.pairs[set_name, system, best].side("systems", level)]
            expected[system, set_name] = marks
    assert {place: rows[place[0]][f"{place[1]}_marks"] for place in expected} == expected
    assert {"**†", "↓**", ""} <= {*expected.values()}
    sheet = read_sheet(outputs.folder / "table1.sheet.json")
    latex = (outputs.folder / "table1.tex").read_text(encoding="utf-8")
    page = outputs.tables.get_rows("BLEU in percent")
    for row, shown in zip(sheet.rows, page, strict=True):
        for set_name in TESTS:
            cell, place = row[sheet.column_heads.index(set_name)], sheet.column_heads.index(set_name)
            assert cell.marks == expected[row[0].text, set_name]
            assert shown[place] == cell.text + cell.marks
            in_latex = f"\\textbf{{{cell.text}}}" if cell.bold else cell.text
            if cell.marks:
                in_latex += "$^{" + cell.marks.replace("†", "\\dagger").replace("↓", "\\downarrow") + "}$"
            assert f"& {in_latex} &" in latex


def test_measure_marks_agree_with_paired_bootstrap(outputs: StageOutputs):
    rows = outputs.tsv("table2.tsv")
    expected = {
        (system, set_name): {1: "‡", -1: "↓‡", 0: ""}[
            outputs.pairs[set_name, system, "GlobalAtt"].side("bootstrap", 0.05)
        ]
        for system in SYSTEMS
        for set_name in TESTS
        if system != "GlobalAtt"
    }
    assert {place: rows[place[0]][f"bleu_{place[1]}_marks"] for place in expected} == expected
    assert {"‡", "↓‡"} <= {*expected.values()}


def test_matrix_and_pair_table_agree_with_comparison_file(outputs: StageOutputs):
    for set_name in SETS:
        display_name = "dev (mixed)" if set_name == "dev" else set_name
        matrix = outputs.tables.get_rows(f"BLEU of the row minus BLEU of the column on {display_name};")
        for row, column in permutations(range(len(SYSTEMS)), 2):
            assert matrix[row][1 + column] == outputs.pairs[set_name, SYSTEMS[row], SYSTEMS[column]].text
        listed = outputs.tables.get_rows(f"Every pair of systems on {display_name}:")
        assert len(listed) == 6
        for system, other_system, *_, difference, _, _, _, _, _, m, m_holm, s, s_holm, b, b_holm, r, r_holm in listed:
            pair = outputs.pairs[set_name, system, other_system]
            shown = {
                "systems": (m, m_holm),
                "sign": (s, s_holm),
                "bootstrap": (b, b_holm),
                "randomization": (r, r_holm),
            }
            assert difference == pair.text
            for test, texts in shown.items():
                assert texts == tuple("< 0.001" if p < 0.001 else f"{p:.3f}" for p in pair.p[test])


def test_overview_has_mean_differences_of_matrices(outputs: StageOutputs):
    averages = outputs.tsv("table1.tsv")
    claim_rows = outputs.tables.get_rows("Each comparison that a paper claims")
    assert [row[:2] for row in claim_rows] == [[system, "GlobalAtt"] for system in PROPOSED]
    (plot_row,) = outputs.tables.get_rows("Each system minus its twin")
    for system, other_system, _, _, system_score, other_score, difference, *_ in claim_rows:
        pairs = [outputs.pairs[set_name, system, other_system] for set_name in TESTS]
        assert difference == f"{fmean(pair.difference for pair in pairs):+.2f}".replace("-", "−")
        assert (system_score, other_score) == (averages[system]["AVG"], averages[other_system]["AVG"])
    mean = fmean(outputs.pairs[set_name, "SDAtt", "GlobalAtt"].difference for set_name in TESTS)
    assert plot_row[0] == "SDAtt" and plot_row[2].startswith(f"{mean:+.1f} [")
