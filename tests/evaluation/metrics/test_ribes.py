"""RIBES against values of the authors' script, another toolkit's, worked examples, nltk and a naive count."""

import json
import math
from importlib import util

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.ribes_score import sentence_ribes as ribes_of_nltk
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest

from pipeline_py.evaluation.metrics.ribes import Ribes, SacrebleuRibes, align_words, compute_sentence_ribes
from pipeline_py.run.errors import InputError

WORDS = st.lists(st.sampled_from("abcd"), max_size=8)


def of(hypothesis: str, *references: str) -> float:
    return compute_sentence_ribes(hypothesis.split(), [reference.split() for reference in references])


def naive(hypothesis: list[str], reference: list[str]) -> float:
    """RIBES in plain loops over lists: every context is looked for at every place of both sentences."""

    def starts(context: list[str], words: list[str]) -> list[int]:
        return [place for place in range(len(words)) if words[place : place + len(context)] == context]

    places = []
    for position in range(len(hypothesis)):
        contexts = [(0, 0)]
        for added_words in range(1, len(hypothesis)):
            contexts += [(added_words, 0), (0, added_words)]
        for left, right in contexts:
            if left <= position and position + right < len(hypothesis):
                context = hypothesis[position - left : position + right + 1]
                if len(starts(context, hypothesis)) == 1 and len(starts(context, reference)) == 1:
                    places.append(starts(context, reference)[0] + left)
                    break
    if len(reference) == 1 and len(places) == 1:
        order = 1.0
    elif len(places) < 2:
        return 0.0
    else:
        pairs = [(i, j) for j in range(len(places)) for i in range(j)]
        tau = 2 * sum(places[i] < places[j] for i, j in pairs) / len(pairs) - 1
        order = (tau + 1) / 2
    brevity = 1.0 if len(hypothesis) > len(reference) else math.exp(1 - len(reference) / len(hypothesis))
    return order * (len(places) / len(hypothesis)) ** 0.25 * brevity**0.1


def test_value_of_the_authors_script() -> None:
    # What RIBES.py printed for the first sentence of compare-mt's example (github.com/neulab/compare-mt/pull/36).
    hypothesis = (
        "By the end of this year will be on this planet about billion people to use active aspects of social networks ."
    )
    reference = (
        "By the end of this year , there 'll be nearly a billion people on this planet "
        "that actively use social networking sites ."
    )
    assert of(hypothesis, reference) == pytest.approx(0.849014, abs=5e-7)


def test_values_of_another_toolkit() -> None:
    # The example in the README of github.com/odashi/mteval, which has RIBES in C++.
    hypotheses = ["a b c d e", "a b c d e f", "a c d e", "a b x d e"]
    printed = [1.0, 0.955443, 0.975310, 0.945742]
    assert [of(line, "a b c d e") for line in hypotheses] == pytest.approx(printed, abs=5e-7)
    corpus = SacrebleuRibes("none", True).corpus_score(hypotheses, [["a b c d e"] * 4])
    assert corpus.score == pytest.approx(96.9124, abs=5e-5)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "places"),
    [  # the paper's examples (H1, R1) and (H2, R2), counted from 0
        ("Bob hit John yesterday", "John hit Bob yesterday", [2, 1, 0, 3]),
        ("the book was read by the boy", "the boy read the book", [3, 4, 2, 0, 1]),
    ],
)
def test_alignments_of_the_paper(hypothesis: str, reference: str, places: list[int]) -> None:
    assert align_words(hypothesis.split(), reference.split()) == places


def test_left_context_comes_first_as_in_the_script() -> None:
    # (H0, R0): the second "he" is known by "because he" and by "he was"; the paper follows the latter, to 0.
    hypothesis = "he read the book because he was interested in world history"
    reference = "he was interested in world history because he read the book"
    assert align_words(hypothesis.split(), reference.split()) == [7, 8, 9, 10, 6, 7, 1, 2, 3, 4, 5]
    assert of(hypothesis, reference) == pytest.approx(17 / 55)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "value"),
    [
        ("Bob hit John yesterday", "John hit Bob yesterday", 3 / 6),
        # x is known by "a x" at 4 and by "x b" at 0, equally wide: left first, so 2 3 4 1.
        ("c a x b", "x b c a x", 3 / 6 * math.exp(1 - 5 / 4) ** 0.1),
        # The last word is known only with all that is before it.
        ("b a a", "a a c b a a", math.exp(1 - 6 / 3) ** 0.1),
        # Of "a a a", the word in the middle has no context that occurs once.
        ("a a a", "a a a", (2 / 3) ** 0.25),
        # "a a" occurs twice in "a a a", overlapping.
        ("b a a", "b a a a", math.exp(1 - 4 / 3) ** 0.1),
        ("yes indeed", "yes", (1 / 2) ** 0.25),
        ("yes", "yes", 1.0),
        ("yes yes", "yes", 0.0),
        ("yes", "yes indeed", 0.0),
        ("x y z", "a b c", 0.0),
        ("d c b a", "a b c d", 0.0),
        ("", "a b c", 0.0),
    ],
)
def test_counted_by_hand(hypothesis: str, reference: str, value: float) -> None:
    assert of(hypothesis, reference) == pytest.approx(value, abs=1e-12)


@settings(max_examples=500)
@given(WORDS, WORDS.filter(bool))
def test_agrees_with_plain_loops(hypothesis: list[str], reference: list[str]) -> None:
    assert compute_sentence_ribes(hypothesis, [reference]) == pytest.approx(naive(hypothesis, reference), abs=1e-12)


@settings(max_examples=200)
@given(st.permutations("abcdefgh"), st.permutations("efghijkl"), st.integers(0, 8), st.integers(2, 8))
def test_agrees_with_nltk_where_no_word_comes_twice(
    first_words: list[str], two: list[str], length: int, second_words: int
) -> None:
    hypothesis, reference = first_words[:length], two[:second_words]
    assert compute_sentence_ribes(hypothesis, [reference]) == pytest.approx(
        ribes_of_nltk([reference], hypothesis), abs=1e-12
    )


@given(st.lists(st.text(min_size=1), min_size=2, unique=True))
def test_same_words_in_the_same_and_in_the_opposite_order(words: list[str]) -> None:
    assert compute_sentence_ribes(words, [words]) == pytest.approx(1.0)
    assert compute_sentence_ribes(words[::-1], [words]) == 0.0


def test_best_reference_counts_and_a_corpus_has_the_mean() -> None:
    hypotheses = ["a b c d", "d c b a", ""]
    references = [["a c b d", "a b c d", "a b"], ["b a c d", "d b c a", "x"]]
    sentence = [
        max(of(line, first_words), of(line, two))
        for line, first_words, two in zip(hypotheses, *references, strict=True)
    ]
    assert sentence[0] == pytest.approx(5 / 6)
    assert sentence[1] == pytest.approx(5 / 6)
    assert SacrebleuRibes("none", True).corpus_score(hypotheses, references).score == pytest.approx(
        100 * sum(sentence) / 3
    )


@pytest.mark.parametrize(
    ("tokenizer", "lowercase", "hypothesis", "reference", "expected"),
    [
        ("13a", True, "The cat, too.", "the Cat , too .", 100),
        ("13a", False, "The cat, too.", "the cat , too .", 100 * (4 / 5) ** 0.25),
        ("none", True, "the cat, too.", "the cat , too .", 0),
        ("zh", True, "我爱你。", "我 爱 你 。", 100),
        ("13a", True, "ein\u00a0Wort\u2028mehr 🐈", "ein Wort mehr 🐈", 100),
        ("13a", True, "a b", "<skipped>", 0),
    ],
)
def test_text_is_that_of_bleu(
    tokenizer: str, lowercase: bool, hypothesis: str, reference: str, expected: float
) -> None:
    score = SacrebleuRibes(tokenizer, lowercase).corpus_score([hypothesis], [[reference]])  # type: ignore[arg-type]
    assert score.score == pytest.approx(expected)


def test_signature_and_json() -> None:
    metric = SacrebleuRibes("13a", True)
    score = metric.corpus_score(["a b"], [["a b"], ["b c"]])
    bleu = BLEU(lowercase=True)
    bleu.corpus_score(["a b"], [["a b"], ["b c"]])
    expected = bleu.get_signature().format().replace("eff:no|", "").replace("smooth:exp", "alpha:0.25|beta:0.1")
    assert metric.get_signature().format() == expected
    printed = json.loads(score.format(signature=metric.get_signature().format(), is_json=True))
    assert (printed["name"], printed["score"], printed["case"], printed["nrefs"]) == ("RIBES", 100.0, "lc", "2")
    assert metric.get_signature().format(short=True).startswith("#:2|c:lc|tok:13a|a:0.25|b:0.1|v:")


def test_works_in_sacrebleus_significance_test() -> None:
    reference = ["a b c d e", "the cat sat", "no more of this", "one two three four"] * 5
    worse = [" ".join(reversed(line.split())) for line in reference]
    test = PairedTest([("good", reference), ("bad", worse)], {"r": SacrebleuRibes("13a", True)}, [reference], "bs", 100)
    signatures, results = test()
    assert [result.score for result in results["RIBES"]] == [100.0, 0.0]  # type: ignore[union-attr]
    assert results["RIBES"][1].p_value == pytest.approx(1 / 101)  # type: ignore[union-attr]
    assert "bs:100|seed:12345" in signatures["RIBES"].format()


@pytest.mark.skipif(util.find_spec("MeCab") is not None, reason="MeCab is installed, so nothing is missing")
def test_tokenizer_that_is_not_installed() -> None:
    with pytest.raises(InputError, match="ja-mecab is not installed"):
        Ribes("ja-mecab", True, [])
