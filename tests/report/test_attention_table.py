"""Shares of attention as a table."""

import pytest

from pipeline_py.report.attention_table import attention_table
from pipeline_py.stage import InputError


def test_a_row_for_each_threshold(tmp_path):
    shares = tmp_path / "s.tsv"
    rows = [("A", 0.2, 18.91, 5.5), ("A", 0.4, 10.6, 2.4), ("B", 0.2, 11.2, 10.8), ("B", 0.4, 5.3, 3.6)]
    lines = "".join(f"{name}\t{level}\t{words}\t{phrases}\t71422\n" for name, level, words, phrases in rows)
    shares.write_text("system\tthreshold\twords\tphrases\tgenerated_words\n" + lines)
    attention_table(
        title="T", shares=shares, label=["A=zh–ja"], output=tmp_path / "o.tsv", markdown_output=tmp_path / "o.md"
    )
    assert (tmp_path / "o.tsv").read_text() == (
        "threshold\twords_A\tphrases_A\twords_B\tphrases_B\n0.2\t18.9\t5.5\t11.2\t10.8\n0.4\t10.6\t2.4\t5.3\t3.6\n"
    )
    markdown = (tmp_path / "o.md").read_text()
    assert "zh–ja Wrd (%)" in markdown and "zh–ja generated 71,422 words." in markdown


def test_another_file_is_refused(tmp_path):
    (tmp_path / "s.tsv").write_text("a\tb\n1\t2\n")
    with pytest.raises(InputError, match=r"s\.tsv, line 1: the file has no column 'system'; make it anew"):
        attention_table(title="T", shares=tmp_path / "s.tsv", output=tmp_path / "o.tsv")


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("A\t0.2\tmany\t2\t5", "line 2: words is no number but 'many'"),
        ("A\t0.2\t1\t2\t5.5", "line 2: generated_words is no whole number but '5.5'"),
        (f"A\t0.2\t1\t2\t{'9' * 5000}", "line 2: generated_words is no whole number but '999"),
        ("A\t0.2\t1\t2", "line 2: the row has 4 cells and the header 5"),
        ("A" * 200_000, "line 2: the row has 1 cells and the header 5"),
        ("\r", "line 2: the row has 1 cells"),
    ],
)
def test_a_damaged_row_is_told_with_its_line(tmp_path, row, sentence):
    (tmp_path / "s.tsv").write_text(f"system\tthreshold\twords\tphrases\tgenerated_words\n{row}\n", newline="")
    with pytest.raises(InputError, match=sentence):
        attention_table(title="T", shares=tmp_path / "s.tsv", output=tmp_path / "o.tsv")
