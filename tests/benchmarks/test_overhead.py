"""The overhead of a run of the workflow."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.overhead import sum_stage_seconds

ROOT = Path(__file__).parents[2]


def test_a_job_with_two_outputs_counts_once(tmp_path):
    for name, stage, seconds in (("a", "x.y", 1.5), ("b", "x.y", 1.5), ("c", "x.z", 2.0)):
        record = {"stage": stage, "arguments": {"outputs": ["a", "b"]}, "seconds": seconds}
        (tmp_path / f".{name}.job.json").write_text(json.dumps(record))
    assert sum_stage_seconds(tmp_path) == 3.5


def run_overhead_benchmark(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "benchmarks.overhead", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


@pytest.mark.slow
def test_both_kinds_of_runs_are_measured():
    result = run_overhead_benchmark("--target", "results/corpus/tokenized/dev.source")
    assert result.returncode == 0, result.stderr
    rows = re.findall(r"^(.+?) {2,}([\d.]+) s +([\d.]+) s +([\d.]+) s$", result.stdout, flags=re.MULTILINE)
    assert [row[0] for row in rows] == ["processes of their own", "from the server"]
    assert all(float(cpu) > float(stages) > 0 for _, _, cpu, stages in rows)


def test_a_run_that_fails_measures_nothing():
    result = run_overhead_benchmark("--target", "results/nothing")
    assert result.returncode == 1 and "results/nothing" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: Snakemake ended with exit code 1")
