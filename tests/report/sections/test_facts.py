"""Tests of the section with facts of trainings."""

from pipeline_py.report.sections.facts import build_fact_table

TRAINED = {"system": "SDAtt", "parameters": "1200000", "parser": "", "sacrebleu": "2.6.0"}
THEIRS = {"system": "Theirs", "parameters": "", "parser": "", "sacrebleu": "2.6.0", "origin": "a company"}


def test_equal_facts_are_listed_in_a_note():
    table = build_fact_table([TRAINED, {**TRAINED, "system": "Tree", "parser": "stanza"}], {"SDAtt": "Ours"})
    assert [[cell.text for cell in row] for row in table.rows] == [["Ours", "–"], ["Tree", "stanza"]]
    assert table.notes == ["The same for all: parameters: 1200000; sacrebleu: 2.6.0."]


def test_external_systems_have_unknown_facts():
    table = build_fact_table([{**TRAINED, "origin": "here"}, THEIRS], {"Theirs": "LLM"})
    assert [cell.text for cell in table.rows[1]] == ["LLM", "unknown", "a company"]
    assert table.notes[-1] == "External translations, with unknown training: LLM."
    external_table = build_fact_table([THEIRS, {**THEIRS, "system": "Others"}], {})
    assert external_table.column_heads == ["System"]
    assert external_table.notes == [
        "The same for all: sacrebleu: 2.6.0; origin: a company.",
        "External translations, with unknown training: Theirs, Others.",
    ]
