"""Sizes of vocabularies in three forms of a text."""

import pytest

from pipeline_py.report.vocabulary_sizes import vocabulary_sizes
from pipeline_py.stage import InputError


def test_types_are_counted_once_each(tmp_path):
    texts = {
        "words": "a 17 a\n\n18 猫\n",
        "generalised": "a $number a\n\n$number 猫\n",
        "pieces": "a $number a\n\n$number 猫\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    vocabulary_sizes(
        title="T",
        original=[f"en={tmp_path / 'words'}"],
        generalised=[f"en={tmp_path / 'generalised'}"],
        pieces=[f"en={tmp_path / 'pieces'}"],
        output=tmp_path / "o.tsv",
        markdown_output=tmp_path / "o.md",
    )
    assert (tmp_path / "o.tsv").read_text() == "language\toriginal\tgeneralised\tbpe\nen\t4\t3\t3\n"
    assert "|V| in en" in (tmp_path / "o.md").read_text().replace("\\|", "|")


def test_languages_must_agree(tmp_path):
    (tmp_path / "x").write_text("a\n")
    with pytest.raises(InputError, match="need the same languages: en"):
        vocabulary_sizes(
            title="T",
            original=[f"en={tmp_path / 'x'}"],
            generalised=[f"de={tmp_path / 'x'}"],
            pieces=[f"en={tmp_path / 'x'}"],
            output=tmp_path / "o.tsv",
        )
