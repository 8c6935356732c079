"""Updates against ones that are written out; what they compute can be recorded, and waits for no device."""

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from pipeline_py.config.systems.composition import CompositionConfig
from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.nmt.fast.cuda_graphs import CALLS_BEFORE_RECORDING, GraphedFunction
from pipeline_py.nmt.model import TranslationModel
from pipeline_py.nmt.training.update import MicroBatch, Updater, disable_unsupported_graphs
from pipeline_py.subword.vocabulary import EOS
from tests.nmt.fake_graph_recorder import FakeGraphRecorder
from tests.nmt.random_tree import draw_tree_row

VOCABULARIES = {"source": 12, "target": 9, "units": 7, "labels": 5}
BLACKOUT = {"type": "blackout", "samples": 3}
LSTM = {"encoders": ["lstm"], "scores": ["dot"], "decoder": "lstm"}
SYSTEMS: dict[str, dict[str, Any]] = {
    "global": {},
    "local": {"contexts": [{"type": "local", "window": 3}]},
    "flexible": {"contexts": ["flexible"]},
    "global and syntax": {"contexts": ["global", "syntax"]},
    "syntax at a predicted position": {"contexts": [{"type": "syntax", "position": "interpolate"}]},
    "two encoders": {
        "encoders": [{"inputs": ["words"]}, {"inputs": ["units"]}],
        "scores": ["mlp", {"type": "mlp", "encoder": 1}],
        "contexts": [{"type": "global", "mixture": [0.6, 0.4]}],
    },
    "sequence to sequence": {**LSTM, "loss": BLACKOUT},
    "tree to sequence": {**LSTM, "encoders": ["tree_lstm"]},
    "sequential": {"encoders": ["gru"], "decoder": "gru"},
    "hierarchical": {
        "encoders": [{"type": "tree_gru", "leaves": "bidirectional", "top_down": True}],
        "decoder": {"type": "gru", "phrase_weight": "learned"},
    },
    "transformer": {
        "encoders": [
            {"type": "transformer", "layers": 2, "heads": 2, "attention": [{"type": "deps_san", "heads": [1]}]}
        ],
        "decoder": {"type": "transformer", "layers": 2, "heads": 2},
        "loss": {"type": "softmax", "label_smoothing": 0.1},
    },
    "tree to transformer": {"encoders": ["tree_gru"], "decoder": {"type": "transformer", "layers": 1, "heads": 2}},
}
CPU = torch.device("cpu")


def make_model(name: str, dropout: float = 0.0) -> TranslationModel:
    sizes = {"embedding": 6, "hidden": 6, "dropout": dropout, "initialization": "lecun"}
    torch.manual_seed(0)
    model = TranslationModel(CompositionConfig.model_validate({**SYSTEMS[name], "model": sizes}), VOCABULARIES).double()
    model.set_word_frequencies(torch.arange(1, VOCABULARIES["target"] + 1))
    return model.train()


def make_batch(
    seed: int = 0, multiple: int = 1, lengths: tuple[tuple[int, int], ...] = ((4, 6), (2, 3), (7, 1))
) -> Batch:
    random = np.random.default_rng(seed)
    sources = [np.array([*random.integers(1, 12, size=length), EOS]) for length, _ in lengths]
    targets = [np.array([*random.integers(1, 9, size=length), EOS]) for _, length in lengths]
    squares = [1 - np.eye(len(source), dtype=np.uint8) for source in sources]
    trees = [draw_tree_row(random, length) for length, _ in lengths]
    syntax = {
        "distances": [square.ravel() for square in squares],
        "units": [random.integers(0, 7, size=10 * len(source)) for source in sources],
    }
    return collate_batch(sources, targets, {**syntax, "trees": trees}, multiple)


def of_system(model: TranslationModel, batch: Batch) -> Batch:
    """Leave away the syntax that a system does not read, trees above all."""
    kinds = {kind: batch.syntax[kind] for kind in model.composition.required_syntax_names}
    return replace(batch, syntax=kinds)


def update_of(model: TranslationModel, clip: float = 1.0) -> Updater:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    return Updater(model, model.compute_loss, optimizer, TrainingConfig(clip=clip), CPU)


@pytest.mark.parametrize("clip", [0.1, 1000.0])
def test_parameters_move_against_the_clipped_gradient(clip: float) -> None:
    model, batch = make_model("global"), of_system(make_model("global"), make_batch())
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    loss = model.compute_loss(batch).sum() / len(batch)
    gradients = dict(zip(before, torch.autograd.grad(loss, list(model.parameters())), strict=True))
    norm = math.sqrt(sum(float(gradient.square().sum()) for gradient in gradients.values()))
    update = update_of(model, clip)
    update.compute_gradients([MicroBatch(batch)])
    product = update.apply_gradients()
    assert product.loss == pytest.approx(loss.item())
    assert product.gradient_norm == pytest.approx(norm)
    assert product.is_applied
    for name, parameter in model.named_parameters():
        expected = before[name] - 0.5 * gradients[name] * min(1.0, clip / norm)
        torch.testing.assert_close(parameter.detach(), expected, rtol=1e-5, atol=1e-9)


def test_what_is_no_number_changes_nothing() -> None:
    model = make_model("global")
    with torch.no_grad():
        model.decoder.softmax.bias[3] = math.nan
    before = copy.deepcopy(model.state_dict())
    update = update_of(model)
    update.compute_gradients([MicroBatch(of_system(model, make_batch()))])
    assert not update.apply_gradients().is_applied
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, before[name], equal_nan=True)


class Waiting(TorchDispatchMode):
    """Refuses what has to wait for a device: a number, or a size, that only its memory holds."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        waits = ("_local_scalar_dense", "nonzero", "masked_select", "unique", "bincount", "is_nonzero", "equal.default")
        assert not any(name in str(func) for name in waits), f"{func} waits for the device"
        if "index.Tensor" in str(func):
            assert not any(index is not None and index.dtype == torch.bool for index in args[1]), "a mask has no size"
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("multiple", [1, 8])
@pytest.mark.parametrize("name", SYSTEMS)
def test_nothing_waits_for_the_device_before_the_end(name: str, multiple: int) -> None:
    model = make_model(name, dropout=0.2)
    update = update_of(model)
    batch = of_system(model, make_batch(multiple=multiple))
    with Waiting():
        update.compute_gradients([MicroBatch(batch)])
    assert update.apply_gradients().is_applied


def test_waiting_would_be_noticed() -> None:
    with Waiting(), pytest.raises(AssertionError, match="waits for the device"):
        torch.ones(1).item()
    with Waiting(), pytest.raises(AssertionError, match="no size"):
        torch.ones(3)[torch.tensor([True, False, True])]


@pytest.mark.parametrize("name", sorted(SYSTEMS))
def test_rounding_lengths_up_changes_no_loss_and_no_gradient(name: str) -> None:
    model = make_model(name).eval()  # BlackOut draws for each sentence, whose number stays, but only in training
    lengths = ((4, 6), (2, 3), (8, 1))
    plain, rounded = (of_system(model, make_batch(multiple=multiple, lengths=lengths)) for multiple in (1, 8))
    assert rounded.target is not None and (plain.source.shape[1], rounded.source.shape[1]) == (9, 16)
    losses = [model.compute_loss(batch) for batch in (plain, rounded)]
    torch.testing.assert_close(*losses, rtol=1e-12, atol=1e-12)
    parameters = list(model.parameters())
    for first, options in zip(*(torch.autograd.grad(loss.sum(), parameters) for loss in losses), strict=True):
        torch.testing.assert_close(first, options, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", SYSTEMS)
def test_recordings_compute_the_same(name: str) -> None:
    model = make_model(name).eval()

    def compute(batch: Batch) -> Tensor:
        model.zero_grad(set_to_none=False)
        loss = model.compute_loss(batch).mean()
        loss.backward()
        return loss.detach()

    record = FakeGraphRecorder()
    graphs = GraphedFunction(compute, record)
    shapes = (((4, 6), (2, 3)), ((8, 3), (1, 1)), ((4, 6), (2, 3)))
    for seed in range(9):
        lengths = shapes[seed % 3]
        loss = graphs(of_system(model, make_batch(seed, 8, lengths)))
        gradients = [parameter.grad.clone() for parameter in model.parameters()]
        loss = loss.clone()
        expected = compute(of_system(model, make_batch(seed, 8, lengths)))
        torch.testing.assert_close(loss, expected, rtol=0, atol=0)
        for first, parameter in zip(gradients, model.parameters(), strict=True):
            torch.testing.assert_close(first, parameter.grad, rtol=0, atol=0)
    assert record.record_count == 2, "two shapes, as 8 and 3 round up to 8 and 8"
    assert record.replay_count == 9 - 2 * CALLS_BEFORE_RECORDING


@pytest.mark.parametrize(
    ("options", "graphs"),
    [({}, True), ({"graphs": False}, False), ({"accumulate": 2}, False), ({"loss_per": "word"}, False)],
)
def test_only_what_follows_from_the_shape_is_recorded(options: dict, graphs: bool) -> None:
    assert disable_unsupported_graphs(TrainingConfig(**options)).graphs == graphs
