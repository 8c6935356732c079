"""Measure the overhead of a run of the workflow: the time of Snakemake itself, and of the imports of stages.

    python -m benchmarks.overhead                       results/table1.tsv, made from nothing
    python -m benchmarks.overhead --target all --cores 8

Python reports the time of each import (`PYTHONPROFILEIMPORTTIME`), for stages in their logs. This is wall-clock time:
run it on an idle machine.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from pipeline_py.run.command import run_command
from pipeline_py.run.errors import InputError

ROOT = Path(__file__).parents[1]
PROJECT = ("pipeline_py", "workflow", "profiles", "envs", "Snakefile", "config.yaml")
"""What a run needs of the project."""

IMPORT = re.compile(r"^import time: +(\d+) \| +\d+ \| +(\S+)$", flags=re.MULTILINE)
"""Microseconds of an import without those within it, and the module."""


class Imports(NamedTuple):
    """What all processes of a stage imported: how many they are, and seconds together."""

    stage: str
    processes: int
    seconds: float


def overhead(*, target: str = "results/table1.tsv", cores: int = 0, configfile: Path | None = None) -> None:
    """Run the workflow in a copy of the project, and print its overhead.

    Args:
        target: File or target that is made from scratch.
        cores: Jobs that Snakemake runs at once; 0: one for each core.
        configfile: An experiment other than the default one.

    Raises:
        InputError: the run fails; its messages are printed above.
    """
    options = ["--cores", str(cores or "all"), *(["--configfile", str(configfile.resolve())] if configfile else [])]
    with tempfile.TemporaryDirectory(prefix="overhead.") as name:
        folder = Path(name)
        copy_project(folder)
        began = time.perf_counter()
        own, everything = run(folder, [*options, "--", target])
        wall = time.perf_counter() - began
        rows = imports_by_stage(folder / "logs")
    imports = sum(row.seconds for row in rows)
    for label, seconds in [("Snakemake", own), *((f"{row.stage} ({row.processes} ×)", row.seconds) for row in rows)]:
        print(f"{label:<40}{seconds:>9.2f} s{seconds / everything:>8.1%}")
    print(f"wall time {wall:.1f} s, CPU time {everything:.1f} s on {len(os.sched_getaffinity(0))} core(s)")
    print(f"overhead {(own + imports) / everything:.1%}: Snakemake {own / everything:.1%}, the rest imports")


def copy_project(folder: Path) -> None:
    """Copy what is needed and nothing that was made before, not even compiled modules: as in a fresh clone."""
    for name in PROJECT:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)


def run(folder: Path, arguments: list[str]) -> tuple[float, float]:
    """Run Snakemake to its end: seconds of the CPU that it took by itself, and with all that it started.

    Raises:
        InputError: it fails.
    """
    command = [str(Path(sys.executable).with_name("snakemake")), "--quiet", "progress", "rules", "host", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONPROFILEIMPORTTIME": "1"}
    said = folder / "said"
    with said.open("wb") as file:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=sys.stderr, stderr=file)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and can be asked still
    fields = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    user, system, users, systems = (int(field) / os.sysconf("SC_CLK_TCK") for field in fields[11:15])
    if process.wait():
        lines = said.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        sys.stderr.writelines(line for line in lines if not line.startswith("import time:"))
        raise InputError(f"Snakemake ended with exit code {process.returncode}; its message stands above")
    return user + system, user + system + users + systems


def imports_by_stage(logs: Path) -> list[Imports]:
    """Add up the imports of each stage's logs, those of the longest first."""
    found: dict[str, Imports] = {}
    for log in logs.rglob("*.log"):
        imported = IMPORT.findall(log.read_text(encoding="utf-8", errors="replace"))
        name = "/".join(log.relative_to(logs).parts[:2])
        _, processes, seconds = found.get(name, Imports(name, 0, 0.0))
        processes += sum(module == "site" for _, module in imported)
        found[name] = Imports(name, processes, seconds + sum(int(of) for of, _ in imported) / 1e6)
    return sorted(found.values(), key=lambda row: row.seconds, reverse=True)


if __name__ == "__main__":
    run_command(overhead)
