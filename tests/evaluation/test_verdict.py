"""Verdicts as words and as sentences."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline_py.evaluation.significance.system_difference import SystemDifference
from pipeline_py.evaluation.verdict import ControlResult, Verdict, format_difference, format_magnitude


def difference(value: float, low: float, high: float, higher: bool = True) -> SystemDifference:
    """A difference of systems with three runs each."""
    error = (high - low) / 4
    return SystemDifference(value, low, high, 0.05, 1.6, (3, 3), "measured", 0.0, higher, error, 1.6 * error)


GAIN, LOSS, NOTHING = difference(1.2, 0.4, 2.0), difference(-3.1, -4.0, -2.2), difference(-0.4, -1.1, 0.3)
LESS = ControlResult("random", LOSS, difference(4.3, 3.0, 5.6))
AS_MUCH = ControlResult("chain", difference(1.0, 0.1, 1.9), difference(0.2, -0.5, 0.9))
CI = "95 % CI [+0.4, +2.0]; 3 runs each"


def verdict(result: SystemDifference | None, **options: object) -> Verdict:
    return Verdict(
        "SDAtt", "GlobalAtt", "BLEU", result, **{"is_syntax_comparison": True, "should_answer_syntax": True, **options}
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "options", "word", "syntax", "sentence"),
    [
        (
            GAIN,
            {"control_results": {"random": LESS, "chain": replace(LESS, tree_shape="chain")}},
            "confirmed",
            "yes",
            f"SDAtt: yes, 1.2 BLEU better than GlobalAtt ({CI}), and better than itself with random trees (+4.3 "
            "[+3.0, +5.6]) and chain trees (+4.3 [+3.0, +5.6]); with random trees -3.1, with chain trees -3.1.",
        ),
        (
            GAIN,
            {"control_results": {"random": LESS, "chain": AS_MUCH}},
            "confirmed",
            "not shown",
            f"SDAtt: 1.2 BLEU better than GlobalAtt ({CI}); syntax is not shown to be the reason: it is not measurably "
            "better than with chain trees (+0.2 [-0.5, +0.9]); with random trees -3.1, with chain trees +1.0.",
        ),
        (
            GAIN,
            {"control_results": {"random": LESS}},
            "confirmed",
            "open",
            f"SDAtt: 1.2 BLEU better than GlobalAtt ({CI}); whether syntax is the reason is open without "
            "order-preserving trees (right-branching or a chain); with random trees -3.1.",
        ),
        (
            GAIN,
            {"untested_controls": {"random": "not learned to translate (BLEU 1.2 is below 5)"}},
            "confirmed",
            "open",
            f"SDAtt: 1.2 BLEU better than GlobalAtt ({CI}); whether syntax is the reason is open without random trees "
            "and order-preserving trees (right-branching or a chain); random trees: not learned to translate (BLEU 1.2 "
            "is below 5).",
        ),
        (
            LOSS,
            {},
            "contradicted",
            "",
            "SDAtt: no, 3.1 BLEU worse than GlobalAtt (95 % CI [-4.0, -2.2]; 3 runs each).",
        ),
        (
            NOTHING,
            {"control_results": {"random": LESS}, "published_differences": [("en-de", 1.65), ("zh-en", 0.2)]},
            "not distinguishable",
            "",
            "SDAtt: no gain found, -0.4 BLEU against GlobalAtt (95 % CI [-1.1, +0.3]; 3 runs each; smallest detectable "
            "difference 1.6); with random trees -3.1. Published: +1.65 (en-de), excluded by the interval; +0.20 "
            "(zh-en), not excluded by the interval.",
        ),
        (
            GAIN,
            {
                "is_syntax_comparison": False,
                "should_answer_syntax": False,
                "missing_metrics": ["RIBES"],
                "scope": "the development set",
            },
            "confirmed",
            "",
            f"SDAtt: 1.2 BLEU better than GlobalAtt on the development set, since RIBES is not computed ({CI}).",
        ),
        (
            difference(-3.0, -4.0, -2.0, higher=False),
            {"is_syntax_comparison": False, "should_answer_syntax": False},
            "confirmed",
            "",
            "SDAtt: 3.0 BLEU better than GlobalAtt (95 % CI [-4.0, -2.0]; 3 runs each).",
        ),
        (GAIN, {"is_complete": False}, "", "", f"SDAtt: +1.2 BLEU against GlobalAtt ({CI})."),
        (
            None,
            {"untested_reasons": ["SDAtt has not learned to translate"], "scope": "sentences of at most 20 words"},
            "not tested",
            "",
            "SDAtt: not tested against GlobalAtt on sentences of at most 20 words, since SDAtt has not learned to "
            "translate.",
        ),
    ],
)
def test_a_verdict_is_a_word_and_a_sentence(result, options, word, syntax, sentence) -> None:
    result_verdict = verdict(result, **options)
    assert (result_verdict.outcome, result_verdict.syntax_answer, result_verdict.summary_sentence) == (
        word,
        syntax,
        sentence,
    )


@pytest.mark.parametrize(
    ("relation", "result", "word"),
    [
        ("comparable", difference(0.1, -0.2, 0.4), "confirmed"),
        ("comparable", difference(0.1, -0.6, 0.8), "not distinguishable"),
        ("comparable", difference(1.2, 0.7, 1.7), "contradicted"),
        ("comparable", difference(-1.2, -1.7, -0.7), "contradicted"),
        ("not worse", difference(0.6, 0.1, 1.1), "confirmed"),
        ("not worse", difference(-0.1, -0.4, 0.2), "confirmed"),
        ("not worse", difference(-0.1, -0.9, 0.7), "not distinguishable"),
        ("not worse", difference(-0.8, -1.2, -0.4), "not distinguishable"),
        ("not worse", difference(-1.2, -1.7, -0.7), "contradicted"),
        ("not worse", difference(0.1, -0.2, 0.4, higher=False), "confirmed"),
        ("not worse", difference(0.8, 0.4, 1.2, higher=False), "not distinguishable"),
        ("not worse", difference(1.2, 0.7, 1.7, higher=False), "contradicted"),
    ],
)
def test_other_relations_are_tested_against_a_margin(relation, result, word) -> None:
    result_verdict = verdict(result, relation=relation, margin=0.5)
    assert result_verdict.outcome == word and result_verdict.syntax_answer == ""
    claimed = {"comparable": "comparable to GlobalAtt within", "not worse": "not worse by"}[relation]
    value = format_difference(result.value)
    assert result_verdict.summary_sentence.startswith(
        f"SDAtt, {claimed} 0.5 BLEU: {word}, {value} BLEU against GlobalAtt (95 % CI ["
    )
    partial = verdict(result, relation=relation, margin=0.5, is_complete=False)
    assert partial.outcome == "" and partial.summary_sentence.startswith(f"SDAtt: {value} BLEU against GlobalAtt (")


@pytest.mark.parametrize("shape", ["right-branching", "left-branching", "chain"])
@pytest.mark.parametrize("random_shape", ["random", "permuted"])
def test_order_preserving_trees_complete_the_controls(shape: str, random_shape: str) -> None:
    controls = {"random": replace(LESS, tree_shape=random_shape), "other": replace(LESS, tree_shape=shape)}
    assert verdict(GAIN, control_results=controls).syntax_answer == "yes"
    assert verdict(GAIN, control_results={"other": controls["other"]}).missing_controls == ["random trees"]
    assert (
        verdict(GAIN, control_results={"random": LESS, "x": replace(LESS, tree_shape="balanced")}).syntax_answer
        == "open"
    )


@pytest.mark.parametrize(
    ("runs", "origin", "text"),
    [
        ((3, 3), "measured", "3 runs each)"),
        ((3, 5), "measured", "3 runs against 5)"),
        ((1, 1), "default", "1 run each, assuming a standard deviation of 0.6 between runs (the default))"),
        (
            (3, 1),
            "pooled",
            "3 runs against 1, assuming a standard deviation of 0.6 between runs (pooled over systems with several "
            "runs))",
        ),
        ((1, 1), "same networks", "1 run each, searches of the same trained networks)"),
    ],
)
def test_sentence_states_run_counts_and_assumed_variance(runs, origin, text) -> None:
    result = replace(GAIN, run_counts=runs, run_variance_origin=origin, run_deviation=0.6)
    assert text in verdict(result, is_syntax_comparison=False).summary_sentence


def test_all_metrics_that_are_not_computed_are_named() -> None:
    for metrics, text in (
        (["RIBES"], "RIBES is"),
        (["RIBES", "TER"], "RIBES and TER are"),
        (["RIBES", "TER", "chrF"], "RIBES, TER and chrF are"),
    ):
        sentence = verdict(
            GAIN, is_syntax_comparison=False, should_answer_syntax=False, missing_metrics=metrics
        ).summary_sentence
        assert f" better than GlobalAtt, since {text} not computed (" in sentence


def test_only_an_exact_0_is_shown_as_0() -> None:
    values = (0.031, -0.02, 0.0, -0.001, 0.05, -12.34, 0.0499, -0.00004, 0.096)
    assert [format_difference(value) for value in values] == [
        *("+0.03", "-0.02", "0", "-0.001", "+0.1", "-12.3", "+0.05", "-0.00004", "+0.1"),
    ]
    assert [format_magnitude(value) for value in (0.0, 0.004, 0.96, 12.0)] == ["0", "0.004", "1.0", "12.0"]


@given(st.floats(-100, 100).filter(lambda value: value == 0 or abs(value) > 1e-300), st.sampled_from([1, 2]))
@example(0.05, 1)
@example(-0.005, 2)
@example(0.0999999, 1)
@example(0.00095, 2)
@example(1e-300, 1)
def test_no_value_but_0_is_shown_as_0(value: float, decimals: int) -> None:
    """As shown, it has its sign and at least one digit that is not 0, and it is rounded to its last digit."""
    text = format_difference(value, decimals)
    assert (float(text) == 0) == (value == 0) and (text == "0") == (value == 0)
    assert not value or text[0] == ("+" if value > 0 else "-")
    digits = len(text.partition(".")[2])
    assert not value or digits >= decimals
    assert abs(float(text) - value) <= 0.5 * 10.0**-digits * (1 + 1e-9)
    assert value <= 0 or float(format_magnitude(value)) > 0
