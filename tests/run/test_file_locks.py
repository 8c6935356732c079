"""File locks, and mutual exclusion of runs that share their results."""

import fcntl
import shutil
from pathlib import Path

import pytest

from pipeline_py.run.file_locks import acquire_lock
from tests.project_copy import ProjectCopy

TARGET = "results/corpus/clean/dev.source"


def test_a_lock_is_exclusive_and_follows_no_link(tmp_path: Path) -> None:
    assert acquire_lock(tmp_path / "lock")
    assert not acquire_lock(tmp_path / "lock"), "another descriptor holds it"
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(OSError):
        acquire_lock(tmp_path / "link")
    assert not (tmp_path / "target").exists()


def test_runs_that_share_results_exclude_each_other(tmp_path: Path) -> None:
    first, second = ProjectCopy(tmp_path / "first"), ProjectCopy(tmp_path / "second")
    results = tmp_path / "first" / "results"
    results.mkdir()
    (tmp_path / "second" / "results").symlink_to(results)
    with (results / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as a run of the first folder does
        result = second.run_snakemake(TARGET)
        output = result.stdout + result.stderr
        assert result.returncode == 1 and "Traceback" not in output
        assert f"{results}: another Snakemake process writes these results, perhaps in another folder;" in output
        assert second.run_snakemake(TARGET, "--dry-run").returncode == 0
        assert not (results / "corpus").exists()
        assert second.run_snakemake(TARGET, "--nolock").returncode == 0
    shutil.rmtree(results / "corpus")
    assert first.run_snakemake(TARGET).returncode == 0 and (first.folder / TARGET).exists()
