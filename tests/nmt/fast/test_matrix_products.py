"""Products against torch's own, with gradients."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from pipeline_py.nmt.fast import matrix_products
from pipeline_py.nmt.fast.matrix_products import apply_linear, compute_weight_gradient, multiply_matrices

pytestmark = pytest.mark.skipif(not torch.backends.mkldnn.is_available(), reason="this torch has no oneDNN")


@pytest.fixture
def onednn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let oneDNN multiply whatever the processor and the sizes; count its products."""
    calls: list[int] = []
    multiply: Callable[..., Tensor] = torch.ops.mkldnn._linear_pointwise

    def counted(*arguments: object) -> Tensor:
        calls.append(1)
        return multiply(*arguments)

    monkeypatch.setattr(matrix_products, "_is_onednn_faster", lambda: True)
    monkeypatch.setattr(matrix_products, "MIN_ONEDNN_MULTIPLY_ADDS", 1)
    monkeypatch.setattr(matrix_products, "MIN_ONEDNN_NEW_MULTIPLY_ADDS", 1)
    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", counted)
    return calls


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(1)


def build_tensors(shape: tuple[int, ...], biased: bool) -> list[Tensor]:
    """Draw what a map reads, its weight and, if it has one, its bias."""
    torch.manual_seed(2)
    tensors = [torch.randn(*shape, 4), torch.randn(5, 4), *([torch.randn(5)] if biased else [])]
    return [tensor.requires_grad_() for tensor in tensors]


def test_columns_of_a_wider_matrix_are_not_multiplied_by_reference_code(
    onednn: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    left, wide = torch.randn(300, 40), torch.randn(300, 60)
    gradient, weight = wide[:, 20:], torch.randn(40, 60)[:, :40]
    with torch.backends.mkldnn.verbose(torch.backends.mkldnn.VERBOSE_ON):
        products = [multiply_matrices(left, weight), multiply_matrices(left, weight.T)]
        products.append(compute_weight_gradient(gradient, left))
    expected = [left @ weight, left @ weight.T, gradient.T @ left]
    torch.testing.assert_close(products, expected, rtol=1e-5, atol=1e-4)
    kernels = [line for line in capfd.readouterr().out.splitlines() if ",exec," in line]
    assert len(onednn) == 3 and len(kernels) >= 3
    assert [line for line in kernels if ",ref:" in line] == []


@pytest.mark.parametrize(("rows", "size", "columns"), [(1, 1, 1), (7, 5, 3), (64, 33, 130), (301, 128, 77)])
def test_products_are_those_in_double_precision(onednn: list[int], rows: int, size: int, columns: int) -> None:
    left, right, bias = torch.randn(rows, size), torch.randn(size, columns), torch.randn(columns)
    exact = left.double() @ right.double()
    torch.testing.assert_close(multiply_matrices(left, right).double(), exact, rtol=1e-5, atol=1e-4)
    torch.testing.assert_close(
        multiply_matrices(left, right, bias).double(), exact + bias.double(), rtol=1e-5, atol=1e-4
    )
    transposed = right.T.contiguous().T
    torch.testing.assert_close(multiply_matrices(left, transposed).double(), exact, rtol=1e-5, atol=1e-4)
    gradient = torch.randn(rows, columns)
    of_weight = compute_weight_gradient(gradient, left)
    assert of_weight.is_contiguous(), "as a parameter is"
    torch.testing.assert_close(of_weight.double(), gradient.double().T @ left.double(), rtol=1e-5, atol=1e-4)
    assert len(onednn) == 4


@pytest.mark.parametrize("shape", [(6,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("biased", [True, False])
def test_maps_and_their_gradients_are_those_of_torch(onednn: list[int], shape: tuple[int, ...], biased: bool) -> None:
    ours, theirs = build_tensors(shape, biased), build_tensors(shape, biased)
    weights = torch.randn(*shape, 5)
    mapped, expected = apply_linear(*ours), functional.linear(*theirs)
    torch.testing.assert_close(mapped, expected, rtol=1e-5, atol=1e-6)
    (mapped * weights).sum().backward()
    (expected * weights).sum().backward()
    for actual, expected_value in zip(ours, theirs, strict=True):
        torch.testing.assert_close(actual.grad, expected_value.grad, rtol=1e-5, atol=1e-6)
    assert len(onednn) == 3


@pytest.mark.parametrize("shape", [(301,), (3, 67)])
@pytest.mark.parametrize("biased", [True, False])
def test_words_of_a_batch_are_filled_up_in_half_precision(shape: tuple[int, ...], biased: bool) -> None:
    sizes: list[int] = []

    class Sizes(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), options=None):
            if function in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default):
                sizes.extend(max(factor.shape) for factor in arguments[-2:])
            return function(*arguments, **(options or {}))

    ours, theirs = build_tensors(shape, biased), build_tensors(shape, biased)
    weights = torch.randn(*shape, 5)
    with torch.autocast("cpu", torch.bfloat16):
        expected = functional.linear(*theirs)
    with Sizes():
        with torch.autocast("cpu", torch.bfloat16):
            mapped = apply_linear(*ours)
        (mapped * weights).sum().backward()
    (expected * weights).sum().backward()
    assert mapped.dtype == torch.bfloat16 and mapped.shape == expected.shape
    torch.testing.assert_close(mapped, expected)
    for actual, expected_value in zip(ours, theirs, strict=True):
        assert actual.grad.dtype == torch.float32
        torch.testing.assert_close(
            actual.grad, expected_value.grad, rtol=1e-2, atol=1e-2 * expected_value.grad.abs().max().item()
        )
    filled = -(-math.prod(shape) // matrix_products.ROW_BLOCK_SIZE) * matrix_products.ROW_BLOCK_SIZE
    assert set(sizes) == {5, filled}, "those of the weight, and few others however many words there are"


@pytest.mark.parametrize("rows", [1, matrix_products.MAX_STEP_ROWS, 4 * matrix_products.ROW_BLOCK_SIZE])
def test_steps_and_whole_blocks_are_not_filled_up(rows: int) -> None:
    values = torch.randn(rows, 3, dtype=torch.bfloat16)
    assert matrix_products.pad_to_block(values) is values


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_other_precisions_are_not_filled_up(dtype: torch.dtype) -> None:
    values = torch.ones(201, 3, dtype=dtype)
    assert matrix_products.pad_to_block(values) is values


def test_a_frozen_weight_gets_no_gradient(onednn: list[int]) -> None:
    values, weight = torch.randn(3, 4, requires_grad=True), torch.randn(5, 4)
    apply_linear(values, weight).sum().backward()
    torch.testing.assert_close(values.grad, weight.sum(dim=0).expand(3, 4))
    assert weight.grad is None and len(onednn) == 2


def test_other_precisions_small_products_and_other_processors_are_left_to_torch(
    onednn: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    left, right = torch.randn(3, 4), torch.randn(4, 5)
    assert torch.equal(multiply_matrices(left.double(), right.double()), left.double() @ right.double())
    assert multiply_matrices(left.bfloat16(), right.bfloat16()).dtype == torch.bfloat16
    with torch.autocast("cpu", torch.bfloat16):
        assert apply_linear(left, right.T).dtype == torch.bfloat16
    monkeypatch.setattr(matrix_products, "MIN_ONEDNN_MULTIPLY_ADDS", 61)
    assert torch.equal(multiply_matrices(left, right), left @ right), "60 multiply-adds"
    monkeypatch.setattr(matrix_products, "MAX_STEP_ROWS", 2)
    monkeypatch.setattr(matrix_products, "MIN_ONEDNN_NEW_MULTIPLY_ADDS", 61)
    assert torch.equal(apply_linear(left, right.T), left @ right), "which may pay for sizes that come again"
    monkeypatch.setattr(matrix_products, "MIN_ONEDNN_MULTIPLY_ADDS", 1)
    monkeypatch.setattr(matrix_products, "_is_onednn_faster", lambda: False)
    assert torch.equal(apply_linear(left, right.T), left @ right)
    assert onednn == []


@pytest.mark.parametrize(
    ("name", "instructions", "faster"),
    [
        ("AMD EPYC", "AVX512", True),
        ("AMD EPYC 7742 64-Core Processor", "AVX2", False),
        ("Intel(R) Xeon(R) Platinum 8488C", "AVX512", False),
        (None, "DEFAULT", False),
    ],
)
def test_it_is_faster_where_mkl_leaves_avx512_alone(
    monkeypatch: pytest.MonkeyPatch, name: str | None, instructions: str, faster: bool
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {} if name is None else {"cpu_name": name})
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: instructions)
    assert matrix_products._is_onednn_faster.__wrapped__() == faster
