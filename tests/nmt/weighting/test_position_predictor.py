"""Predicted positions in half precision."""

import pytest
import torch

from tests.nmt.reference_network import build_batch, build_model, build_system

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("context", ["local", "flexible", "syntax", {"type": "syntax", "position": "interpolate"}])
def test_positions_stay_exact_where_products_are_in_half_precision(context: object) -> None:
    """bfloat16 has 8 bits: from position 64 on, it could not even tell a position from the one half-way to the next."""
    model = build_model(build_system({"contexts": [context]})).float().eval()
    batch = build_batch()
    with torch.no_grad():
        exact = model.compute_loss(batch)
        with torch.autocast("cpu", torch.bfloat16):
            memory = model.encode(batch)
            weighting = model.decoder.weightings[0]
            query = torch.randn(len(memory.mask), model.composition.model.hidden)
            scores = torch.randn(memory.mask.shape)
            weights, carried = weighting(scores, query, memory, weighting.build_initial_state(memory))
            rough = model.compute_loss(batch)
    assert all(part.dtype == torch.float32 for part in (weights, *carried))
    if hasattr(weighting, "position") and weighting.position is not None:
        with torch.autocast("cpu", torch.bfloat16):
            assert weighting.position(query, memory).dtype == torch.float32
    torch.testing.assert_close(rough, exact, rtol=0.05, atol=0.05)
