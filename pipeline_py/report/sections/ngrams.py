"""N-grams that one of a table's two systems gets right more often than the other, a table in either direction."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import Sheet, build_sheet

PAGE_ORDER = 70
COUNT_COLUMNS = ("matches_system", "matches_other", "references")


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Those of each set, all of them folded."""
    text = [
        "Sequences of one to four words of the references that one system matches more often than the other. The "
        "systems are the table's first proposed system and its baseline, or else its first two systems; of several "
        "runs, the first counts. N-grams are ranked by a system's share of the matches of both, (its own + 1) / (those "
        "of both + 2), as in compare-mt. Among so many, some differ by chance."
    ]
    of_sets = []
    for split, path in chapter.manifest.iterate_set_files("ngrams", chapter.table_name):
        on = chapter.get_set_name(split)
        if shown := [*build_ngram_tables(path, chapter, on)]:
            of_sets.append((on, shown))
    for place, (on, shown) in enumerate(of_sets):
        title = "N-grams that one system gets right more often" + (f": {on}" if place else "")
        yield PageSection(title, [] if place else text, tables=shown, is_folded=True)


def build_ngram_tables(path: Path, chapter: TableChapter, set_name: str) -> Iterator[Sheet]:
    """Yield the n-grams of the systems that a table is about, first those of what it proposes.

    Args:
        path: the TSV of `evaluation.compare_ngrams`.
        chapter: of the table.
        set_name: the set, for people.
    """
    rows = read_tsv(path, [*COUNT_COLUMNS, "share"]).to_dict("records")
    pairs = chapter.select_pairs([(row["system"], row["other"]) for row in rows])
    for system, other in (both for pair in pairs[:1] for both in (pair, pair[::-1])):
        found = [row for row in rows if (row["system"], row["other"]) == (system, other)]
        if found:
            yield build_sheet(
                f"N-grams that {chapter.display_names[system]} gets right more often than {chapter.display_names[other]} on {set_name}: "
                "matches of both, occurrences in the references, and the share by which they are ranked.",
                ["N-gram", chapter.display_names[system], chapter.display_names[other], "References", "Share"],
                [
                    [row["ngram"], *(f"{row[column]:.0f}" for column in COUNT_COLUMNS), f"{row['share']:.3f}"]
                    for row in found
                ],
            )
