"""Compare updates and searches of every composition on a GPU with the CPU; skipped without a GPU."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.nmt.search.ensemble import StepPredictor, open_predictor
from pipeline_py.nmt.search.hypothesis import Hypothesis
from pipeline_py.nmt.torch_setup import prepare_torch
from pipeline_py.nmt.training.update import MicroBatch, Updater
from tests.nmt.default_compositions import (
    ALL_SENTENCES,
    LARGE_VOCABULARY_SIZE,
    SYSTEMS,
    VOCABULARY_SIZES,
    build_system_batch,
    build_system_model,
)

pytestmark = [
    pytest.mark.usefixtures("same_torch_afterwards"),
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
]

CPU = torch.device("cpu")


@pytest.fixture
def gpu() -> torch.device:
    """The card, set up as a training sets it up."""
    return prepare_torch("cuda", 1)


def trained(
    name: str,
    device: torch.device,
    *,
    graphs: bool = False,
    dropout: float = 0.0,
    half: bool = False,
    pretraining: bool = False,
) -> tuple[list[float], dict[str, Tensor]]:
    """Make updates with batches of two shapes that come again; return losses and weights."""
    model = build_system_model(name, dropout).to(device).train()
    if half:
        model = model.float()
    network = model.encoders[0] if pretraining else model
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, weight_decay=0.01)
    training = TrainingConfig(clip=1.0, graphs=graphs, precision="bfloat16" if half else "float32")
    update = Updater(
        network, network.compute_parsing_loss if pretraining else network.compute_loss, optimizer, training, device
    )
    losses = []
    torch.manual_seed(5)
    for number in range(8):
        rows = [[0, 1, 2], [3, 5, 6]][number % 2]
        batch = build_system_batch(model.composition, rows, update.length_multiple, number).to(device)
        update.compute_gradients([MicroBatch(batch)])
        result = update.apply_gradients()
        assert result.is_applied
        losses.append(result.loss)
    return losses, {name: weight.cpu() for name, weight in network.state_dict().items()}


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("graphs", [False, True], ids=["one by one", "recorded"])
@pytest.mark.usefixtures("same_draws")
def test_updates_equal_cpu_updates(name: str, graphs: bool, gpu: torch.device) -> None:
    losses, weights = trained(name, gpu, graphs=graphs)
    expected, expected_weights = trained(name, CPU)
    assert losses == pytest.approx(expected, rel=1e-8)
    torch.testing.assert_close(weights, expected_weights, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("graphs", [False, True], ids=["one by one", "recorded"])
def test_pretraining_updates_equal_cpu_updates(graphs: bool, gpu: torch.device) -> None:
    losses, weights = trained("Dep2Seq", gpu, graphs=graphs, pretraining=True)
    expected, expected_weights = trained("Dep2Seq", CPU, pretraining=True)
    assert losses == pytest.approx(expected, rel=1e-8)
    torch.testing.assert_close(weights, expected_weights, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("graphs", [False, True], ids=["one by one", "recorded"])
def test_updates_with_dropout_are_reproducible(name: str, graphs: bool, gpu: torch.device) -> None:
    losses, weights = trained(name, gpu, graphs=graphs, dropout=0.2)
    again, expected_weights = trained(name, gpu, graphs=graphs, dropout=0.2)
    assert losses == again
    assert all(torch.equal(weight, expected_weights[name]) for name, weight in weights.items())


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("graphs", [False, True], ids=["one by one", "recorded"])
@pytest.mark.usefixtures("same_draws")
def test_half_precision_stays_close(name: str, graphs: bool, gpu: torch.device) -> None:
    losses, _ = trained(name, gpu, graphs=graphs, half=True)
    expected, _ = trained(name, CPU)
    assert losses == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("vocabulary_size", [VOCABULARY_SIZES["target"], LARGE_VOCABULARY_SIZE])
@torch.no_grad()
def test_search_results_equal_cpu_results(
    name: str, beam: int, vocabulary_size: int, gpu: torch.device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Batches of the same shape have others between them."""
    monkeypatch.setitem(VOCABULARY_SIZES, "target", vocabulary_size)
    model = build_system_model(name).eval()
    shares = [ALL_SENTENCES, [0, 1, 2], ALL_SENTENCES, ALL_SENTENCES]
    options = {"beam_size": beam, "n_best": beam, "should_return_attention": True}

    def search_all(device: torch.device, steps: StepPredictor | None) -> Iterator[Hypothesis]:
        multiple = 1 if steps is None else steps.length_multiple
        for seed, rows in enumerate(shares):
            batch = build_system_batch(model.composition, rows, multiple, seed).to(device)
            limits = torch.full((len(rows),), 8)
            for of_sentence in beam_search([model], [batch], max_lengths=limits, predictor=steps, **options):
                yield from of_sentence

    expected = [*search_all(CPU, None)]
    model = model.to(gpu)
    with open_predictor([model]) as steps:
        recorded_ones = [*search_all(gpu, steps)]
    for ours in (recorded_ones, search_all(gpu, None)):
        for hypothesis, reference in zip(ours, expected, strict=True):
            assert hypothesis.tokens == reference.tokens
            assert hypothesis.log_probability == pytest.approx(reference.log_probability, rel=1e-8)
            assert hypothesis.attention == pytest.approx(reference.attention, rel=1e-5, abs=1e-8)
