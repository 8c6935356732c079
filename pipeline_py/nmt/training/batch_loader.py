"""The batches that a training run is fed with."""

from collections.abc import Sequence
from typing import Any

import torch

from pipeline_py.config.systems.training import TrainingConfig
from pipeline_py.nmt.data.dataset import ParallelDataset
from pipeline_py.nmt.torch_setup import is_cpu
from pipeline_py.nmt.training.process_group import ProcessGroup
from pipeline_py.nmt.training.update import MicroBatch


class BatchLoader:
    """Batches in the order of their epoch, of each the share of this process, in parts, on a device."""

    def __init__(
        self,
        dataset: ParallelDataset,
        training: TrainingConfig,
        seed: int,
        device: torch.device,
        process_group: ProcessGroup,
        length_multiple: int,
    ) -> None:
        """Take what batches are made of.

        Args:
            dataset: the training pairs.
            training: says how large batches are.
            seed: decides, with the epoch, which pairs are in a batch, and the order of batches.
            device: where batches go.
            process_group: those that share every batch.
            length_multiple: lengths are rounded up to it.
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
        """The pairs of each batch of an epoch, from 0."""
        if self._epoch != epoch:
            training = self._training
            self._batches = self._dataset.build_epoch_batches(
                self._seed, epoch, training.batch_size, training.batch_unit
            )
            self._epoch, self._prefetched_batches = epoch, {}
        return self._batches

    def count_target_words(self, pair_indices: Any) -> int:
        """How many target words a batch has, EOS not included."""
        return self._dataset.count_target_words(pair_indices)

    def compute_loss_divisor(self, pair_indices: Any) -> int:
        """What the loss of a batch is divided by: its sentences, or its target words, EOS included."""
        return len(pair_indices) + (self.count_target_words(pair_indices) if self._training.loss_per == "word" else 0)

    def compute_process_share(self, pair_indices: Any) -> float:
        """The share of a batch's size that is this process'."""
        return self.compute_loss_divisor(self._process_group.select_share(pair_indices)) / self.compute_loss_divisor(
            pair_indices
        )

    def take_micro_batches(self, epoch: int, batch_index: int) -> list[MicroBatch]:
        """Give the parts of a batch that are this process'."""
        pairs = self.get_batches(epoch)[batch_index]
        return (
            self._prefetched_batches.pop(batch_index)
            if batch_index in self._prefetched_batches
            else self._build_micro_batches(pairs)
        )

    def prefetch_batch(self, epoch: int, batch_index: int) -> None:
        """Read a batch, if there is one and a device that is busy meanwhile."""
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
