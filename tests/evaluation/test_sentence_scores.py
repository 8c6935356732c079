"""Counts of sentences against looking at sacrebleu's chrF of every one."""

import random
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu import sentence_chrf

from pipeline_py.evaluation.sentence_scores import (
    SENTENCE_SCORE_COLUMNS,
    count_by_difference,
    count_by_score,
    count_sentence_scores,
)
from pipeline_py.evaluation.system_statistics import read_statistics
from tests.evaluation.statistics_files import write_output_statistics
from tests.nested_files import group_by_system

WORDS = ["The", "cat", "sat", "on", "a", "mat", "in", "Garden", ",", "of", "my", "old", "friend", "."]
SENTENCES = 40
GROUPS = [(low, low + 10) for low in range(0, 100, 10)]
percents = st.one_of(st.integers(0, 100).map(float), st.floats(0, 100, allow_subnormal=False))


class Texts:
    """A baseline of two runs, a system of two runs, and one of a run that is the baseline's first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        state = random.Random(7)
        self.references = [[self.sentence(state) for _ in range(SENTENCES)] for _ in range(2)]
        kept_words = (0.5, 0.7, 0.9, 1.0)
        lines = [[self.noisy(state, line, share) for line in self.references[0]] for share in kept_words]
        self.outputs = dict(zip(("Base:1", "Base:2", "Mine:1", "Mine:2"), lines, strict=True)) | {"Same": lines[0]}

    @staticmethod
    def sentence(state: random.Random) -> str:
        return " ".join(state.choice(WORDS) for _ in range(state.randint(3, 12)))

    @staticmethod
    def noisy(state: random.Random, line: str, share: float) -> str:
        return " ".join(word if state.random() < share else state.choice(WORDS) for word in line.split())

    def rows(self, lowercase: bool = True) -> list[dict[str, str]]:
        files = group_by_system(
            write_output_statistics(self.folder, self.outputs, self.references, [], lowercase=lowercase)
        )
        systems = {system: [*runs.values()] for system, runs in files.items()}
        rows = count_sentence_scores(read_statistics(systems, ["chrf"])["chrf"])
        texts = [["" if value is None else str(value) for value in row] for row in rows]
        return [dict(zip(SENTENCE_SCORE_COLUMNS, row, strict=True)) for row in texts]

    def scores(self, system: str) -> list[list[float]]:
        """The chrF of each sentence, by run."""
        references = [[line.lower() for line in lines] for lines in zip(*self.references, strict=True)]
        return [
            [sentence_chrf(line.lower(), texts).score for line, texts in zip(lines, references, strict=True)]
            for name, lines in self.outputs.items()
            if name.partition(":")[0] == system
        ]


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    return Texts(tmp_path)


def test_agrees_with_looking_at_every_sentence(texts: Texts) -> None:
    rows = [row for row in texts.rows() if row["by"] == "score"]
    assert [row["system"] for row in rows] == [name for name in ("Base", "Mine", "Same") for _ in GROUPS]
    for row, (low, high) in zip(rows, GROUPS * 3, strict=True):
        assert (row["bucket"], row["low"], row["high"], row["other"]) == (str(low), str(low), str(high), "")
        runs = texts.scores(row["system"])
        number = fmean(sum(low <= score < high + (high == 100) for score in scores) for scores in runs)
        assert (float(row["sentences"]), float(row["percent"])) == pytest.approx((number, 100 * number / SENTENCES))
    assert len({row["sentences"] for row in rows}) > 8
    assert float(rows[19]["sentences"]) >= SENTENCES / 2, "a run without a mistake has 100 everywhere"


def test_every_run_is_compared_with_every_run_of_the_first_system(texts: Texts) -> None:
    rows = [row for row in texts.rows() if row["by"] == "difference"]
    result_rows = {(row["system"], row["bucket"]): float(row["sentences"]) for row in rows}
    assert [*result_rows] == [(name, sign) for name in ("Mine", "Same") for sign in ("lower", "equal", "higher")]
    assert {row["other"] for row in rows} == {"Base"} and {row["low"] + row["high"] for row in rows} == {""}
    for name in ("Mine", "Same"):
        pairs = [*product(texts.scores(name), texts.scores("Base"))]
        higher = fmean(sum(ours > theirs for ours, theirs in zip(*pair, strict=True)) for pair in pairs)
        lower = fmean(sum(ours < theirs for ours, theirs in zip(*pair, strict=True)) for pair in pairs)
        assert [result_rows[name, sign] for sign in ("lower", "equal", "higher")] == pytest.approx(
            [lower, SENTENCES - lower - higher, higher]
        )
    assert (
        result_rows["Mine", "higher"] > result_rows["Mine", "lower"] > 0
        and result_rows["Same", "equal"] >= SENTENCES / 2
    )
    assert sum(float(row["percent"]) for row in rows) == pytest.approx(200)


@given(st.lists(percents, min_size=1))
def test_every_score_is_in_one_group(scores: list[float]) -> None:
    counts = count_by_score(np.array([scores]))
    assert counts.tolist() == [
        sum(low <= score < high or score == high == 100 for score in scores) for low, high in GROUPS
    ]
    assert counts.sum() == len(scores)


@given(st.lists(st.tuples(percents, percents), min_size=1))
def test_the_other_way_round_higher_is_lower(pairs: list[tuple[float, float]]) -> None:
    sentence_score, two = np.array(pairs).T[:, None]
    assert count_by_difference(sentence_score, two).tolist() == count_by_difference(two, sentence_score)[::-1].tolist()
    assert count_by_difference(sentence_score, two)[2] == sum(ours > theirs for ours, theirs in pairs)


def test_case_counts_if_it_is_to(texts: Texts) -> None:
    texts.outputs = {"Upper": [line.upper() for line in texts.references[0]]}
    assert [row["sentences"] for row in texts.rows()][-1] == f"{SENTENCES}.0"
    assert [row["sentences"] for row in texts.rows(lowercase=False)][-1] == "0.0"
