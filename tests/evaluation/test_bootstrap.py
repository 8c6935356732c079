"""The paired bootstrap against sacrebleu's test on plain text, and against resampled corpora scored one by one."""

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
from pipeline_py.evaluation.ribes import RIBES
from pipeline_py.stage import InputError

WORDS = ["the", "cat", "sat", "on", "a", "mat", "in", "Garden", ",", "of", "my", "(", "old", ")", "Käse", "."]
Rows = dict[tuple[str, str, str], dict[str, str]]


def sentences(state: random.Random, number: int) -> list[str]:
    return [" ".join(state.choice(WORDS) for _ in range(state.randint(1, 15))) for _ in range(number)]


def disturbed(lines: list[str], state: random.Random, rate: float) -> list[str]:
    """Words replaced, and halves of sentences swapped, both with the probability `rate`."""
    result = []
    for line in lines:
        words = ["xx" if state.random() < rate else word for word in line.split()]
        half = len(words) // 2 if state.random() < rate else 0
        result.append(" ".join(words[half:] + words[:half]))
    return result


def run(folder: Path, outputs: dict[str, list[str]], references: list[list[str]], **options: object) -> Rows:
    """Rows by metric, system and other."""

    def write(name: str, lines: list[str]) -> Path:
        path = folder / name.replace(":", "-")
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    bootstrap(
        system=[f"{name}={write(name, lines)}" for name, lines in outputs.items()],
        reference=[write(f"reference{place}", lines) for place, lines in enumerate(references)],
        output=folder / "out.tsv",
        **options,  # type: ignore[arg-type]
    )
    with (folder / "out.tsv").open(encoding="utf-8", newline="") as file:
        return {(row["metric"], row["system"], row["other"]): row for row in csv.DictReader(file, delimiter="\t")}


def by_sacrebleu(
    one: list[str], other: list[str], references: list[list[str]], lowercase: bool, samples: int, seed: int
) -> dict[str, list[Result]]:
    """Results of the baseline `other` and of `one` against it."""
    metrics = {"b": BLEU(lowercase=lowercase), "r": RIBES("13a", lowercase)}
    with mock.patch.dict(os.environ, {"SACREBLEU_SEED": str(seed)}):
        _, results = PairedTest([("other", other), ("one", one)], metrics, references, "bs", samples)()
    return results  # type: ignore[return-value]


@pytest.mark.parametrize(("lowercase", "seed", "references"), [(True, 12345, 1), (False, 7, 2)])
def test_agrees_with_sacrebleu(tmp_path: Path, lowercase: bool, seed: int, references: int) -> None:
    state = random.Random(seed)
    texts = [sentences(state, 60) for _ in range(references)]
    outputs = {"A (n=2)": disturbed(texts[0], state, 0.2), "B": disturbed(texts[0], state, 0.2)}
    rows = run(tmp_path, outputs, texts, lowercase=lowercase, seed=seed, samples=300)
    assert len(rows) == 4
    theirs = by_sacrebleu(outputs["A (n=2)"], outputs["B"], texts, lowercase, samples=300, seed=seed)
    for metric in ("bleu", "ribes"):
        other, one = theirs[metric.upper()]
        row, mirrored = rows[metric, "A (n=2)", "B"], rows[metric, "B", "A (n=2)"]
        assert float(row["score_system"]) == pytest.approx(one.score)
        assert float(row["score_other"]) == pytest.approx(other.score)
        assert float(row["difference"]) == pytest.approx(one.score - other.score)
        assert float(row["p_value"]) == one.p_value
        assert 0.05 < float(row["p_value"]) < 1
        # sacrebleu adds up in single precision.
        assert float(row["ci_system"]) == pytest.approx(one.ci, rel=1e-4)
        assert float(row["ci_other"]) == pytest.approx(other.ci, rel=1e-4)
        assert float(mirrored["difference"]) == -float(row["difference"])
        assert mirrored["p_value"] == row["p_value"]


def test_runs_are_resampled_together(tmp_path: Path) -> None:
    """Two runs against one: every resampled corpus is written out, of all runs, and scored with sacrebleu."""
    state = random.Random(3)
    reference = sentences(state, 12)
    outputs = {f"A:{run}": disturbed(reference, state, 0.2) for run in (1, 2)}
    outputs["B"] = disturbed(reference, state, 0.3)
    rows = run(tmp_path, outputs, [reference], samples=40, seed=5)
    assert len(rows) == 4
    corpora = {"A": [outputs["A:1"], outputs["A:2"]], "B": [outputs["B"]]}
    drawn = np.random.default_rng(5).choice(12, size=(40, 12), replace=True)
    for metric in (BLEU(lowercase=True), RIBES("13a", True)):

        def score(name: str, places: list[int], metric: BLEU | RIBES = metric) -> float:
            lines = [lines[place] for lines in corpora[name] for place in places]
            return metric.corpus_score(lines, [[reference[place] for _ in corpora[name] for place in places]]).score

        difference = score("A", list(range(12))) - score("B", list(range(12)))
        distances = [abs(score("A", list(places)) - score("B", list(places))) for places in drawn]
        mean = sum(distances) / 40
        expected = (1 + sum(distance - mean > abs(difference) for distance in distances)) / 41
        row = rows[type(metric).__name__.lower(), "A", "B"]
        assert float(row["difference"]) == pytest.approx(difference)
        assert float(row["p_value"]) == pytest.approx(expected)
        single = [metric.corpus_score(lines, [reference]).score for lines in corpora["A"]]
        assert float(row["score_system"]) == pytest.approx(sum(single) / 2)


def test_equal_outputs_do_not_differ(tmp_path: Path) -> None:
    state = random.Random(4)
    reference = sentences(state, 30)
    lines = disturbed(reference, state, 0.3)
    rows = run(tmp_path, {"A": lines, "B": lines}, [reference], samples=100)
    assert {row["p_value"] for row in rows.values()} == {"1.0"}
    assert {float(row["difference"]) for row in rows.values()} == {0.0}
    # This is why it is an exception.
    assert by_sacrebleu(lines, lines, [reference], True, 100, 1)["BLEU"][1].p_value == pytest.approx(1 / 101)


def test_a_clearly_better_system_and_a_difference_by_chance(tmp_path: Path) -> None:
    state = random.Random(5)
    reference = sentences(state, 200)
    outputs = {name: disturbed(reference, state, rate) for name, rate in (("A", 0.1), ("B", 0.1), ("C", 0.3))}
    rows = run(tmp_path, outputs, [reference])
    assert len(rows) == 12
    for metric in ("bleu", "ribes"):
        assert float(rows[metric, "A", "C"]["p_value"]) == pytest.approx(1 / 1001)
        assert float(rows[metric, "A", "C"]["difference"]) > 0
        assert float(rows[metric, "A", "B"]["p_value"]) > 0.05


def test_difference_that_is_the_same_in_every_sentence(tmp_path: Path) -> None:
    # RIBES 1 and 5/6 in each: no resampled difference is larger than the mean.
    rows = run(tmp_path, {"A": ["a b c d"] * 9, "B": ["b a c d"] * 9}, [["a b c d"] * 9], samples=99)
    assert float(rows["ribes", "A", "B"]["difference"]) == pytest.approx(100 / 6)
    assert float(rows["ribes", "A", "B"]["p_value"]) == pytest.approx(1 / 100)
    assert float(rows["ribes", "A", "B"]["ci_system"]) == 0


def test_only_parsed_sentences_are_drawn(tmp_path: Path) -> None:
    state = random.Random(6)
    reference = sentences(state, 20)
    outputs = {name: disturbed(reference, state, 0.3) for name in "AB"}
    marks = [str(state.randint(0, 1)) for _ in reference]
    trees = {"1": "(ROOT (NN a))\n", "0": "(FAILED (X a))\n"}
    (tmp_path / "parsed").write_text("".join(trees[mark] for mark in marks))
    ours = run(tmp_path, outputs, [reference], samples=50, trees=tmp_path / "parsed")
    kept = [place for place, mark in enumerate(marks) if mark == "1"]
    fewer = {name: [lines[place] for place in kept] for name, lines in outputs.items()}
    assert ours == run(tmp_path, fewer, [[reference[place] for place in kept]], samples=50)
    (tmp_path / "parsed").write_text(trees["0"] * 20)
    with pytest.raises(InputError, match="parsed: no sentence was parsed"):
        run(tmp_path, outputs, [reference], trees=tmp_path / "parsed")


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (["a={a}"], "give --system NAME=FILE at least twice"),
        (["a:1={a}", "a:2={a}"], "give --system NAME=FILE at least twice"),
        (["a={a}", "{a}"], "has no '='"),
        (["a={a}", "a={a}"], "names 'a' twice"),
        (["a={a}", "b={a}.missing"], "no such file for --system 'b'"),
        (["a={a}", "b={short}"], "the file has 1 lines and .* has more"),
    ],
)
def test_what_cannot_be_compared(tmp_path: Path, systems: list[str], message: str) -> None:
    (tmp_path / "text").write_text("a b\nc d\n")
    (tmp_path / "short").write_text("a b\n")
    given = [item.format(a=tmp_path / "text", short=tmp_path / "short") for item in systems]
    with pytest.raises(InputError, match=message):
        bootstrap(system=given, reference=[tmp_path / "text"], output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("A b\n\u2028 ó\n", encoding="utf-8")
    (tmp_path / "empty").write_text("\n\n")
    command = [sys.executable, "-m", "pipeline_py.evaluation.bootstrap", "--reference", str(tmp_path / "text")]
    command += [f"--system=a:seed1={tmp_path / 'text'}", f"--system=b={tmp_path / 'empty'}"]
    command += ["--samples", "10", "--seed", "1", "--tokenizer", "intl", "--cased", "--output", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    header, *rows = (tmp_path / "out").read_text().splitlines()
    assert header.split("\t")[:3] == ["metric", "system", "other"]
    assert [row.split("\t")[:3] for row in rows] == [
        ["bleu", "a", "b"],
        ["bleu", "b", "a"],
        ["ribes", "a", "b"],
        ["ribes", "b", "a"],
    ]
    done = subprocess.run([*command, "--samples", "0"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--samples" in done.stderr
