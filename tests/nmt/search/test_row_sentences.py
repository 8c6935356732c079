"""Tests of the assignment of rows to sentences."""

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.nmt.search.row_sentences import RowSentences


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40))
def test_padded_indices_and_spans(rows: list[int]) -> None:
    row_sentences = RowSentences.from_sentences(torch.tensor(rows), 7)
    assert row_sentences.max_rows == max(rows.count(sentence) for sentence in rows)
    assert row_sentences.padded_indices is not None
    expected = [sentence * row_sentences.max_rows + rows[:row].count(sentence) for row, sentence in enumerate(rows)]
    assert row_sentences.padded_indices.tolist() == expected
    assert row_sentences.sentence_indices.tolist() == rows
    assert row_sentences.row_spans is not None
    assert [sentence for span, sentence in row_sentences.row_spans for _ in rows[span]] == rows
    assert all(span[1] != next_span[1] for span, next_span in pairwise(row_sentences.row_spans))
