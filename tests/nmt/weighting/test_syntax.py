"""Positions between and behind the rows of a tree's distances."""

import math

import pytest
import torch

from pipeline_py.nmt.data.batch import collate_batch
from tests.nmt.reference_network import (
    MODEL_OPTIONS,
    build_batch,
    build_model,
    build_pairs,
    build_system,
)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("gaussian", ["log", "score", "weight"])
def test_positions_behind_the_last_word_have_a_gradient_and_are_counted(gaussian: str) -> None:
    model = build_model(
        build_system({"contexts": [{"type": "syntax", "position": "interpolate", "gaussian": gaussian}]})
    )
    weighting, vector = model.decoder.weightings[0], model.decoder.weightings[0].position.vector
    with torch.no_grad():
        weighting.position.query.weight.fill_(1.0)
        vector.fill_(0.8)
    batch = collate_batch(*build_pairs(pair_lengths=((4, 5), (7, 2), (2, 4))))
    memory = model.encode(batch)
    query = torch.ones(3, MODEL_OPTIONS["hidden"], dtype=torch.float64)
    assert (weighting.position(query, memory) > memory.lengths - 1).all()
    weights, _ = weighting(torch.randn(memory.mask.shape, dtype=torch.float64), query, memory, ())
    (weights * torch.arange(weights.shape[1])).sum().backward()
    assert vector.grad is not None and vector.grad.abs().min() > 1e-6
    positions_behind, steps = weighting.collect_statistics(torch.zeros_like(weights), query, memory, ())[
        "positions_behind_the_last_word"
    ]
    assert positions_behind.tolist() == steps.tolist() == [1, 1, 1]


@pytest.mark.parametrize("position", ["interpolate", "round", "attention"])
def test_a_position_that_is_no_number_looks_at_no_row_outside(position: str) -> None:
    model = build_model(build_system({"contexts": [{"type": "syntax", "position": position}]}))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "decoder.first" in name:
                parameter.fill_(math.nan)
    assert model.compute_loss(build_batch()).isnan().all()
