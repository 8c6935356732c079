"""Generated parts of README and docs agree with the stored results."""

import os
import subprocess
import sys

import pytest

from pipeline_py.report.tables.sheet import read_sheet
from tests.docs.page_blocks import find_commands
from tests.project_copy import ROOT
from tests.test_one_name import JOBS

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


def test_calibration_page_has_the_kept_accuracies():
    """Check the default recipe's columns, which are arranged by hand, against the kept table."""
    page = (ROOT / "docs/results/calibration.md").read_text(encoding="utf-8")
    page_rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line[:1] == "|"]
    row_heads = {"SDAtt [gold]": "SDAtt, D = 4", "+SDAtt [gold]": "+SDAtt, D = 4"}
    for system, *kept_cells in read_sheet(ROOT / "docs/kept/embedded/calibration.sheet.json").rows:
        phenomena, phrases, relatives = (cell.text.split()[0] for cell in kept_cells)
        name, _, trees = system.text.removesuffix("]").partition(" [")
        if trees in ("", "gold"):
            (row,) = (row for row in page_rows if row[0] == row_heads.get(system.text, name) and len(row) == 7)
            assert [cell.split()[0] for cell in row[1:4]] == [phrases, relatives, phenomena], name
        else:
            assert (phrases, relatives) == ("50.00", "50.00"), system.text
        if trees:
            (row,) = (row for row in page_rows if row[0] == name and len(row) == 5)
            assert phenomena == row[1 + ["gold", "embedded", "random", "right-branching"].index(trees)], system.text


@pytest.mark.parametrize("table", ["tree_encoder", "syntax"])
def test_multi30k_page_has_the_kept_scores(table: str):
    """Check scores in tables that are arranged by hand: val and test_2016_flickr in BLEU with Moses tokens."""
    page = (ROOT / "docs/results/multi30k.md").read_text(encoding="utf-8")
    page_rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line[:1] == "|"]
    tree_names = {"treebanks]": "", "random]": ", random trees", "chain]": ", chain"}
    tree_names["right-branching]"] = ", right-branching trees"
    for system, *kept_cells in read_sheet(ROOT / f"docs/kept/multi30k/{table}.sheet.json").rows:
        name, _, trees = system.text.partition(" [")
        row_head = name + tree_names.get(trees, "")
        assert [row_head, *(cell.text for cell in kept_cells[-2:])] in [row[:3] for row in page_rows]
