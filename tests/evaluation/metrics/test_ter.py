"""TER: sacrebleu's, with its support of Chinese and Japanese where words have no spaces."""

import numpy as np
import pytest
from sacrebleu.metrics.ter import TER

from pipeline_py.evaluation.metrics.ter import Ter

CHINESE = "我们今天去公园看花。"
JAPANESE = "私は東京大学で日本史を学ぶ。"


def score(output: str, reference: str, tokenizer: str, language: str) -> float:
    metric = Ter(tokenizer, True, [[reference]], language)
    return float(Ter.score_corpora(np.array(metric.compute_sentence_statistics([output]), dtype=float))[0])


@pytest.mark.parametrize(
    ("language", "reference", "output", "edits"),
    [
        ("zh", CHINESE, "我们今天去公园看书。", 100 / 10),
        ("zh-hant", CHINESE, "我们明天去公园看书。", 200 / 10),
        ("ja", JAPANESE, "私は東京大学で日本語を学ぶ。", 100 / 14),
    ],
)
def test_characters_count_as_words(language, reference, output, edits):
    expected = TER(normalized=True, asian_support=True).corpus_score([output], [[reference]]).score
    assert score(output, reference, "zh", language) == pytest.approx(expected) == pytest.approx(edits)


def test_words_between_spaces_stay_words():
    assert score("ein Haus brennt .", "das Haus brennt .", "13a", "de") == pytest.approx(25)
    assert score("私 は 犬 だ", "私 は 猫 だ", "none", "ja") == pytest.approx(25)
    assert score("ein Haus-Boot", "das Haus-Boot", "13a", "de") == pytest.approx(50), "as sacrebleu's default"


def test_the_signature_says_so():
    assert "norm:yes|punct:yes|asian:yes" in Ter("zh", True, [["一"]], "zh").signature
    assert "norm:no|punct:yes|asian:no" in Ter("13a", True, [["a"]], "de").signature
