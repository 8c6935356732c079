"""Measure the agreement of two parsers on the same text."""

from collections.abc import Iterable, Iterator, Mapping
from operator import eq
from pathlib import Path
from typing import TypeAlias

from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.parser_measures import MeasureRow, write_measures
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
        InputError: if two files are not of the same sentences.
    """
    flat = [
        {(split, kind): path for split, kinds in files.items() for kind, path in kinds.items()}
        for files in (first, second)
    ]
    write_measures(output, _compute_agreement_rows(*flat))


def _compute_agreement_rows(
    first_paths: Mapping[SplitTreeKind, Path], second_paths: Mapping[SplitTreeKind, Path]
) -> Iterator[MeasureRow]:
    for (split, annotation), path in first_paths.items():
        compare = _measure_dependency_agreement if annotation is TreeKind.DEPENDENCY else _measure_phrase_agreement
        read, other = TREE_FILE_FORMATS[annotation].read_trees, second_paths[split, annotation]
        pairs = pair_trees(read(path), read(other), path, other, "let both parsers parse the same text")
        yield from ((split, annotation, *row) for row in compare(show_progress(pairs, f"agreement {path.name}")))


def _measure_dependency_agreement(tree_pairs: Iterable[tuple[DependencyTree, DependencyTree]]) -> MeasureList:
    sentences = empty = parsed = words = heads = labelled = same_heads = same_trees = 0
    for one, other in tree_pairs:
        sentences += 1
        empty += not one.words
        if not one.words or one.failure_reason is not None or other.failure_reason is not None:
            continue
        number = len(one.words)
        with_head = sum(map(eq, one.heads, other.heads))
        with_label = sum(map(eq, zip(one.heads, one.labels, strict=True), zip(other.heads, other.labels, strict=True)))
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
    for one, other in tree_pairs:
        sentences += 1
        empty += one.root is None
        if one.root is None or one.is_failed or other.is_failed:
            continue
        spans, others = map_spans_to_labels(one), map_spans_to_labels(other)
        parsed += 1
        words += len(one.words)
        common += len(spans.keys() & others.keys())
        total += len(spans) + len(others)
        same_spans += spans.keys() == others.keys()
        same_trees += spans == others
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
