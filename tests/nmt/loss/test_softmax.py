"""The loss of the full softmax against torch's own, whose derivative is autograd's."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.systems.decoders import SoftmaxLossConfig
from pipeline_py.nmt.data.batch import PackedWords
from pipeline_py.nmt.fast import matrix_products
from pipeline_py.nmt.loss import softmax

WORDS, SIZE, VOCABULARY = 7, 5, 11


def build(dtype: torch.dtype) -> tuple[nn.Linear, Tensor, Tensor, Tensor]:
    torch.manual_seed(0)
    linear = nn.Linear(SIZE, VOCABULARY, dtype=dtype)
    readout = (3 * torch.randn(WORDS, SIZE, dtype=dtype)).requires_grad_()
    return linear, readout, torch.randint(VOCABULARY, (WORDS,)), torch.rand(WORDS, dtype=dtype)


def losses_of(linear: nn.Linear, readout: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    part = softmax.SoftmaxLoss(SoftmaxLossConfig(label_smoothing=smoothing), VOCABULARY)
    losses: Tensor = part(linear, readout, targets, PackedWords.from_lengths([len(targets)]))
    return losses


@pytest.mark.parametrize("at_once", [1, 3 * VOCABULARY, 2**20], ids=["one", "three", "all"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_losses_and_gradients_are_those_of_torch(
    at_once: int, smoothing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_products, "MAX_CACHED_NUMBERS", at_once)
    linear, readout, targets, direction = build(torch.float64)
    expected = functional.cross_entropy(linear(readout), targets, reduction="none", label_smoothing=smoothing)
    losses = losses_of(linear, readout, targets, smoothing)
    torch.testing.assert_close(losses, expected)
    wanted = [readout, linear.weight, linear.bias]
    result = torch.autograd.grad(losses, wanted, direction, retain_graph=True)
    for actual, expected_value in zip(result, torch.autograd.grad(expected, wanted, direction), strict=True):
        torch.testing.assert_close(actual, expected_value)
    for actual, expected_value in zip(torch.autograd.grad(losses, wanted, direction), result, strict=True):
        torch.testing.assert_close(actual, expected_value, rtol=0, atol=0)


def test_labels_are_smoothed_in_training_alone() -> None:
    linear, readout, targets, _ = build(torch.float64)
    part = softmax.SoftmaxLoss(SoftmaxLossConfig(label_smoothing=0.1), VOCABULARY).eval()
    losses = part(linear, readout, targets, PackedWords.from_lengths([len(targets)]))
    torch.testing.assert_close(losses, losses_of(linear, readout, targets))


def test_large_logits_overflow_nothing() -> None:
    linear, readout, targets, direction = build(torch.float32)
    losses = losses_of(linear, 1e4 * readout, targets)
    assert losses.isfinite().all()
    (gradient,) = torch.autograd.grad(losses, readout, direction)
    assert gradient.isfinite().all()


@pytest.mark.parametrize("block", [1, 4])
def test_half_precision_is_that_of_the_products_alone(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix_products, "MAX_STEP_ROWS", 0)
    monkeypatch.setattr(matrix_products, "ROW_BLOCK_SIZE", block)
    linear, readout, targets, direction = build(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        losses = losses_of(linear, readout, targets)
    assert losses.dtype == torch.float32
    readout_seen, weight_seen = (tensor.detach().bfloat16().double() for tensor in (readout, linear.weight))
    logits, bias = (readout_seen @ weight_seen.T).bfloat16().double().requires_grad_(), linear.bias.double()
    expected = functional.cross_entropy(logits + bias, targets, reduction="none")
    torch.testing.assert_close(losses.double(), expected, rtol=1e-5, atol=1e-5)
    (of_logits,) = torch.autograd.grad(expected, logits, direction.double())
    of_products = [of_logits @ weight_seen, of_logits.T @ readout_seen, of_logits.sum(dim=0)]
    result = torch.autograd.grad(losses, [readout, linear.weight, linear.bias], direction)
    for gradient, exact in zip(result, of_products, strict=True):
        assert gradient.dtype == torch.float32
        torch.testing.assert_close(gradient.double(), exact, rtol=0, atol=0.01 * exact.abs().max().item())
