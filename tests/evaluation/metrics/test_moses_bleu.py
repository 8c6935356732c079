"""BLEU of Moses' tokens against sacrebleu on text that Moses tokenized."""

import json
from pathlib import Path

import numpy as np
import pytest
from sacrebleu import corpus_bleu
from sacremoses import MosesTokenizer

from pipeline_py.evaluation.compute_metric_statistics import compute_metric_statistics
from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.evaluation.metrics.moses_bleu import MosesBleu

OUTPUTS = ['Ein Mann sagt: "Das ist z.B. gut".', "zwei Hunde, die rennen", "", "A c'est la vie - ja"]
REFERENCES = ["Ein Mann sagt: „Das ist z.B. gut“.", "Zwei Hunde, die am Strand rennen!", "x", "a c'est la vie – ja"]
OTHERS = ["Der Mann sagt, das sei gut.", "zwei Hunde rennen", "x y", "b"]


def tokenized(lines: list[str]) -> list[str]:
    plain = [line.replace("„", '"').replace("“", '"').replace("–", "-") for line in lines]
    return [MosesTokenizer("de").tokenize(line, escape=False, return_str=True) for line in plain]


@pytest.mark.parametrize("references", [[REFERENCES], [REFERENCES, OTHERS]])
@pytest.mark.parametrize("lowercase", [True, False])
def test_it_is_sacrebleus_of_tokens(references: list[list[str]], lowercase: bool) -> None:
    metric = MosesBleu("13a", lowercase, references, "de")
    counted = metric.compute_sentence_statistics(OUTPUTS)
    expected = corpus_bleu(
        tokenized(OUTPUTS), [tokenized(lines) for lines in references], lowercase=lowercase, tokenize="none", force=True
    )
    assert metric.to_score_json(counted)["score"] == pytest.approx(expected.score, abs=1e-12)
    assert MosesBleu.score_corpora(np.sum(counted, axis=0)[None])[0] == pytest.approx(expected.score)
    case = "lc" if lowercase else "mixed"
    assert metric.signature.startswith(f"nrefs:{len(references)}|case:{case}|eff:no|tok:moses-de|smooth:exp|version:")


def test_the_rules_are_those_of_the_language(tmp_path: Path) -> None:
    assert get_metric_class("moses_bleu") is MosesBleu
    for name, lines in (("out", OUTPUTS), ("ref", REFERENCES)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    signatures, scores = [], []
    for language in ("de", "fr"):
        compute_metric_statistics(
            hypothesis=tmp_path / "out",
            references=[tmp_path / "ref"],
            metrics=["bleu", "moses_bleu"],
            scores_output=[tmp_path / "bleu.json", tmp_path / "moses_bleu.json"],
            output=tmp_path / "statistics",
            language=language,
        )
        outputs = json.loads((tmp_path / "moses_bleu.json").read_text())
        signatures.append(outputs["signature"])
        scores.append(outputs["score"])
    assert ["tok:moses-de" in signatures[0], "tok:moses-fr" in signatures[1]] == [True, True]
    assert scores[0] != scores[1], "c'est is one word in German and two in French"
