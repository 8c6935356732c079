"""Open files of packed sentences and their syntax, and check them against each other."""

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.kinds.syntax_kind import BinaryTreeLayout, PositionTable, load_syntax_kind
from pipeline_py.kinds.trees import NO_ROOT, VALUES_PER_NODE
from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import Vocabulary


def check_trees(rows: RaggedArrayFile, source: RaggedArrayFile, is_forest: bool) -> None:
    """Check that every row has the size of trees over the pieces of its sentence (layout: `kinds.trees`).

    Args:
        rows: the trees.
        source: the sentences, EOS included.
        is_forest: whether the trees are over parts of the sentence, without a root.

    Raises:
        InputError: a row has another size or the other kind of trees; reports the first such sentence.
    """
    _check_tree_sizes(rows, source, is_forest)
    _check_roots(rows, is_forest)


def _check_tree_sizes(rows: RaggedArrayFile, source: RaggedArrayFile, is_forest: bool) -> None:
    counts, odd = np.divmod(rows.row_lengths.astype(np.int64) - 1, VALUES_PER_NODE)
    most = np.maximum(source.row_lengths.astype(np.int64) - 2, 0)
    fits = (odd == 0) & ((counts <= most) if is_forest else (counts == 0) | (counts == most))
    if not fits.all():
        wrong = int(fits.argmin())
        raise InputError(
            f"the sentence has {rows.row_lengths[wrong]} values of trees, which do not fit its "
            f"{source.row_lengths[wrong] - 1} pieces in {source.path}; make both from the same pieces",
            rows.path,
            wrong + 1,
        )


def _check_roots(rows: RaggedArrayFile, is_forest: bool) -> None:
    """Check that rows hold trees of the right kind, because both kinds may have the same size."""
    for first, values, offsets in rows.iterate_blocks():
        is_absent = values[offsets[:-1]] == NO_ROOT
        wrong = ~is_absent if is_forest else is_absent & (np.diff(offsets) > 1)
        if wrong.any():
            raise InputError(
                "trees of words and of sentences are mixed up; give the trees that the system reads",
                rows.path,
                first + int(wrong.argmax()) + 1,
            )


def open_sentences(path: Path, vocabulary_size: int) -> RaggedArrayFile:
    """Open packed identifiers.

    Raises:
        InputError: the file is not packed, or an identifier is outside the vocabulary.
    """
    rows = RaggedArrayFile(path)
    check_identifiers(rows, vocabulary_size)
    return rows


def open_syntax(
    paths: Mapping[str, Path], source: RaggedArrayFile, vocabulary_sizes: Mapping[str, int]
) -> dict[str, RaggedArrayFile]:
    """Open the syntax of sentences.

    Args:
        paths: kind → file.
        source: the sentences.
        vocabulary_sizes: vocabulary size of each kind with identifiers.

    Raises:
        InputError: a file is not packed or does not fit the sentences, or an identifier is outside the vocabulary.
    """
    syntax = {kind: RaggedArrayFile(path) for kind, path in paths.items()}
    for kind, rows in syntax.items():
        check_aligned(rows, source)
        values = load_syntax_kind(kind).row_layout
        if isinstance(values, BinaryTreeLayout):
            check_trees(rows, source, is_forest=not values.has_root)
        else:
            _check_table_sizes(rows, source, kind, values)
        if kind in vocabulary_sizes:
            check_identifiers(rows, vocabulary_sizes[kind])
    return syntax


def check_identifiers(rows: RaggedArrayFile, vocabulary_size: int) -> None:
    """Raise `InputError` at the first identifier outside the vocabulary."""
    for first, values, offsets in rows.iterate_blocks():
        outside = (values < 0) | (values >= vocabulary_size)
        if outside.any():
            raise InputError(
                f"an identifier is outside the vocabulary of {vocabulary_size} tokens; "
                "pack the text with the vocabulary that the model has",
                rows.path,
                first + int(np.searchsorted(offsets, outside.argmax(), side="right")),
            )


def check_aligned(rows: RaggedArrayFile, source: RaggedArrayFile) -> None:
    """Raise `InputError` if two files differ in their number of sentences."""
    if len(rows) != len(source):
        raise InputError(
            f"the file has {len(rows)} sentences and {source.path} has {len(source)}; make both from the same text",
            rows.path,
        )


def check_syntax_kinds(files: Mapping[str, Path], kinds: Collection[str]) -> None:
    """Raise `InputError` unless the files have exactly the kinds of syntax that a system reads."""
    if files.keys() != {*kinds}:
        raise InputError(
            f"the system reads {', '.join(kinds) or 'no syntax'}, but the syntax given is "
            f"{', '.join(files) or 'none'}; give one file for each kind that it reads"
        )


def count_syntax_identifiers(vocabularies: Mapping[str, Path]) -> dict[str, int]:
    """Count the identifiers of each kind of syntax.

    Args:
        vocabularies: vocabulary file of each kind with identifiers.

    Raises:
        InputError: a file is not a vocabulary.
    """
    sizes = {}
    for kind, path in vocabularies.items():
        identifiers = load_syntax_kind(kind).vocabulary_ids
        assert identifiers is not None, f"{kind} has no identifiers"
        sizes[kind] = len(Vocabulary.load(path)) + identifiers.extra_id_count
    return sizes


def _check_table_sizes(rows: RaggedArrayFile, source: RaggedArrayFile, kind: str, layout: PositionTable) -> None:
    positions = source.row_lengths.astype(np.int64)
    expected = positions * (layout.column_count or positions)
    wrong = np.flatnonzero(rows.row_lengths != expected)
    if len(wrong):
        first = int(wrong[0])
        raise InputError(
            f"the sentence has {rows.row_lengths[first]} values of {kind}, but {source.path} has "
            f"{source.row_lengths[first]} positions there, which need {expected[first]}; "
            "make both from the same pieces",
            rows.path,
            first + 1,
        )
