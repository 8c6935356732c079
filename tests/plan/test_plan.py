"""The whole plan: what it needs of the machine, and of users' files."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("asked", "present", "taken"), [("auto", True, 1), ("auto", False, 0), ("cpu", True, 0), ("cuda", False, 1)]
)
def test_the_card_is_taken_where_it_is_asked_for_or_there(planned, monkeypatch, asked, present, taken):
    monkeypatch.setattr("pipeline_py.plan.plan.which", lambda name: "/bin/true" if present else None)
    assert planned(training={"device": asked}).gpu_count == taken


def test_only_what_users_bring_is_looked_into(planned, tmp_path):
    file = tmp_path / "trees"
    file.write_text("(A b)\n")
    known = planned().hash_user_files([str(file), "<results>/syntax/embedded/dev.ptb", "missing"])
    assert known == [hashlib.sha256(b"(A b)\n").hexdigest()[:16], None]


def test_a_plan_needs_no_snakemake():
    code = "import sys, pipeline_py.plan.plan; print('snakemake' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False\n"
