"""Generated parts of README and docs agree with the stored results."""

import os
import re
import subprocess
import sys
from statistics import fmean

import pandas as pd
import pytest

from docs.regenerate import format_bleu_interval, render_fact_table, select_pairs
from pipeline_py.report.tables.sheet import read_sheet
from tests.docs.page_blocks import find_commands
from tests.project_copy import ROOT
from tests.test_one_name import JOBS
from tests.text_files import read_table

PROSE_PAGES = ("results/calibration", "results/embedded_corpus")
SMALL_NETWORKS, TRANSFORMERS = "multi30k_small_networks", "multi30k_transformers"
QUOTED_PAIRS = [
    (SMALL_NETWORKS, "multi30k_small/tree2seq/table3_4.dev", "Tree2Seq−Seq2Seq"),
    (SMALL_NETWORKS, "multi30k_small/tree2seq/table7.dev", "Tree2Seq−Seq2Seq-capacity"),
    (SMALL_NETWORKS, "multi30k_small/tree2seq/table3_4.dev", "Tree2Seq−Seq2Seq-bidirectional"),
    (TRANSFORMERS, f"{TRANSFORMERS}/deps_san.test_2016_flickr", "Transformer-Deps-SAN−Transformer-base"),
    (TRANSFORMERS, f"{TRANSFORMERS}/deps_san.test_2016_flickr", "Transformer-Deps-SAN [chain]−Transformer-base"),
    (TRANSFORMERS, f"{TRANSFORMERS}/transformers.test_2016_flickr", "Transformer-PASCAL−Transformer-base"),
]
"""Pages, kept comparisons and pairs of differences that sentences give, on the page and in the overview of results."""
SCRIPTS = [
    "docs/regenerate.py",
    "docs/configuration_reference.py",
    "docs/command_line_reference.py",
    "docs/file_reference.py",
    "docs/paper_settings_reference.py",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_generated_pages_are_up_to_date(script: str):
    command = [sys.executable, "-P", script, "--check"]
    result = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert result.returncode == 0, f"{result.stdout}{result.stderr}run: python {script}"


def test_there_are_generated_blocks_and_no_picture_beside_them():
    blocks = [page for page in (ROOT / "docs").rglob("*.md") if "<!-- generated: " in page.read_text(encoding="utf-8")]
    assert {"multi30k.md", "documentation.md", "embedded_corpus.md"} <= {page.name for page in blocks}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/pictures/answers.svg" in readme and "report.png" not in readme


def test_the_page_of_files_has_every_stage():
    text = (ROOT / "docs" / "reference" / "files.md").read_text(encoding="utf-8")
    assert [".".join(job) for job in JOBS if f"Stage `{'.'.join(job)}`" not in text] == []


def test_the_page_of_command_lines_has_every_module_that_pages_name():
    text = (ROOT / "docs" / "reference" / "command_lines.md").read_text(encoding="utf-8")
    modules = {command.words[2] for command in find_commands() if command.words[:2] == ("python", "-m")}
    documented = {module for module in modules if module.startswith(("pipeline_py", "benchmarks", "embedded_grammar"))}
    assert len(documented) > 5
    assert [module for module in sorted(documented) if f"\n## {module}\n" not in text] == []


def test_facts_of_runs_are_in_one_cell_and_systems_without_any_are_left_out():
    facts = pd.DataFrame(
        {"system": ["a", "b", "b", "c"], "window": [None, 5.61, 5.0, 3.0], "share": [None, 0.789, 0.5, None]}
    )
    lines = render_fact_table(facts, ["A", "B", "C"], {"window": "1", "share": "2"}).splitlines()
    assert lines[2:] == ["| B | 5.6, 5.0 | 0.79, 0.50 |", "| C | 3.0 |  |"]


def test_pairs_are_in_the_given_order_and_direction():
    rows = [("b", "a", 3, 1, 2.0, 1.5, 2.5), ("c", "a", 2, 1, -1.0, -3.0, 0.5), ("c", "b", 2, 3, -3.0, -4.0, -2.0)]
    columns = ["system", "other", "runs_system", "runs_other", "difference", "low", "high"]
    comparisons = pd.DataFrame(rows, columns=columns).assign(p_systems=0.01, p_systems_holm=0.03, detectable=1.0)
    assert select_pairs(comparisons, ["b−c", "b−a"])[columns].values.tolist() == [
        ["b", "c", 3, 2, 3.0, 2.0, 4.0],
        ["b", "a", 3, 1, 2.0, 1.5, 2.5],
    ]
    with pytest.raises(ValueError, match="no comparison b−d; there are b−a,"):
        select_pairs(comparisons, ["b−d", "b−a"])


@pytest.mark.parametrize(("name", "comparisons", "pair"), QUOTED_PAIRS)
def test_prose_has_the_kept_differences(name: str, comparisons: str, pair: str):
    page = (ROOT / f"docs/results/{name}.md").read_text(encoding="utf-8")
    findings_of_page = page.split("\n## How it was made")[0].replace(" BLEU [", " [")
    findings = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    path = ROOT / f"docs/kept/{comparisons}.comparisons.tsv"
    (row,) = select_pairs(pd.read_csv(path, sep="\t").query("metric == 'bleu'"), [pair]).itertuples()
    interval = format_bleu_interval(row.difference, row.low, row.high)
    assert interval in findings
    assert re.search(rf"(?<![−\d.]){re.escape(interval.removeprefix('+'))}", findings_of_page)


def test_prose_has_the_kept_numbers():
    """Check the numbers of the first sentences of pages, and of the table of findings, that come from kept results."""
    pages = {name: (ROOT / f"docs/{name}.md").read_text(encoding="utf-8") for name in ("results", *PROSE_PAGES)}
    claims = pd.read_csv(ROOT / "docs/kept/embedded/claims.tsv", sep="\t")
    claims = claims[(claims["metric"] == "bleu") & (claims["set"] == "AVG")].drop_duplicates(["system", "other"])
    intervals = {
        (row.system, row.other): format_bleu_interval(row.difference, row.low, row.high) for row in claims.itertuples()
    }
    gain = intervals["Tree2Seq", "Seq2Seq"]
    assert gain in pages["results"] and gain[1:].replace(" [", " BLEU [") in pages["results/embedded_corpus"]
    loss, most, least = re.findall(r"−([\d.]+)", intervals["Tree2Seq", "Tree2Seq [right-branching]"])
    expected_loss = f"{loss} [{least}, {most}] worse than itself with right-branching trees"
    assert expected_loss in pages["results/embedded_corpus"]
    accuracies = {
        row[0].text: row[3].text for row in read_sheet(ROOT / "docs/kept/calibration/calibration.sheet.json").rows
    }
    for system in ("SDAtt [gold]", "+SDAtt [gold]"):
        accuracy, low, _, high = accuracies[system].replace("(", "").replace(")", "").split()
        assert f"{accuracy} % [{low}, {high}]" in pages["results/calibration"]
        assert f"{float(accuracy):.1f} % [{low}, {high}]" in pages["results"]
    narrow = [accuracies[f"{system} [gold]"].split()[0] for system in ("SDAtt-2", "+SDAtt-2")]
    assert f"with D = 2 for most ({' and '.join(narrow)} %)" in pages["results/calibration"]


CALIBRATION_ROW_HEADS = {
    "SDAtt [gold]": "SDAtt, D = 4",
    "SDAtt-2 [gold]": "SDAtt, D = 2",
    "SDAtt-1 [gold]": "SDAtt, D = 1",
    "+SDAtt [gold]": "+SDAtt, D = 4",
    "+SDAtt-2 [gold]": "+SDAtt, D = 2",
    "Tree2Seq [right]": "Tree2Seq, divided to the right",
    "Hierarchical [right]": "Hierarchical, divided to the right",
    "BiRNN-GCN [gold]": "BiRNN + GCN",
    "Transformer-base": "Transformer",
    "Transformer-labels [gold]": "Transformer + labels",
    "+ labels [gold]": "Transformer + labels",
    "+ parsing task [gold]": "Transformer + parsing task",
    "Transformer-PASCAL [gold]": "PASCAL",
    "Transformer-PASCAL-0 [gold]": "PASCAL without parent ignoring",
    "Transformer-Deps-SAN [gold]": "Deps-SAN",
}
"""Heads of the calibration page's rows that are not the names in the kept tables."""


def read_page_rows(name: str) -> list[list[str]]:
    """Return the cells of all rows of the tables on a page of results."""
    page = (ROOT / "docs" / "results" / name).read_text(encoding="utf-8")
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line[:1] == "|"]


@pytest.mark.parametrize(
    ("first_column", "tables"),
    [(1, ["embedded/calibration", "embedded/transformers_calibration"]), (4, ["calibration/calibration"])],
    ids=["default", "longer"],
)
def test_calibration_page_has_the_kept_accuracies(first_column: int, tables: list[str]):
    """Check the columns of a recipe, which are arranged by hand; the next test checks parsed and control trees."""
    rows = {row[0]: row[first_column : first_column + 3] for row in read_page_rows("calibration.md") if len(row) == 7}
    kept_heads = set()
    for table in tables:
        for system, *kept_cells in read_sheet(ROOT / f"docs/kept/{table}.sheet.json").rows:
            name, _, trees = system.text.removesuffix("]").partition(" [")
            if trees in ("", "gold", "right"):
                head = CALIBRATION_ROW_HEADS.get(system.text, name)
                phenomena, *attachments = (cell.text.replace(" to ", "–") for cell in kept_cells)
                expected = [*(text.replace(" (50.0–50.0)", "") for text in attachments), phenomena.split()[0]]
                assert rows[head] == expected, head
                kept_heads.add(head)
    assert {head for head, cells in rows.items() if re.match(r"\d", cells[0])} == kept_heads


def test_calibration_page_has_the_kept_accuracies_with_other_trees():
    rows = {row[0]: row[1:] for row in read_page_rows("calibration.md") if len(row) == 5}
    for system, phenomena, *attachments in read_sheet(ROOT / "docs/kept/embedded/calibration.sheet.json").rows:
        name, _, trees = system.text.removesuffix("]").partition(" [")
        if trees:
            cell = rows[name][["gold", "embedded", "random", "right-branching"].index(trees)]
            assert cell == phenomena.text.split()[0], system.text
        if trees not in ("", "gold"):
            assert {cell.text for cell in attachments} == {"50.00 (50.0 to 50.0)"}, system.text


def test_documentation_page_has_the_kept_contrastive_accuracies():
    """Check accuracies by seed and p-values, which are arranged by hand, against the kept tables and comparisons."""
    folder = ROOT / "docs/kept/docs_ende"
    tree_names = {" [stanza_en]": "", " [random]": ", random trees", " [right-branching]": ", right-branching trees"}

    def find_row_head(system: str) -> str:
        name, bracket, trees = system.partition(" [")
        return name + tree_names[bracket + trees] if trees else name

    page = (ROOT / "docs/results/documentation.md").read_text(encoding="utf-8")
    page_rows = read_page_rows("documentation.md")
    tables = ("contrastive_tree_encoder", "contrastive_ende")
    for system, *kept_cells in (row for table in tables for row in read_sheet(folder / f"{table}.sheet.json").rows):
        row_head = find_row_head(system.text)
        (cells,) = (row[1:] for row in page_rows if row[0] == row_head and len(row) == 4)
        for cell, kept_cell in zip(cells, kept_cells, strict=True):
            assert fmean(map(float, cell.split(", "))) == pytest.approx(float(kept_cell.value), abs=0.0101), row_head
    p_values: dict[str, list[float]] = {}
    for table in tables:  # pairs in both tables have the p-values of the last, with more pairs
        table_p_values: dict[str, list[float]] = {}
        for split in ("np_agreement", "subj_verb_agreement", "polarity"):
            for row in read_table(folder / f"{table}.{split}.contrast_comparisons.tsv"):
                names = f"{find_row_head(row['system'])} − {find_row_head(row['other'])}"
                table_p_values.setdefault(names, []).append(float(row["p_mcnemar_holm"]))
        p_values |= table_p_values
    for names in ("SDAtt − SDAtt, random trees", "Tree2Seq − Seq2Seq", "Seq2Seq-bidirectional − Seq2Seq"):
        (cells,) = (row[1:] for row in page_rows if row[0] == names and len(row) == 4)
        for cell, p_value in zip(cells, p_values[names], strict=True):
            printed = re.search(r"p (=|<) ([\d.]+)", cell)
            assert (
                p_value > 0.05
                if printed is None
                else p_value < 0.001
                if printed[1] == "<"
                else float(printed[2]) == float(f"{p_value:.1g}")
            ), (names, cell, p_value)
    assert "(p at least 0.5)" in page and 0.5 <= min(p_values["SDAtt − GlobalAtt"]) < 0.6
    assert (
        "random trees (p at least 0.88)" in page and 0.88 <= min(p_values["Tree2Seq, random trees − Tree2Seq"]) < 0.89
    )
    lowest_p_value = min(p_values["Tree2Seq, right-branching trees − Tree2Seq"])
    assert "right-branching trees (p at least 0.34)" in page and 0.34 <= lowest_p_value < 0.35


@pytest.mark.parametrize("table", ["tree_encoder", "syntax"])
def test_multi30k_page_has_the_kept_scores(table: str):
    """Check scores in tables that are arranged by hand: val and test_2016_flickr in BLEU with Moses tokens."""
    page_rows = read_page_rows("multi30k.md")
    tree_names = {"treebanks]": "", "random]": ", random trees", "chain]": ", chain"}
    tree_names["right-branching]"] = ", right-branching trees"
    for system, *kept_cells in read_sheet(ROOT / f"docs/kept/multi30k/{table}.sheet.json").rows:
        name, _, trees = system.text.partition(" [")
        row_head = name + tree_names.get(trees, "")
        assert [row_head, *(cell.text for cell in kept_cells[-2:])] in [row[:3] for row in page_rows]
