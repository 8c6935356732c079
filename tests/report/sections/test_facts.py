"""Facts of trainings on the page: what differs in columns, what is the same in a note, what is unknown in words."""

from pipeline_py.report.sections.facts import build_fact_table

TRAINED = {"system": "SDAtt", "parameters": "1200000", "parser": "", "sacrebleu": "2.6.0"}
THEIRS = {"system": "Theirs", "parameters": "", "parser": "", "sacrebleu": "2.6.0", "origin": "a company"}


def test_what_differs_has_a_column_and_what_is_the_same_a_note():
    table = build_fact_table([TRAINED, {**TRAINED, "system": "Tree", "parser": "stanza"}], {"SDAtt": "Ours"})
    assert [[cell.text for cell in row] for row in table.rows] == [["Ours", "–"], ["Tree", "stanza"]]
    assert table.notes == ["The same for all: parameters: 1200000; sacrebleu: 2.6.0."]


def test_what_is_not_known_of_a_system_from_elsewhere_is_said():
    table = build_fact_table([{**TRAINED, "origin": "here"}, THEIRS], {"Theirs": "LLM"})
    assert [cell.text for cell in table.rows[1]] == ["LLM", "unknown", "a company"]
    assert table.notes[-1] == "Translations from elsewhere, of whose training nothing more is known: LLM."
    alone = build_fact_table([THEIRS, {**THEIRS, "system": "Others"}], {})
    assert alone.column_heads == ["System"]
    assert alone.notes == [
        "The same for all: sacrebleu: 2.6.0; origin: a company.",
        "Translations from elsewhere, of whose training nothing more is known: Theirs, Others.",
    ]
