"""Tables of measures: what stands in which cell, marks, deviations, and what is refused."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.report.render_table import render_table
from pipeline_py.run.errors import InputError
from tests.nested_files import get_table_outputs, group_by_kind
from tests.report.comparison_files import ComparisonRow, write_comparisons
from tests.report.score_statistics import write_statistics

TABLE = {
    "type": "measures",
    "title": "T",
    "systems": ["Tree", "Seq"],
    "labels": {"Seq": "Sequence"},
    "columns": ["negative_samples", "parameters", "perplexity", "ribes", "bleu", "brevity", "length", "minutes"],
    "marks": [
        {"symbol": "⇑", "rows": ["Tree"], "against": ["Seq"], "level": 0.01},
        {"symbol": "↑", "rows": ["Tree"], "against": ["Seq"], "level": 0.05},
    ],
}


class Given:
    """Files of two systems on some sets, and the options that name them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scores: dict[tuple[str, str, str], dict[str, float]] = {}
        self.files: dict[str, Path] = {}
        self.description: dict[str, Any] = {"settings": {}, "notes": [], "set_names": {}, "lowercase_trees": False}

    def write(self, name: str, content: Any) -> Path:
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def score(self, system: str, on: str, run: str, metric: str, value: float) -> None:
        scores = self.scores.setdefault((system, on, run), {})
        scores[metric] = value
        path = self.folder / f"{system}.{on}.{run}.arrow"
        self.files[f"statistics:{system}:{run}:{on}"] = write_statistics(path, scores, "v:1", (90, 100))

    def training(self, system: str, run: str = "seed1", **facts: Any) -> None:
        content = {"parameters": 1_234_567, "dev_perplexity": 3.21, "seconds_per_epoch": 90.0, "hidden": 8, **facts}
        self.files[f"facts:{system}:{run}"] = self.write(f"{system}.{run}.facts.json", content)

    def compared(self, on: str, rows: list[tuple[str, str, str, tuple[float, float], float]]) -> None:
        """By metric, system, other, both scores, and p of the bootstrap."""
        made = [ComparisonRow(a, b, scores, p_values={"systems": p}, metric=metric) for metric, a, b, scores, p in rows]
        self.files[f"comparisons:{on}"] = write_comparisons(self.folder / f"{on}.comparisons.tsv", made)

    def drop(self, kind: str) -> None:
        """Leave files out."""
        self.files = {name: path for name, path in self.files.items() if not name.startswith(kind)}

    def table(self, **changes: Any) -> tuple[list[dict[str, str]], str]:
        """The rows of the TSV, and the Markdown."""
        output, markdown = self.folder / "t.tsv", self.folder / "t.md"
        description = {"table": TABLE | changes, **self.description}
        render_table(description=description, files=group_by_kind(self.files), **get_table_outputs(self.folder, "t"))
        return list(csv.DictReader(output.open(encoding="utf-8"), delimiter="\t")), markdown.read_text(encoding="utf-8")


@pytest.fixture
def given(tmp_path) -> Given:
    files = Given(tmp_path)
    for system, bleu in (("Tree", 25.0), ("Seq", 24.0)):
        files.score(system, "dev", "seed1", "bleu", bleu)
        files.score(system, "dev", "seed1", "ribes", bleu + 50)
        files.training(system)
    files.description["settings"] = {"Tree": {"negative_samples": "500"}}
    files.compared("dev", [("bleu", "Seq", "Tree", (24.0, 25.0), 0.02), ("ribes", "Tree", "Seq", (75.0, 74.0), 0.003)])
    return files


def test_every_measure_stands_in_its_column(given):
    (tree, seq), markdown = given.table()
    assert tree == {
        "system": "Tree",
        "negative_samples": "500",
        "parameters": "1234567",
        "perplexity": "3.2",
        "ribes": "75.00",
        "ribes_marks": "⇑",
        "bleu": "25.00",
        "bleu_marks": "↑",
        "brevity": "0.895",
        "length": "9.00",
        "minutes": "1.50",
    }
    assert (
        "⇑: significantly better than Sequence at p \\< 0.01 (interval over sentences and runs, uncorrected)."
        in markdown
        and "↓" not in markdown
    )
    assert seq["system"] == "Sequence" and seq["negative_samples"] == "" and seq["bleu_marks"] == ""
    assert "| Sequence | – | 1.23M | 3.2 | 74.00 | 24.00 | 0.895 | 9.00 | 1.50 |" in markdown
    assert "References have 10.00 words on average." in markdown and "BLEU: v:1." in markdown
    assert "Scores are on dev." in markdown


@pytest.mark.parametrize(
    ("other", "p", "symbol"),
    [(24.0, 0.009, "⇑"), (24.0, 0.01, "↑"), (24.0, 0.05, ""), (26.0, 0.001, "⇓"), (26.0, 0.02, "↓↑"), (25.0, 0.0, "")],
)
def test_a_mark_needs_another_score_and_a_small_p(given, other, p, symbol):
    given.score("Seq", "dev", "seed1", "bleu", other)
    given.compared("dev", [("bleu", "Tree", "Seq", (25.0, other), p)])
    marks = [TABLE["marks"][0] | {"worse": "⇓"}, TABLE["marks"][1]]
    rows, markdown = given.table(columns=["bleu"], marks=marks)
    assert [row["bleu_marks"] for row in rows] == [symbol, ""]
    assert (
        "No marks: no compared difference is significant (interval over sentences and runs, uncorrected)." in markdown
    ) == (not symbol)
    assert ("significantly worse than Sequence" in markdown) == (other == 26)


def test_a_mark_against_several_rows_needs_all_of_them(given):
    given.drop("statistics")
    given.scores = {}
    for system, bleu in (("Tree", 20.0), ("Seq", 19.0), ("Reversed", 19.0)):
        given.score(system, "dev", "seed1", "bleu", bleu)
    marks = [
        {"symbol": "‡", "rows": ["Tree"], "against": ["Seq", "Reversed"]},
        {"symbol": "†", "rows": ["Tree"], "against": ["Reversed"]},
    ]
    table = {"systems": ["Tree", "Seq", "Reversed"], "columns": ["bleu"], "marks": marks}

    def compared(p: float) -> tuple[list[str], str]:
        given.compared(
            "dev", [("bleu", "Tree", "Seq", (20.0, 19.0), p), ("bleu", "Tree", "Reversed", (20.0, 19.0), 0.01)]
        )
        rows, markdown = given.table(**table)
        return [row["bleu_marks"] for row in rows], markdown

    marked, markdown = compared(0.2)
    assert marked == ["†", "", ""] and "‡" not in markdown
    marked, markdown = compared(0.02)
    assert marked == ["‡", "", ""] and "†" not in markdown
    assert "‡: significantly better than Sequence and Reversed at p \\< 0.05" in markdown


def test_better_than_one_row_and_worse_than_another(given):
    given.drop("statistics")
    given.scores = {}
    for system, bleu in (("Tree", 20.0), ("Seq", 19.0), ("Reversed", 21.0)):
        given.score(system, "dev", "seed1", "bleu", bleu)
    given.compared(
        "dev", [("bleu", "Seq", "Tree", (19.0, 20.0), 0.01), ("bleu", "Reversed", "Tree", (21.0, 20.0), 0.01)]
    )
    marks = [
        {"symbol": "†", "rows": ["Tree"], "against": ["Seq"]},
        {"symbol": "‡", "rows": ["Tree"], "against": ["Reversed"]},
    ]
    rows, _ = given.table(systems=["Tree", "Seq", "Reversed"], columns=["bleu"], marks=marks)
    assert rows[0]["bleu_marks"] == "†↓‡"


def test_a_symbol_means_one_side(given):
    marks = [{"symbol": "↓", "rows": ["Tree"], "against": ["Seq"]}, {**TABLE["marks"][1], "worse": "↓"}]
    with pytest.raises(ValueError, match="↓ would mark both better and worse scores"):
        given.table(columns=["bleu"], marks=marks)


def test_runs_are_averaged(given):
    for system in ("Tree", "Seq"):
        given.score(system, "dev", "seed2", "bleu", 27.0)
    rows, markdown = given.table(columns=["bleu"], marks=[])
    assert rows[0] == {"system": "Tree", "bleu": "26.00", "bleu_sd": "1.41"}
    assert "26.00 ± 1.41" in markdown and "over 2 runs" in markdown


def test_one_measure_on_several_sets_is_headed_by_the_sets(given):
    for system in ("Tree", "Seq"):
        given.score(system, "one", "seed1", "bleu", 30.0)
    given.description["set_names"] = {"dev": "Dev (x)"}
    rows, markdown = given.table(sets=["one", "dev"], columns=["parameters", "bleu"], marks=[])
    assert [*rows[0]] == ["system", "parameters", "bleu_one", "bleu_dev"]
    assert "| System | Parameters | one | Dev (x) |" in markdown and "Scores are" not in markdown


def test_what_is_not_trained_has_no_facts(given):
    given.drop("facts:Seq")
    rows, markdown = given.table(columns=["parameters", "perplexity", "bleu"], marks=[])
    assert rows[1]["parameters"] == "" and rows[1]["perplexity"] == "" and "| Sequence | – | – | 24.00 |" in markdown


def test_what_a_training_cannot_tell_is_a_dash(given):
    """Phrases have no hidden size, and a training that went astray no perplexity."""
    given.drop("facts")
    given.training("Tree", "seed1")
    given.training("Tree", "seed2", dev_perplexity=None)
    given.files["facts:Seq:single"] = given.write("smt.json", {"parameters": None, "seconds": 3.0})
    rows, markdown = given.table(columns=["hidden", "parameters", "perplexity", "minutes", "bleu"], marks=[])
    assert [(row["hidden"], row["perplexity"], row["minutes"]) for row in rows] == [("8", "", "1.50"), ("", "", "")]
    assert "| Sequence | – | – | – | – | 24.00 |" in markdown


def test_what_is_damaged_is_named(given):
    given.write("Tree.dev.seed1.arrow", "nothing")
    with pytest.raises(InputError, match=r"Tree\.dev\.seed1\.arrow: damaged"):
        given.table()


def test_parsers_are_told_how_good_they_are(given):
    accuracy = given.write("a.tsv", "metric\tvalue\tsentences\twords\nbracket F1\t74.57\t1464\t26000\n")
    given.files["accuracy:p:ptb"], given.description["lowercase_trees"] = accuracy, True
    _, markdown = given.table()
    assert "Parser p: bracket F1 74.57 on 1464 held-out lower-cased sentences." in markdown


def test_a_training_without_compiled_code_is_named(given):
    given.training("Tree", "seed2", kernels=True)
    assert "compiled code" not in given.table()[1]
    given.training("Seq", "seed2", kernels=False)
    assert "Trained without compiled code (see kernels in the facts)" in given.table()[1]


def test_further_notes_stand_below(given):
    given.description["notes"] = ["Rows differ in search: beam 5 (Seq); beam 20 (Tree)."]
    assert "Rows differ in search: beam 5 (Seq); beam 20 (Tree)." in given.table()[1]


def test_time_of_processors_stands_beside_that_on_the_wall(given):
    given.training("Tree", "seed1", cpu_seconds_per_epoch=36.0, core_share=0.2)
    given.training("Tree", "seed2", cpu_seconds_per_epoch=30.0, core_share=0.4)
    given.training("Seq", "seed2", cpu_seconds_per_epoch=33.0, core_share=1.0)
    given.drop("facts:Seq:seed1")
    rows, markdown = given.table(columns=["minutes", "cpu_minutes"], marks=[])
    assert [(row["minutes"], row["cpu_minutes"]) for row in rows] == [("1.50", "0.55"), ("1.50", "0.55")]
    assert "that they got): Tree (30%). Compare" in markdown and "CPU time: CPU minutes" in markdown
    assert "that they got" not in given.table(columns=["bleu"])[1]


def test_accuracy_has_a_column_for_every_contrastive_set(given, tmp_path):
    """Of two runs; a system without probabilities has none, and it is said why."""

    def scores(name, *values):
        rows = "".join(f"{value}\t3\n" for value in values)
        return given.write(name, f"log_probability\tpieces\n{rows}")

    given.description["contrastive"] = ["gender", "order"]
    for on, (first, second) in {
        "gender": ((-1, -2, -4, -3), (-1, -1, -1, -3)),
        "order": ((-9,) * 4, (-1,) * 4),
    }.items():
        for run, of_run in (("seed1", first), ("seed2", second)):
            given.files[f"correct:Tree:{run}:{on}"] = scores(f"{on}.{run}.correct", *of_run)
            given.files[f"contrastive:Tree:{run}:{on}"] = scores(f"{on}.{run}.contrastive", -2, -2, -2, -3)
    (tree, seq), markdown = given.table(columns=["bleu", "contrast"], marks=[])
    assert [*tree] == [
        "system",
        "bleu",
        "bleu_sd",
        *(f"contrast_{on}{end}" for on in ("gender", "order") for end in ("", "_sd")),
    ]
    assert (tree["contrast_gender"], tree["contrast_gender_sd"]) == ("50.00", "35.36")
    assert (tree["contrast_order"], seq["contrast_gender"], seq["contrast_order"]) == ("50.00", "", "")
    assert "| System | BLEU | Acc. gender | Acc. order |" in markdown
    assert "| Sequence | 24.00 | – | – |" in markdown
    assert "| Tree | 25.00 | 50.00 ± 35.36 (15.0 to 85.0) | 50.00 ± 70.71 (15.0 to 85.0) |" in markdown
    assert "Sequence has no Acc.: a phrase-based system cannot score a translation that" in markdown
    assert "Tree has no Acc." not in markdown and "over 2 runs" in markdown


def test_accuracy_alone_needs_no_scores_of_outputs(given):
    given.files = {name: path for name, path in given.files.items() if name.startswith("facts")}
    given.description["contrastive"] = ["gender"]
    (tree, _), markdown = given.table(columns=["contrast"], marks=[])
    assert tree == {"system": "Tree", "contrast_gender": ""} and "Scores are on" not in markdown


def test_lengths_are_of_words_before_detokenization(given, tmp_path):
    """And of the references as tokenized; BLEU's tokens of Chinese are characters."""
    given.files["words:Tree:seed1:dev"] = given.write(
        "words.json", '{"in": 4, "kept": 4, "dropped": {}, "noted": {"words": 26}}'
    )
    given.files["reference_tokens:dev"] = given.write("tokens", "a b c\nd\n")
    (tree, seq), markdown = given.table(columns=["bleu", "length", "length_ratio"], marks=[])
    assert (tree["length"], seq["length"]) == ("6.50", "9.00")
    assert "References have 2.00 words on average." in markdown
    assert tree["length_ratio"] == "0.90"
    assert "Length ratio: words of translations by words of references." in markdown
