"""A copy of the project in a folder of its own, and what a run of the workflow there would do."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import yaml

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


class Workplace:
    """A copy of the project to work in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("pipeline_py", "workflow", "profiles", "envs"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("Snakefile", "config.yaml"):
            shutil.copy(ROOT / name, folder)

    def copied(self, folder: Path) -> "Workplace":
        """The same in another folder, with all that was made here."""
        copy = Workplace.__new__(Workplace)
        copy.folder = shutil.copytree(self.folder, folder, symlinks=True)
        return copy

    def snakemake(self, *arguments: str, config: dict | None = None) -> subprocess.CompletedProcess:
        """Run Snakemake to its end."""
        command, options = self._command(arguments, config)
        return subprocess.run(command, capture_output=True, **options)

    def killed(self, at: str, *arguments: str, config: dict | None = None) -> None:
        """Run Snakemake, and kill it and all its jobs a moment after it said something."""
        command, options = self._command(arguments, config)
        process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, **options)
        assert any(at in line for line in process.stderr), "it came to an end before"
        time.sleep(1)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _command(self, arguments: tuple[str, ...], config: dict | None) -> tuple[list[str], dict]:
        (self.folder / "small.yaml").write_text(yaml.safe_dump(merged(SMALL, config or {}), sort_keys=False))
        command = [str(SNAKEMAKE), "--configfile", "small.yaml", "--cores", "2", *arguments]
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        return command, {"cwd": self.folder, "env": environment, "text": True}

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
