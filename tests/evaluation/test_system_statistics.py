"""Statistics of runs against sacrebleu on the lines, and sums over sets against sets that are written out."""

from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.system_statistics import (
    SystemStatistics,
    compute_mean_scores,
    read_statistics,
    sum_over_samples,
)
from tests.evaluation.statistics_files import write_output_statistics
from tests.nested_files import group_by_system

REFERENCES = [["the cat sat on a mat", "my old garden is green", "a b c d e"], ["a cat sat here", "x", "a c e g i k"]]
OUTPUTS = {
    "A": [["the cat sat on the mat", "my garden is green", ""], ["a cat sat on a mat", "my old garden", "a b c d f"]],
    "B": [["the dog", "my old old garden is green", "e d c b a"]],
}


@pytest.fixture
def statistics(tmp_path: Path) -> dict[str, SystemStatistics]:
    outputs = {f"{name}:{run}": lines for name, runs in OUTPUTS.items() for run, lines in enumerate(runs)}
    files = group_by_system(write_output_statistics(tmp_path, outputs, REFERENCES))
    systems = {system: [*runs.values()] for system, runs in files.items()}
    return read_statistics(systems, ["bleu"])["bleu"]


def test_scores_are_sacrebleus(statistics: dict[str, SystemStatistics]) -> None:
    for name, runs in OUTPUTS.items():
        expected = [BLEU(lowercase=True).corpus_score(lines, REFERENCES).score for lines in runs]
        assert statistics[name].run_scores == pytest.approx(expected)
        some = [BLEU(lowercase=True).corpus_score(lines[1:], [row[1:] for row in REFERENCES]).score for lines in runs]
        assert statistics[name].select_sentences(np.array([1, 2])).run_scores == pytest.approx(some)


@pytest.mark.parametrize("sets", [1, 501, 1203])
def test_sums_over_sets(statistics: dict[str, SystemStatistics], sets: int) -> None:
    times = np.random.default_rng(sets).integers(4, size=(sets, 3)).astype(np.uint16)
    sums = sum_over_samples(times, {name: of_system.run_statistics for name, of_system in statistics.items()})
    assert list(sums) == ["A", "B"]
    for name, of_system in statistics.items():
        assert sums[name].shape == (len(OUTPUTS[name]), sets, 10)
        for run, of_run in zip(of_system.run_statistics, sums[name], strict=True):
            for often, system_sums in zip(times, of_run, strict=True):
                assert system_sums.tolist() == sum(run[place] * int(often[place]) for place in range(3)).tolist()


def test_corpora_of_several_runs_have_the_mean_score(statistics: dict[str, SystemStatistics]) -> None:
    sums = statistics["A"].run_statistics.sum(axis=1, keepdims=True)
    expected = [BLEU(lowercase=True).corpus_score(lines, REFERENCES).score for lines in OUTPUTS["A"]]
    assert compute_mean_scores(sums, Bleu).tolist() == pytest.approx([sum(expected) / 2])
