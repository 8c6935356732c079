"""Section on n-grams that one of two systems gets right more often than the other."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tables.sheet import Sheet, build_sheet

PAGE_ORDER = 70
COUNT_COLUMNS = ("matches_system", "matches_other", "references")


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Yield a folded section for each set."""
    explanation = [
        "Sequences of one to four words of the references that one system matches more often than the other. The "
        "systems are the table's first proposed system and its baseline, or else its first two systems; with several "
        "runs, only the first run counts. N-grams are ranked by a system's smoothed share of the matches, (its matches "
        "+ 1) / (matches of both + 2), as in compare-mt. Among so many n-grams, some differ by chance."
    ]
    tables_by_set = []
    for split, path in chapter.manifest.iterate_set_files("ngrams", chapter.table_name):
        set_name = chapter.get_set_name(split)
        if tables := [*build_ngram_tables(path, chapter, set_name)]:
            tables_by_set.append((set_name, tables))
    for index, (set_name, tables) in enumerate(tables_by_set):
        title = "N-grams that one system gets right more often" + (f": {set_name}" if index else "")
        yield PageSection(title, [] if index else explanation, tables=tables, is_folded=True)


def build_ngram_tables(path: Path, chapter: TableChapter, set_name: str) -> Iterator[Sheet]:
    """Yield the n-grams of the table's main pair of systems, first those of the proposed system.

    Args:
        path: the TSV of `evaluation.compare_ngrams`.
        chapter: chapter of the table.
        set_name: display name of the set.
    """
    rows = read_tsv(path, [*COUNT_COLUMNS, "share"]).to_dict("records")
    pairs = chapter.select_pairs([(row["system"], row["other"]) for row in rows])
    for system, other_system in (ordered_pair for pair in pairs[:1] for ordered_pair in (pair, pair[::-1])):
        names = [chapter.display_names[name] for name in (system, other_system)]
        pair_rows = [row for row in rows if (row["system"], row["other"]) == (system, other_system)]
        if pair_rows:
            yield build_sheet(
                f"N-grams that {names[0]} gets right more often than {names[1]} on {set_name}: matches of both, "
                "occurrences in the references, and the share by which they are ranked.",
                ["N-gram", *names, "References", "Share"],
                [
                    [row["ngram"], *(f"{row[column]:.0f}" for column in COUNT_COLUMNS), f"{row['share']:.3f}"]
                    for row in pair_rows
                ],
            )
