"""BLEU is sacrebleu's own, compared with its command; RIBES is counted by hand."""

import gzip
import json
import subprocess
import sys
from importlib import util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from pipeline_py.config.evaluation import MECAB_PACKAGES, TrainedThresholdsConfig
from pipeline_py.evaluation.column_files import read_sentence_columns
from pipeline_py.evaluation.compute_metric_statistics import compute_metric_statistics
from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.evaluation.output_properties import find_training_failures, read_output_properties
from pipeline_py.run.errors import InputError
from tests.text_files import write_lines as write

HYPOTHESES = [
    "The cat sat on the mat.",
    "there is a dog in the garden , today",
    "",
    "It's 3.5 per cent of nothing at all",
]
REFERENCES = [
    ["the cat sat on the Mat.", "A dog is in the garden today.", "nothing", "It is 3.5 % of nothing at all."],
    ["There was a cat on the mat", "there is a dog in our garden today", "no", "it's 3.5 per cent of all that"],
]


def score(hypothesis: Path, reference: list[Path], output: Path, metric: str = "bleu", **options: Any) -> None:
    """The score of the whole set as JSON."""
    places = {"output": output.with_suffix(".arrow"), "scores_output": [output]}
    compute_metric_statistics(hypothesis=hypothesis, references=reference, metrics=[metric], **places, **options)


@pytest.mark.parametrize("lowercase", [True, False])
def test_chance_bleu_is_that_of_rotated_references(tmp_path: Path, lowercase: bool) -> None:
    words = ["the old Cat sat", "on THE old mat", "a Dog and the old cat", "The old cat sat there"]
    references = [words, [line.upper() for line in words]]
    outputs = [words[2] + " sat on", words[3], words[0] + " on the old", words[1] + " today"]
    files = [write(tmp_path / f"reference{number}", lines) for number, lines in enumerate(references)]
    options = {"hypothesis": write(tmp_path / "hypothesis", outputs), "reference": files, "lowercase": lowercase}
    score(**options, output=tmp_path / "bleu.json")
    rotated = [lines[2:] + lines[:2] for lines in references]
    expected = BLEU(lowercase=lowercase).corpus_score(outputs, rotated).score
    properties = read_output_properties(tmp_path / "bleu.arrow")
    assert properties.chance_bleu == pytest.approx(expected) and 20 < expected < 99
    words_of_references = sum(len(line.split()) for line in words)
    assert properties.length_ratio == sum(len(line.split()) for line in outputs) / words_of_references


@pytest.mark.parametrize("sentence_count", [1, 2])
def test_outputs_are_compared_with_references_of_other_sentences(tmp_path: Path, sentence_count: int) -> None:
    """A single sentence has no other one."""
    outputs = ["the old cat sat on the mat", "a dog ran in my garden now"][:sentence_count]
    files = [write(tmp_path / "hypothesis", outputs), write(tmp_path / "reference", outputs)]
    score(hypothesis=files[0], reference=files[1:], output=tmp_path / "bleu.json")
    assert json.loads((tmp_path / "bleu.json").read_text())["score"] == pytest.approx(100)
    properties = read_output_properties(tmp_path / "bleu.arrow")
    assert properties.chance_bleu == 0
    assert find_training_failures(properties, 100, None, TrainedThresholdsConfig()) == []


@pytest.mark.parametrize(
    ("tokenizer", "lowercase", "references"),
    [("13a", True, 1), ("13a", False, 2), ("intl", True, 2), ("none", False, 1), ("zh", True, 2), ("char", False, 1)],
)
def test_same_as_the_sacrebleu_command(tmp_path: Path, tokenizer: str, lowercase: bool, references: int) -> None:
    hypothesis = write(tmp_path / "hypothesis", HYPOTHESES)
    files = [write(tmp_path / f"reference{i}", REFERENCES[i]) for i in range(references)]
    output = tmp_path / "bleu.json"
    score(hypothesis=hypothesis, reference=files, output=output, tokenizer=tokenizer, lowercase=lowercase)
    ours = json.loads(output.read_text())

    command = [sys.executable, "-m", "sacrebleu", *map(str, files), "-i", str(hypothesis), "-w", "6"]
    command += ["-tok", tokenizer, "--force", *(["-lc"] if lowercase else [])]
    theirs = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert ours["score"] == pytest.approx(theirs.pop("score"), abs=1e-6)
    assert {key: ours[key] for key in theirs} == theirs
    assert ours["sys_len"] == ours["totals"][0]


@pytest.mark.parametrize(
    ("tokenizer", "outputs", "references"),
    [
        (
            "ja-mecab",
            ["彼は昨日、東京へ行きました。", "猫が好きです"],
            ["彼は昨日東京に行った。", "私は猫が好きです。"],
        ),
        (
            "ko-mecab",
            ["그는 어제 서울에 갔습니다.", "고양이를 좋아합니다"],
            ["그는 어제 서울로 갔다.", "나는 고양이를 좋아합니다."],
        ),
    ],
)
def test_mecab_scores_as_the_sacrebleu_command(
    tmp_path: Path, tokenizer: str, outputs: list[str], references: list[str]
) -> None:
    if any(util.find_spec(package) is None for package in MECAB_PACKAGES[tokenizer]):
        pytest.skip(f'{tokenizer} is not installed: pip install "sacrebleu[{tokenizer[:2]}]"')
    hypothesis, reference = write(tmp_path / "hypothesis", outputs), write(tmp_path / "reference", references)
    score(hypothesis=hypothesis, reference=[reference], output=tmp_path / "bleu.json", tokenizer=tokenizer)
    ours = json.loads((tmp_path / "bleu.json").read_text())
    command = [sys.executable, "-m", "sacrebleu", str(reference), "-i", str(hypothesis), "-w", "6", "-lc"]
    printed = subprocess.run([*command, "-tok", tokenizer, "--force"], capture_output=True, text=True, check=True)
    theirs = json.loads(printed.stdout)
    assert ours["score"] == pytest.approx(theirs.pop("score"), abs=1e-6) and ours["score"] > 10
    assert {key: ours[key] for key in theirs} == theirs and f"tok:{tokenizer}" in ours["signature"]


@pytest.mark.parametrize(("name", "command"), [("chrf", "chrf"), ("ter", "ter")])
@pytest.mark.parametrize("references", [1, 2])
def test_further_metrics_are_sacrebleus(tmp_path: Path, name: str, command: str, references: int) -> None:
    hypothesis = write(tmp_path / "hypothesis", HYPOTHESES)
    files = [write(tmp_path / f"reference{i}", REFERENCES[i]) for i in range(references)]
    score(hypothesis, files, tmp_path / "score.json", name)
    ours = json.loads((tmp_path / "score.json").read_text())
    line = [sys.executable, "-m", "sacrebleu", *map(str, files), "-i", str(hypothesis), "-w", "6", "-m", command]
    line += ["--chrf-lowercase"] if name == "chrf" else []
    theirs = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
    assert ours["score"] == pytest.approx(theirs.pop("score"), abs=1e-6)
    assert {key: ours[key] for key in theirs} == theirs and ours["sentences"] == 4
    columns, signatures = read_sentence_columns(tmp_path / "score.arrow")
    assert signatures[name] == theirs["signature"]
    assert get_metric_class(name).score_corpora(columns[name].sum(axis=0)[None]).tolist() == pytest.approx(
        [ours["score"]]
    )


@pytest.mark.parametrize("name", ["bleu", "chrf", "moses_bleu", "ribes", "ter"])
@settings(max_examples=50)
@given(data=st.data())
def test_scores_of_many_corpora_are_those_of_each(name: str, data: st.DataObject) -> None:
    """As the metric's own class counts them, empty outputs and outputs without a match among them."""
    lines = st.lists(st.lists(st.sampled_from(["a", "b", "Cd"]), max_size=6).map(" ".join), min_size=3, max_size=3)
    outputs, reference = data.draw(lines), [line or "a" for line in data.draw(lines)]
    metric = get_metric_class(name)("13a", True, [reference])
    counted = np.array(metric.compute_sentence_statistics(outputs), dtype=np.float64)
    corpora = [counted.sum(axis=0), counted[0], counted[1:].sum(axis=0)]
    expected = [
        metric._sacrebleu_metric._aggregate_and_compute(rows).score
        for rows in map(integral, ([*counted], counted[:1], counted[1:]))
    ]
    assert metric.score_corpora(np.array(corpora)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def integral(rows: Any) -> list[list[float]]:
    return [[int(value) if value == int(value) else float(value) for value in row] for row in rows]


def test_columns_have_a_checksum(tmp_path: Path) -> None:
    text = write(tmp_path / "text", HYPOTHESES[:2])
    compute_metric_statistics(hypothesis=text, references=[text], output=tmp_path / "out.arrow", metrics=["bleu"])
    columns, _ = read_sentence_columns(tmp_path / "out.arrow")
    assert {name: values.shape for name, values in columns.items()} == {
        "bleu": (2, 10),
        "chrf": (2, 18),
        "output properties": (2, 16),
    }
    frame = pd.read_feather(tmp_path / "out.arrow")
    assert [*frame.columns] == ["bleu", "chrf", "output properties"]
    assert frame["bleu"][0].tolist() == columns["bleu"][0].tolist()
    content = bytearray((tmp_path / "out.arrow").read_bytes())
    content[-100] ^= 1
    (tmp_path / "damaged.arrow").write_bytes(content)
    with pytest.raises(InputError, match=r"damaged\.arrow: damaged"):
        read_sentence_columns(tmp_path / "damaged.arrow")


def test_case_is_ignored_unless_asked_for(tmp_path: Path) -> None:
    hypothesis = write(tmp_path / "hypothesis", ["A B C D E"])
    reference = write(tmp_path / "reference", ["a b c d e"])
    score(hypothesis=hypothesis, reference=[reference], output=tmp_path / "lc")
    score(hypothesis=hypothesis, reference=[reference], output=tmp_path / "cased", lowercase=False)
    assert json.loads((tmp_path / "lc").read_text())["score"] == pytest.approx(100)
    assert json.loads((tmp_path / "cased").read_text())["score"] == 0


def test_ribes_and_mean_length(tmp_path: Path) -> None:
    hypothesis = write(tmp_path / "hypothesis", ["Bob hit John yesterday", "a b c d e f", ""])
    references = [write(tmp_path / name, ["John hit Bob yesterday", "a b c d e", "x"]) for name in ("one", "two")]
    output, ribes = tmp_path / "bleu.json", tmp_path / "ribes.json"
    score(hypothesis=hypothesis, reference=references, output=output)
    score(hypothesis=hypothesis, reference=references, output=ribes, metric="ribes")
    bleu = json.loads(output.read_text())
    assert (bleu["sys_len"], bleu["sentences"]) == (10, 3)
    content = json.loads(ribes.read_text())
    # 3 of 6 pairs are in order; 5 of 6 words are aligned.
    assert content.pop("score") == pytest.approx(100 * (0.5 + (5 / 6) ** 0.25) / 3)
    version = bleu["version"]
    assert content == {
        "name": "RIBES",
        "signature": f"nrefs:2|case:lc|tok:13a|alpha:0.25|beta:0.1|version:{version}",
        "nrefs": "2",
        "case": "lc",
        "tok": "13a",
        "alpha": "0.25",
        "beta": "0.1",
        "version": version,
        "sentences": 3,
    }


def test_gzipped_references_are_read(tmp_path: Path) -> None:
    hypothesis = write(tmp_path / "hypothesis", ["a b c d e"])
    reference = tmp_path / "reference.gz"
    reference.write_bytes(gzip.compress(b"a b c d e\n"))
    score(hypothesis=hypothesis, reference=[reference], output=tmp_path / "out")
    assert json.loads((tmp_path / "out").read_text())["score"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (["a"], ["a", "b"], "hypothesis: the file has 1 lines and .*reference has more"),
        (["a", "b", "c"], ["a", "b"], "reference: the file has 2 lines and .*hypothesis has more"),
        (["a", "b"], ["a", " "], "reference, line 2: the reference is empty"),
        ([], [], "reference: the file has no sentences"),
    ],
)
def test_invalid_files_are_reported(tmp_path: Path, hypotheses: list[str], references: list[str], message: str) -> None:
    hypothesis, reference = write(tmp_path / "hypothesis", hypotheses), write(tmp_path / "reference", references)
    with pytest.raises(InputError, match=message):
        score(hypothesis=hypothesis, reference=[reference], output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(util.find_spec("MeCab") is not None, reason="MeCab is installed, so nothing is missing")
def test_tokenizer_that_is_not_installed(tmp_path: Path) -> None:
    text = write(tmp_path / "text", ["a"])
    with pytest.raises(InputError, match=r'ja-mecab is not installed; run pip install "sacrebleu\[ja\]"'):
        score(hypothesis=text, reference=[text], output=tmp_path / "out", tokenizer="ja-mecab")


def test_invalid_utf8_is_named_by_file_and_line(tmp_path: Path) -> None:
    hypothesis, reference = write(tmp_path / "hypothesis", ["a", "b"]), tmp_path / "reference"
    reference.write_bytes(b"a\nb\xff\n")
    with pytest.raises(InputError, match="reference, line 2: byte 1 is not UTF-8"):
        score(hypothesis=hypothesis, reference=[reference], output=tmp_path / "out")
