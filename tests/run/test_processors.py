"""Number of processors, by CPU affinity and container quota."""

import os
from pathlib import Path

import pytest

from pipeline_py.run import cpu_usage
from pipeline_py.run.cpu_usage import count_processors


@pytest.mark.parametrize(
    ("affinity", "quota", "expected"),
    [
        (4, None, 4),
        (4, "max 100000", 4),
        (4, "200000 100000", 2),
        (4, "150000 100000", 2),
        (4, "1000 100000", 1),
        (2, "800000 100000", 2),
    ],
)
def test_the_processor_count_is_the_smaller_limit(
    monkeypatch, tmp_path: Path, affinity: int, quota: str | None, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(affinity)), raising=False)
    monkeypatch.setattr(cpu_usage, "CPU_QUOTA_FILE", tmp_path / "cpu.max")
    if quota is not None:
        (tmp_path / "cpu.max").write_text(f"{quota}\n")
    assert count_processors() == expected


def test_without_affinity_all_processors_are_counted(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    monkeypatch.setattr(cpu_usage, "CPU_QUOTA_FILE", tmp_path / "none")
    assert count_processors() == 3
