"""Packed sentences and their syntax, opened and checked against each other."""

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from pipeline_py.input_error import InputError
from pipeline_py.kinds.kind import BinaryTrees, Distances, Positions, Table, kind_of
from pipeline_py.nmt.data.packed_trees import check_trees
from pipeline_py.ragged import Ragged
from pipeline_py.subword.vocabulary import EOS, Vocabulary


def open_sentences(path: Path, vocabulary_size: int) -> Ragged:
    """Open packed identifiers.

    Raises:
        InputError: where the file is not packed, a sentence does not end with EOS, or an identifier is too large.
    """
    rows = Ragged(path)
    for first, values, offsets in rows.blocks():
        ended = np.diff(offsets) > 0
        ended[ended] = values[offsets[1:][ended] - 1] == EOS
        if not ended.all():
            raise InputError(
                "the sentence has no end (identifier 0); pack the text again", path, first + int(ended.argmin()) + 1
            )
    check_identifiers(rows, vocabulary_size)
    return rows


def open_syntax(paths: Mapping[str, Path], source: Ragged, vocabularies: Mapping[str, int]) -> dict[str, Ragged]:
    """Open the syntax of sentences.

    Args:
        paths: kind → file; what its rows hold says the kind.
        source: the sentences.
        vocabularies: size of the vocabulary of each kind that has identifiers.

    Raises:
        InputError: where a file is not packed, does not fit the sentences, holds what is no tree, or an identifier or
            a head is too large.
    """
    syntax = {kind: Ragged(path) for kind, path in paths.items()}
    for kind, rows in syntax.items():
        check_aligned(rows, source)
        values = kind_of(kind).values
        if isinstance(values, BinaryTrees):
            check_trees(rows, source, forest=not values.rooted)
        else:
            _check_sizes(rows, source, kind, values)
        if isinstance(values, Distances):
            _check_diagonals(rows, source)
        if isinstance(values, Positions):
            _check_positions(rows, kind, values)
        if kind in vocabularies:
            check_identifiers(rows, vocabularies[kind])
    return syntax


def check_identifiers(rows: Ragged, vocabulary_size: int) -> None:
    """Raise `InputError` at the first identifier outside the vocabulary."""
    for first, values, offsets in rows.blocks():
        outside = (values < 0) | (values >= vocabulary_size)
        if outside.any():
            raise InputError(
                f"an identifier is outside the vocabulary of {vocabulary_size} tokens; "
                "pack the text with the vocabulary that the model has",
                rows.path,
                first + int(np.searchsorted(offsets, outside.argmax(), side="right")),
            )


def check_aligned(rows: Ragged, source: Ragged) -> None:
    """Raise `InputError` where two files differ in their number of sentences."""
    if len(rows) != len(source):
        raise InputError(
            f"the file has {len(rows)} sentences and {source.path} has {len(source)}; make both from the same text",
            rows.path,
        )


def check_kinds(files: Mapping[str, Path], kinds: Collection[str]) -> None:
    """Raise `InputError` unless there is a file for each kind of syntax that a system reads, and for no other."""
    if files.keys() != {*kinds}:
        raise InputError(
            f"the system reads {', '.join(kinds) or 'no syntax'}, but the syntax given is "
            f"{', '.join(files) or 'none'}; give one file for each kind that it reads"
        )


def count_identifiers(vocabularies: Mapping[str, Path]) -> dict[str, int]:
    """Count the identifiers of each kind of syntax.

    Args:
        vocabularies: the vocabulary file of each kind that has identifiers.

    Raises:
        InputError: a file is no vocabulary.
    """
    sizes = {}
    for kind, path in vocabularies.items():
        identifiers = kind_of(kind).identifiers
        assert identifiers is not None, f"{kind} has no identifiers"
        sizes[kind] = len(Vocabulary.load(path)) + identifiers.further
    return sizes


def _check_sizes(rows: Ragged, source: Ragged, kind: str, values: Table) -> None:
    positions = source.lengths.astype(np.int64)
    expected = positions * (values.columns or positions)
    wrong = np.flatnonzero(rows.lengths != expected)
    if len(wrong):
        first = int(wrong[0])
        raise InputError(
            f"the sentence has {rows.lengths[first]} values of {kind}, but {source.path} has {source.lengths[first]} "
            f"positions there, which need {expected[first]}; make both from the same pieces",
            rows.path,
            first + 1,
        )


def _check_diagonals(rows: Ragged, source: Ragged) -> None:
    for first, values, offsets in rows.blocks():
        sizes = source.lengths[first : first + len(offsets) - 1].astype(np.int64)
        ends = sizes.cumsum()
        # The place of each position within its own sentence, 0 … J − 1, for all sentences of the block.
        positions = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
        diagonal = values[np.repeat(offsets[:-1].astype(np.int64), sizes) + positions * np.repeat(sizes + 1, sizes)]
        if diagonal.any():
            sentence = first + int(np.searchsorted(ends, diagonal.argmax(), side="right"))
            raise InputError("a word's distance to itself is not 0; make the distances again", rows.path, sentence + 1)


def _check_positions(rows: Ragged, kind: str, allowed: Positions) -> None:
    for first, values, offsets in rows.blocks():
        sizes = np.diff(offsets)
        outside = (values < allowed.padding) | (values >= np.repeat(sizes // (allowed.columns or 1), sizes))
        if outside.any():
            sentence = first + int(np.searchsorted(offsets, outside.argmax(), side="right"))
            raise InputError(f"a position is outside its sentence; pack the {kind} again", rows.path, sentence)
