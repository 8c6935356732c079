"""Maps that are laid out for a search against those that are not."""

import pytest
import torch
from torch import nn

from pipeline_py.nmt.recurrence.linear import Linear, Weight, laid_out


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_products_stay_the_same(dtype: torch.dtype, bias: bool) -> None:
    torch.manual_seed(0)
    linear = Linear(5, 70, bias).to(dtype)
    values = torch.randn(9, 5).to(dtype)
    with torch.no_grad():
        expected = linear(values)
        with laid_out([nn.Sequential(linear)]):
            assert linear.layout is not None
            torch.testing.assert_close(linear(values), expected)
    assert linear.layout is None


def test_a_layout_does_not_outlive_a_failure() -> None:
    linear = Linear(2, 3)
    with pytest.raises(ZeroDivisionError), laid_out([linear]):
        assert linear.layout is not None and 1 / 0
    with torch.no_grad():
        linear.weight.fill_(2.0)
        torch.testing.assert_close(linear(torch.ones(1, 2)), 4 + linear.bias.unsqueeze(0))


@pytest.mark.parametrize("often", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_layout_multiplies(dtype: torch.dtype, often: bool) -> None:
    torch.manual_seed(0)
    matrix, values = torch.randn(6, 7).to(dtype), torch.randn(4, 6).to(dtype)
    torch.testing.assert_close(Weight(matrix, often)(values), values @ matrix)


def test_within_another_context_nothing_is_laid_out_again() -> None:
    linear = Linear(3, 4)
    with laid_out([linear]):
        layout = linear.layout
        with laid_out([nn.Sequential(linear)]):
            assert linear.layout is layout
        assert linear.layout is layout is not None
    assert linear.layout is None
