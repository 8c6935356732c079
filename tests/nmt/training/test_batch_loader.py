"""The shares and parts of a batch make up its loss."""

from pathlib import Path

import numpy as np
import pytest
import torch

from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.training.batch_loader import BatchLoader
from pipeline_py.nmt.training.process_group import ProcessGroup

LENGTHS = [1, 7, 2, 2, 5, 3, 9]


def loaded(folder: Path, processes: ProcessGroup, **training: object) -> BatchLoader:
    rows = [np.array([*range(1, length), 0], dtype=np.int32) for length in LENGTHS]
    write_ragged_rows(folder / "rows", rows, "int32")
    data = ParallelDataset(folder / "rows", folder / "rows", {}, {"source": 10, "target": 10})
    return BatchLoader(data, TrainingConfig(batch_size=len(rows), **training), 1, torch.device("cpu"), processes, 1)


@pytest.mark.parametrize("accumulate", [1, 2, 3, 10])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize(("loss_per", "divisor"), [("sentence", len(LENGTHS)), ("word", sum(LENGTHS))])
def test_together_they_are_the_loss_of_the_batch(
    tmp_path: Path, accumulate: int, count: int, loss_per: str, divisor: int
) -> None:
    """As if the loss of a sentence of n pieces were n²."""
    result, sentences = 0.0, 0
    for rank in range(count):
        loader = loaded(tmp_path, ProcessGroup(rank, count), accumulate=accumulate, loss_per=loss_per)
        (pairs,) = loader.get_batches(0)
        parts = loader.take_micro_batches(0, 0)
        assert len(parts) == min(accumulate, len(range(rank, len(LENGTHS), count)))
        for batch, share in parts:
            assert batch.target_lengths is not None
            result += loader.compute_process_share(pairs) * share * float((batch.target_lengths**2).double().mean())
            sentences += len(batch)
        assert loader.compute_loss_divisor(pairs) == divisor
    assert sentences == len(LENGTHS)
    assert result == pytest.approx(sum(length**2 for length in LENGTHS) / divisor)
