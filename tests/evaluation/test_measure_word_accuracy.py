"""Accuracy of words against crossing matched words out one by one."""

import csv
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pipeline_py.evaluation.measure_word_accuracy import (
    FREQUENCY_GROUPS,
    WORD_ACCURACY_COLUMNS,
    find_frequency_group,
    measure_word_accuracy,
)
from tests.nested_files import group_by_system

WORDS = [f"w{number}" for number in range(30)]
RANGES = {
    "0": (0, 0),
    "1": (1, 1),
    "2": (2, 2),
    "3-4": (3, 4),
    "5-9": (5, 9),
    "10-99": (10, 99),
    "100-999": (100, 999),
    "1000+": (1000, 10**9),
}
Rows = dict[tuple[str, str], dict[str, str]]


class Texts:
    """Two references, a system of two runs and one of one run, over words of all frequencies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        state = random.Random(4)
        counts = [0, 0, 0, 1, 1, 2, 3, 4, 4, 5, 9, 10, 50, 99, 100, 500, 999, 1000, 5000, *[20] * 11]
        self.frequency = dict(zip(WORDS, counts, strict=True))
        self.references = [[self.sentence(state) for _ in range(25)] for _ in range(2)]
        self.outputs = {name: [self.noisy(state, line) for line in self.references[0]] for name in ("A:1", "A:2", "B")}
        frequencies = "".join(f"{word} {count}\n" for word, count in self.frequency.items() if count)
        self.frequencies = self.write("frequencies", frequencies)

    @staticmethod
    def sentence(state: random.Random) -> str:
        return " ".join(state.choice(WORDS) for _ in range(state.randint(1, 12)))

    @staticmethod
    def noisy(state: random.Random, line: str) -> str:
        words = [word if state.random() < 0.6 else state.choice(WORDS) for word in line.split()]
        return " ".join(
            word.upper() for word in state.sample(words, len(words)) for _ in range(state.choice([0, 1, 1, 2]))
        )

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name.replace(":", "-")
        path.write_text(text, encoding="utf-8")
        return path

    def rows(self, references: int = 1, **options: object) -> Rows:
        measure_word_accuracy(
            outputs=group_by_system(
                {name: self.write(name, "".join(f"{line}\n" for line in lines)) for name, lines in self.outputs.items()}
            ),
            references=[
                self.write(f"reference{place}", "".join(f"{line}\n" for line in self.references[place]))
                for place in range(references)
            ],
            frequencies=self.frequencies,
            output=self.folder / "out.tsv",
            **options,  # type: ignore[arg-type]
        )
        with (self.folder / "out.tsv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        assert all(tuple(row) == WORD_ACCURACY_COLUMNS for row in rows)
        return {(row["frequency"], row["system"]): row for row in rows}

    def expected(
        self, system: str, group: str, references: int, places: Sequence[int] = range(25)
    ) -> tuple[float, float, float, int]:
        """Precision, recall, F1 and words of the references, of some sentences."""
        least, most = RANGES[group]

        def belongs(word: str) -> bool:
            return least <= self.frequency[word.lower()] <= most

        right = output_words = reference_words = 0
        runs = [lines for name, lines in self.outputs.items() if name.partition(":")[0] == system]
        for lines in runs:
            for reference in self.references[:references]:
                for line, expected in ((lines[place], reference[place]) for place in places):
                    left = expected.split()
                    reference_words += sum(map(belongs, left))
                    for word in line.lower().split():
                        output_words += belongs(word)
                        if word in left:
                            left.remove(word)
                            right += belongs(word)
        precision = right / output_words if output_words else 0.0
        recall = right / reference_words if reference_words else 0.0
        f1 = 2 * precision * recall / (precision + recall) if right else 0.0
        return 100 * precision, 100 * recall, 100 * f1, reference_words // len(runs)


@pytest.fixture
def texts(tmp_path: Path) -> Texts:
    return Texts(tmp_path)


@pytest.mark.parametrize("references", [1, 2])
def test_agrees_with_crossing_out(texts: Texts, references: int) -> None:
    rows = texts.rows(references)
    assert list(rows) == [(group, system) for group in RANGES for system in "AB"]
    for (group, system), row in rows.items():
        *shares, number = texts.expected(system, group, references)
        assert [float(row[name]) for name in ("precision", "recall", "f1")] == pytest.approx(shares)
        assert int(row["words"]) == number > 0
    assert len({row["f1"] for row in rows.values()}) > 12


def test_intervals_are_of_sets_that_are_written_out(texts: Texts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline_py.evaluation.significance.resampling.DEFAULT_SAMPLE_COUNT", 80)
    rows = texts.rows(2)
    samples = np.random.default_rng(12345).choice(25, size=(80, 25), replace=True)
    for group, system in (("1", "A"), ("10-99", "B")):
        f1 = sorted(texts.expected(system, group, 2, list(places))[2] for places in samples)
        row = rows[group, system]
        assert [float(row["f1_low"]), float(row["f1_high"])] == pytest.approx([f1[2], f1[-3]])
        assert f1[2] < float(row["f1"]) < f1[-3]


def test_case_affects_matches(texts: Texts) -> None:
    assert {row["recall"] for row in texts.rows(lowercase=False).values()} == {"0.0"}


def test_group_with_output_words_only_is_included(texts: Texts) -> None:
    texts.references[0] = ["w20 w21"] * 25
    texts.outputs = {"A": ["w20 w0 w0"] * 25, "B": ["w21"] * 25}
    rows = texts.rows()
    assert list(rows) == [("0", "A"), ("0", "B"), ("10-99", "A"), ("10-99", "B")]
    assert rows["0", "A"] == {
        "frequency": "0",
        "system": "A",
        "precision": "0.0",
        "recall": "0.0",
        "f1": "0.0",
        "f1_low": "0.0",
        "f1_high": "0.0",
        "words": "0",
    }
    shares = {name: float(rows["10-99", "B"][name]) for name in ("precision", "recall", "f1")}
    assert shares == pytest.approx({"precision": 100, "recall": 50, "f1": 200 / 3})


def test_every_frequency_has_its_group() -> None:
    assert list(RANGES) == FREQUENCY_GROUPS
    for frequency in [*range(1200), 10**7]:
        least, most = RANGES[FREQUENCY_GROUPS[find_frequency_group(frequency)]]
        assert least <= frequency <= most
