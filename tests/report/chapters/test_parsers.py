"""Tests of the chapter about parsers."""

from pipeline_py.report.chapters.parsers import build_accuracy_table, build_measure_tables


def test_measure_table_has_column_for_each_text(tmp_path):
    path = tmp_path / "report.tsv"
    rows = [
        ("train", "dependency", "mean depth", "3.11"),
        ("dev", "dependency", "mean depth", "3.03"),
        ("dev", "dependency", "failed", "1"),
        ("train", "constituency", "failed", "0"),
        ("all", "dependency", "stanza", "1.15.0"),
    ]
    path.write_text("split\ttrees\tmeasure\tvalue\n" + "".join("\t".join(row) + "\n" for row in rows))
    dependency, constituency = build_measure_tables(path, "What p made")
    assert [column.head for column in dependency.columns] == ["Measure", "train", "dev"]
    assert [[cell.text for cell in row] for row in dependency.rows] == [
        ["mean depth", "3.11", "3.03"],
        ["failed", "–", "1"],
    ]
    assert dependency.notes == ["The same for all texts: stanza: 1.15.0."] and constituency.notes == []
    assert constituency.title == "What p made: constituency trees."


def test_accuracy_table_has_all_parsers(tmp_path):
    path = tmp_path / "accuracy.tsv"
    path.write_text("metric\tvalue\tsentences\twords\nUAS\t95.02\t90\t1206\n")
    table = build_accuracy_table({"one": path, "two": path})
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["one", "UAS", "95.02", "90", "1206"],
        ["two", "UAS", "95.02", "90", "1206"],
    ]
    assert table.notes == []


def test_accuracy_table_warns_of_undivided_multiword_tokens(tmp_path):
    path = tmp_path / "accuracy.tsv"
    path.write_text(
        "metric\tvalue\nmulti-word tokens (raw text)\t63\nmulti-word tokens left whole (%) (raw text)\t57.14\n"
    )
    (note,) = build_accuracy_table({"turkish": path}).notes
    assert note.startswith("Warning: turkish: 57 % of the 63 multi-word tokens")
