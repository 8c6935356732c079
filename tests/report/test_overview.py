"""The top of the page: what it says of how many systems, what it draws, and what it warns of."""

from dataclasses import astuple, replace
from pathlib import Path

import pytest

from pipeline_py.config.base import parse_section_json
from pipeline_py.config.experiment import ExperimentConfig
from pipeline_py.evaluation.column_files import write_tsv
from pipeline_py.evaluation.compute_bleu_ceiling import CEILING_COLUMNS as COLUMNS_OF_CEILINGS
from pipeline_py.evaluation.compute_bleu_ceiling import BleuCeiling
from pipeline_py.evaluation.judge_claims import CLAIM_COLUMNS, EXCLUSION_COLUMNS
from pipeline_py.report.answers import (
    NO_VERDICT_HEADING,
    find_syntax_answers,
    group_answer_sentences,
    read_answers,
    render_terminal_summary,
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


def answers(folder: Path, *rows: list):
    write_tsv(folder / "claims.tsv", CLAIM_COLUMNS, rows, should_quote=False)
    return read_answers(folder / "claims.tsv")


def manifest(folder: Path, **training) -> PageManifest:
    experiment = parse_section_json(ExperimentConfig, build_configuration_json(), "experiment")
    training = {"training": experiment.training.model_copy(update=training)}
    files = {"claims": {"all": folder / "claims.tsv"}}
    return PageManifest(experiment.model_copy(update=training), files, {}, {}, {}, "")


def test_a_claim_is_one_answer_by_its_first_metric_over_all_sets(tmp_path):
    found = answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "A: one.", paper="Chen", **SYNTAX),
        build_claim_row("A [random]", "B", 0.5, role="control", trees="random"),
        build_claim_row("A", "A [random]", 0.5, role="against control", trees="random"),
        build_claim_row("A", "B", 1.1, "on a set", paper="Chen", set="mixed"),
        build_claim_row("A", "B", 0.1, "by another metric", paper="Chen", metric="ribes"),
        build_claim_row("A", "B", 1.0, "A: one.", paper="Yang", **SYNTAX),
        build_claim_row("A", "C", 2.0, "A above C: two.", paper="Yang"),
    )
    assert [(one.paper, one.system, one.other_system, one.metric_label) for one in found] == [
        *(("Chen", "A", "B", "BLEU"), ("Yang", "A", "B", "BLEU"), ("Yang", "A", "C", "BLEU")),
    ]
    assert (found[0].control_differences["random"].difference, found[0].difference.low, found[0].run_counts) == (
        0.5,
        0.0,
        (1, 1),
    )
    assert found[1].control_differences == {} and find_syntax_answers(found) == found[:1]
    assert group_answer_sentences(found) == {"Does syntax help?": ["A: one."], "Other claims": ["A above C: two."]}
    several = [
        *find_syntax_answers(found),
        *answers(tmp_path, build_claim_row("A", "B", 1.0, "A: one.", paper="Yang", **SYNTAX)),
    ]
    assert group_answer_sentences(several) == {"Does syntax help?": ["A: one."]}, "whoever asks, it is said once"


def test_without_a_verdict_there_are_differences(tmp_path):
    found = answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "A: +1.0", verdict="", **SYNTAX),
        build_claim_row("C", "B", 1, "C", verdict=""),
    )
    assert group_answer_sentences(found) == {NO_VERDICT_HEADING: ["A: +1.0", "C"]}
    assert render_terminal_summary(found, []) == [NO_VERDICT_HEADING, "  A: +1.0"]


def test_what_is_not_tested_has_no_numbers(tmp_path):
    row = dict(
        zip(CLAIM_COLUMNS, build_claim_row("A", "B", 0, "A: not tested", verdict="not tested", **SYNTAX), strict=True)
    )
    row |= dict.fromkeys(("runs_system", "score_system", "score_other", "difference", "low", "high", "detectable"), "")
    (found,) = answers(tmp_path, [*row.values()])
    assert found.difference is None and format_headline([found]).endswith("that reads none, is not tested.")
    assert {cell.text for cell in build_claim_table([found]).rows[0][4:10]} == {"–"}
    (overview, _) = build_overview_sections(manifest(tmp_path))
    assert overview.tables == [] and overview.template_data[0].answer_sentences == [("A: not tested", "")]


def test_exclusions_come_first(tmp_path):
    answers(tmp_path, build_claim_row("A", "B", 1.0, "A: one.", **SYNTAX))
    exclusions = tmp_path / "exclusions.tsv"
    write_tsv(
        exclusions,
        EXCLUSION_COLUMNS,
        [("system", "C", "BLEU 1.2 is below 5"), ("set", "x", "3 different sentences, fewer than 50")],
    )
    given = manifest(tmp_path)
    given = replace(given, files={**given.files, "exclusions": {"all": exclusions}})
    expected = [
        "C has not learned to translate, so no verdict includes it: BLEU 1.2 is below 5.",
        "Train longer or on more data, or change sizes or the learning rate.",
        "No verdict uses the set x: it has 3 different sentences, fewer than 50.",
    ]
    (overview, _) = build_overview_sections(given)
    assert overview.template_data[0].warnings == expected
    assert render_terminal_summary(read_answers(tmp_path / "claims.tsv"), expected)[:4] == [
        *expected,
        "Does syntax help?",
    ]


def test_ceilings_are_shown_and_low_ones_come_first(tmp_path):
    answers(tmp_path, build_claim_row("A", "B", 1.0, "A: one.", **SYNTAX))
    ceilings = [
        BleuCeiling("dev", 99.96, 10),
        BleuCeiling("x", 86.3, 20, "`evaluation.detokenizer: none`", "`a` becomes `b`"),
    ]
    write_tsv(tmp_path / "ceiling.tsv", COLUMNS_OF_CEILINGS, map(astuple, ceilings), should_quote=False)
    given = manifest(tmp_path)
    given = replace(given, files={**given.files, "ceiling": {"all": tmp_path / "ceiling.tsv"}})
    (overview, _) = build_overview_sections(given)
    assert overview.template_data[0].warnings == [ceilings[1].warning_message]
    expected = (
        "Ceiling: the references, tokenized and detokenized as outputs are, have BLEU 100.0 on dev and 86.3 on x."
    )
    assert expected in overview.template_data[0].limitations
    assert "Ceiling" not in " ".join(describe_limitations(manifest(tmp_path), []))


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (
            [("confirmed", "yes"), ("confirmed", "open"), ("confirmed", "not shown"), ("contradicted", "")]
            + [("not distinguishable", "")] * 2,
            "Of 6 systems that read parse trees, each compared with its twin that reads none, 1 translates better "
            "because of them; 1 translates better, for a reason that control trees still have to show; 1 translates "
            "better, but not measurably better than with control trees; 1 translates worse; 2 show no detectable "
            "difference.",
        ),
        (
            [("contradicted", "")] * 2,
            "Of 2 systems that read parse trees, each compared with its twin that reads none, 2 translate worse.",
        ),
        (
            [("not distinguishable", "")],
            "The one system that reads parse trees, compared with its twin that reads none, shows no detectable "
            "difference.",
        ),
    ],
)
def test_the_headline_counts_what_was_found(tmp_path, verdicts, sentence):
    rows = [
        build_claim_row(f"S{place}", "B", 1.0, "x", verdict=verdict, syntax=syntax, **SYNTAX)
        for place, (verdict, syntax) in enumerate(verdicts)
    ]
    assert format_headline(find_syntax_answers(answers(tmp_path, *rows))) == sentence


def test_the_plot_has_one_scale_with_0_on_it_and_controls_behind(tmp_path):
    twins = answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "x", **SYNTAX),
        build_claim_row("A [chain]", "B", -3.0, role="control", trees="chain"),
        build_claim_row("C", "D", 5.0, "x", **SYNTAX),
    )
    sheet = build_forest_plot(twins)
    assert [row[0].text for row in sheet.rows] == ["A", "A [chain]", "C"]
    # from −4 to 6, so 0 is at 40 %
    assert [row[1].zero for row in sheet.rows] == [40.0] * 3
    assert sheet.rows[0][1].interval == pytest.approx((40, 50, 60))
    assert sheet.rows[1][1].interval == pytest.approx((0, 10, 20))
    assert [row[1].faint for row in sheet.rows] == [False, True, False]
    assert [row[2].text for row in sheet.rows] == [
        *("+1.0 [0, +2.0]", "-3.0 [-4.0, -2.0]", "+5.0 [+4.0, +6.0]"),
    ]
    again = answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "x", **SYNTAX),
        build_claim_row("A [chain]", "B", -3.0, role="control", trees="chain"),
        build_claim_row("A [gold]", "B", 1.5, "x", **SYNTAX),
        build_claim_row("A [chain]", "B", -3.0, role="control", trees="chain"),
    )
    assert [row[0].text for row in build_forest_plot(again).rows] == ["A", "A [chain]", "A [gold]"], (
        "the same control, once"
    )
    only_gains = build_forest_plot(answers(tmp_path, build_claim_row("A", "B", 3.0, "x", **SYNTAX)))
    assert only_gains.rows[0][1].zero == 0 and only_gains.rows[0][1].interval == pytest.approx((50, 75, 100))


def test_what_to_trust_knows_of_seeds_and_of_what_cannot_be_seen(tmp_path):
    twins = answers(
        tmp_path,
        build_claim_row("SDAtt", "GlobalAtt", 1.0, "x", detectable="1.26", **SYNTAX),
        build_claim_row("SDAtt [random]", "GlobalAtt", 0.5, role="control", trees="random"),
        build_claim_row("+SDAtt", "GlobalAtt", 1.0, "x", detectable="2.0", **SYNTAX),
    )
    once = " ".join(describe_limitations(manifest(tmp_path), twins))
    assert "networks were trained once. Intervals include the variation between runs." in once
    assert "a difference of 1.3 to 2.0 points, depending on the system, is found with a probability of 80 %" in once
    assert "Single runs: their standard deviation between runs is assumed to be 0.6 points, the default of" in once
    assert "+SDAtt was not scored with control trees" in once and "with beam 5" in once
    thrice = " ".join(
        describe_limitations(
            manifest(tmp_path),
            [replace(answer, run_counts=(3, 3), run_deviation_source="measured") for answer in twins],
        )
    )
    assert "networks were trained 3 times" in thrice and "once" not in thrice and "Single" not in thrice
    pooled = replace(twins[0], run_counts=(3, 1), run_deviation_source="pooled")
    mixed = " ".join(describe_limitations(manifest(tmp_path), [pooled, *twins]))
    assert "trained once or 3 times" in mixed and "pooled over the systems with several runs" in mixed


def test_a_run_ends_with_the_answer_and_counts_the_rest(tmp_path):
    found = answers(
        tmp_path,
        build_claim_row("A", "B", 1.0, "A: one.", **SYNTAX),
        build_claim_row("A", "C", 1.0, "x", verdict="confirmed"),
        build_claim_row("D", "C", 1.0, "y", verdict="contradicted"),
        build_claim_row("E", "C", 1.0, "z", verdict="confirmed"),
    )
    others = "Other claims: 2 confirmed, 1 contradicted."
    assert render_terminal_summary(found, []) == ["Does syntax help?", "  A: one.", others]
    shown = [f"{others[:-1]}:", "  x", "  y", "  z"]
    assert render_terminal_summary(found[1:], []) == shown, "without answers about syntax the others are shown"
    assert render_terminal_summary(found[:1], []) == ["Does syntax help?", "  A: one."] and not render_terminal_summary(
        [], []
    )


def test_without_systems_that_read_trees_there_is_no_answer_but_claims(tmp_path):
    found = answers(tmp_path, build_claim_row("A", "B", 1.0, "x", verdict="confirmed"))
    (only,) = build_overview_sections(manifest(tmp_path))
    assert only.is_folded and only.title == "All comparisons that papers claim or tables propose: 1 confirmed"
    assert [cell.text for cell in build_claim_table(found).rows[0]][:4] == ["A", "B", "better", "confirmed"]
    answers(tmp_path)
    assert [*build_overview_sections(manifest(tmp_path))] == []
