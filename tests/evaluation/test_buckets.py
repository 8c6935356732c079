"""Groups by source length against sacrebleu on the selected lines."""

import csv
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.evaluation.buckets import buckets
from pipeline_py.stage import InputError

WORDS = ["The", "cat", "sat", "on", "a", "mat", "in", "Garden", ",", "of", "my", "old", "friend", "."]
RUNS = [("Base", "1"), ("Base", "2"), ("Base", "3"), ("Other", "1")]


class Sets:
    """Two sets, the second with two references; texts are kept to be scored independently."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        state = random.Random(7)
        self.source: dict[str, list[str]] = {}
        self.references: dict[str, list[list[str]]] = {}
        self.outputs: dict[tuple[str, str, str], list[str]] = {}
        for name, number, references in (("x", 40, 1), ("y", 25, 2)):
            lengths = [state.randint(1, 14) for _ in range(number)]
            self.source[name] = [" ".join(["w"] * length) for length in lengths]
            self.references[name] = [[self.text(state, length) for length in lengths] for _ in range(references)]
            for system, run in RUNS:
                self.outputs[system, run, name] = [self.noisy(state, line) for line in self.references[name][-1]]

    @staticmethod
    def text(state: random.Random, length: int) -> str:
        return " ".join(state.choice(WORDS) for _ in range(length + 2))

    @staticmethod
    def noisy(state: random.Random, line: str) -> str:
        return " ".join(word if state.random() < 0.8 else state.choice(WORDS).lower() for word in line.split())

    def file(self, name: str, lines: list[str]) -> str:
        (self.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(self.folder / name)

    def arguments(self) -> dict[str, list[str]]:
        return {
            "system": [
                f"{':'.join(key)}={self.file('output.' + '.'.join(key), lines)}" for key, lines in self.outputs.items()
            ],
            "reference": [
                f"{name}={self.file(f'reference.{name}.{number}', lines)}"
                for name, texts in self.references.items()
                for number, lines in enumerate(texts)
            ],
            "source": [f"{name}={self.file(f'source.{name}', lines)}" for name, lines in self.source.items()],
        }

    def expected(self, system: str, run: str, above: float, up_to: float, lowercase: bool = True) -> tuple[int, float]:
        """Number of sentences and BLEU of one run, by sacrebleu alone on the lines of the group."""
        hypotheses, first, second = [], [], []
        for name, lines in self.source.items():
            for place, line in enumerate(lines):
                if above < len(line.split()) <= up_to:
                    hypotheses.append(self.outputs[system, run, name][place])
                    first.append(self.references[name][0][place])
                    second.append(self.references[name][1][place] if name == "y" else None)
        return len(hypotheses), BLEU(lowercase=lowercase).corpus_score(hypotheses, [first, second]).score


@pytest.fixture
def sets(tmp_path: Path) -> Sets:
    return Sets(tmp_path)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_group_has_the_bleu_of_its_lines(sets: Sets, tmp_path: Path, lowercase: bool) -> None:
    buckets(**sets.arguments(), output=tmp_path / "out.tsv", bounds=[4, 10], lowercase=lowercase)
    rows = read(tmp_path / "out.tsv")
    groups = [("4", "", "4"), ("10", "4", "10"), (">10", "10", "")]
    assert [(row["group"], row["from"], row["to"], row["system"]) for row in rows] == [
        (*group, system) for group in groups for system in ("Base", "Other")
    ]
    for row in rows:
        limits = float(row["from"] or "-inf"), float(row["to"] or "inf")
        runs = [run for system, run in RUNS if system == row["system"]]
        numbers, scores = zip(
            *(sets.expected(row["system"], run, *limits, lowercase=lowercase) for run in runs), strict=True
        )
        mean = sum(scores) / len(scores)
        assert row["feature"] == "length"
        assert int(row["sentences"]) == numbers[0] > 0
        assert float(row["bleu"]) == pytest.approx(mean, abs=1e-9)
        if len(runs) == 1:
            assert row["sd"] == ""
        else:
            sd = math.sqrt(sum((score - mean) ** 2 for score in scores) / (len(scores) - 1))
            assert float(row["sd"]) == pytest.approx(sd, abs=1e-9) and sd > 0
    assert sum(int(row["sentences"]) for row in rows if row["system"] == "Base") == 65


def test_intervals_are_of_sets_that_are_written_out(
    sets: Sets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sets are drawn from the group's sentences alone; of several runs the mean is taken."""
    monkeypatch.setattr("pipeline_py.evaluation.resampling.SAMPLES", 40)
    del sets.source["y"], sets.references["y"]
    sets.outputs = {key: lines for key, lines in sets.outputs.items() if key[2] == "x"}
    buckets(**sets.arguments(), output=tmp_path / "out.tsv", bounds=[4, 10])
    rows = {(row["group"], row["system"]): row for row in read(tmp_path / "out.tsv")}
    group = [place for place, line in enumerate(sets.source["x"]) if 4 < len(line.split()) <= 10]
    drawn = np.random.default_rng(12345).choice(len(group), size=(40, len(group)), replace=True)
    for system in ("Base", "Other"):
        runs = [lines for (name, _, _), lines in sets.outputs.items() if name == system]
        scores = sorted(
            sum(
                BLEU(lowercase=True)
                .corpus_score(
                    [lines[group[at]] for at in places], [[sets.references["x"][0][group[at]] for at in places]]
                )
                .score
                for lines in runs
            )
            / len(runs)
            for places in drawn
        )
        row = rows["10", system]
        assert [float(row["bleu_low"]), float(row["bleu_high"])] == pytest.approx([scores[1], scores[-2]])
        assert scores[1] < float(row["bleu"]) < scores[-2]


def test_by_default_groups_of_ten_and_none_without_sentences(sets: Sets, tmp_path: Path) -> None:
    sets.source["x"][:3] = [" ".join(["w"] * length) for length in (80, 81, 45)]
    buckets(**sets.arguments(), output=tmp_path / "out.tsv")
    counts = {row["group"]: (row["from"], row["sentences"]) for row in read(tmp_path / "out.tsv")}
    assert list(counts) == ["10", "20", "50", "80", ">80"]
    assert counts["50"] == ("40", "1") and counts["80"] == ("70", "1") and counts[">80"] == ("80", "1")


def test_only_spaces_separate_words(sets: Sets, tmp_path: Path) -> None:
    sets.source["x"][0] = " ".join(["a\u00a0b"] * 20) + "  "
    buckets(**sets.arguments(), output=tmp_path / "out.tsv", bounds=[19, 20])
    assert [row["sentences"] for row in read(tmp_path / "out.tsv") if row["group"] == "20"] == ["1", "1"]


@pytest.mark.parametrize(
    ("bounds", "message"),
    [([20, 10], "--bounds 20 10 do not rise"), ([10, 10], "do not rise"), ([0, 5], "do not rise"), ([], "do not")],
)
def test_bounds_rise(sets: Sets, tmp_path: Path, bounds: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        buckets(**sets.arguments(), output=tmp_path / "out.tsv", bounds=bounds)


@pytest.mark.parametrize(
    ("option", "old", "new", "message"),
    [
        ("system", "Base:1:x", "Base:x", "'Base:x' is no NAME:RUN:SET"),
        ("system", "Base:1:x", "Base:2:x", "names 'Base:2:x' twice"),
        ("system", "Base:1:x", "Base:1:z", "'Base:1:z' belongs to no set; give --source z=FILE"),
        ("system", "Base:1:x", None, "no output of Base:1 on 'x'; give --system Base:1:x=FILE"),
        ("reference", "y", "z", "'z' belongs to no set"),
        ("reference", "x", None, "no reference of 'x'; give --reference x=FILE"),
        ("source", "y", "x", "names 'x' twice"),
    ],
)
def test_names_must_fit(sets: Sets, tmp_path: Path, option: str, old: str, new: str | None, message: str) -> None:
    arguments = sets.arguments()
    pairs = [pair.split("=", 1) for pair in arguments[option]]
    if new is None:
        pairs = [(name, path) for name, path in pairs if name != old]
    arguments[option] = [f"{new if name == old else name}={path}" for name, path in pairs]
    with pytest.raises(InputError, match=message):
        buckets(**arguments, output=tmp_path / "out.tsv")
    assert not (tmp_path / "out.tsv").exists()


@pytest.mark.parametrize("kind", ["source", "reference", "output"])
def test_a_short_file_is_named(sets: Sets, tmp_path: Path, kind: str) -> None:
    {"source": sets.source["y"], "reference": sets.references["y"][1], "output": sets.outputs["Base", "2", "y"]}[
        kind
    ].pop()
    with pytest.raises(InputError, match=rf"/{kind}\..*: the file has 24 lines and .* has more; parallel files need"):
        buckets(**sets.arguments(), output=tmp_path / "out.tsv")


def test_command_line(sets: Sets, tmp_path: Path) -> None:
    arguments = sets.arguments()
    command = [sys.executable, "-m", "pipeline_py.evaluation.buckets", "--cased", "--bounds", "5", "--bounds", "9"]
    command += [f"--{option}={value}" for option, values in arguments.items() for value in values]
    subprocess.run([*command, "--output", str(tmp_path / "command.tsv")], check=True, capture_output=True)
    buckets(**arguments, output=tmp_path / "call.tsv", bounds=[5, 9], lowercase=False)
    assert (tmp_path / "command.tsv").read_bytes() == (tmp_path / "call.tsv").read_bytes()
