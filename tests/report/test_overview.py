"""The top of the page: what it says of how many systems, what it draws, and what it warns of."""

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline_py.config.base import from_json
from pipeline_py.config.experiment import Experiment
from pipeline_py.evaluation.claims import COLUMNS
from pipeline_py.evaluation.files.tsv import write_rows
from pipeline_py.input_error import InputError
from pipeline_py.report.answers import first_of_twins, read_answers, sentences, told
from pipeline_py.report.manifest import Manifest
from pipeline_py.report.overview import claims, forest, headline, parts, trust
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
    assert (found[0].controls["random"].value, found[0].found.low, found[0].runs) == (0.5, 0.0, 1)
    assert found[1].controls == {} and first_of_twins(found) == found[:1]
    assert sentences(found) == {"Does syntax help?": ["A: one."], "What else is claimed?": ["A above C: two."]}


def test_what_two_tables_say_of_a_pair_is_said_once_with_controls(tmp_path):
    alone = answers(tmp_path, claim("A", "B", 1.0, "alone", **SYNTAX), claim("C", "B", 1.0, "C", **SYNTAX))
    controlled = answers(
        tmp_path, claim("A", "B", 1.0, "with", **SYNTAX), claim("A [x]", "B", 1.0, role="control", trees="x")
    )
    assert sentences([*alone, *controlled]) == {"Does syntax help?": ["with", "C"]}


def test_only_a_file_of_claims_is_read(tmp_path):
    (tmp_path / "x.tsv").write_text("paper\tsystem\n")
    with pytest.raises(InputError, match=r"x.tsv, line 1: the file has no column 'claim'; make it again"):
        read_answers(tmp_path / "x.tsv")


@pytest.mark.parametrize(
    ("verdicts", "sentence"),
    [
        (
            [("confirmed", "yes"), ("confirmed", "untested"), ("confirmed", "not shown"), ("contradicted", "")]
            + [("not distinguishable", "")] * 2,
            "Of 6 systems that read parse trees, each compared with its twin that reads none, 1 translates better "
            "because of them; 1 translates better; 1 translates better, but not measurably better than with trees that "
            "mean nothing; 1 translates worse; 2 show no difference that can be seen.",
        ),
        (
            [("contradicted", "")] * 2,
            "Of 2 systems that read parse trees, each compared with its twin that reads none, 2 translate worse.",
        ),
        (
            [("not distinguishable", "")],
            "The one system that reads parse trees, compared with its twin that reads none, shows no difference that "
            "can be seen.",
        ),
    ],
)
def test_the_headline_counts_what_was_found(tmp_path, verdicts, sentence):
    rows = [
        claim(f"S{place}", "B", 1.0, "x", verdict=verdict, of_syntax=of_syntax, **SYNTAX)
        for place, (verdict, of_syntax) in enumerate(verdicts)
    ]
    assert headline(first_of_twins(answers(tmp_path, *rows))) == sentence


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
        *("+1.0 [0.0, +2.0]", "-3.0 [-4.0, -2.0]", "+5.0 [+4.0, +6.0]"),
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
        claim("SDAtt", "GlobalAtt", 1.0, "x", visible="1.26", **SYNTAX),
        claim("SDAtt [random]", "GlobalAtt", 0.5, role="control", trees="random"),
        claim("+SDAtt", "GlobalAtt", 1.0, "x", visible="2.0", **SYNTAX),
    )
    once = " ".join(trust(manifest(tmp_path), twins))
    assert (
        "each network was trained once" in once
        and "a difference of 1.3 to 2.0 points, depending on the system, is found" in once
    )
    assert "+SDAtt was not scored with control trees" in once and "with beam 5" in once
    thrice = " ".join(trust(manifest(tmp_path), [replace(answer, runs=3) for answer in twins]))
    assert "each network was trained 3 times" in thrice and "once" not in thrice
    mixed = " ".join(trust(manifest(tmp_path), [replace(twins[0], runs=3), *twins]))
    assert "trained 1 or 3 times" in mixed and "where there are several runs" in mixed


def test_a_run_ends_with_the_answer_and_counts_the_rest(tmp_path):
    found = answers(
        tmp_path,
        claim("A", "B", 1.0, "A: one.", **SYNTAX),
        claim("A", "C", 1.0, "x", verdict="confirmed"),
        claim("D", "C", 1.0, "x", verdict="contradicted"),
        claim("E", "C", 1.0, "x", verdict="confirmed"),
    )
    others = "What else is claimed or asked: 2 confirmed, 1 contradicted."
    assert told(found) == ["Does syntax help?", "  A: one.", others]
    assert told(found[1:]) == [others] and told(found[:1]) == ["Does syntax help?", "  A: one."] and told([]) == []


def test_without_systems_that_read_trees_there_is_no_answer_but_claims(tmp_path):
    found = answers(tmp_path, claim("A", "B", 1.0, "x", verdict="confirmed"))
    (only,) = parts(manifest(tmp_path))
    assert only.folded and only.title == "All comparisons that papers claim or tables propose: 1 confirmed"
    assert [cell.text for cell in claims(found).rows[0]][:3] == ["A", "B", "confirmed"]
    answers(tmp_path)
    assert [*parts(manifest(tmp_path))] == []
