"""BLEU is sacrebleu's own, compared with its command; RIBES is counted by hand."""

import gzip
import json
import subprocess
import sys
from importlib import util
from pathlib import Path

import pytest

from pipeline_py.evaluation.score import score
from pipeline_py.stage import InputError

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


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("tokenizer", "lowercase", "references"),
    [("13a", True, 1), ("13a", False, 2), ("intl", True, 2), ("none", False, 1), ("zh", True, 2), ("char", False, 1)],
)
def test_same_as_the_sacrebleu_command(tmp_path: Path, tokenizer: str, lowercase: bool, references: int) -> None:
    hypothesis = write(tmp_path / "hypothesis", HYPOTHESES)
    files = [write(tmp_path / f"reference{i}", REFERENCES[i]) for i in range(references)]
    output = tmp_path / "bleu.json"
    score(hypothesis=hypothesis, reference=files, output=output, tokenizer=tokenizer, lowercase=lowercase)  # type: ignore[arg-type]
    ours = json.loads(output.read_text())

    command = [sys.executable, "-m", "sacrebleu", *map(str, files), "-i", str(hypothesis), "-w", "6"]
    command += ["-tok", tokenizer, "--force", *(["-lc"] if lowercase else [])]
    theirs = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert ours["score"] == pytest.approx(theirs.pop("score"), abs=1e-6)
    assert {key: ours[key] for key in theirs} == theirs
    assert ours["sys_len"] == ours["totals"][0]


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


PARSED, FAILED = "(ROOT (NN a))", "(FAILED (X a))"


def test_only_parsed_sentences(tmp_path: Path) -> None:
    parsed = write(tmp_path / "parsed", [PARSED, FAILED, "", PARSED])
    files = [write(tmp_path / f"all{i}", lines) for i, lines in enumerate([HYPOTHESES, *REFERENCES])]
    short = [write(tmp_path / f"some{i}", [lines[0], lines[3]]) for i, lines in enumerate([HYPOTHESES, *REFERENCES])]
    for metric in ("bleu", "ribes"):
        for name, (hypothesis, *references), trees in (("all", files, parsed), ("some", short, None)):
            output = tmp_path / f"{name}.{metric}"
            score(hypothesis=hypothesis, reference=references, output=output, metric=metric, trees=trees)
        ours = (tmp_path / f"all.{metric}").read_text()
        assert ours == (tmp_path / f"some.{metric}").read_text()
        assert json.loads(ours)["sentences"] == 2


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([PARSED], "trees: the file has 1 lines and .*text has more"),
        ([PARSED, FAILED, PARSED], "text: the file has 2 lines and .*trees has more"),
        ([PARSED, "yes"], "trees, line 2: "),
        (["", FAILED], "trees: no sentence was parsed, so none is left"),
    ],
)
def test_trees_that_choose_nothing(tmp_path: Path, lines: list[str], message: str) -> None:
    text, trees = write(tmp_path / "text", ["a", "b"]), write(tmp_path / "trees", lines)
    with pytest.raises(InputError, match=message):
        score(hypothesis=text, reference=[text], output=tmp_path / "out", trees=trees)
    assert not (tmp_path / "out").exists()


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
def test_what_cannot_be_scored(tmp_path: Path, hypotheses: list[str], references: list[str], message: str) -> None:
    hypothesis, reference = write(tmp_path / "hypothesis", hypotheses), write(tmp_path / "reference", references)
    with pytest.raises(InputError, match=message):
        score(hypothesis=hypothesis, reference=[reference], output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(util.find_spec("MeCab") is not None, reason="MeCab is installed, so nothing is missing")
def test_tokenizer_that_is_not_installed(tmp_path: Path) -> None:
    text = write(tmp_path / "text", ["a"])
    with pytest.raises(InputError, match=r'ja-mecab is not installed; run pip install "sacrebleu\[ja\]"'):
        score(hypothesis=text, reference=[text], output=tmp_path / "out", tokenizer="ja-mecab")


def test_command_line_names_file_and_line_of_invalid_utf8(tmp_path: Path) -> None:
    hypothesis, reference = write(tmp_path / "hypothesis", ["a", "b"]), tmp_path / "reference"
    reference.write_bytes(b"a\nb\xff\n")
    command = [sys.executable, "-m", "pipeline_py.evaluation.score", "--hypothesis", str(hypothesis)]
    command += ["--reference", str(reference), "--output", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {reference}, line 2: byte 1 is not UTF-8")
    assert done.stderr.count("\n") == 1
