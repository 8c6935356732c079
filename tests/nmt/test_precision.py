"""Which precision a training takes where the configuration leaves it open."""

import pytest
import torch
from torch import nn

from pipeline_py.config.systems.decoding import Decoding
from pipeline_py.config.systems.training import Training
from pipeline_py.nmt import precision
from pipeline_py.nmt.precision import LARGE, MANY, WORTHWHILE, half_speedup, searches_in_half, with_precision
from pipeline_py.nmt.recurrence.linear import Linear
from pipeline_py.nmt.search.steps import searching

pytestmark = pytest.mark.usefixtures("one_thread")

CPU, CUDA = torch.device("cpu"), torch.device("cuda")
AUTO = Training()


class Network(nn.Module):
    """Has a decoder of one map."""

    def __init__(self, weight: torch.Tensor) -> None:
        super().__init__()
        self.decoder = Linear(*reversed(weight.shape), bias=False)
        self.decoder.weight = nn.Parameter(weight)
        self.decoder.grows = False


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch):
    """Let products in half precision be so many times as fast."""

    def install(speedup: float) -> None:
        monkeypatch.setattr(precision, "half_speedup", lambda: speedup)

    return install


@pytest.mark.parametrize(
    ("speedup", "hidden", "taken"),
    [
        (8.0, LARGE, "bfloat16"),
        (WORTHWHILE, LARGE, "bfloat16"),
        (WORTHWHILE - 0.01, LARGE, "float32"),
        (0.6, 1000, "float32"),
        (8.0, LARGE - 1, "float32"),
    ],
)
def test_auto_takes_half_precision_where_it_pays(processor, speedup: float, hidden: int, taken: str, capsys) -> None:
    processor(speedup)
    assert with_precision(AUTO, hidden, CPU) == AUTO.model_copy(update={"precision": taken})
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("supported", "taken"), [(True, "bfloat16"), (False, "float32")])
def test_a_gpu_says_what_it_can(monkeypatch: pytest.MonkeyPatch, supported: bool, taken: str) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: supported)
    assert with_precision(AUTO, LARGE, CUDA).precision == taken


@pytest.mark.parametrize("named", ["float32", "tf32", "bfloat16"])
def test_a_precision_that_is_named_is_taken(processor, named: str) -> None:
    processor(4.0)
    training = Training(precision=named)
    assert with_precision(training, 1000, CPU) == with_precision(training, 1000, CUDA) == training


def test_a_slow_one_that_is_named_is_taken_with_a_warning(processor, capsys) -> None:
    processor(0.66)
    training = Training(precision="bfloat16")
    assert with_precision(training, 1000, CPU) == training
    assert capsys.readouterr().err == (
        "bfloat16 is slower than float32 on this processor; `training.precision: auto` takes the faster one\n"
    )
    with_precision(training, 1000, CUDA)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("speedup", "hidden", "beam", "sentences", "half"),
    [
        (WORTHWHILE, LARGE, 12, 1000, True),
        (WORTHWHILE, LARGE, MANY, 1, True),
        (WORTHWHILE, LARGE, 1, MANY - 1, False),
        (WORTHWHILE, LARGE - 1, 12, 1000, False),
        (WORTHWHILE - 0.01, LARGE, 12, 1000, False),
    ],
)
def test_auto_searches_in_half_precision_where_it_pays(
    processor, speedup: float, hidden: int, beam: int, sentences: int, half: bool
) -> None:
    processor(speedup)
    assert searches_in_half(Decoding(beam=beam), hidden, sentences, CPU) == half
    assert not searches_in_half(Decoding(beam=beam), hidden, sentences, CUDA)


@pytest.mark.parametrize("named", ["float32", "bfloat16"])
def test_a_search_takes_the_precision_that_is_named(processor, named: str, capsys) -> None:
    processor(4.0)
    options = Decoding(precision=named, beam=1)
    assert searches_in_half(options, 1, 1, CPU) == (named == "bfloat16")
    assert not searches_in_half(options, LARGE, 1000, CUDA)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("speedup", "half"), [(0.66, True), (0.0, False)])
def test_a_search_in_a_slow_precision_warns(processor, speedup: float, half: bool, capsys) -> None:
    """And a processor that has none does not claim that it searched in it."""
    processor(speedup)
    assert searches_in_half(Decoding(precision="bfloat16"), 1, 1, CPU) == half
    assert capsys.readouterr().err == (
        "bfloat16 is slower than float32 on this processor; `decoding.precision: auto` takes the faster one\n"
    )


def test_products_of_a_search_read_half_precision_while_it_lasts() -> None:
    torch.manual_seed(0)
    values, exact = torch.randn(64, 256), torch.randn(256, 256)
    model = Network(exact)

    def error() -> float:
        made = model.decoder(values)
        assert made.dtype == torch.float32
        expected = values.double() @ exact.double().T
        return float((made - expected).norm() / expected.norm())

    with torch.no_grad():
        with searching([model], half=True):
            rounded = error()
            with searching([model]):
                assert error() == rounded, "as long as the outer one lasts"
        with searching([model]):
            assert error() < 1e-6
        assert error() < 1e-6
    if torch.ops.mkldnn._is_mkldnn_bf16_supported():
        assert 1e-4 < rounded < 1e-2


def test_the_measurement_is_of_the_two_precisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that only products move: those of bfloat16 take a third of the time."""
    now = [0.0]

    def multiplied(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        now[0] += 1.0 if one.dtype == torch.bfloat16 else 3.0
        return one @ other

    monkeypatch.setattr(precision, "product", multiplied)
    monkeypatch.setattr(precision, "gradient_of_weight", lambda one, other: multiplied(one.T, other))
    monkeypatch.setattr(precision.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    assert half_speedup.__wrapped__() == 3.0


def test_a_processor_without_bfloat16_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    monkeypatch.setattr(precision, "_seconds", lambda *_: pytest.fail("measured"))
    monkeypatch.setattr(precision, "half_speedup", half_speedup.__wrapped__)
    assert precision.half_speedup() == 0
    assert with_precision(AUTO, LARGE, CPU).precision == "float32"
