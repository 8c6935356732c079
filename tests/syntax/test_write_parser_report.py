"""Tests of the parser report."""

from pathlib import Path
from typing import Any

import pandas
import pytest

from pipeline_py.files.artifacts import SentenceCounts, write_json
from pipeline_py.run.errors import InputError
from pipeline_py.syntax.compute_tree_statistics import SUM_NAMES_BY_KIND
from pipeline_py.syntax.trees.tree_formats import TreeKind, TreeMetadata
from pipeline_py.syntax.write_parser_report import write_parser_report

VERSIONS = {"stanza": "1.15.0", "torch": "2.13.0"}


def statistics(path: Path, **sums: int) -> None:
    annotation = TreeKind(path.suffixes[-2].removeprefix("."))
    write_json(path, {"annotation": annotation, **dict.fromkeys(SUM_NAMES_BY_KIND[annotation], 0), **sums})


def counts(path: Path, kept_count: int, **noted: int) -> None:
    counts = SentenceCounts()
    counts.add_kept(kept_count)
    for note, sentences in noted.items():
        counts.add_noted(note, sentences)
    counts.write_json_file(path)


def files(folder: Path, **changed: TreeMetadata) -> dict[str, Any]:
    """Write the files of a training text (both kinds of trees) and a test set; `changed` replaces metadata."""
    statistics(
        folder / "train.dependency.statistics", sentences=10, empty=1, failed=3, trees=6, words=40, depth=20,
        dependencies=33, dependency_length=100, non_projective=1, several_roots=1,
    )  # fmt: skip
    statistics(folder / "train.constituency.statistics", sentences=10, empty=1, trees=9, words=50, depth=36, phrases=60)
    statistics(folder / "t-1.dependency.statistics", sentences=2, failed=2)
    reasons = {"parsed by fallback: more than 5 words": 2, 'parsed by fallback: RuntimeError: "ü"\u2028': 1}
    counts(folder / "train.dependency.counts", 10, **{**reasons, "empty line": 1})
    counts(folder / "train.constituency.counts", 10, **{"empty line": 1})
    counts(folder / "t-1.dependency.counts", 2, **{"parsed by fallback: more than 5 words": 2})
    facts = {
        "train.dependency": TreeMetadata(10, 12.3456, "cuda", VERSIONS, {"depparse.pt": "ab", "tagger.pt": "cd"}),
        "train.constituency": TreeMetadata(10, 0.0, "cpu", VERSIONS, {"constituency.pt": "ef"}),
        "t-1.dependency": TreeMetadata(2, 0.00123, "cpu", VERSIONS, {"depparse.pt": "ab", "tagger.pt": "cd"}),
    } | {name.replace("_", ".", 1).replace("t1", "t-1"): of for name, of in changed.items()}
    for name, of in facts.items():
        of.write(folder / f"{name}.facts")
    arguments: dict[str, Any] = {"output": folder / "report.tsv"}
    for parameter in ("statistics", "counts", "facts"):
        for name in facts:
            split, kind = name.split(".")
            path = folder / f"{name}.{parameter}"
            arguments.setdefault(parameter, {}).setdefault(split, {})[TreeKind(kind)] = path
    return arguments


def rows(folder: Path) -> list[list[str]]:
    table = pandas.read_csv(folder / "report.tsv", sep="\t", dtype=str, keep_default_na=False)
    assert [*table.columns] == ["split", "trees", "measure", "value"]
    return table.to_numpy().tolist()


def test_report_has_all_measures_in_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.tsv").write_text("metric\tvalue\tsentences\twords\nUAS\t90.10\t5\t9\nfailed parses\t0\t5\t9\n")
    (tmp_path / "c.tsv").write_text("metric\tvalue\tsentences\twords\nbracket F1\t80.00\t5\t9\n")
    accuracy = {TreeKind.DEPENDENCY: tmp_path / "d.tsv", TreeKind.CONSTITUENCY: tmp_path / "c.tsv"}
    write_parser_report(**files(tmp_path), accuracy=accuracy)
    assert capsys.readouterr() == ("", "")
    report_rows = rows(tmp_path)
    assert [
        [measure, value] for split, trees, measure, value in report_rows if (split, trees) == ("train", "dependency")
    ] == [
        ["sentences", "10"],
        ["empty lines", "1"],
        ["failed", "3"],
        ['failed: RuntimeError: "ü"\u2028', "1"],
        ["failed: more than 5 words", "2"],
        ["mean words per tree", "6.67"],
        ["mean depth", "3.33"],
        ["mean dependency length", "3.03"],
        ["non-projective trees (%)", "16.67"],
        ["trees with several roots (%)", "16.67"],
        ["seconds per sentence", "1.23"],
        ["device", "cuda"],
    ]
    assert [[measure, value] for split, trees, measure, value in report_rows if trees == "constituency"] == [
        ["sentences", "10"],
        ["empty lines", "1"],
        ["failed", "0"],
        ["mean words per tree", "5.56"],
        ["mean depth", "4.00"],
        ["mean phrases per tree", "6.67"],
        ["mean children per phrase", "1.68"],
        ["seconds per sentence", "0"],
        ["device", "cpu"],
        ["stanza", "1.15.0"],
        ["torch", "2.13.0"],
        ["sha256 of constituency.pt", "ef"],
        ["bracket F1", "80.00"],
    ]
    assert [row[2:] for row in report_rows if row[0] == "t-1"] == [
        ["sentences", "2"],
        ["empty lines", "0"],
        ["failed", "2"],
        ["failed: more than 5 words", "2"],
        ["mean words per tree", ""],
        ["mean depth", ""],
        ["mean dependency length", ""],
        ["non-projective trees (%)", ""],
        ["trees with several roots (%)", ""],
        ["seconds per sentence", "0.0005"],  # facts keep milliseconds
        ["device", "cpu"],
    ]
    assert [row for row in report_rows if row[0] == "all" and row[1] == "dependency"] == [
        ["all", "dependency", "stanza", "1.15.0"],
        ["all", "dependency", "torch", "2.13.0"],
        ["all", "dependency", "sha256 of depparse.pt", "ab"],
        ["all", "dependency", "sha256 of tagger.pt", "cd"],
        ["all", "dependency", "UAS", "90.10"],
        ["all", "dependency", "failed parses", "0"],
    ]
    splits = [tuple(row[:2]) for row in report_rows]
    assert list(dict.fromkeys(splits)) == [
        ("train", "dependency"),
        ("train", "constituency"),
        ("t-1", "dependency"),
        ("all", "dependency"),
        ("all", "constituency"),
    ]


def test_differing_splits_have_separate_rows(tmp_path: Path) -> None:
    changed_metadata = TreeMetadata(
        2, 1.0, versions={"stanza": "1.15.0", "torch": "2.12.0"}, models={"depparse.pt": "ab", "t.ptb": "x"}
    )
    write_parser_report(**files(tmp_path, t1_dependency=changed_metadata))
    report_rows = [
        row for row in rows(tmp_path) if row[1] == "dependency" and row[2].startswith(("stanza", "torch", "sha"))
    ]
    assert report_rows == [
        ["all", "dependency", "stanza", "1.15.0"],
        ["train", "dependency", "torch", "2.13.0"],
        ["t-1", "dependency", "torch", "2.12.0"],
        ["all", "dependency", "sha256 of depparse.pt", "ab"],
        ["train", "dependency", "sha256 of tagger.pt", "cd"],
        ["t-1", "dependency", "sha256 of t.ptb", "x"],
    ]


def test_report_has_differences_between_tokens_and_words(tmp_path: Path) -> None:
    arguments = files(tmp_path)
    noted = {
        "parsed in other words than its tokens": 3,
        "tokens of several words": 2,
        "tokens that are a part of a word": 3,
        "tokens that share a word with others": 0,
        "tokens left whole because the treebank reads them in several ways": 4,
        "parsed in its tokens: its text has other characters": 1,
    }
    counts(tmp_path / "train.dependency.counts", 10, **noted)
    write_parser_report(**arguments)
    report_rows = [row[2:] for row in rows(tmp_path) if row[:2] == ["train", "dependency"]]
    assert report_rows[3:10] == [
        ["parsed in other words than its tokens (%)", "50.00"],
        ["tokens that are not parser words (%)", "12.50"],
        ["tokens of several words", "2"],
        ["tokens that are a part of a word", "3"],
        ["tokens that share a word with others", "0"],
        ["parsed in its tokens: its text has other characters", "1"],
        ["tokens left whole because the treebank reads them in several ways", "4"],
    ]
    assert not [row for row in rows(tmp_path) if row[0] == "t-1" and "words of" in row[2]]


def test_report_has_the_trees_and_failures_of_each_parser(tmp_path: Path) -> None:
    arguments = files(tmp_path)
    noted = {"failed in main: odd": 4, "failed in other: odd": 3, "trees of main": 6, "trees of other": 1}
    counts(tmp_path / "train.dependency.counts", 10, **noted)
    write_parser_report(**arguments)
    report_rows = [row[2:] for row in rows(tmp_path) if row[:2] == ["train", "dependency"]]
    assert report_rows[2:7] == [["failed", "3"], *([note, str(count)] for note, count in noted.items())]


def test_report_of_no_sentences(tmp_path: Path) -> None:
    arguments = files(tmp_path, t1_dependency=TreeMetadata(0, 0.0))
    statistics(tmp_path / "t-1.dependency.statistics")
    counts(tmp_path / "t-1.dependency.counts", 0)
    write_parser_report(**arguments)
    values = {row[2]: row[3] for row in rows(tmp_path) if row[0] == "t-1"}
    assert values["sentences"] == "0" and values["seconds per sentence"] == "" and values["mean depth"] == ""


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (
            "train.dependency.counts",
            '{"kept": 9, "dropped": {}, "noted": {}}',
            r"about 9 sentences and .*train\S* about 10; make the",
        ),
        ("t-1.dependency.facts", '{"sentences": 1, "seconds": 1}', r"about 1 sentences and .*t-1\S* about 2"),
    ],
)
def test_wrong_number_of_sentences_is_rejected(file: str, content: str, message: str, tmp_path: Path) -> None:
    arguments = files(tmp_path)
    (tmp_path / file).write_text(content)
    with pytest.raises(InputError, match=rf"{file}: .*{message}"):
        write_parser_report(**arguments)
    assert not (tmp_path / "report.tsv").exists()


def test_report_has_a_warning_of_undivided_multiword_tokens(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(
        "metric\tvalue\nmulti-word tokens (raw text)\t63\nmulti-word tokens left whole (%) (raw text)\t57.14\n"
    )
    write_parser_report(**files(tmp_path), accuracy={TreeKind.DEPENDENCY: tmp_path / "a.tsv"})
    (warning,) = [row for row in rows(tmp_path) if row[2] == "warning"]
    assert warning[:2] == ["all", "dependency"] and "set `words: stanza` for this parser" in warning[3]
