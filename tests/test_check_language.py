"""The check of names, docstrings and pages."""

import subprocess
import sys
from pathlib import Path

from tests.project_copy import ROOT


def run_check(*paths: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", str(ROOT / ".ci/check_language.py"), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True)


def test_violations_are_listed_with_their_lines(tmp_path: Path) -> None:
    module, page = tmp_path / "module.py", tmp_path / "page.md"
    module.write_text('def told(found):\n    """What is found."""\n', encoding="utf-8")
    lines = ["Whoever reads", "", "```sh", "anew", "```", "", "A table. So it is, `anew`, [on](beside.md)."]
    page.write_text("\n".join(lines), encoding="utf-8")
    result = run_check(tmp_path)
    assert result.returncode == 1
    assert [line.partition(";")[0] for line in result.stdout.splitlines()] == [
        f"{module}:1: `told` is vague",
        f"{module}:1: `found` is vague",
        f"{module}:2: the docstring begins with `What`",
        f"{page}:1: `Whoever` reads as a translation",
        f"{page}:7: `. So` reads as a translation",
    ]


def test_plain_language_passes(tmp_path: Path) -> None:
    module, page = tmp_path / "module.py", tmp_path / "page.md"
    module.write_text('def count_words(text):\n    """Return the number of words."""\n', encoding="utf-8")
    page.write_text("Sort the rows.\n", encoding="utf-8")
    assert run_check(module, page).stdout == "no violations\n"
