"""Measures how much of a run of the workflow is no stage's work.

    python -m benchmarks.overhead                       results/table1.tsv, made from nothing
    python -m benchmarks.overhead --target all --cores 8

*Work* is what a stage's function does, but for what it imports (`pipeline_py.stage_times`). All else is overhead:
Snakemake itself, shells, and of every process of a stage the start of the interpreter, imports, the reading of its
options, and its end. The overhead is the larger one of two shares:

- of the CPU time of Snakemake and all processes that it started: while all cores are busy, the run would be shorter by
  that share of its wall time if there were work only. Others on the machine disturb it little.
- of the wall time: when no stage works at all, whether or not anything else does. This counts Snakemake's start, and
  whatever waits for Snakemake or for an interpreter while nothing else is to be done.

Neither counts a core that has nothing to do since the stages that are left wait for one another; how much of the cores
the run used is told beside them.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.stage_times import RECORDS

ROOT = Path(__file__).parents[1]
PROJECT = ("pipeline_py", "workflow", "profiles", "envs", "Snakefile", "config.yaml")
"""What a run needs of the project."""

Interval = tuple[float, float]


class Record(NamedTuple):
    """What a process of a stage wrote about itself; fields as `pipeline_py.stage_times.recorded` has them."""

    stage: str
    began: float
    ended: float
    imports: list[Interval]
    cpu_before: float
    cpu: float
    cpu_imports: float

    @property
    def cpu_work(self) -> float:
        """Seconds of the CPU."""
        return self.cpu - self.cpu_imports

    @property
    def work(self) -> list[Interval]:
        """When it worked: from its beginning to its end without imports."""
        ends = [self.began, *(end for interval in self.imports for end in interval), self.ended]
        return list(zip(ends[::2], ends[1::2], strict=True))


class Run(NamedTuple):
    """A run of the workflow.

    Attributes:
        wall: seconds from start to end.
        cpu: seconds of the CPU, of Snakemake and all that it started.
        cores: of the machine, that it was allowed to use.
        records: of its stages.
    """

    wall: float
    cpu: float
    cores: int
    records: list[Record]

    @property
    def cpu_work(self) -> float:
        """Seconds of the CPU."""
        return sum(record.cpu_work for record in self.records)

    @property
    def of_cpu(self) -> float:
        """Share of the CPU time that is no work."""
        return 1 - self.cpu_work / self.cpu

    @property
    def of_wall(self) -> float:
        """Share of the wall time in which no stage works."""
        return 1 - covered(interval for record in self.records for interval in record.work) / self.wall

    @property
    def used(self) -> float:
        """Share of the cores' time that was used, be it for work or not."""
        return self.cpu / (self.wall * self.cores)


class Row(NamedTuple):
    """Seconds of the CPU that all processes of a stage took.

    Attributes:
        stage: of which stage, or what else.
        processes: how many.
        start: the interpreter, imports before the function begins, options.
        imports: inside the function.
        work: the rest of the function.
    """

    stage: str
    processes: int
    start: float
    imports: float
    work: float


def overhead(
    *,
    target: str = "results/table1.tsv",
    cores: int = 0,
    configfile: Path | None = None,
    output: Path | None = None,
) -> None:
    """Run the workflow in a copy of the project, and print what is work and what is not.

    Args:
        target: what is made, from nothing.
        cores: jobs that Snakemake runs at once; 0: as many as there are cores.
        configfile: an experiment other than the default one.
        output: the seconds of each stage as TSV.

    Raises:
        InputError: the run fails.
    """
    options = ["--cores", str(cores or "all"), *(["--configfile", str(configfile.resolve())] if configfile else [])]
    with tempfile.TemporaryDirectory(prefix="overhead.") as folder:
        copy_project(Path(folder))
        run = measured(Path(folder), [*options, "--", target])
    rows = by_stage(run)
    _print(run, rows)
    if output is not None:
        with writing(output) as file:
            file.write("\t".join(Row._fields) + "\n")
            file.writelines(
                f"{row.stage}\t{row.processes}" + "".join(f"\t{s:.3f}" for s in row[2:]) + "\n" for row in rows
            )


def copy_project(folder: Path) -> None:
    """Copy what is needed and nothing that was made before, not even compiled modules: as in a fresh clone."""
    for name in PROJECT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)


def measured(folder: Path, arguments: Sequence[str]) -> Run:
    """Run Snakemake to its end.

    Raises:
        InputError: where it fails; its own words stand above.
    """
    records = folder / "stage_times.jsonl"
    command = [str(Path(sys.executable).with_name("snakemake")), "--quiet", "progress", "rules", "host", *arguments]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder), RECORDS: str(records)}, stdout=sys.stderr
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise stage.InputError(f"Snakemake ended with exit code {process.returncode}; its message stands above")
    cpu = usage.ru_utime + usage.ru_stime
    return Run(wall, cpu, len(os.sched_getaffinity(0)), list(read_records(records)))


def read_records(path: Path) -> Iterable[Record]:
    """Read what stages wrote about themselves; without the file none ran."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            yield Record(**json.loads(line))


def covered(intervals: Iterable[Interval]) -> float:
    """How long at least one of several intervals lasts."""
    total, until = 0.0, float("-inf")
    for begin, end in sorted(intervals):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def by_stage(run: Run) -> list[Row]:
    """Add up the processes of each stage, most overhead first; the last row is what no stage's process counted."""
    rows = []
    for name, group in groupby(sorted(run.records, key=lambda record: record.stage), key=lambda record: record.stage):
        records = list(group)
        sums = [
            sum(column) for column in zip(*((r.cpu_before, r.cpu_imports, r.cpu_work) for r in records), strict=True)
        ]
        rows.append(Row(name.removeprefix("pipeline_py."), len(records), *sums))
    rows.sort(key=lambda row: row.start + row.imports, reverse=True)
    rest = run.cpu - sum(row.start + row.imports + row.work for row in rows)
    return [*rows, Row("Snakemake, shells, ends of processes", 1, rest, 0.0, 0.0)]


def _print(run: Run, rows: list[Row]) -> None:
    print(f"{'seconds of the CPU':<38}{'processes':>10}{'start':>9}{'imports':>9}{'work':>9}{'overhead':>10}")
    for row in rows:
        seconds = "".join(f"{value:>9.2f}" for value in row[2:])
        print(f"{row.stage:<38}{row.processes:>10}{seconds}{(row.start + row.imports) / run.cpu:>10.1%}")
    print(f"{'together':<38}{len(run.records):>10}{'':>18}{run.cpu_work:>9.2f}{run.of_cpu:>10.1%}\n")
    print(f"wall time {run.wall:.1f} s, CPU time {run.cpu:.1f} s, {run.used:.0%} of {run.cores} core(s)")
    print(f"no work: {run.of_cpu:.1%} of the CPU time; {run.of_wall:.1%} of the wall time without any stage at work")
    print(f"overhead {max(run.of_cpu, run.of_wall):.1%}")


if __name__ == "__main__":
    stage.run(overhead, checksums=False)
