"""Every row has a place of its own among those of its sentence."""

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.nmt.search.row_sentences import RowSentences


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40))
def test_places(rows: list[int]) -> None:
    owners = RowSentences.from_sentences(torch.tensor(rows), 7)
    assert owners.max_rows == max(rows.count(sentence) for sentence in rows)
    assert owners.padded_indices is not None
    expected = [sentence * owners.max_rows + rows[:row].count(sentence) for row, sentence in enumerate(rows)]
    assert owners.padded_indices.tolist() == expected
    assert owners.sentence_indices.tolist() == rows
    assert owners.row_spans is not None
    assert [owner for run, owner in owners.row_spans for _ in rows[run]] == rows
    assert all(one[1] != other[1] for one, other in pairwise(owners.row_spans))
