"""Measure the agreement of two parsers on the same text."""

from collections.abc import Iterable, Iterator, Mapping
from operator import eq
from pathlib import Path
from typing import TypeAlias

from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.parser_measures import MEASURE_COLUMNS, MeasureRow
from pipeline_py.syntax.trees.constituency import PhraseTree
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.tree_formats import TREE_FILE_FORMATS, TreeKind, pair_trees
from pipeline_py.syntax.trees.tree_shape import map_spans_to_labels

SplitTreeKind: TypeAlias = tuple[str, TreeKind]
"""A split and the kind of its trees."""

MeasureList: TypeAlias = list[tuple[str, str]]


def measure_agreement(
    *, first: dict[str, dict[TreeKind, Path]], second: dict[str, dict[TreeKind, Path]], output: Path
) -> None:
    """Compare the trees of two parsers sentence by sentence; their order does not matter, since neither is gold.

    The TSV has the columns `split`, `trees` (dependency, constituency), `measure` and `value`; all values except counts
    are in percent, or empty if there is nothing to compare. Only sentences that both parsers parsed are compared: no
    empty lines, and no failed parses of either.

    Dependency: UAS is the share of words with the same head in both trees; LAS, with the same head and label. Trees are
    identical if all heads are; labelled trees, if all labels are too.

    Constituency: a bracket is a span of more than one word, the whole sentence included. F1 is over all brackets of the
    text, without labels. Trees are identical if their brackets are; labelled trees, if the labels of brackets are too.
    Tags are not compared, and sentences of one word have identical trees.

    Args:
        first: Trees of one parser by split and kind: CoNLL-U (dependency) or binary trees from `binarize`
            (constituency).
        second: Trees of the other parser for the same texts.
        output: The measures as TSV.

    Raises:
        InputError: Two files have different sentences.
    """
    paths = [
        {(split, kind): path for split, kinds in files.items() for kind, path in kinds.items()}
        for files in (first, second)
    ]
    write_tsv(output, MEASURE_COLUMNS, _compute_agreement_rows(*paths))


def _compute_agreement_rows(
    first_paths: Mapping[SplitTreeKind, Path], second_paths: Mapping[SplitTreeKind, Path]
) -> Iterator[MeasureRow]:
    for (split, annotation), path in first_paths.items():
        compare = _measure_dependency_agreement if annotation is TreeKind.DEPENDENCY else _measure_phrase_agreement
        read, second_path = TREE_FILE_FORMATS[annotation].read_trees, second_paths[split, annotation]
        hint = "let both parsers parse the same text"
        pairs = pair_trees(read(path), read(second_path), path, second_path, hint)
        yield from ((split, annotation, *row) for row in compare(show_progress(pairs, f"agreement {path.name}")))


def _measure_dependency_agreement(tree_pairs: Iterable[tuple[DependencyTree, DependencyTree]]) -> MeasureList:
    sentences = empty = parsed = words = heads = labelled = same_heads = same_trees = 0
    for first, second in tree_pairs:
        sentences += 1
        empty += not first.words
        if not first.words or first.failure_reason is not None or second.failure_reason is not None:
            continue
        number = len(first.words)
        with_head = sum(map(eq, first.heads, second.heads))
        first_arcs, second_arcs = (zip(tree.heads, tree.labels, strict=True) for tree in (first, second))
        with_label = sum(map(eq, first_arcs, second_arcs))
        parsed += 1
        words += number
        heads += with_head
        labelled += with_label
        same_heads += with_head == number
        same_trees += with_label == number
    return [
        *_format_count_rows(sentences, empty, parsed),
        ("words", str(words)),
        ("UAS", _format_percent(heads, words)),
        ("LAS", _format_percent(labelled, words)),
        ("identical trees (%)", _format_percent(same_heads, parsed)),
        ("identical labelled trees (%)", _format_percent(same_trees, parsed)),
    ]


def _measure_phrase_agreement(tree_pairs: Iterable[tuple[PhraseTree, PhraseTree]]) -> MeasureList:
    sentences = empty = parsed = words = common = total = same_spans = same_trees = 0
    for first, second in tree_pairs:
        sentences += 1
        empty += first.root is None
        if first.root is None or first.is_failed or second.is_failed:
            continue
        first_labels, second_labels = map_spans_to_labels(first), map_spans_to_labels(second)
        parsed += 1
        words += len(first.words)
        common += len(first_labels.keys() & second_labels.keys())
        total += len(first_labels) + len(second_labels)
        same_spans += first_labels.keys() == second_labels.keys()
        same_trees += first_labels == second_labels
    return [
        *_format_count_rows(sentences, empty, parsed),
        ("words", str(words)),
        ("unlabelled bracket F1", _format_percent(2 * common, total)),
        ("identical trees (%)", _format_percent(same_spans, parsed)),
        ("identical labelled trees (%)", _format_percent(same_trees, parsed)),
    ]


def _format_count_rows(sentence_count: int, empty_line_count: int, parsed_count: int) -> MeasureList:
    return [
        ("sentences", str(sentence_count)),
        ("empty lines", str(empty_line_count)),
        ("both parsed", str(parsed_count)),
    ]


def _format_percent(part: int, total: int) -> str:
    return f"{100 * part / total:.2f}" if total else ""
