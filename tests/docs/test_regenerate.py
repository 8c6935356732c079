"""Numbers and pictures of README and docs agree with the kept results."""

import os
import subprocess
import sys

import pytest

from tests.docs.page_blocks import find_commands
from tests.project_copy import ROOT
from tests.test_one_name import JOBS

SCRIPTS = [
    "docs/regenerate.py",
    "docs/configuration_reference.py",
    "docs/command_line_reference.py",
    "docs/file_reference.py",
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
    assert {"multi30k.md", "documentation.md", "results.md"} <= {page.name for page in blocks}
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
