"""The benchmarks run at minimal sizes, at which their measurements are meaningless."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline_py.nmt.fast.matrix_products import detect_bfloat16_mode
from tests.text_files import read_table

ROOT = Path(__file__).parent.parent


@pytest.mark.slow
def test_gains_of_all_handwritten_functions_are_measured():
    sizes = ["--embedding", "6", "--hidden", "8", "--sentences", "3", "--words", "5", "--vocabulary", "40"]
    command = [sys.executable, "-m", "benchmarks.gains", *sizes, "--beam", "2", "--rounds", "1"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    rows = re.findall(r"^(\S.*?) {2,}(\S.*?) {2,}-?[\d.]+% \(-?[\d.]+%–-?[\d.]+%\)$", result.stdout, flags=re.MULTILINE)
    assert len({*rows}) == len(rows) and ("scores in C (elementwise.c)", "GlobalAtt") in rows
    package, labels = ROOT / "pipeline_py" / "nmt", " ".join(label for label, _ in rows)
    handwritten_files = {
        str(file.relative_to(package)) for file in package.rglob("*.py") if "(Function)" in file.read_text("utf-8")
    }
    # Parts of the loop over time, which is listed with GlobalAtt, Seq2Seq and Hierarchical.
    steps = ("gru_step", "lstm_step", "original_gru_step", "sentence_products")
    assert {system for label, system in rows if "time_loop" in label} == {"GlobalAtt", "Seq2Seq", "Hierarchical"}
    unlisted_files = {f"fast/{step}.py" for step in steps}
    assert {file for file in handwritten_files if f"({file})" not in labels} == unlisted_files


COMMON_OPTIONS = ["--corpus", "random", "--vocabulary", "40", "--rounds", "2", "--batches", "2", "--batch-size", "3"]
COMMON_OPTIONS += ["--embedding", "6", "--hidden", "8", "--device", "cpu", "--peers", "none"]
TRANSLATION_OPTIONS = ["--updates", "2", "--sentences", "5", "--beam", "3", "--together", "2"]


def run_benchmark(module: str, folder: Path, *options: str) -> str:
    """Run a benchmark of speed with tables in the folder `results`, and return its stdout."""
    folders = "--work", folder / "work", "--results", folder / "results"
    command = [sys.executable, "-m", module, *COMMON_OPTIONS, *options, *folders]
    # Threads that wait actively for each other take very long on a busy machine.
    environment = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.slow
def test_one_command_measures_training_and_translation(tmp_path):
    output = run_benchmark("benchmarks", tmp_path, *TRANSLATION_OPTIONS, "--threads", "2")
    results = tmp_path / "results"
    assert sorted(path.name for path in results.iterdir()) == ["training.tsv", "translation.tsv"]
    assert "ends of sentences included, padding excluded" in output

    training = read_table(results / "training.tsv")
    assert [(row["side"], row["precision"], row["threads"]) for row in training] == [
        ("GlobalAtt", "float32", "2"),
        ("GlobalAtt", "bfloat16", "2"),
        ("GlobalAtt, 2 trainings of 1 thread", "float32", "1"),
    ]
    for row in training:
        low, middle, high = (float(row[f"words_per_second{end}"]) for end in ("_lowest", "", "_highest"))
        assert 0 < low <= middle <= high
        assert row["to_opennmt_float32"] == row["to_joeynmt_float32"] == "" and float(row["time_ratio"]) > 0
        assert float(row["peak_megabytes"]) > 10 and row["torch"] and row["processor"] and "padding" in row["counted"]
    assert float(training[0]["time_ratio"]) == 1
    assert len({row["parameters"] for row in training}) == 1

    translations = read_table(results / "translation.tsv")
    precisions = ["float32", "bfloat16"] if detect_bfloat16_mode() else ["float32"]
    assert [(row["side"], row["precision"]) for row in translations] == [("GlobalAtt", name) for name in precisions]
    for row in translations:
        assert float(row["sentences_per_second"]) > 0 and float(row["mean_length"]) >= 1
        assert row["to_opennmt"] == "" and (row["beam"], row["together"]) == ("3", "2")


@pytest.mark.slow
def test_systems_are_compared_with_the_first_one(tmp_path):
    systems = [option for system in ("GlobalAtt", "SDAtt", "SDRNMT-2") for option in ("--system", system)]
    run_benchmark("benchmarks.training", tmp_path, *systems, "--precision", "float32", "--threads", "1")
    first, *rest = read_table(tmp_path / "results" / "training.tsv")
    assert [row["side"] for row in rest] == ["SDAtt", "SDRNMT-2"] and first["multiply_adds_ratio"] == "1"
    for row in rest:
        products = float(row["multiply_adds"]) / float(first["multiply_adds"])
        assert float(row["multiply_adds_ratio"]) == pytest.approx(products, rel=1e-4)
        times = float(row["time_ratio_lowest"]), float(row["time_ratio_highest"])
        assert times[0] <= float(row["time_ratio"]) <= times[1]
    assert float(rest[1]["multiply_adds_ratio"]) > 1.1


@pytest.mark.slow
def test_a_second_translation_takes_the_weights_of_the_first(tmp_path):
    options = *TRANSLATION_OPTIONS, "--threads", "1", "--precision", "float32"
    run_benchmark("benchmarks.translation", tmp_path, *options)
    (weights,) = (tmp_path / "work" / "weights").iterdir()
    modification_time = weights.stat().st_mtime_ns
    run_benchmark("benchmarks.translation", tmp_path, *options, "--rounds", "1")
    assert [weights] == [*(tmp_path / "work" / "weights").iterdir()] and weights.stat().st_mtime_ns == modification_time


@pytest.mark.slow
def test_the_time_to_a_quality_is_measured(tmp_path):
    embedded = ["--corpus", "embedded", "--batch-size", "500", "--beam", "1", "--threads", "1"]
    output = run_benchmark(
        "benchmarks.quality", tmp_path, *embedded, "--minutes", "0.0001", "--level", "0", "--level", "99"
    )
    assert "BLEU of tokenized lower-cased words, 2 times an epoch" in output
    (point,) = read_table(tmp_path / "results" / "curves.tsv")
    assert (point["side"], point["epoch"], point["parameters"]) != ("", "", "") and float(point["cpu_minutes"]) > 0
    low, high = read_table(tmp_path / "results" / "quality.tsv")
    assert (float(low["level"]), float(low["epochs"]), high["cpu_minutes"], high["to_faster_peer"]) == (0, 0, "", "")
    assert "Time to quality" in (tmp_path / "results" / "quality.svg").read_text(encoding="utf-8")
