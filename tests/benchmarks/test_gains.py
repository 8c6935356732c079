"""What benchmarks.gains switches off exists."""

import pytest

from benchmarks.gains import OPTIMIZATIONS, Optimization


@pytest.mark.parametrize("optimization", OPTIMIZATIONS, ids=lambda optimization: optimization.description)
def test_optimizations_can_be_disabled(optimization: Optimization) -> None:
    with optimization.disable(), optimization.disable_on_both_sides():
        pass
