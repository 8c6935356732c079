"""Maps that are laid out for a search against those that are not."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from pipeline_py.nmt.fast.linear import Linear, PackedWeight, pack_weights


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_the_products_stay_the_same(dtype: torch.dtype, bias: bool) -> None:
    torch.manual_seed(0)
    linear = Linear(5, 70, bias).to(dtype)
    values = torch.randn(9, 5).to(dtype)
    with torch.no_grad():
        expected = linear(values)
        with pack_weights([nn.Sequential(linear)]):
            assert linear.packed_weight is not None
            torch.testing.assert_close(linear(values), expected)
    assert linear.packed_weight is None


def test_a_layout_does_not_outlive_a_failure() -> None:
    linear = Linear(2, 3)
    with pytest.raises(ZeroDivisionError), pack_weights([linear]):
        assert linear.packed_weight is not None and 1 / 0
    with torch.no_grad():
        linear.weight.fill_(2.0)
        torch.testing.assert_close(linear(torch.ones(1, 2)), 4 + linear.bias.unsqueeze(0))


@pytest.mark.parametrize("often", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_layout_multiplies(dtype: torch.dtype, often: bool) -> None:
    torch.manual_seed(0)
    matrix, values = torch.randn(6, 7).to(dtype), torch.randn(4, 6).to(dtype)
    torch.testing.assert_close(PackedWeight(matrix, often)(values), values @ matrix)


def test_within_another_context_nothing_is_laid_out_again() -> None:
    linear = Linear(3, 4)
    with pack_weights([linear]):
        layout = linear.packed_weight
        with pack_weights([nn.Sequential(linear)]):
            assert linear.packed_weight is layout
        assert linear.packed_weight is layout is not None
    assert linear.packed_weight is None


@pytest.mark.parametrize(("rows", "multiplied"), [(1, None), (2, 2), (32, 32), (33, 64), (64, 64), (65, 128)])
def test_a_search_multiplies_few_numbers_of_rows(rows: int, multiplied: int | None) -> None:
    """A single one without oneDNN."""
    row_counts: list[int] = []

    class Sizes(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            if function is torch.ops.mkldnn._linear_pointwise.default:
                row_counts.append(len(arguments[0]))
            return function(*arguments, **(options or {}))

    matrix, bias, values = torch.randn(8, 5), torch.randn(5), torch.randn(rows, 8)
    weight = PackedWeight(matrix, is_for_search=True)
    with Sizes():
        product = weight(values, bias)
    torch.testing.assert_close(product, values @ matrix + bias)
    assert row_counts == ([] if multiplied is None else [multiplied])
