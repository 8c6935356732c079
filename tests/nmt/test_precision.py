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
    has_bfloat16_instructions,
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
    """Let products in bfloat16 be fast, slow or unavailable."""

    def install(speed: str) -> None:
        monkeypatch.setattr(precision, "has_bfloat16_instructions", lambda: speed == "fast")
        monkeypatch.setattr(precision, "detect_bfloat16_mode", lambda: None if speed == "unavailable" else "explicit")

    return install


@pytest.mark.parametrize(
    ("speed", "hidden", "expected"),
    [
        ("fast", MIN_HIDDEN_SIZE, "bfloat16"),
        ("slow", 1000, "float32"),
        ("unavailable", 1000, "float32"),
        ("fast", MIN_HIDDEN_SIZE - 1, "float32"),
    ],
)
def test_auto_selects_bfloat16_if_faster(processor, speed: str, hidden: int, expected: str, capsys) -> None:
    processor(speed)
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
    processor("fast")
    training = TrainingConfig(precision=named)
    assert resolve_precision(training, 1000, CPU) == resolve_precision(training, 1000, CUDA) == training


@pytest.mark.parametrize("speed", ["slow", "unavailable"])
def test_slow_explicit_precision_warns(processor, speed: str, capsys) -> None:
    """Products without oneDNN are also in bfloat16, and slow."""
    processor(speed)
    training = TrainingConfig(precision="bfloat16")
    assert resolve_precision(training, 1000, CPU) == training
    assert capsys.readouterr().err == (
        "warning: bfloat16 is slower than float32, because this processor has no instructions for it; "
        "`training.precision: auto` takes the faster one\n"
    )
    resolve_precision(training, 1000, CUDA)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("speed", "hidden", "beam", "sentences", "half"),
    [
        ("fast", MIN_HIDDEN_SIZE, 12, 1000, True),
        ("fast", MIN_HIDDEN_SIZE, MIN_HYPOTHESES, 1, True),
        ("fast", MIN_HIDDEN_SIZE, 1, MIN_HYPOTHESES - 1, False),
        ("fast", MIN_HIDDEN_SIZE - 1, 12, 1000, False),
        ("slow", MIN_HIDDEN_SIZE, 12, 1000, False),
    ],
)
def test_auto_searches_in_bfloat16_if_faster(
    processor, speed: str, hidden: int, beam: int, sentences: int, half: bool
) -> None:
    processor(speed)
    assert should_search_in_bfloat16(DecodingConfig(), hidden, beam * sentences, CPU) == half
    assert not should_search_in_bfloat16(DecodingConfig(), hidden, beam * sentences, CUDA)


@pytest.mark.parametrize("named", ["float32", "bfloat16"])
def test_search_uses_explicit_precision(processor, named: str, capsys) -> None:
    processor("fast")
    options = DecodingConfig(precision=named)
    assert should_search_in_bfloat16(options, 1, 1, CPU) == (named == "bfloat16")
    assert not should_search_in_bfloat16(options, MIN_HIDDEN_SIZE, 1000, CUDA)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("speed", "half", "effect"),
    [("slow", True, "slower than float32"), ("unavailable", False, "not available, and float32 is used")],
)
def test_search_in_slow_precision_warns(processor, speed: str, half: bool, effect: str, capsys) -> None:
    """And a processor that has none does not claim that it searched in it."""
    processor(speed)
    assert should_search_in_bfloat16(DecodingConfig(precision="bfloat16"), 1, 1, CPU) == half
    assert capsys.readouterr().err == (
        f"warning: bfloat16 is {effect}, because this processor has no instructions for it; "
        "`decoding.precision: auto` takes the faster one\n"
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


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("model name\t: AMD EPYC\nflags\t\t: fpu avx512f avx512_bf16\n", True),
        ("flags\t\t: fpu avx2 amx_bf16 amx_tile\n", True),
        ("Features\t: fp asimd bf16\n", True),
        ("flags\t\t: fpu avx512f\nmodel name\t: bf16\n", False),
        ("", False),
    ],
)
def test_instructions_are_those_of_the_processor(tmp_path, monkeypatch, lines: str, expected: bool) -> None:
    (tmp_path / "cpuinfo").write_text(lines)
    monkeypatch.setattr(precision, "detect_bfloat16_mode", lambda: "explicit")
    assert has_bfloat16_instructions.__wrapped__(tmp_path / "cpuinfo") is expected
    assert not has_bfloat16_instructions.__wrapped__(tmp_path / "none")
    monkeypatch.setattr(precision, "detect_bfloat16_mode", lambda: None)
    assert not has_bfloat16_instructions.__wrapped__(tmp_path / "cpuinfo"), "torch does not use them"
