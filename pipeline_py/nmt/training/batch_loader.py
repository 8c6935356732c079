"""The batches of a training run."""

from collections.abc import Sequence
from typing import Any

import torch

from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.nmt.training.process_group import ProcessGroup
from pipeline_py.nmt.training.update import MicroBatch


class BatchLoader:
    """The batches of each epoch, split into this process's share and micro-batches, on a device."""

    def __init__(
        self,
        dataset: ParallelDataset,
        training: TrainingConfig,
        seed: int,
        device: torch.device,
        process_group: ProcessGroup,
        length_multiple: int,
    ) -> None:
        """Create a loader.

        Args:
            dataset: the training pairs.
            training: determines the batch size.
            seed: determines, together with the epoch, the composition and order of batches.
            device: device of the batches.
            process_group: processes that share every batch.
            length_multiple: lengths are rounded up to a multiple of it.
        """
        self._dataset = dataset
        self._training = training
        self._seed = seed
        self._device = device
        self._process_group = process_group
        self._length_multiple = length_multiple
        self._epoch = -1
        self._batches: Sequence[Any] = []
        self._prefetched_batches: dict[int, list[MicroBatch]] = {}

    def get_batches(self, epoch: int) -> Sequence[Any]:
        """Return the pair indices of each batch of an epoch, counted from 0."""
        if self._epoch != epoch:
            training = self._training
            self._batches = self._dataset.build_epoch_batches(
                self._seed, epoch, training.batch_size, training.batch_unit
            )
            self._epoch, self._prefetched_batches = epoch, {}
        return self._batches

    def count_target_words(self, pair_indices: Any) -> int:
        """Count the target words of a batch, EOS not included."""
        return self._dataset.count_target_words(pair_indices)

    def compute_loss_divisor(self, pair_indices: Any) -> int:
        """Return the divisor of a batch's loss: its number of sentences, or of target words including EOS."""
        return len(pair_indices) + (self.count_target_words(pair_indices) if self._training.loss_per == "word" else 0)

    def compute_process_share(self, pair_indices: Any) -> float:
        """Compute the fraction of a batch's loss divisor that belongs to this process."""
        return self.compute_loss_divisor(self._process_group.select_share(pair_indices)) / self.compute_loss_divisor(
            pair_indices
        )

    def take_micro_batches(self, epoch: int, batch_index: int) -> list[MicroBatch]:
        """Return the micro-batches of this process."""
        pairs = self.get_batches(epoch)[batch_index]
        return (
            self._prefetched_batches.pop(batch_index)
            if batch_index in self._prefetched_batches
            else self._build_micro_batches(pairs)
        )

    def prefetch_batch(self, epoch: int, batch_index: int) -> None:
        """Read the next batch, if there is one, while a GPU computes."""
        if not is_cpu(self._device) and batch_index < len(self.get_batches(epoch)):
            self._prefetched_batches = {batch_index: self._build_micro_batches(self.get_batches(epoch)[batch_index])}

    def _build_micro_batches(self, pair_indices: Any) -> list[MicroBatch]:
        share = self._process_group.select_share(pair_indices)
        parts = (share[start :: self._training.accumulate] for start in range(self._training.accumulate))
        return [
            MicroBatch(
                self._dataset.build_batch(part, self._length_multiple).to(self._device),
                len(part) / self.compute_loss_divisor(share),
            )
            for part in parts
            if len(part)
        ]
