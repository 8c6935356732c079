"""N-grams that one of a table's two systems gets right more often than the other, a table in either direction."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.report.page_parts import Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import Sheet, listed

PLACE = 70
COUNTS = ("matches_system", "matches_other", "references")


def section(chapter: TableChapter) -> Iterator[Part]:
    """Those of each set, all of them folded."""
    text = [
        "Sequences of one to four words of the references that one system matches more often than the other. The "
        "systems are the table's first proposed system and its baseline, or else its first two systems; of several "
        "runs, the first counts. N-grams are ranked by a system's share of the matches of both, (its own + 1) / (those "
        "of both + 2), as in compare-mt. Among so many, some differ by chance."
    ]
    of_sets = []
    for split, path in chapter.manifest.by_set("ngrams", chapter.name):
        on = chapter.on(split)
        if shown := [*tables(path, chapter, on)]:
            of_sets.append((on, shown))
    for place, (on, shown) in enumerate(of_sets):
        title = "N-grams that one system gets right more often" + (f": {on}" if place else "")
        yield Part(title, [] if place else text, tables=shown, folded=True)


def tables(path: Path, chapter: TableChapter, on: str) -> Iterator[Sheet]:
    """Yield the n-grams of the systems that a table is about, first those of what it proposes.

    Args:
        path: the TSV of `evaluation.ngrams`.
        chapter: of the table.
        on: the set, for people.
    """
    rows = read_table(path, [*COUNTS, "share"]).to_dict("records")
    pairs = chapter.chosen_pairs([(row["system"], row["other"]) for row in rows])
    for system, other in (both for pair in pairs[:1] for both in (pair, pair[::-1])):
        found = [row for row in rows if (row["system"], row["other"]) == (system, other)]
        if found:
            yield listed(
                f"N-grams that {chapter.called[system]} gets right more often than {chapter.called[other]} on {on}: "
                "matches of both, occurrences in the references, and the share by which they are ranked.",
                ["N-gram", chapter.called[system], chapter.called[other], "References", "Share"],
                [[row["ngram"], *(f"{row[column]:.0f}" for column in COUNTS), f"{row['share']:.3f}"] for row in found],
            )
