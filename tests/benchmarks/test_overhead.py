"""What is overhead, by logs written by hand, and in a run of the workflow."""

import re
import subprocess
import sys
from pathlib import Path

from benchmarks.overhead import Imports, imports_by_stage

ROOT = Path(__file__).parents[2]


def test_imports_of_a_stage_are_added_up(tmp_path):
    def log(name: str, *lines: str) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    header = "import time: self [us] | cumulative | imported package"
    log("nmt/train/A.log", header, "import time:    500000 |     500000 | site", "import time: 1000000 | 1000000 |   b")
    log("nmt/train/B.log", "import time:    250000 |     250000 | site", "100 updates", "import time: late")
    log("report/table/ours/first.log", "import time:   2000000 |   9000000 | site")
    assert imports_by_stage(tmp_path) == [Imports("report/table", 1, 2.0), Imports("nmt/train", 2, 1.75)]


def overhead(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "benchmarks.overhead", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_every_process_of_a_stage_is_counted():
    done = overhead("--target", "results/corpus/tokenized/dev.source")
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^(.+?) {2,}([\d.]+) s +[\d.]+%$", done.stdout, flags=re.MULTILINE)
    assert {*dict(rows)} == {"Snakemake", *(f"corpus/{stage} (1 ×)" for stage in ("generate", "clean", "tokenize"))}
    assert all(float(seconds) > 0 for _, seconds in rows)
    (share,) = re.findall(r"^overhead ([\d.]+)%", done.stdout, flags=re.MULTILINE)
    assert float(share) > 25, "three tiny stages, and Snakemake's start"


def test_a_run_that_fails_measures_nothing():
    done = overhead("--target", "results/nothing")
    assert done.returncode == 1 and "overhead" not in done.stdout and "import time" not in done.stderr
    assert "results/nothing" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: Snakemake ended with exit code 1")
