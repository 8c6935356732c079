"""Counts of the trees of a text by the parser that made them, and of the failures of each parser.

The counts of a text whose parser has a fallback have the notes `trees of PARSER` and `failed in PARSER: REASON` for
both parsers. Every sentence counts once among the trees, unless all parsers failed; empty lines count as trees of the
first parser. A sentence counts as failed in each parser that failed.
"""

from collections.abc import Mapping

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, SyntaxTree, TreeKind, select_fallback_counts

_TREES_NOTE_PREFIX = "trees of "
_FAILURE_NOTE_PREFIX = "failed in "


def find_failure_reason(annotation: TreeKind, tree: SyntaxTree) -> str | None:
    """Return the reason why a sentence with words has no parse; None for other sentences."""
    reason: str | None = TREE_FILE_FORMATS[annotation].get_failure_reason(tree)
    return reason if tree.words else None


def count_trees(counts: SentenceCounts, parser: str, tree_count: int) -> None:
    """Count trees that a parser made."""
    counts.add_noted(f"{_TREES_NOTE_PREFIX}{parser}", tree_count)


def count_failures(counts: SentenceCounts, parser: str, failure_counts: Mapping[str, int]) -> None:
    """Count sentences on which a parser failed, by reason."""
    for reason, sentence_count in failure_counts.items():
        counts.add_noted(f"{_FAILURE_NOTE_PREFIX}{parser}: {reason}", sentence_count)


def attribute_failures(counts: SentenceCounts, parser: str) -> None:
    """Replace the notes of the failed parses of a text by notes that name its parser."""
    for note, sentence_count in [*counts.noted_by_reason.items()]:
        if failure_counts := select_fallback_counts({note: sentence_count}):
            del counts.noted_by_reason[note]
            count_failures(counts, parser, failure_counts)


def select_tree_counts(note_counts: Mapping[str, int]) -> dict[str, int]:
    """Select the numbers of trees by parser; empty for a text whose parser has no fallback."""
    return {
        note.removeprefix(_TREES_NOTE_PREFIX): count
        for note, count in note_counts.items()
        if note.startswith(_TREES_NOTE_PREFIX)
    }


def select_origin_notes(note_counts: Mapping[str, int]) -> dict[str, int]:
    """Select the notes about the trees and failures of each parser."""
    prefixes = _TREES_NOTE_PREFIX, _FAILURE_NOTE_PREFIX
    return {note: count for note, count in note_counts.items() if note.startswith(prefixes)}
