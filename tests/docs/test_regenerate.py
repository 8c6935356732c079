"""Numbers and pictures of README and docs agree with the kept results."""

import os
import subprocess
import sys

import pytest

from tests.project_copy import ROOT


@pytest.mark.parametrize("script", ["docs/regenerate.py", "docs/configuration_reference.py"])
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
