"""The benchmark runs the stages of the workflow; what it measures on the smallest of texts means nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.preprocessing_steps import Step, steps
from pipeline_py.run.job import list_files
from pipeline_py.run.runner import Stage

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("step", steps(Path("folder"), merges=10, seed=1), ids=lambda step: step.name)
def test_a_step_gives_its_stage_valid_arguments(step: Step) -> None:
    assert {*list_files(Stage(step.stage).validate(step.arguments))} == step.files


def test_every_file_is_written_before_it_is_read() -> None:
    there = {Path("folder/raw.source"), Path("folder/raw.target")}
    for step in steps(Path("folder"), merges=10, seed=1):
        assert there.isdisjoint(step.outputs)
        assert step.files - set(step.outputs) <= there
        there.update(step.outputs)


@pytest.mark.slow
def test_all_stages_run_and_their_memory_is_told_for_both_sizes(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.preprocessing", "--sentences", "60", "--compare", "30", "--words", "6"]
    command += ["--merges", "20", "--folder", tmp_path / "folder", "--output", tmp_path / "out.tsv"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    names = [step.name for step in steps(Path("folder"), merges=20, seed=1)]
    table, comparison = done.stdout.split("peak MB, sentences:")
    numbers = r" +[\d,.]+"
    for name in names:
        assert re.search(rf"^{re.escape(name)}{numbers * 5}$", table, flags=re.MULTILINE)
        assert re.search(rf"^{re.escape(name)}{numbers * 2}$", comparison, flags=re.MULTILINE)
    rows = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()[1:]]
    assert [row[:2] for row in rows] == [[size, name] for size in ("30", "60") for name in names]
    assert all(int(row[4]) > 10_000_000 for row in rows), "bytes of memory, which a Python process takes at least"
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sentences", "10", "--compare", "10"], "more than --compare"),
        (["--sentences", "10000000000000"], "are free; name another --folder"),
        (["--sentences", "10", "--words", "2"], "text ended with exit code 1; its message stands above"),
    ],
)
def test_sizes_that_do_not_do_are_refused(tmp_path: Path, options: list[str], message: str) -> None:
    command = [sys.executable, "-m", "benchmarks.preprocessing", *options, "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1
    assert message in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
