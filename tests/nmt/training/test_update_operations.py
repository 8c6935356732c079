"""The number of operations of an update on a GPU, where the time of a small network is that of starting kernels."""

import numpy as np
import pytest
import torch

from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.fast.cuda_graphs import LENGTH_MULTIPLE
from pipeline_py.nmt.training.update import MicroBatch, Updater
from tests.nmt.default_compositions import build_system_model
from tests.nmt.operation_counter import count_operations

pytestmark = pytest.mark.usefixtures("one_thread")

SHORT, LONG = 16, 24
"""Lengths of all sentences of two batches, source and target."""


@pytest.mark.parametrize(("system", "greatest_count"), [("GlobalAtt", 118), ("Seq2Seq", 82), ("Transformer-base", 0)])
def test_operations_for_each_position(system: str, greatest_count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A position more on both sides costs a step of each encoder direction and of the decoder, forward and backward."""
    monkeypatch.setattr("pipeline_py.nmt.torch_setup.CPU", "none")
    model = build_system_model(system).float().train()
    training = TrainingConfig(clip=1.0, precision="bfloat16", graphs=False)
    updater = Updater(model, model.compute_loss, torch.optim.SGD(model.parameters()), training, torch.device("cpu"))
    counts = []
    for length in (SHORT, LONG):
        sentences = [np.arange(length) % 8] * 3
        batch = collate_batch(sentences, sentences, length_multiple=LENGTH_MULTIPLE)
        counts.append(count_operations(lambda batch=batch: updater.compute_gradients([MicroBatch(batch)])))
    assert counts[1] - counts[0] <= greatest_count * (LONG - SHORT)
