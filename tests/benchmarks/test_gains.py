"""Each optimization that benchmarks.gains compares can be switched off."""

import pytest

from benchmarks.gains import OPTIMIZATIONS, Optimization


@pytest.mark.parametrize("optimization", OPTIMIZATIONS, ids=lambda optimization: optimization.description)
def test_optimizations_can_be_disabled(optimization: Optimization) -> None:
    with optimization.disable(), optimization.disable_on_both_sides():
        pass
