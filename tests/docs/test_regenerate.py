"""Numbers and pictures of README and docs agree with the kept results."""

import subprocess
import sys

from tests.project_copy import ROOT


def test_pages_and_picture_are_those_of_the_kept_results():
    command = [sys.executable, "docs/regenerate.py", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}run: python docs/regenerate.py"


def test_there_are_generated_blocks_and_no_picture_beside_them():
    blocks = [page for page in (ROOT / "docs").rglob("*.md") if "<!-- generated: " in page.read_text(encoding="utf-8")]
    assert {"multi30k.md", "documentation.md", "results.md"} <= {page.name for page in blocks}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/pictures/answers.svg" in readme and "report.png" not in readme
