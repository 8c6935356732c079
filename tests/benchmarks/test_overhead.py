"""What is work and what is not, against numbers worked out by hand, and in a run of the workflow."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.overhead import Record, Row, Run, by_stage, covered

ROOT = Path(__file__).parents[2]

# Two stages at once, of which one imports for two seconds; then for a second nothing; then another.
TRAIN = Record("pipeline_py.nmt.train", 2.0, 10.0, [(3.0, 4.0), (5.0, 6.0)], cpu_before=0.5, cpu=7.0, cpu_imports=2.0)
SCORE = Record("pipeline_py.evaluation.score", 3.5, 5.5, [], cpu_before=0.25, cpu=1.5, cpu_imports=0.0)
AGAIN = Record("pipeline_py.evaluation.score", 11.0, 15.0, [(11.0, 12.0)], cpu_before=0.25, cpu=3.5, cpu_imports=1.0)
RUN = Run(wall=20.0, cpu=15.0, cores=2, records=[TRAIN, SCORE, AGAIN])


@pytest.mark.parametrize(
    ("intervals", "seconds"),
    [
        ([], 0),
        ([(1.0, 2.0), (4.0, 7.0)], 4),
        ([(4.0, 7.0), (1.0, 5.0)], 6),
        ([(1.0, 9.0), (2.0, 3.0), (8.0, 10.0)], 9),
        ([(2.0, 2.0)], 0),
    ],
    ids=["none", "apart", "overlapping", "one within another", "of no length"],
)
def test_time_is_counted_once(intervals, seconds):
    assert covered(intervals) == seconds


def test_imports_are_no_work():
    assert TRAIN.work == [(2.0, 3.0), (4.0, 5.0), (6.0, 10.0)]
    assert AGAIN.work == [(11.0, 11.0), (12.0, 15.0)]
    assert (TRAIN.cpu_work, SCORE.cpu_work, AGAIN.cpu_work) == (5.0, 1.5, 2.5)


def test_shares_of_a_run():
    assert RUN.cpu_work == 9.0
    assert RUN.of_cpu == pytest.approx(1 - 9 / 15)
    # At work from 2 to 3, from 3.5 to 5.5 (SCORE, while TRAIN imports), from 6 to 10 and from 12 to 15.
    assert RUN.of_wall == pytest.approx(1 - (1 + 2 + 4 + 3) / 20)
    assert RUN.used == pytest.approx(15 / (20 * 2))


def test_a_run_without_stages_is_all_overhead():
    run = Run(wall=3.0, cpu=2.0, cores=1, records=[])
    assert (run.of_cpu, run.of_wall) == (1, 1)


def test_seconds_of_stages_add_up_to_the_run():
    rows = by_stage(RUN)
    assert rows == [
        Row("nmt.train", 1, 0.5, 2.0, 5.0),
        Row("evaluation.score", 2, 0.5, 1.0, 4.0),
        Row("Snakemake, shells, ends of processes", 1, 2.0, 0.0, 0.0),
    ]
    assert sum(row.start + row.imports + row.work for row in rows) == RUN.cpu


def overhead(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "benchmarks.overhead", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_every_process_of_a_stage_is_counted(tmp_path):
    done = overhead("--target", "results/corpus/tokenized/dev.source", "--output", str(tmp_path / "rows.tsv"))
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split("\t") for line in (tmp_path / "rows.tsv").read_text().splitlines()]
    assert header == [*Row._fields]
    stages = {row[0]: [float(number) for number in row[1:]] for row in rows[:-1]}
    assert {name: numbers[0] for name, numbers in stages.items()} == {
        "corpus.generate": 1,
        "corpus.clean": 1,
        "corpus.tokenize": 1,
    }
    assert all(start > 0 for _, start, _, _ in stages.values())
    (share,) = re.findall(r"^overhead ([\d.]+)%$", done.stdout, flags=re.MULTILINE)
    assert 50 < float(share) <= 100, "three tiny stages, and Snakemake's start"


def test_a_run_that_fails_measures_nothing():
    done = overhead("--target", "results/nothing")
    assert done.returncode == 1 and "overhead" not in done.stdout
    assert done.stderr.splitlines()[-1].startswith("error: Snakemake ended with exit code 1")
