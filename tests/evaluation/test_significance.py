"""The sign test against rescoring the whole corpus with sacrebleu after every replacement."""

import csv
import gzip
import math
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.evaluation import bleu
from pipeline_py.evaluation.sign_test import replacement_scores, sign_test
from pipeline_py.evaluation.significance import significance
from pipeline_py.stage import InputError

WORDS = ["the", "cat", "sat", "on", "a", "mat", "in", "Garden", ",", "of", "my", "(", "old", ")", "friend", "."]
FOUR_COUNTS = st.lists(st.integers(0, 3), min_size=4, max_size=4)
NEWSTEST = Path(__file__).parents[2] / "../shared/data/newstest_ende"


def sentences(random_state: random.Random, number: int, longest: int) -> list[str]:
    lengths = [random_state.randint(0, longest) for _ in range(number)]
    return [" ".join(random_state.choice(WORDS) for _ in range(length)) for length in lengths]


def disturbed(line: str, random_state: random.Random) -> str:
    return " ".join(random_state.choice([word, word, word, "xx"]) for word in line.split())


def statistics(outputs: list[str], references: list[list[str]], lowercase: bool = True) -> np.ndarray:
    metric = bleu.metric("13a", lowercase)
    rows = [bleu.sentence_statistics(metric, *item) for item in zip(outputs, zip(*references), strict=True)]  # noqa: B905
    return np.array(rows, dtype=np.int64)


def rescored(
    system: list[str], baseline: list[str], references: list[list[str]], lowercase: bool
) -> tuple[float, list[float]]:
    """BLEU of the baseline and, for each i, of the baseline with the system's i-th sentence, by sacrebleu alone."""
    metric = BLEU(lowercase=lowercase)
    replaced = [
        metric.corpus_score([*baseline[:i], system[i], *baseline[i + 1 :]], references).score
        for i in range(len(system))
    ]
    return metric.corpus_score(baseline, references).score, replaced


def two_sided(better: int, worse: int) -> float:
    """The binomial test at 1/2 summed term by term."""
    n = better + worse
    tail = sum(math.comb(n, k) for k in range(max(better, worse), n + 1))
    return min(1.0, 2 * tail / 2**n)


@pytest.mark.parametrize("references", [1, 3])
@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("longest", [3, 5, 25])
def test_agrees_with_rescoring_everything(references: int, lowercase: bool, longest: int) -> None:
    state = random.Random(f"{references} {lowercase} {longest}")
    texts = [[line or "mat" for line in sentences(state, 40, longest)] for _ in range(references)]
    system = [disturbed(line, state) for line in texts[-1]]
    baseline = [disturbed(line, state) for line in texts[0]]
    baseline[:8] = system[:8]
    baseline[3] = ""
    score, replaced = rescored(system, baseline, texts, lowercase)
    ours = statistics(system, texts, lowercase), statistics(baseline, texts, lowercase)
    assert bleu.corpus_score(ours[1]).score == score
    assert replacement_scores(*ours) == pytest.approx(replaced, abs=1e-9)

    better = sum(value > score + 1e-9 for value in replaced)
    worse = sum(value < score - 1e-9 for value in replaced)
    result = sign_test(*ours)
    assert (result.better, result.worse, result.ties) == (better, worse, 40 - better - worse)
    assert result.p_value == pytest.approx(two_sided(better, worse))
    assert better + worse > 0 or longest < 4


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.integers(0, 9),
)
def test_smoothing_is_sacrebleus(matches: list[int], misses: list[int], reference_length: int) -> None:
    ngrams = [a + b for a, b in zip(matches, misses, strict=True)]
    for order in range(1, 4):  # where one order has no n-grams, no higher one has any
        if ngrams[order - 1] == 0:
            ngrams[order] = matches[order] = 0
    row = np.array([[ngrams[0], reference_length, *matches, *ngrams]])
    theirs = BLEU.compute_bleu(list(matches), list(ngrams), ngrams[0], reference_length, smooth_method="exp").score
    assert bleu.scores(row)[0] == pytest.approx(theirs, rel=1e-12)


def test_equal_scores_from_unequal_counts_are_ties() -> None:
    # 4/8 · 3/8 = 6/8 · 2/8: rounding must not make a plus or a minus of it.
    baseline = np.array([[8, 8, 4, 3, 1, 1, 8, 8, 8, 8], [0] * 10])
    system = np.array([[8, 8, 6, 2, 1, 1, 8, 8, 8, 8], [0] * 10])
    result = sign_test(system, baseline)
    assert (result.better, result.worse, result.ties, result.p_value) == (0, 0, 2, 1.0)


def test_table_has_every_ordered_pair(tmp_path: Path) -> None:
    state = random.Random(1)
    reference = [line or "mat" for line in sentences(state, 60, 15)]
    outputs = {
        "A (n=2)": [disturbed(line, state) for line in reference],
        "B": [disturbed(disturbed(line, state), state) for line in reference],
        "same as B": [],
    }
    outputs["same as B"] = outputs["B"]
    arguments = []
    for name, lines in {"reference": reference, **outputs}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        arguments += [f"{name}={tmp_path / name}"]
    output = tmp_path / "out.tsv"
    significance(system=arguments[1:], reference=[tmp_path / "reference"], output=output)
    with output.open(encoding="utf-8", newline="") as file:
        rows = {(row["system"], row["other"]): row for row in csv.DictReader(file, delimiter="\t")}
    assert len(rows) == 6
    score, replaced = rescored(outputs["A (n=2)"], outputs["B"], [reference], lowercase=True)
    row = rows["A (n=2)", "B"]
    assert float(row["bleu_other"]) == score
    assert int(row["better"]) == sum(value > score for value in replaced)
    assert int(row["worse"]) == sum(value < score for value in replaced)
    assert float(row["p_value"]) == pytest.approx(two_sided(int(row["better"]), int(row["worse"])))
    assert int(row["better"]) > int(row["worse"])
    equal = rows["B", "same as B"]
    assert (equal["better"], equal["worse"], equal["ties"], float(equal["p_value"])) == ("0", "0", "60", 1.0)


def test_runs_are_replaced_together(tmp_path: Path) -> None:
    """Two runs of a system against two of another and one of a third, by rescoring both runs as one corpus."""
    state = random.Random(3)
    reference = [line or "mat" for line in sentences(state, 30, 12)]
    runs = {name: [disturbed(line, state) for line in reference] for name in ("A:1", "A:2", "B:1", "B:2", "C")}
    given = []
    for name, lines in {"reference": reference, **runs}.items():
        path = tmp_path / name.replace(":", "-")
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        given.append(f"{name}={path}")
    output = tmp_path / "out.tsv"
    significance(system=given[1:], reference=[tmp_path / "reference"], output=output)
    with output.open(encoding="utf-8", newline="") as file:
        rows = {(row["system"], row["other"]): row for row in csv.DictReader(file, delimiter="\t")}
    assert len(rows) == 6

    def corpus(name: str) -> list[list[str]]:
        return [runs[f"{name}:{run}"] if name != "C" else runs["C"] for run in (1, 2)]

    def score(outputs: list[list[str]]) -> float:
        metric = BLEU(lowercase=True)
        return metric.corpus_score([line for run in outputs for line in run], [reference * 2]).score

    for (name, other), row in rows.items():
        before = score(corpus(other))
        changes = []
        for place in range(len(reference)):
            mixed = [[*run] for run in corpus(other)]
            for run, replacing in zip(mixed, corpus(name), strict=True):
                run[place] = replacing[place]
            changes.append(score(mixed) - before)
        assert int(row["better"]) == sum(change > 1e-9 for change in changes)
        assert int(row["worse"]) == sum(change < -1e-9 for change in changes)
        single = [BLEU(lowercase=True).corpus_score(run, [reference]).score for run in corpus(name)]
        assert float(row["bleu_system"]) == pytest.approx(sum(single) / 2)
    with pytest.raises(InputError, match="'B' has 2 runs and others have 3; give equally many, or one"):
        significance(
            system=[*given[1:], given[1].replace("A:1", "A:3")], reference=[tmp_path / "reference"], output=output
        )


@pytest.mark.skipif(not NEWSTEST.is_dir(), reason="needs ../shared/data/newstest_ende, which is not in the repository")
def test_real_references_score_themselves(tmp_path: Path) -> None:
    with gzip.open(NEWSTEST / "newstest2015.de.gz", "rt", encoding="utf-8") as file:
        reference = [next(file).rstrip("\n") for _ in range(40)]
    state = random.Random(2)
    system = [disturbed(line, state) for line in reference]
    ours = statistics(reference, [reference]), statistics(system, [reference])
    assert bleu.corpus_score(ours[0]).score == pytest.approx(100)
    _, replaced = rescored(reference, system, [reference], lowercase=True)
    assert replacement_scores(*ours) == pytest.approx(replaced, abs=1e-9)
    assert sign_test(*ours).worse == 0


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (["a={a}"], "give --system NAME=FILE at least twice"),
        (["a={a}", "{a}"], "has no '='"),
        (["a={a}", "a={a}"], "names 'a' twice"),
        (["a={a}", "={a}"], "needs a printable name"),
        (["a={a}", "b={a}.missing"], "no such file for --system 'b'"),
        (["a={a}", "b={short}"], "the file has 1 lines and .* has more"),
    ],
)
def test_command_line_says_what_is_wrong(tmp_path: Path, systems: list[str], message: str) -> None:
    (tmp_path / "text").write_text("a b\nc d\n")
    (tmp_path / "short").write_text("a b\n")
    given = [item.format(a=tmp_path / "text", short=tmp_path / "short") for item in systems]
    with pytest.raises(InputError, match=message):
        significance(system=given, reference=[tmp_path / "text"], output=tmp_path / "out")


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b\n\n")
    command = [sys.executable, "-m", "pipeline_py.evaluation.significance", "--output", str(tmp_path / "out")]
    command += ["--reference", str(tmp_path / "text")]
    command += [f"--system={name}={tmp_path / 'text'}" for name in "ab"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: {tmp_path / 'text'}, line 2: the reference is empty")
