"""Memory of the machine, CPU times of processes and the metadata about them."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline_py.run import cpu_usage
from pipeline_py.run.cpu_usage import CpuUsage, build_usage_metadata, get_machine_load

BUSY = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


def use_cpu(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_memory_limit_of_a_container_counts(tmp_path, monkeypatch):
    limit_file = tmp_path / "memory.max"
    monkeypatch.setattr(cpu_usage, "MEMORY_LIMIT_FILE", limit_file)
    machine_mb = cpu_usage.get_memory_limit_mb()
    limit_file.write_text("max\n")
    assert cpu_usage.get_memory_limit_mb() == machine_mb > 500
    limit_file.write_text("300000000\n")
    assert cpu_usage.get_memory_limit_mb() == 300


def test_cpu_time_excludes_sleep():
    counted = CpuUsage()
    before = counted.measure_cpu_seconds()
    time.sleep(0.3)
    asleep = counted.measure_cpu_seconds()
    use_cpu(0.2)
    assert asleep - before < 0.1 and 0.2 <= counted.measure_cpu_seconds() - asleep < 0.3


def test_finished_child_processes_are_counted():
    counted = CpuUsage()
    before = counted.measure_cpu_seconds()
    subprocess.run([sys.executable, "-c", BUSY], input="\n", text=True, stdout=subprocess.DEVNULL, check=True)
    assert counted.measure_cpu_seconds() - before >= 0.3


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="times of other processes are read from /proc")
def test_other_processes_are_counted_by_id():
    with subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        shared_usage, own_usage = CpuUsage([os.getpid(), process.pid]), CpuUsage([os.getpid()])
        assert shared_usage.measure_cpu_seconds() - own_usage.measure_cpu_seconds() > 0.2
        process.stdin.close()
    assert shared_usage.measure_cpu_seconds() is None and shared_usage.measure_cpu_wait_seconds() is None, (
        "it is no more there"
    )


def test_waiting_time_sums_all_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(cpu_usage, "PROC_FOLDER", tmp_path)
    for number, waits in {"self": [1.5, 0.25], "77": [2]}.items():
        for thread, seconds in enumerate(waits):
            place = tmp_path / number / "task" / str(thread)
            place.mkdir(parents=True)
            (place / "schedstat").write_text(f"9 {seconds * 1e9:.0f} 3\n")
    assert CpuUsage().measure_cpu_wait_seconds() == pytest.approx(1.75)
    assert CpuUsage([77]).measure_cpu_wait_seconds() == pytest.approx(3.75)
    assert CpuUsage([78]).measure_cpu_wait_seconds() is None
    (tmp_path / "self" / "task" / "1" / "schedstat").write_text("")
    assert CpuUsage().measure_cpu_wait_seconds() is None


def test_core_share_is_cpu_time_over_demand():
    assert build_usage_metadata(30.0, 10.0, 12.0, 40.0) == {
        "cpu_seconds": 30.0,
        "core_share": 0.75,
        "machine_load": 0.3,
    }
    assert build_usage_metadata(None, 10.0, 0.0, 4.0) == {"cpu_seconds": None, "core_share": None, "machine_load": 0.0}
    assert build_usage_metadata(0.0, 0.0, 0.0, 0.0) == {"cpu_seconds": 0.0, "core_share": None, "machine_load": None}
    assert build_usage_metadata(5.0, None, 8.0, 4.0)["core_share"] is None


def test_machine_load_is_per_core(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (6.0, 1.0, 1.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert get_machine_load() == 1.5
