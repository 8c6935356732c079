"""A copy of the project in a separate folder, and the jobs that a run of the workflow would start there."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import NamedTemporaryFile

import yaml

from tests.forked_jobs import (
    PACKAGE,
    PRELOADED_CONTEXT,
    join_process,
    serve_forked_jobs,
    start_process,
    unload_project_modules,
)

ROOT = Path(__file__).parent.parent
SNAKEMAKE_PROGRAM = Path(sys.executable).with_name("snakemake")

SMALL_CONFIG = {
    "targets": None,
    "corpora": {
        "generator": {"lexicon": "whole", "digits": True, "ambiguous": 0},
        "train": {"generate": {"sentences": 120, "max_length": 45}},
        "dev": {"name": "dev", "generate": {"sentences": 20}},
        "tests": [{"name": "one", "generate": {"sentences": 20}}, {"name": "two", "generate": {"sentences": 20}}],
    },
    "parsers": {
        "embedded": {
            "treebank": {"generate": 60},
            **{name: {"epochs": 1, "hidden": 16} for name in ("tagger", "depparse", "constituency")},
        }
    },
    "systems": {"PBSMT": {"tuning": {"sentences": 5, "evaluations": 2}}},
    "model": {"embedding": 8, "hidden": 8},
    "training": {"epochs": 1},
    "decoding": {"beam": 2},
    "tables": {"table1": {"systems": ["GlobalAtt", "SDAtt"]}},
}


def run_snakemake(arguments: Sequence[str], folder: Path, *import_paths: Path) -> subprocess.CompletedProcess:
    """Run Snakemake to its end in a copy of the project, in a forked process, as are its jobs on this machine.

    Args:
        arguments: command-line arguments of Snakemake.
        folder: folder of the copy.
        import_paths: further folders of PYTHONPATH.
    """
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [folder, *import_paths]))}
    with NamedTemporaryFile() as output, NamedTemporaryFile() as errors, serve_forked_jobs() as python:
        files = [output.name, errors.name]
        process = PRELOADED_CONTEXT.Process(target=_run_in_copy, args=(arguments, folder, variables, files, python))
        start_process(process)
        exit_code = join_process(process)
        outputs = [Path(file).read_text(encoding="utf-8") for file in files]
    return subprocess.CompletedProcess(arguments, exit_code, *outputs)


def _get_file_stats(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the size and modification time of each code file; copies of a file have the same."""
    files = [file for file in folder.glob("pipeline_py/**/*.*") if "__pycache__" not in file.parts]
    return {file.relative_to(folder): (file.stat().st_size, file.stat().st_mtime_ns) for file in files}


def _run_in_copy(
    arguments: Sequence[str], folder: Path, environment: dict[str, str], output_paths: Sequence[str], python: Path
) -> None:
    if _get_file_stats(folder) != _get_file_stats(ROOT):  # the imported modules are other code
        unload_project_modules()
    else:
        sys.modules[PACKAGE].__file__ = str(folder / PACKAGE / "__init__.py")
    for descriptor, file in enumerate(output_paths, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_APPEND), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = environment["PYTHONPATH"].split(os.pathsep)
    sys.argv, sys.executable = [str(SNAKEMAKE_PROGRAM), *arguments], str(python)
    from snakemake.cli import main  # preloaded (`tests.preloaded_modules`); an import of this module does not load it

    main()


class ProjectCopy:
    """A copy of the project to work in.

    Attributes:
        import_paths: further folders of PYTHONPATH.
    """

    import_paths: tuple[Path, ...] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("pipeline_py", "embedded_grammar", "workflow", "profiles", "envs"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))  # half written
        for name in ("Snakefile", "config.yaml"):
            shutil.copy(ROOT / name, folder)

    def copy_to(self, folder: Path) -> "ProjectCopy":
        """Copy the project to another folder, with all its results."""
        copy = ProjectCopy.__new__(ProjectCopy)
        copy.folder = shutil.copytree(self.folder, folder, symlinks=True)
        return copy

    def run_snakemake(self, *arguments: str, config: dict | None = None) -> subprocess.CompletedProcess:
        """Run Snakemake to its end."""
        return run_snakemake(self._build_options(arguments, config), self.folder, *self.import_paths)

    def kill_at_message(self, message: str, *arguments: str, config: dict | None = None) -> None:
        """Run Snakemake, and kill it and all its jobs one second after it prints a message."""
        command = [str(SNAKEMAKE_PROGRAM), "--verbose", *self._build_options(arguments, config)]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, start_new_session=True, cwd=self.folder, env=environment, text=True
        )
        assert any(message in line for line in process.stderr), "it ended without the message"
        time.sleep(1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _build_options(self, arguments: tuple[str, ...], config: dict | None) -> list[str]:
        (self.folder / "small.yaml").write_text(
            yaml.safe_dump(merge_configs(SMALL_CONFIG, config or {}), sort_keys=False)
        )
        return ["--configfile", "small.yaml", "--cores", "2", *arguments]

    def count_planned_jobs(self, *targets: str, config: dict | None = None) -> dict[str, int]:
        """Count the jobs of each rule that a run would start."""
        return Counter(rule for rule, _ in self.list_planned_jobs(*targets, config=config))

    def list_planned_jobs(self, *targets: str, config: dict | None = None) -> list[tuple[str, dict[str, str]]]:
        """Return the rule and the wildcards of each job that a run would start."""
        result = self.run_snakemake("--dry-run", *(targets or ("results/table1.tsv",)), config=config)
        assert result.returncode == 0, result.stderr
        assert "No forecast" not in result.stderr + result.stdout  # a forecast that fails does not end a run
        jobs = re.findall(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", result.stdout + result.stderr, flags=re.MULTILINE)
        return [(rule, _parse_wildcards(text)) for rule, text in jobs]


def merge_configs(base: dict, overrides: dict) -> dict:
    merged = {
        key: merge_configs(base[key], overrides[key])
        for key in base.keys() & overrides.keys()
        if isinstance(overrides[key], dict)
    }
    return {**base, **overrides, **merged}


def _parse_wildcards(job_text: str) -> dict[str, str]:
    match = re.search(r"^ +wildcards: (.*)$", job_text, flags=re.MULTILINE)
    return dict(pair.split("=", 1) for pair in match[1].split(", ")) if match else {}
