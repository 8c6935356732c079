"""The benchmarks run, on the smallest of sizes; what they measure there means nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SMALL = ["--sentences", "4", "--words", "6", "--repetitions", "1"]
NETWORK = [*SMALL, "--hidden", "8"]
UPDATE = [*NETWORK, "--batches", "1", "--vocabulary", "50"]


@pytest.mark.parametrize(
    ("module", "options", "ratios"),
    [
        ("distances", SMALL, {"ratio to networkx": 1, "ratio to scipy": 1}),
        ("tree_lstm", NETWORK, {"ratio": 2}),
        ("tree2seq", [*UPDATE, "--samples", "5"], {"ratio": 2}),
        ("tree2seq", [*UPDATE, "--samples", "0"], {"ratio": 2}),
    ],
)
def test_all_sides_are_timed_and_their_ratios_are_told(module, options, ratios):
    command = [sys.executable, "-m", f"benchmarks.{module}", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^(ratio[^:\n]*?)((?: +[\d.]+)+)$", done.stdout, flags=re.MULTILINE)
    assert {name: len(numbers.split()) for name, numbers in rows} == ratios
    assert all(float(number) > 0 for _, numbers in rows for number in numbers.split())
