"""Tests of the section with published tables."""

from pathlib import Path

import pytest

from pipeline_py.report.sections.published_tables import build_published_tables, read_source
from pipeline_py.report.tables.published_numbers import read_published_numbers

FOLDER = Path(__file__).parents[3] / "workflow" / "published"


@pytest.mark.parametrize(
    ("paper", "short"),
    [
        ("tree2seq", "Eriguchi et al. (2019)"),
        ("hierarchical", "Yang et al. (2017)"),
        ("sdatt", "Chen et al. (2018)"),
        ("sdrnmt", "Chen et al. (2017)"),
    ],
)
def test_tables_contain_every_published_number_once(paper, short):
    numbers = read_published_numbers(FOLDER / f"{paper}.tsv")
    source = read_source(FOLDER / f"{paper}.tsv")
    assert source.citation == short and source.reference.endswith(".")
    tables = build_published_tables(numbers, sorted({row.table for row in numbers}), source.citation)
    cells = [cell for table in tables for row in table.rows for cell in row[1:] if cell.text != "–"]
    assert sorted((cell.numeric_value, cell.marks) for cell in cells) == sorted(
        (row.value, row.marks) for row in numbers
    )
    assert all(column.origin == "paper" for table in tables for column in table.columns)


def test_only_requested_tables_are_built():
    numbers = read_published_numbers(FOLDER / "tree2seq.tsv")
    tables = build_published_tables(numbers, ["3", "4"], "X")
    assert [table.title.split(";")[0] for table in tables] == [
        "As printed in X, Table 3, zh-ja on Development",
        "As printed in X, Table 4, en-ja on Development",
    ]
    texts = {row[0].text: [cell.text for cell in row[1:]] for row in tables[1].rows}
    assert "25.6" in texts["Tree-to-Sequence NMT (softmax)"]


def test_citation_names_two_authors(tmp_path):
    path = tmp_path / "paper.tsv"
    path.write_text("# Ada Lovelace and Alan Turing. 1950. On Engines. A Journal 1.\n")
    assert read_source(path).citation == "Lovelace and Turing (1950)"


def test_costs_of_training_have_no_set_in_their_head():
    numbers = read_published_numbers(FOLDER / "hierarchical.tsv")
    sizes, scores, _ = build_published_tables(numbers, ["2", "3", "4"], "X")
    assert sizes.column_heads == ["System", "Original", "Generalization", "BPE"]
    assert scores.title == "As printed in X, Table 3, en-zh, BLEU; marks are the paper's."
    assert scores.column_heads == ["System", "parameters (millions)", "MT04", "MT05", "MT06", "MT08"]


def test_counts_have_separators_for_readers():
    numbers = read_published_numbers(FOLDER / "tree2seq.tsv")
    counts, words = build_published_tables(numbers, ["2", "Section 4.1"], "X")[:2]
    assert [(cell.text, cell.raw_text) for cell in counts.rows[0][1:]] == [
        ("1,353,635", "1353635"),
        ("1,346,946", "1346946"),
        ("6,689", "6689"),
    ]
    assert words.title == "As printed in X, Section 4.1, zh-ja, vocabulary on Train; marks are the paper's."
