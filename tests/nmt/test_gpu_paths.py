"""Run the GPU code on a CPU and compare the results with the CPU code.

`is_cpu` returns false in these tests. A fake recorder replaces CUDA graphs; it computes again with the recorded
memory, like a replayed graph.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pipeline_py.nmt
from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.kinds.trees import NO_ROOT
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.fast.cuda_graphs import CALLS_BEFORE_RECORDING, LENGTH_MULTIPLE
from pipeline_py.nmt.search.beam_search import beam_search
from pipeline_py.nmt.search.ensemble import StepPredictor, open_predictor
from pipeline_py.nmt.search.hypothesis import Hypothesis
from pipeline_py.nmt.training.update import MicroBatch, Updater
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule
from pipeline_py.subword.vocabulary import EOS
from tests.nmt import default_compositions, test_on_gpu
from tests.nmt.default_compositions import ALL_SENTENCES, SYSTEMS, build_system_batch, build_system_model
from tests.nmt.fake_graph_recorder import FakeGraphRecorder
from tests.nmt.operation_counter import count_operations

CPU = torch.device("cpu")

SHARES = [[0, 1, 2], [3, 5, 6]] * 4
"""Sentences of batches of two shapes that come again."""


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def as_on_gpu(monkeypatch: pytest.MonkeyPatch) -> Callable[[], FakeGraphRecorder]:
    """Take the ways of a GPU from here on."""

    def begin() -> FakeGraphRecorder:
        recorder = FakeGraphRecorder()
        monkeypatch.setattr("pipeline_py.nmt.torch_setup.CPU", "none")
        for module in ("training.update", "search.ensemble"):
            monkeypatch.setattr(f"pipeline_py.nmt.{module}.build_cuda_recorder", lambda: recorder)
        return recorder

    return begin


def batches(name: str, multiple: int) -> list[Batch]:
    return [build_system_batch(SYSTEMS[name], rows, multiple, seed) for seed, rows in enumerate(SHARES)]


def trained(
    network: nn.Module, loss: Callable[[Batch], Tensor], batches: list[Batch], graphs: bool
) -> tuple[list[float], dict[str, Tensor]]:
    """Make an update with each batch; return losses and weights."""
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, weight_decay=0.01)
    update = Updater(network, loss, optimizer, TrainingConfig(clip=1.0, graphs=graphs), CPU)
    losses = []
    for number, batch in enumerate(batches):
        torch.manual_seed(number)
        update.compute_gradients([MicroBatch(batch)])
        result = update.apply_gradients()
        assert result.is_applied
        losses.append(result.loss)
    return losses, network.state_dict()


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("gpu", [False, True], ids=["processor", "GPU"])
@pytest.mark.parametrize("multiple", [1, LENGTH_MULTIPLE])
@torch.no_grad()
def test_batch_loss_equals_single_sentence_loss(
    name: str, gpu: bool, multiple: int, as_on_gpu: Callable[[], FakeGraphRecorder]
) -> None:
    """One sentence by itself is what the naive references of this folder are compared with."""
    model = build_system_model(name).eval()
    single_losses = torch.cat(
        [model.compute_loss(build_system_batch(model.composition, [row])) for row in ALL_SENTENCES]
    )
    if gpu:
        as_on_gpu()
    batch = build_system_batch(model.composition, ALL_SENTENCES, multiple)
    assert batch.source.shape[1] == (24 if multiple == 8 else 17)
    torch.testing.assert_close(model.compute_loss(batch), single_losses, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("graphs", [False, True], ids=["one by one", "recorded"])
def test_updates_equal_cpu_updates(name: str, graphs: bool, as_on_gpu: Callable[[], FakeGraphRecorder]) -> None:
    """Recorded updates have padded lengths."""

    def learnt(multiple: int) -> tuple[list[float], dict[str, Tensor]]:
        model = build_system_model(name).train()
        return trained(model, model.compute_loss, batches(name, multiple), graphs)

    expected, weights = learnt(1)
    recorder = as_on_gpu()
    losses, gpu_weights = learnt(LENGTH_MULTIPLE if graphs else 1)
    assert losses == pytest.approx(expected, rel=1e-9)
    torch.testing.assert_close(gpu_weights, weights, rtol=1e-7, atol=1e-9)
    if graphs:
        assert (recorder.record_count, recorder.replay_count) == (2, len(SHARES) - 2 * CALLS_BEFORE_RECORDING)
    else:
        assert recorder.record_count == 0


@pytest.mark.parametrize("name", ["Tree2Seq", "Hierarchical", "Sequential-lexical"])
def test_recordings_serve_batches_with_and_without_trees(name: str, as_on_gpu: Callable[[], FakeGraphRecorder]) -> None:
    """Every second batch is unparsed; all have one shape."""

    def learnt(multiple: int) -> tuple[list[float], dict[str, Tensor]]:
        model = build_system_model(name).train()
        of_seeds = []
        for seed in range(6):
            batch = build_system_batch(model.composition, [0, 1, 4, 5], multiple, seed)
            if seed % 2:
                rows, lengths = [np.array([NO_ROOT])] * len(batch), batch.source_lengths.tolist()
                (kind,) = batch.syntax
                schedule = TreeSchedule.from_rows(rows, lengths, batch.source.shape[1], multiple > 1)
                batch = replace(batch, syntax={kind: schedule})
            of_seeds.append(batch)
        return trained(model, model.compute_loss, of_seeds, graphs=True)

    expected, weights = learnt(1)
    recorder = as_on_gpu()
    losses, gpu_weights = learnt(LENGTH_MULTIPLE)
    assert losses == pytest.approx(expected, rel=1e-9)
    torch.testing.assert_close(gpu_weights, weights, rtol=1e-7, atol=1e-9)
    assert (recorder.record_count, recorder.replay_count) == (1, 6 - CALLS_BEFORE_RECORDING)


@pytest.mark.parametrize(
    ("name", "without_trees", "most"),
    [("Tree2Seq", "Seq2Seq", 17), ("Tree-based-bidirectional", "Sequential", 23), ("Hierarchical", "Sequential", 47)],
)
def test_trees_add_few_operations_at_each_position(
    name: str,
    without_trees: str,
    most: int,
    as_on_gpu: Callable[[], FakeGraphRecorder],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One more position is one more composition, with the kernels that it starts forwards and backwards."""

    def count_update_operations(name: str, longest: int) -> int:
        monkeypatch.setattr(default_compositions, "SENTENCE_LENGTHS", ((longest, 5), (longest - 7, 4), (3, 3)))
        model = build_system_model(name).train()
        batch = build_system_batch(model.composition, [0, 1, 2], LENGTH_MULTIPLE)
        return count_operations(lambda: model.compute_loss(batch).sum().backward())

    as_on_gpu()
    counts = {system: [count_update_operations(system, n) for n in (23, 31, 39)] for system in (name, without_trees)}
    added = np.subtract(*counts.values())
    first, second = np.diff(added) / 8
    assert 0 < first == second <= most


@pytest.mark.parametrize("graphs", [False, True], ids=["one by one", "recorded"])
def test_pretraining_updates_equal_cpu_updates(graphs: bool, as_on_gpu: Callable[[], FakeGraphRecorder]) -> None:
    def learnt(multiple: int) -> tuple[list[float], dict[str, Tensor]]:
        model = build_system_model("Dep2Seq").train()
        parser = model.encoders[0]
        return trained(parser, parser.compute_parsing_loss, batches("Dep2Seq", multiple), graphs)

    expected, weights = learnt(1)
    recorder = as_on_gpu()
    losses, gpu_weights = learnt(LENGTH_MULTIPLE if graphs else 1)
    assert losses == pytest.approx(expected, rel=1e-9)
    torch.testing.assert_close(gpu_weights, weights, rtol=1e-7, atol=1e-9)
    assert recorder.record_count == (2 if graphs else 0)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("steps", [False, True], ids=["one by one", "recorded"])
@torch.no_grad()
def test_search_results_equal_cpu_results(
    name: str, beam: int, steps: bool, as_on_gpu: Callable[[], FakeGraphRecorder]
) -> None:
    """In batches of the same shape, and others between them."""
    model = build_system_model(name).eval()
    assert model.decoder.softmax.bias is not None
    model.decoder.softmax.bias[EOS] += 0.5 if beam > 1 else -1  # so that some hypotheses end early, and others late
    shares = [ALL_SENTENCES, [0, 1, 2], ALL_SENTENCES, ALL_SENTENCES]

    def search_all(steps: StepPredictor | None) -> Iterator[Hypothesis]:
        multiple = 1 if steps is None else steps.length_multiple
        for seed, rows in enumerate(shares):
            batch = build_system_batch(model.composition, rows, multiple, seed)
            limits = torch.arange(12 + seed, 12 + seed - len(rows), -1)
            options = {"beam_size": beam, "max_lengths": limits, "n_best": beam}
            for of_sentence in beam_search([model], [batch], **options, should_return_attention=True, predictor=steps):
                yield from of_sentence

    expected = [*search_all(None)]
    recorder = as_on_gpu()
    with open_predictor([model]) as recorded_steps:
        ours = [*search_all(recorded_steps if steps else None)]
    for hypothesis, reference in zip(ours, expected, strict=True):
        assert hypothesis.tokens == reference.tokens
        assert hypothesis.log_probability == pytest.approx(reference.log_probability, rel=1e-10)
        assert hypothesis.attention == pytest.approx(reference.attention, rel=1e-6, abs=1e-9)
    assert recorder.record_count == (2 if steps else 0), "two shapes of batches, whatever their limits"


@pytest.mark.parametrize("name", SYSTEMS)
def test_half_precision_stays_close(name: str, as_on_gpu: Callable[[], FakeGraphRecorder]) -> None:
    model = build_system_model(name).float().eval()
    exact = model.compute_loss(build_system_batch(model.composition, ALL_SENTENCES))
    as_on_gpu()
    with torch.autocast("cpu", torch.bfloat16):
        half = model.compute_loss(build_system_batch(model.composition, ALL_SENTENCES, LENGTH_MULTIPLE))
    half.sum().backward()
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, exact, rtol=0.05, atol=0.2)
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in model.parameters())


CUDA_MODULES = {"checkpoint.py", "process_group.py", "torch_setup.py", "training_outputs.py"}
"""Modules that handle random states, device names and processes; computations use `is_cpu` instead."""


@pytest.mark.parametrize("name", ["GlobalAtt", "Tree2Seq-K50"])
@pytest.mark.usefixtures("same_draws", "same_torch_afterwards")
def test_what_tests_on_a_gpu_compare_with_runs_on_a_cpu(name: str) -> None:
    """They are skipped without a GPU, so that errors in what they call would not be seen."""
    losses, _ = test_on_gpu.trained(name, CPU)
    assert losses == test_on_gpu.trained(name, CPU)[0] and np.isfinite(losses).all()


def test_device_type_is_only_compared_in_cuda_modules() -> None:
    folder = Path(pipeline_py.nmt.__path__[0])
    asking = {
        path.name
        for path in folder.rglob("*.py")
        if re.search(
            r"""(\.type\s*[!=]=|["'](cpu|cuda)["']\s*[!=]=|[!=]=\s*["'](cpu|cuda)["']|is_cuda)""", path.read_text()
        )
    }
    assert asking <= CUDA_MODULES
