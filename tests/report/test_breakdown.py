"""Numbers by groups, as the page shows them."""

from pathlib import Path

from pipeline_py.report.breakdown import is_telling, read_breakdown, read_sentence_scores, read_words, sentences_about
from pipeline_py.report.breakdown import table as table_of
from pipeline_py.report.page_table import PageTable

CALLED = {"Base": "The base", "Mine": "Ours"}


def written(folder: Path, text: str) -> Path:
    path = folder / "groups.tsv"
    path.write_text("".join("\t".join(line.split(",")) + "\n" for line in text.split()), encoding="utf-8")
    return path


def texts(table: PageTable) -> list[list[str]]:
    return [[column.head for column in table.columns], *([cell.text for cell in row] for row in table.rows)]


def test_groups_that_have_the_name_of_their_upper_bound(tmp_path):
    rows = "by,bucket,sentences,system,bleu length,10,1200,Base,1.5 length,20,7,Base,2 length,20,7,Mine,3"
    rows += " parse,parsed,1207,Base,4"
    length, parse = read_breakdown(written(tmp_path, rows))
    assert (is_telling(length), is_telling(parse)) == (True, False)
    assert sentences_about([length, parse], "dev") == ["Parse, dev: all 1,207 sentences are in one group, parsed."]
    shown = table_of(length, CALLED, "dev")
    assert shown.caption == (
        "BLEU by words of the source on dev; groups have the name of their upper bound, behind it how many sentences "
        "they have."
    )
    assert texts(shown) == [["System", "10 (1,200)", "20 (7)"], ["The base", "1.50", "2.00"], ["Ours", "–", "3.00"]]


def test_words_have_no_bounds(tmp_path):
    (words,) = read_words(written(tmp_path, "frequency,system,f1,words 0,Base,50,3 1,Base,60,4"))
    shown = table_of(words, CALLED, "dev")
    assert shown.caption.endswith("on dev; behind it how many words they have.")
    assert texts(shown) == [["System", "0 (3)", "1 (4)"], ["The base", "50.00", "60.00"]]


def test_sentences_are_counted_of_each_system(tmp_path):
    rows = "by,bucket,system,other,percent score,0,Base,,25 score,90,Base,,75 score,0,Mine,,0 score,90,Mine,,100"
    rows += " difference,lower,Mine,Base,20 difference,equal,Mine,Base,30 difference,higher,Mine,Base,50"
    scores, differences = read_sentence_scores(written(tmp_path, rows), CALLED)
    assert scores.is_drawn and not differences.is_drawn
    shown = table_of(scores, CALLED, "dev")
    assert shown.caption == (
        "Percent of sentences by chrF of the sentence on dev; groups have the name of their lower bound."
    )
    assert texts(shown) == [["System", "0", "90"], ["The base", "25.00", "75.00"], ["Ours", "0.00", "100.00"]]
    shown = table_of(differences, CALLED, "dev")
    assert shown.caption == "Percent of sentences by chrF beside that of The base on dev."
    assert texts(shown) == [["System", "lower", "equal", "higher"], ["Ours", "20.00", "30.00", "50.00"]]


def test_a_system_alone_is_beside_none(tmp_path):
    (scores,) = read_sentence_scores(written(tmp_path, "by,bucket,system,other,percent score,0,Base,,100"), CALLED)
    assert scores.is_drawn
