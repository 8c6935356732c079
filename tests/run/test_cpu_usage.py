"""What processes take of processors, and what is said of it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline_py.run import cpu_usage
from pipeline_py.run.cpu_usage import CpuUsage, build_usage_metadata, get_machine_load

BUSY = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"


def busy(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_time_of_processors_is_counted_and_time_asleep_is_not():
    counted = CpuUsage()
    before = counted.measure_cpu_seconds()
    time.sleep(0.3)
    asleep = counted.measure_cpu_seconds()
    busy(0.2)
    assert asleep - before < 0.1 and 0.2 <= counted.measure_cpu_seconds() - asleep < 0.3


def test_what_a_process_started_counts_once_it_ended():
    counted = CpuUsage()
    before = counted.measure_cpu_seconds()
    subprocess.run([sys.executable, "-c", BUSY], input="\n", text=True, stdout=subprocess.DEVNULL, check=True)
    assert counted.measure_cpu_seconds() - before >= 0.3


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="times of other processes are read from /proc")
def test_other_processes_are_counted_by_their_number():
    with subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        other.stdout.readline()
        both, alone = CpuUsage([os.getpid(), other.pid]), CpuUsage([os.getpid()])
        assert both.measure_cpu_seconds() - alone.measure_cpu_seconds() > 0.2
        other.stdin.close()
    assert both.measure_cpu_seconds() is None and both.measure_cpu_wait_seconds() is None, "it is no more there"


def test_waiting_is_that_of_all_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(cpu_usage, "PROC_FOLDER", tmp_path)
    for number, waits in {"self": [1.5, 0.25], "77": [2]}.items():
        for thread, seconds in enumerate(waits):
            place = tmp_path / number / "task" / str(thread)
            place.mkdir(parents=True)
            (place / "schedstat").write_text(f"9 {seconds * 1e9:.0f} 3\n")
    assert CpuUsage().measure_cpu_wait_seconds() == pytest.approx(1.75) and CpuUsage(
        [77]
    ).measure_cpu_wait_seconds() == pytest.approx(3.75)
    assert CpuUsage([78]).measure_cpu_wait_seconds() is None
    (tmp_path / "self" / "task" / "1" / "schedstat").write_text("")
    assert CpuUsage().measure_cpu_wait_seconds() is None


def test_a_process_has_the_share_of_the_cores_that_it_asked_for():
    assert build_usage_metadata(30.0, 10.0, 12.0, 40.0) == {
        "cpu_seconds": 30.0,
        "core_share": 0.75,
        "machine_load": 0.3,
    }
    assert build_usage_metadata(None, 10.0, 0.0, 4.0) == {"cpu_seconds": None, "core_share": None, "machine_load": 0.0}
    assert build_usage_metadata(0.0, 0.0, 0.0, 0.0) == {"cpu_seconds": 0.0, "core_share": None, "machine_load": None}
    assert build_usage_metadata(5.0, None, 8.0, 4.0)["core_share"] is None


def test_the_load_is_that_of_a_core(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (6.0, 1.0, 1.0))
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert get_machine_load() == 1.5
