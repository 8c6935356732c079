"""Tests of the overview and the answers of an experiment."""

from dataclasses import astuple, replace
from pathlib import Path

import pytest

from pipeline_py.config.base import parse_section_json
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.evaluation.compute_bleu_ceiling import CEILING_COLUMNS as COLUMNS_OF_CEILINGS
from pipeline_py.evaluation.compute_bleu_ceiling import BleuCeiling
from pipeline_py.evaluation.judge_claims import CLAIM_COLUMNS, EXCLUSION_COLUMNS
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.report.answers import (
    NO_VERDICT_HEADING,
    group_answer_sentences,
    read_answers,
    render_terminal_summary,
    select_twin_answers,
)
from pipeline_py.report.overview import (
    build_claim_table,
    build_forest_plot,
    build_overview_sections,
    describe_limitations,
    format_headline,
)
from pipeline_py.report.page_parts import PageManifest
from tests.report.page_files import build_claim_row, build_configuration_json

SYNTAX = {"about": "syntax"}


def write_answers(folder: Path, *rows: list):
    write_tsv(folder / "claims.tsv", CLAIM_COLUMNS, rows)
    return read_answers(folder / "claims.tsv")


def build_manifest(folder: Path, **training) -> PageManifest:
    experiment = parse_section_json(ExperimentConfig, build_configuration_json(), "experiment")
    training = {"training": experiment.training.model_copy(update=training)}
    files = {"claims": {"all": folder / "claims.tsv"}}
    return PageManifest(experiment.model_copy(update=training), files, {}, {}, {}, "")


def test_read_answers_uses_first_metric_and_average(tmp_path):
    answers = write_answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "A: one.", paper="Chen", **SYNTAX),
        build_claim_row("A [random]", "B", 0.5, role="control", trees="random"),
        build_claim_row("A", "A [random]", 0.5, role="against control", trees="random"),
        build_claim_row("A", "B", 1.1, "on a set", paper="Chen", set="mixed"),
        build_claim_row("A", "B", 0.1, "by another metric", paper="Chen", metric="ribes"),
        build_claim_row("A", "B", 1.0, "A: one.", paper="Yang", **SYNTAX),
        build_claim_row("A", "C", 2.0, "A above C: two.", paper="Yang"),
    )
    assert [(answer.paper, answer.system, answer.other_system, answer.metric_label) for answer in answers] == [
        *(("Chen", "A", "B", "BLEU"), ("Yang", "A", "B", "BLEU"), ("Yang", "A", "C", "BLEU")),
    ]
    assert (answers[0].control_differences["random"].difference, answers[0].difference.low, answers[0].run_counts) == (
        0.5,
        0.0,
        (1, 1),
    )
    assert answers[1].control_differences == {} and select_twin_answers(answers) == answers[:1]
    assert group_answer_sentences(answers) == {"Does syntax help?": ["A: one."], "Other claims": ["A above C: two."]}
    several = [
        *select_twin_answers(answers),
        *write_answers(tmp_path, build_claim_row("A", "B", 1.0, "A: one.", paper="Yang", **SYNTAX)),
    ]
    assert group_answer_sentences(several) == {"Does syntax help?": ["A: one."]}, "repeated answers are shown once"


def test_headline_answer_is_a_gain_on_all_sentences(tmp_path):
    """Claims of equivalence, claims on some sentences, and later baselines are other claims."""
    answers = write_answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "on long sentences", sentences="length >= 30", **SYNTAX),
        build_claim_row("A", "B", 1.0, "comparable", relation="comparable", **SYNTAX),
        build_claim_row("A", "B", 1.0, "above B", **SYNTAX),
        build_claim_row("A", "C", 1.0, "above C", **SYNTAX),
    )
    assert [answer.verdict_sentence for answer in select_twin_answers(answers)] == ["above B"]


def test_answers_without_verdict_have_separate_heading(tmp_path):
    answers = write_answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "A: +1.0", verdict="", **SYNTAX),
        build_claim_row("C", "B", 1, "C", verdict=""),
    )
    assert group_answer_sentences(answers) == {NO_VERDICT_HEADING: ["A: +1.0", "C"]}
    assert render_terminal_summary(answers, []) == [NO_VERDICT_HEADING, "  A: +1.0"]


def test_untested_claim_has_no_numbers(tmp_path):
    row = dict(
        zip(CLAIM_COLUMNS, build_claim_row("A", "B", 0, "A: not tested", verdict="not tested", **SYNTAX), strict=True)
    )
    row |= dict.fromkeys(("runs_system", "score_system", "score_other", "difference", "low", "high", "detectable"), "")
    (answer,) = write_answers(tmp_path, [*row.values()])
    assert answer.difference is None and format_headline([answer]).endswith("without trees, is not tested.")
    assert {cell.text for cell in build_claim_table([answer]).rows[0][4:10]} == {"–"}
    (overview, _) = build_overview_sections(build_manifest(tmp_path))
    assert overview.tables == [] and overview.template_data[0].answer_sentences == [("A: not tested", "")]


def test_exclusions_are_shown_first(tmp_path):
    write_answers(tmp_path, build_claim_row("A", "B", 1.0, "A: one.", **SYNTAX))
    exclusions = tmp_path / "exclusions.tsv"
    write_tsv(
        exclusions,
        EXCLUSION_COLUMNS,
        [("system", "C", "BLEU 1.2 is below 5"), ("set", "x", "3 different sentences, fewer than 50")],
    )
    manifest = build_manifest(tmp_path)
    manifest = replace(manifest, files={**manifest.files, "exclusions": {"all": exclusions}})
    expected = [
        "C has not learned to translate, so no verdict includes it: BLEU 1.2 is below 5.",
        "Train longer or on more data, or change sizes or the learning rate.",
        "No verdict uses the set x: it has 3 different sentences, fewer than 50.",
    ]
    (overview, _) = build_overview_sections(manifest)
    assert overview.template_data[0].warnings == expected
    assert render_terminal_summary(read_answers(tmp_path / "claims.tsv"), expected)[:4] == [
        *expected,
        "Does syntax help?",
    ]


def test_low_ceilings_are_warnings(tmp_path):
    write_answers(tmp_path, build_claim_row("A", "B", 1.0, "A: one.", **SYNTAX))
    ceilings = [
        BleuCeiling("dev", 99.96, 10),
        BleuCeiling("x", 86.3, 20, "`evaluation.detokenizer: none`", "`a` becomes `b`"),
    ]
    write_tsv(tmp_path / "ceiling.tsv", COLUMNS_OF_CEILINGS, map(astuple, ceilings))
    manifest = build_manifest(tmp_path)
    manifest = replace(manifest, files={**manifest.files, "ceiling": {"all": tmp_path / "ceiling.tsv"}})
    (overview, _) = build_overview_sections(manifest)
    assert overview.template_data[0].warnings == [ceilings[1].warning_message]
    expected = "Ceiling: the references, tokenized and detokenized like outputs, have BLEU 100.0 on dev and 86.3 on x."
    assert expected in overview.template_data[0].limitations
    assert "Ceiling" not in " ".join(describe_limitations(build_manifest(tmp_path), []))


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (
            [("confirmed", "yes"), ("confirmed", "open"), ("confirmed", "not shown"), ("contradicted", "")]
            + [("not distinguishable", "")] * 2,
            "Of 6 systems that read parse trees, each compared with the same system without trees, 1 translates better "
            "because of them; 1 translates better, but was not compared with all kinds of control trees; 1 translates "
            "better, but not measurably better than with control trees; 1 translates worse; 2 show no detectable "
            "difference.",
        ),
        (
            [("contradicted", "")] * 2,
            "Of 2 systems that read parse trees, each compared with the same system without trees, 2 translate worse.",
        ),
        (
            [("not distinguishable", "")],
            "The one system that reads parse trees, compared with the same system without trees, shows no detectable "
            "difference.",
        ),
    ],
)
def test_headline_counts_verdicts(tmp_path, verdicts, sentence):
    rows = [
        build_claim_row(f"S{place}", "B", 1.0, "x", verdict=verdict, syntax=syntax, **SYNTAX)
        for place, (verdict, syntax) in enumerate(verdicts)
    ]
    assert format_headline(select_twin_answers(write_answers(tmp_path, *rows))) == sentence


def test_forest_plot_has_one_scale_with_zero(tmp_path):
    twins = write_answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "x", **SYNTAX),
        build_claim_row("A [chain]", "B", -3.0, role="control", trees="chain"),
        build_claim_row("C", "D", 5.0, "x", **SYNTAX),
    )
    sheet = build_forest_plot(twins)
    assert [row[0].text for row in sheet.rows] == ["A", "A [chain]", "C"]
    # The scale goes from −4 to 6, and 0 is at 40 %.
    assert [row[1].zero for row in sheet.rows] == [40.0] * 3
    assert sheet.rows[0][1].interval == pytest.approx((40, 50, 60))
    assert sheet.rows[1][1].interval == pytest.approx((0, 10, 20))
    assert [row[1].faint for row in sheet.rows] == [False, True, False]
    assert [row[2].text for row in sheet.rows] == [
        *("+1.0 [0, +2.0]", "-3.0 [-4.0, -2.0]", "+5.0 [+4.0, +6.0]"),
    ]
    again = write_answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "x", **SYNTAX),
        build_claim_row("A [chain]", "B", -3.0, role="control", trees="chain"),
        build_claim_row("A [gold]", "B", 1.5, "x", **SYNTAX),
        build_claim_row("A [chain]", "B", -3.0, role="control", trees="chain"),
    )
    assert [row[0].text for row in build_forest_plot(again).rows] == ["A", "A [chain]", "A [gold]"], (
        "equal controls are shown once"
    )
    only_gains = build_forest_plot(write_answers(tmp_path, build_claim_row("A", "B", 3.0, "x", **SYNTAX)))
    assert only_gains.rows[0][1].zero == 0 and only_gains.rows[0][1].interval == pytest.approx((50, 75, 100))


def test_limitations_describe_runs_and_detectable_differences(tmp_path):
    twins = write_answers(
        tmp_path,
        build_claim_row("SDAtt", "GlobalAtt", 1.0, "x", detectable="1.26", **SYNTAX),
        build_claim_row("SDAtt [random]", "GlobalAtt", 0.5, role="control", trees="random"),
        build_claim_row("+SDAtt", "GlobalAtt", 1.0, "x", detectable="2.0", **SYNTAX),
    )
    single_run_text = " ".join(describe_limitations(build_manifest(tmp_path), twins))
    assert "networks were trained once. Intervals include the variation between runs." in single_run_text
    assert "Smallest detectable difference: 1.3 to 2.0 points, depending on the system (80 % power)." in single_run_text
    assert (
        "Single runs: their standard deviation between runs is assumed to be 0.6 points, the default of"
        in single_run_text
    )
    assert "+SDAtt was not scored with control trees" in single_run_text and "with beam 5" in single_run_text
    three_runs_text = " ".join(
        describe_limitations(
            build_manifest(tmp_path),
            [replace(answer, run_counts=(3, 3), run_deviation_source="measured") for answer in twins],
        )
    )
    assert (
        "networks were trained 3 times" in three_runs_text
        and "once" not in three_runs_text
        and "Single" not in three_runs_text
    )
    pooled = replace(twins[0], run_counts=(3, 1), run_deviation_source="pooled")
    mixed_text = " ".join(describe_limitations(build_manifest(tmp_path), [pooled, *twins]))
    assert "trained once or 3 times" in mixed_text and "pooled over the systems with several runs" in mixed_text


def test_terminal_summary_counts_other_claims(tmp_path):
    answers = write_answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "A: one.", **SYNTAX),
        build_claim_row("A", "C", 1.0, "x", verdict="confirmed"),
        build_claim_row("D", "C", 1.0, "y", verdict="contradicted"),
        build_claim_row("E", "C", 1.0, "z", verdict="confirmed"),
    )
    counts = "Other claims: 2 confirmed, 1 contradicted."
    assert render_terminal_summary(answers, []) == ["Does syntax help?", "  A: one.", counts]
    shown = [f"{counts[:-1]}:", "  x", "  y", "  z"]
    assert render_terminal_summary(answers[1:], []) == shown, "other answers are shown if none is about syntax"
    assert render_terminal_summary(answers[:1], []) == [
        "Does syntax help?",
        "  A: one.",
    ] and not render_terminal_summary([], [])


def test_overview_without_syntax_answers_has_only_claims(tmp_path):
    answers = write_answers(tmp_path, build_claim_row("A", "B", 1.0, "x", verdict="confirmed"))
    (section,) = build_overview_sections(build_manifest(tmp_path))
    assert section.is_folded and section.title == "All comparisons that papers claim or tables propose: 1 confirmed"
    assert [cell.text for cell in build_claim_table(answers).rows[0]][:4] == ["A", "B", "better", "confirmed"]
    write_answers(tmp_path)
    assert [*build_overview_sections(build_manifest(tmp_path))] == []
