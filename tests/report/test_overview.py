"""The top of the page: what it says of how many systems, what it draws, and what it warns of."""

from dataclasses import astuple, replace
from pathlib import Path

import pytest

from pipeline_py.config.base import from_json
from pipeline_py.config.experiment import Experiment
from pipeline_py.evaluation.ceiling import COLUMNS as COLUMNS_OF_CEILINGS
from pipeline_py.evaluation.ceiling import Ceiling
from pipeline_py.evaluation.claims import COLUMNS, EXCLUSION_COLUMNS
from pipeline_py.evaluation.columns import write_rows
from pipeline_py.report.answers import (
    NO_VERDICT,
    find_syntax_answers,
    group_sentences,
    read_answers,
    render_for_terminal,
)
from pipeline_py.report.overview import claims, forest, headline, parts, trust
from pipeline_py.report.page_parts import Manifest
from tests.report.page_files import claim, configuration

SYNTAX = {"about": "syntax"}


def answers(folder: Path, *rows: list):
    write_rows(folder / "claims.tsv", COLUMNS, rows, quoted=False)
    return read_answers(folder / "claims.tsv")


def manifest(folder: Path, **training) -> Manifest:
    experiment = from_json(Experiment, configuration(), "experiment")
    training = {"training": experiment.training.model_copy(update=training)}
    files = {"claims": {"all": folder / "claims.tsv"}}
    return Manifest(experiment.model_copy(update=training), files, {}, {}, {}, "")


def test_a_claim_is_one_answer_by_its_first_metric_over_all_sets(tmp_path):
    found = answers(
        tmp_path,
        claim("A", "B", 1.0, "A: one.", paper="Chen", **SYNTAX),
        claim("A [random]", "B", 0.5, role="control", trees="random"),
        claim("A", "A [random]", 0.5, role="against control", trees="random"),
        claim("A", "B", 1.1, "on a set", paper="Chen", set="mixed"),
        claim("A", "B", 0.1, "by another metric", paper="Chen", metric="ribes"),
        claim("A", "B", 1.0, "A: one.", paper="Yang", **SYNTAX),
        claim("A", "C", 2.0, "A above C: two.", paper="Yang"),
    )
    assert [(one.paper, one.system, one.other, one.metric) for one in found] == [
        *(("Chen", "A", "B", "BLEU"), ("Yang", "A", "B", "BLEU"), ("Yang", "A", "C", "BLEU")),
    ]
    assert (found[0].controls["random"].value, found[0].difference.low, found[0].runs) == (0.5, 0.0, (1, 1))
    assert found[1].controls == {} and find_syntax_answers(found) == found[:1]
    assert group_sentences(found) == {"Does syntax help?": ["A: one."], "Other claims": ["A above C: two."]}
    several = [*find_syntax_answers(found), *answers(tmp_path, claim("A", "B", 1.0, "A: one.", paper="Yang", **SYNTAX))]
    assert group_sentences(several) == {"Does syntax help?": ["A: one."]}, "whoever asks, it is said once"


def test_without_a_verdict_there_are_differences(tmp_path):
    found = answers(
        tmp_path, claim("A", "B", 1.0, "A: +1.0", verdict="", **SYNTAX), claim("C", "B", 1, "C", verdict="")
    )
    assert group_sentences(found) == {NO_VERDICT: ["A: +1.0", "C"]}
    assert render_for_terminal(found, []) == [NO_VERDICT, "  A: +1.0"]


def test_what_is_not_tested_has_no_numbers(tmp_path):
    row = dict(zip(COLUMNS, claim("A", "B", 0, "A: not tested", verdict="not tested", **SYNTAX), strict=True))
    row |= dict.fromkeys(("runs_system", "score_system", "score_other", "difference", "low", "high", "detectable"), "")
    (found,) = answers(tmp_path, [*row.values()])
    assert found.difference is None and headline([found]).endswith("that reads none, is not tested.")
    assert {cell.text for cell in claims([found]).rows[0][4:10]} == {"–"}
    (overview, _) = parts(manifest(tmp_path))
    assert overview.tables == [] and overview.own[0].answers == [("A: not tested", "")]


def test_exclusions_come_first(tmp_path):
    answers(tmp_path, claim("A", "B", 1.0, "A: one.", **SYNTAX))
    exclusions = tmp_path / "exclusions.tsv"
    write_rows(
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
    (overview, _) = parts(given)
    assert overview.own[0].warnings == expected
    assert render_for_terminal(read_answers(tmp_path / "claims.tsv"), expected)[:4] == [*expected, "Does syntax help?"]


def test_ceilings_are_shown_and_low_ones_come_first(tmp_path):
    answers(tmp_path, claim("A", "B", 1.0, "A: one.", **SYNTAX))
    ceilings = [Ceiling("dev", 99.96, 10), Ceiling("x", 86.3, 20, "`evaluation.detokenizer: none`", "`a` becomes `b`")]
    write_rows(tmp_path / "ceiling.tsv", COLUMNS_OF_CEILINGS, map(astuple, ceilings), quoted=False)
    given = manifest(tmp_path)
    given = replace(given, files={**given.files, "ceiling": {"all": tmp_path / "ceiling.tsv"}})
    (overview, _) = parts(given)
    assert overview.own[0].warnings == [ceilings[1].warning]
    expected = (
        "Ceiling: the references, tokenized and detokenized as outputs are, have BLEU 100.0 on dev and 86.3 on x."
    )
    assert expected in overview.own[0].trust
    assert "Ceiling" not in " ".join(trust(manifest(tmp_path), []))


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
        claim(f"S{place}", "B", 1.0, "x", verdict=verdict, syntax=syntax, **SYNTAX)
        for place, (verdict, syntax) in enumerate(verdicts)
    ]
    assert headline(find_syntax_answers(answers(tmp_path, *rows))) == sentence


def test_the_plot_has_one_scale_with_0_on_it_and_controls_behind(tmp_path):
    twins = answers(
        tmp_path,
        claim("A", "B", 1.0, "x", **SYNTAX),
        claim("A [chain]", "B", -3.0, role="control", trees="chain"),
        claim("C", "D", 5.0, "x", **SYNTAX),
    )
    sheet = forest(twins)
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
        claim("A", "B", 1.0, "x", **SYNTAX),
        claim("A [chain]", "B", -3.0, role="control", trees="chain"),
        claim("A [gold]", "B", 1.5, "x", **SYNTAX),
        claim("A [chain]", "B", -3.0, role="control", trees="chain"),
    )
    assert [row[0].text for row in forest(again).rows] == ["A", "A [chain]", "A [gold]"], "the same control, once"
    only_gains = forest(answers(tmp_path, claim("A", "B", 3.0, "x", **SYNTAX)))
    assert only_gains.rows[0][1].zero == 0 and only_gains.rows[0][1].interval == pytest.approx((50, 75, 100))


def test_what_to_trust_knows_of_seeds_and_of_what_cannot_be_seen(tmp_path):
    twins = answers(
        tmp_path,
        claim("SDAtt", "GlobalAtt", 1.0, "x", detectable="1.26", **SYNTAX),
        claim("SDAtt [random]", "GlobalAtt", 0.5, role="control", trees="random"),
        claim("+SDAtt", "GlobalAtt", 1.0, "x", detectable="2.0", **SYNTAX),
    )
    once = " ".join(trust(manifest(tmp_path), twins))
    assert "networks were trained once. Intervals include the variation between runs." in once
    assert "a difference of 1.3 to 2.0 points, depending on the system, is found with a probability of 80 %" in once
    assert "Single runs: their standard deviation between runs is assumed to be 0.6 points, the default of" in once
    assert "+SDAtt was not scored with control trees" in once and "with beam 5" in once
    thrice = " ".join(
        trust(manifest(tmp_path), [replace(answer, runs=(3, 3), run_deviation_from="measured") for answer in twins])
    )
    assert "networks were trained 3 times" in thrice and "once" not in thrice and "Single" not in thrice
    pooled = replace(twins[0], runs=(3, 1), run_deviation_from="pooled")
    mixed = " ".join(trust(manifest(tmp_path), [pooled, *twins]))
    assert "trained once or 3 times" in mixed and "pooled over the systems with several runs" in mixed


def test_a_run_ends_with_the_answer_and_counts_the_rest(tmp_path):
    found = answers(
        tmp_path,
        claim("A", "B", 1.0, "A: one.", **SYNTAX),
        claim("A", "C", 1.0, "x", verdict="confirmed"),
        claim("D", "C", 1.0, "y", verdict="contradicted"),
        claim("E", "C", 1.0, "z", verdict="confirmed"),
    )
    others = "Other claims: 2 confirmed, 1 contradicted."
    assert render_for_terminal(found, []) == ["Does syntax help?", "  A: one.", others]
    shown = [f"{others[:-1]}:", "  x", "  y", "  z"]
    assert render_for_terminal(found[1:], []) == shown, "without answers about syntax the others are shown"
    assert render_for_terminal(found[:1], []) == ["Does syntax help?", "  A: one."] and not render_for_terminal([], [])


def test_without_systems_that_read_trees_there_is_no_answer_but_claims(tmp_path):
    found = answers(tmp_path, claim("A", "B", 1.0, "x", verdict="confirmed"))
    (only,) = parts(manifest(tmp_path))
    assert only.folded and only.title == "All comparisons that papers claim or tables propose: 1 confirmed"
    assert [cell.text for cell in claims(found).rows[0]][:4] == ["A", "B", "better", "confirmed"]
    answers(tmp_path)
    assert [*parts(manifest(tmp_path))] == []
