"""Masks of every number for itself."""

import pytest
import torch

from pipeline_py.nmt.dropout import Dropout

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_a_share_is_dropped_and_the_rest_makes_up_for_it(rate: float, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    values = torch.ones(300, 333, dtype=dtype, requires_grad=True)
    dropped = Dropout(rate).train()(values)
    kept = dropped != 0
    # Five standard deviations of a share of so many numbers.
    assert kept.double().mean().item() == pytest.approx(1 - rate, abs=5 * (rate * (1 - rate) / values.numel()) ** 0.5)
    torch.testing.assert_close(
        dropped[kept].double(), torch.full_like(dropped[kept], 1 / (1 - rate)).double(), rtol=0.01, atol=0
    )
    (gradient,) = torch.autograd.grad(dropped.sum(), values)
    assert torch.equal(gradient, dropped)


def test_neighbours_are_dropped_independently() -> None:
    torch.manual_seed(0)
    kept = (Dropout(0.5).train()(torch.ones(400, 401)) != 0).double()
    correlations = [
        torch.corrcoef(torch.stack([kept[:, :-far].flatten(), kept[:, far:].flatten()]))[0, 1] for far in (1, 2, 3, 4)
    ]
    assert max(abs(each) for each in correlations) < 5 / kept.numel() ** 0.5


def test_masks_follow_the_seed_and_differ_from_call_to_call() -> None:
    values, dropout = torch.ones(7, 9), Dropout(0.5).train()
    torch.manual_seed(1)
    first, second = dropout(values), dropout(values)
    torch.manual_seed(1)
    assert torch.equal(dropout(values), first) and not torch.equal(first, second)


def test_nothing_is_dropped_outside_of_training_or_at_rate_zero() -> None:
    values = torch.randn(3, 5)
    assert Dropout(0.5).eval()(values) is values and Dropout(0.0).train()(values) is values
