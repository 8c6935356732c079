"""How long jobs take: what ran here, its like, and the embedded experiment."""

from pathlib import Path

import pytest

from pipeline_py.run_times import Job, expected, recorded, typical

TRAIN, OTHER, CLEAN = Job("nmt/train", "A.seed1"), Job("nmt/train", "B.seed1"), Job("corpus/clean", "train")


def never() -> float:
    raise AssertionError("sizes are not asked for where something of the stage has run")


def test_a_job_that_ran_here_takes_as_long_again() -> None:
    assert expected(TRAIN, {TRAIN: 70.0}, {TRAIN: 20.0}, never) == 70.0


def test_others_of_the_stage_say_how_fast_it_is_here() -> None:
    """B took three times as long here as there, so A will."""
    assert expected(TRAIN, {OTHER: 30.0}, {TRAIN: 40.0, OTHER: 10.0}, never) == pytest.approx(120.0)


def test_others_of_the_stage_stand_for_what_is_known_nowhere() -> None:
    new = Job("nmt/train", "C.seed1")
    assert expected(new, {TRAIN: 10.0, OTHER: 30.0}, {}, never) == 20.0


def test_the_embedded_experiment_grows_with_the_work_but_for_the_start() -> None:
    assert expected(TRAIN, {}, {TRAIN: 20.3}, lambda: 4.0) == pytest.approx(0.3 + 80.0)
    assert expected(TRAIN, {}, {TRAIN: 0.2}, lambda: 4.0) == pytest.approx(0.2)


def test_the_training_text_and_others_are_not_alike() -> None:
    elsewhere = {CLEAN: 8.3, Job("corpus/clean", "dev"): 1.3, Job("corpus/clean", "test"): 1.3}
    assert expected(Job("corpus/clean", "newstest"), {}, elsewhere, lambda: 1.0) == pytest.approx(1.3)
    assert expected(Job("corpus/clean", "train"), {}, elsewhere, lambda: 1.0) == pytest.approx(8.3)


def test_a_stage_of_which_nothing_is_known() -> None:
    assert expected(TRAIN, {}, {}, lambda: 4.0) == 0.0


def test_files_of_snakemake(tmp_path: Path) -> None:
    def write(name: str, *rows: str) -> None:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("s\th:m:s\tcpu_time\n" + "".join(f"{row}\n" for row in rows), encoding="utf-8")

    write("nmt/train/A.seed1.tsv", "100.5\t0:01:40\t25.0")  # three others beside it
    write("nmt/train/B.seed1.tsv", "100.5\t0:01:40\t190.0")  # two threads
    write("corpus/clean/train.tsv", "0.25\t0:00:00\tNA")
    write("corpus/clean/dev.tsv", "0.75\t0:00:00\t0.0")  # over before the first sample
    write("corpus/clean/test.tsv")  # a job that was killed
    write("report/table/ours/first.tsv", "0.5\t0:00:00\t0.0")  # a table in a folder
    assert recorded(tmp_path) == {
        TRAIN: 25.0,
        OTHER: 100.5,
        CLEAN: 0.25,
        Job("corpus/clean", "dev"): 0.75,
        Job("report/table", "ours/first"): 0.5,
    }


def test_nothing_has_run(tmp_path: Path) -> None:
    assert recorded(tmp_path / "benchmarks") == {}


def test_every_stage_of_the_embedded_experiment_is_known() -> None:
    known = typical()
    assert min(known.values()) > 0
    assert {"corpus/clean", "syntax/parse", "subword/pack", "smt/train", "nmt/train", "evaluation/score"} <= {
        job.stage for job in known
    }
