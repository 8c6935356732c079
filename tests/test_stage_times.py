"""What a stage records of its time, in a process of its own."""

import json
import os
import subprocess
import sys

import pytest

from pipeline_py.stage_times import RECORDS, recorded

# Half a second of work, of which the import of a module that takes a quarter is none.
STAGE = """
import sys, time
from pipeline_py import stage

def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: pass

def slow(*, fails: bool = False) -> None:
    busy(0.2)
    import module
    module.__name__
    import module
    busy(0.3)
    if fails:
        raise stage.InputError("fails")

busy(0.1)
stage.run(slow)
"""
MODULE = "import time, json\nend = time.process_time() + 0.25\nwhile time.process_time() < end: pass\n"


def run(folder, *arguments, **settings):
    (folder / "module.py").write_text(MODULE)
    return subprocess.run(
        [sys.executable, "-c", STAGE, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **settings},
    )


@pytest.mark.parametrize("arguments", [[], ["--fails"]])
def test_imports_are_told_from_work(tmp_path, arguments):
    path = tmp_path / "times.jsonl"
    for _ in range(2):
        assert run(tmp_path, *arguments, **{RECORDS: str(path)}).returncode == len(arguments)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["stage"] for record in records] == ["slow", "slow"]
    for record in records:
        assert 0.1 < record["cpu_before"] < 2
        assert 0.25 <= record["cpu_imports"] < 0.4
        assert 0.5 <= record["cpu"] - record["cpu_imports"] < 0.6
        ((began, ended),) = record["imports"]
        assert record["began"] + 0.2 <= began and began + 0.25 <= ended <= record["ended"] - 0.3


def test_nothing_is_measured_where_nobody_asks(tmp_path):
    assert run(tmp_path).returncode == 0
    assert [file.name for file in tmp_path.iterdir() if file.suffix] == ["module.py"]


def test_imports_are_those_of_before_afterwards(tmp_path, monkeypatch):
    before = __import__
    monkeypatch.setenv(RECORDS, str(tmp_path / "times"))
    with recorded("a"):
        assert __import__ is not before
    assert __import__ is before
