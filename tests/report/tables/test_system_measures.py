"""Tests of tables of measures."""

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


class TableFiles:
    """Input files of a table of two systems, and its description."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scores: dict[tuple[str, str, str], dict[str, float]] = {}
        self.files: dict[str, Path] = {}
        self.description: dict[str, Any] = {"settings": {}, "notes": [], "set_names": {}, "lowercase_trees": False}

    def write(self, name: str, content: Any) -> Path:
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    def score(self, system: str, set_name: str, run: str, metric: str, value: float) -> None:
        scores = self.scores.setdefault((system, set_name, run), {})
        scores[metric] = value
        path = self.folder / f"{system}.{set_name}.{run}.arrow"
        self.files[f"statistics:{system}:{run}:{set_name}"] = write_statistics(path, scores, "v:1", (90, 100))

    def training(self, system: str, run: str = "seed1", **facts: Any) -> None:
        content = {"parameters": 1_234_567, "dev_perplexity": 3.21, "seconds_per_epoch": 90.0, "hidden": 8, **facts}
        self.files[f"facts:{system}:{run}"] = self.write(f"{system}.{run}.facts.json", content)

    def compared(self, set_name: str, rows: list[tuple[str, str, str, tuple[float, float], float]]) -> None:
        """Write comparisons from rows of (metric, system, other system, scores, p of systems)."""
        comparison_rows = [
            ComparisonRow(a, b, scores, p_values={"systems": p}, metric=metric) for metric, a, b, scores, p in rows
        ]
        self.files[f"comparisons:{set_name}"] = write_comparisons(
            self.folder / f"{set_name}.comparisons.tsv", comparison_rows
        )

    def drop(self, kind: str) -> None:
        """Remove the files whose names begin with `kind`."""
        self.files = {name: path for name, path in self.files.items() if not name.startswith(kind)}

    def table(self, **changes: Any) -> tuple[list[dict[str, str]], str]:
        """Render the table and return the rows of its TSV, and its Markdown."""
        output, markdown = self.folder / "t.tsv", self.folder / "t.md"
        description = {"table": TABLE | changes, **self.description}
        render_table(description=description, files=group_by_kind(self.files), **get_table_outputs(self.folder, "t"))
        return list(csv.DictReader(output.open(encoding="utf-8"), delimiter="\t")), markdown.read_text(encoding="utf-8")


@pytest.fixture
def table_files(tmp_path) -> TableFiles:
    files = TableFiles(tmp_path)
    for system, bleu in (("Tree", 25.0), ("Seq", 24.0)):
        files.score(system, "dev", "seed1", "bleu", bleu)
        files.score(system, "dev", "seed1", "ribes", bleu + 50)
        files.training(system)
    files.description["settings"] = {"Tree": {"negative_samples": "500"}}
    files.compared("dev", [("bleu", "Seq", "Tree", (24.0, 25.0), 0.02), ("ribes", "Tree", "Seq", (75.0, 74.0), 0.003)])
    return files


def test_table_has_column_for_every_measure(table_files):
    (tree, seq), markdown = table_files.table()
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
    ("other_score", "p", "symbol"),
    [(24.0, 0.009, "⇑"), (24.0, 0.01, "↑"), (24.0, 0.05, ""), (26.0, 0.001, "⇓"), (26.0, 0.02, "↓↑"), (25.0, 0.0, "")],
)
def test_mark_needs_different_score_and_small_p_value(table_files, other_score, p, symbol):
    table_files.score("Seq", "dev", "seed1", "bleu", other_score)
    table_files.compared("dev", [("bleu", "Tree", "Seq", (25.0, other_score), p)])
    marks = [TABLE["marks"][0] | {"worse": "⇓"}, TABLE["marks"][1]]
    rows, markdown = table_files.table(columns=["bleu"], marks=marks)
    assert [row["bleu_marks"] for row in rows] == [symbol, ""]
    assert (
        "No marks: no compared difference is significant (interval over sentences and runs, uncorrected)." in markdown
    ) == (not symbol)
    assert ("significantly worse than Sequence" in markdown) == (other_score == 26)


def test_mark_against_several_rows_needs_all_of_them(table_files):
    table_files.drop("statistics")
    table_files.scores = {}
    for system, bleu in (("Tree", 20.0), ("Seq", 19.0), ("Reversed", 19.0)):
        table_files.score(system, "dev", "seed1", "bleu", bleu)
    marks = [
        {"symbol": "‡", "rows": ["Tree"], "against": ["Seq", "Reversed"]},
        {"symbol": "†", "rows": ["Tree"], "against": ["Reversed"]},
    ]
    table = {"systems": ["Tree", "Seq", "Reversed"], "columns": ["bleu"], "marks": marks}

    def compared(p: float) -> tuple[list[str], str]:
        table_files.compared(
            "dev", [("bleu", "Tree", "Seq", (20.0, 19.0), p), ("bleu", "Tree", "Reversed", (20.0, 19.0), 0.01)]
        )
        rows, markdown = table_files.table(**table)
        return [row["bleu_marks"] for row in rows], markdown

    marked, markdown = compared(0.2)
    assert marked == ["†", "", ""] and "‡" not in markdown
    marked, markdown = compared(0.02)
    assert marked == ["‡", "", ""] and "†" not in markdown
    assert "‡: significantly better than Sequence and Reversed at p \\< 0.05" in markdown


def test_row_can_have_marks_for_better_and_worse(table_files):
    table_files.drop("statistics")
    table_files.scores = {}
    for system, bleu in (("Tree", 20.0), ("Seq", 19.0), ("Reversed", 21.0)):
        table_files.score(system, "dev", "seed1", "bleu", bleu)
    table_files.compared(
        "dev", [("bleu", "Seq", "Tree", (19.0, 20.0), 0.01), ("bleu", "Reversed", "Tree", (21.0, 20.0), 0.01)]
    )
    marks = [
        {"symbol": "†", "rows": ["Tree"], "against": ["Seq"]},
        {"symbol": "‡", "rows": ["Tree"], "against": ["Reversed"]},
    ]
    rows, _ = table_files.table(systems=["Tree", "Seq", "Reversed"], columns=["bleu"], marks=marks)
    assert rows[0]["bleu_marks"] == "†↓‡"


def test_same_symbol_for_better_and_worse_raises_error(table_files):
    marks = [{"symbol": "↓", "rows": ["Tree"], "against": ["Seq"]}, {**TABLE["marks"][1], "worse": "↓"}]
    with pytest.raises(ValueError, match="↓ would mark both better and worse scores"):
        table_files.table(columns=["bleu"], marks=marks)


def test_several_runs_give_mean_and_deviation(table_files):
    for system in ("Tree", "Seq"):
        table_files.score(system, "dev", "seed2", "bleu", 27.0)
    rows, markdown = table_files.table(columns=["bleu"], marks=[])
    assert rows[0] == {"system": "Tree", "bleu": "26.00", "bleu_sd": "1.41"}
    assert "26.00 ± 1.41" in markdown and "over 2 runs" in markdown


def test_single_measure_on_several_sets_has_set_names_as_heads(table_files):
    for system in ("Tree", "Seq"):
        table_files.score(system, "one", "seed1", "bleu", 30.0)
    table_files.description["set_names"] = {"dev": "Dev (x)"}
    rows, markdown = table_files.table(sets=["one", "dev"], columns=["parameters", "bleu"], marks=[])
    assert [*rows[0]] == ["system", "parameters", "bleu_one", "bleu_dev"]
    assert "| System | Parameters | one | Dev (x) |" in markdown and "Scores are" not in markdown


def test_system_without_facts_has_empty_cells(table_files):
    table_files.drop("facts:Seq")
    rows, markdown = table_files.table(columns=["parameters", "perplexity", "bleu"], marks=[])
    assert rows[1]["parameters"] == "" and rows[1]["perplexity"] == "" and "| Sequence | – | – | 24.00 |" in markdown


def test_missing_fact_of_a_run_gives_empty_cell(table_files):
    """A phrase-based system has no hidden size, and a diverged training no perplexity."""
    table_files.drop("facts")
    table_files.training("Tree", "seed1")
    table_files.training("Tree", "seed2", dev_perplexity=None)
    table_files.files["facts:Seq:single"] = table_files.write("smt.json", {"parameters": None, "seconds": 3.0})
    rows, markdown = table_files.table(columns=["hidden", "parameters", "perplexity", "minutes", "bleu"], marks=[])
    assert [(row["hidden"], row["perplexity"], row["minutes"]) for row in rows] == [("8", "", "1.50"), ("", "", "")]
    assert "| Sequence | – | – | – | – | 24.00 |" in markdown


def test_note_states_parser_accuracy(table_files):
    accuracy = table_files.write("a.tsv", "metric\tvalue\tsentences\twords\nbracket F1\t74.57\t1464\t26000\n")
    table_files.files["accuracy:p:ptb"], table_files.description["lowercase_trees"] = accuracy, True
    _, markdown = table_files.table()
    assert "Parser p: bracket F1 74.57 on 1464 held-out lower-cased sentences." in markdown


def test_note_names_trainings_without_compiled_code(table_files):
    table_files.training("Tree", "seed2", kernels=True)
    assert "compiled code" not in table_files.table()[1]
    table_files.training("Seq", "seed2", kernels=False)
    assert "Trained without compiled code (see kernels in the facts)" in table_files.table()[1]


def test_notes_of_description_are_shown(table_files):
    table_files.description["notes"] = ["Rows differ in search: beam 5 (Seq); beam 20 (Tree)."]
    assert "Rows differ in search: beam 5 (Seq); beam 20 (Tree)." in table_files.table()[1]


def test_cpu_time_and_wall_clock_time_have_columns(table_files):
    table_files.training("Tree", "seed1", cpu_seconds_per_epoch=36.0, core_share=0.2)
    table_files.training("Tree", "seed2", cpu_seconds_per_epoch=30.0, core_share=0.4)
    table_files.training("Seq", "seed2", cpu_seconds_per_epoch=33.0, core_share=1.0)
    table_files.drop("facts:Seq:seed1")
    rows, markdown = table_files.table(columns=["minutes", "cpu_minutes"], marks=[])
    assert [(row["minutes"], row["cpu_minutes"]) for row in rows] == [("1.50", "0.55"), ("1.50", "0.55")]
    assert "part of the time: Tree 30 %. Compare" in markdown and "CPU time: CPU minutes" in markdown
    assert "part of the time" not in table_files.table(columns=["bleu"])[1]


def test_accuracy_has_column_for_every_contrastive_set(table_files, tmp_path):

    def scores(name, *values):
        rows = "".join(f"{value}\t3\n" for value in values)
        return table_files.write(name, f"log_probability\tpieces\n{rows}")

    table_files.description["contrastive"] = ["gender", "order"]
    for set_name, numbers in {"gender": (1, 2, 3, 4), "order": (1, 1, 2, 2)}.items():
        rows = "".join(f"{number}\t\t\t\n" for number in numbers)
        table_files.files[f"pairs:{set_name}"] = table_files.write(
            f"{set_name}.pairs.tsv", f"sentence\tkind\tdistance\tfrequency\n{rows}"
        )
    for set_name, (first, second) in {
        "gender": ((-1, -2, -4, -3), (-1, -1, -1, -3)),
        "order": ((-9,) * 4, (-1,) * 4),
    }.items():
        for run, log_probabilities in (("seed1", first), ("seed2", second)):
            table_files.files[f"correct:Tree:{run}:{set_name}"] = scores(
                f"{set_name}.{run}.correct", *log_probabilities
            )
            table_files.files[f"contrastive:Tree:{run}:{set_name}"] = scores(
                f"{set_name}.{run}.contrastive", -2, -2, -2, -3
            )
    (tree, seq), markdown = table_files.table(columns=["bleu", "contrast"], marks=[])
    assert [*tree] == [
        "system",
        "bleu",
        "bleu_sd",
        *(f"contrast_{set_name}{end}" for set_name in ("gender", "order") for end in ("", "_sd")),
    ]
    assert (tree["contrast_gender"], tree["contrast_gender_sd"]) == ("50.00", "35.36")
    assert (tree["contrast_order"], seq["contrast_gender"], seq["contrast_order"]) == ("50.00", "", "")
    assert "| System | BLEU | Acc. gender | Acc. order |" in markdown
    assert "| Sequence | 24.00 | – | – |" in markdown
    assert "| Tree | 25.00 | 50.00 ± 35.36 (15.0 to 85.0) | 50.00 ± 70.71 (0.8 to 99.2) |" in markdown
    assert "Sequence has no Acc.: a phrase-based system cannot score a translation that" in markdown
    assert "Tree has no Acc." not in markdown and "over 2 runs" in markdown


def test_accuracy_column_needs_no_statistics(table_files):
    table_files.files = {name: path for name, path in table_files.files.items() if name.startswith("facts")}
    table_files.description["contrastive"] = ["gender"]
    (tree, _), markdown = table_files.table(columns=["contrast"], marks=[])
    assert tree == {"system": "Tree", "contrast_gender": ""} and "Scores are on" not in markdown


def test_lengths_count_words_before_detokenization(table_files, tmp_path):
    """References are counted as tokenized, because BLEU's tokens of Chinese are characters."""
    table_files.files["words:Tree:seed1:dev"] = table_files.write(
        "words.json", '{"in": 4, "kept": 4, "dropped": {}, "noted": {"words": 26}}'
    )
    table_files.files["reference_tokens:dev"] = table_files.write("tokens", "a b c\nd\n")
    (tree, seq), markdown = table_files.table(columns=["bleu", "length", "length_ratio"], marks=[])
    assert (tree["length"], seq["length"]) == ("6.50", "9.00")
    assert "References have 2.00 words on average." in markdown
    assert tree["length_ratio"] == "0.90"
    assert "Length ratio: words of translations divided by words of references." in markdown


PUBLISHED = Path(__file__).parents[3] / "workflow" / "published"
TABLE_4 = {
    "paper": "tree2seq",
    "table": "4",
    "task": "en-ja",
    "names": {"Tree": "Tree-to-Sequence NMT (K = 500)", "Seq": "Sequence-to-Sequence NMT w/ reverse inputs (K = 500)"},
}


def test_published_numbers_follow_our_measures(table_files):
    table_files.files["published"] = PUBLISHED / "tree2seq.tsv"
    table_files.description["dev"] = "Development"
    plain_rows, plain_markdown = table_files.table()
    assert "paper" not in plain_markdown
    rows, markdown = table_files.table(published=TABLE_4)
    columns = [f"{name}_published" for name in ("perplexity", "ribes", "bleu", "minutes")]
    assert [*rows[0]] == [*plain_rows[0], *columns]
    assert [rows[0][name] for name in columns] == ["16.2", "75.8", "24.8", "7.0"]
    assert [rows[1][name] for name in columns] == ["18.8", "74.7", "23.0", ""]
    assert [{name: row[name] for name in plain_rows[0]} for row in rows] == plain_rows, "marks are of our scores"
    assert "| Time | Perp. (paper) | RIBES (paper) | BLEU (paper) | Time (paper) |" in markdown
    assert "| 16.2 | 75.8 | 24.8 | 7.0 |" in markdown and "| 18.8 | 74.7 | 23.0 | – |" in markdown
    assert "(paper): published numbers" in markdown
    latex = (table_files.folder / "t.tex").read_text(encoding="utf-8")
    assert "Perp. (paper)" in latex and "18.8 & 74.7 & 23.0 & --" in latex


def test_published_parameters_are_in_the_text_of_the_paper(table_files):
    table_files.files["published"] = PUBLISHED / "tree2seq.tsv"
    table_files.description["dev"] = "Development"
    names = {"Tree": "Tree-to-Sequence NMT", "Seq": "Sequence-to-Sequence NMT"}
    table_7 = {**TABLE_4, "table": "7", "names": names}
    rows, _ = table_files.table(published=table_7)
    assert "parameters_published" not in rows[0] and rows[0]["bleu_published"] == "25.6"
    rows, markdown = table_files.table(published={**table_7, "sections": ["Section 5.3"]})
    assert [row["parameters_published"] for row in rows] == ["21400000"] * 2
    assert "| 21.4M |" in markdown


def test_published_sets_have_the_names_of_the_paper(table_files):
    for system, bleu in (("Tree", 25.0), ("Seq", 24.0)):
        for name in ("dev", "mt05"):
            table_files.score(system, name, "seed1", "bleu", bleu)
    table_files.drop("comparisons")
    table_files.files["published"] = PUBLISHED / "hierarchical.tsv"
    published = {
        **{"paper": "hierarchical", "table": "3", "task": "en-zh", "columns": {"mt05": "MT05", "dev": "MT08"}},
        "names": {"Tree": "tree-based encoder", "Seq": "sequential encoder"},
    }
    changes: dict[str, Any] = {"sets": ["mt05", "dev"], "columns": ["parameters", "bleu"], "marks": []}
    rows, markdown = table_files.table(**changes, published=published)
    assert "| parameters (paper) | mt05 (paper) | dev (paper) |".lower() in markdown.replace("\\", "").lower()
    names = [f"{name}_published" for name in ("parameters", "bleu_mt05", "bleu_dev")]
    assert [[row[name] for name in names] for row in rows] == [
        ["95000000", "24.68", "17.63"],
        ["86800000", "23.98", "17.20"],
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"table": "13"}, "the paper has no table 13 of en-ja"),
        (
            {"names": {"Tree": "Tree"}},
            "`published.names` names 'Tree', which the paper does not have there; it has Seq",
        ),
        ({"columns": {"dev": "Dev"}}, "`published.columns` names 'Dev', which the paper"),
        ({"sections": ["Section 9"]}, "`published.sections` names 'Section 9', which the paper"),
        ({"names": {}}, "has no number of these rows and columns; set `names` and `columns` of `published`"),
    ],
)
def test_published_numbers_that_do_not_exist_raise_error(table_files, changes, message):
    table_files.files["published"] = PUBLISHED / "tree2seq.tsv"
    table_files.description["dev"] = "Development"
    with pytest.raises(InputError) as error:
        table_files.table(published=TABLE_4 | changes)
    assert message in str(error.value)
