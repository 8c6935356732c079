"""Every row has a place of its own among those of its sentence."""

from itertools import pairwise

import torch
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.nmt.search.owners import Owners


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40))
def test_places(rows: list[int]) -> None:
    owners = Owners.of(torch.tensor(rows), 7)
    assert owners.width == max(rows.count(sentence) for sentence in rows)
    assert owners.place is not None
    expected = [sentence * owners.width + rows[:row].count(sentence) for row, sentence in enumerate(rows)]
    assert owners.place.tolist() == expected
    assert owners.sentence.tolist() == rows
    assert owners.runs is not None
    assert [owner for run, owner in owners.runs for _ in rows[run]] == rows
    assert all(one[1] != other[1] for one, other in pairwise(owners.runs))
