"""One difference and one p for a pair, set and test, wherever they are shown: in files, tables, matrix and overview."""

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
    """The tables of a page: rows of texts, marks included, by caption."""

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

    def of(self, beginning: str) -> list[list[str]]:
        """Rows of the only table whose caption begins so, without the head."""
        (found,) = (rows for caption, rows in self.tables.items() if caption.startswith(beginning))
        return [row for row in found if row][1:]


@dataclass(frozen=True)
class Known:
    """What the file of comparisons says of a pair, turned so that it is about `system`."""

    difference: float
    p: dict[str, tuple[float, float]]
    sides: dict[str, int]

    def side(self, test: str, level: float) -> int:
        """Whom a test favours, uncorrected, as long as the score does too."""
        is_found = self.p[test][0] < level and self.sides[test] == self.sides["systems"]
        return self.sides[test] if is_found else 0

    @property
    def text(self) -> str:
        """The cell of a matrix."""
        text = f"{self.difference:+.2f}".replace("-", "−")
        letters = {
            side: "".join(LETTERS[test] for test in LETTERS if self.p[test][1] < 0.05 and self.sides[test] == side)
            for side in (1, -1)
        }
        return text + " ".join(arrow + letters[side] for side, arrow in ((1, "↑"), (-1, "↓")) if letters[side])


@dataclass(frozen=True)
class Made:
    """Everything that the stages made of outputs of several runs."""

    folder: Path
    known: dict[tuple[str, str, str], Known]
    tables: Tables

    def tsv(self, name: str) -> dict[str, dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return {row["system"]: row for row in csv.DictReader(file, delimiter="\t")}


def sign_of(value: float) -> int:
    return (value > 0) - (value < 0)


def read_known(path: Path, on: str) -> dict[tuple[str, str, str], Known]:
    found = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            difference, count = float(row["difference"]), int(row["better"]) - int(row["worse"])
            p = {test: (float(row[f"p_{test}"]), float(row[f"p_{test}_holm"])) for test in ("systems", *LETTERS)}
            for names, turn in (((row["system"], row["other"]), 1), ((row["other"], row["system"]), -1)):
                side = turn * sign_of(difference)
                sides = {
                    "sign": turn * sign_of(count),
                    **dict.fromkeys(("systems", "bootstrap", "randomization"), side),
                }
                found[(on, *names)] = Known(turn * difference, p, sides)
    return found


def noisy(lines: list[str], state: random.Random, rate: float) -> list[str]:
    return [" ".join("xx" if state.random() < rate else word for word in line.split()) for line in lines]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Made:
    folder = tmp_path_factory.mktemp("numbers")
    state = random.Random(12)
    counted: dict[str, Path] = {}
    sets: dict[str, dict[str, dict[str, Path]]] = {}
    compared: dict[str, Path] = {}
    for on, number in SETS.items():
        lines = [" ".join(state.choice(WORDS) for _ in range(state.randint(4, 14))) for _ in range(number)]
        reference = folder / f"{on}.reference"
        reference.write_text("".join(f"{line}\n" for line in lines))
        outputs: dict[str, Path] = {}
        for system, runs in RUNS.items():
            for run in range(1, runs + 1):
                path = folder / f"{system}.{run}.{on}"
                path.write_text("".join(f"{line}\n" for line in noisy(lines, state, RATES[system] + 0.01 * run)))
                file, scored = path.with_suffix(f".{on}.arrow"), folder / f"{system}.{run}.{on}.json"
                outcome = {"output": file, "scores_output": [scored]}
                compute_metric_statistics(hypothesis=path, references=[reference], metrics=["bleu"], **outcome)
                outputs[f"{system}:seed{run}"] = counted[f"{system}:seed{run}:{on}"] = file
        sets[on] = group_by_system(outputs)
        compared[on] = folder / f"{on}.comparisons.tsv"
        compare_systems(
            statistics=sets[on],
            metrics=["bleu"],
            comparisons_output=compared[on],
            intervals_output=folder / f"{on}.intervals.tsv",
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
                "statistics": counted,
                "comparisons": {on: path for on, path in compared.items() if on != "dev"},
            },
            **get_table_outputs(folder, name),
        )
    claimed = folder / "claims.tsv"
    judge_claims(
        claims=[],
        statistics=sets,
        metrics=["bleu"],
        table_comparisons=[(system, "GlobalAtt") for system in PROPOSED],
        systems_with_trees=["SDAtt"],
        claims_output=claimed,
        exclusions_output=folder / "exclusions.tsv",
        samples=1000,
    )
    files = {
        "claims": {"all": str(claimed)},
        "table": {name: str(folder / f"{name}.sheet.json") for name in config["tables"]},
        "comparisons": {f"table1:{on}": str(path) for on, path in compared.items()},
    }
    known_of_page = {"experiment": experiment.model_dump_json(exclude_unset=True), "files": files, "command": ""}
    write_json(folder / "manifest.json", {**known_of_page, "published": {}, "code": {}, "versions": {}})
    write_page(manifest=folder / "manifest.json", output=folder / "report.html")
    known = {place: pair for on, path in compared.items() for place, pair in read_known(path, on).items()}
    return Made(folder, known, Tables((folder / "report.html").read_text(encoding="utf-8")))


def test_differences_are_those_of_the_scores_in_the_table(made: Made):
    rows = made.tsv("table1.tsv")
    for (on, system, other), pair in made.known.items():
        means = [
            fmean(json.loads(path.read_text())["score"] for path in made.folder.glob(f"{name}.*.{on}.json"))
            for name in (system, other)
        ]
        assert pair.difference == pytest.approx(means[0] - means[1])
        assert [rows[system][on], rows[other][on]] == [f"{mean:.2f}" for mean in means]
    assert len(made.known) == 3 * 12


def test_marks_of_the_table_are_those_of_the_intervals_over_runs(made: Made):
    rows, averages = made.tsv("table1.tsv"), {}
    for name in SYSTEMS:
        averages[name] = float(rows[name]["AVG"])
    others = [name for name in SYSTEMS if name not in PROPOSED]
    best, level = max(others, key=averages.__getitem__), 0.05 / len(others)
    expected = {}
    for on in TESTS:
        for system in SYSTEMS:
            marks = ""
            if system != "GlobalAtt":
                pair = made.known[on, system, "GlobalAtt"]
                strict, lax = (pair.side("systems", level) for level in (0.01, 0.05))
                marks += {1: "", -1: "↓", 0: ""}[lax] + ("**" if strict else "*" if lax else "")
            if system in PROPOSED:
                marks += {1: "†", -1: "↓†", 0: ""}[made.known[on, system, best].side("systems", level)]
            expected[system, on] = marks
    assert {place: rows[place[0]][f"{place[1]}_marks"] for place in expected} == expected
    assert {"**†", "↓**", ""} <= {*expected.values()}
    sheet = read_sheet(made.folder / "table1.sheet.json")
    latex = (made.folder / "table1.tex").read_text(encoding="utf-8")
    page = made.tables.of("BLEU in percent")
    for row, shown in zip(sheet.rows, page, strict=True):
        for on in TESTS:
            cell, place = row[sheet.column_heads.index(on)], sheet.column_heads.index(on)
            assert cell.marks == expected[row[0].text, on]
            assert shown[place] == cell.text + cell.marks
            in_latex = f"\\textbf{{{cell.text}}}" if cell.bold else cell.text
            if cell.marks:
                in_latex += "$^{" + cell.marks.replace("†", "\\dagger").replace("↓", "\\downarrow") + "}$"
            assert f"& {in_latex} &" in latex


def test_marks_of_measures_are_those_of_the_paired_bootstrap(made: Made):
    rows = made.tsv("table2.tsv")
    expected = {
        (system, on): {1: "‡", -1: "↓‡", 0: ""}[made.known[on, system, "GlobalAtt"].side("bootstrap", 0.05)]
        for system in SYSTEMS
        for on in TESTS
        if system != "GlobalAtt"
    }
    assert {place: rows[place[0]][f"bleu_{place[1]}_marks"] for place in expected} == expected
    assert {"‡", "↓‡"} <= {*expected.values()}


def test_matrix_and_list_show_what_the_file_has(made: Made):
    for on in SETS:
        called = "dev (mixed)" if on == "dev" else on
        matrix = made.tables.of(f"BLEU of the row minus BLEU of the column on {called};")
        for row, column in permutations(range(len(SYSTEMS)), 2):
            assert matrix[row][1 + column] == made.known[on, SYSTEMS[row], SYSTEMS[column]].text
        listed = made.tables.of(f"Every pair of systems on {called}:")
        assert len(listed) == 6
        for system, other, *_, difference, _, _, _, _, _, m, m_holm, s, s_holm, b, b_holm, r, r_holm in listed:
            pair = made.known[on, system, other]
            shown = {
                "systems": (m, m_holm),
                "sign": (s, s_holm),
                "bootstrap": (b, b_holm),
                "randomization": (r, r_holm),
            }
            assert difference == pair.text
            for test, texts in shown.items():
                assert texts == tuple("< 0.001" if p < 0.001 else f"{p:.3f}" for p in pair.p[test])


def test_the_overview_has_the_differences_of_the_matrices(made: Made):
    averages = made.tsv("table1.tsv")
    compared = made.tables.of("Each comparison that a paper claims")
    assert [row[:2] for row in compared] == [[system, "GlobalAtt"] for system in PROPOSED]
    (drawn,) = made.tables.of("Each system minus its twin")
    for system, other, _, _, ours, theirs, difference, *_ in compared:
        pairs = [made.known[on, system, other] for on in TESTS]
        assert difference == f"{fmean(pair.difference for pair in pairs):+.2f}".replace("-", "−")
        assert (ours, theirs) == (averages[system]["AVG"], averages[other]["AVG"])
    mean = fmean(made.known[on, "SDAtt", "GlobalAtt"].difference for on in TESTS)
    assert drawn[0] == "SDAtt" and drawn[2].startswith(f"{mean:+.1f} [")
