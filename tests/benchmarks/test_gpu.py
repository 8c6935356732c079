"""Measurements on a GPU in limited time, tried on a CPU in tiny sizes."""

import csv
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from benchmarks import machine_metadata
from benchmarks.gpu_measurements import MEASUREMENTS
from benchmarks.timed_jobs import Outcome, TimedJob, run_jobs
from benchmarks.toolkits.kernel_profile import measure_union, profile_kernels

ROOT = Path(__file__).parents[2]
COLUMNS = (
    *("measurement", "system", "sizes", "precision", "recorded", "processes", "wall_ms", "kernel_ms", "kernels"),
    *("busy_share", "words_per_second", "peak_mb", "commit", "code", "torch", "device"),
)


def build_job(name: str, code: str, expected_seconds: float = 0.1) -> TimedJob:
    return TimedJob(name, [sys.executable, "-c", code], expected_seconds)


def build_command(folder: Path, *names: str) -> list[str]:
    folders = ["--work", str(folder / "work"), "--results", str(folder)]
    only = [word for name in names for word in ("--only", name)]
    return [sys.executable, "-m", "benchmarks.gpu", "--device", "cpu", *folders, *only]


def read_rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "gpu.tsv").open(encoding="utf-8") as file:
        return [*csv.DictReader(file, delimiter="\t")]


def is_running(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def check_row(row: dict[str, str]) -> None:
    assert tuple(row) == COLUMNS
    assert all(value for name, value in row.items() if name not in ("commit", "sizes"))
    assert float(row["wall_ms"]) > 0 and float(row["kernels"]) > 100 and float(row["kernel_ms"]) > 0
    assert float(row["busy_share"]) == pytest.approx(float(row["kernel_ms"]) / float(row["wall_ms"]), rel=1e-4)
    assert row["code"] == machine_metadata.describe_code()["code"]


def test_a_deadline_ends_all_processes_of_a_job_and_keeps_earlier_rows(tmp_path: Path) -> None:
    hanging = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(tmp_path / "child")!r}, "w").write(str(child.pid))
print('{{"wall_ms": 2}}', flush=True)
print('{{"wall_ms": 3, "kern', end="", flush=True)
time.sleep(600)
"""
    jobs = [build_job("good", "print('{\"wall_ms\": 1}')"), build_job("hanging", hanging, 2), build_job("late", "1", 2)]
    start = time.monotonic()
    good, ended, skipped = run_jobs(jobs, start + 3, tmp_path)
    assert time.monotonic() - start < 6
    assert (good.outcome, good.row) == (Outcome.FINISHED, {"wall_ms": 1})
    assert (ended.outcome, ended.row) == (Outcome.ENDED, {"wall_ms": 2})
    assert (skipped.outcome, skipped.row) == (Outcome.SKIPPED, None)
    child, end = int((tmp_path / "child").read_text()), time.monotonic() + 10
    while is_running(child) and time.monotonic() < end:  # a killed process needs a processor to end
        time.sleep(0.1)
    assert not is_running(child)


def test_a_job_that_hangs_leaves_time_for_the_others(tmp_path: Path) -> None:
    jobs = [build_job("hanging", "import time; time.sleep(600)"), build_job("good", "print('{}')", 5)]
    assert [result.outcome for result in run_jobs(jobs, time.monotonic() + 60, tmp_path)] == [
        Outcome.ENDED,
        Outcome.FINISHED,
    ]


def test_a_job_that_fails_does_not_stop_the_others(tmp_path: Path) -> None:
    jobs = [build_job("bad", "print('{}'); raise SystemExit('no memory')", 5), build_job("good", "print('{}')", 5)]
    bad, good = run_jobs(jobs, time.monotonic() + 60, tmp_path)
    assert (bad.outcome, bad.row) == (Outcome.FAILED, {})
    assert "no memory" in bad.log_path.read_text()
    assert good.outcome is Outcome.FINISHED


def test_the_time_in_which_some_kernel_runs() -> None:
    intervals = [(3, 5), (0, 2), (1, 2), (4, 9), (9, 10), (12, 13)]
    assert measure_union(intervals) == len({point for start, end in intervals for point in range(start, end)})


def test_each_operator_counts_and_annotations_do_not() -> None:
    numbers = torch.ones(1000)
    with profile_kernels(torch.device("cpu")) as measurements:
        start = time.perf_counter()
        with torch.profiler.record_function("five sums"):
            for _ in range(5):
                numbers += numbers
            time.sleep(0.2)
        seconds = time.perf_counter() - start
    assert measurements["kernels"] == 5
    assert 0 < measurements["kernel_seconds"] < seconds - 0.2


def test_unknown_measurements_are_named(tmp_path: Path) -> None:
    result = subprocess.run(build_command(tmp_path, "speed"), capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 1 and "--only speed is none of update_globalatt_bfloat16" in result.stderr


@pytest.mark.slow
def test_interrupted_measurements_print_their_table(tmp_path: Path) -> None:
    command = build_command(tmp_path, "update_globalatt_float32", "eight_trainings")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stderr is not None
    while "eight_trainings" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=20)
    assert process.returncode == 130 and "interrupted" in errors
    assert "wall ms" in output and "update_globalatt_float32" in output
    check_row(read_rows(tmp_path)[0])


@pytest.mark.slow
def test_all_measurements_work_without_a_gpu(tmp_path: Path) -> None:
    result = subprocess.run(build_command(tmp_path), capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    rows = read_rows(tmp_path)
    assert [row["measurement"] for row in rows] == [
        name for name, measurement in MEASUREMENTS.items() if not measurement.needed_paths
    ]
    for row in rows:
        check_row(row)
    assert [row["processes"] for row in rows[-3:]] == ["1", "2", "2"]


@pytest.mark.slow
def test_a_measurement_that_fails_is_named_and_its_log_says_why(tmp_path: Path) -> None:
    command = build_command(tmp_path, "parse_dependency", "update_globalatt_float32")
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 1 and "parse_dependency failed; the files in this folder say why" in result.stderr
    log = (tmp_path / "work" / "logs" / "gpu" / "parse_dependency.txt").read_text()
    assert log == "error: --measurement parse_dependency needs --stanza and --text; give these, too\n"
    assert [row["measurement"] for row in read_rows(tmp_path)] == ["update_globalatt_float32"]
