"""What a difference is called, and the sentences that say so."""

import pytest

from pipeline_py.evaluation.significance.runs_and_sentences import Difference
from pipeline_py.evaluation.verdict import Verdict, signed


def found(
    value: float, low: float, high: float, runs: int = 3, visible: float = 1.6, higher: bool = True
) -> Difference:
    return Difference(value, low, high, visible, runs, higher)


GAIN, LOSS, NOTHING = found(1.2, 0.4, 2.0), found(-3.1, -4.0, -2.2), found(-0.4, -1.1, 0.3)


@pytest.mark.parametrize(
    ("difference", "options", "word", "of_syntax", "sentence"),
    [
        (
            GAIN,
            {"controls": {"random": LOSS}, "against_controls": {"random": found(4.3, 3.0, 5.6)}},
            "confirmed",
            "yes",
            "SDAtt: yes, +1.2 [+0.4, +2.0] BLEU against GlobalAtt (3 seeds); random trees: -3.1.",
        ),
        (
            GAIN,
            {
                "controls": {"random": found(1.0, 0.1, 1.9), "chain": LOSS},
                "against_controls": {"random": found(0.2, -0.5, 0.9), "chain": found(4.3, 3.0, 5.6)},
            },
            "confirmed",
            "not shown",
            "SDAtt: better, but syntax is not shown to be the reason, +1.2 [+0.4, +2.0] BLEU against GlobalAtt "
            "(3 seeds); minus itself with trees that mean nothing: random +0.2 [-0.5, +0.9]; random trees: +1.0, chain "
            "trees: -3.1.",
        ),
        (
            GAIN,
            {},
            "confirmed",
            "untested",
            "SDAtt: better, +1.2 [+0.4, +2.0] BLEU against GlobalAtt (3 seeds); not tried with trees that mean "
            "nothing, so it need not be syntax.",
        ),
        (LOSS, {}, "contradicted", "", "SDAtt: no, worse, -3.1 [-4.0, -2.2] BLEU against GlobalAtt (3 seeds)."),
        (
            NOTHING,
            {"controls": {"random": LOSS}, "against_controls": {"random": GAIN}},
            "not distinguishable",
            "",
            "SDAtt: no gain seen, -0.4 [-1.1, +0.3] BLEU against GlobalAtt (3 seeds; visible from 1.6); random trees: "
            "-3.1.",
        ),
        (
            found(0, 0, 0, 1, 0),
            {},
            "not distinguishable",
            "",
            "SDAtt: no gain seen, 0.0 [0.0, 0.0] BLEU against GlobalAtt (1 run: variation between runs is not "
            "included; both score the same).",
        ),
        (
            GAIN,
            {"is_twin": False, "is_answer": False},
            "confirmed",
            "",
            "SDAtt above GlobalAtt: confirmed, +1.2 [+0.4, +2.0] BLEU (3 seeds).",
        ),
        (
            GAIN,
            {"is_twin": False, "is_answer": False, "against_controls": {"random": LOSS}},
            "confirmed",
            "not shown",
            "SDAtt above GlobalAtt: confirmed, but syntax is not shown to be the reason, +1.2 [+0.4, +2.0] BLEU "
            "(3 seeds); minus itself with trees that mean nothing: random -3.1 [-4.0, -2.2].",
        ),
        (
            LOSS,
            {"is_twin": False, "is_answer": False, "instead_of": ["RIBES"], "on": "the development set"},
            "contradicted",
            "",
            "SDAtt above GlobalAtt: contradicted, -3.1 [-4.0, -2.2] BLEU on the development set, as RIBES is "
            "not counted here (3 seeds).",
        ),
        (
            found(-3.0, -4.0, -2.0, higher=False),
            {"is_twin": False, "is_answer": False},
            "confirmed",
            "",
            "SDAtt above GlobalAtt: confirmed, -3.0 [-4.0, -2.0] BLEU (3 seeds).",
        ),
    ],
)
def test_a_verdict_is_a_word_and_a_sentence(difference, options, word, of_syntax, sentence):
    verdict = Verdict("SDAtt", "GlobalAtt", "BLEU", difference, **{"is_twin": True, "is_answer": True, **options})
    assert (verdict.word, verdict.of_syntax, verdict.sentence) == (word, of_syntax, sentence)


def test_ends_near_0_show_on_which_side_they_are():
    assert [signed(value) for value in (0.031, -0.02, 0.0, -0.001, 0.05, -12.34)] == [
        *("+0.03", "-0.02", "0.0", "0.0", "+0.1", "-12.3"),
    ]
