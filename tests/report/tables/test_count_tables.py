"""Tests of tables of counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline_py.report.render_table import render_table
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.binarize import FAILED_PARSE_NOTE, Branching, binarize
from tests.nested_files import get_table_outputs, group_by_kind


def render(folder: Path, options: dict[str, Any], **files: Path) -> tuple[str, str]:
    """Render a table and return its TSV and Markdown; `__` in names of files means a colon."""
    return render_description(folder, {"table": {"title": "T", **options}}, **files)


def render_description(folder: Path, description: dict[str, Any], **files: Path) -> tuple[str, str]:
    """Render the table of a description, like `render`."""
    render_table(
        description=description,
        files=group_by_kind({name.replace("__", ":"): path for name, path in files.items()}),
        **get_table_outputs(folder, "o"),
    )
    return (folder / "o.tsv").read_text(encoding="utf-8"), (folder / "o.md").read_text(encoding="utf-8")


PARSES = {"type": "parses", "parser": "p"}


def test_parse_table_has_counts_of_binarize(tmp_path: Path) -> None:
    trees, tokens, counts = (tmp_path / name for name in ("t.ptb", "t.source", "t.json"))
    trees.write_text("(ROOT (S (NN a) (VB b)))\n(FAILED (X a) (X b) (X c))\n(ROOT (NN d))\n", encoding="utf-8")
    tokens.write_text("a b\na b c\nd\n", encoding="utf-8")
    binarize(trees=trees, tokens=tokens, branching=Branching.RIGHT, output=tmp_path / "b", counts_output=counts)
    tsv, markdown = render(tmp_path, PARSES, counts__train=counts)
    assert tsv == "split\tsentences\tparsed\tfailed\nTrain\t3\t2\t1\n"
    assert (
        "|  | Sentences | Parsed successfully | Parsed unsuccessfully |" in markdown
        and "| Train | 3 | 2 | 1 |" in markdown
    )


def test_parse_table_has_the_trees_of_each_parser(tmp_path: Path) -> None:
    """The training text is that of tree2seq Table 1; some sentences of dev have no tree."""
    notes = {
        "train": {"trees of Chinese-Factored": 95647, "trees of PCFG": 4353, "failed in Chinese-Factored: odd": 4353},
        "dev": {"trees of Chinese-Factored": 1779, "trees of PCFG": 300, "empty line": 1, "failed in PCFG: odd": 11},
    }
    for split, size in (("train", 100_000), ("dev", 2_090)):
        counts = {"in": size, "kept": size, "dropped": {}, "noted": notes[split]}
        (tmp_path / f"{split}.json").write_text(json.dumps(counts))
    description = {"table": {"title": "T", **PARSES}, "parser_chain": ["Chinese-Factored", "PCFG"]}
    files = {f"counts__{split}": tmp_path / f"{split}.json" for split in notes}
    tsv, markdown = render_description(tmp_path, description, **files)
    assert tsv == (
        "split\tsentences\tparsed_Chinese-Factored\tparsed_PCFG\tfailed\n"
        "Train\t100000\t95647\t4353\t0\nDevelopment\t2090\t1779\t300\t11\n"
    )
    assert "| Sentences | Parsed (Chinese-Factored) | Parsed (PCFG) | Parsed unsuccessfully |" in markdown


def test_vocabulary_table_counts_types(tmp_path: Path) -> None:
    texts = {"original": "a 17 a\n\n18 猫\n", "generalised": "a $number a\n\n$number 猫\n", "bpe": "a\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = {f"{name}__en": tmp_path / name for name in texts}
    tsv, markdown = render(tmp_path, {"type": "vocabulary", "subword": "s"}, **files)
    assert tsv == "language\toriginal\tgeneralised\tbpe\nen\t4\t3\t1\n"
    assert "|V| in en" in markdown.replace("\\|", "|")


ATTENTION = {"type": "attention", "systems": ["A", "B"], "labels": {"A": "zh–ja"}}
HEADER = "system\tthreshold\twords\tphrases\tgenerated_words\n"


def test_attention_table_has_row_per_threshold(tmp_path: Path) -> None:
    rows = [("A", 0.2, 18.91, 5.5), ("A", 0.4, 10.6, 2.4), ("B", 0.2, 11.2, 10.8), ("B", 0.4, 5.3, 3.6)]
    lines = "".join(f"{name}\t{level}\t{words}\t{phrases}\t71422\n" for name, level, words, phrases in rows)
    (tmp_path / "s.tsv").write_text(HEADER + lines)
    tsv, markdown = render(tmp_path, ATTENTION, shares=tmp_path / "s.tsv")
    assert tsv == (
        "threshold\twords_A\tphrases_A\twords_B\tphrases_B\n0.2\t18.9\t5.5\t11.2\t10.8\n0.4\t10.6\t2.4\t5.3\t3.6\n"
    )
    assert "zh–ja Wrd (%)" in markdown and "zh–ja generated 71,422 words." in markdown and "| α \\> 0.2 |" in markdown


def test_missing_file_raises_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected one file of the kind 'shares', got 0"):
        render(tmp_path, ATTENTION)


FOLDER = Path(__file__).parents[3] / "workflow" / "published"


def test_published_parse_counts_have_columns(tmp_path: Path) -> None:
    """A table of the main grammar: what it did not parse, the paper parsed by its fallback."""
    for split, size, failed in (("train", 1000, 40), ("dev", 100, 3)):
        counts = {"in": size, "kept": size, "dropped": {}, "noted": {FAILED_PARSE_NOTE: failed}}
        (tmp_path / f"{split}.json").write_text(json.dumps(counts))
    columns = {"parsed": "Parsed (Chinese-Factored)", "failed": "Parsed (PCFG)"}
    published = {"paper": "tree2seq", "table": 1, "task": "zh-ja", "columns": columns}
    files = {f"counts__{split}": tmp_path / f"{split}.json" for split in ("train", "dev")}
    files["published"] = FOLDER / "tree2seq.tsv"
    tsv, markdown = render(tmp_path, {**PARSES, "published": published}, **files)
    assert tsv == (
        "split\tsentences\tparsed\tfailed\tsentences_published\tparsed_published\tfailed_published\n"
        "Train\t1000\t960\t40\t100000\t95647\t4353\nDevelopment\t100\t97\t3\t2090\t1779\t311\n"
    )
    assert "| Train | 1,000 | 960 | 40 | 100,000 | 95,647 | 4,353 |" in markdown
    with pytest.raises(InputError, match=r"`published.columns`: the table has no column 'parses'; it has sentences"):
        render(tmp_path, {**PARSES, "published": {**published, "columns": {"parses": columns["parsed"]}}}, **files)
    with pytest.raises(InputError, match=r"`published.names`: the table has no row 'train'; it has Train"):
        render(tmp_path, {**PARSES, "published": {**published, "names": {"train": "Train"}}}, **files)


def test_published_vocabulary_has_columns(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("a b\n", encoding="utf-8")
    files = {
        f"{name}__{side}": tmp_path / "words" for name in ("original", "generalised", "bpe") for side in ("en", "zh")
    }
    published = {
        **{"paper": "hierarchical", "table": 2, "task": "en-zh"},
        "names": {"en": "|V| in En", "zh": "|V| in Zh"},
    }
    options = {"type": "vocabulary", "subword": "s", "published": published}
    tsv, markdown = render(tmp_path, options, **files, published=FOLDER / "hierarchical.tsv")
    assert tsv.splitlines()[1:] == ["en\t2\t2\t2\t159000\t120000\t40000", "zh\t2\t2\t2\t198000\t125000\t40000"]
    assert "| 2 | 2 | 2 | 198k | 125k | 40k |" in markdown


def test_published_shares_of_attention_have_columns(tmp_path: Path) -> None:
    rows = [("A", level, 1.0, 2.0) for level in (0.2, 0.4, 0.6, 0.8)]
    lines = "".join(f"{name}\t{level}\t{words}\t{phrases}\t9\n" for name, level, words, phrases in rows)
    (tmp_path / "s.tsv").write_text(HEADER + lines)
    published = {"paper": "tree2seq", "table": 12, "task": "en-ja", "columns": {"dev": "Development, large data"}}
    options = {"type": "attention", "systems": ["A"], "published": published}
    tsv, _ = render(tmp_path, options, shares=tmp_path / "s.tsv", published=FOLDER / "tree2seq.tsv")
    assert [line.split("\t")[3:] for line in tsv.splitlines()] == [
        ["words_A_published", "phrases_A_published"],
        *(["9.1", "8.1"], ["3.4", "2.3"], ["1.5", "0.5"], ["0.3", "0.0"]),
    ]
    with pytest.raises(ValueError, match="`published` is of one system; name one in `systems`"):
        render(tmp_path, {**options, "systems": ["A", "B"]}, shares=tmp_path / "s.tsv")
