"""Plan of an experiment: GPU detection, hashes of user files, and imports."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("device", "present", "gpu_count"), [("auto", True, 1), ("auto", False, 0), ("cpu", True, 0), ("cuda", False, 1)]
)
def test_a_gpu_is_used_if_requested_or_present(build_plan, monkeypatch, device, present, gpu_count):
    monkeypatch.setattr("pipeline_py.plan.plan.which", lambda name: "/bin/true" if present else None)
    assert build_plan(training={"device": device}).gpu_count == gpu_count


def test_only_user_files_are_hashed(build_plan, tmp_path):
    file = tmp_path / "trees"
    file.write_text("(A b)\n")
    hashes = build_plan().hash_user_files([str(file), "<results>/syntax/embedded/dev.ptb", "missing"])
    assert hashes == [hashlib.sha256(b"(A b)\n").hexdigest()[:16], None]


def test_a_plan_needs_no_snakemake():
    code = "import sys, pipeline_py.plan.plan; print('snakemake' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout == "False\n"
