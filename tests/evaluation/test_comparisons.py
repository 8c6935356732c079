"""Pairs of systems against sacrebleu's own paired tests on plain text, and against the stages of single tests."""

import csv
import os
import random
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest, Result

from pipeline_py.evaluation.bootstrap import bootstrap
from pipeline_py.evaluation.comparisons import COLUMNS, comparisons
from pipeline_py.evaluation.significance import significance
from pipeline_py.stage import InputError

WORDS = ["the", "cat", "sat", "on", "a", "mat", "in", "Garden", ",", "of", "my", "(", "old", ")", "Käse", "."]
Rows = list[dict[str, str]]


def text(state: random.Random, number: int) -> list[str]:
    return [" ".join(state.choice(WORDS) for _ in range(state.randint(1, 15))) for _ in range(number)]


def disturbed(lines: list[str], state: random.Random, rate: float) -> list[str]:
    return [" ".join("xx" if state.random() < rate else word for word in line.split()) for line in lines]


def files(folder: Path, outputs: dict[str, list[str]], references: list[list[str]]) -> dict[str, list]:
    def write(name: str, lines: list[str]) -> Path:
        path = folder / name.replace(":", "-")
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    return {
        "system": [f"{name}={write(name, lines)}" for name, lines in outputs.items()],
        "reference": [write(f"reference{place}", lines) for place, lines in enumerate(references)],
    }


def rows(path: Path) -> Rows:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def run(
    folder: Path, outputs: dict[str, list[str]], references: list[list[str]], **options: object
) -> tuple[Rows, Rows]:
    """Comparisons and intervals."""
    given = files(folder, outputs, references)
    places = {"output": folder / "pairs.tsv", "intervals_output": folder / "intervals.tsv"}
    comparisons(**given, **places, **options)  # type: ignore[arg-type]
    return rows(folder / "pairs.tsv"), rows(folder / "intervals.tsv")


def by_sacrebleu(
    kind: str, one: list[str], other: list[str], references: list[list[str]], lowercase: bool, draws: int, seed: int
) -> tuple[Result, Result]:
    """Results of the baseline `other` and of `one` against it."""
    with mock.patch.dict(os.environ, {"SACREBLEU_SEED": str(seed)}):
        test = PairedTest([("other", other), ("one", one)], {"b": BLEU(lowercase=lowercase)}, references, kind, draws)
        _, results = test()
    return tuple(results["BLEU"])  # type: ignore[return-value]


# One of 700 exchanges in the second example gives the very difference of C and A again, which sacrebleu does not count.
@pytest.mark.parametrize(
    ("lowercase", "seed", "references", "given_again"), [(True, 12345, 1, {}), (False, 7, 2, {"CA (n=2)": 1})]
)
def test_agrees_with_sacrebleu(
    tmp_path: Path, lowercase: bool, seed: int, references: int, given_again: dict[str, int]
) -> None:
    state = random.Random(seed)
    texts = [text(state, 60) for _ in range(references)]
    outputs = {name: disturbed(texts[0], state, rate) for name, rate in (("A (n=2)", 0.2), ("B", 0.25), ("C", 0.3))}
    pairs, intervals = run(tmp_path, outputs, texts, lowercase=lowercase, seed=seed, samples=300, trials=700)
    assert [(row["system"], row["other"]) for row in pairs] == [("B", "A (n=2)"), ("C", "A (n=2)"), ("C", "B")]
    assert tuple(pairs[0]) == COLUMNS
    for row in pairs:
        lines = outputs[row["system"]], outputs[row["other"]]
        baseline, one = by_sacrebleu("bs", *lines, texts, lowercase, 300, seed)
        assert float(row["bleu_system"]) == pytest.approx(one.score)
        assert float(row["bleu_other"]) == pytest.approx(baseline.score)
        assert float(row["difference"]) == pytest.approx(one.score - baseline.score)
        assert float(row["p_bootstrap"]) == one.p_value
        half = {name["system"]: (float(name["high"]) - float(name["low"])) / 2 for name in intervals}
        # sacrebleu adds up in single precision.
        assert half[row["system"]] == pytest.approx(one.ci, rel=1e-4)
        assert half[row["other"]] == pytest.approx(baseline.ci, rel=1e-4)
        _, exchanged = by_sacrebleu("ar", *lines, texts, lowercase, 700, seed)
        again = given_again.get(row["system"] + row["other"], 0)
        assert float(row["p_randomization"]) == pytest.approx(exchanged.p_value + again / 701)
    assert len({row["p_randomization"] for row in pairs}) == len({row["p_bootstrap"] for row in pairs}) == 3


def test_agrees_with_the_stages_of_single_tests_also_over_several_runs(tmp_path: Path) -> None:
    state = random.Random(3)
    reference = text(state, 30)
    outputs = {f"{name}:{run}": disturbed(reference, state, 0.2) for name in "AB" for run in (1, 2)}
    outputs["C"] = disturbed(reference, state, 0.3)
    pairs, intervals = run(tmp_path, outputs, [reference], samples=100)
    given = files(tmp_path, outputs, [reference])
    significance(**given, output=tmp_path / "sign.tsv")
    bootstrap(**given, output=tmp_path / "bootstrap.tsv", samples=100)
    signs = {(row["system"], row["other"]): row for row in rows(tmp_path / "sign.tsv")}
    drawn = {(row["system"], row["other"]): row for row in rows(tmp_path / "bootstrap.tsv") if row["metric"] == "bleu"}
    assert len(pairs) == 3
    for row in pairs:
        sign, boot = signs[row["system"], row["other"]], drawn[row["system"], row["other"]]
        same = ("bleu_system", "bleu_other", "better", "worse", "ties")
        assert [row[column] for column in same] == [sign[column] for column in same]
        assert row["p_sign"] == sign["p_value"]
        assert (row["p_bootstrap"], row["difference"]) == (boot["p_value"], boot["difference"])
    assert [row["bleu"] for row in intervals] == [
        pairs[0]["bleu_other"],
        pairs[0]["bleu_system"],
        pairs[1]["bleu_system"],
    ]


def test_interval_of_the_difference_by_resampled_corpora(tmp_path: Path) -> None:
    """Every resampled corpus is written out, of all runs, and scored with sacrebleu; a twentieth lies outside."""
    state = random.Random(5)
    reference = text(state, 12)
    outputs = {"B": disturbed(reference, state, 0.4), "A:1": disturbed(reference, state, 0.2)}
    outputs["A:2"] = disturbed(reference, state, 0.2)
    ((row,), _) = run(tmp_path, outputs, [reference], samples=80, trials=10, seed=5)

    def score(runs: list[list[str]], places: list[int]) -> float:
        references = [reference[place] for _ in runs for place in places]
        return (
            BLEU(lowercase=True).corpus_score([lines[place] for lines in runs for place in places], [references]).score
        )

    drawn = np.random.default_rng(5).choice(12, size=(80, 12), replace=True)
    differences = sorted(
        score([outputs["A:1"], outputs["A:2"]], list(places)) - score([outputs["B"]], list(places)) for places in drawn
    )
    assert float(row["low"]) == pytest.approx(differences[2])
    assert float(row["high"]) == pytest.approx(differences[-3])
    assert float(row["low"]) < float(row["difference"]) < float(row["high"])


def test_exchanged_sentences_bring_all_runs(tmp_path: Path) -> None:
    """A system of one run is as good as the same one run twice."""
    state = random.Random(6)
    reference = text(state, 25)
    outputs = {f"A:{run}": disturbed(reference, state, 0.3) for run in (1, 2)}
    single = disturbed(reference, state, 0.4)
    ((once,), _) = run(tmp_path, {**outputs, "B": single}, [reference], samples=9, trials=300)
    ((twice,), _) = run(tmp_path, {**outputs, "B:1": single, "B:2": single}, [reference], samples=9, trials=300)
    assert once == twice and 0.01 < float(once["p_randomization"]) < 1


def test_is_corrected_for_all_pairs(tmp_path: Path) -> None:
    state = random.Random(7)
    reference = text(state, 40)
    outputs = {name: disturbed(reference, state, rate) for name, rate in zip("ABCD", (0.2, 0.2, 0.3, 0.5), strict=True)}
    pairs, _ = run(tmp_path, outputs, [reference], samples=200, trials=200)
    assert len(pairs) == 6
    for test in ("sign", "bootstrap", "randomization"):
        ordered = sorted((float(row[f"p_{test}"]), float(row[f"p_{test}_holm"])) for row in pairs)
        least = 0.0
        for tests, (p_value, corrected) in zip(range(6, 0, -1), ordered, strict=True):
            least = max(least, min(1.0, tests * p_value))
            assert corrected == pytest.approx(least)


def test_equal_outputs_do_not_differ(tmp_path: Path) -> None:
    state = random.Random(4)
    reference = text(state, 30)
    lines = disturbed(reference, state, 0.3)
    ((row,), _) = run(tmp_path, {"A": lines, "B": lines}, [reference], samples=50, trials=50)
    assert {row[column] for column in COLUMNS if column.startswith("p_")} == {"1.0"}
    assert (row["difference"], row["low"], row["high"], row["ties"]) == ("0.0", "0.0", "0.0", "30")


def test_a_system_alone_has_an_interval(tmp_path: Path) -> None:
    reference = text(random.Random(8), 20)
    pairs, intervals = run(tmp_path, {"A": disturbed(reference, random.Random(8), 0.3)}, [reference], samples=50)
    assert pairs == [] and [row["system"] for row in intervals] == ["A"]
    assert float(intervals[0]["low"]) < float(intervals[0]["bleu"]) < float(intervals[0]["high"])


def test_only_parsed_sentences_count(tmp_path: Path) -> None:
    state = random.Random(9)
    reference = text(state, 20)
    outputs = {name: disturbed(reference, state, 0.3) for name in "AB"}
    kept = [place for place in range(20) if state.random() < 0.6]
    trees = ["(ROOT (NN a))\n" if place in kept else "(FAILED (X a))\n" for place in range(20)]
    (tmp_path / "trees").write_text("".join(trees))
    ours = run(tmp_path, outputs, [reference], samples=50, trials=50, trees=tmp_path / "trees")
    fewer = {name: [lines[place] for place in kept] for name, lines in outputs.items()}
    assert ours == run(tmp_path, fewer, [[reference[place] for place in kept]], samples=50, trials=50)


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ([], "no system to compare; give --system NAME=FILE"),
        (["a={a}", "a={a}"], "names 'a' twice"),
        (["a:1={a}", "a:2={a}", "b:1={a}", "b:2={a}", "b:3={a}"], "'a' has 2 runs and others have 3"),
        (["a={a}", "b={short}"], "the file has 1 lines and .* has more"),
    ],
)
def test_what_cannot_be_compared(tmp_path: Path, systems: list[str], message: str) -> None:
    (tmp_path / "text").write_text("a b\nc d\n")
    (tmp_path / "short").write_text("a b\n")
    given = [item.format(a=tmp_path / "text", short=tmp_path / "short") for item in systems]
    with pytest.raises(InputError, match=message):
        comparisons(
            system=given,
            reference=[tmp_path / "text"],
            output=tmp_path / "out",
            intervals_output=tmp_path / "intervals",
        )
    assert not (tmp_path / "out").exists() and not (tmp_path / "intervals").exists()


def test_command_line(tmp_path: Path) -> None:
    state = random.Random(10)
    reference = text(state, 20)
    given = files(tmp_path, {name: disturbed(reference, state, 0.3) for name in "AB"}, [reference])
    command = [sys.executable, "-m", "pipeline_py.evaluation.comparisons", "--cased", "--samples=50", "--trials=60"]
    command += [f"--{option}={value}" for option, values in given.items() for value in values]
    command += [f"--output={tmp_path / 'out'}", f"--intervals-output={tmp_path / 'intervals'}"]
    subprocess.run(command, check=True, capture_output=True)
    places = {"output": tmp_path / "call", "intervals_output": tmp_path / "intervals of the call"}
    comparisons(**given, **places, samples=50, trials=60, lowercase=False)
    assert (tmp_path / "out").read_bytes() == (tmp_path / "call").read_bytes()
    assert (tmp_path / "intervals").read_bytes() == (tmp_path / "intervals of the call").read_bytes()
