"""Measure the agreement of two parsers on the same text."""

from collections.abc import Iterable, Iterator, Mapping
from operator import eq
from pathlib import Path
from typing import TypeAlias

from pipeline_py.run.progress import progress
from pipeline_py.syntax.measures import Row, write_measures
from pipeline_py.syntax.trees.constituency import PhraseTree
from pipeline_py.syntax.trees.dependency import DependencyTree
from pipeline_py.syntax.trees.formats import FORMATS, Annotation, in_pairs
from pipeline_py.syntax.trees.shape import phrase_spans

Trees: TypeAlias = tuple[str, Annotation]
"""A split and the kind of its trees."""

Measures: TypeAlias = list[tuple[str, str]]


def agreement(
    *, first: dict[str, dict[Annotation, Path]], second: dict[str, dict[Annotation, Path]], output: Path
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
    write_measures(output, _rows(*flat))


def _rows(of_first: Mapping[Trees, Path], of_second: Mapping[Trees, Path]) -> Iterator[Row]:
    for (split, annotation), path in of_first.items():
        compare = _dependency if annotation is Annotation.DEPENDENCY else _constituency
        read, other = FORMATS[annotation].read, of_second[split, annotation]
        pairs = in_pairs(read(path), read(other), path, other, "let both parsers parse the same text")
        yield from ((split, annotation, *row) for row in compare(progress(pairs, f"agreement {path.name}")))


def _dependency(pairs: Iterable[tuple[DependencyTree, DependencyTree]]) -> Measures:
    sentences = empty = parsed = words = heads = labelled = same_heads = same_trees = 0
    for one, other in pairs:
        sentences += 1
        empty += not one.words
        if not one.words or one.failed is not None or other.failed is not None:
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
        *_counts(sentences, empty, parsed),
        ("words", str(words)),
        ("UAS", _percent(heads, words)),
        ("LAS", _percent(labelled, words)),
        ("identical trees (%)", _percent(same_heads, parsed)),
        ("identical labelled trees (%)", _percent(same_trees, parsed)),
    ]


def _constituency(pairs: Iterable[tuple[PhraseTree, PhraseTree]]) -> Measures:
    sentences = empty = parsed = words = common = total = same_spans = same_trees = 0
    for one, other in pairs:
        sentences += 1
        empty += one.root is None
        if one.root is None or one.failed or other.failed:
            continue
        spans, others = phrase_spans(one), phrase_spans(other)
        parsed += 1
        words += len(one.words)
        common += len(spans.keys() & others.keys())
        total += len(spans) + len(others)
        same_spans += spans.keys() == others.keys()
        same_trees += spans == others
    return [
        *_counts(sentences, empty, parsed),
        ("words", str(words)),
        ("unlabelled bracket F1", _percent(2 * common, total)),
        ("identical trees (%)", _percent(same_spans, parsed)),
        ("identical labelled trees (%)", _percent(same_trees, parsed)),
    ]


def _counts(sentences: int, empty: int, parsed: int) -> Measures:
    return [("sentences", str(sentences)), ("empty lines", str(empty)), ("both parsed", str(parsed))]


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f}" if whole else ""
