"""Maps that are laid out for a search against those that are not."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from pipeline_py.nmt.fast.linear import Linear, Weight, laid_out


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


@pytest.mark.parametrize(("rows", "multiplied"), [(1, None), (2, 2), (32, 32), (33, 64), (64, 64), (65, 128)])
def test_a_search_multiplies_few_numbers_of_rows(rows: int, multiplied: int | None) -> None:
    """A single one without oneDNN."""
    seen: list[int] = []

    class Sizes(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            if function is torch.ops.mkldnn._linear_pointwise.default:
                seen.append(len(arguments[0]))
            return function(*arguments, **(options or {}))

    matrix, bias, values = torch.randn(8, 5), torch.randn(5), torch.randn(rows, 8)
    weight = Weight(matrix, often=True)
    with Sizes():
        made = weight(values, bias)
    torch.testing.assert_close(made, values @ matrix + bias)
    assert seen == ([] if multiplied is None else [multiplied])
