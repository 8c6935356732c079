"""Levels of trees, and where a node stands among children."""

import torch

from pipeline_py.nmt.trees.levels import places, product_dtype, spans


def test_spans_lie_side_by_side() -> None:
    assert spans((3, 1, 2)) == [slice(0, 3), slice(3, 4), slice(4, 6)]
    assert spans(()) == []


def test_places_turn_a_list_round() -> None:
    assert places(torch.tensor([4, 0, 3]), 6).tolist() == [1, 3, 3, 2, 0, 3]
    assert places(torch.tensor([], dtype=torch.int64), 2).tolist() == [0, 0]


def test_products_are_made_in_half_precision_within_autocast_alone() -> None:
    values = torch.zeros(1)
    assert product_dtype(values) == torch.float32
    assert product_dtype(values.double()) == torch.float64
    with torch.autocast("cpu", torch.bfloat16):
        assert product_dtype(values) == torch.bfloat16
