"""A copy of the project in a folder of its own, and what a run of the workflow there would do."""

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

from tests.forked_jobs import IMPORTED, PACKAGE, forget_modules, forked_jobs, join, start

ROOT = Path(__file__).parent.parent
SNAKEMAKE = Path(sys.executable).with_name("snakemake")

SMALL = {
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


def snakemake(arguments: Sequence[str], folder: Path, *path: Path) -> subprocess.CompletedProcess:
    """Run Snakemake to its end in a copy of the project, in a process of its own; so are its jobs on this machine.

    Args:
        arguments: what follows `snakemake`.
        folder: the copy.
        path: further folders of PYTHONPATH.
    """
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [folder, *path]))}
    with NamedTemporaryFile() as output, NamedTemporaryFile() as errors, forked_jobs() as python:
        files = [output.name, errors.name]
        process = IMPORTED.Process(target=_run, args=(arguments, folder, variables, files, python))
        start(process)
        code = join(process)
        said = [Path(file).read_text(encoding="utf-8") for file in files]
    return subprocess.CompletedProcess(arguments, code, *said)


def _times(folder: Path) -> dict[Path, tuple[int, int]]:
    """Size and time of each file with code, by which a copy of a file is known."""
    files = [file for file in folder.glob("pipeline_py/**/*.*") if "__pycache__" not in file.parts]
    return {file.relative_to(folder): (file.stat().st_size, file.stat().st_mtime_ns) for file in files}


def _run(arguments: Sequence[str], folder: Path, variables: dict[str, str], files: Sequence[str], python: Path) -> None:
    if _times(folder) != _times(ROOT):  # what is imported already is other code
        forget_modules()
    else:
        sys.modules[PACKAGE].__file__ = str(folder / PACKAGE / "__init__.py")
    for descriptor, file in enumerate(files, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_APPEND), descriptor)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    sys.path[:0] = variables["PYTHONPATH"].split(os.pathsep)
    sys.argv, sys.executable = [str(SNAKEMAKE), *arguments], str(python)
    from snakemake.cli import main  # one of `tests.imported`: who only reads this module does not wait for it

    main()


class Workplace:
    """A copy of the project to work in.

    Attributes:
        path: further folders of PYTHONPATH.
    """

    path: tuple[Path, ...] = ()

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("pipeline_py", "embedded_grammar", "workflow", "profiles", "envs"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))  # half written
        for name in ("Snakefile", "config.yaml"):
            shutil.copy(ROOT / name, folder)

    def copied(self, folder: Path) -> "Workplace":
        """The same in another folder, with all that was made here."""
        copy = Workplace.__new__(Workplace)
        copy.folder = shutil.copytree(self.folder, folder, symlinks=True)
        return copy

    def snakemake(self, *arguments: str, config: dict | None = None) -> subprocess.CompletedProcess:
        """Run Snakemake to its end."""
        return snakemake(self._options(arguments, config), self.folder, *self.path)

    def killed(self, at: str, *arguments: str, config: dict | None = None) -> None:
        """Run Snakemake, and kill it and all its jobs a moment after it said something."""
        command = [str(SNAKEMAKE), "--verbose", *self._options(arguments, config)]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        process = subprocess.Popen(
            command, stderr=subprocess.PIPE, start_new_session=True, cwd=self.folder, env=environment, text=True
        )
        assert any(at in line for line in process.stderr), "it came to an end before"
        time.sleep(1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _options(self, arguments: tuple[str, ...], config: dict | None) -> list[str]:
        (self.folder / "small.yaml").write_text(yaml.safe_dump(merged(SMALL, config or {}), sort_keys=False))
        return ["--configfile", "small.yaml", "--cores", "2", *arguments]

    def planned(self, *targets: str, config: dict | None = None) -> dict[str, int]:
        """How many jobs of each rule a run would start."""
        return Counter(rule for rule, _ in self.jobs(*targets, config=config))

    def jobs(self, *targets: str, config: dict | None = None) -> list[tuple[str, dict[str, str]]]:
        """The rule and the wildcards of each job that a run would start."""
        done = self.snakemake("--dry-run", *(targets or ("results/table1.tsv",)), config=config)
        assert done.returncode == 0, done.stderr
        assert "No forecast" not in done.stderr + done.stdout  # it ends no run
        jobs = re.findall(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", done.stdout + done.stderr, flags=re.MULTILINE)
        return [(rule, _wildcards(text)) for rule, text in jobs]


def merged(base: dict, over: dict) -> dict:
    both = {key: merged(base[key], over[key]) for key in base.keys() & over.keys() if isinstance(over[key], dict)}
    return {**base, **over, **both}


def _wildcards(job: str) -> dict[str, str]:
    given = re.search(r"^ +wildcards: (.*)$", job, flags=re.MULTILINE)
    return dict(pair.split("=", 1) for pair in given[1].split(", ")) if given else {}
