"""The benchmarks run, on the smallest of sizes; what they measure there means nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SMALL = ["--sentences", "4", "--words", "6", "--hidden", "8", "--repetitions", "1"]


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("tree_lstm", []),
        ("tree2seq", ["--batches", "1", "--vocabulary", "50", "--samples", "5"]),
        ("tree2seq", ["--batches", "1", "--vocabulary", "50", "--samples", "0"]),
    ],
)
def test_both_sides_are_timed_and_their_ratio_is_told(module, options):
    command = [sys.executable, "-m", f"benchmarks.{module}", *SMALL, *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^ratio +[\d.]+ +[\d.]+$", done.stdout, flags=re.MULTILINE)
