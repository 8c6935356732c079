"""Tests of the selection of the precision of training and search."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from pipeline_py.config.systems.training import DecodingConfig, TrainingConfig
from pipeline_py.nmt import precision
from pipeline_py.nmt.fast.linear import Linear, OutputLayer
from pipeline_py.nmt.fast.matrix_products import detect_bfloat16_mode
from pipeline_py.nmt.precision import (
    MIN_HIDDEN_SIZE,
    MIN_HYPOTHESES,
    MIN_SPEEDUP,
    measure_bfloat16_speedup,
    resolve_precision,
    should_search_in_bfloat16,
)
from pipeline_py.nmt.search import ensemble
from pipeline_py.nmt.search.ensemble import open_predictor

pytestmark = pytest.mark.usefixtures("one_thread")

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
AUTO = TrainingConfig()


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch):
    """Let products in half precision be so many times as fast."""

    def install(speedup: float) -> None:
        monkeypatch.setattr(precision, "measure_bfloat16_speedup", lambda: speedup)
        monkeypatch.setattr(precision, "detect_bfloat16_mode", lambda: "explicit" if speedup else None)

    return install


@pytest.mark.parametrize(
    ("speedup", "hidden", "expected"),
    [
        (8.0, MIN_HIDDEN_SIZE, "bfloat16"),
        (MIN_SPEEDUP, MIN_HIDDEN_SIZE, "bfloat16"),
        (MIN_SPEEDUP - 0.01, MIN_HIDDEN_SIZE, "float32"),
        (0.6, 1000, "float32"),
        (8.0, MIN_HIDDEN_SIZE - 1, "float32"),
    ],
)
def test_auto_selects_bfloat16_if_faster(processor, speedup: float, hidden: int, expected: str, capsys) -> None:
    processor(speedup)
    assert resolve_precision(AUTO, hidden, CPU) == AUTO.model_copy(update={"precision": expected})
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("supported", "expected"), [(True, "bfloat16"), (False, "float32")])
def test_auto_selects_bfloat16_on_supporting_gpu(
    monkeypatch: pytest.MonkeyPatch, supported: bool, expected: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: supported)
    assert resolve_precision(AUTO, MIN_HIDDEN_SIZE, CUDA).precision == expected


@pytest.mark.parametrize("named", ["float32", "tf32", "bfloat16"])
def test_explicit_precision_is_used(processor, named: str) -> None:
    processor(4.0)
    training = TrainingConfig(precision=named)
    assert resolve_precision(training, 1000, CPU) == resolve_precision(training, 1000, CUDA) == training


def test_slow_explicit_precision_warns(processor, capsys) -> None:
    processor(0.66)
    training = TrainingConfig(precision="bfloat16")
    assert resolve_precision(training, 1000, CPU) == training
    assert capsys.readouterr().err == (
        "bfloat16 is slower than float32 on this processor; `training.precision: auto` takes the faster one\n"
    )
    resolve_precision(training, 1000, CUDA)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("speedup", "hidden", "beam", "sentences", "half"),
    [
        (MIN_SPEEDUP, MIN_HIDDEN_SIZE, 12, 1000, True),
        (MIN_SPEEDUP, MIN_HIDDEN_SIZE, MIN_HYPOTHESES, 1, True),
        (MIN_SPEEDUP, MIN_HIDDEN_SIZE, 1, MIN_HYPOTHESES - 1, False),
        (MIN_SPEEDUP, MIN_HIDDEN_SIZE - 1, 12, 1000, False),
        (MIN_SPEEDUP - 0.01, MIN_HIDDEN_SIZE, 12, 1000, False),
    ],
)
def test_auto_searches_in_bfloat16_if_faster(
    processor, speedup: float, hidden: int, beam: int, sentences: int, half: bool
) -> None:
    processor(speedup)
    assert should_search_in_bfloat16(DecodingConfig(), hidden, beam * sentences, CPU) == half
    assert not should_search_in_bfloat16(DecodingConfig(), hidden, beam * sentences, CUDA)


@pytest.mark.parametrize("named", ["float32", "bfloat16"])
def test_search_uses_explicit_precision(processor, named: str, capsys) -> None:
    processor(4.0)
    options = DecodingConfig(precision=named)
    assert should_search_in_bfloat16(options, 1, 1, CPU) == (named == "bfloat16")
    assert not should_search_in_bfloat16(options, MIN_HIDDEN_SIZE, 1000, CUDA)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("speedup", "half"), [(0.66, True), (0.0, False)])
def test_search_in_slow_precision_warns(processor, speedup: float, half: bool, capsys) -> None:
    """And a processor that has none does not claim that it searched in it."""
    processor(speedup)
    assert should_search_in_bfloat16(DecodingConfig(precision="bfloat16"), 1, 1, CPU) == half
    assert capsys.readouterr().err == (
        "bfloat16 is slower than float32 on this processor; `decoding.precision: auto` takes the faster one\n"
    )


class Mapping(nn.Module):
    """A decoder of two maps: one within, and one that makes logits."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.inner, self.output = Linear(size, size), OutputLayer(size, size)


@pytest.mark.parametrize("way", ["implicit", "explicit", None])
def test_products_read_bfloat16_only_during_search(monkeypatch: pytest.MonkeyPatch, way) -> None:
    """In each way that this processor has: errors tell what a product has read. Logits are float32 in all."""
    mode_of_processor = detect_bfloat16_mode()
    if way == "implicit" and mode_of_processor != "implicit":
        pytest.skip("this processor does not round float32 in products")
    if way == "explicit" and mode_of_processor is None:
        pytest.skip("this processor has no products in bfloat16")
    monkeypatch.setattr(ensemble, "detect_bfloat16_mode", lambda: way)
    torch.manual_seed(0)
    decoder = Mapping(256)
    model = SimpleNamespace(decoder=decoder, parameters=decoder.parameters)
    values = torch.randn(64, 256)

    def error(part: nn.Module) -> float:
        product = part(values)
        assert product.dtype == torch.float32
        expected = values.double() @ part.weight.double().T + part.bias.double()
        return float((product - expected).norm() / expected.norm())

    def check(rounds: bool) -> None:
        assert (1e-4 < error(decoder.inner) < 1e-2) if rounds else error(decoder.inner) < 1e-6
        assert (1e-4 < error(decoder.output) < 1e-2) if rounds and way == "implicit" else error(decoder.output) < 1e-6

    with torch.no_grad():
        with open_predictor([model], is_bfloat16=True):
            check(way is not None)
            with open_predictor([model]):
                check(way is not None)  # as long as the outer one lasts
        with open_predictor([model]):
            check(False)
        check(False)


def test_bfloat16_mode_is_detected_by_rounding_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product is said to read bfloat16 only if it has the error of one, whatever flags the processor has."""

    class Exact:
        """Products of float32 are exact, as on a processor without implicit rounding; those of bfloat16 round."""

        _is_mkldnn_bf16_supported = staticmethod(lambda: True)
        _reorder_linear_weight = staticmethod(lambda weight, rows: weight)

        @staticmethod
        def _linear_pointwise(values, weight, *_):
            product = values.double() @ weight.double().T
            return product.to(values.dtype)

    class Rounding(Exact):
        @staticmethod
        def _linear_pointwise(values, weight, *_):
            return (values.bfloat16().double() @ weight.bfloat16().double().T).float()

    class Failing(Exact):
        @staticmethod
        def _linear_pointwise(*_):
            raise RuntimeError("not implemented")

    for operations, way in ((Exact, "explicit"), (Rounding, "implicit"), (Failing, None)):
        monkeypatch.setattr(torch.ops, "mkldnn", operations)
        assert detect_bfloat16_mode.__wrapped__() == way


def test_speedup_compares_both_precisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that only products move: those of bfloat16 take a third of the time."""
    clock = [0.0]

    def multiplied(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        clock[0] += 1.0 if left.dtype == torch.bfloat16 else 3.0
        return left @ right

    monkeypatch.setattr(precision, "multiply_matrices", multiplied)
    monkeypatch.setattr(precision, "compute_weight_gradient", lambda left, right: multiplied(left.T, right))
    monkeypatch.setattr(precision.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    assert measure_bfloat16_speedup.__wrapped__() == 3.0


def test_processor_without_bfloat16_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    monkeypatch.setattr(precision, "_measure_seconds", lambda *_: pytest.fail("measured"))
    monkeypatch.setattr(precision, "measure_bfloat16_speedup", measure_bfloat16_speedup.__wrapped__)
    assert precision.measure_bfloat16_speedup() == 0
    assert resolve_precision(AUTO, MIN_HIDDEN_SIZE, CPU).precision == "float32"
